// Where the host waited, by hand.
#include "prof/timeline/synchronisation.hpp"

#include "tests/prof/timeline/captures.hpp"

namespace prof::test {
namespace {

Synchronisation of(const std::function<void(TraceWriter&)>& fill) {
  Capture capture(fill);
  return *capture.analyze().synchronisation;
}

TEST(Synchronisation, OfTheExample) {
  const Synchronisation v = of(write_example);
  EXPECT_FALSE(v.from_calls);
  EXPECT_EQ(v.stream, (HostTime{1, 1780, 780}));  // the copy runs for 1000 ns of it
  EXPECT_EQ(v.waits(), 1);
  EXPECT_TRUE(*v.one_terminal_wait);
  EXPECT_EQ(v.device, HostTime{});
  EXPECT_EQ(v.event, HostTime{});
  EXPECT_EQ(v.blocking_copies, HostTime{});
  EXPECT_TRUE(v.implicit.empty());
  EXPECT_EQ(*v.legacy_stream_operations, 0);
}

TEST(Synchronisation, KindsAreToldApart) {
  const Synchronisation v = of([](TraceWriter& w) {
    one_window(w, 1000, 2000);
    kernel(w, "k", {1}, span(1100, 1200));
    sync(w, 1, 10, span(1150, 1250));
    sync(w, 3, 11, span(1300, 1310), 13);
    sync(w, 4, 12, span(1950, 2100));
    sync(w, 4, 13, span(900, 1010));
    sync(w, 4, 14, {});
    call(w, "cuStreamQuery", 15, 1400, 1402);
    call(w, "cudaEventQuery_v3020", 16, 1500, 1503);
    call(w, "cudaEventQuery_v3020", 17, 1505, 1509);
  });
  EXPECT_EQ(v.event, (HostTime{1, 100, 50}));
  EXPECT_EQ(v.stream, (HostTime{1, 10, 10}));
  // One starts in the window; of the other only its end is inside.
  EXPECT_EQ(v.device, (HostTime{1, 50 + 10, 60}));
  EXPECT_EQ(v.stream_query, (HostTime{1, 2, 2}));
  EXPECT_EQ(v.event_query, (HostTime{2, 7, 7}));
  EXPECT_FALSE(*v.one_terminal_wait);
}

TEST(Synchronisation, AWaitBeforeTheLastWorkIsNotTheTerminalOne) {
  const Synchronisation v = of([](TraceWriter& w) {
    one_window(w, 1000, 2000);
    kernel(w, "k", {1}, span(1100, 1200));
    kernel(w, "k", {2}, span(1500, 1600));
    sync(w, 3, 10, span(1150, 1250), 13);
  });
  EXPECT_EQ(v.waits(), 1);
  EXPECT_FALSE(*v.one_terminal_wait);
}

TEST(Synchronisation, CopiesThatBlock) {
  const Synchronisation v = of([](TraceWriter& w) {
    one_window(w, 1000, 9000);
    call(w, "cuMemcpyHtoD_v2", 1, 1000, 1100);  // not asynchronous
    copy(w, 1, 10, {1}, span(1020, 1080), 2, false);
    call(w, "cuMemcpyDtoHAsync_v2", 2, 2000, 2100);  // pageable, over before the call is
    copy(w, 2, 10, {2}, span(2020, 2080), 1);
    call(w, "cuMemcpyHtoDAsync_v2", 3, 3000, 3100);  // pageable, but staged: goes on after it
    copy(w, 1, 10, {3}, span(3050, 3200), 1);
    call(w, "cuMemcpyDtoHAsync_v2", 4, 4000, 4100);  // pinned
    copy(w, 2, 10, {4}, span(4020, 4080), 2);
    call(w, "cudaMemcpy_v3020", 5, 5000, 5100);  // two copies by one call
    copy(w, 1, 10, {5}, span(5020, 5040), 1, false);
    copy(w, 1, 10, {5}, span(5040, 5080), 1, false);
  });
  EXPECT_EQ(v.blocking_copies.calls, 3);
  EXPECT_EQ(v.blocking_copies.host_ns, 300);
  EXPECT_EQ(v.blocking_copies.wasted_ns, 40 + 40 + 40);
}

TEST(Synchronisation, CallsThatMayWait) {
  Capture capture([](TraceWriter& w) {
    ledger::ContextRow context;
    context.pid = 7;
    context.id = 1;
    context.null_stream_id = 7;
    w.context(context);
    one_window(w, 1000, 2000);
    call(w, "cudaMalloc_v3020", 1, 1100, 1200);
    call(w, "cuMemAlloc_v2", 2, 1110, 1190);  // inside the one above
    call(w, "cudaFree_v3020", 3, 1300, 1310);
    call(w, "cudaFree_v3020", 4, 1320, 1330);
    call(w, "cudaMallocAsync_v11020", 5, 1400, 1405);  // ordered by a stream
    call(w, "cuMemHostRegister_v2", 6, 1500, 1600);
    call(w, "cuModuleLoadData", 7, 1700, 1800);
    kernel(w, "k", {8, 7}, span(1850, 1900));
    kernel(w, "k", {9, 13}, span(1850, 1900));
  });
  const Synchronisation v = *capture.analyze().synchronisation;
  ASSERT_EQ(v.implicit.size(), 4U);
  EXPECT_EQ(v.implicit[0].call, "cuMemHostRegister");
  EXPECT_EQ(v.implicit[1].call, "cuModuleLoadData");
  EXPECT_EQ(v.implicit[2].call, "cudaFree");
  EXPECT_EQ(v.implicit[2].time, (HostTime{2, 20, 20}));
  EXPECT_EQ(v.implicit[3].call, "cudaMalloc");
  EXPECT_EQ(v.implicit[3].time, (HostTime{1, 100, 100}));
  EXPECT_EQ(*v.legacy_stream_operations, 1);
}

TEST(Synchronisation, WithoutRecordsTheCallsAnswer) {
  Capture capture([](TraceWriter& w) {
    write_example(w);
    w.meta("missing_kinds", "SYNCHRONIZATION");
  });
  const Synchronisation v = *capture.analyze().synchronisation;
  EXPECT_TRUE(v.from_calls);
  EXPECT_EQ(v.stream, (HostTime{1, 1800, 800}));
  EXPECT_TRUE(*v.one_terminal_wait);
}

TEST(Synchronisation, UnknownWithoutRecordsAndCalls) {
  Capture capture([](TraceWriter& w) {
    write_example(w);
    w.meta("missing_kinds", "SYNCHRONIZATION RUNTIME DRIVER");
  });
  const auto v = capture.analyze().synchronisation;
  EXPECT_FALSE(v);
  EXPECT_EQ(v.reason, "the capture has no records of kind SYNCHRONIZATION, RUNTIME, DRIVER");
}

TEST(Synchronisation, OtherProgramsMayWaitAsTheyLike) {
  const Synchronisation v = of([](TraceWriter& w) {
    kernel(w, "k", {1}, span(1100, 1200));
    sync(w, 4, 2, span(1100, 1150));
  });
  EXPECT_FALSE(v.one_terminal_wait);
  EXPECT_FALSE(v.legacy_stream_operations);
  EXPECT_EQ(v.device.calls, 1);
}

}  // namespace
}  // namespace prof::test

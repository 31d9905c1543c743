// Waits of one stream for another, by hand.
#include "prof/timeline/stream_waits.hpp"

#include "tests/prof/timeline/captures.hpp"

namespace prof::test {
namespace {

/// Stream 13 produces [1100, 1500), an event is recorded; stream 14 has run until 1200, waits for
/// the event and starts again at `start`.
void producer_and_consumer(TraceWriter& w, int64_t start) {
  one_window(w, 1000, 3000);
  stage(w, "quotient", 1000, 2900);
  call(w, "cuLaunchKernel", 1, 1010, 1020);
  kernel(w, "producer", {1, 13}, span(1100, 1500));
  call(w, "cuEventRecord", 2, 1030, 1035);
  event(w, 13, 77, 2);
  call(w, "cuLaunchKernel", 3, 1040, 1050);
  kernel(w, "earlier", {3, 14}, span(1150, 1200));
  call(w, "cuStreamWaitEvent", 4, 1060, 1065);
  sync(w, 2, 4, span(1061, 1064), 14, 77);
  // Work behind the event is none that the wait is for.
  call(w, "cuLaunchKernel", 5, 1070, 1080);
  kernel(w, "later", {5, 13}, span(1500, 2400));
  call(w, "cuLaunchKernel", 6, 1090, 1095);
  kernel(w, "consumer", {6, 14}, span(start, start + 100));
}

StreamWaits waits_of(const std::function<void(TraceWriter&)>& fill) {
  Capture capture(fill);
  return *capture.analyze().concurrency->waits;
}

TEST(StreamWaits, FromTheEndOnTheOwnStreamToTheProducersEnd) {
  Capture capture([](TraceWriter& w) { producer_and_consumer(w, 1510); });
  const Timeline t = capture.analyze();
  const StreamWaits& v = *t.concurrency->waits;
  EXPECT_EQ(v.waits, 1);
  EXPECT_EQ(v.blocking, 1);
  EXPECT_EQ(v.wait_ns, 300);  // 1200 to 1500; the last 10 ns were something else
  EXPECT_EQ(v.longest_ns, 300);
  EXPECT_EQ(v.unresolved, 0);
  EXPECT_EQ(t.stages->stages.at(0).facts.wait_ns, 300);
  EXPECT_EQ(t.stages->whole.facts.wait_ns, 300);
}

TEST(StreamWaits, AStreamThatWasBusyAnywayDidNotWait) {
  const StreamWaits v = waits_of([](TraceWriter& w) {
    producer_and_consumer(w, 1900);
    call(w, "cuLaunchKernel", 7, 1055, 1056);
    kernel(w, "also earlier", {7, 14}, span(1200, 1800));
  });
  EXPECT_EQ(v.waits, 1);
  EXPECT_EQ(v.blocking, 0);
  EXPECT_EQ(v.wait_ns, 0);
}

TEST(StreamWaits, SeveralWaitsBeforeOneOperationCountOnce) {
  const StreamWaits v = waits_of([](TraceWriter& w) {
    producer_and_consumer(w, 1950);
    call(w, "cuLaunchKernel", 10, 1011, 1012);
    kernel(w, "other producer", {10, 15}, span(1300, 1900));
    call(w, "cuEventRecord", 11, 1036, 1037);
    event(w, 15, 78, 11);
    call(w, "cuStreamWaitEvent", 12, 1066, 1067);
    sync(w, 2, 12, span(1066, 1067), 14, 78);
  });
  EXPECT_EQ(v.waits, 2);
  EXPECT_EQ(v.blocking, 1);
  EXPECT_EQ(v.wait_ns, 700);  // 1200 to 1900
}

TEST(StreamWaits, TheCallBeginsTheWaitOfAStreamWithoutEarlierWork) {
  const StreamWaits v = waits_of([](TraceWriter& w) {
    one_window(w, 1000, 3000);
    call(w, "cuLaunchKernel", 1, 1001, 1002);
    kernel(w, "producer", {1, 13}, span(1050, 1400));
    call(w, "cuEventRecord", 2, 1003, 1004);
    event(w, 13, 5, 2);
    call(w, "cuStreamWaitEvent", 3, 1005, 1006);
    sync(w, 2, 3, span(1005, 1006), 14, 5);
    call(w, "cuLaunchKernel", 4, 1007, 1008);
    kernel(w, "consumer", {4, 14}, span(1420, 1500));
  });
  EXPECT_EQ(v.wait_ns, 395);
}

TEST(StreamWaits, WhatCanNotBeFollowedIsCounted) {
  const StreamWaits v = waits_of([](TraceWriter& w) {
    one_window(w, 1000, 3000);
    call(w, "cuLaunchKernel", 1, 1001, 1002);
    kernel(w, "k", {1, 13}, span(1050, 1400));
    call(w, "cuEventRecord", 2, 1003, 1004);
    event(w, 13, 5, 2);
    sync(w, 2, 90, span(1100, 1101), 14, 5);  // nothing runs on stream 14 after it
    sync(w, 2, 91, span(1100, 1101), 14, 6);  // no such event
    sync(w, 2, 92, span(1100, 1101), 14);     // does not say which event
    sync(w, 2, 93, span(5000, 5001), 14, 5);  // outside of the window
    sync(w, 3, 94, span(1200, 1300), 14);     // another kind
  });
  EXPECT_EQ(v.waits, 3);
  EXPECT_EQ(v.unresolved, 3);
  EXPECT_EQ(v.blocking, 0);
}

TEST(StreamWaits, NeedEventsAndCalls) {
  for (const char* missing : {"CUDA_EVENT", "SYNCHRONIZATION", "RUNTIME DRIVER"}) {
    Capture capture([&](TraceWriter& w) {
      producer_and_consumer(w, 1510);
      w.meta("missing_kinds", missing);
    });
    const Timeline t = capture.analyze();
    EXPECT_FALSE(t.concurrency->waits) << missing;
    EXPECT_FALSE(t.concurrency->waits.reason.empty());
    EXPECT_EQ(t.stages->whole.facts.wait_ns, 0);
  }
}

}  // namespace
}  // namespace prof::test

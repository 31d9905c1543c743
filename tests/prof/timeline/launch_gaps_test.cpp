// Gaps between operations and what they are made of, computed by hand.
#include "prof/timeline/launch_gaps.hpp"

#include "tests/prof/timeline/captures.hpp"

namespace prof::test {
namespace {

TEST(LaunchGaps, OfTheExample) {
  Capture capture(write_example);
  const Timeline t = capture.analyze();
  const LaunchGaps& v = *t.launch_gaps;
  EXPECT_EQ(*v.kernels, 4);
  EXPECT_EQ(v.gap_ns, 1700);
  EXPECT_DOUBLE_EQ(v.share_of_window, 0.17);
  ASSERT_EQ(v.devices.size(), 1U);
  const DeviceGaps& d = v.devices[0];
  EXPECT_EQ(d.kernels, 4);
  EXPECT_EQ(d.copies, 2);
  EXPECT_EQ(d.fills, 0);
  EXPECT_EQ(d.before_ns, 300);  // 10000 to 10300
  EXPECT_EQ(d.span_ns, 8200);   // 10300 to 18500
  EXPECT_EQ(d.after_ns, 1500);  // 18500 to 20000
  EXPECT_EQ(d.busy_ns, 6500);   // 2000 + 3500 + 1000
  EXPECT_EQ(d.gaps.n, 2);       // 12300 to 13000 and 16500 to 17500
  EXPECT_EQ(d.gaps.sum_ns, 1700);
  EXPECT_EQ(d.gaps.p50_ns, 700);
  EXPECT_EQ(d.gaps.p90_ns, 1000);
  EXPECT_EQ(d.gaps.max_ns, 1000);
  EXPECT_EQ(d.host_late_ns, 500 + 500);
  EXPECT_EQ(d.launch_latency_ns, 200 + 500);
  EXPECT_EQ(d.dependency_ns, 0);
  EXPECT_EQ(d.unknown_ns, 0);
  // Both lie in [512, 1024).
  EXPECT_EQ(d.histogram, (std::vector<int64_t>{0, 0, 0, 0, 0, 0, 0, 0, 0, 2}));
  ASSERT_EQ(d.top.size(), 2U);
  EXPECT_EQ(d.top[0].ns, 1000);
  EXPECT_EQ(d.top[0].start_ns, at(16500));
  EXPECT_EQ(d.top[0].before, "copy H2D");
  EXPECT_EQ(d.top[0].after, "copy D2H");
  EXPECT_EQ(d.top[0].stage, "proof_assembly");
  EXPECT_EQ(d.top[1].before, "kernel fft");
  EXPECT_EQ(d.top[1].after, "kernel hash");
  EXPECT_EQ(d.top[1].host_late_ns, 500);
  // The streams of the first fft and of both hashes were idle; the second fft had to queue.
  EXPECT_EQ(v.launch_latency->n, 3);
  EXPECT_EQ(v.launch_latency->p50_ns, 200);
  EXPECT_EQ(v.launch_latency->max_ns, 1100);
  EXPECT_FALSE(v.queued_to_submitted);
}

TEST(LaunchGaps, ALongOperationHidesShorterOnes) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 2000);
    kernel(w, "long", {1}, span(1000, 1500));
    kernel(w, "short", {2, 14}, span(1100, 1200));
    kernel(w, "next", {3, 14}, span(1400, 1450));
    kernel(w, "last", {4}, span(1600, 1700));
  });
  const Timeline t = capture.analyze();
  const DeviceGaps d = t.launch_gaps->devices.at(0);
  EXPECT_EQ(d.gaps.n, 1);
  EXPECT_EQ(d.gaps.sum_ns, 100);
  EXPECT_EQ(d.top.at(0).before, "kernel long");
  // No call is known, so nobody can say whether the host was late.
  EXPECT_EQ(d.unknown_ns, 100);
  EXPECT_EQ(d.host_late_ns + d.launch_latency_ns + d.dependency_ns, 0);
  EXPECT_FALSE(t.launch_gaps->launch_latency);
}

TEST(LaunchGaps, NodesOfOneGraphLaunchDependOnEachOther) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 3000);
    call(w, "cuGraphLaunch", 5, 1000, 1050);
    call(w, "cuGraphLaunch", 6, 1800, 1850);
    kernel(w, "a", {5, 13, 0, 9, 1}, span(1200, 1300));
    kernel(w, "b", {5, 13, 0, 9, 2}, span(1340, 1400));
    kernel(w, "a", {6, 13, 0, 9, 1}, span(1900, 2000));
    kernel(w, "b", {6, 13, 0, 9, 2}, span(2010, 2100));
  });
  const DeviceGaps d = capture.analyze().launch_gaps->devices.at(0);
  EXPECT_EQ(d.gaps.sum_ns, 40 + 500 + 10);
  EXPECT_EQ(d.dependency_ns, 50);
  EXPECT_EQ(d.host_late_ns, 400);
  EXPECT_EQ(d.launch_latency_ns, 100);
}

TEST(LaunchGaps, OperationsAreCutAtTheWindow) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 2000);
    kernel(w, "before", {1}, span(500, 900));
    kernel(w, "begins early", {2}, span(900, 1100));
    kernel(w, "ends late", {3}, span(1900, 2500));
    kernel(w, "after", {4}, span(2000, 2600));
  });
  const DeviceGaps d = capture.analyze().launch_gaps->devices.at(0);
  EXPECT_EQ(d.kernels, 1);
  EXPECT_EQ(d.before_ns, 0);
  EXPECT_EQ(d.after_ns, 0);
  EXPECT_EQ(d.busy_ns, 200);
  EXPECT_EQ(d.gaps.sum_ns, 800);
}

TEST(LaunchGaps, DevicesApart) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 2000);
    kernel(w, "k", {1, 13, 0}, span(1000, 1100));
    kernel(w, "k", {2, 13, 1}, span(1100, 1300));
    kernel(w, "k", {3, 13, 0}, span(1300, 1400));
    fill(w, 64, {4, 13, 1}, span(1350, 1360));
  });
  const LaunchGaps v = *capture.analyze().launch_gaps;
  ASSERT_EQ(v.devices.size(), 2U);
  EXPECT_EQ(v.devices[0].gaps.sum_ns, 200);
  EXPECT_EQ(v.devices[1].gaps.sum_ns, 50);
  EXPECT_EQ(v.devices[1].fills, 1);
  EXPECT_DOUBLE_EQ(v.share_of_window, 0.125);
}

TEST(LaunchGaps, QueueTimesWithLatencyTimestamps) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 2000);
    ledger::KernelRow row;
    row.name = row.short_name = w.intern("k");
    row.queued_ns = at(1010);
    row.submitted_ns = at(1040);
    w.kernel(op_row({1}, span(1100, 1200)), row);
  });
  const LaunchGaps v = *capture.analyze().launch_gaps;
  EXPECT_EQ(v.queued_to_submitted->sum_ns, 30);
  EXPECT_EQ(v.submitted_to_start->sum_ns, 60);
}

TEST(LaunchGaps, WholeGraphsHideTheirKernels) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 2000);
    w.graph(op_row({1, 13, 0, 9}, span(1100, 1500)));
    kernel(w, "k", {2}, span(1600, 1700));
  });
  const Timeline t = capture.analyze();
  EXPECT_FALSE(t.launch_gaps->kernels);
  EXPECT_EQ(t.launch_gaps->devices.at(0).graphs, 1);
  EXPECT_EQ(t.launch_gaps->devices.at(0).busy_ns, 500);
  EXPECT_FALSE(t.kernels);
  EXPECT_FALSE(t.concurrency);
  EXPECT_NE(t.kernels.reason.find("--graph graph"), std::string::npos);
  EXPECT_FALSE(t.counts.at(0).value);
}

}  // namespace
}  // namespace prof::test

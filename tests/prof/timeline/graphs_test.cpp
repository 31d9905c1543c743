// What graphs did, by hand.
#include "prof/timeline/graphs.hpp"

#include "tests/prof/timeline/captures.hpp"

namespace prof::test {
namespace {

TEST(Graphs, LaunchesShareTheirCorrelationId) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 9000);
    call(w, "cuGraphInstantiateWithFlags", 1, 500, 600);  // before the window
    call(w, "cudaGraphInstantiateWithFlags_v11040", 2, 1100, 1300);
    call(w, "cuGraphExecKernelNodeSetParams_v2", 3, 1400, 1410);
    call(w, "cuGraphUpload", 4, 1500, 1520);
    call(w, "cuGraphLaunch_ptsz", 5, 2000, 2050);
    kernel(w, "a", {5, 13, 0, 9, 1}, span(2100, 2200));
    kernel(w, "b", {5, 13, 0, 9, 2}, span(2200, 2300));
    copy(w, 8, 8, {5, 13, 0, 9, 3}, span(2300, 2310));
    call(w, "cuGraphLaunch", 6, 3000, 3040);
    kernel(w, "a", {6, 13, 0, 9, 1}, span(3100, 3200));
    call(w, "cudaGraphLaunch_v10000", 7, 4000, 4010);
    kernel(w, "c", {7, 13, 0, 10, 1}, span(4100, 4200));
    call(w, "cuLaunchKernel", 8, 5000, 5010);
    kernel(w, "d", {8}, span(5100, 5200));
  });
  const Timeline t = capture.analyze();
  const Graphs& v = *t.graphs;
  EXPECT_EQ(v.instantiations, 1);
  EXPECT_EQ(v.updates, 1);
  EXPECT_EQ(v.uploads, 1);
  EXPECT_EQ(v.launches, 3);
  EXPECT_EQ(v.executables, 2);
  EXPECT_DOUBLE_EQ(*v.launches_per_executable, 1.5);
  EXPECT_DOUBLE_EQ(*v.kernel_share, 0.8);  // 4 of 5
  EXPECT_EQ(v.nodes_per_launch->n, 3);
  EXPECT_EQ(v.nodes_per_launch->sum_ns, 5);
  EXPECT_EQ(v.nodes_per_launch->p50_ns, 1);
  EXPECT_EQ(v.nodes_per_launch->max_ns, 3);
  ASSERT_EQ(v.calls.size(), 5U);
  EXPECT_EQ(v.calls[1].call, "cuGraphLaunch");
  EXPECT_EQ(v.calls[1].calls, 2);
  EXPECT_EQ(v.calls[1].host_ns, 90);
  // One call for all nodes: the submitting thread launched four times.
  EXPECT_EQ(t.submit_thread->launches, 4);
}

TEST(Graphs, None) {
  Capture capture(write_example);
  const Timeline t = capture.analyze();
  EXPECT_EQ(t.graphs->launches, 0);
  EXPECT_FALSE(t.graphs->nodes_per_launch);
  EXPECT_FALSE(t.graphs->launches_per_executable);
  EXPECT_DOUBLE_EQ(*t.graphs->kernel_share, 0);
}

TEST(Graphs, RecordedAsAWhole) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 9000);
    call(w, "cuGraphLaunch", 5, 2000, 2050);
    w.graph(op_row({5, 13, 0, 9}, span(2100, 2900)));
  });
  const Timeline t = capture.analyze();
  EXPECT_EQ(t.graphs->launches, 1);
  EXPECT_EQ(t.graphs->executables, 1);
  EXPECT_FALSE(t.graphs->nodes_per_launch);
  EXPECT_FALSE(t.graphs->kernel_share);
}

TEST(Graphs, NeedCalls) {
  Capture capture([](TraceWriter& w) {
    write_example(w);
    w.meta("missing_kinds", "RUNTIME DRIVER");
  });
  EXPECT_EQ(capture.analyze().graphs.reason, "the capture has no records of kind RUNTIME, DRIVER");
  Capture driver_only([](TraceWriter& w) {
    write_example(w);
    w.meta("missing_kinds", "RUNTIME");
  });
  EXPECT_TRUE(driver_only.analyze().graphs);
}

}  // namespace
}  // namespace prof::test

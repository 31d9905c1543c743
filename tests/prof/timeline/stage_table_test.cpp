// Stages and kernels of the window, by hand.
#include "prof/timeline/stage_table.hpp"

#include "tests/prof/timeline/captures.hpp"

namespace prof::test {
namespace {

TEST(StageTable, OfTheExample) {
  Capture capture(write_example);
  const Timeline t = capture.analyze();
  const StageTable& v = *t.stages;
  EXPECT_DOUBLE_EQ(*v.attributed, 1.0);
  EXPECT_EQ(v.kernel_ns, 6000);
  ASSERT_EQ(v.stages.size(), 3U);
  const StageRow& commit = v.stages[0];
  EXPECT_EQ(commit.facts.stage, "trace_commit");
  EXPECT_EQ(commit.first_ns, at(10300));
  EXPECT_EQ(commit.facts.span_ns, 2000);
  EXPECT_EQ(commit.facts.kernels, 2);
  EXPECT_EQ(commit.facts.median_kernel_ns, 1000);
  EXPECT_EQ(commit.busy_ns, 2000);
  EXPECT_EQ(commit.facts.gaps_ns, 0);
  EXPECT_DOUBLE_EQ(commit.facts.concurrency, 1.0);
  EXPECT_DOUBLE_EQ(*commit.active, 1.0);
  EXPECT_EQ(commit.facts.streams, 1);
  const StageRow& fri = v.stages[1];
  EXPECT_EQ(fri.facts.stage, "fri_commit");
  EXPECT_EQ(fri.operations, 3);
  EXPECT_EQ(fri.kernel_ns, 4000);
  EXPECT_EQ(fri.busy_ns, 3500);
  EXPECT_DOUBLE_EQ(fri.facts.concurrency, 4000.0 / 3000);
  EXPECT_EQ(fri.facts.streams, 3);
  EXPECT_DOUBLE_EQ(fri.share_of_busy, 3500.0 / 6500);
  EXPECT_EQ(v.stages[2].facts.stage, "proof_assembly");
  EXPECT_EQ(v.stages[2].facts.kernels, 0);
  EXPECT_EQ(v.whole.facts.stage, "");
  EXPECT_EQ(v.whole.facts.span_ns, 8200);
  EXPECT_EQ(v.whole.facts.gaps_ns, 1700);
  EXPECT_EQ(v.whole.facts.host_late_ns, 1000);
  EXPECT_EQ(v.whole.facts.launch_latency_ns, 700);
  EXPECT_EQ(v.whole.busy_ns, 6500);
  EXPECT_DOUBLE_EQ(*v.whole.active, 6500.0 / 8200);
}

TEST(StageTable, OnlyGapsBetweenOwnOperationsBelongToAStage) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 9000);
    stage(w, "oods", 1000, 1500);
    stage(w, "quotient", 1500, 2000);
    call(w, "cuLaunchKernel", 1, 1000, 1010);
    call(w, "cuLaunchKernel", 2, 1020, 1030);
    call(w, "cuLaunchKernel", 3, 1600, 1610);
    call(w, "cuLaunchKernel", 4, 1620, 1630);
    kernel(w, "a", {1}, span(2000, 2100));
    kernel(w, "b", {2}, span(2150, 2200));  // 50 ns inside oods
    kernel(w, "c", {3}, span(2300, 2400));  // 100 ns between the stages
    kernel(w, "d", {4}, span(2430, 2500));  // 30 ns inside quotient
  });
  const StageTable v = *capture.analyze().stages;
  EXPECT_EQ(v.stages.at(0).facts.gaps_ns, 50);
  EXPECT_EQ(v.stages.at(0).facts.launch_latency_ns, 50);
  EXPECT_EQ(v.stages.at(0).facts.span_ns, 200);
  EXPECT_DOUBLE_EQ(*v.stages.at(0).active, 0.75);
  EXPECT_EQ(v.stages.at(1).facts.gaps_ns, 30);
  EXPECT_EQ(v.whole.facts.gaps_ns, 180);
}

TEST(StageTable, WhatHasNoStageSaysWhy) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 9000);
    stage(w, "oods", 1000, 1500);
    for (const auto& [from, to] : {std::pair(3000, 4000), std::pair(3500, 4500)}) {
      ledger::test::write_range(w, "free " + std::to_string(from), 70, from, to, 2, "stwo.prover",
                                ledger::NvtxType::kStartEnd);
    }
    call(w, "cuLaunchKernel", 1, 1100, 1110);
    kernel(w, "inside", {1}, span(2000, 2100));
    call(w, "cuLaunchKernel", 2, 1600, 1610);
    kernel(w, "outside", {2}, span(2200, 2230));
    kernel(w, "without a call", {3}, span(2300, 2320));
    call(w, "cuLaunchKernel", 4, 3600, 3610);
    kernel(w, "ambiguous", {4}, span(3700, 3750));
    call(w, "cuLaunchKernel", 5, 4100, 4110);
    kernel(w, "free", {5}, span(4200, 4300));
  });
  const Timeline t = capture.analyze();
  const StageTable& v = *t.stages;
  EXPECT_EQ(v.kernels, 5);
  EXPECT_EQ(v.kernel_ns, 300);
  EXPECT_EQ(v.attributed_ns, 200);
  EXPECT_DOUBLE_EQ(*v.attributed, 200.0 / 300);
  EXPECT_EQ(v.outside_kernels, 1);
  EXPECT_EQ(v.outside_ns, 30);
  EXPECT_EQ(v.uncalled_kernels, 1);
  EXPECT_EQ(v.uncalled_ns, 20);
  EXPECT_EQ(v.ambiguous_kernels, 1);
  EXPECT_EQ(v.ambiguous_ns, 50);
  ASSERT_EQ(v.stages.size(), 2U);
  EXPECT_EQ(v.stages[1].facts.stage, "free 3500");
  EXPECT_EQ(t.evidence, TimelineEvidence::kDegraded);
}

TEST(StageTable, ProgramsWithoutStages) {
  Capture capture([](TraceWriter& w) { kernel(w, "k", {1}, span(1100, 1200)); });
  const StageTable v = *capture.analyze().stages;
  EXPECT_FALSE(v.attributed);
  EXPECT_TRUE(v.stages.empty());
  EXPECT_EQ(v.whole.facts.kernels, 1);
}

TEST(KernelFacts, OfTheExample) {
  Capture capture(write_example);
  const std::vector<KernelFacts> kernels = kernel_facts(capture.trace());
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].kernel, "hash");
  EXPECT_EQ(kernels[0].launches, 2);
  EXPECT_EQ(kernels[0].total_ns, 4000);
  EXPECT_DOUBLE_EQ(kernels[0].share_of_device, 4000.0 / 6500);
  EXPECT_EQ(kernels[0].median_ns, 2000);
  EXPECT_EQ(kernels[0].median_gap_ns, 0);  // of 700 and 0
  EXPECT_EQ(kernels[0].stage.stage, "fri_commit");
  EXPECT_EQ(kernels[0].stage.span_ns, 3500);
  EXPECT_EQ(kernels[1].kernel, "fft");
  EXPECT_FALSE(kernels[1].median_gap_ns);
  EXPECT_EQ(kernels[1].stage.stage, "trace_commit");
}

TEST(KernelFacts, TheStageWithMostOfItsTime) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 9000);
    stage(w, "oods", 1000, 1500);
    stage(w, "quotient", 1500, 2000);
    call(w, "cuLaunchKernel", 1, 1000, 1010);
    call(w, "cuLaunchKernel", 2, 1600, 1610);
    call(w, "cuLaunchKernel", 3, 2600, 2610);
    kernel(w, "a", {1}, span(2000, 2100));
    kernel(w, "a", {2}, span(2100, 2250));
    kernel(w, "outside", {3}, span(3000, 3010));
  });
  const std::vector<KernelFacts> kernels = kernel_facts(capture.trace());
  EXPECT_EQ(kernels.at(0).stage.stage, "quotient");
  EXPECT_EQ(kernels.at(1).kernel, "outside");
  EXPECT_EQ(kernels.at(1).stage.stage, "");
  EXPECT_EQ(kernels.at(1).stage.kernels, 3);  // of the whole window
  EXPECT_EQ(kernels.at(1).median_gap_ns, 750);
}

TEST(KernelFacts, NeedKernels) {
  Capture capture([](TraceWriter& w) {
    write_example(w);
    w.meta("missing_kinds", "CONCURRENT_KERNEL");
  });
  EXPECT_EQ(code_of([&] { kernel_facts(capture.trace()); }), "TIMELINE_KERNELS");
  EXPECT_EQ(code_of([&] { kernel_facts(capture.trace(), 99); }), "TIMELINE_REQUEST");
}

}  // namespace
}  // namespace prof::test

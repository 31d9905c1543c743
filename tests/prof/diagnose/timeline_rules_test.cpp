// Launch fragmentation and dependency serialization, with values on both sides of each threshold.
#include "tests/prof/diagnose/samples.hpp"

namespace prof::test {
namespace {

/// A stage of short kernels: 30 % gaps, of which 60 % are the host's.
Case fragmented() {
  Case c;
  StageFacts& s = c.timeline.stage;
  s.median_kernel_ns = 5'000;
  s.span_ns = 1'000'000;
  s.gaps_ns = 300'000;
  s.host_late_ns = 100'000;
  s.launch_latency_ns = 80'000;
  c.timeline.launches = 40;
  c.timeline.median_ns = 5'000;
  return c;
}

TEST(LaunchFragmentation, AStageOfShortKernels) {
  const Diagnosis d = fragmented().result();
  EXPECT_EQ(d.mechanism, Mechanism::kLaunchFragmentation);
  EXPECT_EQ(evidence_of(d, "median kernel of stage trace_commit").value, 5000);
  EXPECT_EQ(evidence_of(d, "gaps over the span").value, 0.3);
  EXPECT_EQ(evidence_of(d, "host and launch latency over the gaps").value, 0.6);
  // 5000 of 10000 is half, 0.3 of 0.25 and 0.6 of 0.5 a fifth above.
  EXPECT_NEAR(*d.margin, 0.2, 1e-12);
  EXPECT_TRUE(d.high_confidence);
  EXPECT_EQ(d.sub_causes, std::vector<std::string>{"the host launches late"});
  // 35 % of the 18 % that launching takes.
  EXPECT_EQ(*d.prediction,
            "if the same work is launched half as often (40 -> 20 launches of it), the span of "
            "stage trace_commit falls by at least 6.3 % (from 1 ms to at most 937 us); a smaller "
            "fall refutes launch fragmentation");
}

TEST(LaunchFragmentation, BothSidesOfEachThreshold) {
  Case c = fragmented();
  c.timeline.stage.median_kernel_ns = 9'999;
  EXPECT_EQ(c.name(), "launch_fragmentation");
  EXPECT_FALSE(c.result().high_confidence);
  c.timeline.stage.median_kernel_ns = 10'000;
  EXPECT_EQ(c.name(), "undetermined");

  c = fragmented();
  c.timeline.stage.gaps_ns = 250'000;
  EXPECT_EQ(c.name(), "launch_fragmentation");
  c.timeline.stage.gaps_ns = 249'999;
  EXPECT_EQ(c.name(), "undetermined");

  c = fragmented();
  c.timeline.stage.host_late_ns = 70'000;
  EXPECT_EQ(c.name(), "launch_fragmentation");
  c.timeline.stage.host_late_ns = 69'999;
  EXPECT_EQ(c.name(), "undetermined");
}

TEST(LaunchFragmentation, OneKernelLaunchedOften) {
  Case c;
  c.timeline.launches = 50;
  c.timeline.total_ns = 150'000;
  c.timeline.median_ns = 3'000;
  c.timeline.median_gap_ns = 1'000;
  Diagnosis d = c.result();
  EXPECT_EQ(d.mechanism, Mechanism::kLaunchFragmentation);
  EXPECT_EQ(evidence_of(d, "launches per request").value, 50);
  EXPECT_EQ(evidence_of(d, "median duration").threshold, 3000);
  // Gaps are 50 of 200 us: half of the launches save 35 % of a quarter.
  EXPECT_NE(d.prediction->find("falls by at least 8.75 % (from 200 us to at most 182.5 us)"),
            std::string::npos)
      << *d.prediction;
  c.timeline.launches = 49;
  EXPECT_EQ(c.name(), "undetermined");
  c.timeline.launches = 50;
  c.timeline.median_ns = 3'001;
  EXPECT_EQ(c.name(), "undetermined");
  c.timeline.median_ns = 3'000;
  c.timeline.median_gap_ns.reset();
  EXPECT_EQ(c.name(), "undetermined");
}

/// Two streams that wait for one another for 30 % of the stage.
Case serialized() {
  Case c;
  StageFacts& s = c.timeline.stage;
  s.streams = 2;
  s.concurrency = 1.0;
  s.wait_ns = 400'000;
  s.dependency_ns = 200'000;
  return c;
}

TEST(DependencySerialization, StreamsThatWait) {
  const Diagnosis d = serialized().result();
  EXPECT_EQ(d.mechanism, Mechanism::kDependencySerialization);
  EXPECT_EQ(evidence_of(d, "concurrency").value, 1);
  EXPECT_EQ(evidence_of(d, "waits and dependency gaps over the span").value, 0.3);
  EXPECT_EQ(evidence_of(d, "streams").value, 2);
  EXPECT_NEAR(*d.margin, 0.05 / 1.05, 1e-12);
  EXPECT_FALSE(d.high_confidence);
  EXPECT_EQ(d.sub_causes, std::vector<std::string>{"streams wait for one another"});
  EXPECT_NE(d.prediction->find("(600 us -> 300 us of waits and dependency gaps)"),
            std::string::npos)
      << *d.prediction;
}

TEST(DependencySerialization, BothSidesOfEachThreshold) {
  Case c = serialized();
  c.timeline.stage.concurrency = 1.0499;
  EXPECT_EQ(c.name(), "dependency_serialization");
  c.timeline.stage.concurrency = 1.05;
  EXPECT_EQ(c.name(), "undetermined");

  c = serialized();
  c.timeline.stage.wait_ns = 300'000;
  EXPECT_EQ(c.name(), "dependency_serialization");
  c.timeline.stage.wait_ns = 299'999;
  EXPECT_EQ(c.name(), "undetermined");

  c = serialized();
  c.timeline.stage.streams = 1;
  EXPECT_EQ(c.name(), "undetermined");
  c.plan.parallel_branches = false;
  EXPECT_EQ(c.name(), "undetermined");
  c.plan.parallel_branches = true;
  EXPECT_EQ(c.name(), "dependency_serialization");
}

/// 16 launches, each a quarter of a wave.
Case chain() {
  Case c;
  c.timeline.launches = 16;
  c.set("waves", 0.25);
  return c;
}

TEST(DependencySerialization, AChainOfSmallLaunches) {
  Case c = chain();
  Diagnosis d = c.result();
  EXPECT_EQ(d.mechanism, Mechanism::kDependencySerialization);
  EXPECT_EQ(evidence_of(d, "waves").value, 0.25);
  // Nothing says that the launches need one another.
  EXPECT_TRUE(mentions(d.missing, "transcript barriers"));
  EXPECT_FALSE(d.high_confidence);
  c.plan.transcript_barriers = 15;
  d = c.result();
  EXPECT_TRUE(d.missing.empty());
  EXPECT_EQ(evidence_of(d, "transcript barriers").value, 15);
  EXPECT_NE(d.prediction->find("(16 -> 8 launches)"), std::string::npos) << *d.prediction;
  EXPECT_NE(d.prediction->find("by at least 35 % (from 1 ms to at most 650 us)"), std::string::npos)
      << *d.prediction;
}

TEST(DependencySerialization, BothSidesOfTheChain) {
  Case c = chain();
  c.set("waves", 0.4999);
  EXPECT_EQ(c.name(), "dependency_serialization");
  c.set("waves", 0.5);
  EXPECT_EQ(c.name(), "undetermined");
  c = chain();
  c.timeline.launches = 15;
  EXPECT_EQ(c.name(), "undetermined");
  c = chain();
  c.timeline.stage.concurrency = 1.05;
  EXPECT_EQ(c.name(), "undetermined");
  c = chain();
  c.plan.transcript_barriers = 0;
  EXPECT_EQ(c.name(), "undetermined");
}

TEST(TimelineRules, NeedNoCounters) {
  for (Case c : {fragmented(), serialized()}) {
    const std::string name = c.name();
    c.counters = no_counters("k", "counters are denied");
    EXPECT_EQ(c.name(), name);
  }
  Case c = chain();
  c.counters = no_counters("k", "counters are denied");
  EXPECT_EQ(c.name(), "undetermined");
}

TEST(TimelineRules, ComeBeforeTheCounters) {
  Case c = fragmented();
  c.set("dram_pct", 95);
  EXPECT_EQ(c.name(), "launch_fragmentation");
  c.has_timeline = false;
  EXPECT_EQ(c.name(), "bandwidth");
}

}  // namespace
}  // namespace prof::test

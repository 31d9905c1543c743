// Bandwidth, compute, occupancy and latency, with values on both sides of each threshold.
#include "tests/prof/diagnose/samples.hpp"

namespace prof::test {
namespace {

TEST(Bandwidth, Dram) {
  Case c;
  c.set("dram_pct", 75).set("sm_pct", 30);
  const Diagnosis d = c.result();
  EXPECT_EQ(d.mechanism, Mechanism::kBandwidth);
  EXPECT_EQ(evidence_of(d, "DRAM throughput").value, 75);
  EXPECT_EQ(evidence_of(d, "DRAM over multiprocessor throughput").threshold, 36);
  EXPECT_DOUBLE_EQ(*d.margin, 0.25);
  EXPECT_TRUE(d.high_confidence);
  EXPECT_EQ(*d.prediction,
            "if a launch moves half of its DRAM bytes (1.5 GB -> 750 MB), its median duration in "
            "the timeline falls by at least 35 % (from 100 us to at most 65 us); a smaller fall "
            "refutes bandwidth");
}

TEST(Bandwidth, BothSidesOfEachThreshold) {
  const auto name = [](double dram, double l2, double sm) {
    return Case().set("dram_pct", dram).set("l2_pct", l2).set("sm_pct", sm).name();
  };
  EXPECT_EQ(name(60, 40, 30), "bandwidth");
  EXPECT_EQ(name(59.9, 40, 30), "undetermined");
  EXPECT_EQ(name(60, 40, 50), "bandwidth");  // 1.2 times 50
  EXPECT_EQ(name(60, 40, 50.1), "undetermined");
  EXPECT_EQ(name(40, 70, 30), "bandwidth");
  EXPECT_EQ(name(40, 69.9, 30), "undetermined");
  EXPECT_EQ(name(40, 72, 60), "bandwidth");
  EXPECT_EQ(name(40, 71.9, 60), "undetermined");
}

TEST(Bandwidth, ConfidenceNeedsAMargin) {
  Case c;
  c.set("sm_pct", 10).set("dram_pct", 69);  // exactly 15 % above 60
  EXPECT_TRUE(c.result().high_confidence);
  c.set("dram_pct", 68.9);
  EXPECT_FALSE(c.result().high_confidence);
  c.set("dram_pct", 90);
  c.has_timeline = false;
  const Diagnosis d = c.result();
  EXPECT_FALSE(d.high_confidence);
  EXPECT_TRUE(mentions(d.missing, "timeline"));
  // Without a timeline the replay's time is named for what it is.
  EXPECT_NE(d.prediction->find("its replayed duration (no production time) falls by at least 35 % "
                               "(from 102.4 us to at most 66.56 us)"),
            std::string::npos)
      << *d.prediction;
}

TEST(Bandwidth, SubCauses) {
  Case c;
  c.set("dram_pct", 75).set("sm_pct", 30);
  EXPECT_TRUE(c.result().sub_causes.empty());
  EXPECT_TRUE(mentions(c.result().missing, "no plan tells the bytes"));
  c.plan.ledger_bytes = 1'000'000'000;
  c.set("load_sectors", 16e6).set("store_sectors", 4.1e6).set("l2_hit_pct", 49.9);
  Diagnosis d = c.result();
  EXPECT_EQ(d.sub_causes,
            (std::vector<std::string>{
                "rereads: measured 1.5 GB, pass ledger 1 GB: 1.5 times as much (rereads)",
                "loads touch 16 sectors per request (ideal 4)",
                "stores touch 4.1 sectors per request (ideal 4)", "L2 hits only 49.9 %"}));
  EXPECT_DOUBLE_EQ(*evidence_of(d, "measured over pass-ledger bytes").value, 1.5);
  EXPECT_TRUE(d.missing.empty());
  c.plan.ledger_bytes = 1'500'000'000;
  c.set("load_sectors", 4e6).set("store_requests", 0).set("l2_hit_pct", 50);
  EXPECT_TRUE(c.result().sub_causes.empty());
  c.drop("l2_hit_pct");
  EXPECT_TRUE(mentions(c.result().missing, "lts__t_sector_hit_rate.pct: \"n/a\" in the report"));
}

TEST(Compute, MultiprocessorsOrOnePipe) {
  Case c;
  c.set("sm_pct", 78);
  Diagnosis d = c.result();
  EXPECT_EQ(d.mechanism, Mechanism::kCompute);
  EXPECT_DOUBLE_EQ(*d.margin, 0.3);
  EXPECT_TRUE(mentions(d.sub_causes, "the busiest pipe is alu (45 %)"));
  EXPECT_NE(d.prediction->find("(6000000 -> 3000000 warp instructions)"), std::string::npos)
      << *d.prediction;
  c = Case();
  c.set("pipe_xu", 77).set("sm_pct", 59);
  d = c.result();
  EXPECT_EQ(d.mechanism, Mechanism::kCompute);
  EXPECT_EQ(evidence_of(d, "pipe xu").threshold, 70);
  EXPECT_NE(d.summary.find("pipe xu works at 77 %"), std::string::npos);
}

TEST(Compute, BothSidesOfEachThreshold) {
  const auto name = [](double sm, double pipe, double memory) {
    return Case().set("sm_pct", sm).set("pipe_alu", pipe).set("l2_pct", memory).name();
  };
  EXPECT_EQ(name(60, 10, 40), "compute");
  EXPECT_EQ(name(59.9, 10, 40), "undetermined");
  EXPECT_EQ(name(60, 10, 50), "compute");
  EXPECT_EQ(name(60, 10, 50.1), "undetermined");
  EXPECT_EQ(name(50, 70, 40), "compute");
  EXPECT_EQ(name(50, 69.9, 40), "undetermined");
  EXPECT_EQ(name(50, 72, 60), "compute");
  EXPECT_EQ(name(50, 71.9, 60), "undetermined");
}

/// Few warps, and none of them ready.
Case few_warps() {
  Case c;
  c.set("sm_pct", 20).set("eligible_warps", 0.3).set("waves", 0.6).set("issue_active", 0.7);
  return c;
}

TEST(Occupancy, AGridThatDoesNotFillTheDevice) {
  const Diagnosis d = few_warps().result();
  EXPECT_EQ(d.mechanism, Mechanism::kOccupancy);
  // Memory is at 40 % of 60 %: a third below; waves 40 % below 1.
  EXPECT_NEAR(*d.margin, 1.0 / 3, 1e-12);
  EXPECT_EQ(d.sub_causes,
            (std::vector<std::string>{"the grid fills 0.6 of a wave",
                                      "shared_mem allow the fewest blocks of a multiprocessor "
                                      "(4)"}));
  EXPECT_NE(d.prediction->find("at least 1 waves (now 0.6)"), std::string::npos) << *d.prediction;
  EXPECT_NE(d.prediction->find("falls by at least 10 % (from 100 us to at most 90 us)"),
            std::string::npos)
      << *d.prediction;
}

TEST(Occupancy, BothSidesOfEachThreshold) {
  EXPECT_EQ(few_warps().set("waves", 0.99).name(), "occupancy");
  EXPECT_EQ(few_warps().set("waves", 1).name(), "undetermined");
  EXPECT_EQ(few_warps().set("eligible_warps", 0.99).name(), "occupancy");
  EXPECT_EQ(few_warps().set("eligible_warps", 1).name(), "undetermined");
  EXPECT_EQ(few_warps().set("l2_pct", 59.9).name(), "occupancy");
  EXPECT_EQ(few_warps().set("l2_pct", 60).name(), "undetermined");
  EXPECT_EQ(few_warps().set("sm_pct", 59.9).set("dram_pct", 55).name(), "occupancy");
  EXPECT_EQ(few_warps().set("sm_pct", 60).set("dram_pct", 55).name(), "undetermined");
}

TEST(Occupancy, ALimitThatIsReached) {
  const auto name = [](double theoretical, double achieved) {
    return few_warps()
        .set("waves", 3)
        .set("theoretical_pct", theoretical)
        .set("achieved_pct", achieved)
        .name();
  };
  EXPECT_EQ(name(49.9, 45), "occupancy");
  EXPECT_EQ(name(50, 45), "undetermined");
  EXPECT_EQ(name(25, 15), "occupancy");
  EXPECT_EQ(name(25, 14.9), "undetermined");
  EXPECT_EQ(name(25, 25.5), "occupancy");  // measured a little above what is possible
  const Diagnosis d =
      few_warps().set("waves", 3).set("theoretical_pct", 25).set("achieved_pct", 24).result();
  EXPECT_NE(d.prediction->find("doubles (25 % -> 50 %)"), std::string::npos) << *d.prediction;
}

/// Enough warps that all wait.
Case waiting() {
  Case c;
  c.set("sm_pct", 20).set("issue_active", 0.2).set("eligible_warps", 1.5);
  return c;
}

TEST(Latency, NamesTheStall) {
  const Diagnosis d = waiting().result();
  EXPECT_EQ(d.mechanism, Mechanism::kLatency);
  // 6 of 6 + 2: what was issued or passed over is no stall.
  EXPECT_EQ(d.sub_causes, std::vector<std::string>{"stall long_scoreboard: 75 % of all stalls"});
  EXPECT_EQ(evidence_of(d, "issue active").threshold, 0.6);
  EXPECT_DOUBLE_EQ(*evidence_of(d, "stall long_scoreboard over all stalls").value, 0.75);
  EXPECT_EQ(d.summary,
            "schedulers issue in 20 % of their cycles, and warps wait for global, local or texture "
            "memory");
  // 35 % of 75 %.
  EXPECT_EQ(*d.prediction,
            "if stall long_scoreboard halves (6 -> 3 cycles per instruction), its median duration "
            "in the timeline falls by at least 26.25 % (from 100 us to at most 73.75 us); a "
            "smaller fall refutes latency");
}

TEST(Latency, BothSidesOfEachThreshold) {
  EXPECT_EQ(waiting().set("issue_active", 0.599).name(), "latency");
  EXPECT_EQ(waiting().set("issue_active", 0.6).name(), "undetermined");
  EXPECT_EQ(waiting().set("l2_pct", 59.9).name(), "latency");
  EXPECT_EQ(waiting().set("l2_pct", 60).name(), "undetermined");
  EXPECT_EQ(waiting().set("sm_pct", 59.9).set("dram_pct", 55).name(), "latency");
  EXPECT_EQ(waiting().set("sm_pct", 60).set("dram_pct", 55).name(), "undetermined");
}

TEST(Latency, LocalMemoryAndSpills) {
  Case c = waiting();
  // 8e6 global sectors; 5 % of all are local at 421052.6.
  c.set("local_load_sectors", 421'052);
  EXPECT_FALSE(mentions(c.result().sub_causes, "local memory"));
  c.set("local_load_sectors", 2e6);
  EXPECT_TRUE(mentions(c.result().sub_causes, "local memory takes 20 % of the L1 sectors"));
  c.set("spills", 12);
  EXPECT_TRUE(mentions(c.result().sub_causes, "12 instructions spill registers"));
  c.drop("local_load_sectors");
  EXPECT_TRUE(mentions(c.result().missing, "local_op_ld"));
}

TEST(Latency, NoStallAtAll) {
  const Diagnosis d = waiting().set("stall_long_scoreboard", 0).set("stall_wait", 0).result();
  EXPECT_EQ(d.mechanism, Mechanism::kLatency);
  EXPECT_TRUE(d.sub_causes.empty());
  EXPECT_NE(d.prediction->find("if issue active doubles (0.2 -> 0.4)"), std::string::npos);
}

}  // namespace
}  // namespace prof::test

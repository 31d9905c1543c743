// The order of the rules, what is missing, and the forms of a result.
#include "prof/diagnose/diagnosis.hpp"

#include "ledger/documents/document.hpp"
#include "tests/prof/diagnose/samples.hpp"

namespace prof::test {
namespace {

TEST(Diagnosis, Balanced) {
  const Diagnosis d = Case().result();
  EXPECT_EQ(d.mechanism, Mechanism::kUndetermined);
  EXPECT_EQ(d.summary, "balanced: no part of the device is the limit");
  EXPECT_FALSE(d.margin.has_value());
  EXPECT_FALSE(d.prediction.has_value());
  EXPECT_FALSE(d.high_confidence);
  EXPECT_EQ(d.thresholds_sha256, default_thresholds().sha256);
}

TEST(Diagnosis, ASmallShareIsNotDiagnosed) {
  Case c;
  c.set("dram_pct", 95);
  c.timeline.share_of_device = 0.02;
  EXPECT_EQ(c.name(), "bandwidth");
  c.timeline.share_of_device = 0.0199;
  const Diagnosis d = c.result();
  EXPECT_EQ(d.mechanism, Mechanism::kUndetermined);
  EXPECT_EQ(evidence_of(d, "share of device time").value, 0.0199);
}

TEST(Diagnosis, TooFewLaunches) {
  Case c;
  c.set("dram_pct", 95);
  c.counters.launches = 2;
  const Diagnosis d = c.result();
  EXPECT_EQ(d.mechanism, Mechanism::kUndetermined);
  EXPECT_EQ(d.missing, std::vector<std::string>{"launches: 2 captured (needs 3)"});
}

TEST(Diagnosis, EveryCounterThatARuleNeeds) {
  size_t needed = 0;
  for (const MetricSpec& spec : metric_table().metrics) {
    Case c;
    c.set("dram_pct", 95).drop(spec.key);
    const Diagnosis d = c.result();
    if (spec.rules.empty()) {
      EXPECT_EQ(d.mechanism, Mechanism::kBandwidth) << spec.key;
      continue;
    }
    ++needed;
    EXPECT_EQ(d.mechanism, Mechanism::kUndetermined) << spec.key;
    EXPECT_EQ(d.missing, std::vector<std::string>{spec.names.front() + ": \"n/a\" in the report"});
  }
  // Three throughputs, two pipes, waves, occupancy twice, issue, eligible warps, seven stalls.
  EXPECT_EQ(needed, 17U);
}

TEST(Diagnosis, OtherThresholds) {
  Case c;
  c.set("dram_pct", 45).set("sm_pct", 20);
  EXPECT_EQ(c.name(), "undetermined");
  c.thresholds.dram_pct = 40;
  EXPECT_EQ(c.name(), "bandwidth");
}

TEST(Diagnosis, AFileFromTheProfiler) {
  const CounterSet set = parse_ncu_csv("t", data_file("ncu_2025_3_c.csv"), {true, true});
  const auto kernels = kernel_counters(set);
  const Diagnosis d = diagnose({&kernels.at(0), nullptr, {}, &default_thresholds()});
  EXPECT_EQ(d.mechanism, Mechanism::kBandwidth);
  EXPECT_EQ(evidence_of(d, "DRAM throughput").value, 81);
  EXPECT_DOUBLE_EQ(*d.margin, 0.35);  // 81 of 60; 81 of 36 is further away
  EXPECT_EQ(d.sub_causes, std::vector<std::string>{"loads touch 8 sectors per request (ideal 4)"});
  EXPECT_NE(d.prediction->find("(250 MB -> 125 MB)"), std::string::npos) << *d.prediction;

  DocumentFacts facts;
  facts.tool_version = "0.1.0";
  facts.created_utc = "2026-03-04T05:06:07Z";
  facts.product_binary_sha256 = std::string(64, 'b');
  facts.device_uuid = "GPU-1";
  facts.device_name = "Synthetic device";
  facts.sm = 90;
  facts.driver_version = "580";
  facts.ncu_version = "2025.3.1.0";
  const std::string text = counters_document(facts, set, {to_document(d)});
  EXPECT_TRUE(ledger::check_document(text).empty());
  const auto root = ledger::Json::parse(text);
  EXPECT_EQ(root.at("diagnoses")[0].at("diagnosis"), "bandwidth");
  EXPECT_EQ(root.at("diagnoses")[0].at("confidence"), "low");
  EXPECT_EQ(root.at("diagnoses")[0].at("prediction"), *d.prediction);
}

TEST(Diagnosis, AsText) {
  Case c;
  c.set("dram_pct", 75).set("sm_pct", 30);
  c.plan.ledger_bytes = 1'500'000'000;
  EXPECT_EQ(to_text(c.result()),
            "k: bandwidth (confidence high, margin 25 %)\n"
            "  DRAM works at 75 % of its peak\n"
            "  evidence: DRAM throughput 75 % (at least 60 %)\n"
            "  evidence: DRAM over multiprocessor throughput 75 % (at least 36 %)\n"
            "  evidence: measured over pass-ledger bytes 1\n"
            "  refuted unless: if a launch moves half of its DRAM bytes (1.5 GB -> 750 MB), its "
            "median duration in the timeline falls by at least 35 % (from 100 us to at most 65 "
            "us); a smaller fall refutes bandwidth\n");
  c.counters.launches = 1;
  EXPECT_EQ(to_text(c.result()),
            "k: undetermined\n  too little was measured to decide\n"
            "  evidence: launches captured 1\n  missing: launches: 1 captured (needs 3)\n");
}

TEST(Diagnosis, NeedsItsInput) {
  const Case c;
  EXPECT_EQ(thrown([&] { diagnose({nullptr, nullptr, {}, &c.thresholds}); }), "CONTRACT 70");
  EXPECT_EQ(thrown([&] { diagnose({&c.counters, nullptr, {}, nullptr}); }), "CONTRACT 70");
}

}  // namespace
}  // namespace prof::test

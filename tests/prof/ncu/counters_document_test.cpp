// The ledger's own reader is the judge of the document.
#include "prof/ncu/counters_document.hpp"

#include <algorithm>

#include "ledger/documents/document.hpp"
#include "tests/prof/ncu/support.hpp"

namespace prof::test {
namespace {

using ledger::Json;

DocumentFacts facts() {
  DocumentFacts out;
  out.tool_version = "0.1.0";
  out.created_utc = "2026-03-04T05:06:07.890Z";
  out.command = {"stwo", "prove"};
  out.product_binary_sha256 = std::string(64, 'b');
  out.device_uuid = "GPU-01234567-89ab-cdef-0123-456789abcdef";
  out.device_name = "Synthetic device";
  out.sm = 90;
  out.driver_version = "580.95.05";
  out.ncu_version = "2025.3.1.0";
  return out;
}

CounterSet counters() { return parse_ncu_csv("t", data_file("ncu_2025_3_c.csv"), {true, true}); }

const char* const kKernel = "copy_columns(const unsigned int *, unsigned int *)";

Json metric(const Json& launch, const std::string& name) {
  for (const Json& m : launch.at("metrics")) {
    if (m.at("name") == name) return m;
  }
  return nullptr;
}

TEST(CountersDocument, TheLedgerTakesIt) {
  DocumentFacts f = facts();
  f.workload = {"wide_fibonacci_log20x100", std::string(64, 'c'), "fast"};
  f.report_sha256 = std::string(64, 'd');
  f.product_identity_sha256 = std::string(64, 'a');
  f.stages[kKernel] = "trace_commit";
  const std::vector<DocumentDiagnosis> diagnoses = {
      {kKernel,
       "bandwidth",
       "high",
       0.35,
       {{"DRAM throughput", 81.0, 60.0, "%"}, {"sub-cause: x", std::nullopt, std::nullopt, ""}},
       {"something"},
       "if it moves half, it takes less"}};
  const std::string text = counters_document(f, counters(), diagnoses);
  const auto problems = ledger::check_document(text);
  EXPECT_TRUE(problems.empty()) << problems.front().code << ' ' << problems.front().path;
  EXPECT_EQ(text, counters_document(f, counters(), diagnoses));
  EXPECT_EQ(text.back(), '\n');

  const Json root = Json::parse(text);
  EXPECT_EQ(root.at("replayed"), true);
  EXPECT_EQ(root.at("source").at("sha256"), counters().csv_sha256);
  EXPECT_EQ(root.at("launches").size(), 3U);
  const Json& launch = root.at("launches")[1];
  EXPECT_EQ(launch.at("kernel"), kKernel);
  EXPECT_EQ(launch.at("ordinal"), 1);
  EXPECT_EQ(launch.at("stage"), "trace_commit");
  EXPECT_EQ(launch.at("grid"), Json({4096, 1, 1}));
  EXPECT_EQ(launch.at("registers_per_thread"), 32);
  EXPECT_EQ(launch.at("dynamic_shared_bytes"), 0);
  EXPECT_EQ(metric(launch, "dram__bytes_read.sum"), Json({{"name", "dram__bytes_read.sum"},
                                                          {"value", 100000000},
                                                          {"unit", "byte"},
                                                          {"reason", nullptr}}));
  EXPECT_EQ(metric(launch, "lts__t_sector_hit_rate.pct").at("reason"), "\"nan\" in the report");
  EXPECT_EQ(metric(launch, "launch__waves_per_multiprocessor").at("unit"), "");
  // No rule needs it and this report does not have it.
  EXPECT_TRUE(metric(launch, "l1tex__t_sector_hit_rate.pct").is_null());
  EXPECT_EQ(root.at("diagnoses")[0].at("evidence")[0].at("threshold"), 60);
}

TEST(CountersDocument, WhatARuleNeedsIsNullWithAReason) {
  CounterSet set = parse_ncu_csv("t", data_file("ncu_2022_4_groups.csv"), {true, true});
  const Json root = Json::parse(counters_document(facts(), set, {}));
  EXPECT_EQ(metric(root.at("launches")[0], "sm__throughput.avg.pct_of_peak_sustained_elapsed"),
            Json({{"name", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
                  {"value", nullptr},
                  {"unit", "%"},
                  {"reason", "not in the report"}}));
  EXPECT_TRUE(root.at("launches")[0].at("stage").is_null());
  EXPECT_TRUE(root.at("workload").is_null());
  set.launches[1].values.at("shared_dynamic").value.reset();
  EXPECT_EQ(thrown([&] { counters_document(facts(), set, {}); }), "COUNTERS_LAUNCH 3");
}

TEST(CountersDocument, WrongFactsAreRefused) {
  DocumentFacts f = facts();
  f.created_utc = "yesterday";
  EXPECT_NE(thrown([&] { counters_document(f, counters(), {}); }), "nothing");
  f = facts();
  f.stages[kKernel] = "no stage";
  EXPECT_NE(thrown([&] { counters_document(f, counters(), {}); }), "nothing");
  const DocumentDiagnosis other{"other kernel", "undetermined", "low", std::nullopt, {}, {},
                                std::nullopt};
  EXPECT_EQ(thrown([&] { counters_document(facts(), counters(), {other}); }),
            "COUNTERS_DIAGNOSIS_KERNEL 3");
}

TEST(CountersDocument, BytesThatAreNoTextAreReplaced) {
  DocumentFacts f = facts();
  f.command = {"\xff\xfe"};
  EXPECT_TRUE(ledger::check_document(counters_document(f, counters(), {})).empty());
}

}  // namespace
}  // namespace prof::test

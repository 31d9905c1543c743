#include <gtest/gtest.h>

#include "prof/export/diff.hpp"
#include "tests/support/errors.hpp"

namespace prof {
namespace {

using ledger::Json;

Json metric(const char* name, const Json& value, const char* unit, const Json& reason = nullptr) {
  return {{"name", name}, {"value", value}, {"unit", unit}, {"reason", reason}};
}

Json launch(const char* kernel, int ordinal, const Json& stage, const std::vector<Json>& metrics) {
  return {{"kernel", kernel},           {"ordinal", ordinal},  {"stage", stage},
          {"grid", {1, 1, 1}},          {"block", {32, 1, 1}}, {"dynamic_shared_bytes", 0},
          {"registers_per_thread", 32}, {"metrics", metrics}};
}

/// A document that the ledger accepts.
ledger::Document document(const std::vector<Json>& launches, const std::string& uuid = "GPU-1") {
  const std::string digest(64, 'a');
  const Json json = {
      {"schema", "stwo_prof_counters_v1"},
      {"tool", {{"name", "stwo-prof"}, {"version", "0.1.0"}}},
      {"created_utc", "2026-01-31T12:00:00Z"},
      {"command", Json::array({"stwo", "prove"})},
      {"product", {{"identity_sha256", digest}, {"binary_sha256", digest}}},
      {"environment",
       {{"device_uuid", uuid}, {"device_name", "H200"}, {"sm", 90}, {"driver_version", "580.1"}}},
      {"workload", {{"workload_id", "wf"}, {"statement_sha256", digest}, {"config", "c"}}},
      {"report_sha256", nullptr},
      {"source", {{"format", "ncu-csv"}, {"sha256", digest}, {"tool_version", "2025.3"}}},
      {"replayed", true},
      {"launches", launches},
      {"diagnoses", Json::array()}};
  return ledger::read_document("test", json.dump());
}

ledger::Document baseline() {
  return document({launch("k", 0, "oods",
                          {metric("bytes", 100, "byte"), metric("ratio", 2.0, ""),
                           metric("stall", nullptr, "%", "n/a")}),
                   launch("k", 1, "oods", {metric("bytes", 300, "byte"), metric("ratio", 0, "")}),
                   launch("k", 2, "oods", {metric("bytes", 200, "byte"), metric("ratio", 0.0, "")}),
                   launch("gone", 3, nullptr, {metric("bytes", 1, "byte")})});
}

ledger::Document candidate(const std::string& uuid = "GPU-1") {
  return document({launch("k", 0, "oods",
                          {metric("bytes", 150, "byte"), metric("ratio", 1.0, ""),
                           metric("stall", 40.0, "%"), metric("extra", 7, "Kbyte")}),
                   launch("new", 1, "quotient", {metric("bytes", 1, "byte")})},
                  uuid);
}

std::map<std::string, MetricChange> metrics_of_k(const CountersDiff& diff) {
  std::map<std::string, MetricChange> out;
  for (const MetricChange& c : diff.metrics) {
    if (c.kernel == "k") out[c.metric] = c;
  }
  return out;
}

TEST(CountersSideBySide, MediansByKernelStageAndMetric) {
  const CountersDiff d = diff_counters(baseline(), "a.json", candidate(), "b.json");
  EXPECT_EQ(d.identity.comparability, Comparability::kComparable);
  const auto k = metrics_of_k(d);
  ASSERT_EQ(k.size(), 4U);
  EXPECT_EQ(k.at("bytes").stage, "oods");
  EXPECT_EQ(k.at("bytes").baseline->value, 200);  // median of 100, 200, 300
  EXPECT_EQ(k.at("bytes").baseline->launches, 3);
  EXPECT_EQ(k.at("bytes").ratio(), 0.75);
  EXPECT_EQ(k.at("bytes").delta(), -50);
  // A baseline of 0 has no ratio, but a difference.
  EXPECT_EQ(k.at("ratio").baseline->value, 0);
  EXPECT_FALSE(k.at("ratio").ratio().has_value());
  EXPECT_EQ(k.at("ratio").delta(), 1);
  // Without a value there is the reason.
  EXPECT_FALSE(k.at("stall").baseline->value.has_value());
  EXPECT_EQ(k.at("stall").baseline->reason, "n/a");
  EXPECT_FALSE(k.at("stall").delta().has_value());
  EXPECT_FALSE(k.at("extra").baseline.has_value());
}

TEST(CountersSideBySide, NewAndVanishedKernels) {
  const CountersDiff d = diff_counters(baseline(), "a.json", candidate(), "b.json");
  ASSERT_EQ(d.new_kernels.size(), 1U);
  EXPECT_EQ(d.new_kernels[0].first, "new");
  EXPECT_EQ(d.new_kernels[0].second, "quotient");
  ASSERT_EQ(d.vanished_kernels.size(), 1U);
  EXPECT_EQ(d.vanished_kernels[0].first, "gone");
  EXPECT_FALSE(d.vanished_kernels[0].second.has_value());
}

TEST(CountersSideBySide, UnitsThatDifferAreNotCompared) {
  const auto with_unit = [](const char* unit) {
    return document({launch("k", 0, nullptr, {metric("bytes", 100, unit)})});
  };
  CountersDiff d = diff_counters(with_unit("byte"), "a", with_unit("Kbyte"), "b");
  EXPECT_FALSE(d.metrics.at(0).ratio().has_value());
  EXPECT_NE(diff_text(d).find("units differ"), std::string::npos);
  const ledger::Document mixed =
      document({launch("k", 0, nullptr, {metric("bytes", 100, "byte")}),
                launch("k", 1, nullptr, {metric("bytes", 100, "Kbyte")})});
  d = diff_counters(mixed, "a", mixed, "b");
  EXPECT_FALSE(d.metrics.at(0).baseline->value.has_value());
  EXPECT_EQ(d.metrics.at(0).baseline->reason, "its launches have different units");
}

TEST(CountersSideBySide, TextJsonAndCsv) {
  const CountersDiff d = diff_counters(baseline(), "a.json", candidate("GPU-2"), "b.json");
  const std::string text = diff_text(d, 2);
  const size_t flag = text.find("NOT COMPARABLE: differs in device");
  ASSERT_NE(flag, std::string::npos) << text;
  EXPECT_LT(flag, text.find("metric"));
  EXPECT_NE(text.find("new:      new in quotient\n"), std::string::npos) << text;
  EXPECT_NE(text.find("vanished: gone\n"), std::string::npos) << text;
  EXPECT_NE(text.find("4 more metrics are not shown"), std::string::npos) << text;
  const Json json = diff_json(d);
  EXPECT_EQ(json.at("kind"), "counters");
  EXPECT_EQ(json.at("comparability"), "not_comparable");
  ASSERT_EQ(json.at("metrics").size(), 6U);
  // In order: gone bytes; k bytes, extra, ratio, stall; new bytes.
  EXPECT_EQ(json.at("metrics").at(1).at("ratio"), 0.75);
  EXPECT_TRUE(json.at("metrics").at(2).at("baseline").is_null());
  EXPECT_EQ(json.at("metrics").at(2).at("status"), "new");
  EXPECT_EQ(json.at("metrics").at(4).at("baseline").at("reason"), "n/a");
  const std::string csv = diff_csv(d);
  EXPECT_NE(csv.find("not_comparable,k,oods,bytes,200.0,byte,3,150.0,byte,1,-50.0,0.75\n"),
            std::string::npos)
      << csv;
  EXPECT_NE(csv.find("not_comparable,k,oods,stall,,%,0,40.0,%,1,,\n"), std::string::npos) << csv;
}

TEST(CountersSideBySide, OtherDocumentsAreRefused) {
  ledger::Document plan;
  plan.kind = ledger::DocumentKind::kPlan;
  std::string message;
  EXPECT_EQ(stwo::test::code_of([&] { diff_counters(baseline(), "a", plan, "p.json"); }, &message),
            "DIFF_KIND");
  EXPECT_NE(message.find("p.json is a plan"), std::string::npos) << message;
}

}  // namespace
}  // namespace prof

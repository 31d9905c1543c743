// Drift of every field that says what a run is, and the deltas.
#include "prof/report/comparison.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/prof/report/sample_reports.hpp"

namespace prof {
namespace {

using test::Json;

/// Another value of the same type.
Json changed(const Json& value) {
  if (value.is_null()) return "something";
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return value.get<uint64_t>() + 1;
  if (value.is_string()) return value.get<std::string>() + "x";
  Json out = value;
  if (value.is_array()) {
    out.erase(0);
  } else {
    out["another"] = 1;
  }
  return out;
}

TEST(IdentityDrift, EqualReportsHaveNone) {
  EXPECT_TRUE(identity_drift(test::cuda_json(), test::cuda_json()).empty());
  EXPECT_TRUE(identity_drift(test::cpu_json(), test::cpu_json()).empty());
}

TEST(IdentityDrift, EveryFieldIsFoundAlone) {
  const Json baseline = test::cuda_json();
  for (const IdentityField& field : identity_fields()) {
    Json now = baseline;
    const Json::json_pointer path(field.path);
    ASSERT_TRUE(now.contains(path)) << field.path;
    now.at(path) = changed(now.at(path));
    const std::vector<Drift> drift = identity_drift(baseline, now);
    ASSERT_EQ(drift.size(), 1U) << field.path;
    EXPECT_EQ(drift[0].path, field.path);
    EXPECT_NE(drift[0].baseline, drift[0].now);
    EXPECT_EQ(drift[0].meaning, field.meaning);
  }
}

TEST(IdentityDrift, NoIdentityFieldIsForgotten) {
  std::set<std::string> known;
  for (const IdentityField& field : identity_fields()) known.insert(field.path);
  // The digest over the others, and numbers that are results and not identity.
  const std::set<std::string> left_out = {
      "/identity/identity_sha256", "/plan/reuse_count",   "/plan/predicted_minimum_launches",
      "/plan/transcript_barriers", "/plan/request_bytes", "/plan/persistent_bytes"};
  const Json report = test::cuda_json();
  for (const char* block : {"identity", "device", "cpu", "statement", "plan"}) {
    for (const auto& item : report.at(block).items()) {
      const std::string path = std::string("/") + block + "/" + item.key();
      EXPECT_EQ(known.count(path) + left_out.count(path), 1U) << path;
    }
  }
}

TEST(IdentityDrift, ModulesByNameAndDigest) {
  const Json baseline = test::cuda_json();
  Json now = baseline;
  now["modules"][2]["sha256"] = std::string(64, 'c');
  const std::vector<Drift> drift = identity_drift(baseline, now);
  ASSERT_EQ(drift.size(), 1U);
  EXPECT_EQ(drift[0].path, "/modules");
  EXPECT_NE(drift[0].now.find("decommit:" + std::string(64, 'c')), std::string::npos);
  // Their sizes and when they were loaded follow from that, or are no identity.
  now = baseline;
  now["modules"][2]["loaded_in"] = "init";
  EXPECT_TRUE(identity_drift(baseline, now).empty());
}

TEST(IdentityDrift, AbsentIsNotNull) {
  const std::vector<Drift> drift = identity_drift(test::cuda_json(), test::cpu_json());
  const auto find = [&](const std::string& path) {
    for (const Drift& d : drift) {
      if (d.path == path) return d;
    }
    return Drift{};
  };
  EXPECT_EQ(find("/device/runtime_version").baseline, "null");
  EXPECT_EQ(find("/device/runtime_version").now, "absent");
  EXPECT_EQ(find("/backend").meaning, DriftMeaning::kIncomparable);
}

const Delta& delta_of(const std::vector<Delta>& deltas, const std::string& group,
                      const std::string& name) {
  for (const Delta& d : deltas) {
    if (d.group == group && d.name == name) return d;
  }
  throw std::runtime_error("no delta " + group + " " + name);
}

TEST(Deltas, OfTwoRuns) {
  const Json baseline = test::cuda_json();
  Json now = baseline;
  now["lifecycle_ns"]["shape_prepare"] = 50000000;
  now["lifecycle_ns"]["total_before_publication"] = 256388700;
  for (int i = 0; i < 5; ++i) {
    now["transfers"]["d2h_bytes"][i] = 13824;
    now["counters"]["kernel_launches"][i] = 14;
  }
  now["pass_ledger"][0]["reread_bytes"] = 0;
  const std::vector<Delta> deltas = report_deltas(test::facts_of(baseline), test::facts_of(now));
  const Delta& prepare = delta_of(deltas, "lifecycle", "shape_prepare");
  EXPECT_EQ(prepare.unit, Unit::kNs);
  EXPECT_EQ(prepare.baseline.value, 25000000U);
  EXPECT_EQ(prepare.now.value, 50000000U);
  EXPECT_EQ(prepare.ratio(), 2.0);
  EXPECT_EQ(delta_of(deltas, "lifecycle", "other").ratio(), 1.0);
  EXPECT_EQ(delta_of(deltas, "steady median", "host_gap").now.value, 43000U);
  EXPECT_EQ(delta_of(deltas, "stage median", "pow").baseline.value, 11111U);
  EXPECT_EQ(delta_of(deltas, "stage minimum", "pow").baseline.value, 11074U);
  EXPECT_EQ(delta_of(deltas, "transfer", "d2h_bytes").unit, Unit::kBytes);
  EXPECT_EQ(delta_of(deltas, "transfer", "d2h_bytes").ratio(), 2.0);
  EXPECT_EQ(delta_of(deltas, "counter", "kernel_launches").ratio(), 0.5);
  EXPECT_FALSE(delta_of(deltas, "counter", "frees").ratio().has_value());  // 0 before
  // 128 + 80 + 80 before, 80 less now.
  EXPECT_EQ(delta_of(deltas, "pass ledger bytes", "ingress").baseline.value, 288U);
  EXPECT_EQ(delta_of(deltas, "pass ledger bytes", "ingress").now.value, 208U);
  EXPECT_EQ(delta_of(deltas, "memory", "graphs").now.reason, "the driver does not tell this share");
}

TEST(Deltas, WithAndWithoutDevice) {
  const RunFacts cuda = test::facts_of(test::cuda_json());
  const RunFacts cpu = test::facts_of(test::cpu_json());
  for (const auto& deltas : {report_deltas(cuda, cpu), report_deltas(cpu, cuda)}) {
    const Delta& launches = delta_of(deltas, "counter", "kernel_launches");
    EXPECT_NE(launches.baseline.has_value(), launches.now.has_value());
    EXPECT_FALSE(launches.ratio().has_value());
  }
  for (const Delta& d : report_deltas(cpu, cpu)) {
    EXPECT_NE(d.group, "counter");
    EXPECT_EQ(d.group.find("pass ledger"), std::string::npos);
  }
}

}  // namespace
}  // namespace prof

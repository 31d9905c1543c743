#include "prof/ncu/counters_document.hpp"

#include <cmath>

#include "ledger/documents/document.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

using ledger::Json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Whole numbers without a fraction, so that readers see 4096 and not 4096.0.
Json number(double value) {
  constexpr double kExact = 9007199254740992.0;
  if (value == std::floor(value) && std::fabs(value) < kExact) {
    return static_cast<int64_t>(value);
  }
  return value;
}

Json number_or_null(const std::optional<double>& value) {
  return value ? number(*value) : Json(nullptr);
}

Json metrics_json(const LaunchCounters& launch) {
  Json metrics = Json::array();
  for (const MetricSpec& spec : metric_table().metrics) {
    const CounterValue& v = launch.values.at(spec.key);
    if (v.absent && spec.rules.empty()) continue;
    metrics.push_back({{"name", v.metric},
                       {"value", number_or_null(v.value)},
                       {"unit", spec.unit == "count" ? "" : spec.unit},
                       {"reason", v.value ? Json(nullptr) : Json(v.reason)}});
  }
  return metrics;
}

Json launch_json(const LaunchCounters& launch, size_t ordinal, const DocumentFacts& facts) {
  const auto& dynamic = launch.values.at("shared_dynamic");
  if (!dynamic.value) {
    throw stwo::FormatError("COUNTERS_LAUNCH", "launch " + std::to_string(ordinal) + " of " +
                                                   launch.kernel + ": " + dynamic.metric + " is " +
                                                   dynamic.reason +
                                                   "; capture with section LaunchStats");
  }
  const auto stage = facts.stages.find(launch.kernel);
  const auto& registers = launch.values.at("registers");
  return {{"kernel", launch.kernel},
          {"ordinal", ordinal},
          {"stage", stage == facts.stages.end() ? Json(nullptr) : Json(stage->second)},
          {"grid", launch.grid},
          {"block", launch.block},
          {"dynamic_shared_bytes", static_cast<uint64_t>(*dynamic.value)},
          {"registers_per_thread",
           registers.value ? Json(static_cast<uint64_t>(*registers.value)) : Json(nullptr)},
          {"metrics", metrics_json(launch)}};
}

Json diagnosis_json(const DocumentDiagnosis& d) {
  Json evidence = Json::array();
  for (const DocumentEvidence& e : d.evidence) {
    evidence.push_back({{"name", e.name},
                        {"value", number_or_null(e.value)},
                        {"threshold", number_or_null(e.threshold)},
                        {"unit", e.unit}});
  }
  return {{"kernel", d.kernel},
          {"diagnosis", d.diagnosis},
          {"confidence", d.confidence},
          {"margin", number_or_null(d.margin)},
          {"evidence", evidence},
          {"missing", d.missing},
          {"prediction", or_null(d.prediction)}};
}

Json workload_json(const std::optional<DocumentWorkload>& workload) {
  if (!workload) return nullptr;
  return {{"workload_id", workload->workload_id},
          {"statement_sha256", workload->statement_sha256},
          {"config", workload->config}};
}

}  // namespace

std::string counters_document(const DocumentFacts& facts, const CounterSet& counters,
                              const std::vector<DocumentDiagnosis>& diagnoses) {
  Json launches = Json::array();
  for (size_t i = 0; i < counters.launches.size(); ++i) {
    launches.push_back(launch_json(counters.launches[i], i, facts));
  }
  Json conclusions = Json::array();
  for (const DocumentDiagnosis& d : diagnoses) conclusions.push_back(diagnosis_json(d));
  const Json root = {{"schema", "stwo_prof_counters_v1"},
                     {"tool", {{"name", "stwo-prof"}, {"version", facts.tool_version}}},
                     {"created_utc", facts.created_utc},
                     {"command", facts.command},
                     {"product",
                      {{"identity_sha256", or_null(facts.product_identity_sha256)},
                       {"binary_sha256", facts.product_binary_sha256}}},
                     {"environment",
                      {{"device_uuid", facts.device_uuid},
                       {"device_name", facts.device_name},
                       {"sm", facts.sm},
                       {"driver_version", facts.driver_version}}},
                     {"workload", workload_json(facts.workload)},
                     {"report_sha256", or_null(facts.report_sha256)},
                     {"source",
                      {{"format", "ncu-csv"},
                       {"sha256", counters.csv_sha256},
                       {"tool_version", facts.ncu_version}}},
                     {"replayed", true},
                     {"launches", launches},
                     {"diagnoses", conclusions}};
  // A kernel's name or an argument may hold bytes that are no UTF-8.
  std::string text = root.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
  (void)ledger::read_document("counters document", text);
  return text;
}

}  // namespace prof

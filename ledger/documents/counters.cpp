// stwo_prof_counters_v1: hardware counters of the kernels of one captured run, and what they mean.

#include <set>

#include "ledger/documents/kinds.hpp"

namespace ledger::documents {
namespace {

constexpr std::string_view kSourceFormats[] = {"ncu-csv", "ncu-report", "cupti"};
constexpr std::string_view kUndetermined = "undetermined";
constexpr std::string_view kDiagnoses[] = {"bandwidth",
                                           "latency",
                                           "compute",
                                           "occupancy",
                                           "launch_fragmentation",
                                           "dependency_serialization",
                                           kUndetermined};
constexpr std::string_view kConfidences[] = {"high", "low"};

DocumentSchema make_schema() {
  const Rule rules[] = {
      text("/schema"),
      object("/tool"),
      utc("/created_utc"),
      array("/command"),
      text("/command/*"),
      object("/product"),
      nullable(sha256("/product/identity_sha256")),
      sha256("/product/binary_sha256"),
      object("/environment"),
      name("/environment/device_uuid"),
      name("/environment/device_name"),
      uint("/environment/sm"),
      name("/environment/driver_version"),
      nullable(object("/workload")),
      name("/workload/workload_id"),
      sha256("/workload/statement_sha256"),
      name("/workload/config"),
      nullable(sha256("/report_sha256")),
      object("/source"),
      choice("/source/format", kSourceFormats),
      sha256("/source/sha256"),
      name("/source/tool_version"),
      boolean("/replayed"),
      array("/launches"),
      object("/launches/*"),
      name("/launches/*/kernel"),
      uint("/launches/*/ordinal"),
      nullable(choice("/launches/*/stage", stage_names())),
      array("/launches/*/grid", 3, 3),
      uint("/launches/*/grid/*", 1),
      array("/launches/*/block", 3, 3),
      uint("/launches/*/block/*", 1),
      uint("/launches/*/dynamic_shared_bytes"),
      nullable(uint("/launches/*/registers_per_thread")),
      array("/launches/*/metrics"),
      object("/launches/*/metrics/*"),
      name("/launches/*/metrics/*/name"),
      nullable(real("/launches/*/metrics/*/value")),
      text("/launches/*/metrics/*/unit"),  // empty: a ratio or a count
      nullable(name("/launches/*/metrics/*/reason")),
      array("/diagnoses"),
      object("/diagnoses/*"),
      name("/diagnoses/*/kernel"),
      choice("/diagnoses/*/diagnosis", kDiagnoses),
      choice("/diagnoses/*/confidence", kConfidences),
      nullable(real("/diagnoses/*/margin")),
      array("/diagnoses/*/evidence"),
      object("/diagnoses/*/evidence/*"),
      name("/diagnoses/*/evidence/*/name"),
      nullable(real("/diagnoses/*/evidence/*/value")),
      nullable(real("/diagnoses/*/evidence/*/threshold")),
      text("/diagnoses/*/evidence/*/unit"),
      array("/diagnoses/*/missing"),
      name("/diagnoses/*/missing/*"),
      nullable(name("/diagnoses/*/prediction")),
  };
  return DocumentSchema(rules).add("/tool", tool_rules());
}

void check_metrics(const Json& metrics, const std::string& path, Problems& problems) {
  std::set<std::string> names;
  for (size_t m = 0; m < metrics.size(); ++m) {
    const std::string at = at_index(path, m);
    const auto metric = metrics[m].at("name").get<std::string>();
    if (!names.insert(metric).second) {
      problems.add("COUNTERS_METRIC_TWICE", at + "/name",
                   "metric " + shown_name(metric) + " is given twice for this launch");
    }
    if (metrics[m].at("value").is_null() == metrics[m].at("reason").is_null()) {
      problems.add("COUNTERS_VALUE_REASON", at + "/reason",
                   "expected a reason exactly where the value is null, found the value " +
                       shown(metrics[m].at("value")) + " and the reason " +
                       shown(metrics[m].at("reason")));
    }
  }
}

void cross_check(const Json& root, Problems& problems) {
  std::set<std::string> kernels;
  const Json& launches = root.at("launches");
  for (size_t i = 0; i < launches.size(); ++i) {
    const std::string path = at_index("/launches", i);
    kernels.insert(launches[i].at("kernel").get<std::string>());
    if (const auto ordinal = launches[i].at("ordinal").get<uint64_t>(); ordinal != i) {
      problems.add("COUNTERS_ORDINALS", path + "/ordinal",
                   "expected " + std::to_string(i) + ", found " + std::to_string(ordinal));
    }
    check_metrics(launches[i].at("metrics"), path + "/metrics", problems);
  }
  std::set<std::string> diagnosed;
  const Json& diagnoses = root.at("diagnoses");
  for (size_t i = 0; i < diagnoses.size(); ++i) {
    const Json& d = diagnoses[i];
    const std::string path = at_index("/diagnoses", i);
    const auto kernel = d.at("kernel").get<std::string>();
    if (kernels.count(kernel) == 0) {
      problems.add("COUNTERS_DIAGNOSIS_KERNEL", path + "/kernel",
                   "expected a kernel of /launches, found " + shown(kernel));
    }
    if (!diagnosed.insert(kernel).second) {
      problems.add("COUNTERS_DIAGNOSIS_TWICE", path + "/kernel",
                   "kernel " + shown_name(kernel) + " is diagnosed twice");
    }
    if ((d.at("diagnosis") == kUndetermined) != d.at("prediction").is_null()) {
      problems.add("COUNTERS_PREDICTION", path + "/prediction",
                   "expected null exactly for undetermined, found " + shown(d.at("prediction")) +
                       " for " + d.at("diagnosis").get<std::string>());
    }
  }
}

}  // namespace

KindRules counters_rules() {
  static const DocumentSchema schema = make_schema();
  return {schema, cross_check};
}

}  // namespace ledger::documents

// Valid reports, and changed ones that stay valid.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "prof/report/report.hpp"
#include "prover/hash/sha256.hpp"

namespace prof::test {

using Json = nlohmann::json;

inline std::string sample_path(const std::string& name) {
  return std::string(PROF_TEST_REPORTS) + "/" + name;
}
inline std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline Json cuda_json() { return Json::parse(file_text(sample_path("cuda_report.json"))); }
inline Json cpu_json() { return Json::parse(file_text(sample_path("cpu_report.json"))); }

/// The run is told to say nothing about the backend's speed.
inline void make_ineligible(Json& report) {
  report["eligible_for_cuda_verdict"] = false;
  report["ineligible_reason"] = "for a test";
  report["not_applicable"].erase("/ineligible_reason");
}

inline void seal_identity(Json& report) {
  Json identity = report["identity"];
  identity.erase("identity_sha256");
  report["identity"]["identity_sha256"] = stwo::sha256_hex(identity.dump());
}

/// Only the first and the warm-up request are left.
inline void drop_steady(Json& report) {
  Json& requests = report["requests"];
  while (requests.back()["role"] == "steady") requests.erase(requests.size() - 1);
  for (const char* block : {"counters", "transfers"}) {
    for (auto& item : report[block].items()) {
      while (item.value().size() > requests.size()) item.value().erase(item.value().size() - 1);
    }
  }
  for (const char* block : {"stage_ns", "device_stage_ns"}) {
    for (const char* statistic : {"last", "min", "median"}) {
      report[block][statistic] = nullptr;
      report["not_applicable"][std::string("/") + block + "/" + statistic] = "no steady request";
    }
  }
}

inline RunFacts facts_of(const Json& report, const std::string& name = "report.json") {
  return run_facts(parse_report(name, report.dump(2)));
}
inline ReportAnalysis analysis_of(const Json& report) {
  return analyse_report(facts_of(report), std::nullopt, std::nullopt);
}
inline ReportAnalysis comparison_of(const Json& baseline, const Json& now) {
  return analyse_report(facts_of(now, "now.json"), facts_of(baseline, "baseline.json"),
                        std::nullopt);
}

}  // namespace prof::test

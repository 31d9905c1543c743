#include "prof/timeline/counts.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "prof/timeline/distribution.hpp"
#include "prover/errors.hpp"
#include "prover/hash/hex.hpp"
#include "prover/hash/sha256.hpp"
#include "prover/report/report_check.hpp"

namespace prof {
namespace {

using Json = nlohmann::json;

Json parse_report(std::string_view text) {
  const std::vector<stwo::ReportViolation> broken = stwo::check_report(text);
  if (!broken.empty()) {
    throw stwo::FormatError("TIMELINE_REPORT", "product report breaks rule " + broken.front().code +
                                                   " at '" + broken.front().path +
                                                   "': " + broken.front().message +
                                                   "; give a report that `stwo inspect report` "
                                                   "accepts");
  }
  return Json::parse(text);
}

std::optional<int64_t> steady_median(const Json& report) {
  std::vector<int64_t> times;
  for (const Json& r : report.at("requests")) {
    if (r.at("role") == "steady") times.push_back(r.at("resident_prove").get<int64_t>());
  }
  return lower_median(std::move(times));
}

}  // namespace

std::optional<int64_t> report_steady_median(std::string_view text) {
  return steady_median(parse_report(text));
}

ReportRequest read_report_request(std::string_view text, int64_t request,
                                  const std::optional<std::string>& expected_sha256) {
  const Json report = parse_report(text);
  if (expected_sha256) {
    const std::string digest = stwo::sha256_hex(text);
    if (digest != *expected_sha256) {
      throw stwo::FormatError("TIMELINE_REPORT_OTHER",
                              "the product report has the digest " + digest + " (expected " +
                                  *expected_sha256 +
                                  ", which the capture names); give the report of the same run");
    }
  }
  if (report.at("counters").is_null() || report.at("transfers").is_null()) {
    throw stwo::FormatError("TIMELINE_REPORT_CPU",
                            "the product report of backend " +
                                report.at("backend").get<std::string>() +
                                " has no counters of a device (expected backend cuda); give the "
                                "report of the captured run");
  }
  const size_t n = report.at("requests").size();
  if (request < 0 || static_cast<size_t>(request) >= n) {
    throw stwo::UsageError("TIMELINE_REQUEST", "the product report has no request " +
                                                   std::to_string(request) + " (it has 0 to " +
                                                   std::to_string(n - 1) +
                                                   "); give the report of the captured run");
  }
  ReportRequest out;
  out.request = request;
  out.steady_median_ns = steady_median(report);
  for (const char* block : {"counters", "transfers"}) {
    for (const auto& [key, values] : report.at(block).items()) {
      out.counts.emplace_back(key, values.at(static_cast<size_t>(request)).get<int64_t>());
    }
  }
  return out;
}

std::vector<CountRow> compare_with_report(const std::vector<Count>& counts,
                                          const ReportRequest& report) {
  std::vector<CountRow> out;
  for (const Count& count : counts) {
    CountRow row;
    row.key = count.key;
    row.capture = count.value;
    const auto it = std::find_if(report.counts.begin(), report.counts.end(),
                                 [&](const auto& entry) { return entry.first == count.key; });
    row.report = it == report.counts.end()
                     ? Answer<int64_t>::unknown("the product report does not count this")
                     : Answer<int64_t>::of(it->second);
    if (row.capture && row.report) row.equal = *row.capture == *row.report;
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace prof

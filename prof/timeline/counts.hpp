// Counts of the window, and the same counts of the product report: the check that nothing is
// missing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prof/timeline/answer.hpp"

namespace prof {

/// A count under its key of the product report: "kernel_launches", "h2d_bytes", ...
struct Count {
  std::string key;
  Answer<int64_t> value;
};

/// What a product report says about one request.
struct ReportRequest {
  int64_t request = 0;
  std::vector<std::pair<std::string, int64_t>> counts;  ///< by key, counters before transfers
  std::optional<int64_t> steady_median_ns;  ///< lower median of the steady resident times
};

struct CountRow {
  std::string key;
  Answer<int64_t> capture;
  Answer<int64_t> report;
  std::optional<bool> equal;  ///< absent if one of them is unknown
};

/// Reads a valid product report (docs/formats.md). `expected_sha256`, if set, is the digest of the
/// report that the capture belongs to. Throws FormatError
///   TIMELINE_REPORT        not a valid report; the message has the first broken rule
///   TIMELINE_REPORT_OTHER  another report than the capture's
///   TIMELINE_REPORT_CPU    the report of a run without a device, which counts nothing
/// and UsageError TIMELINE_REQUEST if it has no such request.
ReportRequest read_report_request(std::string_view text, int64_t request,
                                  const std::optional<std::string>& expected_sha256);
/// The lower median of the steady resident times of a valid report, for Perturbation; unset without
/// steady requests. Throws FormatError TIMELINE_REPORT.
std::optional<int64_t> report_steady_median(std::string_view text);

/// One row per count of the capture, in its order.
std::vector<CountRow> compare_with_report(const std::vector<Count>& counts,
                                          const ReportRequest& report);

}  // namespace prof

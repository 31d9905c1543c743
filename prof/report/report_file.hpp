// Product reports, read and checked.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace prof {

struct ReportFile {
  std::string name;    ///< the path it was read from
  std::string sha256;  ///< of its bytes
  std::string text;
  nlohmann::json json;
};

/// Throws UsageError REPORT_READ if the file cannot be read, else like parse_report.
ReportFile read_report(const std::string& path);

/// Throws FormatError: REPORT_ZIG for a report of the stwo-zig project, else the code of the first
/// rule that is broken.
ReportFile parse_report(const std::string& name, std::string_view text);

}  // namespace prof

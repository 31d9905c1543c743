// What a product report adds to the capture of the same process: its requests and its identity.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ledger/trace/trace_rows.hpp"

namespace prof {

struct ReportFacts {
  std::vector<ledger::WindowRow> windows;  ///< in the order of the requests
  /// Keys of ledger/trace/trace_schema.hpp and their values.
  std::vector<std::pair<std::string, std::string>> meta;
};

/// Reads and checks a report. Throws UsageError REPORT_OPEN, EnvironmentError REPORT_READ, and
/// FormatError REPORT_INVALID with the first rule that it breaks.
ReportFacts read_report_facts(const std::string& path);

}  // namespace prof

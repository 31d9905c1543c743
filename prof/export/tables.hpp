// One table of a capture as CSV.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ledger/db/database.hpp"
#include "prof/export/text.hpp"

namespace prof {

struct ExportTable {
  std::string_view name;
  std::string_view about;  ///< one line
};

/// The tables that export_csv() knows.
std::span<const ExportTable> export_tables();

/// Writes a header and one line per row, in the order of the capture; returns the number of rows.
/// Times are nanoseconds of CLOCK_REALTIME; an empty field is a value that the capture does not
/// have. Memory does not grow with the number of rows, except where a column "stage" needs the
/// calls of a capture with stages (24 bytes each). Throws UsageError EXPORT_TABLE for another name.
int64_t export_csv(ledger::Database& trace, std::string_view table, const TextSink& sink);

}  // namespace prof

// Comma-separated text as ncu prints it: log lines before the header, quoted cells.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prof {

struct CsvRow {
  size_t line = 0;  ///< of the text, from 1, where the row begins
  std::vector<std::string> cells;
};

struct CsvTable {
  std::vector<std::string> header;
  std::vector<CsvRow> rows;  ///< each as wide as the header

  /// Index of the first column of that name.
  std::optional<size_t> column(std::string_view name) const;
};

/// The header is the first line with a cell equal to `mark`; what stands above is left out, and so
/// are lines of the profiler's log (they begin with "==") below. Cells may be quoted ("" is a
/// quote) and then hold separators and line breaks. The separator is a comma; a semicolon or a tab
/// where the header says so. `name` stands for the text in errors.
/// Throws FormatError NCU_CSV_HEADER (no such line), NCU_CSV_ROW (a row of another width),
/// NCU_CSV_TRUNCATED (the text ends inside a quoted cell, or without a line end).
CsvTable parse_csv(const std::string& name, std::string_view text, std::string_view mark);

}  // namespace prof

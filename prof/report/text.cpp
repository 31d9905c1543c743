// The page for a terminal.

#include <algorithm>
#include <cmath>

#include "prof/report/sections.hpp"
#include "prover/cli/terminal.hpp"

namespace prof {
namespace {

constexpr uint32_t kBarWidth = 24;
constexpr uint64_t kBarSteps = 1'000'000;
/// Digests and names longer than that are cut in tables: the JSON has them whole.
constexpr size_t kCellWidth = 64;

std::string cut(const std::string& text) {
  if (text.size() <= kCellWidth) return text;
  size_t end = kCellWidth - 3;
  // Not inside a character.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80) --end;
  return text.substr(0, end) + "...";
}

std::string table_text(const SectionTable& section_table) {
  const Table& table = section_table.table;
  std::vector<std::string> header;
  for (const Column& c : table.columns) header.push_back((c.numeric ? ">" : "") + c.title);
  if (!table.bars.empty()) header.emplace_back("");
  const size_t limit = section_table.terminal_rows == 0
                           ? table.rows.size()
                           : std::min(table.rows.size(), section_table.terminal_rows);
  std::vector<std::vector<std::string>> rows;
  for (size_t r = 0; r < limit; ++r) {
    std::vector<std::string> row;
    for (size_t c = 0; c < table.rows[r].size(); ++c) {
      // The last column of words may be as long as it is: nothing stands behind it.
      const bool last = c + 1 == table.rows[r].size() && table.bars.empty();
      row.push_back(last ? table.rows[r][c].text : cut(table.rows[r][c].text));
    }
    if (!table.bars.empty()) {
      row.push_back(stwo::bar(static_cast<uint64_t>(std::llround(table.bars[r] * kBarSteps)),
                              kBarSteps, kBarWidth));
    }
    rows.push_back(std::move(row));
  }
  std::string out = table.caption + ":\n" + stwo::format_table(header, rows);
  if (limit < table.rows.size()) {
    out += "... and " + std::to_string(table.rows.size() - limit) + " more: see --html or --json\n";
  }
  return out;
}

}  // namespace

std::string report_text(const ReportAnalysis& analysis) {
  std::string out = page_title(analysis) + "\n";
  for (const Section& section : page_sections(analysis)) {
    out += "\n" + section.title + "\n" + std::string(section.title.size(), '-') + "\n";
    for (size_t t = 0; t < section.tables.size(); ++t) {
      if (t > 0) out += "\n";
      out += table_text(section.tables[t]);
    }
    for (const auto& note : section.notes) out += note.second + "\n";
    for (size_t s = 0; s < section.steps.size(); ++s) {
      out += std::to_string(s + 1) + ". " + section.steps[s].message + "\n";
      if (!section.steps[s].command.empty()) out += "   " + section.steps[s].command + "\n";
    }
  }
  return out;
}

}  // namespace prof

// The page's content, before it becomes text or HTML. Internal to the folder.
#pragma once

#include <string>
#include <vector>

#include "prof/html/page.hpp"
#include "prof/report/report.hpp"

namespace prof {

struct SectionTable {
  Table table;
  /// Rows a terminal shows; 0: all.
  size_t terminal_rows = 0;
};

struct Section {
  std::string title;
  std::vector<std::pair<Mark, std::string>> notes;
  std::vector<SectionTable> tables;
  std::vector<NextStep> steps;
};

/// What the report is about, as one line.
std::string page_title(const ReportAnalysis& analysis);

std::vector<Section> page_sections(const ReportAnalysis& analysis);

/// Sections of one report: after the gates and the comparison.
Section lifecycle_section(const RunFacts& run);
Section stage_section(const ReportAnalysis& analysis);
Section host_section(const RunFacts& run);
Section request_section(const RunFacts& run);
Section memory_section(const RunFacts& run);
Section pass_section(const ReportAnalysis& analysis);

/// A cell for a value that may be unknown: the reason, with the value's name, goes to `reasons`.
class Cells {
 public:
  Cell ms(const std::string& name, const Known<uint64_t>& ns);
  Cell us(const std::string& name, const Known<uint64_t>& ns);
  Cell bytes(const std::string& name, const Known<uint64_t>& value);
  Cell count(const std::string& name, const Known<uint64_t>& value);
  /// A note per reason, with the names in order, each once.
  std::vector<std::pair<Mark, std::string>> notes() const;

 private:
  Cell missing(const std::string& name, const std::string& reason);
  struct Reason {
    std::string text;
    std::vector<std::string> names;
  };
  std::vector<Reason> reasons_;
};

}  // namespace prof

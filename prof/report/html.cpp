// The page for a browser.

#include "prof/report/sections.hpp"

namespace prof {

std::string report_html(const ReportAnalysis& analysis, const std::string& command,
                        const std::string& tool) {
  HtmlPage page(page_title(analysis), command, tool);
  for (const Section& section : page_sections(analysis)) {
    page.section(section.title);
    for (const auto& [mark, text] : section.notes) {
      if (mark == Mark::kPlain) {
        page.paragraph(text);
      } else {
        page.note(text, mark);
      }
    }
    for (const SectionTable& table : section.tables) page.table(table.table);
    std::vector<std::string> steps;
    for (const NextStep& step : section.steps) {
      steps.push_back(step.command.empty() ? step.message : step.message + ": " + step.command);
    }
    page.steps(steps);
  }
  return page.str();
}

}  // namespace prof

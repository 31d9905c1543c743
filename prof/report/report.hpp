// The page of `stwo-prof cuda report`: gates, lifecycle, stages, host gap, transfers, memory, pass
// ledger, and what to look at next. One report, or two side by side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "prof/report/comparison.hpp"
#include "prof/report/gates.hpp"
#include "prof/report/peak_bandwidth.hpp"
#include "prof/report/run_facts.hpp"

namespace prof {

/// What to do next, and why the numbers say so.
struct NextStep {
  std::string code;     ///< stable: NEXT_*
  std::string message;  ///< one line
  std::string command;  ///< to run next; empty: none. CMD stands for the measured command.
};

struct ReportComparison {
  RunFacts baseline;
  std::vector<Gate> baseline_gates;  ///< of the baseline alone, in the same order
  std::vector<Drift> drift;
  std::vector<Delta> deltas;
};

struct ReportAnalysis {
  RunFacts run;
  Known<PeakBandwidth> peak;
  std::vector<Gate> gates;
  std::vector<NextStep> next;
  std::optional<ReportComparison> comparison;

  /// The least time that the bytes of a stage's passes need; unknown without a ledger, a peak, or
  /// passes in the stage.
  Known<uint64_t> floor_ns(const std::string& stage) const;
  bool has_failed_gate() const;
};

/// `peak`: the device's bandwidth where the reader knows better than the table; must be above 0.
ReportAnalysis analyse_report(RunFacts run, std::optional<RunFacts> baseline,
                              std::optional<PeakBandwidth> peak);

/// In the order of attribution: gates, lifecycle, stages, timeline, kernels, verdict.
std::vector<NextStep> next_steps(const ReportAnalysis& analysis);

/// For a terminal. Bars are drawn with block characters in UTF-8 locales.
std::string report_text(const ReportAnalysis& analysis);
/// One JSON object, schema stwo_prof_report_v1, and a newline. `missing` maps the path of every
/// null to its reason.
std::string report_json(const ReportAnalysis& analysis);
/// A self-contained page. `command` made it; `tool` is the program with its version.
std::string report_html(const ReportAnalysis& analysis, const std::string& command,
                        const std::string& tool);

}  // namespace prof

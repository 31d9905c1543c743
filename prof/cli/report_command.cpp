// report: one product report as a page, or two side by side.

#include <cmath>
#include <cstdio>

#include "prof/cli/arguments.hpp"
#include "prof/report/report.hpp"
#include "prover/cli/output_file.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"

namespace prof {

void add_report_command(CLI::App& cuda, CommandRun* run, const ProgramContext& context) {
  struct Arguments {
    std::string report;
    std::string baseline;
    std::string html;
    double peak_gb_per_s = 0;
    bool json = false;
    bool force = false;
  };
  auto a = std::make_shared<Arguments>();
  CLI::App* command = cuda.add_subcommand(
      "report", "Gates, lifecycle, stages, transfers, memory and passes of a product report");
  command->add_option("REPORT", a->report, "what `stwo prove --report-out` wrote")->required();
  command->add_option("--baseline", a->baseline, "another report, to be shown beside it");
  command->add_option("--html", a->html, "also write a self-contained page here");
  command
      ->add_option("--peak-gb-s", a->peak_gb_per_s,
                   "the device's memory bandwidth in GB/s, where the built-in table is silent")
      ->check(CLI::Range(1.0, 1e6));
  command->add_flag("--json", a->json, "one JSON object, stwo_prof_report_v1");
  command->add_flag("--force", a->force, "replace the page if it exists");
  command->footer(
      "Exit code 1 if a gate fails: the numbers are shown all the same, and prove nothing.\n"
      "Examples:\n"
      "  stwo-prof cuda report report.json\n"
      "  stwo-prof cuda report report.json --baseline before.json --html report.html");
  command->callback([=] {
    *run = [=] {
      if (!a->html.empty()) stwo::check_output(a->html, a->force);
      RunFacts facts = run_facts(read_report(a->report));
      std::optional<RunFacts> baseline;
      if (!a->baseline.empty()) baseline = run_facts(read_report(a->baseline));
      std::optional<PeakBandwidth> peak;
      if (a->peak_gb_per_s > 0) {
        constexpr double kBytesPerGigabyte = 1e9;
        peak =
            PeakBandwidth{static_cast<uint64_t>(std::llround(a->peak_gb_per_s * kBytesPerGigabyte)),
                          "given with --peak-gb-s"};
      }
      const ReportAnalysis analysis = analyse_report(std::move(facts), std::move(baseline), peak);
      if (!a->html.empty()) {
        stwo::write_output(a->html, report_html(analysis, context.command_line, program_name()),
                           a->force);
        if (!a->json) std::fprintf(stderr, "written %s\n", a->html.c_str());
      }
      stwo::print(a->json ? report_json(analysis) : report_text(analysis));
      return analysis.has_failed_gate() ? 1 : 0;
    };
  });
}

}  // namespace prof

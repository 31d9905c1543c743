// systems: records a timeline and answers the questions about it; show: answers them again.

#include <sys/stat.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "ledger/cli/progress.hpp"
#include "ledger/trace/trace_reader.hpp"
#include "prof/cli/arguments.hpp"
#include "prof/export/export_file.hpp"
#include "prof/export/perfetto.hpp"
#include "prof/ingest/capture.hpp"
#include "prof/ingest/report_windows.hpp"
#include "prof/nsys/nsys_import.hpp"
#include "prof/nsys/nsys_tool.hpp"
#include "prof/report/report_file.hpp"
#include "prof/timeline/timeline.hpp"
#include "prover/cli/output_file.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

constexpr std::string_view kTraceEnding = ".sptrace";
constexpr std::string_view kNsysEnding = ".nsys-rep";

/// Options about the answers, for recorded and for older captures.
struct AnswerArguments {
  std::optional<int64_t> request;
  std::string baseline;
  std::string perfetto;
  bool json = false;
  bool force = false;

  void add_to(CLI::App& command) {
    command.add_option("--request", request,
                       "ordinal of the request to look at; default: the median steady one");
    command.add_option("--baseline", baseline,
                       "product report of a run without the recorder: how much did it cost?");
    command.add_option("--perfetto", perfetto, "also write a trace for ui.perfetto.dev here");
    command.add_flag("--json", json, "one JSON object, stwo_prof_systems_v1");
    command.add_flag("--force", force, "replace outputs that exist");
  }
};

int show_timeline(const AnswerArguments& a, const std::string& path, ledger::TraceCheck check,
                  const std::string& report, ledger::Progress* progress) {
  const auto trace = ledger::open_trace(path, check);
  TimelineOptions options;
  options.request = a.request;
  if (!report.empty()) options.report = read_report(report).text;
  if (!a.baseline.empty()) {
    options.uninstrumented_ns = report_steady_median(read_report(a.baseline).text);
    if (!options.uninstrumented_ns) {
      throw stwo::UsageError("TIMELINE_BASELINE",
                             "report " + a.baseline +
                                 " has no steady request to compare with; run the program with "
                                 "--repeat");
    }
  }
  const Timeline timeline = analyze_timeline(*trace, options);
  if (!a.perfetto.empty()) {
    ExportFile file(a.perfetto, a.force);
    export_perfetto(
        *trace, [&](std::string_view text) { file.write(text); },
        [&](const std::string& what, int64_t done, int64_t total) {
          progress->show("writing " + what, done, total);
        });
    file.finish();
    if (!a.json) std::fprintf(stderr, "written %s\n", a.perfetto.c_str());
  }
  stwo::print(a.json ? to_json(timeline) : to_text(timeline));
  return 0;
}

struct SystemsArguments {
  std::string output;
  bool latency = false;
  std::string graph = "node";
  TargetArguments target;
  LedgerFiling ledger;
  AnswerArguments answers;
};

std::string replaced_ending(const std::string& path, std::string_view from, std::string_view to) {
  return path.substr(0, path.size() - from.size()) + std::string(to);
}

/// Records with nsys and imports; the path of the capture.
std::string record_nsys(const SystemsArguments& a, ledger::Progress* progress) {
  const std::string trace = replaced_ending(a.output, kNsysEnding, kTraceEnding);
  stwo::check_output(a.output, a.answers.force);
  stwo::check_output(trace, a.answers.force);
  const NsysTool tool = require_nsys();
  NsysRecording recording;
  recording.output = a.output;
  recording.command = a.target.command();
  recording.timeout_s = a.target.timeout_s();
  recording.whole_graphs = a.graph == "graph";
  recording.tick = [=](double) { progress->show("recording with nsys", 0, 0); };
  if (a.answers.force) std::remove(a.output.c_str());
  const TargetResult result = record_with_nsys(tool, recording);
  TargetOptions target;
  target.command = recording.command;
  require_success(target, result);
  const std::string sqlite = a.output + ".sqlite.partial";
  struct Removed {
    std::string path;
    ~Removed() { std::remove(path.c_str()); }
  } const removed{sqlite};
  export_report(tool, a.output, sqlite);
  NsysImportOptions options;
  options.importer = program_name();
  options.recorded_everything = true;
  options.existing = a.answers.force ? ledger::TraceWriter::Existing::kReplace
                                     : ledger::TraceWriter::Existing::kRefuse;
  options.progress = [=](const std::string& table, int64_t done, int64_t total) {
    progress->show("importing " + table, done, total);
  };
  if (const std::string report = a.target.report_path(); !report.empty()) {
    ReportFacts facts = read_report_facts(report);
    options.windows = std::move(facts.windows);
    options.facts = std::move(facts.meta);
  }
  import_nsys(sqlite, trace, options);
  return trace;
}

std::string record_own(const SystemsArguments& a, ledger::Progress* progress) {
  CaptureOptions options;
  options.command = a.target.command();
  options.output = a.output;
  options.force = a.answers.force;
  options.latency = a.latency;
  options.whole_graphs = a.graph == "graph";
  options.timeout_s = a.target.timeout_s();
  options.report_path = a.target.report_path();
  options.tool_version = program_version();
  options.tick = [=](double) { progress->show("recording", 0, 0); };
  options.progress = [=](uint64_t done, uint64_t total) {
    progress->show("reading records", static_cast<int64_t>(done), static_cast<int64_t>(total));
  };
  const CaptureResult result = capture_timeline(options);
  return result.ingest.path;
}

int run_systems(const SystemsArguments& a) {
  a.target.command();
  a.ledger.require_ready();
  const bool nsys = has_ending(a.output, kNsysEnding);
  if (!nsys && !has_ending(a.output, kTraceEnding)) {
    throw stwo::UsageError("SYSTEMS_OUTPUT",
                           "output " + a.output +
                               " ends in neither .sptrace nor .nsys-rep; name it like "
                               "timeline.sptrace");
  }
  if (!a.answers.perfetto.empty()) stwo::check_output(a.answers.perfetto, a.answers.force);
  stwo::check_outputs_differ(a.output, a.answers.perfetto);
  ledger::Progress progress("stwo-prof");
  const std::string trace = nsys ? record_nsys(a, &progress) : record_own(a, &progress);
  const std::string report = a.target.report_path();
  std::fprintf(stderr, "written %s\n", trace.c_str());
  std::vector<std::string> files;
  if (!report.empty()) files.push_back(report);
  files.push_back(trace);
  std::fprintf(stderr, "%s\n", a.ledger.file(files).c_str());
  // Made and sealed just now.
  return show_timeline(a.answers, trace, ledger::TraceCheck::kIdentity, report, &progress);
}

}  // namespace

void add_systems_commands(CLI::App& cuda, CommandRun* run) {
  auto a = std::make_shared<SystemsArguments>();
  CLI::App* systems =
      cuda.add_subcommand("systems", "Record a program's timeline and answer questions about it");
  systems->add_option("--output", a->output, "X.sptrace: own recorder; X.nsys-rep: nsys")
      ->required();
  systems->add_flag("--latency", a->latency,
                    "also when each kernel was queued and submitted: adds overhead");
  systems
      ->add_option("--graph", a->graph,
                   "record a graph launch by its nodes, or as one operation (cheaper)")
      ->option_text("node|graph [node]")
      ->check(CLI::IsMember({"node", "graph"}));
  a->answers.add_to(*systems);
  a->ledger.add_to(*systems);
  a->target.add_to(*systems);
  systems->footer(
      "Works on any CUDA program. A product report that the program writes adds its requests, and\n"
      "every count is compared with it. Times of a recorded run explain; they are no benchmark.\n"
      "Examples:\n"
      "  stwo-prof cuda systems --output proof.sptrace -- stwo prove --backend cuda \\\n"
      "      --air wide_fibonacci --log-n-rows 20 --sequence-len 100 --config fast --warmup 5 \\\n"
      "      --repeat 5 --output proof.json --report-out report.json\n"
      "  stwo-prof cuda systems --output x.sptrace --perfetto x.json -- python3 train.py");
  systems->callback([=] { *run = [=] { return run_systems(*a); }; });

  struct ShowArguments {
    std::string capture;
    std::string report;
    AnswerArguments answers;
  };
  auto s = std::make_shared<ShowArguments>();
  CLI::App* show = cuda.add_subcommand("show", "Answer the questions about a recorded timeline");
  show->add_option("CAPTURE", s->capture, "an .sptrace file")->required();
  show->add_option("--report", s->report, "product report of the same run, to compare counts");
  s->answers.add_to(*show);
  show->footer(
      "Examples:\n"
      "  stwo-prof cuda show proof.sptrace\n"
      "  stwo-prof cuda show proof.sptrace --request 3 --report report.json --json");
  show->callback([=] {
    *run = [=] {
      if (!s->answers.perfetto.empty()) {
        stwo::check_output(s->answers.perfetto, s->answers.force);
      }
      ledger::Progress progress("stwo-prof");
      return show_timeline(s->answers, s->capture, ledger::TraceCheck::kContent, s->report,
                           &progress);
    };
  });
}

}  // namespace prof

// attribute: the whole inner loop in one go. An uninstrumented run says how long it takes, a
// timeline where the time goes, counters what limits the kernels that matter; then one page, and a
// draft of an experiment.

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "ledger/cli/progress.hpp"
#include "ledger/records/record_store.hpp"
#include "ledger/trace/trace_reader.hpp"
#include "prof/cli/arguments.hpp"
#include "prof/cli/compute.hpp"
#include "prof/diagnose/text.hpp"
#include "prof/ingest/capture.hpp"
#include "prof/ingest/kernel_names.hpp"
#include "prof/report/report.hpp"
#include "prof/target/command_line.hpp"
#include "prof/timeline/timeline.hpp"
#include "prover/cli/output_file.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view kRun = "{run}";
constexpr const char* kDiagnostic =
    "Diagnostic: times of the recorded run explain, counters come from replayed launches. The "
    "verdict on a change is the judge's, from uninstrumented runs.";

struct AttributeArguments {
  std::string output;
  double share = 0.05;
  int64_t most = 6;
  bool no_counters = false;
  bool json = false;
  TargetArguments target;
  LedgerFiling ledger;
};

struct KernelResult {
  KernelFacts facts;
  std::optional<Finding> finding;
  std::string reason;  ///< why there is no finding
};

struct Attribution {
  std::string command;
  std::optional<ReportAnalysis> report;  ///< of the uninstrumented run
  int64_t wall_ns = 0;                   ///< of that run's process
  Timeline timeline;
  std::vector<KernelResult> kernels;  ///< those that matter, longest total first
  std::string drawing;                ///< roofline; empty: no counters
  std::vector<std::string> files;     ///< for the ledger, in order
};

/// The command of one of the runs.
std::vector<std::string> command_of_run(const std::vector<std::string>& words,
                                        const std::string& folder) {
  std::vector<std::string> out = words;
  for (std::string& word : out) {
    for (size_t at = word.find(kRun); at != std::string::npos;
         at = word.find(kRun, at + folder.size())) {
      word.replace(at, kRun.size(), folder);
    }
  }
  return out;
}

std::string report_of(const std::string& path, const std::string& folder) {
  return path.empty() ? path : command_of_run({path}, folder).front();
}

void make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) == 0) return;
  if (errno == EEXIST) {
    throw stwo::RefusedError("OUTPUT_EXISTS", "output " + path +
                                                  ": exists; give a folder that does not, so that "
                                                  "no evidence is mixed");
  }
  throw stwo::UsageError("OUTPUT_DIRECTORY",
                         "output " + path +
                             ": can't be made; name a folder in one that exists "
                             "and can be written");
}

void run_plain(const AttributeArguments& a, const std::string& folder, Attribution* out,
               ledger::Progress* progress) {
  TargetOptions options;
  options.command = command_of_run(a.target.command(), folder);
  options.timeout_s = a.target.timeout_s();
  options.stdout_path = folder + "/stdout.txt";
  options.stderr_path = folder + "/stderr.txt";
  options.unset = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"};
  options.tick = [=](double) { progress->show("1 of 3: uninstrumented run", 0, 0); };
  const TargetResult result = run_target(options);
  require_success(options, result);
  out->wall_ns = result.wall_ns;
  const std::string report = report_of(a.target.report_path(), folder);
  if (report.empty()) return;
  out->report = analyse_report(run_facts(read_report(report)), std::nullopt, std::nullopt);
  out->files.push_back(report);
}

void record_timeline(const AttributeArguments& a, const std::string& folder, Attribution* out,
                     ledger::Progress* progress) {
  CaptureOptions options;
  options.command = command_of_run(a.target.command(), folder);
  options.output = folder + "/timeline.sptrace";
  options.timeout_s = a.target.timeout_s();
  options.report_path = report_of(a.target.report_path(), folder);
  options.stdout_path = folder + "/stdout.txt";
  options.stderr_path = folder + "/stderr.txt";
  options.tool_version = program_version();
  options.tick = [=](double) { progress->show("2 of 3: recording the timeline", 0, 0); };
  capture_timeline(options);
  const auto trace = ledger::open_trace(options.output, ledger::TraceCheck::kIdentity);
  TimelineOptions asked;
  if (!options.report_path.empty()) {
    asked.report = read_report(options.report_path).text;
    out->files.push_back(options.report_path);
  }
  if (out->report) asked.uninstrumented_ns = report_steady_median(out->report->run.file.text);
  out->timeline = analyze_timeline(*trace, asked);
  out->files.push_back(options.output);
}

/// A pattern for ncu that matches the kernel's own name.
std::string pattern_of(const std::string& kernel) {
  std::string out;
  for (const char c : short_kernel_name(kernel)) {
    if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

void count_kernels(const AttributeArguments& a, const std::string& folder, Attribution* out,
                   ledger::Progress* progress) {
  const NcuTool tool = find_ncu();
  ComputeRequest request;
  request.tool = tool;
  request.timeout_s = a.target.timeout_s();
  request.timeline = *out->timeline.kernels;
  request.thresholds = default_thresholds();
  std::vector<KernelCounters> counted;
  DocumentFacts facts;
  for (size_t i = 0; i < out->kernels.size(); ++i) {
    KernelResult& kernel = out->kernels[i];
    if (a.no_counters) {
      kernel.reason = "not counted: --no-counters";
      continue;
    }
    const std::string own = folder + "/" + std::to_string(i + 1);
    make_folder(own);  // the program writes its outputs anew for each kernel
    request.command = command_of_run(a.target.command(), own);
    request.output = own + "/kernel.ncu-rep";
    request.report_path = report_of(a.target.report_path(), own);
    request.kernel_regex = pattern_of(kernel.facts.kernel);
    request.tick = [=, n = out->kernels.size()](double) {
      progress->show(
          "3 of 3: counting kernel " + std::to_string(i + 1) + " of " + std::to_string(n), 0, 0);
    };
    try {
      ComputeResult result = compute_kernels(request);
      out->files.push_back(result.document_path);
      facts = result.facts;
      for (size_t k = 0; k < result.kernels.size(); ++k) {
        if (result.kernels[k].kernel != kernel.facts.kernel) continue;
        kernel.finding = std::move(result.findings[k]);
        counted.push_back(result.kernels[k]);
      }
      if (!kernel.finding) kernel.reason = "none of the counted launches has this name";
    } catch (const stwo::EnvironmentError& e) {
      // Without counters the timeline still answers.
      kernel.reason = e.code() + ": " + e.what();
    } catch (const stwo::UsageError& e) {
      if (e.code() != "NCU_NO_KERNEL") throw;
      kernel.reason = e.code() + ": " + e.what();
    }
  }
  if (counted.empty()) return;
  std::vector<std::string> left_out;
  out->drawing = draw_roofline(counted, *out->timeline.kernels,
                               device_peaks(facts.device_name, facts.sm), &left_out);
}

/// The kernels with a share above the limit, longest first.
void choose_kernels(const AttributeArguments& a, Attribution* out) {
  if (!out->timeline.kernels) return;
  for (const KernelFacts& k : *out->timeline.kernels) {
    if (k.share_of_device < a.share || static_cast<int64_t>(out->kernels.size()) == a.most) break;
    out->kernels.push_back({k, std::nullopt, ""});
  }
}

std::string duration(int64_t ns) { return quantity_text(static_cast<double>(ns), "ns"); }

/// The answer in one sentence: what most device time goes to, and why.
std::string answer_of(const Attribution& r) {
  std::string out;
  const auto& stages = r.timeline.stages;
  if (stages && !stages->stages.empty()) {
    const auto largest = std::max_element(
        stages->stages.begin(), stages->stages.end(),
        [](const StageRow& x, const StageRow& y) { return x.busy_ns < y.busy_ns; });
    out = percent_text(largest->share_of_busy) + " of device time is stage " + largest->facts.stage;
  }
  if (r.kernels.empty()) return out.empty() ? "no kernel has a share above the limit" : out;
  const KernelResult& k = r.kernels.front();
  out += (out.empty() ? "" : "; ") + std::string("the longest kernel is ") + k.facts.kernel +
         " with " + percent_text(k.facts.share_of_device);
  if (k.finding) {
    out += ", limited by " + std::string(mechanism_name(k.finding->diagnosis.mechanism)) + ": " +
           k.finding->diagnosis.summary;
  }
  return out;
}

std::string baseline_of(const Attribution& r) {
  if (!r.report) {
    return "whole process " + stwo::format_ms(static_cast<uint64_t>(r.wall_ns)) +
           " ms (no product report)";
  }
  const auto& verified = r.report->run.split_part("verified_request").median;
  const auto& device = r.report->run.device_elapsed.median;
  std::string out = "verified request ";
  out += verified.value ? stwo::format_ms(*verified.value) + " ms" : "unknown";
  out += ", device ";
  out += device.value ? stwo::format_ms(*device.value) + " ms" : "unknown";
  out += " (medians of " + std::to_string(r.report->run.steady_requests) + " steady requests)";
  for (const StageTime& s : r.report->run.stages) {
    out += "; " + s.stage + " " + stwo::format_ms(s.ranked) + " ms";
  }
  return out;
}

std::string attribution_text(const Attribution& r) {
  std::string out = answer_of(r) + ".\n\n";
  out += "1. Uninstrumented run\n  " + baseline_of(r) + "\n";
  if (r.report) {
    for (const Gate& gate : r.report->gates) {
      if (gate.state != GateState::kPass) {
        out +=
            "  gate " + gate.title + ": " + gate_state_name(gate.state) + ", " + gate.found + "\n";
      }
    }
  }
  out += "\n2. Timeline\n" + to_text(r.timeline) + "\n3. Kernels above the share\n";
  std::vector<std::vector<std::string>> rows;
  for (const KernelResult& k : r.kernels) {
    rows.push_back(
        {k.facts.kernel, k.facts.stage.stage, percent_text(k.facts.share_of_device),
         duration(k.facts.median_ns), std::to_string(k.facts.launches),
         k.finding ? std::string(mechanism_name(k.finding->diagnosis.mechanism)) : "unknown"});
  }
  out +=
      stwo::format_table({"kernel", "stage", ">share", ">median", ">launches", "limited by"}, rows);
  for (const KernelResult& k : r.kernels) {
    out += "\n" +
           (k.finding ? to_text(k.finding->diagnosis) : k.facts.kernel + ": " + k.reason + "\n");
  }
  return out + "\n" + kDiagnostic + "\n";
}

std::string attribution_html(const Attribution& r, const ProgramContext& context) {
  HtmlPage page("Where the time goes: " + r.timeline.workload_id.value_or(r.command),
                context.command_line, program_name());
  page.paragraph(answer_of(r) + ".");
  page.note(kDiagnostic);
  page.section("Uninstrumented run");
  page.paragraph(baseline_of(r));
  if (r.report) {
    Table gates{"Gates", {{"gate"}, {"state"}, {"found"}}, {}, {}};
    for (const Gate& g : r.report->gates) {
      const Mark mark = g.state == GateState::kPass   ? Mark::kGood
                        : g.state == GateState::kFail ? Mark::kBad
                                                      : Mark::kUnknown;
      gates.rows.push_back({Cell(g.title), Cell(gate_state_name(g.state), mark), Cell(g.found)});
    }
    page.table(gates);
  }
  page.section("Stages");
  if (r.timeline.stages) {
    Table stages{"Device time by stage",
                 {{"stage"}, {"busy", true}, {"share", true}, {"kernels", true}, {"gaps", true}},
                 {},
                 {}};
    for (const StageRow& s : r.timeline.stages->stages) {
      stages.rows.push_back(
          {Cell(s.facts.stage), Cell(duration(s.busy_ns)), Cell(percent_text(s.share_of_busy)),
           Cell(std::to_string(s.facts.kernels)), Cell(duration(s.facts.gaps_ns))});
      stages.bars.push_back(std::clamp(s.share_of_busy, 0.0, 1.0));
    }
    page.table(stages);
  } else {
    page.note(r.timeline.stages.reason);
  }
  page.section("Kernels above the share");
  Table kernels{"Kernels",
                {{"kernel"}, {"stage"}, {"share", true}, {"median", true}, {"limited by"}},
                {},
                {}};
  std::vector<Finding> findings;
  for (const KernelResult& k : r.kernels) {
    kernels.rows.push_back(
        {Cell(k.facts.kernel), Cell(k.facts.stage.stage),
         Cell(percent_text(k.facts.share_of_device)), Cell(duration(k.facts.median_ns)),
         k.finding ? Cell(std::string(mechanism_name(k.finding->diagnosis.mechanism)))
                   : Cell("unknown: " + k.reason, Mark::kUnknown)});
    kernels.bars.push_back(std::clamp(k.facts.share_of_device, 0.0, 1.0));
    if (k.finding) findings.push_back(*k.finding);
  }
  page.table(kernels);
  add_findings(&page, findings, r.drawing);
  page.section("Timeline");
  page.preformatted(to_text(r.timeline));
  return page.str();
}

Json attribution_json(const Attribution& r, const std::string& folder) {
  Json kernels = Json::array();
  for (const KernelResult& k : r.kernels) {
    Json row = {{"kernel", k.facts.kernel},
                {"stage", k.facts.stage.stage},
                {"share_of_device", k.facts.share_of_device},
                {"median_ns", k.facts.median_ns},
                {"launches", k.facts.launches},
                {"diagnosis", nullptr},
                {"confidence", nullptr},
                {"prediction", nullptr},
                {"reason", nullptr}};
    if (k.finding) {
      const DocumentDiagnosis d = to_document(k.finding->diagnosis);
      row["diagnosis"] = d.diagnosis;
      row["confidence"] = d.confidence;
      if (d.prediction) row["prediction"] = *d.prediction;
    } else {
      row["reason"] = k.reason;
    }
    kernels.push_back(std::move(row));
  }
  return {{"schema", "stwo_prof_attribution_v1"},
          {"folder", folder},
          {"command", r.command},
          {"answer", answer_of(r)},
          {"baseline", baseline_of(r)},
          {"kernels", std::move(kernels)},
          {"timeline", Json::parse(to_json(r.timeline))}};
}

/// A draft with what was measured filled in; what to predict is the engineer's.
std::string draft_experiment(const LedgerFiling& filing, const Attribution& r,
                             const std::vector<ledger::AddResult>& filed) {
  const auto ledger = filing.open();
  if (!ledger) return "";
  ledger::NewRecord record;
  const std::string workload = r.timeline.workload_id.value_or("a program");
  record.title = "Attribution of " + workload;
  record.slug = "attribution-" + ledger::new_ulid().substr(0, 10);
  std::transform(record.slug.begin(), record.slug.end(), record.slug.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  record.fields["program_and_shape"] = workload + ": " + r.command;
  record.fields["baseline"] = baseline_of(r);
  record.fields["dominant_mechanism"] = answer_of(r);
  record.fields["instrumented_result"] =
      "timeline evidence " + std::string(evidence_name(r.timeline.evidence)) + ", counters of " +
      std::to_string(std::count_if(r.kernels.begin(), r.kernels.end(),
                                   [](const KernelResult& k) { return k.finding.has_value(); })) +
      " kernels; " + kDiagnostic;
  ledger::create_record(*ledger, record);
  bool has_baseline = false;
  for (const ledger::AddResult& file : filed) {
    const bool is_run = file.kind == "product_report";
    // The first report is the uninstrumented run's; the others explain.
    const char* role = is_run && !has_baseline ? "baseline" : "instrumented";
    has_baseline |= is_run;
    ledger::link_record(*ledger, record.kind, record.slug,
                        {role, is_run ? "run" : "capture", file.id, ""});
  }
  return record.slug;
}

int run_attribute(const AttributeArguments& a, const ProgramContext& context) {
  a.target.command();
  a.ledger.require_ready();
  const auto& words = a.target.command();
  const bool marked = std::any_of(words.begin(), words.end(), [](const std::string& w) {
    return w.find(kRun) != std::string::npos;
  });
  if (!a.target.report_path().empty() && !marked) {
    throw stwo::UsageError("ATTRIBUTE_RUN",
                           "the program is run several times and would write its outputs again; "
                           "put them into {run}, e.g. --report-out {run}/report.json");
  }
  make_folder(a.output);
  ledger::Progress progress("stwo-prof");
  Attribution r;
  r.command = shell_line(words);
  for (const char* part : {"plain", "timeline", "counters"}) make_folder(a.output + "/" + part);
  run_plain(a, a.output + "/plain", &r, &progress);
  record_timeline(a, a.output + "/timeline", &r, &progress);
  choose_kernels(a, &r);
  if (r.timeline.kernels) count_kernels(a, a.output + "/counters", &r, &progress);
  const std::string page = a.output + "/attribution.html";
  stwo::write_output(page, attribution_html(r, context), false);
  const std::string json = attribution_json(r, a.output).dump(1) + "\n";
  stwo::write_output(a.output + "/attribution.json", json, false);
  std::vector<ledger::AddResult> filed;
  std::fprintf(stderr, "written %s\n%s\n", page.c_str(), a.ledger.file(r.files, &filed).c_str());
  if (const std::string slug = draft_experiment(a.ledger, r, filed); !slug.empty()) {
    std::fprintf(stderr,
                 "drafted experiment %s: predict what your change will move, then "
                 "`ledger experiment open %s`\n",
                 slug.c_str(), slug.c_str());
  }
  stwo::print(a.json ? json : attribution_text(r));
  return 0;
}

}  // namespace

void add_attribute_command(CLI::App& cuda, CommandRun* run, const ProgramContext& context) {
  auto a = std::make_shared<AttributeArguments>();
  CLI::App* command = cuda.add_subcommand(
      "attribute", "Plain run, timeline and counters in one go: where does the time go, and why?");
  command->add_option("--output", a->output, "folder for everything; must not exist")->required();
  command
      ->add_option("--share", a->share,
                   "count kernels with at least this share of device time, 0 to 1")
      ->option_text("X [0.05]")
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--most", a->most, "count at most this many kernels")
      ->option_text("N [6]")
      ->check(CLI::Range(int64_t{1}, int64_t{1000}));
  command->add_flag("--no-counters", a->no_counters, "leave ncu out");
  command->add_flag("--json", a->json, "one JSON object, stwo_prof_attribution_v1");
  a->ledger.add_to(*command);
  a->target.add_to(*command);
  command->footer(
      "The program runs once plainly, once recorded, and once per counted kernel. {run} in its\n"
      "arguments stands for a folder that is new each time.\n"
      "Examples:\n"
      "  stwo-prof cuda attribute --output attribution -- stwo prove --backend cuda \\\n"
      "      --air wide_fibonacci --log-n-rows 18 --sequence-len 73 --config fast --warmup 5 \\\n"
      "      --repeat 9 --output {run}/proof.json --report-out {run}/report.json");
  command->callback([=] { *run = [=] { return run_attribute(*a, context); }; });
}

}  // namespace prof

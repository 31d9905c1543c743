// compute: counts kernels with Nsight Compute and diagnoses them; roofline: draws a capture.

#include <cstdio>
#include <nlohmann/json.hpp>

#include "ledger/cli/progress.hpp"
#include "ledger/trace/trace_reader.hpp"
#include "prof/cli/arguments.hpp"
#include "prof/cli/compute.hpp"
#include "prof/ncu/run_ncu.hpp"
#include "prof/timeline/timeline.hpp"
#include "prover/cli/output_file.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

constexpr std::string_view kNcuEnding = ".ncu-rep";
constexpr const char* kNoProductionTime =
    "Counters come from replayed launches with flushed caches: no time of theirs is a production "
    "time.";

struct ComputeArguments {
  std::string output;
  std::string kernel;
  std::string set = "detailed";
  int64_t launch_skip = 0;
  int64_t launch_count = 8;
  std::string trace;
  std::optional<int64_t> request;
  std::string thresholds;
  std::string html;
  bool json = false;
  bool force = false;
  TargetArguments target;
  LedgerFiling ledger;
};

int run_compute(const ComputeArguments& a, const ProgramContext& context) {
  a.target.command();
  a.ledger.require_ready();
  if (!has_ending(a.output, kNcuEnding)) {
    throw stwo::UsageError("COMPUTE_OUTPUT", "output " + a.output +
                                                 " does not end in .ncu-rep; name it like "
                                                 "commitment.ncu-rep");
  }
  const std::string document_path = counters_path(a.output);
  stwo::check_output(a.output, a.force);
  stwo::check_output(document_path, a.force);
  if (!a.html.empty()) stwo::check_output(a.html, a.force);
  const Thresholds thresholds =
      a.thresholds.empty() ? default_thresholds() : load_thresholds(a.thresholds);
  std::vector<KernelFacts> timeline;
  if (!a.trace.empty()) {
    const auto trace = ledger::open_trace(a.trace);
    timeline = kernel_facts(*trace, a.request);
  }
  ledger::Progress progress("stwo-prof");
  ComputeRequest request;
  request.tool = find_ncu();
  request.command = a.target.command();
  request.output = a.output;
  request.force = a.force;
  request.kernel_regex = a.kernel;
  request.set = a.set;
  request.launch_skip = a.launch_skip;
  request.launch_count = a.launch_count;
  request.timeout_s = a.target.timeout_s();
  request.report_path = a.target.report_path();
  request.timeline = timeline;
  request.thresholds = thresholds;
  request.tick = [&](double) { progress.show("counting", 0, 0); };
  const ComputeResult result = compute_kernels(request);
  std::fprintf(stderr, "written %s, %s\n", a.output.c_str(), document_path.c_str());
  std::vector<std::string> files;
  if (!request.report_path.empty()) files.push_back(request.report_path);
  files.push_back(document_path);
  std::fprintf(stderr, "%s\n", a.ledger.file(files).c_str());
  if (!a.html.empty()) {
    std::vector<std::string> left_out;
    const std::string svg =
        draw_roofline(result.kernels, timeline,
                      device_peaks(result.facts.device_name, result.facts.sm), &left_out);
    HtmlPage page("Kernel counters: " + a.kernel, context.command_line, program_name());
    page.note(kNoProductionTime);
    add_findings(&page, result.findings, svg);
    for (const std::string& line : left_out) page.note(line);
    stwo::write_output(a.html, page.str(), a.force);
    std::fprintf(stderr, "written %s\n", a.html.c_str());
  }
  if (a.json) {
    using Json = nlohmann::ordered_json;
    Json out = {{"schema", "stwo_prof_compute_v1"},
                {"counters", document_path},
                {"kernels", Json::array()}};
    for (const Finding& f : result.findings) {
      const DocumentDiagnosis d = to_document(f.diagnosis);
      out["kernels"].push_back({{"kernel", f.answers.kernel},
                                {"diagnosis", d.diagnosis},
                                {"confidence", d.confidence},
                                {"summary", f.diagnosis.summary},
                                {"prediction", d.prediction ? Json(*d.prediction) : Json(nullptr)},
                                {"answers", Json::parse(to_json(f.answers))}});
    }
    stwo::print(out.dump(1) + "\n");
    return 0;
  }
  stwo::print(findings_text(result.findings) + kNoProductionTime + "\n");
  return 0;
}

struct RooflineArguments {
  std::string report;
  std::string trace;
  std::string output;
  double peak_gb_per_s = 0;
  std::string device;
  int sm = 0;
  bool force = false;
};

int run_roofline(const RooflineArguments& a, const ProgramContext& context) {
  stwo::check_output(a.output, a.force);
  const bool svg_only = has_ending(a.output, ".svg");
  if (!svg_only && !has_ending(a.output, ".html")) {
    throw stwo::UsageError("ROOFLINE_OUTPUT",
                           "output " + a.output + " ends in neither .svg nor .html; name it so");
  }
  std::vector<KernelFacts> timeline;
  if (!a.trace.empty()) timeline = kernel_facts(*ledger::open_trace(a.trace));
  NcuOptions options;
  options.tool = find_ncu();
  options.output = a.report;
  const CounterSet counters = import_ncu(options);
  DevicePeaks peaks = device_peaks(a.device, a.sm);
  constexpr double kBytesPerGigabyte = 1e9;
  if (a.peak_gb_per_s > 0) peaks.dram_bytes_per_s = a.peak_gb_per_s * kBytesPerGigabyte;
  std::vector<std::string> left_out;
  const std::vector<KernelCounters> kernels = kernel_counters(counters);
  const std::string svg = draw_roofline(kernels, timeline, peaks, &left_out);
  if (svg_only) {
    stwo::write_output(a.output, svg, a.force);
  } else {
    HtmlPage page("Roofline: " + a.report, context.command_line, program_name());
    page.svg("Integer instructions per DRAM byte against instructions per second, per kernel", svg);
    for (const std::string& line : left_out) page.note(line);
    stwo::write_output(a.output, page.str(), a.force);
  }
  for (const std::string& line : left_out) std::fprintf(stderr, "%s\n", line.c_str());
  std::fprintf(stderr, "written %s: %zu kernels\n", a.output.c_str(),
               kernels.size() - left_out.size());
  return 0;
}

}  // namespace

void add_compute_commands(CLI::App& cuda, CommandRun* run, const ProgramContext& context) {
  auto a = std::make_shared<ComputeArguments>();
  CLI::App* compute = cuda.add_subcommand(
      "compute", "Count kernels with Nsight Compute and say what limits each of them");
  compute->add_option("--output", a->output, "X.ncu-rep; X.counters.json is written beside it")
      ->required();
  compute->add_option("--kernel", a->kernel, "regular expression on demangled kernel names")
      ->required();
  compute->add_option("--set", a->set, "section set of ncu")->option_text("NAME [detailed]");
  compute->add_option("--launch-skip", a->launch_skip, "matching launches to leave out first")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40));
  compute->add_option("--launch-count", a->launch_count, "matching launches to count")
      ->option_text("N [8]")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20));
  compute->add_option("--trace", a->trace,
                      "timeline (.sptrace) of the same program: shares, gaps and stages");
  compute->add_option("--request", a->request, "with --trace: ordinal of the request");
  compute->add_option("--thresholds", a->thresholds, "thresholds of the diagnosis, as a file");
  compute->add_option("--html", a->html, "also write a self-contained page here");
  compute->add_flag("--json", a->json, "one JSON object, stwo_prof_compute_v1");
  compute->add_flag("--force", a->force, "replace outputs that exist");
  a->ledger.add_to(*compute);
  a->target.add_to(*compute);
  compute->footer(
      "Kernels are replayed, so use the smallest shape that shows the mechanism. Without --trace "
      "a\n"
      "diagnosis has low confidence: the share of the kernel is not known.\n"
      "Examples:\n"
      "  stwo-prof cuda compute --output leaves.ncu-rep --kernel hash_leaves \\\n"
      "      --trace proof.sptrace -- stwo prove --backend cuda --air wide_fibonacci \\\n"
      "      --log-n-rows 20 --sequence-len 100 --output p.json --report-out r.json");
  compute->callback([=] { *run = [=] { return run_compute(*a, context); }; });

  auto r = std::make_shared<RooflineArguments>();
  CLI::App* roofline = cuda.add_subcommand("roofline", "Draw the kernels of a counter capture");
  roofline->add_option("NCU_REP", r->report, "an .ncu-rep file")->required();
  roofline->add_option("--output", r->output, "X.html or X.svg")->required();
  roofline->add_option("--trace", r->trace, "timeline whose durations to use, not the replay's");
  roofline->add_option("--device", r->device, "name of the device, e.g. \"NVIDIA H200\"");
  roofline->add_option("--sm", r->sm, "its SM, e.g. 90")->check(CLI::Range(1, 999));
  roofline->add_option("--peak-gb-s", r->peak_gb_per_s, "its memory bandwidth in GB/s")
      ->check(CLI::Range(1.0, 1e6));
  roofline->add_flag("--force", r->force, "replace the output if it exists");
  roofline->footer(
      "Examples:\n"
      "  stwo-prof cuda roofline leaves.ncu-rep --trace proof.sptrace --device \"NVIDIA H200\" \\\n"
      "      --sm 90 --output roofline.html");
  roofline->callback([=] { *run = [=] { return run_roofline(*r, context); }; });
}

}  // namespace prof

#include "prof/cli/compute.hpp"

#include <algorithm>

#include "ledger/store/artifact_store.hpp"
#include "ledger/store/ledger.hpp"
#include "prof/cli/arguments.hpp"
#include "prof/diagnose/text.hpp"
#include "prof/ingest/kernel_names.hpp"
#include "prof/ncu/run_ncu.hpp"
#include "prof/nvml/nvml.hpp"
#include "prof/report/peak_bandwidth.hpp"
#include "prof/target/programs.hpp"
#include "prover/cli/output_file.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

constexpr std::string_view kNcuEnding = ".ncu-rep";

/// What the report's pass ledger says about a kernel.
PlanFacts plan_facts(const nlohmann::json& report, const std::string& kernel) {
  PlanFacts facts;
  const auto passes = report.find("pass_ledger");
  if (passes == report.end() || !passes->is_array()) return facts;
  const std::string name = short_kernel_name(kernel);
  int64_t launches = 0;
  int64_t barriers = 0;
  double bytes = 0;
  for (const auto& pass : *passes) {
    if (pass.at("kernel") != name) continue;
    launches += pass.at("launches").get<int64_t>();
    barriers += pass.at("barriers").get<int64_t>();
    for (const char* part : {"input_bytes", "output_bytes", "reread_bytes"}) {
      bytes += pass.at(part).get<double>();
    }
  }
  if (launches == 0) return facts;
  facts.ledger_bytes = static_cast<int64_t>(bytes / static_cast<double>(launches));
  facts.transcript_barriers = barriers;
  return facts;
}

/// Of the file that run_target starts.
std::string program_digest(const std::string& program) {
  return ledger::file_sha256(find_program(program, {"PATH=" + path_variable()}));
}

/// The device that the launches ran on: the report's, else the only one NVML shows.
void fill_device(DocumentFacts* facts, const std::optional<ReportFile>& report) {
  if (report && report->json.at("backend") == "cuda") {
    const auto& device = report->json.at("device");
    facts->device_uuid = device.at("uuid").get<std::string>();
    facts->device_name = device.at("name").get<std::string>();
    constexpr int kMajor = 10;
    facts->sm = device.at("sm_major").get<int>() * kMajor + device.at("sm_minor").get<int>();
    facts->driver_version = device.at("driver_version").get<std::string>();
    return;
  }
  const Known<std::shared_ptr<Nvml>> nvml = open_nvml();
  if (!nvml.value) {
    throw stwo::EnvironmentError("NVML_MISSING",
                                 nvml.reason + "; give --report of a run on this device");
  }
  const Known<std::vector<NvmlDevice>> devices = (*nvml.value)->devices();
  const Known<std::string> driver = (*nvml.value)->driver_version();
  if (!devices.value || devices.value->size() != 1 || !driver.value) {
    throw stwo::EnvironmentError(
        "COMPUTE_DEVICE",
        "which device ran the kernels is not known: NVML shows " +
            (devices.value ? std::to_string(devices.value->size()) : std::string("none")) +
            "; give --report of a run, or leave one device visible");
  }
  const NvmlDevice& device = devices.value->front();
  if (!device.uuid.value || !device.name.value || !device.sm.value) {
    throw stwo::EnvironmentError(
        "COMPUTE_DEVICE",
        "NVML does not tell UUID, name and SM of the device: " + device.uuid.reason +
            device.name.reason + device.sm.reason + "; give --report of a run");
  }
  facts->device_uuid = *device.uuid.value;
  facts->device_name = *device.name.value;
  facts->sm = static_cast<int>(*device.sm.value);
  facts->driver_version = *driver.value;
}

DocumentFacts document_facts(const ComputeRequest& r, const NcuCapture& capture,
                             const std::optional<ReportFile>& report) {
  DocumentFacts facts;
  facts.tool_version = program_version();
  facts.created_utc = ledger::utc_now();
  facts.command = capture.command;
  facts.product_binary_sha256 = program_digest(r.command.front());
  facts.ncu_version = r.tool.version;
  if (report) {
    const auto& json = report->json;
    facts.report_sha256 = report->sha256;
    facts.product_identity_sha256 = json.at("identity").at("identity_sha256").get<std::string>();
    const auto& statement = json.at("statement");
    facts.workload = DocumentWorkload{statement.at("workload_id").get<std::string>(),
                                      statement.at("statement_sha256").get<std::string>(),
                                      statement.at("config").get<std::string>()};
  }
  fill_device(&facts, report);
  return facts;
}

Cell answer_cell(const KernelAnswer& a) {
  if (a.value) return quantity_text(*a.value, a.unit);
  if (!a.text.empty()) return a.text;
  return Cell("unknown: " + a.reason, Mark::kUnknown);
}

}  // namespace

std::string counters_path(const std::string& output) {
  return output.substr(0, output.size() - kNcuEnding.size()) + ".counters.json";
}

ComputeResult compute_kernels(const ComputeRequest& request) {
  NcuOptions options;
  options.tool = request.tool;
  options.command = request.command;
  options.output = request.output;
  options.force = request.force;
  options.kernel_regex = request.kernel_regex;
  options.set = request.set;
  options.metrics = metric_table().extra_names();
  options.launch_skip = request.launch_skip;
  options.launch_count = request.launch_count;
  options.timeout_s = request.timeout_s;
  options.tick = request.tick;
  const NcuCapture capture = run_ncu(options);
  // A report that the program wrote under replay has no times to believe, but the right identity.
  std::optional<ReportFile> report;
  if (!request.report_path.empty()) report = read_report(request.report_path);

  ComputeResult result;
  result.kernels = kernel_counters(capture.counters);
  result.facts = document_facts(request, capture, report);
  std::vector<DocumentDiagnosis> diagnoses;
  for (const KernelCounters& k : result.kernels) {
    DiagnosisInput input;
    input.counters = &k;
    input.timeline = facts_of(request.timeline, k.kernel);
    input.thresholds = &request.thresholds;
    if (report) input.plan = plan_facts(report->json, k.kernel);
    if (input.timeline != nullptr && !input.timeline->stage.stage.empty()) {
      result.facts.stages[k.kernel] = input.timeline->stage.stage;
    }
    const std::string shape = result.facts.workload ? result.facts.workload->workload_id : "";
    result.findings.push_back({answer_kernel_questions(input, shape), diagnose(input),
                               compare_traffic(k, input.plan.ledger_bytes, request.thresholds)});
    diagnoses.push_back(to_document(result.findings.back().diagnosis));
  }
  result.document_path = counters_path(request.output);
  stwo::write_output(result.document_path,
                     counters_document(result.facts, capture.counters, diagnoses), request.force);
  return result;
}

const KernelFacts* facts_of(const std::vector<KernelFacts>& facts, const std::string& kernel) {
  const auto it = std::find_if(facts.begin(), facts.end(),
                               [&](const KernelFacts& f) { return f.kernel == kernel; });
  return it == facts.end() ? nullptr : &*it;
}

DevicePeaks device_peaks(const std::string& name, int sm) {
  DevicePeaks peaks;
  peaks.device = name;
  if (const auto peak = peak_bandwidth(name, static_cast<uint32_t>(sm)); peak.value) {
    peaks.dram_bytes_per_s = static_cast<double>(peak.value->bytes_per_s);
  }
  return peaks;
}

std::string draw_roofline(const std::vector<KernelCounters>& kernels,
                          const std::vector<KernelFacts>& timeline, const DevicePeaks& peaks,
                          std::vector<std::string>* left_out) {
  std::vector<RooflinePoint> points;
  for (const KernelCounters& k : kernels) {
    const PointOrReason p = roofline_point(k, facts_of(timeline, k.kernel));
    if (p.point) {
      points.push_back(*p.point);
    } else {
      left_out->push_back(k.kernel + " is not drawn: " + p.reason);
    }
  }
  return roofline_svg(points, peaks);
}

std::string findings_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& f : findings) {
    text += to_text(f.diagnosis) + "DRAM traffic: " + to_text(f.traffic) + "\n\n" +
            to_text(f.answers) + "\n";
  }
  return text;
}

void add_findings(HtmlPage* page, const std::vector<Finding>& findings, const std::string& svg) {
  for (const Finding& f : findings) {
    page->section(f.answers.kernel);
    page->preformatted(to_text(f.diagnosis));
    page->paragraph("DRAM traffic: " + to_text(f.traffic));
    for (const AnsweredQuestion& q : f.answers.questions) {
      Table table;
      table.caption = q.title;
      table.columns = {{"what"}, {"answer"}, {"source"}};
      for (const KernelAnswer& a : q.answers) {
        table.rows.push_back({Cell(a.name), answer_cell(a), Cell(a.source)});
      }
      page->table(table);
    }
  }
  if (!svg.empty()) {
    page->section("Roofline");
    page->svg("Integer instructions per DRAM byte against instructions per second, per kernel",
              svg);
  }
}

}  // namespace prof

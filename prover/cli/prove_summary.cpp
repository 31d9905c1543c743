#include "prover/cli/prove_summary.hpp"

#include <nlohmann/json.hpp>

#include "prover/cli/build_info.hpp"
#include "prover/cli/console.hpp"
#include "prover/cli/system_info.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/cpu/kernels.hpp"
#include "prover/errors.hpp"
#include "prover/proof/proof_file.hpp"
#include "prover/report/report_check.hpp"

namespace stwo {
namespace {

using Json = nlohmann::ordered_json;

/// Part of the request during which the device had nothing of it; 0 if the clocks disagree.
uint64_t host_gap(const RequestRecord& request) {
  const uint64_t device = request.device->device_elapsed;
  return request.resident_prove > device ? request.resident_prove - device : 0;
}

std::string counted(uint64_t n, const std::string& singular, const std::string& plural) {
  return format_count(n) + " " + (n == 1 ? singular : plural);
}

std::string device_line(const DeviceReport& report) {
  const DeviceDescription& d = report.device;
  return "device     " + d.name + " (" + d.uuid + "), number " + std::to_string(d.ordinal) +
         ", SM " + std::to_string(d.sm_major) + "." + std::to_string(d.sm_minor) + ", " +
         counted(d.multiprocessors, "multiprocessor", "multiprocessors") + ", " +
         format_bytes(d.global_memory_bytes) + ", driver " + d.driver_version + "\n";
}

std::string code_line(const DeviceReport& report) {
  size_t n_cubins = 0;
  for (const ModuleRecord& m : report.modules) n_cubins += m.kind == ModuleKind::kCubin ? 1 : 0;
  std::string out = "code       " + counted(n_cubins, "cubin", "cubins");
  if (n_cubins != report.modules.size()) {
    out += ", " + counted(report.modules.size() - n_cubins, "module", "modules") +
           " compiled at run time: not comparable";
  }
  return out + ", submitted as " +
         (report.execution_mode == ExecutionMode::kGraphs ? "graphs" : "direct launches") + "\n";
}

std::string work_lines(const RequestTelemetry& t) {
  const auto copies = [](uint64_t operations, uint64_t bytes) {
    return counted(operations, "copy", "copies") +
           (operations == 0 ? "" : " of " + format_bytes(bytes));
  };
  const RequestTransfers& x = t.transfers;
  std::string out = "launches   " + counted(t.counters.kernel_launches, "kernel", "kernels") +
                    ", " + counted(t.counters.graph_launches, "graph", "graphs") + ", " +
                    counted(t.counters.sync_calls, "synchronisation", "synchronisations") + "\n";
  return out + "transfers  " + copies(x.h2d_operations, x.h2d_bytes) + " to the device, " +
         copies(x.d2h_operations, x.d2h_bytes) + " back, " + copies(x.d2d_operations, x.d2d_bytes) +
         " on it\n";
}

std::string stage_table(const RequestRecord& shown) {
  const StageTimes& times = shown.device ? shown.device->stages : shown.stages;
  const uint64_t total = times.total();
  std::vector<std::vector<std::string>> rows;
  for (size_t s = 0; s < kStageCount; ++s) {
    const uint64_t ns = times.ns[s];
    rows.push_back({std::string(stage_name(static_cast<Stage>(s))), format_ms(ns),
                    format_percent(ns, total), bar(ns, total, 30)});
  }
  rows.push_back({"total", format_ms(total), "", ""});
  std::string title = "stage (";
  title += shown.role == RequestRole::kSteady ? "median steady request" : "first request";
  title += shown.device ? ", device time)" : ")";
  return format_table({title, ">ms", ">share", ""}, rows);
}

Json stage_object(const StageTimes& times) {
  Json j;
  for (size_t s = 0; s < kStageCount; ++s) {
    j[std::string(stage_name(static_cast<Stage>(s)))] = times.ns[s];
  }
  return j;
}

Json device_object(const DeviceReport& report, const RequestRecord& shown) {
  const RequestTelemetry& t = *shown.device;
  Json j;
  j["name"] = report.device.name;
  j["uuid"] = report.device.uuid;
  j["sm"] = report.device.sm_major * 10 + report.device.sm_minor;
  j["execution_mode"] = execution_mode_name(report.execution_mode);
  j["device_elapsed_ns"] = t.device_elapsed;
  j["host_gap_ns"] = host_gap(shown);
  j["stage_ns"] = stage_object(t.stages);
  j["kernel_launches"] = t.counters.kernel_launches;
  j["graph_launches"] = t.counters.graph_launches;
  j["h2d_bytes"] = t.transfers.h2d_bytes;
  j["d2h_bytes"] = t.transfers.d2h_bytes;
  j["d2d_bytes"] = t.transfers.d2d_bytes;
  return j;
}

}  // namespace

std::string prove_summary(const ProveResult& r, const ProveOutputs& outputs) {
  const RequestRecord& shown = shown_request(r.requests);
  std::string out;
  out += "statement  " + describe_statement(r.shape->statement) + "\n";
  out += "config     " + describe_config(r.shape->config) + "\n";
  out += "trace      " + format_count(r.shape->trace_rows()) + " rows, " +
         format_count(r.shape->trace_cells()) + " cells, " + format_count(r.shape->n_constraints) +
         " constraints\n";
  out += "backend    " + r.backend + ": " + r.description + "\n";
  if (r.device) out += device_line(*r.device) + code_line(*r.device);
  out += "\n" + stage_table(shown) + "\n";
  out += "request    prove " + format_ms(shown.resident_prove) + " ms";
  if (shown.device) {
    out += " (device " + format_ms(shown.device->device_elapsed) + ", host gap " +
           format_ms(host_gap(shown)) + ")";
  }
  out += ", encode " + format_ms(shown.encode) + ", decode " + format_ms(shown.terminal_decode) +
         ", verify " + format_ms(shown.independent_verification) + ", together " +
         format_ms(shown.verified_request) + " ms\n";
  if (shown.device) out += work_lines(*shown.device);
  out += "run        init " + format_ms(r.lifecycle.runtime_init) + " ms, prepare " +
         format_ms(r.lifecycle.shape_prepare) + ", first request " +
         format_ms(r.lifecycle.first_request) + ", " + std::to_string(r.requests.size()) +
         (r.requests.size() == 1 ? " request\n" : " requests, all with the same proof\n");
  out += "memory     ";
  if (r.device) {
    out += format_bytes(r.device->memory.accounted_peak()) + " at peak, device has " +
           format_bytes(r.device->memory.capacity);
  } else {
    out += format_bytes(r.memory.total()) + " planned";
  }
  if (r.peak_rss) {
    out += ", " + format_bytes(*r.peak_rss) + (r.device ? " peak host resident" : " peak resident");
  }
  out += "\nproof      " + format_count(r.proof_json.size()) + " bytes, sha256 " +
         shown.canonical_sha256 + "\n";
  out += "verified   yes, by the independent verifier after decoding\n";
  out += "security   " + describe_security(r.shape->config) + "\n";
  out += "written    " + outputs.proof;
  for (const std::string& path : {outputs.report, outputs.transcript}) {
    if (!path.empty()) out += ", " + path;
  }
  return out + "\n";
}

std::string prove_summary_json(const ProveResult& r, const ProveOutputs& outputs) {
  const RequestRecord& shown = shown_request(r.requests);
  const auto path_or_null = [](const std::string& p) { return p.empty() ? Json() : Json(p); };
  Json j;
  j["schema"] = "stwo_prove_v1";
  j["workload_id"] = workload_id(*r.shape);
  j["statement"] = Json::parse(write_statement_json(r.shape->statement));
  j["config"] = {{"name", config_name(r.shape->config)},
                 {"text", config_to_string(r.shape->config)}};
  j["security_bits"] = {{"heuristic", r.shape->config.heuristic_security_bits()},
                        {"proven", r.shape->config.proven_security_bits()}};
  j["backend"] = r.backend;
  j["backend_description"] = r.description;
  j["verified"] = true;
  j["proof_bytes"] = r.proof_json.size();
  j["canonical_sha256"] = shown.canonical_sha256;
  j["requests"] = r.requests.size();
  j["shown_role"] = request_role_name(shown.role);
  j["verified_request_ns"] = shown.verified_request;
  j["resident_prove_ns"] = shown.resident_prove;
  j["stage_ns"] = stage_object(shown.stages);
  j["device"] = r.device ? device_object(*r.device, shown) : Json();
  j["output"] = outputs.proof;
  j["report"] = path_or_null(outputs.report);
  j["transcript"] = path_or_null(outputs.transcript);
  return j.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string prove_report(const ProveResult& r, const ProveOutputs& outputs,
                         const std::optional<OracleReceipt>& oracle) {
  ProductReport report;
  report.backend = r.backend;
  report.shape = r.shape;
  report.build = build_identity();
  report.binary_sha256 = binary_sha256();
  report.created_utc = utc_now();
  report.host.model_name = cpu_model_name();
  // With a device, verification is what the host's instructions do.
  report.host.instruction_set = r.device ? cpu::instruction_set() : r.description;
  report.host.logical_cpus = usable_cpus();
  report.host.threads = r.host_threads;
  report.host.memory_bytes = physical_memory_bytes();
  report.host.peak_rss_bytes = r.peak_rss;
  report.proof_path = outputs.proof;
  report.proof_bytes = r.proof_json.size();
  report.verified = true;
  report.oracle = oracle;
  report.lifecycle = r.lifecycle;
  report.requests = r.requests;
  report.memory = r.memory;
  report.device = r.device;
  std::string text = write_product_report(report);
  // A report that breaks its own rules must not leave the program.
  for (const ReportViolation& v : check_report(text)) {
    throw ContractError("own report: " + v.code + " " + v.path + ": " + v.message);
  }
  return text;
}

}  // namespace stwo

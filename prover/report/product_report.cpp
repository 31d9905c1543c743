#include "prover/report/product_report.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "prover/errors.hpp"
#include "prover/hash/sha256.hpp"
#include "prover/program/proof_program.hpp"
#include "prover/proof/proof_file.hpp"
#include "prover/proof/proof_json.hpp"
#include "prover/report/report_check.hpp"
#include "prover/report/report_fields.hpp"

namespace stwo {
namespace {

constexpr const char* kNoDevice = "the CPU backend has no device";
constexpr const char* kNoCuda = "the CPU backend contains no CUDA code";

/// Collects the reasons of all nulls while the report is built.
class Reasons {
 public:
  Json null(const std::string& path, const std::string& reason) {
    reasons_[path] = reason;
    return nullptr;
  }
  template <class T>
  Json value_or(const std::optional<T>& value, const std::string& path, const std::string& reason) {
    if (value) return *value;
    return null(path, reason);
  }
  Json take() const {
    Json out = Json::object();
    for (const auto& [path, reason] : reasons_) out[path] = reason;
    return out;
  }

 private:
  std::map<std::string, std::string> reasons_;
};

Json identity_block(const ProductReport& r, Reasons& reasons) {
  const std::string no_checkout = "built outside a version-controlled checkout";
  Json j;
  j["binary_sha256"] = r.binary_sha256;
  j["source_commit"] =
      reasons.value_or(r.build.source_commit, "/identity/source_commit", no_checkout);
  j["source_tree"] = reasons.value_or(r.build.source_tree, "/identity/source_tree", no_checkout);
  j["dirty"] = reasons.value_or(r.build.dirty, "/identity/dirty", no_checkout);
  j["dirty_sha256"] = reasons.value_or(r.build.dirty_sha256, "/identity/dirty_sha256",
                                       r.build.dirty ? "the working tree was clean" : no_checkout);
  j["build_type"] = r.build.build_type;
  j["host_compiler"] = r.build.host_compiler;
  if (r.device) {
    j["nvcc_version"] = r.device->nvcc_version;
    j["cuda_arch_list"] = r.device->cuda_arch_list;
  } else {
    j["nvcc_version"] = reasons.null("/identity/nvcc_version", kNoCuda);
    j["cuda_arch_list"] = reasons.null("/identity/cuda_arch_list", kNoCuda);
  }
  j["protocol_manifest_sha256"] = protocol_manifest_sha256(r.shape->statement, r.shape->config);
  j["identity_sha256"] = identity_digest(j);
  return j;
}

Json parameters_object(const Statement& s) {
  Json j = Json::object();
  for (const auto& [name, value] : s.parameters) j[name] = value;
  return j;
}

Json cpu_plan_block(const std::shared_ptr<const ProofShape>& shape, Reasons& reasons) {
  // What a device would compile: the digests let both backends' reports be compared.
  const ProofProgram program = make_proof_program(shape);
  Json j;
  j["program_sha256"] = program.digest();
  j["semantic_sha256"] = program.semantic_digest();
  for (const char* key : {"cache_key_sha256", "schedule_version", "compiled_once", "reuse_count"}) {
    j[key] = reasons.null(std::string("/plan/") + key, "the CPU backend compiles no plan");
  }
  j["node_count"] = program.nodes.size();
  for (const char* key :
       {"predicted_minimum_launches", "transcript_barriers", "request_bytes", "persistent_bytes"}) {
    j[key] = reasons.null(std::string("/plan/") + key, "the CPU backend compiles no plan");
  }
  return j;
}

Json device_plan_block(const PlanRecord& p) {
  Json j;
  j["program_sha256"] = p.program_sha256;
  j["semantic_sha256"] = p.semantic_sha256;
  j["cache_key_sha256"] = p.cache_key_sha256;
  j["schedule_version"] = p.schedule_version;
  j["compiled_once"] = p.compiled_once;
  j["reuse_count"] = p.reuse_count;
  j["node_count"] = p.node_count;
  j["predicted_minimum_launches"] = p.predicted_minimum_launches;
  j["transcript_barriers"] = p.transcript_barriers;
  j["request_bytes"] = p.request_bytes;
  j["persistent_bytes"] = p.persistent_bytes;
  return j;
}

Json module_objects(const std::vector<ModuleRecord>& modules) {
  Json list = Json::array();
  for (const ModuleRecord& m : modules) {
    Json j;
    j["name"] = m.name;
    j["sha256"] = m.sha256;
    j["bytes"] = m.bytes;
    j["kind"] = module_kind_name(m.kind);
    j["sm"] = m.sm;
    j["load_ordinal"] = m.load_ordinal;
    j["loaded_in"] = load_phase_name(m.loaded_in);
    list.push_back(std::move(j));
  }
  return list;
}

Json aot_block(const AotRecord& a) {
  Json j;
  j["entries"] = a.entries;
  j["loads"] = a.loads;
  j["cache_hits"] = a.cache_hits;
  j["misses"] = a.misses;
  j["launches"] = a.launches;
  j["launch_failures"] = a.launch_failures;
  j["build_identity_sha256"] = a.build_identity_sha256;
  j["strict"] = a.strict;
  return j;
}

Json device_block(const DeviceDescription& d, Reasons& reasons) {
  Json j;
  j["uuid"] = d.uuid;
  j["name"] = d.name;
  j["ordinal"] = d.ordinal;
  j["sm_major"] = d.sm_major;
  j["sm_minor"] = d.sm_minor;
  j["driver_version"] = d.driver_version;
  j["runtime_version"] = reasons.value_or(d.runtime_version, "/device/runtime_version",
                                          "the program links no CUDA runtime");
  j["toolkit_version"] = d.toolkit_version;
  j["global_memory_bytes"] = d.global_memory_bytes;
  j["multiprocessors"] = d.multiprocessors;
  j["mig"] = d.mig;
  return j;
}

Json stage_object(const StageTimes& times) {
  Json j;
  for (size_t s = 0; s < kStageCount; ++s) {
    j[std::string(stage_name(static_cast<Stage>(s)))] = times.ns[s];
  }
  j["total"] = times.total();
  return j;
}

/// Stage times of the first request, and last, minimum and median of the steady ones. `path` is the
/// block's JSON pointer, times_of(record) its stage times.
template <class TimesOf>
Json stage_block(const std::vector<RequestRecord>& requests, const std::string& path,
                 TimesOf times_of, Reasons& reasons) {
  std::vector<const RequestRecord*> steady;
  for (const RequestRecord& r : requests) {
    if (r.role == RequestRole::kSteady) steady.push_back(&r);
  }
  Json j;
  j["first"] = requests.empty() ? reasons.null(path + "/first", "no request")
                                : stage_object(times_of(requests.front()));
  if (steady.empty()) {
    for (const char* key : {"last", "min", "median"}) {
      j[key] = reasons.null(path + '/' + key, "no steady request was asked for");
    }
    return j;
  }
  j["last"] = stage_object(times_of(*steady.back()));
  // Per key over the steady requests: the keys of these two need not sum to their total.
  Json min;
  Json med;
  const auto add = [&](const std::string& key, auto value_of) {
    std::vector<uint64_t> values;
    for (const RequestRecord* r : steady) values.push_back(value_of(times_of(*r)));
    min[key] = *std::min_element(values.begin(), values.end());
    med[key] = median(values);
  };
  for (size_t s = 0; s < kStageCount; ++s) {
    add(std::string(stage_name(static_cast<Stage>(s))),
        [s](const StageTimes& t) { return t.ns[s]; });
  }
  add("total", [](const StageTimes& t) { return t.total(); });
  j["min"] = min;
  j["median"] = med;
  return j;
}

Json request_objects(const std::vector<RequestRecord>& requests, Reasons& reasons) {
  Json list = Json::array();
  for (size_t i = 0; i < requests.size(); ++i) {
    const RequestRecord& r = requests[i];
    Json j;
    j["ordinal"] = i;
    j["role"] = request_role_name(r.role);
    j["begin_ns"] = r.begin_ns;
    j["resident_begin_ns"] = r.resident_begin_ns;
    j["resident_end_ns"] = r.resident_end_ns;
    j["end_ns"] = r.end_ns;
    j["resident_prove"] = r.resident_prove;
    j["encode"] = r.encode;
    j["terminal_decode"] = r.terminal_decode;
    j["independent_verification"] = r.independent_verification;
    j["verified_request"] = r.verified_request;
    j["device_elapsed"] = r.device ? Json(r.device->device_elapsed)
                                   : reasons.null("/requests/*/device_elapsed", kNoDevice);
    j["canonical_sha256"] = r.canonical_sha256;
    list.push_back(std::move(j));
  }
  return list;
}

/// One vector per field, one entry per request.
template <class T, size_t N>
Json vector_block(const Field<T> (&fields)[N], T RequestTelemetry::*part,
                  const std::vector<RequestRecord>& requests) {
  Json j;
  for (const Field<T>& field : fields) {
    Json& values = j[field.key] = Json::array();
    for (const RequestRecord& r : requests) values.push_back((*r.device).*part.*field.member);
  }
  return j;
}

Json pass_objects(const std::vector<PassRecord>& passes, Reasons& reasons) {
  Json list = Json::array();
  for (const PassRecord& p : passes) {
    Json j;
    j["stage"] = stage_name(p.stage);
    j["pass"] = p.pass;
    j["kernel"] = p.kernel;
    j["input_bytes"] = p.input_bytes;
    j["output_bytes"] = p.output_bytes;
    j["reread_bytes"] = p.reread_bytes;
    j["temporary_bytes"] = p.temporary_bytes;
    j["launches"] = p.launches;
    j["barriers"] = p.barriers;
    j["retained_consumer"] =
        reasons.value_or(p.retained_consumer, "/pass_ledger/*/retained_consumer",
                         "nothing reads the output after its own stage");
    list.push_back(std::move(j));
  }
  return list;
}

Json resource_objects(const std::vector<ResourceRecord>& resources, Reasons& reasons) {
  Json list = Json::array();
  for (const ResourceRecord& r : resources) {
    const auto value_or = [&](const std::optional<std::string>& value, const char* key,
                              const char* reason) {
      return reasons.value_or(value, std::string("/resources/*/") + key, reason);
    };
    Json j;
    j["name"] = r.name;
    j["bytes"] = r.bytes;
    j["alignment"] = r.alignment;
    j["lifetime"] = resource_lifetime_name(r.lifetime);
    j["producer"] = r.producer;
    j["last_consumer"] = r.last_consumer;
    j["mutable"] = r.is_mutable;
    j["alias_eligible"] = r.alias_eligible;
    j["owner"] = r.owner;
    j["unwind_path"] = r.unwind_path;
    j["stream"] = value_or(r.stream, "stream", "not bound to a stream");
    j["last_use_event"] = value_or(r.last_use_event, "last_use_event", "no event marks its end");
    j["cache_key"] = value_or(r.cache_key, "cache_key", "not cached");
    j["eviction_rule"] = value_or(r.eviction_rule, "eviction_rule", "not cached");
    list.push_back(std::move(j));
  }
  return list;
}

Json device_memory_block(const ProductReport& r, Reasons& reasons) {
  const DeviceMemory& m = r.device->memory;
  const auto value_or = [&](const std::optional<uint64_t>& value, const char* key) {
    return reasons.value_or(value, std::string("/memory/") + key,
                            "the driver does not tell this share");
  };
  Json j;
  j["persistent_runtime"] = value_or(m.persistent_runtime, "persistent_runtime");
  j["modules"] = value_or(m.modules, "modules");
  j["tables"] = m.tables;
  j["cached_shapes"] = m.cached_shapes;
  j["graphs"] = value_or(m.graphs, "graphs");
  j["arena_high_water"] = m.arena_high_water;
  j["scratch"] = reasons.null("/memory/scratch", "scratch lies in the arena");
  j["staging"] = m.staging;
  j["terminal_host"] = m.terminal_host;
  j["pool_reserved"] = m.pool_reserved;
  j["pool_used"] = m.pool_used;
  j["accounted_peak"] = m.accounted_peak();
  j["peak_rss_bytes"] =
      reasons.value_or(r.host.peak_rss_bytes, "/memory/peak_rss_bytes", "the kernel did not say");
  j["in_flight_multiplier"] = m.in_flight_multiplier;
  j["capacity"] = m.capacity;
  j["admitted"] = m.admitted;
  return j;
}

Json cpu_memory_block(const ProductReport& r, Reasons& reasons) {
  const std::string host_only = "the CPU backend keeps tables, one arena and scratch only";
  Json j;
  for (const char* key : {"persistent_runtime", "modules"}) {
    j[key] = reasons.null(std::string("/memory/") + key, host_only);
  }
  j["tables"] = r.memory.tables_bytes;
  for (const char* key : {"cached_shapes", "graphs"}) {
    j[key] = reasons.null(std::string("/memory/") + key, host_only);
  }
  j["arena_high_water"] = r.memory.arena_bytes;
  j["scratch"] = r.memory.scratch_bytes;
  for (const char* key : {"staging", "terminal_host", "pool_reserved", "pool_used"}) {
    j[key] = reasons.null(std::string("/memory/") + key, host_only);
  }
  j["accounted_peak"] = r.memory.total();
  j["peak_rss_bytes"] =
      reasons.value_or(r.host.peak_rss_bytes, "/memory/peak_rss_bytes", "the kernel did not say");
  j["in_flight_multiplier"] = 1;
  j["capacity"] =
      reasons.value_or(r.host.memory_bytes, "/memory/capacity", "the kernel did not say");
  j["admitted"] = true;
  return j;
}

}  // namespace

std::string_view request_role_name(RequestRole role) {
  switch (role) {
    case RequestRole::kFirst: return "first";
    case RequestRole::kWarmup: return "warmup";
    case RequestRole::kSteady: return "steady";
  }
  return "unknown";
}

std::string workload_id(const ProofShape& shape) {
  const Statement& s = shape.statement;
  const auto ends_with = [](const std::string& text, std::string_view end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
  };
  std::string out = s.air;
  const std::vector<AirParameter>& declared = shape.air->parameters();
  for (size_t i = 0; i < s.parameters.size(); ++i) {
    const auto& [name, value] = s.parameters[i];
    if (i < declared.size() && declared[i].default_value == value) continue;
    if (name == "log_n_rows" || name == "second_log_n_rows") {
      out += "_log" + std::to_string(value);
    } else if (ends_with(name, "sequence_len")) {
      out += "x" + std::to_string(value);
    } else {
      out += "_" + name + std::to_string(value);
    }
  }
  if (s.channel == HashVariant::kBlake2sM31) out += "_m31";
  return out;
}

std::string protocol_manifest_sha256(const Statement& statement, const PcsConfig& config) {
  std::string text = "stwo protocol manifest 1\ncrate=";
  text += kProtocolCrate;
  text += "\nchannel=";
  text += channel_name(statement.channel);
  text += statement.mix_config ? "\nmix_config=1" : "\nmix_config=0";
  text += "\nconfig=" + config_to_string(config) + "\n";
  return sha256_hex(text);
}

std::string write_product_report(const ProductReport& r) {
  const ProofShape& shape = *r.shape;
  STWO_CHECK(r.device.has_value() == (r.backend != "cpu"),
             "a report has device blocks exactly when its backend has a device");
  for (const RequestRecord& request : r.requests) {
    STWO_CHECK(request.device.has_value() == r.device.has_value(),
               "a request's telemetry is missing or has no device");
  }
  Reasons reasons;
  Json j;
  j["schema"] = kProductReportSchema;
  j["product"] = "stwo-cuda " + r.build.product_version;
  j["backend"] = r.backend;
  j["application"] = shape.statement.air;
  j["protocol"] = kProtocolCrate;
  j["execution_mode"] = r.device ? Json(execution_mode_name(r.device->execution_mode))
                                 : reasons.null("/execution_mode", kNoDevice);
  j["created_utc"] = r.created_utc;
  // These three follow from the rest and are filled in at the end.
  for (const char* key : {"eligible_for_cuda_verdict", "ineligible_reason", "not_applicable"}) {
    j[key] = nullptr;
  }
  j["identity"] = identity_block(r, reasons);
  if (r.device) {
    j["modules"] = module_objects(r.device->modules);
    j["aot"] = aot_block(r.device->aot);
    j["device"] = device_block(r.device->device, reasons);
  } else {
    for (const char* key : {"modules", "aot", "device"}) {
      j[key] = reasons.null(std::string("/") + key, kNoDevice);
    }
  }
  j["cpu"] = {{"model_name", r.host.model_name},
              {"instruction_set", r.host.instruction_set},
              {"threads", r.host.threads},
              {"logical_cpus", r.host.logical_cpus}};
  Json statement;
  statement["workload_id"] = workload_id(shape);
  statement["structural_class"] = shape.air->structural_class(shape.statement);
  statement["air"] = shape.statement.air;
  statement["channel"] = channel_name(shape.statement.channel);
  statement["mix_config"] = shape.statement.mix_config;
  statement["parameters"] = parameters_object(shape.statement);
  statement["config"] = config_to_string(shape.config);
  statement["security_bits_heuristic"] = shape.config.heuristic_security_bits();
  statement["security_bits_proven"] = shape.config.proven_security_bits();
  statement["trace_rows"] = shape.trace_rows();
  statement["trace_cells"] = shape.trace_cells();
  statement["statement_sha256"] = sha256_hex(write_statement_json(shape.statement));
  j["statement"] = std::move(statement);
  j["plan"] = r.device ? device_plan_block(r.device->plan) : cpu_plan_block(r.shape, reasons);
  Json proof;
  proof["path"] = r.proof_path;
  proof["canonical_bytes"] = r.proof_bytes;
  proof["canonical_sha256"] = r.requests.empty() ? "" : r.requests.front().canonical_sha256;
  proof["verified"] = r.verified;
  if (r.oracle) {
    proof["oracle"] = {{"name", r.oracle->name},
                       {"accepted", r.oracle->accepted},
                       {"receipt_sha256", r.oracle->receipt_sha256}};
  } else {
    proof["oracle"] = reasons.null("/proof/oracle", "no receipt was given");
  }
  j["proof"] = std::move(proof);
  j["lifecycle_ns"] = {
      {"process_start_to_main",
       reasons.value_or(r.lifecycle.process_start_to_main, "/lifecycle_ns/process_start_to_main",
                        "the kernel did not say when the process started")},
      {"runtime_init", r.lifecycle.runtime_init},
      {"shape_prepare", r.lifecycle.shape_prepare},
      {"first_request", r.lifecycle.first_request},
      {"runtime_teardown", r.lifecycle.runtime_teardown},
      {"total_before_publication", r.lifecycle.total_before_publication}};
  j["requests"] = request_objects(r.requests, reasons);
  j["stage_ns"] = stage_block(
      r.requests, "/stage_ns",
      [](const RequestRecord& request) -> const StageTimes& { return request.stages; }, reasons);
  if (r.device) {
    j["device_stage_ns"] = stage_block(
        r.requests, "/device_stage_ns",
        [](const RequestRecord& request) -> const StageTimes& { return request.device->stages; },
        reasons);
    j["counters"] = vector_block(kCounterFields, &RequestTelemetry::counters, r.requests);
    j["transfers"] = vector_block(kTransferFields, &RequestTelemetry::transfers, r.requests);
    j["pass_ledger"] = pass_objects(r.device->pass_ledger, reasons);
    j["memory"] = device_memory_block(r, reasons);
    j["resources"] = r.device->resources.empty()
                         ? reasons.null("/resources", "the backend listed no resources")
                         : resource_objects(r.device->resources, reasons);
  } else {
    for (const char* key : {"counters", "transfers", "pass_ledger"}) {
      j[key] = reasons.null(std::string("/") + key, kNoDevice);
    }
    j["memory"] = cpu_memory_block(r, reasons);
    j["resources"] = reasons.null("/resources", kNoDevice);
  }
  const std::optional<std::string> ineligible = ineligibility(j);
  j["eligible_for_cuda_verdict"] = !ineligible.has_value();
  j["ineligible_reason"] =
      reasons.value_or(ineligible, "/ineligible_reason", "the run is eligible");
  j["not_applicable"] = reasons.take();
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace stwo

// Product reports and plan documents.

#include <algorithm>

#include "ledger/ingest/rows.hpp"
#include "prover/hash/sha256.hpp"
#include "prover/report/report_check.hpp"

namespace ledger {
namespace {

/// Lower median: a value that was measured.
Value lower_median(std::vector<int64_t> values) {
  if (values.empty()) return std::monostate{};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct PlanFacts {
  std::string cache_key;
  std::string program;
  std::string semantic;
  Value schedule_version;
  Value transcript_barriers;
  Value request_bytes;
  Value persistent_bytes;
};

int64_t require_plan(Filing& filing, const PlanFacts& facts, const Json& ledger) {
  const std::string id = stwo::sha256_hex(canonical(Json{{"cache_key_sha256", facts.cache_key},
                                                         {"program_sha256", facts.program},
                                                         {"pass_ledger", ledger}}));
  if (const int64_t row = filing.find("plan", "plan_id", id); row != 0) return row;
  int64_t launches = 0;
  for (const Json& p : ledger) launches += p.at("launches").get<int64_t>();
  const int64_t plan = filing.insert("plan", {{"plan_id", id},
                                              {"cache_key_sha256", facts.cache_key},
                                              {"program_sha256", facts.program},
                                              {"semantic_sha256", facts.semantic},
                                              {"schedule_version", facts.schedule_version},
                                              {"transcript_barriers", facts.transcript_barriers},
                                              {"launches", launches},
                                              {"request_bytes", facts.request_bytes},
                                              {"persistent_bytes", facts.persistent_bytes},
                                              {"artifact", filing.artifact}});
  int64_t ordinal = 0;
  for (const Json& p : ledger) {
    filing.insert("pass", {{"plan", plan},
                           {"ordinal", ordinal++},
                           {"stage", scalar(p.at("stage"))},
                           {"pass", scalar(p.at("pass"))},
                           {"kernel", scalar(p.at("kernel"))},
                           {"input_bytes", scalar(p.at("input_bytes"))},
                           {"output_bytes", scalar(p.at("output_bytes"))},
                           {"reread_bytes", scalar(p.at("reread_bytes"))},
                           {"temporary_bytes", scalar(p.at("temporary_bytes"))},
                           {"launches", scalar(p.at("launches"))},
                           {"barriers", scalar(p.at("barriers"))},
                           {"retained_consumer", scalar(p.at("retained_consumer"))}});
  }
  return plan;
}

int64_t require_product(Filing& filing, const Json& report) {
  const Json& identity = report.at("identity");
  const auto id = identity.at("identity_sha256").get<std::string>();
  if (const int64_t row = filing.find("product", "product_id", id); row != 0) return row;
  return filing.insert("product", {{"product_id", id},
                                   {"name", scalar(report.at("product"))},
                                   {"binary_sha256", scalar(identity.at("binary_sha256"))},
                                   {"source_commit", scalar(identity.at("source_commit"))},
                                   {"dirty", scalar(identity.at("dirty"))},
                                   {"build_type", scalar(identity.at("build_type"))},
                                   {"host_compiler", scalar(identity.at("host_compiler"))},
                                   {"nvcc_version", scalar(identity.at("nvcc_version"))},
                                   {"cuda_arch_list", scalar(identity.at("cuda_arch_list"))},
                                   {"protocol", scalar(report.at("protocol"))},
                                   {"identity_json", canonical(identity)}});
}

int64_t report_environment(Filing& filing, const Json& report) {
  const Json& cpu = report.at("cpu");
  Json description = {{"cpu_model", cpu.at("model_name")},
                      {"logical_cpus", cpu.at("logical_cpus")},
                      {"instruction_set", cpu.at("instruction_set")}};
  if (const Json& device = report.at("device"); !device.is_null()) {
    description["device_uuid"] = device.at("uuid");
    description["device_name"] = device.at("name");
    description["sm"] =
        device.at("sm_major").get<int64_t>() * 10 + device.at("sm_minor").get<int64_t>();
    description["driver_version"] = device.at("driver_version");
    description["mig"] = device.at("mig");
  }
  return require_environment(filing, "report", description, "");
}

void add_requests(Filing& filing, const Json& report, int64_t run) {
  const Json& requests = report.at("requests");
  const bool cuda = report.at("backend") == "cuda";
  for (size_t i = 0; i < requests.size(); ++i) {
    const Json& r = requests[i];
    const auto counter = [&](const char* block, const char* key) {
      return cuda ? scalar(report.at(block).at(key).at(i)) : Value{};
    };
    filing.insert(
        "request",
        {{"run", run},
         {"ordinal", scalar(r.at("ordinal"))},
         {"role", scalar(r.at("role"))},
         {"resident_prove_ns", scalar(r.at("resident_prove"))},
         {"encode_ns", scalar(r.at("encode"))},
         {"terminal_decode_ns", scalar(r.at("terminal_decode"))},
         {"independent_verification_ns", scalar(r.at("independent_verification"))},
         {"verified_request_ns", scalar(r.at("verified_request"))},
         {"device_ns", scalar(r.at("device_elapsed"))},
         {"kernel_launches", counter("counters", "kernel_launches")},
         {"graph_launches", counter("counters", "graph_launches")},
         {"sync_calls", counter("counters", "sync_calls")},
         {"module_loads", counter("counters", "module_loads")},
         {"jit_compiles", counter("counters", "jit_compiles")},
         {"allocations", counter("counters", "allocations")},
         {"frees", counter("counters", "frees")},
         {"cpu_fallback_attempts", counter("counters", "cpu_fallback_attempts")},
         {"h2d_operations", counter("transfers", "h2d_operations")},
         {"h2d_bytes", counter("transfers", "h2d_bytes")},
         {"d2h_operations", counter("transfers", "d2h_operations")},
         {"d2h_bytes", counter("transfers", "d2h_bytes")},
         {"d2d_operations", counter("transfers", "d2d_operations")},
         {"d2d_bytes", counter("transfers", "d2d_bytes")},
         {"terminal_d2h_operations", counter("transfers", "terminal_d2h_operations")},
         {"intermediate_d2h_operations", counter("transfers", "intermediate_d2h_operations")}});
  }
}

void add_stage_times(Filing& filing, const Json& block, const std::string& clock, int64_t run) {
  for (const std::string statistic : {"first", "last", "min", "median"}) {
    if (block.at(statistic).is_null()) continue;
    for (const auto& [stage, ns] : block.at(statistic).items()) {
      filing.insert("stage_time", {{"run", run},
                                   {"clock", clock},
                                   {"statistic", statistic},
                                   {"stage", stage},
                                   {"ns", scalar(ns)}});
    }
  }
}

}  // namespace

void add_product_report(Filing& filing, const Json& report, std::string_view text) {
  const bool cuda = report.at("backend") == "cuda";
  const Json& statement = report.at("statement");
  const Json& plan = report.at("plan");
  const Json& proof = report.at("proof");
  const Json& lifecycle = report.at("lifecycle_ns");
  const Json& requests = report.at("requests");

  const int64_t product = require_product(filing, report);
  const int64_t environment = report_environment(filing, report);
  const int64_t workload = require_workload(
      filing, statement.at("workload_id").get<std::string>(),
      statement.at("config").get<std::string>(), scalar(statement.at("statement_sha256")),
      scalar(statement.at("structural_class")), scalar(statement.at("trace_rows")),
      scalar(statement.at("trace_cells")));
  Value plan_row;
  if (cuda) {
    const PlanFacts facts{plan.at("cache_key_sha256").get<std::string>(),
                          plan.at("program_sha256").get<std::string>(),
                          plan.at("semantic_sha256").get<std::string>(),
                          scalar(plan.at("schedule_version")),
                          scalar(plan.at("transcript_barriers")),
                          scalar(plan.at("request_bytes")),
                          scalar(plan.at("persistent_bytes"))};
    plan_row = require_plan(filing, facts, report.at("pass_ledger"));
  }

  const auto steady = [&](const char* key) {
    std::vector<int64_t> values;
    for (const Json& r : requests) {
      if (r.at("role") == "steady" && !r.at(key).is_null()) {
        values.push_back(r.at(key).get<int64_t>());
      }
    }
    return values;
  };
  const Json& oracle = proof.at("oracle");
  const auto flags = stwo::contract_flags(text);
  const int64_t run = filing.insert(
      "run", {{"run_id", filing.sha256},
              {"artifact", filing.artifact},
              {"product", product},
              {"environment", environment},
              {"workload", workload},
              {"plan", plan_row},
              {"backend", scalar(report.at("backend"))},
              {"execution_mode", scalar(report.at("execution_mode"))},
              {"created_utc", scalar(report.at("created_utc"))},
              {"eligible", scalar(report.at("eligible_for_cuda_verdict"))},
              {"ineligible_reason", scalar(report.at("ineligible_reason"))},
              {"proof_sha256", scalar(proof.at("canonical_sha256"))},
              {"proof_bytes", scalar(proof.at("canonical_bytes"))},
              {"verified", scalar(proof.at("verified"))},
              {"oracle_name", oracle.is_null() ? Value{} : scalar(oracle.at("name"))},
              {"oracle_accepted", oracle.is_null() ? Value{} : scalar(oracle.at("accepted"))},
              {"program_sha256", scalar(plan.at("program_sha256"))},
              {"semantic_sha256", scalar(plan.at("semantic_sha256"))},
              {"process_start_to_main_ns", scalar(lifecycle.at("process_start_to_main"))},
              {"runtime_init_ns", scalar(lifecycle.at("runtime_init"))},
              {"shape_prepare_ns", scalar(lifecycle.at("shape_prepare"))},
              {"first_request_ns", scalar(lifecycle.at("first_request"))},
              {"runtime_teardown_ns", scalar(lifecycle.at("runtime_teardown"))},
              {"total_ns", scalar(lifecycle.at("total_before_publication"))},
              {"n_requests", static_cast<int64_t>(requests.size())},
              {"n_steady", static_cast<int64_t>(steady("verified_request").size())},
              {"verified_request_ns", lower_median(steady("verified_request"))},
              {"resident_prove_ns", lower_median(steady("resident_prove"))},
              {"device_ns", lower_median(steady("device_elapsed"))},
              {"kernel_launches",
               cuda ? scalar(report.at("counters").at("kernel_launches").back()) : Value{}},
              {"accounted_peak_bytes", scalar(report.at("memory").at("accounted_peak"))},
              {"n_flags", static_cast<int64_t>(flags.size())}});

  add_requests(filing, report, run);
  add_stage_times(filing, report.at("stage_ns"), "host", run);
  if (cuda) {
    add_stage_times(filing, report.at("device_stage_ns"), "device", run);
    for (const Json& m : report.at("modules")) {
      filing.insert("module", {{"run", run},
                               {"load_ordinal", scalar(m.at("load_ordinal"))},
                               {"name", scalar(m.at("name"))},
                               {"sha256", scalar(m.at("sha256"))},
                               {"bytes", scalar(m.at("bytes"))},
                               {"kind", scalar(m.at("kind"))},
                               {"sm", scalar(m.at("sm"))},
                               {"loaded_in", scalar(m.at("loaded_in"))}});
    }
  }
  for (const auto& [part, bytes] : report.at("memory").items()) {
    // The others are no sizes.
    if (bytes.is_null() || part == "admitted" || part == "in_flight_multiplier") continue;
    filing.insert("memory_part", {{"run", run}, {"part", part}, {"bytes", scalar(bytes)}});
  }
  for (const stwo::ContractFlag& f : flags) {
    filing.insert("contract_flag",
                  {{"run", run}, {"code", f.code}, {"path", f.path}, {"message", f.message}});
    filing.notes.push_back(f.code + ": " + f.message);
  }
}

void add_plan_document(Filing& filing, const Json& plan) {
  const Json& memory = plan.at("memory");
  const PlanFacts facts{plan.at("cache_key_sha256").get<std::string>(),
                        plan.at("program_sha256").get<std::string>(),
                        plan.at("semantic_sha256").get<std::string>(),
                        scalar(plan.at("schedule_version")),
                        scalar(plan.at("transcript_barriers")),
                        scalar(memory.at("arena")),
                        memory.at("tables").get<int64_t>() + memory.at("constants").get<int64_t>()};
  const int64_t before = filing.rows;
  require_plan(filing, facts, plan.at("pass_ledger"));
  if (filing.rows == before) {
    filing.notes.push_back("this plan's pass ledger was here already, from another document");
  }
}

}  // namespace ledger

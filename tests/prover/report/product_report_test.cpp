#include "prover/report/product_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "prover/cli/prove_run.hpp"
#include "prover/cli/prove_summary.hpp"
#include "prover/cpu/cpu_backend.hpp"
#include "prover/errors.hpp"
#include "prover/hash/sha256.hpp"
#include "prover/report/report_check.hpp"

namespace stwo {
namespace {

using Json = nlohmann::ordered_json;
using Pointer = Json::json_pointer;

RequestRecord request(RequestRole role, uint64_t scale) {
  RequestRecord r;
  r.role = role;
  r.begin_ns = 1'000'000;
  r.resident_begin_ns = 1'000'000;
  r.resident_end_ns = 2'000'000;
  r.end_ns = 3'000'000;
  for (size_t s = 0; s < kStageCount; ++s) r.stages.ns[s] = (s + 1) * scale;
  r.resident_prove = r.stages.total() + 3;
  r.encode = 5;
  r.terminal_decode = 7;
  r.independent_verification = 11;
  r.verified_request = r.resident_prove + 5 + 7 + 11;
  r.canonical_sha256 = sha256_hex("proof");
  return r;
}

ProductReport sample(size_t n_steady = 3) {
  ProductReport r;
  Statement s;
  s.air = "wide_fibonacci";
  s.parameters = {{"log_n_rows", 5}, {"sequence_len", 10}};
  r.shape = make_shape(s, fast_config());
  r.build.product_version = "0.1.0";
  r.build.source_commit = std::string(40, 'a');
  r.build.source_tree = std::string(40, 'b');
  r.build.dirty = false;
  r.build.build_type = "Release";
  r.build.host_compiler = "GNU 12";
  r.binary_sha256 = sha256_hex("binary");
  r.created_utc = "2026-01-01T00:00:00Z";
  r.host = {"some processor", "AVX2", 2, 2, uint64_t{1} << 33, uint64_t{1} << 20};
  r.proof_path = "proof.json";
  r.proof_bytes = 1234;
  r.verified = true;
  r.requests = {request(RequestRole::kFirst, 100), request(RequestRole::kWarmup, 50)};
  for (size_t i = 0; i < n_steady; ++i) {
    r.requests.push_back(request(RequestRole::kSteady, 10 + 10 * i));
  }
  r.memory = {100, 200, 300};
  r.lifecycle = {uint64_t{1000}, 10, 20, r.requests[0].verified_request, 30, 1'000'000};
  return r;
}

RequestTelemetry telemetry(RequestRole role, ExecutionMode mode, uint64_t scale) {
  RequestTelemetry t;
  for (size_t i = 0; i < kStageCount; ++i) t.stages.ns[i] = (i + 1) * scale;
  t.device_elapsed = t.stages.total();
  t.counters.kernel_launches = 40;
  t.counters.sync_calls = 1;
  if (mode == ExecutionMode::kGraphs) {
    t.counters.graph_launches = 2;
    // The first request makes its graphs, the others find them.
    const bool first = role == RequestRole::kFirst;
    t.counters.graph_instantiations = first ? 2 : 0;
    (first ? t.counters.graph_cache_misses : t.counters.graph_cache_hits) = 2;
  }
  if (role == RequestRole::kFirst) t.counters.allocations = 3;
  t.transfers.h2d_operations = 1;
  t.transfers.h2d_bytes = 64;
  t.transfers.d2h_operations = 1;
  t.transfers.d2h_bytes = 4096;
  t.transfers.d2d_operations = 2;
  t.transfers.d2d_bytes = 128;
  t.transfers.terminal_d2h_operations = 1;
  t.transfers.terminal_d2h_bytes = 4096;
  return t;
}

/// Every block filled, every optional field set in one place and unset in another where it can be.
DeviceReport device_report(ExecutionMode mode) {
  DeviceReport d;
  d.execution_mode = mode;
  d.nvcc_version = "13.0.88";
  d.cuda_arch_list = "90";
  d.device = {"GPU-0123", "a device",        0,   9,    0, "13.0 (580.1)", std::nullopt,
              "13.0",     uint64_t{1} << 37, 132, false};
  d.modules = {{"hash", sha256_hex("hash"), 1000, ModuleKind::kCubin, 90, 0, LoadPhase::kInit},
               {"fft", sha256_hex("fft"), 2000, ModuleKind::kCubin, 90, 1, LoadPhase::kPrepare}};
  d.aot = {20, 2, 18, 0, 200, 0, sha256_hex("aot"), true};
  d.plan = {sha256_hex("program"),
            sha256_hex("semantic"),
            sha256_hex("key"),
            1,
            true,
            4,
            60,
            38,
            12,
            5000,
            600};
  d.pass_ledger = {
      {Stage::kTraceCommit, "leaves", "hash_leaves", 100, 200, 0, 50, 1, 0, "decommit"},
      {Stage::kPow, "grind", "grind", 32, 8, 0, 0, 1, 1, std::nullopt}};
  d.memory.modules = 3000;
  d.memory.tables = 100;
  d.memory.cached_shapes = 20;
  d.memory.arena_high_water = 5000;
  d.memory.staging = 64;
  d.memory.terminal_host = 4096;
  d.memory.pool_reserved = 8000;
  d.memory.pool_used = 5120;
  d.memory.capacity = uint64_t{1} << 37;
  ResourceRecord r;
  r.name = "tree 1 columns";
  r.bytes = 4000;
  r.alignment = 256;
  r.producer = "trace_commit";
  r.last_consumer = "decommit";
  r.is_mutable = true;
  r.alias_eligible = true;
  r.owner = "session";
  r.unwind_path = "arena";
  r.stream = "main";
  d.resources = {r};
  return d;
}

ProductReport cuda_sample(size_t n_steady = 3, ExecutionMode mode = ExecutionMode::kGraphs) {
  ProductReport r = sample(n_steady);
  r.backend = "cuda";
  r.device = device_report(mode);
  for (size_t i = 0; i < r.requests.size(); ++i) {
    RequestRecord& request = r.requests[i];
    // Below the host's times, which lie 3 above the sum of their stages; different in each request.
    request.device = telemetry(request.role, mode, request.stages.ns[0] / 2);
  }
  return r;
}

std::set<std::string> codes(const std::string& text) {
  std::set<std::string> out;
  for (const ReportViolation& v : check_report(text)) {
    EXPECT_EQ(v.message.find('\n'), std::string::npos);
    out.insert(v.code);
  }
  return out;
}
std::set<std::string> codes(const Json& j) { return codes(j.dump()); }
using Codes = std::set<std::string>;

TEST(ProductReport, WrittenReportsAreValid) {
  for (const size_t n_steady : {0u, 1u, 2u, 5u}) {
    ProductReport r = sample(n_steady);
    EXPECT_EQ(codes(write_product_report(r)), Codes{}) << n_steady;
    if (n_steady == 0) r.requests.pop_back();
    EXPECT_EQ(codes(write_product_report(r)), Codes{});
  }
  ProductReport r = sample();
  r.oracle = OracleReceipt{"stwo 2.3.0", true, sha256_hex("receipt")};
  r.build.dirty = true;
  r.build.dirty_sha256 = sha256_hex("diff");
  EXPECT_EQ(codes(write_product_report(r)), Codes{});
  // Nothing known about source, machine or start.
  r.build.source_commit.reset();
  r.build.source_tree.reset();
  r.build.dirty.reset();
  r.build.dirty_sha256.reset();
  r.host.memory_bytes.reset();
  r.host.peak_rss_bytes.reset();
  r.lifecycle.process_start_to_main.reset();
  EXPECT_EQ(codes(write_product_report(r)), Codes{});
}

TEST(ProductReport, SameInputSameBytes) {
  EXPECT_EQ(write_product_report(sample()), write_product_report(sample()));
  EXPECT_EQ(write_product_report(sample()).back(), '\n');
}

TEST(ProductReport, Content) {
  const Json j = Json::parse(write_product_report(sample(3)));
  EXPECT_EQ(j["schema"], "stwo_cuda_product_report_v1");
  EXPECT_EQ(j["backend"], "cpu");
  EXPECT_EQ(j["eligible_for_cuda_verdict"], false);
  EXPECT_TRUE(j["ineligible_reason"].is_string());
  EXPECT_EQ(j["statement"]["workload_id"], "wide_fibonacci_log5x10");
  EXPECT_EQ(j["statement"]["structural_class"], "latency");
  EXPECT_EQ(j["statement"]["trace_rows"], 32);
  EXPECT_EQ(j["statement"]["trace_cells"], 320);
  EXPECT_EQ(j["statement"]["security_bits_heuristic"], 13);
  EXPECT_EQ(j["statement"]["security_bits_proven"], 11);
  EXPECT_EQ(j["memory"]["accounted_peak"], 600);
  EXPECT_EQ(j["memory"]["peak_rss_bytes"], 1 << 20);
  // What a CPU run does not have is null, not zero.
  for (const char* key : {"modules", "aot", "device", "counters", "transfers", "pass_ledger",
                          "resources", "execution_mode"}) {
    EXPECT_TRUE(j[key].is_null()) << key;
    EXPECT_TRUE(j["not_applicable"].contains(std::string("/") + key)) << key;
  }
  // Steady scales 10, 20, 30: the sum of 1..10 is 55.
  EXPECT_EQ(j["stage_ns"]["first"]["total"], 5500);
  EXPECT_EQ(j["stage_ns"]["last"]["total"], 1650);
  EXPECT_EQ(j["stage_ns"]["min"]["total"], 550);
  EXPECT_EQ(j["stage_ns"]["median"]["total"], 1100);
  EXPECT_EQ(j["stage_ns"]["median"]["ingress"], 20);
  EXPECT_EQ(j["requests"].size(), 5u);
  EXPECT_EQ(j["requests"][4]["ordinal"], 4);
  EXPECT_EQ(j["requests"][1]["role"], "warmup");
  EXPECT_TRUE(Json::parse(write_product_report(sample(0)))["stage_ns"]["median"].is_null());
}

TEST(ProductReport, WorkloadIds) {
  Statement s;
  s.air = "wide_fibonacci_pair";
  s.channel = HashVariant::kBlake2sM31;
  s.parameters = {{"log_n_rows", 6},
                  {"sequence_len", 10},
                  {"second_log_n_rows", 4},
                  {"second_sequence_len", 3}};
  EXPECT_EQ(workload_id(*make_shape(s, fast_config())), "wide_fibonacci_pair_log6x10_log4x3_m31");
  s.parameters.emplace_back("second_enabled", 0);
  EXPECT_EQ(workload_id(*make_shape(s, fast_config())),
            "wide_fibonacci_pair_log6x10_log4x3_second_enabled0_m31");
}

TEST(ProductReport, ManifestNamesChannelConfigAndMix) {
  Statement s;
  const std::string base = protocol_manifest_sha256(s, fast_config());
  EXPECT_NE(protocol_manifest_sha256(s, secure_config()), base);
  Statement mixed = s;
  mixed.mix_config = true;
  EXPECT_NE(protocol_manifest_sha256(mixed, fast_config()), base);
  Statement m31 = s;
  m31.channel = HashVariant::kBlake2sM31;
  EXPECT_NE(protocol_manifest_sha256(m31, fast_config()), base);
  Statement other_air = s;
  other_air.air = "x";
  EXPECT_EQ(protocol_manifest_sha256(other_air, fast_config()), base);
}

class ReportRules : public ::testing::Test {
 protected:
  Json report_ = Json::parse(write_product_report(sample()));
  /// Codes after setting one value.
  Codes with(const std::string& pointer, Json value) const {
    Json j = report_;
    j[Pointer(pointer)] = std::move(value);
    return codes(j);
  }
};

TEST_F(ReportRules, Form) {
  EXPECT_EQ(codes(report_), Codes{});
  EXPECT_EQ(codes(std::string("")), Codes{"REPORT_JSON"});
  EXPECT_EQ(codes(std::string("{")), Codes{"REPORT_JSON"});
  EXPECT_EQ(codes(std::string(1'000'000, '[')), Codes{"REPORT_JSON"});
  EXPECT_EQ(codes(std::string("\xff\xfe\n")), Codes{"REPORT_JSON"});
  EXPECT_EQ(codes(std::string("[]")), Codes{"REPORT_TYPE"});
  EXPECT_EQ(codes(std::string("{}")), Codes{"REPORT_SCHEMA"});
  EXPECT_EQ(with("/schema", "other"), Codes{"REPORT_SCHEMA"});
  EXPECT_EQ(with("/schema", 1), Codes{"REPORT_SCHEMA"});
  EXPECT_EQ(with("/backend", "metal"), Codes{"REPORT_BACKEND"});
  // A CPU run can't pass as a device's: its blocks are missing.
  EXPECT_EQ(with("/backend", "cuda").count("REPORT_TYPE"), 1u);
  EXPECT_EQ(with("/device_stage_ns", Json::object()), Codes{"REPORT_UNKNOWN_KEY"});
  EXPECT_EQ(with("/extra", 1), Codes{"REPORT_UNKNOWN_KEY"});
  EXPECT_EQ(with("/memory/extra", 1), Codes{"REPORT_UNKNOWN_KEY"});
  EXPECT_EQ(with("/requests/1/extra", 1), Codes{"REPORT_UNKNOWN_KEY"});
  EXPECT_EQ(with("/cpu/threads", true), Codes{"REPORT_TYPE"});
  EXPECT_EQ(with("/cpu/threads", "2"), Codes{"REPORT_TYPE"});
  EXPECT_EQ(with("/cpu/threads", -1), Codes{"REPORT_RANGE"});
  EXPECT_EQ(with("/cpu/threads", 1.5), Codes{"REPORT_RANGE"});
  EXPECT_EQ(with("/cpu/threads", uint64_t{1} << 63), Codes{"REPORT_RANGE"});
  EXPECT_EQ(with("/cpu/threads", (uint64_t{1} << 63) - 1), Codes{});
  EXPECT_EQ(with("/proof/canonical_sha256", "abc"), Codes{"REPORT_RANGE"});
  EXPECT_EQ(with("/proof/verified", 1), Codes{"REPORT_TYPE"});
  EXPECT_EQ(with("/requests", nullptr).count("REPORT_TYPE"), 1u);
  EXPECT_EQ(with("/requests/0", "x"), Codes{"REPORT_TYPE"});
  EXPECT_EQ(codes(std::string("{\"schema\":1e999}")), Codes{"REPORT_JSON"});
}

/// JSON pointers of all values of a report but the root, each once.
std::set<std::string> all_pointers(const Json& report) {
  std::set<std::string> out;
  const Json flat = report.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    for (std::string p = pointer; !p.empty(); p = p.substr(0, p.rfind('/'))) out.insert(p);
  }
  return out;
}

/// Erases every key of every object, found by walking the report itself, and expects an answer.
/// Returns how many there were.
size_t check_missing_keys(const Json& report) {
  size_t n = 0;
  for (const std::string& p : all_pointers(report)) {
    const Pointer pointer(p);
    Json j = report;
    Json& parent = j.at(pointer.parent_pointer());
    if (!parent.is_object() || p.rfind("/statement/parameters/", 0) == 0) continue;
    const bool reason = p.rfind("/not_applicable/", 0) == 0;
    parent.erase(pointer.back());
    const Codes found = codes(j);
    if (p == "/schema" || p == "/backend") {
      EXPECT_FALSE(found.empty()) << p;
    } else {
      EXPECT_EQ(found.count(reason ? "REPORT_NULL_WITHOUT_REASON" : "REPORT_MISSING_KEY"), 1u) << p;
    }
    ++n;
  }
  return n;
}

TEST_F(ReportRules, EveryMissingKeyIsFound) { EXPECT_GT(check_missing_keys(report_), 150u); }

TEST_F(ReportRules, DuplicateKeys) {
  std::string text = report_.dump();
  text.insert(text.find("\"proof\":"), "\"proof\":{},");
  EXPECT_EQ(codes(text), Codes{"REPORT_DUPLICATE_KEY"});
  text = report_.dump();
  text.insert(text.find("\"verified\":"), "\"verified\":true,");
  EXPECT_EQ(codes(text), Codes{"REPORT_DUPLICATE_KEY"});
}

TEST_F(ReportRules, NullsAndReasonsBelongTogether) {
  EXPECT_EQ(with("/lifecycle_ns/process_start_to_main", nullptr),
            Codes{"REPORT_NULL_WITHOUT_REASON"});
  EXPECT_EQ(with("/plan/reuse_count", 0), Codes{"REPORT_REASON_WITHOUT_NULL"});
  EXPECT_EQ(with("/cpu/threads", nullptr), Codes{"REPORT_TYPE"});
}

TEST_F(ReportRules, CrossChecks) {
  const std::string other = sha256_hex("other");
  EXPECT_EQ(with("/identity/build_type", "Debug"), Codes{"REPORT_IDENTITY_DIGEST"});
  EXPECT_EQ(with("/identity/dirty", true), (Codes{"REPORT_DIRTY", "REPORT_IDENTITY_DIGEST"}));
  EXPECT_EQ(with("/statement/parameters/log_n_rows", 6), Codes{"REPORT_STATEMENT_DIGEST"});
  EXPECT_EQ(with("/requests/2/ordinal", 3), Codes{"REPORT_ORDINALS"});
  EXPECT_EQ(with("/requests/2/role", "first"), Codes{"REPORT_ROLES"});
  EXPECT_EQ(with("/requests/3/role", "warmup"), Codes{"REPORT_ROLES"});
  EXPECT_EQ(with("/requests/0/role", "warmup"), Codes{"REPORT_ROLES"});
  EXPECT_EQ(with("/requests/3/role", "idle"), Codes{"REPORT_RANGE"});
  EXPECT_EQ(with("/requests/3/canonical_sha256", other), Codes{"REPORT_DIGESTS"});
  EXPECT_EQ(with("/requests/3/verified_request", 1), Codes{"REPORT_VERIFIED_SUM"});
  EXPECT_EQ(with("/requests/3/encode", INT64_MAX), Codes{"REPORT_VERIFIED_SUM"});
  EXPECT_EQ(with("/requests/3/end_ns", 0), Codes{"REPORT_STAMPS"});
  EXPECT_EQ(with("/stage_ns/first/pow", 1), Codes{"REPORT_STAGE_SUM"});
  EXPECT_EQ(with("/stage_ns/last/total", 1), Codes{"REPORT_STAGE_SUM"});
  EXPECT_EQ(with("/requests/4/resident_prove", 1), Codes{"REPORT_STAGE_RESIDENT"});
  EXPECT_EQ(with("/lifecycle_ns/total_before_publication", 1), Codes{"REPORT_TOTAL"});
  EXPECT_EQ(with("/lifecycle_ns/first_request", 1), Codes{"REPORT_FIRST_REQUEST"});
  EXPECT_EQ(with("/memory/accounted_peak", 1), Codes{"REPORT_MEMORY_SUM"});
  EXPECT_EQ(with("/memory/tables", INT64_MAX), Codes{"REPORT_MEMORY_SUM"});
  EXPECT_EQ(with("/eligible_for_cuda_verdict", true), Codes{"REPORT_ELIGIBLE"});
  EXPECT_EQ(with("/stage_ns/min", nullptr), (Codes{"REPORT_NULL_WITHOUT_REASON"}));
  // Each violation says where.
  Json j = report_;
  j["requests"][3]["canonical_sha256"] = other;
  const auto violations = check_report(j.dump());
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].path, "/requests/3/canonical_sha256");
}

// Whatever single value is replaced by whatever type, the checker answers and does not throw.
void check_any_change(const Json& report) {
  const Json values[] = {nullptr,
                         true,
                         -1,
                         0,
                         1.5,
                         UINT64_MAX,
                         "",
                         "x",
                         Json::array(),
                         Json::object(),
                         Json::array({1, Json::object()})};
  for (const std::string& p : all_pointers(report)) {
    // The first element stands for the others of its array; no key begins with a digit.
    bool later_element = false;
    for (char digit = '1'; digit <= '9'; ++digit) {
      later_element |= p.find(std::string("/") + digit) != std::string::npos;
    }
    if (later_element) continue;
    for (const Json& v : values) {
      Json j = report;
      j[Pointer(p)] = v;
      const std::string text = j.dump();
      EXPECT_NO_THROW(contract_flags(text)) << p;  // runs check_report
    }
  }
}

TEST_F(ReportRules, AnyChangeGetsAnAnswer) {
  check_any_change(report_);
  const std::string text = write_product_report(sample());
  for (size_t n = 0; n < text.size() - 2; n += 97) {
    EXPECT_EQ(codes(text.substr(0, n)), Codes{"REPORT_JSON"}) << n;
  }
}

// ---- Reports of a device -----------------------------------------------------------------------

TEST(CudaReport, WrittenReportsAreValid) {
  for (const ExecutionMode mode : {ExecutionMode::kGraphs, ExecutionMode::kDirect}) {
    for (const size_t n_steady : {0u, 1u, 2u, 5u}) {
      ProductReport r = cuda_sample(n_steady, mode);
      EXPECT_EQ(codes(write_product_report(r)), Codes{}) << n_steady;
      if (n_steady == 0) r.requests.pop_back();
      EXPECT_EQ(codes(write_product_report(r)), Codes{});
    }
  }
  // Everything set that may be unset, and the other way round.
  ProductReport r = cuda_sample();
  r.device->device.runtime_version = "13.0";
  r.device->memory.persistent_runtime = 7;
  r.device->memory.graphs = 8;
  r.device->pass_ledger[1].retained_consumer = "verifier";
  ResourceRecord& resource = r.device->resources[0];
  resource.last_use_event = resource.cache_key = resource.eviction_rule = "x";
  EXPECT_EQ(codes(write_product_report(r)), Codes{});
  r.device->memory.modules.reset();
  r.device->pass_ledger[0].retained_consumer.reset();
  resource.stream.reset();
  EXPECT_EQ(codes(write_product_report(r)), Codes{});
  r.device->modules.clear();
  r.device->pass_ledger.clear();
  r.device->resources.clear();
  EXPECT_EQ(codes(write_product_report(r)), Codes{});
}

TEST(CudaReport, Content) {
  const Json j = Json::parse(write_product_report(cuda_sample()));
  EXPECT_EQ(j["backend"], "cuda");
  EXPECT_EQ(j["execution_mode"], "graphs");
  EXPECT_EQ(j["identity"]["nvcc_version"], "13.0.88");
  EXPECT_EQ(j["modules"][1]["loaded_in"], "prepare");
  EXPECT_EQ(j["device"]["multiprocessors"], 132);
  EXPECT_TRUE(j["device"]["runtime_version"].is_null());
  EXPECT_EQ(j["plan"]["semantic_sha256"], sha256_hex("semantic"));
  EXPECT_EQ(j["counters"]["kernel_launches"], Json::array({40, 40, 40, 40, 40}));
  EXPECT_EQ(j["counters"]["graph_cache_misses"], Json::array({2, 0, 0, 0, 0}));
  EXPECT_EQ(j["transfers"]["terminal_d2h_bytes"][4], 4096);
  EXPECT_EQ(j["pass_ledger"][0]["stage"], "trace_commit");
  EXPECT_EQ(j["memory"]["accounted_peak"], 3000 + 100 + 20 + 5000 + 64 + 4096);
  EXPECT_EQ(j["resources"][0]["lifetime"], "request");
  // Steady scales 5, 10, 15; host stages keep their own block.
  EXPECT_EQ(j["device_stage_ns"]["first"]["total"], 2750);
  EXPECT_EQ(j["device_stage_ns"]["last"]["total"], 825);
  EXPECT_EQ(j["device_stage_ns"]["min"]["total"], 275);
  EXPECT_EQ(j["device_stage_ns"]["median"]["total"], 550);
  EXPECT_EQ(j["stage_ns"]["last"]["total"], 1650);
  EXPECT_EQ(j["requests"][4]["device_elapsed"], 825);
}

TEST(CudaReport, DevicePartsBelongTogether) {
  ProductReport r = cuda_sample();
  r.requests[2].device.reset();
  EXPECT_THROW(write_product_report(r), ContractError);
  r = cuda_sample();
  r.device.reset();
  EXPECT_THROW(write_product_report(r), ContractError);
  r = cuda_sample();
  r.backend = "cpu";
  EXPECT_THROW(write_product_report(r), ContractError);
  r = cuda_sample();
  r.device->memory.tables = UINT64_MAX;
  EXPECT_THROW(write_product_report(r), ContractError);
}

TEST(CudaReport, OnlyStrictCleanVerifiedRunsAreEligible) {
  const auto reason = [](const ProductReport& r) {
    const std::string text = write_product_report(r);
    EXPECT_EQ(codes(text), Codes{});
    const Json j = Json::parse(text);
    EXPECT_EQ(j["eligible_for_cuda_verdict"].get<bool>(), j["ineligible_reason"].is_null());
    // The checker does not take the report's word for it.
    if (!j["eligible_for_cuda_verdict"].get<bool>()) {
      Json forged = j;
      forged["eligible_for_cuda_verdict"] = true;
      EXPECT_EQ(codes(forged).count("REPORT_ELIGIBLE"), 1u);
    }
    return j["ineligible_reason"].is_null() ? "" : j["ineligible_reason"].get<std::string>();
  };
  EXPECT_EQ(reason(cuda_sample()), "");
  for (const ModuleKind kind : {ModuleKind::kPtx, ModuleKind::kNvrtc}) {
    ProductReport r = cuda_sample();
    r.device->modules[1].kind = kind;
    EXPECT_EQ(reason(r), "module fft was compiled at run time");
  }
  ProductReport r = cuda_sample();
  r.device->aot.strict = false;
  EXPECT_NE(reason(r), "");
  r = cuda_sample();
  r.verified = false;
  EXPECT_NE(reason(r), "");
  r = cuda_sample();
  r.build.dirty = true;
  r.build.dirty_sha256 = sha256_hex("diff");
  EXPECT_NE(reason(r), "");
  r = cuda_sample();
  r.build.dirty.reset();
  EXPECT_NE(reason(r), "");
}

class CudaRules : public ::testing::Test {
 protected:
  Json report_ = Json::parse(write_product_report(cuda_sample()));
  Json direct_ = Json::parse(write_product_report(cuda_sample(3, ExecutionMode::kDirect)));

  /// Sets one value and expects one violation: this code, at this path.
  static void expect(const Json& report, const std::string& pointer, const Json& value,
                     const std::string& code, const std::string& path) {
    Json j = report;
    j[Pointer(pointer)] = value;
    const auto violations = check_report(j.dump());
    ASSERT_EQ(violations.size(), 1u)
        << pointer << ": " << (violations.empty() ? "" : violations.back().code);
    EXPECT_EQ(violations[0].code, code) << pointer;
    EXPECT_EQ(violations[0].path, path) << pointer;
  }
  void expect(const std::string& pointer, const Json& value, const std::string& code) const {
    expect(report_, pointer, value, code, pointer);
  }
  void expect(const std::string& pointer, const Json& value, const std::string& code,
              const std::string& path) const {
    expect(report_, pointer, value, code, path);
  }
};

TEST_F(CudaRules, EveryMissingKeyIsFound) { EXPECT_GT(check_missing_keys(report_), 300u); }

TEST_F(CudaRules, AnyChangeGetsAnAnswer) { check_any_change(report_); }

TEST_F(CudaRules, Form) {
  expect("/modules/0/kind", "fatbin", "REPORT_RANGE");
  expect("/modules/0/loaded_in", "later", "REPORT_RANGE");
  expect("/modules/0/sha256", "abc", "REPORT_RANGE");
  expect("/execution_mode", "fast", "REPORT_RANGE");
  expect("/pass_ledger/1/stage", "total", "REPORT_RANGE");
  expect("/resources/0/lifetime", "forever", "REPORT_RANGE");
  expect("/counters/sync_calls/1", true, "REPORT_TYPE");
  expect("/counters/sync_calls/1", nullptr, "REPORT_TYPE");
  expect("/counters/sync_calls/1", -1, "REPORT_RANGE");
  expect("/counters/naps", Json::array(), "REPORT_UNKNOWN_KEY");
  expect("/transfers", nullptr, "REPORT_TYPE");
  expect("/device/mig", 0, "REPORT_TYPE");
  expect("/aot/strict", "true", "REPORT_TYPE");
  expect("/memory/capacity", nullptr, "REPORT_TYPE");
  expect("/memory/scratch", 1, "REPORT_REASON_WITHOUT_NULL", "/not_applicable/~1memory~1scratch");
  expect("/resources/0/stream", nullptr, "REPORT_NULL_WITHOUT_REASON");
}

TEST_F(CudaRules, CrossChecks) {
  const std::string other = sha256_hex("other");
  expect("/modules/1/load_ordinal", 2, "REPORT_MODULE_ORDER");
  // Stages sum to their total, and the total is the request's device time.
  expect("/device_stage_ns/last/pow", 1, "REPORT_DEVICE_STAGE_SUM", "/device_stage_ns/last/total");
  expect("/device_stage_ns/first/pow", INT64_MAX, "REPORT_DEVICE_STAGE_SUM",
         "/device_stage_ns/first/total");
  expect("/requests/0/device_elapsed", 1, "REPORT_DEVICE_ELAPSED", "/device_stage_ns/first/total");
  expect("/requests/4/device_elapsed", 826, "REPORT_DEVICE_ELAPSED", "/device_stage_ns/last/total");
  expect("/device_stage_ns/min/total", 1, "REPORT_DEVICE_STATISTICS");
  expect("/device_stage_ns/median/total", 1, "REPORT_DEVICE_STATISTICS");
  // Host times around it.
  expect("/requests/1/device_elapsed", 1'000'000, "REPORT_DEVICE_RESIDENT");
  expect("/requests/3/verified_request", 1, "REPORT_VERIFIED_SUM");
  expect("/lifecycle_ns/total_before_publication", 1, "REPORT_TOTAL");
  // Vectors.
  expect("/counters/frees", Json::array({0, 0}), "REPORT_VECTOR_LENGTH");
  expect("/transfers/h2d_bytes", Json::array({0, 0, 0, 0, 0, 0}), "REPORT_VECTOR_LENGTH");
  expect("/requests/2/ordinal", 7, "REPORT_ORDINALS");
  expect("/requests/3/canonical_sha256", other, "REPORT_DIGESTS");
  // Launch topology of steady requests; the warm-up may differ.
  expect("/counters/kernel_launches/4", 41, "REPORT_TOPOLOGY");
  expect("/counters/graph_instantiations/3", 1, "REPORT_TOPOLOGY");
  expect("/counters/graph_updates/3", 1, "REPORT_TOPOLOGY");
  expect("/transfers/h2d_operations/3", 2, "REPORT_TOPOLOGY");
  expect("/transfers/d2d_operations/4", 0, "REPORT_TOPOLOGY");
  Json j = report_;
  j["counters"]["kernel_launches"][1] = 41;
  EXPECT_EQ(codes(j), Codes{});
  // Modes.
  expect("/counters/graph_launches/1", 0, "REPORT_GRAPH_LAUNCHES");
  expect("/counters/graph_cache_hits/1", 1, "REPORT_GRAPH_LAUNCHES", "/counters/graph_launches/1");
  expect("/counters/graph_cache_misses/1", INT64_MAX, "REPORT_GRAPH_LAUNCHES",
         "/counters/graph_launches/1");
  for (const char* key :
       {"launches", "instantiations", "updates", "cache_hits", "cache_misses", "fallbacks"}) {
    const std::string path = std::string("/counters/graph_") + key + "/1";
    expect(direct_, path, 1, "REPORT_DIRECT_GRAPHS", path);
  }
  j = report_;
  for (size_t i = 0; i < 5; ++i) {
    for (const char* key : {"graph_launches", "graph_cache_hits", "graph_cache_misses"}) {
      j["counters"][key][i] = 0;
    }
  }
  EXPECT_EQ(codes(j), Codes{"REPORT_GRAPH_LAUNCHES"});
  // Sums of parts.
  expect("/transfers/intermediate_d2h_operations/1", 1, "REPORT_D2H_SUM",
         "/transfers/d2h_operations/1");
  expect("/transfers/terminal_d2h_bytes/1", 4097, "REPORT_D2H_SUM", "/transfers/d2h_operations/1");
  expect("/counters/cpu_fallbacks_completed/1", 1, "REPORT_FALLBACKS");
  // Memory.
  expect("/memory/pool_used", 8001, "REPORT_POOL_USED");
  expect("/memory/pool_reserved", 5119, "REPORT_POOL_USED", "/memory/pool_used");
  expect("/memory/accounted_peak", 1, "REPORT_MEMORY_SUM");
  expect("/memory/staging", INT64_MAX, "REPORT_MEMORY_SUM", "/memory/accounted_peak");
  j = report_;
  j["memory"]["arena_high_water"] = 8001;
  j["memory"]["accounted_peak"] = j["memory"]["accounted_peak"].get<uint64_t>() + 3001;
  EXPECT_EQ(codes(j), Codes{"REPORT_POOL_ARENA"});
  // Eligibility.
  expect("/modules/1/kind", "ptx", "REPORT_ELIGIBLE", "/eligible_for_cuda_verdict");
  expect("/aot/strict", false, "REPORT_ELIGIBLE", "/eligible_for_cuda_verdict");
  expect("/proof/verified", false, "REPORT_ELIGIBLE", "/eligible_for_cuda_verdict");
  expect("/eligible_for_cuda_verdict", false, "REPORT_ELIGIBLE", "/ineligible_reason");
  // The steady parts are there exactly when there are steady requests.
  j = report_;
  j["device_stage_ns"]["min"] = nullptr;
  j["not_applicable"]["/device_stage_ns/min"] = "lost";
  EXPECT_EQ(codes(j), Codes{"REPORT_DEVICE_STAGE_SET"});
}

TEST_F(CudaRules, FlagsAreNotViolations) {
  const auto flags = [](const Json& j) {
    EXPECT_EQ(codes(j), Codes{});
    std::set<std::string> out;
    for (const ContractFlag& f : contract_flags(j.dump())) {
      EXPECT_TRUE(j.contains(Pointer(f.path))) << f.path;
      EXPECT_EQ(f.message.find('\n'), std::string::npos);
      EXPECT_TRUE(out.insert(f.code + " " + f.path).second);
    }
    return out;
  };
  const auto with = [&](const std::string& pointer, const Json& value) {
    Json j = report_;
    j[Pointer(pointer)] = value;
    return flags(j);
  };
  EXPECT_EQ(flags(report_), Codes{});
  EXPECT_EQ(flags(direct_), Codes{});
  EXPECT_EQ(with("/aot/misses", 1), Codes{"FLAG_AOT_MISS /aot/misses"});
  EXPECT_EQ(with("/aot/launch_failures", 1), Codes{"FLAG_LAUNCH_FAILURE /aot/launch_failures"});
  EXPECT_EQ(with("/modules/1/loaded_in", "request"),
            Codes{"FLAG_REQUEST_LOAD /modules/1/loaded_in"});
  for (const auto& [key, code] : {std::pair{"jit_compiles", "FLAG_JIT"},
                                  {"module_loads", "FLAG_REQUEST_LOAD"},
                                  {"cpu_fallback_attempts", "FLAG_CPU_FALLBACK"},
                                  {"graph_fallbacks", "FLAG_GRAPH_FALLBACK"},
                                  {"allocations", "FLAG_STEADY_ALLOCATION"}}) {
    const std::string path = std::string("/counters/") + key + "/3";
    EXPECT_EQ(with(path, 1), Codes{std::string(code) + " " + path});
  }
  // Two copies back instead of one: the second is another end, or comes before it.
  ProductReport r = cuda_sample();
  for (RequestRecord& request : r.requests) {
    request.device->transfers.d2h_operations = 2;
    request.device->transfers.terminal_d2h_operations = 2;
  }
  EXPECT_EQ(flags(Json::parse(write_product_report(r))),
            Codes{"FLAG_TERMINAL_D2H /transfers/terminal_d2h_operations/0"});
  for (RequestRecord& request : r.requests) {
    request.device->transfers.terminal_d2h_operations = 1;
    request.device->transfers.intermediate_d2h_operations = 1;
  }
  EXPECT_EQ(flags(Json::parse(write_product_report(r))),
            Codes{"FLAG_INTERMEDIATE_D2H /transfers/intermediate_d2h_operations/0"});
  r = cuda_sample();
  r.device->modules[1].kind = ModuleKind::kPtx;
  r.device->aot.strict = false;
  EXPECT_EQ(flags(Json::parse(write_product_report(r))),
            (Codes{"FLAG_RUNTIME_CODE /modules/1/kind", "FLAG_NOT_STRICT /aot/strict"}));
  // Nothing to say about CPU reports and other texts.
  EXPECT_TRUE(contract_flags(write_product_report(sample())).empty());
  EXPECT_TRUE(contract_flags("garbage").empty());
  Json broken = report_;
  broken["aot"]["misses"] = 1;
  broken["memory"]["accounted_peak"] = 1;
  EXPECT_TRUE(contract_flags(broken.dump()).empty());
}

/// Keys of every object by the object's pattern, with array indices as '*'.
void collect_keys(const Json& value, const std::string& pattern,
                  std::map<std::string, std::map<std::string, std::string>>* out,
                  const std::string& path) {
  if (pattern == "/not_applicable" || pattern == "/statement/parameters") return;
  if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) {
      collect_keys(value[i], pattern + "/*", out, path + "/" + std::to_string(i));
    }
  } else if (value.is_object()) {
    for (const auto& [key, child] : value.items()) {
      (*out)[pattern.empty() ? "/" : pattern].emplace(key, path + "/" + key);
      collect_keys(child, pattern + "/" + key, out, path + "/" + key);
    }
  }
}

// docs/formats.md lists every key, and with a '?' those that may be null.
TEST(CudaReport, KeysAreDocumented) {
  ProductReport sample_report = cuda_sample();
  sample_report.oracle = OracleReceipt{"stwo 2.3.0", true, sha256_hex("receipt")};
  const Json report = Json::parse(write_product_report(sample_report));
  std::map<std::string, std::map<std::string, std::string>> found;
  collect_keys(report, "", &found, "");

  std::filesystem::path docs(__FILE__);
  for (int up = 0; up < 4; ++up) docs = docs.parent_path();
  std::ifstream in(docs / "docs" / "formats.md");
  ASSERT_TRUE(in) << docs;
  std::map<std::string, std::set<std::string>> documented;
  std::set<std::string> patterns;  // of the entry being read
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("    ", 0) != 0) {
      patterns.clear();
      continue;
    }
    std::istringstream words(line);
    if (line.rfind("    /", 0) == 0) {
      patterns.clear();
      for (std::string word; words >> word && word[0] == '/';) {
        const bool last = word.back() != ',';
        patterns.insert(word.substr(0, word.size() - 1));
        if (last) break;
      }
    }
    for (std::string word; words >> word;) {
      for (const std::string& pattern : patterns) documented[pattern].insert(word);
    }
  }

  for (const auto& [pattern, keys] : found) {
    std::set<std::string> expected;
    for (const auto& [key, path] : keys) {
      Json j = report;
      j[Pointer(path)] = nullptr;
      bool nullable = true;
      for (const ReportViolation& v : check_report(j.dump())) {
        if ((v.code == "REPORT_TYPE" || v.code == "REPORT_SCHEMA" || v.code == "REPORT_BACKEND") &&
            v.path == path) {
          nullable = false;
        }
      }
      expected.insert(key + (nullable ? "?" : ""));
    }
    EXPECT_EQ(documented[pattern], expected) << pattern;
    documented.erase(pattern);
  }
  for (const auto& [pattern, keys] : documented) ADD_FAILURE() << "no such object: " << pattern;
}

// ---- A run on a device, as the command line makes it -------------------------------------------

/// Proves on the CPU and tells of a device: what run and report do with a device's answers can be
/// tested without one.
class PretendDevice final : public Backend, public DeviceTelemetry {
 public:
  explicit PretendDevice(std::string name) : name_(std::move(name)), cpu_(make_cpu_backend(1)) {}
  std::string_view name() const override { return name_; }
  std::string description() const override { return "pretended"; }
  std::unique_ptr<PreparedShape> prepare(std::shared_ptr<const ProofShape> shape) override {
    return cpu_->prepare(std::move(shape));
  }
  const DeviceTelemetry* telemetry() const override { return this; }
  RequestTelemetry last_request() const override {
    ++n_asked_;
    return stwo::telemetry(n_asked_ == 1 ? RequestRole::kFirst : RequestRole::kSteady,
                           ExecutionMode::kGraphs, n_asked_);
  }
  DeviceReport device_report() const override {
    return stwo::device_report(ExecutionMode::kGraphs);
  }

 private:
  std::string name_;
  std::unique_ptr<Backend> cpu_;
  mutable uint64_t n_asked_ = 0;
};

class DeviceRun : public ::testing::Test {
 protected:
  DeviceRun() {
    statement_.air = "wide_fibonacci";
    statement_.parameters = {{"log_n_rows", 5}, {"sequence_len", 8}};
  }
  Statement statement_;
};

TEST_F(DeviceRun, ReportAndSummaryComeFromTheDevice) {
  const ProveBackend backend = {"cuda", [] { return std::make_unique<PretendDevice>("cuda"); }, 1};
  RunOptions options;
  options.warmup = 1;
  options.repeat = 3;
  const ProveResult result = run_requests(backend, statement_, fast_config(), options);
  ASSERT_EQ(result.requests.size(), 5u);
  EXPECT_EQ(result.requests[3].device->device_elapsed, 4 * 55u);
  EXPECT_EQ(result.backend, "cuda");

  const ProveOutputs outputs = {"proof.json", "report.json", ""};
  const std::string text = prove_report(result, outputs, std::nullopt);
  EXPECT_EQ(codes(text), Codes{});
  const Json report = Json::parse(text);
  EXPECT_EQ(report["backend"], "cuda");
  EXPECT_EQ(report["device_stage_ns"]["last"]["total"], 5 * 55);
  EXPECT_TRUE(contract_flags(text).empty());

  const std::string shown = prove_summary(result, outputs);
  for (const char* part : {"backend    cuda: pretended", "a device (GPU-0123), number 0, SM 9.0",
                           "2 cubins, submitted as graphs", "device time)", "host gap",
                           "40 kernels, 2 graphs, 1 synchronisation",
                           "1 copy of 64 B to the device, 1 copy of 4.0 KiB back"}) {
    EXPECT_NE(shown.find(part), std::string::npos) << part << "\n" << shown;
  }
  const Json j = Json::parse(prove_summary_json(result, outputs));
  EXPECT_EQ(j["backend"], "cuda");
  EXPECT_EQ(j["device"]["sm"], 90);
  EXPECT_EQ(
      j["device"]["host_gap_ns"].get<uint64_t>(),
      j["resident_prove_ns"].get<uint64_t>() - j["device"]["device_elapsed_ns"].get<uint64_t>());
}

TEST_F(DeviceRun, NoProofUnderAnotherBackendsName) {
  const ProveBackend backend = {"cuda", [] { return make_cpu_backend(1); }, 1};
  EXPECT_THROW(run_requests(backend, statement_, fast_config(), {}), ContractError);
  const ProveBackend other = {"cpu", [] { return std::make_unique<PretendDevice>("cuda"); }, 1};
  EXPECT_THROW(run_requests(other, statement_, fast_config(), {}), ContractError);
  // What the backend's maker throws reaches the caller as it is.
  const ProveBackend none = {
      "cuda",
      []() -> std::unique_ptr<Backend> { throw EnvironmentError("NO_CUDA_DEVICE", "none"); }, 1};
  EXPECT_THROW(run_requests(none, statement_, fast_config(), {}), EnvironmentError);
}

TEST_F(DeviceRun, CpuRunsHaveNoDevice) {
  const ProveBackend backend = {"cpu", [] { return make_cpu_backend(1); }, 1};
  const ProveResult result = run_requests(backend, statement_, fast_config(), {});
  EXPECT_FALSE(result.device.has_value());
  EXPECT_FALSE(result.requests[0].device.has_value());
  const ProveOutputs outputs = {"proof.json", "", ""};
  EXPECT_TRUE(Json::parse(prove_summary_json(result, outputs))["device"].is_null());
  EXPECT_EQ(prove_summary(result, outputs).find("device"), std::string::npos);
}

}  // namespace
}  // namespace stwo

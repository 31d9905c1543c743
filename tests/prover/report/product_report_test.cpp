#include "prover/report/product_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "prover/hash/sha256.hpp"

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
  EXPECT_EQ(with("/backend", "cuda"), Codes{"REPORT_BACKEND"});
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

TEST_F(ReportRules, EveryMissingKeyIsFound) {
  // Every key of every object, found by walking the report itself.
  size_t n = 0;
  const Json flat = report_.flatten();
  std::set<std::string> pointers;
  for (const auto& [pointer, value] : flat.items()) {
    for (std::string p = pointer; !p.empty(); p = p.substr(0, p.rfind('/'))) pointers.insert(p);
  }
  for (const std::string& p : pointers) {
    const Pointer pointer(p);
    Json j = report_;
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
  EXPECT_GT(n, 150u);
}

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
  // Each violation says where.
  Json j = report_;
  j["requests"][3]["canonical_sha256"] = other;
  const auto violations = check_report(j.dump());
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].path, "/requests/3/canonical_sha256");
}

// Whatever single value is replaced by whatever type, the checker answers and does not throw.
TEST_F(ReportRules, AnyChangeGetsAnAnswer) {
  const Json flat = report_.flatten();
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
  for (const auto& [pointer, old] : flat.items()) {
    for (std::string p = pointer; !p.empty(); p = p.substr(0, p.rfind('/'))) {
      for (const Json& v : values) EXPECT_NO_THROW(with(p, v)) << p;
    }
  }
  const std::string text = write_product_report(sample());
  for (size_t n = 0; n < text.size() - 2; n += 97) {
    EXPECT_EQ(codes(text.substr(0, n)), Codes{"REPORT_JSON"}) << n;
  }
}

}  // namespace
}  // namespace stwo

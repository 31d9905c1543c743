// Makes a ledger of many runs for benchmarks of its questions: copies of one real report, with
// other times, products, environments and workloads.
//
//   make_ledger LEDGER REPORT RUNS [CAPTURE]
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "ledger/ingest/add_file.hpp"
#include "ledger/ingest/rows.hpp"
#include "ledger/store/ledger.hpp"
#include "prover/hash/sha256.hpp"

namespace {

using ledger::Json;

constexpr int64_t kProducts = 100;
constexpr int64_t kWorkloads = 18;
constexpr int64_t kEnvironments = 3;
constexpr int64_t kVerdicts = 200;
constexpr int64_t kSessionsPerVerdict = 40;
constexpr const char* kClasses[] = {"latency",    "narrow_deep",  "wide",
                                    "hash_heavy", "lookup_heavy", "irregular",
                                    "vm",         "extreme",      "sustained"};

std::string digest_of(const std::string& what) { return stwo::sha256_hex(what); }

std::string time_of(int64_t minutes) {
  const time_t seconds = 1'767'225'600 + minutes * 60;  // from 2026-01-01
  tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

/// Scales every time below `value` by `factor`.
void scale(Json& value, double factor) {
  if (value.is_number_unsigned()) {
    value = static_cast<uint64_t>(static_cast<double>(value.get<uint64_t>()) * factor);
  } else if (value.is_structured()) {
    for (Json& v : value) scale(v, factor);
  }
}

Json variant_of(const Json& report, int64_t i, std::mt19937_64& random) {
  Json r = report;
  const double factor = 0.9 + 0.2 * static_cast<double>(random() % 1000) / 1000;
  r["created_utc"] = time_of(i);
  r["identity"]["identity_sha256"] = digest_of("product" + std::to_string(i % kProducts));
  const int64_t w = i % kWorkloads;
  r["statement"]["workload_id"] = "bench_log" + std::to_string(10 + w) + "x100";
  r["statement"]["statement_sha256"] = digest_of("statement" + std::to_string(w));
  r["statement"]["structural_class"] = kClasses[w % 9];
  r["cpu"]["model_name"] = "bench processor " + std::to_string(i / 7 % kEnvironments);
  r["plan"]["cache_key_sha256"] = digest_of("plan" + std::to_string(w));
  for (const char* block : {"stage_ns", "device_stage_ns"}) {
    if (r.contains(block)) scale(r[block], factor);
  }
  for (Json& request : r["requests"]) {
    for (const char* key : {"resident_prove", "verified_request", "device_elapsed"}) {
      scale(request[key], factor);
    }
  }
  return r;
}

void add_verdicts(ledger::Ledger& target, std::mt19937_64& random) {
  ledger::Append append(target, "benchmark", "verdicts");
  const int64_t environment = append.database().query_integer("SELECT min(row) FROM environment");
  for (int64_t v = 0; v < kVerdicts; ++v) {
    const std::string content = "verdict " + std::to_string(v);
    const int64_t artifact = append.add_artifact("verdict", "verdict.json", content);
    const int64_t verdict =
        append.insert("verdict", {{"verdict_id", digest_of(content)},
                                  {"artifact", artifact},
                                  {"judge_id", ledger::new_ulid()},
                                  {"kind", std::string("verdict")},
                                  {"profile", std::string("judge")},
                                  {"created_utc", time_of(v * 50)},
                                  {"spec_sha256", digest_of("spec")},
                                  {"environment", environment},
                                  {"product_a", digest_of("product0")},
                                  {"product_b", digest_of("product1")},
                                  {"label_a", std::string("main")},
                                  {"label_b", std::string("candidate")},
                                  {"outcome", std::string(v % 3 == 0 ? "keep" : "inconclusive")},
                                  {"theta", 0.01},
                                  {"meets_minimum", int64_t{0}},
                                  {"meets_objective", int64_t{0}},
                                  {"headline_eligible", int64_t{0}}});
    append.insert("estimate", {{"verdict", verdict},
                               {"scope", std::string("portfolio")},
                               {"subject", std::string()},
                               {"ratio", 0.95},
                               {"low", 0.93},
                               {"high", 0.97}});
    for (const char* c : kClasses) {
      append.insert("estimate", {{"verdict", verdict},
                                 {"scope", std::string("class")},
                                 {"subject", std::string(c)},
                                 {"ratio", 0.95},
                                 {"low", 0.93},
                                 {"high", 0.97}});
    }
    for (int64_t s = 0; s < kSessionsPerVerdict; ++s) {
      const int64_t session =
          append.insert("session", {{"verdict", verdict},
                                    {"workload_id", std::string("bench_log10x100")},
                                    {"config", std::string("fast")},
                                    {"phase", std::string("round")},
                                    {"round", s / 4},
                                    {"slot", s % 4},
                                    {"arm", std::string(s % 2 == 0 ? "A" : "B")},
                                    {"report_sha256", digest_of("r" + std::to_string(random()))},
                                    {"value_ns", int64_t{5'000'000}},
                                    {"voided", int64_t{0}}});
      for (int64_t k = 0; k < 5; ++k) {
        append.insert("sample", {{"session", session},
                                 {"ordinal", k},
                                 {"verified_request_ns", int64_t{5'000'000} + k}});
      }
    }
  }
  append.commit();
}

int run(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "make_ledger: usage: make_ledger LEDGER REPORT RUNS [CAPTURE]\n");
    return 2;
  }
  std::ifstream file(argv[2], std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  const Json report = Json::parse(text.str());
  const int64_t n = std::atoll(argv[3]);
  ledger::set_tool_version("make_ledger");
  ledger::Ledger::init(argv[1]);
  ledger::Ledger target(argv[1], ledger::Access::kAppend);
  std::mt19937_64 random(1);
  for (int64_t i = 0; i < n; ++i) {
    const std::string content = variant_of(report, i, random).dump();
    ledger::Append append(target, "product_report", digest_of(content));
    ledger::Filing filing{append, digest_of(content), 0, 0, {}};
    filing.artifact = append.add_artifact("product_report", "report.json", content);
    ledger::add_product_report(filing, Json::parse(content), content);
    append.commit();
  }
  add_verdicts(target, random);
  if (argc > 4) {
    const ledger::AddResult added = ledger::add_file(target, argv[4]);
    std::printf("capture %s, %lld rows\n", added.id.c_str(), static_cast<long long>(added.rows));
  }
  std::printf("%lld runs, head %s\n", static_cast<long long>(n), target.head().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "make_ledger: %s\n", e.what());
    return 70;
  }
}

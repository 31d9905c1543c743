// Valid documents of every kind, for the tests of whatever reads documents. All of them are
// invented, but for the CPU report; the CUDA report describes the same statement with a device that
// does not exist. Every array has an element, and every nullable value a place where it is set.
#pragma once

#include <cmath>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string>

#include "ledger/documents/document.hpp"
#include "prover/hash/sha256.hpp"

namespace ledger::test {

inline std::string digest(const std::string& of) { return stwo::sha256_hex(of); }

inline Json sample_plan() {
  const auto launch = [](int ordinal, const char* stage, const char* kernel, const char* pass,
                         Json uses) {
    return Json{{"ordinal", ordinal},
                {"stage", stage},
                {"kernel", kernel},
                {"pass", pass},
                {"grid", {4, 1}},
                {"threads", 256},
                {"shared_bytes", 1024},
                {"stream", "main"},
                {"transcript_operations", 0},
                {"program_nodes", Json::array({ordinal})},
                {"uses", std::move(uses)}};
  };
  const auto use = [](const char* buffer, int read, int written) {
    return Json{{"buffer", buffer}, {"read_bytes", read}, {"written_bytes", written}};
  };
  const auto pass = [](const char* stage, const char* kernel, const char* name, int launches,
                       Json consumer) {
    return Json{{"stage", stage},       {"pass", name},
                {"kernel", kernel},     {"input_bytes", 1000},
                {"output_bytes", 2000}, {"reread_bytes", 0},
                {"temporary_bytes", 0}, {"launches", launches},
                {"barriers", 1},        {"retained_consumer", std::move(consumer)}};
  };
  const auto resource = [](const char* name, const char* region, const char* lifetime) {
    return Json{{"name", name},
                {"region", region},
                {"offset", 0},
                {"bytes", 4096},
                {"alignment", 256},
                {"lifetime", lifetime},
                {"producer", "fft_extend"},
                {"last_consumer", "hash_leaves"},
                {"mutable", true},
                {"alias_eligible", false},
                {"owner", "proof session"},
                {"unwind_path", "returned to the prepared shape"},
                {"stream", "main"},
                {"first_launch", 0},
                {"last_use_event", 2},
                {"cache_key", digest("key")},
                {"eviction_rule", "with its prepared shape"}};
  };
  return {
      {"schema", "stwo_plan_v1"},
      {"cache_key_sha256", digest("key")},
      {"program_sha256", digest("program")},
      {"semantic_sha256", digest("semantic")},
      {"schedule_version", 1},
      {"target",
       {{"sm", 90},
        {"device_uuid", ""},
        {"multiprocessors", 132},
        {"memory_bytes", 0},
        {"driver_version", 0},
        {"toolkit", "13.0.88"},
        {"host_toolchain", "Clang 14.0.6"},
        {"module_sha256", digest("module")}}},
      {"composition", "half_domain"},
      {"transcript_barriers", 2},
      {"memory",
       {{"tables", 4096},
        {"shape", 0},
        {"constants", 512},
        {"arena", 8192},
        {"arena_live_peak", 8000},
        {"terminal", 4096}}},
      {"launches",
       {launch(0, "trace_commit", "fft_extend", "lde", Json::array({use("twiddles", 64, 0)})),
        launch(1, "trace_commit", "fft_extend", "lde",
               {use("twiddles", 64, 0), use("columns", 0, 4096)}),
        launch(2, "trace_commit", "hash_leaves", "leaves",
               Json::array({use("columns", 4096, 0)}))}},
      {"pass_ledger",
       {pass("trace_commit", "fft_extend", "lde", 2, "hash_leaves: leaves"),
        pass("trace_commit", "hash_leaves", "leaves", 1, nullptr)}},
      {"resources",
       {resource("twiddles", "tables", "persistent"), resource("columns", "arena", "request")}}};
}

inline Json sample_counters() {
  const auto metric = [](const char* name, Json value, const char* unit, Json reason) {
    return Json{
        {"name", name}, {"value", std::move(value)}, {"unit", unit}, {"reason", std::move(reason)}};
  };
  const auto launch = [](int ordinal, const char* kernel, Json stage, Json registers,
                         Json metrics) {
    return Json{{"kernel", kernel},
                {"ordinal", ordinal},
                {"stage", std::move(stage)},
                {"grid", {1024, 1, 1}},
                {"block", {256, 1, 1}},
                {"dynamic_shared_bytes", 17408},
                {"registers_per_thread", std::move(registers)},
                {"metrics", std::move(metrics)}};
  };
  return {
      {"schema", "stwo_prof_counters_v1"},
      {"tool", {{"name", "stwo-prof"}, {"version", "0.1.0"}}},
      {"created_utc", "2026-03-04T05:06:07.890Z"},
      {"command", {"stwo", "prove", "--air", "wide_fibonacci"}},
      {"product", {{"identity_sha256", digest("identity")}, {"binary_sha256", digest("binary")}}},
      {"environment",
       {{"device_uuid", "GPU-01234567-89ab-cdef-0123-456789abcdef"},
        {"device_name", "Synthetic device"},
        {"sm", 90},
        {"driver_version", "580.95.05"}}},
      {"workload",
       {{"workload_id", "wide_fibonacci_log20x100"},
        {"statement_sha256", digest("statement")},
        {"config", "pow=10,blowup=1,queries=3,last=0,fold=1,lift=none"}}},
      {"report_sha256", digest("report")},
      {"source", {{"format", "ncu-csv"}, {"sha256", digest("csv")}, {"tool_version", "2025.3.1"}}},
      {"replayed", true},
      {"launches",
       {launch(0, "fft_extend", "trace_commit", 40,
               {metric("dram__bytes_read.sum", 4.5e9, "byte", nullptr),
                metric("sm__throughput.avg.pct_of_peak_sustained_elapsed", 31, "%", nullptr),
                metric("launch__waves_per_multiprocessor", nullptr, "", "n/a in the report")}),
        launch(1, "hash_leaves", nullptr, nullptr,
               Json::array({metric("dram__bytes_read.sum", 1.25e9, "byte", nullptr)}))}},
      {"diagnoses",
       {{{"kernel", "fft_extend"},
         {"diagnosis", "bandwidth"},
         {"confidence", "high"},
         {"margin", 0.21},
         {"evidence",
          {{{"name", "gpu__dram_throughput"}, {"value", 72.6}, {"threshold", 60}, {"unit", "%"}},
           {{"name", "rereads"}, {"value", nullptr}, {"threshold", nullptr}, {"unit", ""}}}},
         {"missing", Json::array()},
         {"prediction", "halving DRAM bytes cuts the duration by at least 35 %"}},
        {{"kernel", "hash_leaves"},
         {"diagnosis", "undetermined"},
         {"confidence", "low"},
         {"margin", nullptr},
         {"evidence", Json::array()},
         {"missing", Json::array({"sm__throughput.avg.pct_of_peak_sustained_elapsed"})},
         {"prediction", nullptr}}}}};
}

inline Json sample_arm(const std::string& label) {
  return {{"label", label},
          {"identity_sha256", digest("identity " + label)},
          {"binary_sha256", digest("binary " + label)},
          {"source_commit", std::string(40, 'a')},
          {"dirty", false}};
}

inline Json sample_judge_environment() {
  return {{"environment_id", digest("environment")},
          {"kind", "judge_host"},
          {"device_uuid", "GPU-01234567-89ab-cdef-0123-456789abcdef"},
          {"device_name", "Synthetic device"},
          {"sm", 90},
          {"driver_version", "580.95.05"},
          {"cpu_model", "Synthetic processor"},
          {"logical_cpus", 16},
          {"kernel", "6.1.0"}};
}

/// One session. For phase round its value is the middle of three samples.
inline Json sample_session(const std::string& workload, const std::string& phase, int round,
                           int slot, const std::string& arm, int value_ns, bool voided = false) {
  const std::string place =
      workload + phase + std::to_string(round) + '/' + std::to_string(slot) + arm;
  return {{"workload_id", workload},
          {"config", "fast"},
          {"phase", phase},
          {"round", round},
          {"slot", slot},
          {"arm", arm},
          {"report_sha256", digest(place)},
          {"value_ns", value_ns},
          {"samples_ns", {value_ns - 1000, value_ns + 2000, value_ns}},
          {"voided", voided},
          {"telemetry",
           {{{"metric", "sm_clock"},
             {"unit", "MHz"},
             {"samples", 30},
             {"min", 1755.0},
             {"mean", 1770.5},
             {"max", 1785.0}}}}};
}

/// A verdict with two workloads, each with one cold pair and two rounds, and a voided third round
/// of the first. Arm B takes `b_share` of arm A's time.
inline Json sample_verdict(double b_share = 0.7) {
  constexpr int kA[] = {1'000'000, 1'010'000};
  Json sessions = Json::array();
  Json rounds = Json::array();
  const auto add_round = [&](const std::string& workload, int round, bool voided) {
    // Even rounds run A B B A, odd ones B A A B.
    double log_a = 0;
    double log_b = 0;
    int n_a = 0;
    int n_b = 0;
    for (int slot = 0; slot < 4; ++slot) {
      const bool outer = slot == 0 || slot == 3;
      const bool is_a = outer == (round % 2 == 0);
      const int in_arm = is_a ? n_a++ : n_b++;
      const int value =
          is_a ? kA[in_arm] : static_cast<int>(b_share * static_cast<double>(kA[in_arm]));
      (is_a ? log_a : log_b) += std::log(value) / 2;
      sessions.push_back(
          sample_session(workload, "round", round, slot, is_a ? "A" : "B", value, voided));
    }
    if (voided) return;
    rounds.push_back(
        {{"workload_id", workload}, {"config", "fast"}, {"round", round}, {"d", log_b - log_a}});
  };
  const std::string latency = "wide_fibonacci_log8x16";
  const std::string wide = "wide_fibonacci_log16x2048";
  for (const std::string& workload : {latency, wide}) {
    sessions.push_back(sample_session(workload, "cold", 0, 0, "A", 900'000'000));
    sessions.push_back(sample_session(workload, "cold", 0, 1, "B", 880'000'000));
    for (int round = 0; round < 2; ++round) add_round(workload, round, false);
  }
  add_round(latency, 2, true);

  const auto estimate = [](const std::string& scope, const std::string& subject, double ratio) {
    return Json{{"scope", scope},
                {"subject", subject},
                {"ratio", ratio},
                {"low", ratio * 0.99},
                {"high", ratio * 1.01}};
  };
  Json missing = Json::array();
  for (const char* name :
       {"narrow_deep", "hash_heavy", "lookup_heavy", "irregular", "vm", "extreme", "sustained"}) {
    missing.push_back({{"structural_class", name}, {"reason", "no AIR of this class"}});
  }
  return {
      {"schema", "stwo_judge_verdict_v1"},
      {"kind", "verdict"},
      {"profile", "judge"},
      {"judge_id", "01JNFKZ3X8Q2V5W7Y9A0B1C2D3"},
      {"created_utc", "2026-03-04T05:06:07Z"},
      {"tool", {{"name", "judge"}, {"version", "0.1.0"}, {"source_commit", std::string(40, 'b')}}},
      {"supersedes", digest("an earlier verdict")},
      {"spec",
       {{"sha256", digest("spec")},
        {"rounds", 2},
        {"seed_sha256", digest("seed")},
        {"workloads",
         {{{"workload_id", latency}, {"config", "fast"}, {"structural_class", "latency"}},
          {{"workload_id", wide}, {"config", "fast"}, {"structural_class", "wide"}}}}}},
      {"environment", sample_judge_environment()},
      {"arms", {{"A", sample_arm("main")}, {"B", sample_arm("leaf fusion")}}},
      {"sessions", std::move(sessions)},
      {"rounds", std::move(rounds)},
      {"estimates",
       {estimate("workload", latency, b_share), estimate("workload", wide, b_share),
        estimate("class", "latency", b_share), estimate("class", "wide", b_share),
        estimate("portfolio", "", b_share), estimate("cold", "", 0.98)}},
      {"theta", 0.0125},
      {"outcome", "keep"},
      {"flags",
       {{"meets_minimum", true}, {"meets_objective", false}, {"headline_eligible", false}}},
      {"classes_missing", std::move(missing)},
      {"reasons",
       {{{"code", "CLASSES_MISSING"},
         {"scope", nullptr},
         {"observed", "2 classes"},
         {"allowed", "9 classes"}},
        {{"code", "THERMAL"},
         {"scope", {{"workload_id", latency}, {"round", 2}, {"slot", 1}}},
         {"observed", "0x40"},
         {"allowed", nullptr}}}},
      {"artifacts", Json::array({{{"sha256", digest("report")}, {"kind", "product_report"}}})}};
}

/// The same workloads with one arm: no comparison.
inline Json sample_screen() {
  Json j = sample_verdict();
  j["kind"] = "screen";
  j["profile"] = "screen";
  j["outcome"] = "screen";
  j["supersedes"] = nullptr;
  j["theta"] = nullptr;
  j["arms"]["B"] = nullptr;
  j["flags"]["meets_minimum"] = false;
  j["rounds"] = Json::array();
  j["estimates"] = Json::array();
  Json sessions = Json::array();
  for (const Json& s : j["sessions"]) {
    if (s.at("arm") == "A") sessions.push_back(s);
  }
  j["sessions"] = std::move(sessions);
  return j;
}

inline Json sample_calibration() {
  return {{"schema", "stwo_judge_calibration_v1"},
          {"judge_id", "01JNFKZ3X8Q2V5W7Y9A0B1C2D3"},
          {"created_utc", "2026-03-04T05:06:07Z"},
          {"tool", {{"name", "judge"}, {"version", "0.1.0"}}},
          {"environment", sample_judge_environment()},
          {"structural_class", "wide"},
          {"product", sample_arm("main")},
          {"rounds", 8},
          {"low", -0.00625},
          {"high", 0.004},
          {"delta", 0.00625},
          {"theta", 0.0125},
          {"passed", true},
          {"artifacts", Json::array({{{"sha256", digest("report")}, {"kind", "product_report"}}})}};
}

inline std::string document_data(const std::string& file) {
  std::ifstream in(std::string(STWO_TEST_DOCUMENTS_DATA) + '/' + file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}
inline std::string sample_cpu_report_text() { return document_data("cpu_report.json"); }
inline std::string sample_cuda_report_text() { return document_data("cuda_report.json"); }

}  // namespace ledger::test

// Every gate fails alone.
#include "prof/report/gates.hpp"

#include <gtest/gtest.h>

#include "tests/prof/report/sample_reports.hpp"

namespace prof {
namespace {

using test::analysis_of;
using test::Json;

std::vector<std::string> codes(const std::vector<Gate>& gates, GateState state) {
  std::vector<std::string> out;
  for (const Gate& gate : gates) {
    if (gate.state == state) out.push_back(gate.code);
  }
  return out;
}
const Gate& gate_of(const std::vector<Gate>& gates, const std::string& code) {
  for (const Gate& gate : gates) {
    if (gate.code == code) return gate;
  }
  throw std::runtime_error("no gate " + code);
}
using Codes = std::vector<std::string>;

TEST(Gates, GoodRunPassesInTheOrderOfAttribution) {
  EXPECT_EQ(codes(analysis_of(test::cuda_json()).gates, GateState::kPass),
            (Codes{"GATE_PROOF_IDENTITY", "GATE_VERIFICATION", "GATE_ORACLE", "GATE_AOT",
                   "GATE_DEVICE", "GATE_FALLBACKS", "GATE_TERMINAL_D2H", "GATE_NO_JIT",
                   "GATE_SOURCE", "GATE_ALLOCATIONS", "GATE_ADMISSION"}));
}

struct Fault {
  const char* gate;
  const char* found;  ///< part of what the gate says
  void (*apply)(Json& report);
};

const Fault kFaults[] = {
    {"GATE_VERIFICATION", "rejected the proof",
     [](Json& r) {
       r["proof"]["verified"] = false;
       test::make_ineligible(r);
     }},
    {"GATE_ORACLE", "stwo 2.3.0 rejected it",
     [](Json& r) { r["proof"]["oracle"]["accepted"] = false; }},
    {"GATE_AOT", "/aot/misses: kernels were missing from the store (expected 0, found 3)",
     [](Json& r) { r["aot"]["misses"] = 3; }},
    {"GATE_AOT", "/aot/launch_failures", [](Json& r) { r["aot"]["launch_failures"] = 1; }},
    {"GATE_AOT", "/aot/strict",
     [](Json& r) {
       r["aot"]["strict"] = false;
       test::make_ineligible(r);
     }},
    {"GATE_AOT", "/modules/4/kind: module fri is ptx",
     [](Json& r) {
       r["modules"][4]["kind"] = "ptx";
       test::make_ineligible(r);
     }},
    {"GATE_DEVICE", "MIG", [](Json& r) { r["device"]["mig"] = true; }},
    {"GATE_DEVICE", "module fft is for SM 80, the device has 90",
     [](Json& r) { r["modules"][3]["sm"] = 80; }},
    {"GATE_FALLBACKS", "/counters/cpu_fallback_attempts/2",
     [](Json& r) { r["counters"]["cpu_fallback_attempts"][2] = 1; }},
    {"GATE_TERMINAL_D2H", "/transfers/intermediate_d2h_operations/2",
     [](Json& r) {
       for (int i = 2; i < 5; ++i) {
         r["transfers"]["intermediate_d2h_operations"][i] = 1;
         r["transfers"]["d2h_operations"][i] = 2;
       }
     }},
    {"GATE_TERMINAL_D2H", "/transfers/terminal_d2h_operations/0",
     [](Json& r) {
       r["transfers"]["terminal_d2h_operations"][0] = 2;
       r["transfers"]["d2h_operations"][0] = 2;
     }},
    {"GATE_NO_JIT", "/counters/jit_compiles/0",
     [](Json& r) { r["counters"]["jit_compiles"][0] = 1; }},
    {"GATE_NO_JIT", "/modules/9/loaded_in",
     [](Json& r) { r["modules"][9]["loaded_in"] = "request"; }},
    {"GATE_NO_JIT", "/counters/module_loads/1",
     [](Json& r) { r["counters"]["module_loads"][1] = 1; }},
    {"GATE_SOURCE", "changed checkout of 1111",
     [](Json& r) {
       r["identity"]["dirty"] = true;
       r["identity"]["dirty_sha256"] = std::string(64, 'a');
       r["not_applicable"].erase("/identity/dirty_sha256");
       test::seal_identity(r);
       test::make_ineligible(r);
     }},
    {"GATE_ALLOCATIONS", "/counters/allocations/3",
     [](Json& r) { r["counters"]["allocations"][3] = 1; }},
    {"GATE_ADMISSION", "more than the capacity", [](Json& r) { r["memory"]["admitted"] = false; }},
};

class GateFault : public ::testing::TestWithParam<Fault> {};

TEST_P(GateFault, FailsAlone) {
  Json report = test::cuda_json();
  GetParam().apply(report);
  const ReportAnalysis analysis = analysis_of(report);
  EXPECT_EQ(codes(analysis.gates, GateState::kFail), Codes{GetParam().gate});
  EXPECT_EQ(codes(analysis.gates, GateState::kUnknown), Codes{});
  EXPECT_TRUE(analysis.has_failed_gate());
  const Gate& gate = gate_of(analysis.gates, GetParam().gate);
  EXPECT_NE(gate.found.find(GetParam().found), std::string::npos) << gate.found;
  EXPECT_NE(gate.mend, "");
  // It is the first thing to look at, and the page says so.
  EXPECT_EQ(analysis.next.front().code, "NEXT_GATE");
  EXPECT_EQ(analysis.next.front().message.rfind(std::string(GetParam().gate) + " fails: ", 0), 0U);
  EXPECT_NE(report_text(analysis).find("A gate fails: "), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, GateFault, ::testing::ValuesIn(kFaults));

TEST(Gates, ProofOfTheBaselineMustBeTheSame) {
  const Json baseline = test::cuda_json();
  EXPECT_EQ(codes(test::comparison_of(baseline, baseline).gates, GateState::kFail), Codes{});
  Json other = baseline;
  const std::string digest(64, 'b');
  other["proof"]["canonical_sha256"] = digest;
  for (Json& request : other["requests"]) request["canonical_sha256"] = digest;
  const ReportAnalysis analysis = test::comparison_of(baseline, other);
  EXPECT_EQ(codes(analysis.gates, GateState::kFail), Codes{"GATE_PROOF_IDENTITY"});
  EXPECT_NE(gate_of(analysis.gates, "GATE_PROOF_IDENTITY").found.find("the baseline's proof"),
            std::string::npos);
  // Alone, it is as good as any.
  EXPECT_EQ(codes(analysis_of(other).gates, GateState::kFail), Codes{});
}

TEST(Gates, WhatIsNotKnownIsNotPassed) {
  Json report = test::cuda_json();
  report["proof"]["oracle"] = nullptr;
  report["not_applicable"]["/proof/oracle"] = "no receipt was given";
  const ReportAnalysis analysis = analysis_of(report);
  EXPECT_EQ(codes(analysis.gates, GateState::kUnknown), Codes{"GATE_ORACLE"});
  EXPECT_EQ(gate_of(analysis.gates, "GATE_ORACLE").found, "no receipt was given");
  EXPECT_FALSE(analysis.has_failed_gate());

  report = test::cuda_json();
  for (const char* key : {"source_commit", "source_tree", "dirty"}) {
    report["identity"][key] = nullptr;
    report["not_applicable"][std::string("/identity/") + key] = "built outside a checkout";
  }
  test::seal_identity(report);
  test::make_ineligible(report);
  EXPECT_EQ(codes(analysis_of(report).gates, GateState::kUnknown), Codes{"GATE_SOURCE"});
}

TEST(Gates, RunWithoutDevice) {
  const std::vector<Gate> gates = analysis_of(test::cpu_json()).gates;
  EXPECT_EQ(codes(gates, GateState::kUnknown),
            (Codes{"GATE_ORACLE", "GATE_AOT", "GATE_DEVICE", "GATE_FALLBACKS", "GATE_TERMINAL_D2H",
                   "GATE_NO_JIT", "GATE_ALLOCATIONS"}));
  EXPECT_EQ(gate_of(gates, "GATE_DEVICE").found, "the CPU backend has no device");
  EXPECT_EQ(gate_of(gates, "GATE_DEVICE").mend, "run with --backend cuda");
  EXPECT_EQ(codes(gates, GateState::kFail),
            Codes{"GATE_SOURCE"});  // that sample was built from changes
}

}  // namespace
}  // namespace prof

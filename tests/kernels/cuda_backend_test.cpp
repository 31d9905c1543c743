// Whole proofs on the emulated device against the CPU backend, byte for byte.
#include "kernels/cuda_backend.hpp"

#include <gtest/gtest.h>

#include "kernels/emulator/emulated_runtime.hpp"
#include "kernels/emulator/emulator.hpp"
#include "prover/cpu/cpu_backend.hpp"
#include "prover/hash/hex.hpp"
#include "prover/proof/proof_json.hpp"
#include "prover/prove.hpp"
#include "prover/verify.hpp"
#include "tests/support/statements.hpp"

namespace stwo::gpu {
namespace {

struct Case {
  const char* name;
  Statement statement;
  PcsConfig config;
};

using test::fibonacci;
using test::pair;
using test::sequence;

std::vector<Case> cases() {
  return {
      {"smallest", fibonacci(1, 3), fast_config()},
      {"log2", fibonacci(2, 3), fast_config()},
      {"log4", fibonacci(4, 3), fast_config()},
      {"no_constraints", fibonacci(5, 2), fast_config()},
      {"one_column", fibonacci(6, 1), fast_config()},
      {"reduced_channel", fibonacci(6, 17, HashVariant::kBlake2sM31, true), fast_config()},
      {"many_columns", fibonacci(5, 100), fast_config()},
      {"secure_queries", fibonacci(8, 33), parse_config("pow=6,queries=70")},
      {"blowup2", fibonacci(6, 16), parse_config("blowup=2,queries=20")},
      {"blowup3", fibonacci(7, 5), parse_config("blowup=3,queries=5")},
      {"fold3", fibonacci(8, 4), parse_config("fold=3,queries=10")},
      {"fold4_last2", fibonacci(9, 4), parse_config("fold=4,last=2,queries=40")},
      {"fold2_last3", fibonacci(10, 4), parse_config("fold=2,last=3,queries=12")},
      {"two_layers_above_tail", fibonacci(11, 4), parse_config("queries=9")},
      {"rows12", fibonacci(12, 3), parse_config("queries=9")},
      {"strided4", fibonacci(13, 3), parse_config("queries=9")},
      {"fold6", fibonacci(13, 3), parse_config("fold=6,queries=9")},
      {"pair_same", pair(5, 4, 5, 6, 1), parse_config("queries=9")},
      {"pair_smaller", pair(7, 4, 5, 6, 1), parse_config("queries=9")},
      {"pair_larger", pair(4, 4, 8, 6, 1), parse_config("queries=9")},
      {"pair_disabled", pair(6, 4, 8, 6, 0), parse_config("queries=9")},
      {"sequence", sequence(6, 5, 0), parse_config("queries=9")},
      {"sequence_lifted", sequence(5, 5, 3), parse_config("queries=9,lift=8")},
      {"sequence_unused_small", sequence(6, 5, 4), parse_config("queries=9")},
      {"sequence_unused_large", sequence(5, 5, 8), parse_config("queries=30")},
  };
}

class EmulatedProof : public testing::TestWithParam<Case> {};

TEST_P(EmulatedProof, EqualsTheCpuProof) {
  const Case& c = GetParam();
  const auto shape = make_shape(c.statement, c.config);
  std::vector<std::pair<std::string, Digest>> cpu_steps;
  const auto cpu = make_cpu_backend(1);
  const StarkProof expected = prove(
      *cpu->prepare(shape), nullptr,
      [&](std::string_view step, const Digest& digest) { cpu_steps.emplace_back(step, digest); });

  auto emulated = make_emulated_runtime();
  {
    CudaBackend backend(std::move(emulated.runtime), "test");
    const auto prepared = backend.prepare(shape);
    std::vector<std::pair<std::string, Digest>> steps;
    const auto observer = [&](std::string_view step, const Digest& digest) {
      steps.emplace_back(step, digest);
    };
    for (int request = 0; request < 2; ++request) {
      steps.clear();
      StarkProof proof;
      try {
        proof = prove(*prepared, nullptr, observer);
      } catch (const std::exception& e) {
        ADD_FAILURE() << e.what();
      }
      for (size_t i = 0; i < std::min(steps.size(), cpu_steps.size()); ++i) {
        ASSERT_EQ(steps[i].first, cpu_steps[i].first) << i;
        ASSERT_EQ(to_hex(steps[i].second), to_hex(cpu_steps[i].second)) << steps[i].first;
      }
      ASSERT_EQ(steps.size(), cpu_steps.size());
      ASSERT_EQ(write_proof_json(proof), write_proof_json(expected));
      const RequestTelemetry t = backend.last_request();
      EXPECT_EQ(t.transfers.d2h_operations, 1u);
      EXPECT_EQ(t.transfers.terminal_d2h_operations, 1u);
      EXPECT_EQ(t.transfers.h2d_operations, 0u);
      EXPECT_EQ(t.counters.allocations, 0u);
      EXPECT_EQ(t.counters.module_loads, 0u);
      EXPECT_EQ(t.counters.sync_calls, 1u);
    }
  }
  EXPECT_EQ(emulated.device->live(), EmulatedDevice::Live());
  EXPECT_TRUE(emulated.device->violations().empty());
}

INSTANTIATE_TEST_SUITE_P(Shapes, EmulatedProof, testing::ValuesIn(cases()),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace stwo::gpu

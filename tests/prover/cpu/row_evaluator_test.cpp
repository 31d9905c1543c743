// The SIMD row run of a script that uses every request, against the scalar evaluator row by row.

#include <gtest/gtest.h>

#include <vector>

#include "prover/air/component.hpp"
#include "prover/circle/domain.hpp"
#include "prover/cpu/kernels.hpp"
#include "prover/cpu/memory.hpp"
#include "tests/support/random.hpp"

namespace stwo {
namespace air {
#include "tests/support/row_scripts.inc"
}  // namespace air

namespace cpu {
namespace {

TEST(RowEvaluator, MatchesThePointEvaluatorOnEveryRow) {
  test::Random rng;
  STWO_TRACE_SEED();
  const ScriptComponent<air::EveryRequestScript> component("every", 1, {});
  const ScriptInfo& info = component.info();
  ASSERT_EQ(info.n_constraints(), 4u);
  EXPECT_EQ(info.max_degree(), 3u);
  for (const uint32_t trace_log : {1u, 2u, 4u, 6u}) {
    for (uint32_t blowup = 1; blowup <= 2; ++blowup) {
      const uint32_t domain_log = trace_log + blowup;
      const uint64_t rows = uint64_t{1} << domain_log;
      std::vector<Buffer<M31>> storage;
      const auto column = [&]() -> const M31* {
        Buffer<M31>& b = storage.emplace_back(rows);
        for (uint64_t i = 0; i < rows; ++i) b[i] = rng.m31();
        return b.data();
      };
      ConstraintRows args;
      args.tree_columns.resize(info.mask_offsets.size());
      for (size_t t = 1; t < info.mask_offsets.size(); ++t) {
        for (size_t c = 0; c < info.mask_offsets[t].size(); ++c) {
          args.tree_columns[t].push_back(column());
        }
      }
      args.preprocessed = {column()};
      std::vector<QM31> weights;
      for (size_t i = 0; i < info.n_constraints(); ++i) weights.push_back(rng.qm31());
      args.coefficients = weights.data();
      const M31 inverse[2] = {M31(3), M31(5)};
      std::copy(std::begin(inverse), std::end(inverse), args.inverse_vanishing);
      args.trace_log_size = trace_log;
      args.domain_log_size = domain_log;
      SecureColumns out;
      std::vector<Buffer<M31>> out_storage;
      for (uint32_t k = 0; k < 4; ++k) out_storage.emplace_back(std::max<uint64_t>(rows, 64));
      for (uint32_t k = 0; k < 4; ++k) args.out[k] = out.c[k] = out_storage[k].data();
      const uint64_t evaluated = uint64_t{2} << trace_log;
      component.kernels().constraints(component.script(), args, 0, evaluated);

      const ConstraintProgram program = component.record();
      for (uint64_t row = 0; row < evaluated; ++row) {
        std::vector<std::vector<std::vector<QM31>>> samples(info.mask_offsets.size());
        ComponentMask mask;
        for (size_t t = 0; t < info.mask_offsets.size(); ++t) {
          for (size_t c = 0; c < info.mask_offsets[t].size(); ++c) {
            auto& values = samples[t].emplace_back();
            for (const int offset : info.mask_offsets[t][c]) {
              values.emplace_back(args.tree_columns[t][c][offset_storage_index(
                  static_cast<uint32_t>(row), offset, trace_log, domain_log)]);
            }
          }
          mask.trees.emplace_back(samples[t]);
        }
        mask.preprocessed = {QM31(args.preprocessed[0][row])};
        const auto values = program.evaluate(mask, info.preprocessed_requests);
        QM31 expected;
        for (size_t i = 0; i < values.size(); ++i) expected += weights[i] * values[i];
        expected = expected * inverse[row >> trace_log];
        ASSERT_EQ(out.at(row), expected) << "log " << trace_log << " row " << row;
      }
    }
  }
}

TEST(RowEvaluator, ScriptWithoutTraceGeneratorSaysSo) {
  const ScriptComponent<air::EveryRequestScript> component("every", 1, {});
  EXPECT_THROW(component.kernels().trace(component.script(), {}, 0, 1), ContractError);
}

}  // namespace
}  // namespace cpu
}  // namespace stwo

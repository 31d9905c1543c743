// Composition steps against their formulas in the CPU prover (cpu_session.cpp,
// compose_half_domain).
#include "kernels/composition/composition_args.hpp"

#include <algorithm>

#include "prover/circle/domain.hpp"
#include "tests/kernels/support/reference.hpp"

namespace stwo::gpu {
namespace {

using namespace stwo::test;

STWO_KERNEL_TESTS(CompositionKernel);

TEST_P(CompositionKernel, ConstraintWeights) {
  for (const uint32_t n : {1u, 2u, 255u, 256u, 257u, 1000u}) {
    for (const QM31 alpha : {rng.qm31(), QM31::zero(), QM31::one()}) {
      SCOPED_TRACE(n);
      Words expected(size_t{4} * n);
      QM31 power = QM31::one();
      for (uint32_t k = n; k-- > 0; power *= alpha) put(expected, size_t{4} * k, power);
      const DeviceWords coefficient = DeviceWords::input(words_of(std::vector<QM31>{alpha}));
      const DeviceWords weights = DeviceWords::output(expected.size());
      ConstraintWeightsArgs args{};
      args.coefficient = coefficient.at();
      args.weights = weights.at();
      args.n = n;
      launch("constraint_weights", {blocks_for(n, 256), 1, 256, 0}, args);
      weights.expect(expected);
    }
  }
}

TEST_P(CompositionKernel, LiftAdd) {
  for (const uint64_t rows : {2u, 5u, 255u, 256u, 257u, 1025u}) {
    for (uint32_t shift = 0; shift <= 3; ++shift) {
      for (const uint32_t accumulate : {0u, 1u}) {
        SCOPED_TRACE(std::to_string(rows) + " rows, shift " + std::to_string(shift));
        const uint64_t source_rows = ((rows >> (shift + 1)) << 1) + 2;
        Columns source(0, source_rows + rng.below(4), source_rows, 4);
        source.randomise(rng);
        Columns target(0, rows + rng.below(4), rows, 4);
        if (accumulate != 0) target.randomise(rng);
        Columns expected = target;
        for (uint32_t k = 0; k < 4; ++k) {
          for (uint64_t i = 0; i < rows; ++i) {
            const M31 value(source.column(k)[lifted_position(i, shift, 0)]);
            const M31 old = accumulate != 0 ? M31(target.column(k)[i]) : M31(0);
            expected.column(k)[i] = (old + value).v;
          }
        }
        const DeviceWords from = DeviceWords::input(source.words);
        const DeviceWords to = DeviceWords::updated(target.words);
        LiftAddArgs args{};
        args.source = from.at();
        args.target = to.at();
        args.source_stride = source.stride;
        args.target_stride = target.stride;
        args.rows = rows;
        args.shift = shift;
        args.accumulate = accumulate;
        launch("lift_add", {blocks_for(rows, 256), 1, 256, 0}, args);
        to.expect(expected.words);
      }
    }
  }
}

TEST_P(CompositionKernel, FillColumns) {
  for (const uint64_t rows : {1u, 2u, 255u, 256u, 257u}) {
    for (const uint32_t count : {1u, 3u, 7u}) {
      for (const uint32_t grid_y : {1u, 2u, count}) {
        const uint32_t value = rng.m31().v;
        Columns expected(3, rows + 5, rows, count);
        for (uint32_t c = 0; c < count; ++c) std::fill_n(expected.column(c), rows, value);
        const DeviceWords base = DeviceWords::output(expected.words.size());
        FillArgs args{};
        args.base = base.at(3);
        args.stride = expected.stride;
        args.rows = rows;
        args.n_columns = count;
        args.value = value;
        launch("fill_columns", {blocks_for(rows, 256), grid_y, 256, 0}, args);
        base.expect(expected.words);
      }
    }
  }
}

TEST_P(CompositionKernel, ConstantAndShift) {
  for (const uint32_t log : {1u, 2u, 7u, 8u, 9u}) {
    for (uint32_t blowup = 1; blowup <= 2; ++blowup) {
      SCOPED_TRACE("log " + std::to_string(log) + " blowup " + std::to_string(blowup));
      const uint64_t rows = uint64_t{1} << log;
      const uint64_t all = rows << blowup;
      const M31 s = canonic_vanishing(CanonicCoset{log + blowup}.at_storage(0).x, log);
      // The composition quotient of the first block and one row more; the extended first block,
      // whose own block is not there.
      Columns quotient(0, rows + 1 + rng.below(3), rows + 1, 4);
      quotient.randomise(rng);
      Columns left(0, all + rng.below(3), all, 4);
      left.randomise(rng);
      for (uint32_t k = 0; k < 4; ++k) std::fill_n(left.column(k), rows, kPoison);
      Columns constants(0, 2 + rng.below(3), 2, 4);
      Columns expected = left;
      Columns expected_constants = constants;
      for (uint32_t k = 0; k < 4; ++k) {
        const M31 c =
            (M31(left.column(k)[rows]) - M31(quotient.column(k)[rows])) * (s + s).inverse();
        std::fill_n(expected_constants.column(k), 2, c.v);
        for (uint64_t i = 0; i < all; ++i) {
          const M31 r(i < rows ? quotient.column(k)[i] : left.column(k)[i]);
          expected.column(k)[i] = (r - s * c).v;
        }
      }
      const DeviceWords quotient_words = DeviceWords::input(quotient.words);
      const DeviceWords left_words = DeviceWords::updated(left.words);
      const DeviceWords constant_words = DeviceWords::output(constants.words.size());
      CompositionConstantArgs constant{};
      constant.extended = left_words.at(rows);
      constant.extended_stride = left.stride;
      constant.quotient = quotient_words.at(rows);
      constant.quotient_stride = quotient.stride;
      constant.constants = constant_words.at();
      constant.constant_stride = constants.stride;
      constant.half_inverse = (s + s).inverse().v;
      launch("composition_constant", {1, 1, 32, 0}, constant);
      constant_words.expect(expected_constants.words, "constants");
      CompositionShiftArgs shift{};
      shift.first = quotient_words.at();
      shift.first_stride = quotient.stride;
      shift.first_rows = rows;
      shift.base = left_words.at();
      shift.stride = left.stride;
      shift.rows = all;
      shift.constants = constant_words.at();
      shift.constant_stride = constants.stride;
      shift.vanishing = s.v;
      launch("composition_shift", {blocks_for(all, 256), 4, 256, 0}, shift);
      left_words.expect(expected.words, "left");
    }
  }
}

}  // namespace
}  // namespace stwo::gpu

// Folds against what they mean for the folded polynomial.

#include "prover/fri/fold.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "prover/circle/domain.hpp"
#include "prover/poly/circle_fft.hpp"
#include "tests/support/random.hpp"

namespace stwo {
namespace {

/// Coefficients of 2 (g + beta h), where coefficients 2j belong to g and 2j + 1 to h: the lowest
/// basis factor (y on the circle, x on the line) splits off.
std::vector<QM31> folded_coefficients(const std::vector<QM31>& coeffs, QM31 beta) {
  std::vector<QM31> out;
  for (size_t j = 0; j < coeffs.size(); j += 2) {
    const QM31 v = coeffs[j] + beta * coeffs[j + 1];
    out.push_back(v + v);
  }
  return out;
}

class Fold : public ::testing::TestWithParam<uint32_t> {
 protected:
  test::Random rng_;
};
INSTANTIATE_TEST_SUITE_P(SmallLogs, Fold, ::testing::Range(1u, 8u));

TEST_P(Fold, CircleIntoLine) {
  STWO_TRACE_SEED();
  const uint32_t log = GetParam();
  const std::vector<QM31> coeffs = rng_.qm31_vector(size_t{1} << log);
  const QM31 beta = rng_.qm31();
  std::vector<QM31> values = coeffs;
  evaluate(values);
  std::vector<QM31> expected = folded_coefficients(coeffs, beta);
  line_evaluate(expected);
  EXPECT_EQ(fold_layer(FriLayerKind::kCircle, values, log, beta), expected);
}

TEST_P(Fold, Line) {
  STWO_TRACE_SEED();
  const uint32_t log = GetParam();
  const std::vector<QM31> coeffs = rng_.qm31_vector(size_t{1} << log);
  const QM31 beta = rng_.qm31();
  std::vector<QM31> values = coeffs;
  line_evaluate(values);
  std::vector<QM31> expected = folded_coefficients(coeffs, beta);
  line_evaluate(expected);
  EXPECT_EQ(fold_layer(FriLayerKind::kLine, values, log, beta), expected);
}

TEST_P(Fold, BlocksAreRepeatedLayerFolds) {
  STWO_TRACE_SEED();
  const uint32_t log = GetParam();
  for (const FriLayerKind kind : {FriLayerKind::kCircle, FriLayerKind::kLine}) {
    const std::vector<QM31> values = rng_.qm31_vector(size_t{1} << log);
    const QM31 beta = rng_.qm31();
    std::vector<QM31> layer = values;
    QM31 power = beta;
    for (uint32_t k = 0; k <= log; ++k) {
      const size_t block_size = size_t{1} << k;
      for (uint32_t b = 0; b < layer.size(); ++b) {
        EXPECT_EQ(
            fold_block(kind, std::span(values).subspan(b * block_size, block_size), log, b, beta),
            layer[b]);
      }
      if (k == log) break;
      layer = fold_layer(k == 0 ? kind : FriLayerKind::kLine, layer, log - k, power);
      power = power * power;
    }
  }
}

TEST_P(Fold, KeepsTheDegreeBound) {
  STWO_TRACE_SEED();
  const uint32_t log = GetParam();
  if (log < 3) return;
  std::vector<QM31> values = rng_.qm31_vector(size_t{1} << (log - 1));
  values.resize(size_t{1} << log);
  evaluate(values);
  std::vector<QM31> folded = fold_layer(FriLayerKind::kCircle, values, log, rng_.qm31());
  line_interpolate(folded);
  for (size_t j = folded.size() / 2; j < folded.size(); ++j) EXPECT_TRUE(folded[j].is_zero());
}

TEST(FoldPair, Definition) {
  test::Random rng;
  STWO_TRACE_SEED();
  const QM31 g = rng.qm31();
  const QM31 h = rng.qm31();
  const QM31 beta = rng.qm31();
  const M31 y(12345);
  const QM31 two = g + beta * h;
  EXPECT_EQ(fold_pair(g + h * y, g - h * y, y.inverse(), beta), two + two);
}

}  // namespace
}  // namespace stwo

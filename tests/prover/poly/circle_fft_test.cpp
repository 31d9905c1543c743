// The reference FFT against direct evaluation of its basis.

#include "prover/poly/circle_fft.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "prover/circle/domain.hpp"
#include "prover/errors.hpp"
#include "tests/support/random.hpp"

namespace stwo {
namespace {

QM31 direct_sum(std::span<const M31> coeffs, const CirclePoint<QM31>& p) {
  QM31 sum;
  for (uint32_t j = 0; j < coeffs.size(); ++j) sum += evaluate_basis_at_point(j, p) * coeffs[j];
  return sum;
}

TEST(CircleBasis, Values) {
  test::Random rng;
  STWO_TRACE_SEED();
  const auto p = rng.secure_point();
  const QM31 x = p.x;
  const QM31 y = p.y;
  const QM31 two_x2_1 = x * x + x * x - QM31::one();
  EXPECT_EQ(evaluate_basis_at_point(0, p), QM31::one());
  EXPECT_EQ(evaluate_basis_at_point(1, p), y);
  EXPECT_EQ(evaluate_basis_at_point(2, p), x);
  EXPECT_EQ(evaluate_basis_at_point(3, p), x * y);
  EXPECT_EQ(evaluate_basis_at_point(4, p), two_x2_1);
  EXPECT_EQ(evaluate_basis_at_point(7, p), two_x2_1 * x * y);
  EXPECT_EQ(evaluate_basis_at_point(8, p), double_x(two_x2_1));
}

class CircleFft : public ::testing::TestWithParam<uint32_t> {
 protected:
  test::Random rng_;
};
INSTANTIATE_TEST_SUITE_P(SmallLogs, CircleFft, ::testing::Range(1u, 7u));

TEST_P(CircleFft, EvaluateIsTheBasisSum) {
  STWO_TRACE_SEED();
  const CanonicCoset domain{GetParam()};
  const std::vector<M31> coeffs = rng_.m31_vector(domain.size());
  std::vector<M31> values = coeffs;
  evaluate(values);
  for (uint32_t s = 0; s < domain.size(); ++s) {
    const auto p = to_secure(domain.at_storage(s));
    ASSERT_EQ(QM31(values[s]), direct_sum(coeffs, p)) << s;
  }
  interpolate(values);
  EXPECT_EQ(values, coeffs);
}

TEST_P(CircleFft, SecureValuesAreFourColumns) {
  STWO_TRACE_SEED();
  const size_t n = size_t{1} << GetParam();
  const std::vector<QM31> coeffs = rng_.qm31_vector(n);
  std::vector<QM31> values = coeffs;
  evaluate(values);
  for (uint32_t k = 0; k < 4; ++k) {
    std::vector<M31> column(n);
    for (size_t i = 0; i < n; ++i) column[i] = coeffs[i].coordinate(k);
    evaluate(column);
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(values[i].coordinate(k), column[i]);
  }
  interpolate(values);
  EXPECT_EQ(values, coeffs);
}

TEST_P(CircleFft, EvalAtPoint) {
  STWO_TRACE_SEED();
  const size_t n = size_t{1} << GetParam();
  const std::vector<M31> coeffs = rng_.m31_vector(n);
  const auto p = rng_.secure_point();
  EXPECT_EQ(eval_at_point(std::span<const M31>(coeffs), p), direct_sum(coeffs, p));
  std::vector<QM31> secure(coeffs.begin(), coeffs.end());
  EXPECT_EQ(eval_at_point(std::span<const QM31>(secure), p), direct_sum(coeffs, p));
}

TEST_P(CircleFft, LowDegreeExtensionIsTheSamePolynomial) {
  STWO_TRACE_SEED();
  const uint32_t log = GetParam();
  const std::vector<M31> values = rng_.m31_vector(size_t{1} << log);
  std::vector<M31> coeffs = values;
  interpolate(coeffs);
  for (const uint32_t blowup : {0u, 1u, 3u}) {
    const std::vector<M31> extended = low_degree_extension(values, blowup);
    ASSERT_EQ(extended.size(), values.size() << blowup);
    const CanonicCoset domain{log + blowup};
    for (uint32_t s = 0; s < domain.size(); ++s) {
      ASSERT_EQ(QM31(extended[s]), direct_sum(coeffs, to_secure(domain.at_storage(s))));
    }
  }
}

TEST_P(CircleFft, SplitAtMid) {
  STWO_TRACE_SEED();
  const uint32_t log = GetParam();
  if (log < 2) return;
  const std::vector<M31> coeffs = rng_.m31_vector(size_t{1} << log);
  const auto p = rng_.secure_point();
  const std::span<const M31> all(coeffs);
  const size_t half = coeffs.size() / 2;
  EXPECT_EQ(eval_at_point(all, p),
            eval_at_point(all.first(half), p) +
                repeated_double_x(p.x, log - 2) * eval_at_point(all.subspan(half), p));
}

TEST_P(CircleFft, Line) {
  STWO_TRACE_SEED();
  const LineDomain domain{GetParam() - 1};
  const size_t n = size_t{1} << domain.log_size;
  const std::vector<QM31> coeffs = rng_.qm31_vector(n);
  std::vector<QM31> values = coeffs;
  line_evaluate(values);
  for (uint32_t s = 0; s < n; ++s) {
    const QM31 x(domain.x_at_storage(s));
    // Line basis function j is circle basis function 2j, which has no y.
    QM31 sum;
    for (uint32_t j = 0; j < n; ++j) {
      sum += coeffs[j] * evaluate_basis_at_point(2 * j, {x, QM31()});
    }
    ASSERT_EQ(values[s], sum) << s;
    ASSERT_EQ(line_eval_at_point(coeffs, x), sum);
  }
  line_interpolate(values);
  EXPECT_EQ(values, coeffs);
}

TEST(CircleFftEdges, Zero) {
  std::vector<M31> zero(8);
  evaluate(zero);
  EXPECT_EQ(zero, std::vector<M31>(8));
  // The constant polynomial, and P - 1 everywhere.
  std::vector<M31> minus_one(16, M31(kP - 1));
  interpolate(minus_one);
  EXPECT_EQ(minus_one[0], M31(kP - 1));
  for (size_t i = 1; i < 16; ++i) EXPECT_TRUE(minus_one[i].is_zero());
}

TEST(CircleFftEdges, Lengths) {
  std::vector<M31> three(3);
  EXPECT_THROW(evaluate(three), ContractError);
  std::vector<M31> one(1);
  EXPECT_THROW(interpolate(one), ContractError);
  std::vector<QM31> single = {QM31::from_u32(1, 2, 3, 4)};
  line_interpolate(single);
  EXPECT_EQ(single[0], QM31::from_u32(1, 2, 3, 4));
}

TEST(CircleFftEdges, LargerRoundTrip) {
  test::Random rng;
  STWO_TRACE_SEED();
  const std::vector<M31> values = rng.m31_vector(size_t{1} << 14);
  std::vector<M31> work = values;
  interpolate(work);
  const auto p = to_secure(CanonicCoset{14}.at_storage(12345));
  EXPECT_EQ(eval_at_point(std::span<const M31>(work), p), QM31(values[12345]));
  evaluate(work);
  EXPECT_EQ(work, values);
}

TEST(BitReverseInPlace, IsAnInvolution) {
  for (uint32_t log = 0; log < 8; ++log) {
    std::vector<M31> v(size_t{1} << log);
    for (uint32_t i = 0; i < v.size(); ++i) v[i] = M31(i);
    bit_reverse_in_place(v);
    for (uint32_t i = 0; i < v.size(); ++i) EXPECT_EQ(v[i].v, bit_reverse(i, log));
  }
}

}  // namespace
}  // namespace stwo

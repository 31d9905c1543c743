// The DEEP quotient: batches, the periodicity sample, and that a quotient of honest samples is a
// polynomial of low degree.

#include "prover/pcs/quotients.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "prover/circle/domain.hpp"
#include "prover/poly/circle_fft.hpp"
#include "tests/support/random.hpp"

namespace stwo {
namespace {

/// A shape with hand-made trees; only what quotients look at is filled in.
ProofShape shape_of(uint32_t lifting_log_size, uint32_t blowup,
                    std::vector<std::pair<uint32_t, std::vector<int>>> columns) {
  ProofShape shape;
  shape.config.fri.log_blowup_factor = blowup;
  shape.lifting_log_size = lifting_log_size;
  shape.max_degree_log_size = lifting_log_size - blowup;
  shape.trees.resize(2);
  for (auto& [log, offsets] : columns) {
    shape.trees[1].column_log_sizes.push_back(log);
    shape.trees[1].mask_offsets.push_back(offsets);
  }
  return shape;
}

struct Opened {
  ProofShape shape;
  CirclePoint<QM31> point;
  std::vector<std::vector<M31>> coeffs;
  std::vector<std::vector<std::vector<QM31>>> samples;

  Opened(test::Random& rng, ProofShape s) : shape(std::move(s)), point(rng.secure_point()) {
    samples.resize(2);
    const TreeShape& tree = shape.trees[1];
    for (size_t c = 0; c < tree.column_log_sizes.size(); ++c) {
      const uint32_t log = tree.column_log_sizes[c];
      coeffs.push_back(rng.m31_vector(size_t{1} << log));
      auto& column = samples[1].emplace_back();
      for (const auto& p : shape.sample_points(point, tree.mask_offsets[c])) {
        column.push_back(value(c, p));
      }
    }
  }
  /// The lifted polynomial f(2^(D - log) p).
  QM31 value(size_t c, const CirclePoint<QM31>& p) const {
    const uint32_t log = shape.trees[1].column_log_sizes[c];
    return eval_at_point(std::span<const M31>(coeffs[c]),
                         p.repeated_double(shape.max_degree_log_size - log));
  }
  /// Quotient on the whole query domain.
  std::vector<QM31> quotient(QM31 coefficient) const {
    const auto batches = make_quotient_batches(shape, point, samples, coefficient);
    EXPECT_TRUE(batches.has_value());
    const CanonicCoset domain{shape.lifting_log_size};
    std::vector<QM31> out;
    for (uint32_t s = 0; s < domain.size(); ++s) {
      const auto r = domain.at_storage(s);
      std::vector<std::vector<M31>> row(2);
      for (size_t c = 0; c < coeffs.size(); ++c) row[1].push_back(value(c, to_secure(r)).x.a);
      out.push_back(quotient_at_row(*batches, r, row));
    }
    return out;
  }
  /// Coefficients beyond the degree bound that are not zero.
  size_t excess(QM31 coefficient) const {
    std::vector<QM31> q = quotient(coefficient);
    interpolate(q);
    size_t n = 0;
    for (size_t j = size_t{1} << shape.max_degree_log_size; j < q.size(); ++j) {
      n += !q[j].is_zero();
    }
    return n;
  }
};

TEST(Quotients, HonestSamplesGiveALowDegreeQuotient) {
  test::Random rng;
  STWO_TRACE_SEED();
  for (uint32_t blowup = 1; blowup <= 2; ++blowup) {
    const Opened o(rng, shape_of(4 + blowup, blowup,
                                 {{4, {0}}, {4, {-1, 0}}, {2, {0}}, {2, {-1, 0}}, {4, {}}}));
    EXPECT_EQ(o.excess(rng.qm31()), 0u);
  }
}

TEST(Quotients, AWrongSampleShows) {
  test::Random rng;
  STWO_TRACE_SEED();
  for (size_t c = 0; c < 4; ++c) {
    Opened o(rng, shape_of(5, 1, {{4, {0}}, {4, {-1, 0}}, {3, {0}}, {3, {-1, 0}}}));
    o.samples[1][c].back() += QM31::one();
    EXPECT_GT(o.excess(rng.qm31() + QM31::one()), 0u) << "column " << c;
  }
}

TEST(Quotients, PowersGoTreeColumnSample) {
  test::Random rng;
  STWO_TRACE_SEED();
  Opened o(rng, shape_of(4, 1, {{3, {0}}, {3, {}}, {3, {-1, 0}}, {3, {0}}}));
  const QM31 a = QM31::from_u32(2, 3, 5, 7);
  const auto batches = make_quotient_batches(o.shape, o.point, o.samples, a);
  ASSERT_TRUE(batches.has_value());
  // Points in order of appearance: Z, then the previous row. For a column of full size the
  // periodicity point is Z itself.
  ASSERT_EQ(batches->size(), 2u);
  const QuotientBatch& at_z = (*batches)[0];
  ASSERT_EQ(at_z.terms.size(), 4u);
  const QM31 c = o.point.y.conjugate() - o.point.y;
  // Column 0: power 0. Column 2: powers 1 (periodicity), 2 (previous), 3 (current). Column 3: 4.
  const uint32_t columns[] = {0, 2, 2, 3};
  const uint64_t powers[] = {0, 1, 3, 4};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(at_z.terms[i].column, columns[i]);
    EXPECT_EQ(at_z.terms[i].factor, a.pow(powers[i]) * c);
    EXPECT_EQ(at_z.terms[i].committed_log_size, 4u);
  }
  const QuotientBatch& before = (*batches)[1];
  ASSERT_EQ(before.terms.size(), 1u);
  EXPECT_EQ(before.terms[0].factor, a.pow(2) * (before.point.y.conjugate() - before.point.y));
}

TEST(Quotients, PeriodicityPointOfASmallerColumn) {
  test::Random rng;
  STWO_TRACE_SEED();
  Opened o(rng, shape_of(5, 1, {{2, {-1, 0}}}));
  const auto batches = make_quotient_batches(o.shape, o.point, o.samples, rng.qm31());
  ASSERT_TRUE(batches.has_value());
  ASSERT_EQ(batches->size(), 3u);
  // 2^3 steps of the canonic coset of log 5: a shift by which the lifted column repeats.
  const auto shifted = o.point + to_secure(CanonicCoset{5}.step().repeated_double(3));
  EXPECT_EQ((*batches)[0].point, shifted);
  EXPECT_EQ(o.value(0, shifted), o.value(0, o.point));
}

TEST(Quotients, DegeneratePointsAreRefused) {
  test::Random rng;
  Opened o(rng, shape_of(4, 1, {{3, {0}}}));
  // A point over CM31, whose conjugate over CM31 is itself.
  ASSERT_TRUE(secure_point_from_parameter(QM31::from_u32(3, 4, 0, 0), &o.point));
  EXPECT_FALSE(make_quotient_batches(o.shape, o.point, o.samples, rng.qm31()).has_value());
}

TEST(Quotients, DenominatorHasNoZeroOnTheDomain) {
  test::Random rng;
  STWO_TRACE_SEED();
  const QuotientBatch batch{rng.secure_point(), {}, {}, {}};
  const CanonicCoset domain{8};
  for (uint32_t s = 0; s < domain.size(); ++s) {
    EXPECT_FALSE(batch.denominator(domain.at_storage(s)).is_zero());
  }
}

}  // namespace
}  // namespace stwo

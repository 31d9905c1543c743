// The circle group, cosets, domains and the maps between their orders.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "prover/circle/domain.hpp"
#include "prover/circle/point.hpp"
#include "tests/support/random.hpp"

namespace stwo {
namespace {

TEST(CirclePoint, Generator) {
  const auto g = kCircleGenerator;
  EXPECT_EQ(g.x * g.x + g.y * g.y, M31(1));
  EXPECT_EQ(g.repeated_double(30), (CirclePoint<M31>{M31(kP - 1), M31(0)}));
  EXPECT_EQ(g.repeated_double(31), CirclePoint<M31>{});
}

TEST(CirclePoint, GroupLaw) {
  test::Random rng;
  STWO_TRACE_SEED();
  for (int n = 0; n < 50; ++n) {
    const auto p = rng.secure_point();
    const auto q = rng.secure_point();
    const auto r = rng.secure_point();
    EXPECT_EQ(p.x * p.x + p.y * p.y, QM31::one());
    EXPECT_EQ((p + q) + r, p + (q + r));
    EXPECT_EQ(p + q, q + p);
    EXPECT_EQ(p + (-p), CirclePoint<QM31>{});
    EXPECT_EQ(p.doubled().x, double_x(p.x));
    EXPECT_EQ(p.repeated_double(5).x, repeated_double_x(p.x, 5));
  }
}

TEST(CirclePoint, Index) {
  test::Random rng;
  STWO_TRACE_SEED();
  for (int n = 0; n < 50; ++n) {
    const auto a = static_cast<uint32_t>(rng.below(uint64_t{1} << 31));
    const auto b = static_cast<uint32_t>(rng.below(uint64_t{1} << 31));
    EXPECT_EQ(point_at_index(a) + point_at_index(b), point_at_index(a + b));
    EXPECT_EQ(-point_at_index(a), point_at_index(0u - a));
  }
  EXPECT_EQ(point_at_index(0), CirclePoint<M31>{});
  EXPECT_EQ(point_at_index(1), kCircleGenerator);
  EXPECT_EQ(to_secure(point_at_index(5)).y, QM31(point_at_index(5).y));
}

TEST(CirclePoint, FromParameter) {
  CirclePoint<QM31> p;
  ASSERT_TRUE(secure_point_from_parameter(QM31(), &p));
  EXPECT_EQ(p, CirclePoint<QM31>{});
  // t = +-i makes 1 + t^2 vanish.
  EXPECT_FALSE(secure_point_from_parameter(QM31::from_u32(0, 1, 0, 0), &p));
  EXPECT_FALSE(secure_point_from_parameter(QM31::from_u32(0, kP - 1, 0, 0), &p));
}

TEST(BitReverse, Values) {
  EXPECT_EQ(bit_reverse(0, 0), 0u);
  EXPECT_EQ(bit_reverse(1, 1), 1u);
  EXPECT_EQ(bit_reverse(0b001, 3), 0b100u);
  EXPECT_EQ(bit_reverse(0b110, 3), 0b011u);
  EXPECT_EQ(bit_reverse(1, 32), 0x80000000u);
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(bit_reverse(bit_reverse(i, 6), 6), i);
}

TEST(CanonicCoset, StorageOrderOfLog3) {
  // Where coset rows 0..8 are stored, read the other way round: sigma_3.
  const uint32_t sigma[8] = {0, 7, 4, 3, 2, 5, 6, 1};
  for (uint32_t k = 0; k < 8; ++k) {
    EXPECT_EQ(CanonicCoset{3}.storage_of_coset_row(k), sigma[k]) << k;
  }
}

class CanonicCosets : public ::testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(SmallLogs, CanonicCosets, ::testing::Range(1u, 9u));

TEST_P(CanonicCosets, RowsAreOneStepApart) {
  const CanonicCoset c{GetParam()};
  std::set<uint32_t> seen;
  for (uint32_t k = 0; k < c.size(); ++k) {
    const uint32_t s = c.storage_of_coset_row(k);
    EXPECT_TRUE(seen.insert(s).second);
    // Row k is (2k + 1) half steps from the identity.
    const uint32_t index = (1u << (30 - c.log_size)) + k * c.step_index();
    EXPECT_EQ(c.at_storage(s), point_at_index(index)) << k;
    EXPECT_TRUE(canonic_vanishing(c.at_storage(s).x, c.log_size).is_zero());
  }
  EXPECT_EQ(seen.size(), c.size());
  EXPECT_EQ(c.step().repeated_double(c.log_size), CirclePoint<M31>{});
}

TEST_P(CanonicCosets, NeighboursInStorageAreConjugates) {
  const CanonicCoset c{GetParam()};
  for (uint32_t p = 0; p < c.size(); p += 2) {
    EXPECT_EQ(c.at_storage(p + 1), -c.at_storage(p));
  }
}

TEST_P(CanonicCosets, VanishingTakesTwoValuesOnTheDoubleDomain) {
  const uint32_t n = GetParam();
  const CanonicCoset big{n + 1};
  M31 value[2] = {canonic_vanishing(big.at_storage(0).x, n),
                  canonic_vanishing(big.at_storage(1u << n).x, n)};
  EXPECT_EQ(value[0], -value[1]);
  for (uint32_t p = 0; p < big.size(); ++p) {
    EXPECT_EQ(canonic_vanishing(big.at_storage(p).x, n), value[p >> n]);
  }
}

TEST_P(CanonicCosets, LineDomain) {
  const uint32_t m = GetParam();
  const LineDomain line{m};
  const CanonicCoset circle{m + 1};
  std::set<uint32_t> xs;
  for (uint32_t p = 0; p < 1u << m; ++p) {
    xs.insert(line.x_at_storage(p).v);
    // Folding pairs of the circle domain leaves their common x.
    EXPECT_EQ(line.x_at_storage(p), circle.at_storage(2 * p).x);
    if (p % 2 == 0) {
      EXPECT_EQ(line.x_at_storage(p + 1), -line.x_at_storage(p));
      if (m > 1) {
        EXPECT_EQ(double_x(line.x_at_storage(p)), LineDomain{m - 1}.x_at_storage(p / 2));
      }
    }
  }
  EXPECT_EQ(xs.size(), size_t{1} << m);
}

TEST_P(CanonicCosets, Offsets) {
  const uint32_t trace_log = GetParam();
  for (uint32_t eval_log = trace_log; eval_log <= trace_log + 3; ++eval_log) {
    const CanonicCoset eval{eval_log};
    const uint32_t step = CanonicCoset{trace_log}.step_index();
    for (const int64_t offset : {-3, -2, -1, 0, 1, 2, 5}) {
      const auto jump = point_at_index(static_cast<uint32_t>(offset * step));
      for (uint32_t s = 0; s < eval.size(); ++s) {
        const uint32_t t = offset_storage_index(s, offset, trace_log, eval_log);
        ASSERT_LT(t, eval.size());
        ASSERT_EQ(eval.at_storage(t), eval.at_storage(s) + jump)
            << "eval " << eval_log << " offset " << offset << " row " << s;
      }
    }
  }
}

TEST_P(CanonicCosets, LiftedPositionIsRepeatedDoubling) {
  const uint32_t m = GetParam();
  for (uint32_t log = m; log <= m + 3; ++log) {
    for (uint32_t p = 0; p < 1u << log; ++p) {
      const auto lifted = static_cast<uint32_t>(lifted_position(p, log, m));
      const auto doubled = CanonicCoset{log}.at_storage(p).repeated_double(log - m);
      ASSERT_EQ(CanonicCoset{m}.at_storage(lifted).x, doubled.x);
      ASSERT_EQ(CanonicCoset{m}.at_storage(lifted).y, doubled.y);
    }
  }
}

TEST(CanonicCoset, LargestDomains) {
  const CanonicCoset c{30};
  EXPECT_EQ(c.at_storage(0), point_at_index(1));
  EXPECT_EQ(c.at_storage(1), -point_at_index(1));
  EXPECT_EQ(c.step_index(), 2u);
  EXPECT_EQ(LineDomain{29}.x_at_storage(0), point_at_index(1).x);
  EXPECT_EQ(LineDomain{0}.x_at_storage(0), point_at_index(1u << 29).x);
}

}  // namespace
}  // namespace stwo

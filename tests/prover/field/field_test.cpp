// The field laws, once for M31, CM31 and QM31, plus what is special to each.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "prover/field/batch_inverse.hpp"
#include "prover/field/cm31.hpp"
#include "prover/field/m31.hpp"
#include "prover/field/qm31.hpp"
#include "tests/support/random.hpp"

namespace stwo {
namespace {

template <class F>
F random_element(test::Random& rng) {
  if constexpr (std::is_same_v<F, M31>) {
    return rng.m31();
  } else if constexpr (std::is_same_v<F, CM31>) {
    return rng.cm31();
  } else {
    return rng.qm31();
  }
}

bool canonical(M31 x) { return x.v < kP; }
bool canonical(CM31 x) { return canonical(x.a) && canonical(x.b); }
bool canonical(QM31 x) { return canonical(x.x) && canonical(x.y); }

/// All elements with coordinates 0, 1 and P - 1, and random ones.
template <class F>
std::vector<F> elements(test::Random& rng) {
  const M31 edges[] = {M31(0), M31(1), M31(kP - 1)};
  std::vector<F> out;
  for (const M31 a : edges) {
    if constexpr (std::is_same_v<F, M31>) {
      out.push_back(a);
    } else {
      for (const M31 b : edges) {
        if constexpr (std::is_same_v<F, CM31>) {
          out.push_back({a, b});
        } else {
          out.push_back({a, b, b, a});
          out.push_back({b, a, M31(kP - 1), M31(0)});
        }
      }
    }
  }
  while (out.size() < 40) out.push_back(random_element<F>(rng));
  return out;
}

template <class F>
class FieldLaws : public ::testing::Test {
 protected:
  test::Random rng_;
};

using Fields = ::testing::Types<M31, CM31, QM31>;
TYPED_TEST_SUITE(FieldLaws, Fields);

TYPED_TEST(FieldLaws, Addition) {
  using F = TypeParam;
  STWO_TRACE_SEED();
  const auto all = elements<F>(this->rng_);
  for (const F& a : all) {
    EXPECT_EQ(a + F::zero(), a);
    EXPECT_EQ(a - a, F::zero());
    EXPECT_EQ(a + (-a), F::zero());
    EXPECT_TRUE(canonical(-a));
    for (const F& b : all) {
      EXPECT_EQ(a + b, b + a);
      EXPECT_EQ(a - b, a + (-b));
      EXPECT_TRUE(canonical(a + b));
      EXPECT_TRUE(canonical(a - b));
      const F c = random_element<F>(this->rng_);
      EXPECT_EQ((a + b) + c, a + (b + c));
    }
  }
}

TYPED_TEST(FieldLaws, Multiplication) {
  using F = TypeParam;
  STWO_TRACE_SEED();
  const auto all = elements<F>(this->rng_);
  for (const F& a : all) {
    EXPECT_EQ(a * F::one(), a);
    EXPECT_EQ(a * F::zero(), F::zero());
    for (const F& b : all) {
      EXPECT_EQ(a * b, b * a);
      EXPECT_TRUE(canonical(a * b));
      const F c = random_element<F>(this->rng_);
      EXPECT_EQ((a * b) * c, a * (b * c));
      EXPECT_EQ(a * (b + c), a * b + a * c);
      // No zero divisors.
      EXPECT_EQ((a * b).is_zero(), a.is_zero() || b.is_zero());
    }
  }
}

TYPED_TEST(FieldLaws, InverseAndCompoundAssignment) {
  using F = TypeParam;
  STWO_TRACE_SEED();
  for (const F& a : elements<F>(this->rng_)) {
    if (!a.is_zero()) {
      EXPECT_EQ(a * a.inverse(), F::one());
      EXPECT_EQ(a.inverse().inverse(), a);
      EXPECT_TRUE(canonical(a.inverse()));
    }
    const F b = random_element<F>(this->rng_);
    F x = a;
    x += b;
    EXPECT_EQ(x, a + b);
    x -= b;
    EXPECT_EQ(x, a);
    x *= b;
    EXPECT_EQ(x, a * b);
  }
}

TYPED_TEST(FieldLaws, BatchInverse) {
  using F = TypeParam;
  STWO_TRACE_SEED();
  for (const size_t n : {0u, 1u, 2u, 3u, 17u, 100u}) {
    std::vector<F> in(n);
    for (F& x : in) {
      do {
        x = random_element<F>(this->rng_);
      } while (x.is_zero());
    }
    std::vector<F> out(n);
    ASSERT_TRUE(batch_inverse<F>(in, out));
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(out[i], in[i].inverse());
    // In place.
    std::vector<F> same = in;
    ASSERT_TRUE(batch_inverse<F>(same, same));
    EXPECT_EQ(same, out);
    if (n > 0) {
      in[this->rng_.below(n)] = F::zero();
      EXPECT_FALSE(batch_inverse<F>(in, out));
    }
  }
}

TEST(M31, Reduce) {
  for (const uint32_t x : {0u, 1u, kP - 1, kP, kP + 1, 2 * kP - 1, 2 * kP, 2 * kP + 1}) {
    EXPECT_EQ(M31::reduce(x).v, x % kP) << x;
  }
  test::Random rng;
  STWO_TRACE_SEED();
  for (int i = 0; i < 1000; ++i) {
    const uint64_t a = rng.below(kP);
    const uint64_t b = rng.below(kP);
    EXPECT_EQ(M31::reduce64(a * b).v, a * b % kP);
  }
  const uint64_t top = uint64_t{kP - 1} * (kP - 1);
  EXPECT_EQ(M31::reduce64(top).v, 1u);
}

TEST(M31, PowersOfTwo) {
  for (uint32_t n = 0; n < 70; ++n) {
    EXPECT_EQ(inverse_power_of_two(n) * M31(2).pow(n), M31(1)) << n;
  }
  EXPECT_EQ(M31(2).pow(31), M31(1));
  EXPECT_EQ(M31(5).pow(0), M31(1));
}

TEST(CM31, ImaginaryUnit) {
  const CM31 i(M31(0), M31(1));
  EXPECT_EQ(i * i, CM31(M31(kP - 1)));
  EXPECT_EQ(CM31(M31(1), M31(2)) * CM31(M31(4), M31(5)), CM31(M31(kP - 6), M31(13)));
  EXPECT_EQ(CM31(M31(3), M31(4)).norm(), M31(25));
}

TEST(QM31, Extension) {
  const QM31 i(CM31(M31(0), M31(1)), CM31());
  const QM31 u(CM31(), CM31(M31(1)));
  EXPECT_EQ(u * u, QM31::from_u32(2, 1, 0, 0));
  EXPECT_EQ(i * u, QM31::from_u32(0, 0, 0, 1));
  // (1 + 2i + 3u + 4iu)(4 + 5i + 6u + 7iu), by hand from u^2 = 2 + i:
  // real part (1+2i)(4+5i) + (2+i)(3+4i)(6+7i), u part (1+2i)(6+7i) + (3+4i)(4+5i).
  EXPECT_EQ(QM31::from_u32(1, 2, 3, 4) * QM31::from_u32(4, 5, 6, 7),
            QM31::from_u32(kP - 71, 93, kP - 16, 50));
}

TEST(QM31, ConjugateCoordinatesAndMixedProducts) {
  test::Random rng;
  STWO_TRACE_SEED();
  for (int n = 0; n < 50; ++n) {
    const QM31 a = rng.qm31();
    const QM31 b = rng.qm31();
    EXPECT_EQ((a * b).conjugate(), a.conjugate() * b.conjugate());
    EXPECT_TRUE((a * a.conjugate()).y.is_zero());
    const M31 m = rng.m31();
    const CM31 c = rng.cm31();
    EXPECT_EQ(a * m, a * QM31(m));
    EXPECT_EQ(a * c, a * QM31(c, CM31()));
    EXPECT_EQ(a + m, a + QM31(m));
    EXPECT_EQ(a - m, a - QM31(m));

    QM31 copy;
    QM31 partial[4];
    for (uint32_t k = 0; k < 4; ++k) {
      copy.set_coordinate(k, a.coordinate(k));
      partial[k] = QM31(a.coordinate(k));
    }
    EXPECT_EQ(copy, a);
    EXPECT_EQ(QM31::from_partial_evals(partial), a);

    QM31 power = QM31::one();
    for (uint64_t e = 0; e < 6; ++e, power *= a) EXPECT_EQ(a.pow(e), power);
  }
}

}  // namespace
}  // namespace stwo

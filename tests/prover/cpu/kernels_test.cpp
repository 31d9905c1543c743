// Every SIMD kernel against scalar code, bit by bit, on every instruction set this machine has.

#include "prover/cpu/kernels.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "hwy/highway.h"
#include "hwy/targets.h"
#include "prover/channel/channel.hpp"
#include "prover/circle/domain.hpp"
#include "prover/cpu/memory.hpp"
#include "prover/hash/hex.hpp"
#include "prover/poly/circle_fft.hpp"
#include "prover/poly/twiddles.hpp"
#include "tests/support/random.hpp"

namespace stwo::cpu {
namespace {

/// Runs the test body once for each instruction set.
class Kernels : public ::testing::Test {
 protected:
  void for_each_target(const std::function<void()>& body) {
    const int64_t all = hwy::SupportedTargets() & HWY_TARGETS;
    int n = 0;
    for (int64_t left = all; left != 0; left &= left - 1) {
      const int64_t target = left & -left;
      hwy::SetSupportedTargetsForTest(target);
      hwy::GetChosenTarget().Update(target);
      SCOPED_TRACE("instruction set " + instruction_set());
      body();
      ++n;
    }
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    EXPECT_GE(n, 1);
  }

  Buffer<M31> column(uint64_t size) {
    Buffer<M31> out(size);
    for (uint64_t i = 0; i < size; ++i) out[i] = rng_.m31();
    return out;
  }
  /// Filled with a value no kernel may leave behind.
  static Buffer<M31> poisoned(uint64_t size) {
    Buffer<M31> out(size);
    std::memset(static_cast<void*>(out.data()), 0xee, out.bytes());
    return out;
  }

  struct Secure {
    std::vector<Buffer<M31>> buffers;
    SecureColumns columns;
  };
  Secure secure(uint64_t size, bool random) {
    Secure s;
    for (size_t k = 0; k < 4; ++k) {
      s.buffers.push_back(random ? column(size) : poisoned(size));
      s.columns.c[k] = s.buffers[k].data();
    }
    return s;
  }

  test::Random rng_;
};

TEST_F(Kernels, InterpolateAndEvaluateMatchTheReference) {
  STWO_TRACE_SEED();
  for_each_target([&] {
    // Both sides of every change of path: scalar blocks, one to three outer layers, recursion.
    for (uint32_t n = 1; n <= 15; ++n) {
      const uint32_t domains[] = {n, n + 1, n + 2};
      const TwiddleTree twiddles(n + 2, domains);
      const auto values = column(uint64_t{1} << n);
      auto coefficients = poisoned(uint64_t{1} << n);
      interpolate(values.data(), coefficients.data(), n, twiddles.inverse(n), 0);
      std::vector<M31> expected(values.data(), values.data() + values.size());
      stwo::interpolate(std::span<M31>(expected));
      ASSERT_EQ(std::memcmp(expected.data(), coefficients.data(), values.bytes()), 0) << n;

      for (uint32_t blowup = 0; blowup <= 2; ++blowup) {
        std::vector<M31> extended = expected;
        extended.resize(expected.size() << blowup);
        stwo::evaluate(std::span<M31>(extended));
        auto out = poisoned(uint64_t{1} << n);
        for (uint64_t block = 0; block < (uint64_t{1} << blowup); ++block) {
          evaluate(coefficients.data(), out.data(), n, twiddles.forward(n + blowup), block);
          ASSERT_EQ(std::memcmp(extended.data() + (block << n), out.data(), out.bytes()), 0)
              << n << " blowup " << blowup << " block " << block;
          // And back, in place, with the block's own twiddles.
          interpolate(out.data(), out.data(), n, twiddles.inverse(n + blowup), block);
          ASSERT_EQ(std::memcmp(coefficients.data(), out.data(), out.bytes()), 0);
        }
      }
    }
  });
}

TEST_F(Kernels, ExtremeValuesSurviveTheTransform) {
  for_each_target([&] {
    for (const uint32_t fill : {0u, 1u, kP - 1}) {
      constexpr uint32_t kLog = 9;
      const uint32_t domains[] = {kLog};
      const TwiddleTree twiddles(kLog, domains);
      Buffer<M31> values(1 << kLog);
      for (uint64_t i = 0; i < values.size(); ++i) values[i] = M31(fill);
      Buffer<M31> coefficients(1 << kLog);
      interpolate(values.data(), coefficients.data(), kLog, twiddles.inverse(kLog), 0);
      EXPECT_EQ(coefficients[0], M31(fill));
      for (uint64_t i = 1; i < values.size(); ++i) ASSERT_TRUE(coefficients[i].is_zero()) << i;
    }
  });
}

TEST_F(Kernels, HashLeavesMatchesScalarBlake2s) {
  STWO_TRACE_SEED();
  for_each_target([&] {
    for (const HashVariant variant : {HashVariant::kBlake2s, HashVariant::kBlake2sM31}) {
      for (const size_t n_columns : {1u, 3u, 4u, 5u, 8u, 9u, 15u, 16u, 17u, 32u, 33u, 100u}) {
        for (const uint32_t log : {1u, 2u, 4u, 5u, 9u}) {
          std::vector<Buffer<M31>> columns;
          std::vector<LeafColumn> leaf;
          for (size_t c = 0; c < n_columns; ++c) {
            // Some columns are shorter and read lifted.
            const uint32_t shift = c % 3 == 1 ? std::min(log - 1, static_cast<uint32_t>(c % 5)) : 0;
            columns.push_back(column(uint64_t{1} << (log - shift)));
            leaf.push_back({columns.back().data(), shift});
          }
          Buffer<uint32_t> words(uint64_t{8} << log);
          const HashLayer layer{words.data(), log};
          hash_leaves(variant, leaf.data(), n_columns, layer, 0, uint64_t{1} << log);
          for (uint64_t p = 0; p < (uint64_t{1} << log); ++p) {
            std::vector<uint32_t> row;
            for (const LeafColumn& c : leaf) {
              row.push_back(c.values[lifted_position(p, log, log - c.shift)].v);
            }
            Blake2s hasher(variant);
            hasher.update_words(row);
            ASSERT_EQ(to_hex(layer.node(p)), to_hex(hasher.finalize())) << n_columns << " " << p;
          }
        }
      }
    }
  });
}

TEST_F(Kernels, PackedLeavesHoldFourValues) {
  STWO_TRACE_SEED();
  for_each_target([&] {
    for (const uint32_t log : {0u, 1u, 3u, 4u, 7u}) {
      const auto values = secure(uint64_t{4} << log, true);
      Buffer<uint32_t> words(uint64_t{8} << log);
      const HashLayer layer{words.data(), log};
      hash_packed_leaves(HashVariant::kBlake2s, values.columns, layer, 0, uint64_t{1} << log);
      for (uint64_t p = 0; p < (uint64_t{1} << log); ++p) {
        std::vector<uint32_t> row;
        for (uint64_t j = 0; j < 4; ++j) {
          for (uint32_t k = 0; k < 4; ++k) row.push_back(values.columns.c[k][4 * p + j].v);
        }
        Blake2s hasher(HashVariant::kBlake2s);
        hasher.update_words(row);
        ASSERT_EQ(to_hex(layer.node(p)), to_hex(hasher.finalize())) << log << " " << p;
      }
    }
  });
}

TEST_F(Kernels, NodesHashTheirChildren) {
  STWO_TRACE_SEED();
  for_each_target([&] {
    for (const HashVariant variant : {HashVariant::kBlake2s, HashVariant::kBlake2sM31}) {
      for (const uint32_t log : {0u, 1u, 2u, 3u, 4u, 5u, 8u}) {
        Buffer<uint32_t> child_words(uint64_t{16} << log);
        for (uint64_t i = 0; i < child_words.size(); ++i) {
          child_words[i] = static_cast<uint32_t>(rng_.below(uint64_t{1} << 32));
        }
        Buffer<uint32_t> words(uint64_t{8} << log);
        const HashLayer children{child_words.data(), log + 1};
        const HashLayer layer{words.data(), log};
        hash_nodes(variant, children, layer, 0, uint64_t{1} << log);
        for (uint64_t p = 0; p < (uint64_t{1} << log); ++p) {
          ASSERT_EQ(to_hex(layer.node(p)),
                    to_hex(blake2s_node(variant, children.node(2 * p), children.node(2 * p + 1))));
        }
      }
    }
  });
}

TEST_F(Kernels, GrindFindsTheFirstNonce) {
  STWO_TRACE_SEED();
  for_each_target([&] {
    for (const HashVariant variant : {HashVariant::kBlake2s, HashVariant::kBlake2sM31}) {
      for (const uint32_t bits : {0u, 1u, 5u, 9u}) {
        Channel channel(variant);
        channel.mix_u64(rng_.below(uint64_t{1} << 40));
        uint64_t expected = 0;
        while (!channel.verify_pow_nonce(bits, expected)) ++expected;
        EXPECT_EQ(grind(variant, channel.pow_prefix_digest(bits), bits, 0, 1 << 14), expected);
        // A range without a solution says so.
        const uint64_t end = expected / 16 * 16;
        EXPECT_EQ(grind(variant, channel.pow_prefix_digest(bits), bits, 0, end), end);
      }
    }
    // Index 2^20 + k stands for the nonce 2^32 + k.
    Channel channel(HashVariant::kBlake2s);
    const Digest prefix = channel.pow_prefix_digest(8);
    const uint64_t found = grind(HashVariant::kBlake2s, prefix, 8, 1 << 20, (1 << 20) + (1 << 14));
    ASSERT_LT(found, (1u << 20) + (1u << 14));
    EXPECT_TRUE(channel.verify_pow_nonce(8, (uint64_t{1} << 32) + (found - (1 << 20))));
  });
}

TEST_F(Kernels, WeightedSums) {
  STWO_TRACE_SEED();
  for_each_target([&] {
    for (const uint64_t rows : {2u, 8u, 16u, 64u, 1024u}) {
      for (const size_t n : {1u, 2u, 3u, 5u}) {
        const auto weights = secure(rows, true);
        std::vector<Buffer<M31>> columns;
        std::vector<const M31*> pointers;
        for (size_t j = 0; j < n; ++j) {
          columns.push_back(column(rows));
          pointers.push_back(columns.back().data());
        }
        std::vector<QM31> sums(n, QM31::one());
        weighted_sums(weights.columns, pointers.data(), n, 0, rows, sums.data());
        for (size_t j = 0; j < n; ++j) {
          QM31 expected = QM31::one();
          for (uint64_t i = 0; i < rows; ++i) expected += weights.columns.at(i) * pointers[j][i];
          EXPECT_EQ(sums[j], expected);
        }
      }
    }
    // The largest products everywhere: lazy sums must not overflow.
    constexpr uint64_t kRows = 256;
    Secure weights = secure(kRows, false);
    Buffer<M31> values(kRows);
    for (uint64_t i = 0; i < kRows; ++i) {
      values[i] = M31(kP - 1);
      weights.columns.set(i, QM31::from_u32(kP - 1, kP - 1, kP - 1, kP - 1));
    }
    const M31* pointer = values.data();
    QM31 sum;
    weighted_sums(weights.columns, &pointer, 1, 0, kRows, &sum);
    EXPECT_EQ(sum, QM31::from_u32(kRows, kRows, kRows, kRows));
  });
}

TEST_F(Kernels, CombineColumns) {
  STWO_TRACE_SEED();
  for_each_target([&] {
    for (const uint64_t rows : {2u, 16u, 64u}) {
      for (const size_t n : {1u, 3u, 4u, 7u, 37u}) {
        std::vector<Buffer<M31>> columns;
        std::vector<const M31*> pointers;
        std::vector<QM31> factors;
        for (size_t j = 0; j < n; ++j) {
          columns.push_back(column(std::max<uint64_t>(rows, 16)));
          pointers.push_back(columns.back().data());
          factors.push_back(rng_.qm31());
        }
        for (const bool accumulate : {false, true}) {
          Secure out = secure(rows, accumulate);
          std::vector<QM31> expected(rows);
          for (uint64_t i = 0; i < rows; ++i) {
            expected[i] = accumulate ? out.columns.at(i) : QM31::zero();
            for (size_t j = 0; j < n; ++j) expected[i] += factors[j] * pointers[j][i];
          }
          combine_columns(pointers.data(), factors.data(), n, out.columns, accumulate, 0, rows);
          for (uint64_t i = 0; i < rows; ++i) ASSERT_EQ(out.columns.at(i), expected[i]) << i;
        }
      }
    }
  });
}

TEST_F(Kernels, FinishQuotient) {
  STWO_TRACE_SEED();
  for_each_target([&] {
    constexpr uint32_t kLog = 5;
    const CanonicCoset domain{kLog};
    Buffer<M31> x(1 << kLog);
    Buffer<M31> y(1 << kLog);
    for (uint32_t p = 0; p < (1u << kLog); ++p) {
      x[p] = domain.at_storage(p).x;
      y[p] = domain.at_storage(p).y;
    }
    const auto q = rng_.secure_point();
    const QuotientPoint point{q.x, q.y, rng_.qm31(), rng_.qm31()};
    const auto numerators = secure(1 << kLog, true);
    for (const bool accumulate : {false, true}) {
      Secure out = secure(1 << kLog, accumulate);
      std::vector<QM31> expected(1 << kLog);
      for (uint32_t p = 0; p < (1u << kLog); ++p) {
        const CM31 denominator = (q.x.x - CM31(x[p])) * q.y.y - (q.y.x - CM31(y[p])) * q.x.y;
        expected[p] = accumulate ? out.columns.at(p) : QM31::zero();
        expected[p] += (numerators.columns.at(p) - (point.line_slope * y[p] + point.line_offset)) *
                       denominator.inverse();
      }
      finish_quotient(point, numerators.columns, x.data(), y.data(), out.columns, accumulate, 0,
                      1 << kLog);
      for (uint32_t p = 0; p < (1u << kLog); ++p) ASSERT_EQ(out.columns.at(p), expected[p]) << p;
    }
  });
}

TEST_F(Kernels, LiftAddReadsTheLiftedPosition) {
  STWO_TRACE_SEED();
  for_each_target([&] {
    constexpr uint32_t kLog = 6;
    for (uint32_t shift = 0; shift < kLog; ++shift) {
      const auto source = secure(uint64_t{1} << (kLog - shift), true);
      Secure out = secure(1 << kLog, true);
      std::vector<QM31> expected(1 << kLog);
      for (uint32_t p = 0; p < (1u << kLog); ++p) {
        expected[p] = out.columns.at(p) + source.columns.at(lifted_position(p, kLog, kLog - shift));
      }
      lift_add(source.columns, shift, out.columns, 0, 1 << kLog);
      for (uint32_t p = 0; p < (1u << kLog); ++p) ASSERT_EQ(out.columns.at(p), expected[p]) << p;
    }
  });
}

TEST_F(Kernels, FoldIsTheFormula) {
  STWO_TRACE_SEED();
  for_each_target([&] {
    for (const uint32_t log : {1u, 2u, 4u, 5u, 8u}) {
      const uint64_t half = uint64_t{1} << (log - 1);
      const auto in = secure(2 * half, true);
      Buffer<uint32_t> inverse(half);
      for (uint64_t k = 0; k < half; ++k) inverse[k] = 2 * rng_.m31().v;
      const QM31 beta = rng_.qm31();
      Secure out = secure(half, false);
      fold(in.columns, inverse.data(), beta, out.columns, 0, half);
      for (uint64_t k = 0; k < half; ++k) {
        const QM31 f0 = in.columns.at(2 * k);
        const QM31 f1 = in.columns.at(2 * k + 1);
        ASSERT_EQ(out.columns.at(k), f0 + f1 + beta * ((f0 - f1) * M31(inverse[k] / 2)));
      }
    }
  });
}

TEST_F(Kernels, ScaleSecureAndSubtractConstant) {
  STWO_TRACE_SEED();
  for_each_target([&] {
    for (const uint64_t n : {1u, 2u, 8u, 16u, 64u}) {
      Secure s = secure(2 * n, true);
      std::vector<QM31> before;
      for (uint64_t i = 0; i < n; ++i) before.push_back(s.columns.at(i));
      const QM31 factor = rng_.qm31();
      scale_secure(s.columns, n, factor, 0, n);
      for (uint64_t i = 0; i < n; ++i) {
        ASSERT_EQ(s.columns.at(i), before[i]);
        ASSERT_EQ(s.columns.at(n + i), before[i] * factor);
      }
      auto values = column(std::max<uint64_t>(n, 16));
      const std::vector<M31> old(values.data(), values.data() + n);
      const M31 c = rng_.m31();
      subtract_constant(values.data(), c, 0, n);
      for (uint64_t i = 0; i < n; ++i) ASSERT_EQ(values[i], old[i] - c);
    }
  });
}

}  // namespace
}  // namespace stwo::cpu

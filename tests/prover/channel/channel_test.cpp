#include "prover/channel/channel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "prover/hash/hex.hpp"
#include "prover/pcs/config.hpp"
#include "tests/support/random.hpp"

namespace stwo {
namespace {

std::array<uint32_t, 8> words_of(const Digest& d) {
  std::array<uint32_t, 8> w;
  for (size_t i = 0; i < 8; ++i) w[i] = digest_word(d, i);
  return w;
}

Channel fresh() { return Channel(HashVariant::kBlake2s); }

TEST(Channel, DrawWords) {
  Channel c = fresh();
  const std::array<uint32_t, 8> expected = {1508103417, 49928118,   1851109195, 649450964,
                                            1514800545, 4236765031, 523819246,  4066564620};
  EXPECT_EQ(c.draw_u32s(), expected);
  EXPECT_NE(c.draw_u32s(), expected);
  // Draws leave the digest alone.
  EXPECT_EQ(c.digest(), Digest{});
}

TEST(Channel, DrawSecureFelts) {
  Channel c = fresh();
  const std::vector<QM31> expected = {
      QM31::from_u32(1508103417, 49928118, 1851109195, 649450964),
      QM31::from_u32(1514800545, 2089281384, 523819246, 1919080973),
      QM31::from_u32(1769619091, 1335149496, 2007506569, 1426464368)};
  EXPECT_EQ(c.draw_secure_felts(3), expected);
  // Single draws throw half a batch away.
  Channel d = fresh();
  EXPECT_EQ(d.draw_secure_felt(), expected[0]);
  EXPECT_EQ(d.draw_secure_felt(), expected[2]);
  EXPECT_TRUE(fresh().draw_secure_felts(0).empty());
}

TEST(Channel, MixFelts) {
  Channel c = fresh();
  const std::vector<QM31> felts = {QM31::from_u32(1, 2, 3, 4), QM31::from_u32(5, 6, 7, 8)};
  c.mix_felts(std::span(felts).first(1));
  EXPECT_EQ(words_of(c.digest()),
            (std::array<uint32_t, 8>{1586304710, 1167332849, 1688630032, 429142330, 4001363212,
                                     2013799503, 180553907, 2044853257}));
  Channel d = fresh();
  d.mix_felts(felts);
  EXPECT_EQ(words_of(d.digest()),
            (std::array<uint32_t, 8>{1835698174, 2969628929, 1758616107, 158303712, 3820231193,
                                     179192886, 4063347398, 3332297509}));
}

TEST(Channel, MixNothingStillHashes) {
  Channel c = fresh();
  c.mix_felts({});
  EXPECT_EQ(c.digest(), blake2s(HashVariant::kBlake2s, Digest{}));
}

TEST(Channel, MixNumbers) {
  Channel c = fresh();
  c.mix_u64(0x1111222233334444);
  EXPECT_EQ(words_of(c.digest()),
            (std::array<uint32_t, 8>{0xc13f9ebc, 0x97884ed2, 0x59336d95, 0x24977332, 0xcdca6b9d,
                                     0x74924d22, 0x4abae704, 0xce6edc77}));
  Channel d = fresh();
  d.mix_u32s(std::array<uint32_t, 2>{0x33334444, 0x11112222});
  EXPECT_EQ(c.digest(), d.digest());

  Channel e = fresh();
  e.mix_u32s(std::array<uint32_t, 9>{1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(to_hex(e.digest()), "7091768357bb1bb3346fdab6b357d7fa46b8fbe32c2e4324a0ffc294cbf9a1c7");
}

TEST(Channel, MixRootIsANode) {
  Channel c = fresh();
  Digest root;
  root.fill(7);
  c.mix_root(root);
  EXPECT_EQ(c.digest(), blake2s_node(HashVariant::kBlake2s, Digest{}, root));
}

TEST(Channel, MixResetsTheDrawCounter) {
  Channel a = fresh();
  Channel b = fresh();
  a.draw_u32s();
  a.mix_u64(1);
  b.mix_u64(1);
  EXPECT_EQ(a.draw_u32s(), b.draw_u32s());
}

TEST(Channel, M31VariantNeverRejects) {
  Channel c(HashVariant::kBlake2sM31);
  for (int i = 0; i < 200; ++i) {
    for (const uint32_t w : c.draw_u32s()) EXPECT_LT(w, kP);
  }
  c.mix_u64(5);
  for (const uint32_t w : words_of(c.digest())) EXPECT_LT(w, kP);
}

TEST(Channel, ProofOfWork) {
  // Reference: hashlib over the two hashes of the definition, for the digest below.
  Channel c = fresh();
  c.mix_u64(0);
  uint64_t nonce = 0;
  while (!c.verify_pow_nonce(8, nonce)) ++nonce;
  EXPECT_EQ(nonce, 704u);
  EXPECT_TRUE(c.verify_pow_nonce(0, 12345));
  EXPECT_FALSE(c.verify_pow_nonce(128, nonce));
  // The number of bits is bound by the hash: more bits is another puzzle, not a harder one.
  Channel before = c;
  c.verify_pow_nonce(8, nonce);
  EXPECT_EQ(before.digest(), c.digest());
}

TEST(Channel, TrailingZeros) {
  Digest d{};
  EXPECT_EQ(pow_trailing_zeros(d), 128u);
  d[16] = 1;  // beyond the first 16 bytes
  EXPECT_EQ(pow_trailing_zeros(d), 128u);
  d[15] = 0x80;
  EXPECT_EQ(pow_trailing_zeros(d), 127u);
  d[4] = 1;
  EXPECT_EQ(pow_trailing_zeros(d), 32u);
  d[0] = 0x10;
  EXPECT_EQ(pow_trailing_zeros(d), 4u);
}

TEST(Channel, Queries) {
  for (const uint32_t log : {1u, 5u, 20u, 30u}) {
    for (const uint32_t q : {1u, 7u, 8u, 9u, 70u}) {
      Channel c = fresh();
      const auto positions = draw_queries(c, log, q);
      EXPECT_TRUE(std::is_sorted(positions.begin(), positions.end()));
      Channel again = fresh();
      std::set<uint32_t> expected;
      for (uint32_t n = 0; n < q;) {
        for (const uint32_t w : again.draw_u32s()) {
          if (n++ < q) expected.insert(w % (1u << log));
        }
      }
      EXPECT_EQ(std::set<uint32_t>(positions.begin(), positions.end()), expected);
      EXPECT_EQ(positions.size(), expected.size());
    }
  }
}

TEST(Channel, ConfigMix) {
  PcsConfig config;
  config.pow_bits = 26;
  config.fri = {2, 3, 70, 4};
  Channel a = fresh();
  config.mix_into(a);
  Channel b = fresh();
  b.mix_felts(std::array<QM31, 2>{QM31::from_u32(26, 2, 70, 3), QM31::from_u32(4, 0, 0, 0)});
  EXPECT_EQ(a.digest(), b.digest());

  config.lifting_log_size = 21;
  Channel d = fresh();
  config.mix_into(d);
  Channel e = fresh();
  e.mix_felts(std::array<QM31, 2>{QM31::from_u32(26, 2, 70, 3), QM31::from_u32(4, 21, 0, 0)});
  EXPECT_EQ(d.digest(), e.digest());
}

}  // namespace
}  // namespace stwo

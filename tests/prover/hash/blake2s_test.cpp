#include "prover/hash/blake2s.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "prover/field/m31.hpp"
#include "prover/hash/hex.hpp"
#include "tests/support/random.hpp"

namespace stwo {
namespace {

std::span<const uint8_t> bytes_of(std::string_view s) {
  return {reinterpret_cast<const uint8_t*>(s.data()), s.size()};
}

std::string hex_of(std::string_view s) {
  return to_hex(blake2s(HashVariant::kBlake2s, bytes_of(s)));
}

TEST(Blake2s, KnownAnswers) {
  // RFC 7693, appendix B.
  EXPECT_EQ(hex_of("abc"), "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982");
  // The root of an empty tree.
  EXPECT_EQ(hex_of(""), "69217a3079908094e11121d042354a7c1f55b6482ca1a51e1b250dfd1ed0eef9");
  // Python's hashlib.blake2s, around the block size.
  EXPECT_EQ(hex_of(std::string(63, 'a')),
            "9a4267618070af968ff2a0fdaecc62b5c15ab91cb4a56424ba9fcad20aab417c");
  EXPECT_EQ(hex_of(std::string(64, 'a')),
            "651d2f5f20952eacaea2fba2f2af2bcd633e511ea2d2e4c9ae2ac0d9ffb7b252");
  EXPECT_EQ(hex_of(std::string(65, 'a')),
            "045f8ae18932119bd051ac7ba5c73db59892055fad5c32f82d79a6543d92a497");
  EXPECT_EQ(hex_of(std::string(1000, 'a')),
            "a4691c2bf852334ece63c024234338fc6c150bdf04fa3f6e0e4c5209b326438d");
}

TEST(Blake2s, PiecesGiveTheSameHash) {
  test::Random rng;
  STWO_TRACE_SEED();
  for (int n = 0; n < 50; ++n) {
    std::vector<uint8_t> data(rng.below(300));
    for (uint8_t& b : data) b = static_cast<uint8_t>(rng.below(256));
    Blake2s hasher(HashVariant::kBlake2s);
    for (size_t at = 0; at < data.size();) {
      const size_t piece = std::min<size_t>(data.size() - at, rng.below(70));
      hasher.update(std::span(data).subspan(at, piece));
      at += piece;
    }
    EXPECT_EQ(hasher.finalize(), blake2s(HashVariant::kBlake2s, data));
  }
}

TEST(Blake2s, WordsAreLittleEndian) {
  Blake2s hasher(HashVariant::kBlake2s);
  const uint32_t words[2] = {0x04030201, 0x08070605};
  hasher.update_words(words);
  const uint8_t same[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(hasher.finalize(), blake2s(HashVariant::kBlake2s, same));
  Digest d{};
  for (size_t i = 0; i < 32; ++i) d[i] = static_cast<uint8_t>(i);
  EXPECT_EQ(digest_word(d, 0), 0x03020100u);
  EXPECT_EQ(digest_word(d, 7), 0x1f1e1d1cu);
}

TEST(Blake2s, M31VariantReducesEveryWord) {
  test::Random rng;
  STWO_TRACE_SEED();
  for (int n = 0; n < 100; ++n) {
    std::vector<uint8_t> data(rng.below(100));
    for (uint8_t& b : data) b = static_cast<uint8_t>(rng.below(256));
    const Digest plain = blake2s(HashVariant::kBlake2s, data);
    const Digest reduced = blake2s(HashVariant::kBlake2sM31, data);
    for (size_t w = 0; w < 8; ++w) {
      EXPECT_EQ(digest_word(reduced, w), digest_word(plain, w) % kP);
    }
  }
}

TEST(Blake2s, NodeIsTheHashOfBothChildren) {
  const Digest l = blake2s(HashVariant::kBlake2s, bytes_of("l"));
  const Digest r = blake2s(HashVariant::kBlake2s, bytes_of("r"));
  std::vector<uint8_t> both(l.begin(), l.end());
  both.insert(both.end(), r.begin(), r.end());
  EXPECT_EQ(blake2s_node(HashVariant::kBlake2s, l, r), blake2s(HashVariant::kBlake2s, both));
  EXPECT_NE(blake2s_node(HashVariant::kBlake2s, l, r), blake2s_node(HashVariant::kBlake2s, r, l));
}

}  // namespace
}  // namespace stwo

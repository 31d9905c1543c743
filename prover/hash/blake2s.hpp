// Blake2s-256 (RFC 7693), unkeyed, in the two output variants the protocol knows.
// Scalar and incremental: the channel and the verifier use it. Trees are hashed many lanes at a
// time by prover/cpu/.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace stwo {

/// 32 bytes of hash output.
using Digest = std::array<uint8_t, 32>;

/// What happens to a finished hash. kBlake2sM31 reduces each of the eight little-endian words
/// modulo P (the crate's Blake2sM31Channel / Blake2sM31MerkleChannel of 2.3.0, where channel,
/// draws, proof of work, leaves and nodes are all reduced).
enum class HashVariant : uint8_t { kBlake2s = 0, kBlake2sM31 = 1 };

inline constexpr std::array<uint32_t, 8> kBlake2sIv = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
/// IV with the parameter block of an unkeyed 32-byte hash folded in.
inline constexpr uint32_t kBlake2sParameterWord = 0x01010020;

inline constexpr uint8_t kBlake2sSigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

/// Incremental hasher.
class Blake2s {
 public:
  explicit Blake2s(HashVariant variant);
  void update(std::span<const uint8_t> bytes);
  /// Appends words in little-endian byte order.
  void update_words(std::span<const uint32_t> words);
  Digest finalize();

 private:
  void compress(bool last);
  std::array<uint32_t, 8> h_;
  std::array<uint8_t, 64> block_{};
  size_t fill_ = 0;
  uint64_t count_ = 0;
  HashVariant variant_;
};

/// One-shot hash.
Digest blake2s(HashVariant variant, std::span<const uint8_t> bytes);
/// H(left || right).
Digest blake2s_node(HashVariant variant, const Digest& left, const Digest& right);

/// Word w (0..8) of a digest, little-endian.
uint32_t digest_word(const Digest& digest, size_t w);

}  // namespace stwo

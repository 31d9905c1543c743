// Fiat-Shamir channel over Blake2s: the transcript both sides replay.
// Source: the stwo crate 2.3.0, core/channel/blake2s (rules), protocol.md section 4.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "prover/field/qm31.hpp"
#include "prover/hash/blake2s.hpp"

namespace stwo {

/// State: a 32-byte digest, initially zero, and a draw counter that every mix resets.
class Channel {
 public:
  explicit Channel(HashVariant variant) : variant_(variant) {}

  HashVariant variant() const { return variant_; }
  const Digest& digest() const { return digest_; }

  /// digest <- H(digest || four LE words per felt). An empty list still hashes the digest.
  void mix_felts(std::span<const QM31> felts);
  void mix_u32s(std::span<const uint32_t> words);
  void mix_u64(uint64_t value);
  void mix_root(const Digest& root);

  /// Eight uniform words: H(digest || LE counter || 0x00).
  std::array<uint32_t, 8> draw_u32s();
  /// One QM31; the other half of the batch is thrown away, as the crate does.
  QM31 draw_secure_felt();
  /// n QM31, two per hash.
  std::vector<QM31> draw_secure_felts(size_t n);

  /// Does `nonce` give at least n_bits trailing zero bits? Does not change the channel.
  bool verify_pow_nonce(uint32_t n_bits, uint64_t nonce) const;
  /// First hash of the proof of work, H(0x12345678 || 12 zero bytes || digest || LE n_bits): the
  /// part that does not depend on the nonce, so that a grinder computes it once.
  Digest pow_prefix_digest(uint32_t n_bits) const;

 private:
  std::array<M31, 8> draw_base_felts();
  void set_digest(const Digest& d);

  HashVariant variant_;
  Digest digest_{};
  uint32_t n_draws_ = 0;
};

/// Trailing zero bits of the first 16 bytes of a hash read as a little-endian integer; 128 if all
/// are zero.
uint32_t pow_trailing_zeros(const Digest& hash);

/// Draws n_queries positions below 2^log_domain_size, sorts and removes duplicates.
/// n_queries >= 1: with zero the crate's loop never ends, so configs forbid it.
std::vector<uint32_t> draw_queries(Channel& channel, uint32_t log_domain_size, uint32_t n_queries);

/// Called with a step's name and the digest after it; for bisecting a diverging transcript.
using TranscriptObserver = std::function<void(std::string_view step, const Digest& digest)>;

}  // namespace stwo

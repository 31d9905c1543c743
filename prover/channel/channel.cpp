#include "prover/channel/channel.hpp"

#include <algorithm>
#include <bit>

namespace stwo {
namespace {

constexpr uint32_t kPowPrefix = 0x12345678;

std::array<uint32_t, 4> words_of(const QM31& f) { return {f.x.a.v, f.x.b.v, f.y.a.v, f.y.b.v}; }

}  // namespace

void Channel::set_digest(const Digest& d) {
  digest_ = d;
  n_draws_ = 0;
}

void Channel::mix_felts(std::span<const QM31> felts) {
  Blake2s hasher(variant_);
  hasher.update(digest_);
  for (const QM31& f : felts) hasher.update_words(words_of(f));
  set_digest(hasher.finalize());
}

void Channel::mix_u32s(std::span<const uint32_t> words) {
  Blake2s hasher(variant_);
  hasher.update(digest_);
  hasher.update_words(words);
  set_digest(hasher.finalize());
}

void Channel::mix_u64(uint64_t value) {
  const uint32_t words[2] = {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)};
  mix_u32s(words);
}

void Channel::mix_root(const Digest& root) { set_digest(blake2s_node(variant_, digest_, root)); }

std::array<uint32_t, 8> Channel::draw_u32s() {
  Blake2s hasher(variant_);
  hasher.update(digest_);
  const uint32_t counter[1] = {n_draws_};
  hasher.update_words(counter);
  // The zero byte separates a draw from mixing a single word.
  const uint8_t zero[1] = {0};
  hasher.update(zero);
  ++n_draws_;
  const Digest out = hasher.finalize();
  std::array<uint32_t, 8> words;
  for (size_t i = 0; i < 8; ++i) words[i] = digest_word(out, i);
  return words;
}

std::array<M31, 8> Channel::draw_base_felts() {
  for (;;) {
    const auto words = draw_u32s();
    // Words at 2P or above would bias the reduction; the whole batch is dropped.
    if (std::any_of(words.begin(), words.end(), [](uint32_t w) { return w >= 2 * kP; })) continue;
    std::array<M31, 8> felts;
    for (size_t i = 0; i < 8; ++i) felts[i] = M31::reduce(words[i]);
    return felts;
  }
}

QM31 Channel::draw_secure_felt() {
  const auto f = draw_base_felts();
  return {f[0], f[1], f[2], f[3]};
}

std::vector<QM31> Channel::draw_secure_felts(size_t n) {
  std::vector<QM31> out;
  out.reserve(n);
  while (out.size() < n) {
    const auto f = draw_base_felts();
    out.emplace_back(f[0], f[1], f[2], f[3]);
    if (out.size() < n) out.emplace_back(f[4], f[5], f[6], f[7]);
  }
  return out;
}

Digest Channel::pow_prefix_digest(uint32_t n_bits) const {
  Blake2s hasher(variant_);
  const uint32_t head[4] = {kPowPrefix, 0, 0, 0};
  hasher.update_words(head);
  hasher.update(digest_);
  const uint32_t bits[1] = {n_bits};
  hasher.update_words(bits);
  return hasher.finalize();
}

bool Channel::verify_pow_nonce(uint32_t n_bits, uint64_t nonce) const {
  Blake2s hasher(variant_);
  hasher.update(pow_prefix_digest(n_bits));
  const uint32_t words[2] = {static_cast<uint32_t>(nonce), static_cast<uint32_t>(nonce >> 32)};
  hasher.update_words(words);
  return pow_trailing_zeros(hasher.finalize()) >= n_bits;
}

uint32_t pow_trailing_zeros(const Digest& hash) {
  uint32_t zeros = 0;
  for (size_t w = 0; w < 4; ++w) {
    const uint32_t word = digest_word(hash, w);
    zeros += static_cast<uint32_t>(std::countr_zero(word));
    if (word != 0) break;
  }
  return zeros;
}

std::vector<uint32_t> draw_queries(Channel& channel, uint32_t log_domain_size, uint32_t n_queries) {
  const uint32_t mask = static_cast<uint32_t>((uint64_t{1} << log_domain_size) - 1);
  std::vector<uint32_t> positions;
  positions.reserve(n_queries);
  while (positions.size() < n_queries) {
    for (const uint32_t word : channel.draw_u32s()) {
      if (positions.size() == n_queries) break;
      positions.push_back(word & mask);
    }
  }
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return positions;
}

}  // namespace stwo

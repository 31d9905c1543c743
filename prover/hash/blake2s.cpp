#include "prover/hash/blake2s.hpp"

#include <algorithm>
#include <bit>

#include "prover/field/m31.hpp"

namespace stwo {
namespace {

uint32_t load_word(const uint8_t* p) {
  return uint32_t{p[0]} | uint32_t{p[1]} << 8 | uint32_t{p[2]} << 16 | uint32_t{p[3]} << 24;
}

void store_word(uint8_t* p, uint32_t w) {
  for (int i = 0; i < 4; ++i) p[i] = static_cast<uint8_t>(w >> (8 * i));
}

inline void mix(std::array<uint32_t, 16>& v, int a, int b, int c, int d, uint32_t x, uint32_t y) {
  v[a] += v[b] + x;
  v[d] = std::rotr(v[d] ^ v[a], 16);
  v[c] += v[d];
  v[b] = std::rotr(v[b] ^ v[c], 12);
  v[a] += v[b] + y;
  v[d] = std::rotr(v[d] ^ v[a], 8);
  v[c] += v[d];
  v[b] = std::rotr(v[b] ^ v[c], 7);
}

}  // namespace

Blake2s::Blake2s(HashVariant variant) : h_(kBlake2sIv), variant_(variant) {
  h_[0] ^= kBlake2sParameterWord;
}

void Blake2s::compress(bool last) {
  std::array<uint32_t, 16> m;
  for (size_t i = 0; i < 16; ++i) m[i] = load_word(&block_[4 * i]);
  std::array<uint32_t, 16> v;
  std::copy(h_.begin(), h_.end(), v.begin());
  std::copy(kBlake2sIv.begin(), kBlake2sIv.end(), v.begin() + 8);
  v[12] ^= static_cast<uint32_t>(count_);
  v[13] ^= static_cast<uint32_t>(count_ >> 32);
  if (last) v[14] = ~v[14];
  for (const auto& s : kBlake2sSigma) {
    mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]]);
    mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]]);
    mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]]);
    mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]]);
    mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]]);
    mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]]);
    mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]]);
    mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]]);
  }
  for (size_t i = 0; i < 8; ++i) h_[i] ^= v[i] ^ v[i + 8];
}

void Blake2s::update(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    // The last block is compressed in finalize(), so a full buffer is flushed only once more input
    // is known to follow.
    if (fill_ == block_.size()) {
      count_ += block_.size();
      compress(false);
      fill_ = 0;
    }
    const size_t n = std::min(bytes.size(), block_.size() - fill_);
    std::copy_n(bytes.begin(), n, block_.begin() + static_cast<ptrdiff_t>(fill_));
    fill_ += n;
    bytes = bytes.subspan(n);
  }
}

void Blake2s::update_words(std::span<const uint32_t> words) {
  uint8_t buffer[4];
  for (const uint32_t w : words) {
    store_word(buffer, w);
    update(buffer);
  }
}

Digest Blake2s::finalize() {
  count_ += fill_;
  std::fill(block_.begin() + static_cast<ptrdiff_t>(fill_), block_.end(), uint8_t{0});
  compress(true);
  Digest out;
  for (size_t i = 0; i < 8; ++i) {
    const uint32_t w = variant_ == HashVariant::kBlake2sM31 ? M31::reduce(h_[i]).v : h_[i];
    store_word(&out[4 * i], w);
  }
  return out;
}

Digest blake2s(HashVariant variant, std::span<const uint8_t> bytes) {
  Blake2s hasher(variant);
  hasher.update(bytes);
  return hasher.finalize();
}

Digest blake2s_node(HashVariant variant, const Digest& left, const Digest& right) {
  Blake2s hasher(variant);
  hasher.update(left);
  hasher.update(right);
  return hasher.finalize();
}

uint32_t digest_word(const Digest& digest, size_t w) { return load_word(&digest[4 * w]); }

}  // namespace stwo

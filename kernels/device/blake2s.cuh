// Blake2s-256 (RFC 7693) in registers, as the trees, the transcript and the proof of work use it.
// Fully unrolled: every message index is known at compile time, so that zero words cost nothing.
#pragma once

#include "kernels/device/compat.cuh"
#include "prover/field/m31.hpp"

namespace stwo::gpu {

STWO_CONSTANT uint32_t kIv0 = 0x6a09e667, kIv1 = 0xbb67ae85, kIv2 = 0x3c6ef372, kIv3 = 0xa54ff53a,
                       kIv4 = 0x510e527f, kIv5 = 0x9b05688c, kIv6 = 0x1f83d9ab, kIv7 = 0x5be0cd19;

/// kSteered: half of the three-input additions go to the multiplier's pipe. Faster where throughput
/// counts, slower where a chain of hashes decides or most message words are zero:
/// experiments/0003-cuda-direct has the figures.
template <bool kSteered>
STWO_DEVICE void blake2s_g(uint32_t& a, uint32_t& b, uint32_t& c, uint32_t& d, uint32_t x,
                           uint32_t y) {
  a = (kSteered ? add_by_multiplier(a, b) : a + b) + x;
  d = rotate_right(d ^ a, 16);
  c = c + d;
  b = rotate_right(b ^ c, 12);
  a = (kSteered ? add_by_multiplier(a, b) : a + b) + y;
  d = rotate_right(d ^ a, 8);
  c = c + d;
  b = rotate_right(b ^ c, 7);
}

#define STWO_BLAKE2S_ROUND(s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14, s15) \
  blake2s_g<kSteered>(v0, v4, v8, v12, m[s0], m[s1]);                                            \
  blake2s_g<kSteered>(v1, v5, v9, v13, m[s2], m[s3]);                                            \
  blake2s_g<kSteered>(v2, v6, v10, v14, m[s4], m[s5]);                                           \
  blake2s_g<kSteered>(v3, v7, v11, v15, m[s6], m[s7]);                                           \
  blake2s_g<kSteered>(v0, v5, v10, v15, m[s8], m[s9]);                                           \
  blake2s_g<kSteered>(v1, v6, v11, v12, m[s10], m[s11]);                                         \
  blake2s_g<kSteered>(v2, v7, v8, v13, m[s12], m[s13]);                                          \
  blake2s_g<kSteered>(v3, v4, v9, v14, m[s14], m[s15])

/// Chaining state of a hash; starts at the parameter block's value.
struct Blake2sState {
  uint32_t h[8];
  STWO_DEVICE Blake2sState() {
    h[0] = kIv0 ^ 0x01010020u;
    h[1] = kIv1;
    h[2] = kIv2;
    h[3] = kIv3;
    h[4] = kIv4;
    h[5] = kIv5;
    h[6] = kIv6;
    h[7] = kIv7;
  }
  /// Absorbs one block. n_bytes: length of the message up to and with this block.
  template <bool kSteered = true>
  STWO_DEVICE void compress(const uint32_t (&m)[16], uint32_t n_bytes, bool last) {
    uint32_t v0 = h[0], v1 = h[1], v2 = h[2], v3 = h[3];
    uint32_t v4 = h[4], v5 = h[5], v6 = h[6], v7 = h[7];
    uint32_t v8 = kIv0, v9 = kIv1, v10 = kIv2, v11 = kIv3;
    uint32_t v12 = kIv4 ^ n_bytes, v13 = kIv5, v14 = last ? ~kIv6 : kIv6, v15 = kIv7;
    STWO_BLAKE2S_ROUND(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    STWO_BLAKE2S_ROUND(14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3);
    STWO_BLAKE2S_ROUND(11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4);
    STWO_BLAKE2S_ROUND(7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8);
    STWO_BLAKE2S_ROUND(9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13);
    STWO_BLAKE2S_ROUND(2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9);
    STWO_BLAKE2S_ROUND(12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11);
    STWO_BLAKE2S_ROUND(13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10);
    STWO_BLAKE2S_ROUND(6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5);
    STWO_BLAKE2S_ROUND(10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0);
    h[0] ^= v0 ^ v8;
    h[1] ^= v1 ^ v9;
    h[2] ^= v2 ^ v10;
    h[3] ^= v3 ^ v11;
    h[4] ^= v4 ^ v12;
    h[5] ^= v5 ^ v13;
    h[6] ^= v6 ^ v14;
    h[7] ^= v7 ^ v15;
  }
  /// The M31 variant's output: words modulo P.
  STWO_DEVICE void reduce() {
    STWO_UNROLL
    for (int i = 0; i < 8; ++i) h[i] = M31::reduce(h[i]).v;
  }
};

/// A digest in memory: eight words, 16-byte aligned.
STWO_DEVICE void store_digest(uint32_t* p, const Blake2sState& s) {
  store4(p, {s.h[0], s.h[1], s.h[2], s.h[3]});
  store4(p + 4, {s.h[4], s.h[5], s.h[6], s.h[7]});
}

}  // namespace stwo::gpu

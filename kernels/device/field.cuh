// M31 arithmetic on raw words for hot loops. Values are canonical, 0 <= v < P, unless said
// otherwise. The comparisons of prover/field become unsigned minima here: two instructions instead
// of three.
#pragma once

#include "kernels/device/compat.cuh"
#include "prover/circle/domain.hpp"
#include "prover/field/qm31.hpp"

namespace stwo::gpu {

STWO_DEVICE uint32_t minimum(uint32_t a, uint32_t b) { return a < b ? a : b; }
/// a + b < 2P + 1 gives a value below P (or P itself for 2P).
STWO_DEVICE uint32_t m31_add(uint32_t a, uint32_t b) {
  const uint32_t s = a + b;
  return minimum(s, s - kP);
}
STWO_DEVICE uint32_t m31_sub(uint32_t a, uint32_t b) {
  const uint32_t d = a - b;
  return minimum(d, d + kP);
}
/// Product of a and a twiddle factor kept doubled (prover/poly/twiddles.hpp): the two halves of the
/// 64-bit product are quotient and remainder by 2^31.
STWO_DEVICE uint32_t m31_mul_doubled(uint32_t a, uint32_t doubled) {
  const uint64_t p = static_cast<uint64_t>(a) * doubled;
  return m31_add(static_cast<uint32_t>(p >> 32), static_cast<uint32_t>(p) >> 1);
}
STWO_DEVICE uint32_t m31_mul(uint32_t a, uint32_t b) { return m31_mul_doubled(a, 2 * b); }
/// x 2^shift, 0 <= shift < 31: 2^31 = 1, so it is a rotation of 31 bits.
STWO_DEVICE uint32_t m31_rotate(uint32_t x, uint32_t shift) {
  return ((x << shift) | (x >> (31 - shift))) & kP;
}
/// Any 64-bit value modulo P.
STWO_DEVICE uint32_t m31_reduce(uint64_t x) {
  const uint32_t low = static_cast<uint32_t>(x) & kP;
  const uint32_t middle = static_cast<uint32_t>(x >> 31) & kP;
  const uint32_t high = static_cast<uint32_t>(x >> 62);
  return m31_add(m31_add(low, middle), high);
}

/// Sum of products of M31 with one QM31 each, kept in 64 bits. A product is below 2^62, so three
/// fit beside a folded remainder of 2^62 + 3.
struct SecureAccumulator {
  uint64_t v[4] = {0, 0, 0, 0};

  STWO_DEVICE void add(uint32_t w0, uint32_t w1, uint32_t w2, uint32_t w3, uint32_t x) {
    v[0] += static_cast<uint64_t>(w0) * x;
    v[1] += static_cast<uint64_t>(w1) * x;
    v[2] += static_cast<uint64_t>(w2) * x;
    v[3] += static_cast<uint64_t>(w3) * x;
  }
  /// 2^62 = 1: moves the two top bits down. Call at least after every third add.
  STWO_DEVICE void fold() {
    STWO_UNROLL
    for (int k = 0; k < 4; ++k) {
      v[k] = (v[k] & ((uint64_t{1} << 62) - 1)) + (v[k] >> 62);
    }
  }
  STWO_DEVICE QM31 value() const {
    return QM31(M31(m31_reduce(v[0])), M31(m31_reduce(v[1])), M31(m31_reduce(v[2])),
                M31(m31_reduce(v[3])));
  }
};

/// A QM31 kept as four words in memory, 16-byte aligned.
STWO_DEVICE QM31 load_secure(const uint32_t* p) {
  const Word4 w = load4(p);
  return QM31(M31(w.x), M31(w.y), M31(w.z), M31(w.w));
}
STWO_DEVICE void store_secure(uint32_t* p, QM31 q) {
  store4(p, {q.x.a.v, q.x.b.v, q.y.a.v, q.y.b.v});
}
/// Element i of four coordinate columns `stride` words apart.
STWO_DEVICE QM31 load_coordinates(const uint32_t* base, uint64_t stride, uint64_t i) {
  return QM31(M31(base[i]), M31(base[i + stride]), M31(base[i + 2 * stride]),
              M31(base[i + 3 * stride]));
}
STWO_DEVICE void store_coordinates(uint32_t* base, uint64_t stride, uint64_t i, QM31 q) {
  base[i] = q.x.a.v;
  base[i + stride] = q.x.b.v;
  base[i + 2 * stride] = q.y.a.v;
  base[i + 3 * stride] = q.y.b.v;
}

/// Row at which a column `shift` times halved is read for row i (lifted_position).
STWO_DEVICE uint64_t lifted_row(uint64_t i, uint32_t shift) { return lifted_position(i, shift, 0); }

}  // namespace stwo::gpu

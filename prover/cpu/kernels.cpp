// SIMD kernels, compiled once per instruction set, and their run-time dispatch.

#include "prover/cpu/kernels.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "prover/cpu/kernels.cpp"
#include "hwy/foreach_target.h"
// The order matters: foreach_target first.
#include "prover/cpu/blake2s-inl.h"
#include "prover/cpu/fft-inl.h"
#include "prover/cpu/packed-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stwo {
namespace HWY_NAMESPACE {

using cpu::HashLayer;
using cpu::LeafColumn;
using cpu::QuotientPoint;
using cpu::SecureColumns;

HWY_INLINE PackedQM31 LoadSecure(const SecureColumns& s, uint64_t i) {
  PackedQM31 r;
  for (uint32_t k = 0; k < 4; ++k) r.c[k] = PackedM31(Load(s.c[k] + i));
  return r;
}
HWY_INLINE void StoreSecure(const PackedQM31& v, const SecureColumns& s, uint64_t i) {
  for (uint32_t k = 0; k < 4; ++k) Store(v.c[k].v, s.c[k] + i);
}

// ---- hashing ------------------------------------------------------------------------------------

/// Message word of leaves p.. for one column.
HWY_INLINE V32 LeafWord(const LeafColumn& column, uint64_t p) {
  if (column.shift == 0) return Load(column.values + p);
  M31 lanes[kLanes];
  for (size_t i = 0; i < kLanes; ++i) {
    const uint64_t q = p + i;
    lanes[i] = column.values[((q >> (column.shift + 1)) << 1) | (q & 1)];
  }
  return Load(lanes);
}

/// Stores a vector of digests into the planes, also where the layer is shorter than a vector.
HWY_INLINE void StoreNodes(HashVariant variant, const V32 h[8], const HashLayer& out, uint64_t at) {
  const uint64_t size = uint64_t{1} << out.log_size;
  if (size >= kLanes) {
    StoreDigest(variant, h, out.words + at, size);
    return;
  }
  alignas(64) uint32_t words[8 * kLanes];
  StoreDigest(variant, h, words, kLanes);
  for (uint64_t w = 0; w < 8; ++w) {
    for (uint64_t i = 0; i < size; ++i) out.words[w * size + i] = words[w * kLanes + i];
  }
}

void HashLeaves(HashVariant variant, const LeafColumn* columns, size_t n_columns,
                const HashLayer& out, uint64_t begin, uint64_t end) {
  // A tile of leaves absorbs sixteen columns at a time: the states stay in the L1 cache and each
  // column is read in runs of whole cache lines.
  constexpr size_t kTileVectors = 16;
  constexpr uint64_t kTile = kTileVectors * kLanes;
  const D32 d;
  alignas(64) uint32_t states[kTileVectors * 8 * kLanes];
  const size_t n_blocks = n_columns == 0 ? 1 : (n_columns + 15) / 16;
  for (uint64_t tile = begin; tile < end; tile += kTile) {
    const uint64_t tile_end = std::min(end, tile + kTile);
    for (size_t block = 0; block < n_blocks; ++block) {
      const size_t first = block * 16;
      const size_t words = std::min<size_t>(16, n_columns - first);
      const bool last = block + 1 == n_blocks;
      const uint64_t count = 4 * (first + words);
      uint32_t* state = states;
      for (uint64_t p = tile; p < tile_end; p += kLanes, state += 8 * kLanes) {
        V32 h[8];
        if (block == 0) {
          InitState(h);
        } else {
          for (size_t w = 0; w < 8; ++w) h[w] = hn::Load(d, state + w * kLanes);
        }
        V32 m[16];
        for (size_t w = 0; w < 16; ++w) {
          m[w] = w < words ? LeafWord(columns[first + w], p) : hn::Zero(d);
        }
        // FRI layers and the composition tree have 4 and 8 columns.
        if (words <= 4) {
          Compress<4>(h, m, count, last);
        } else if (words <= 8) {
          Compress<8>(h, m, count, last);
        } else {
          Compress<16>(h, m, count, last);
        }
        if (last) {
          StoreNodes(variant, h, out, p);
        } else {
          for (size_t w = 0; w < 8; ++w) hn::Store(h[w], d, state + w * kLanes);
        }
      }
    }
  }
}

void HashPackedLeaves(HashVariant variant, const SecureColumns& values, const HashLayer& out,
                      uint64_t begin, uint64_t end) {
  for (uint64_t p = begin; p < end; p += kLanes) {
    V32 m[16];
    for (uint32_t k = 0; k < 4; ++k) {
      // Word 4 j + k of leaf p is coordinate k of value 4 p + j: a transpose by two unzips.
      const M31* c = values.c[k] + 4 * p;
      V32 a = Load(c), b = Load(c + kLanes), e = Load(c + 2 * kLanes), f = Load(c + 3 * kLanes);
      Unzip(a, b);  // values 0, 2 mod 4 in a; 1, 3 in b
      Unzip(e, f);
      V32 x0 = a, x2 = e, x1 = b, x3 = f;
      Unzip(x0, x2);
      Unzip(x1, x3);
      m[k] = x0;
      m[4 + k] = x1;
      m[8 + k] = x2;
      m[12 + k] = x3;
    }
    V32 h[8];
    InitState(h);
    Compress<16>(h, m, 64, true);
    StoreNodes(variant, h, out, p);
  }
}

void HashNodes(HashVariant variant, const HashLayer& children, const HashLayer& out, uint64_t begin,
               uint64_t end) {
  const D32 d;
  const uint64_t child_size = uint64_t{1} << children.log_size;
  for (uint64_t p = begin; p < end; p += kLanes) {
    V32 m[16];
    for (uint64_t w = 0; w < 8; ++w) {
      const uint32_t* plane = children.words + w * child_size;
      V32 a;
      V32 b;
      if (child_size >= 2 * kLanes) {
        a = hn::LoadU(d, plane + 2 * p);
        b = hn::LoadU(d, plane + 2 * p + kLanes);
      } else {
        // Short layers: the planes are closer together than a vector is long.
        uint32_t lanes[2 * kLanes] = {};
        for (uint64_t i = 0; i < child_size; ++i) lanes[i] = plane[i];
        a = hn::LoadU(d, lanes);
        b = hn::LoadU(d, lanes + kLanes);
      }
      Unzip(a, b);
      m[w] = a;
      m[8 + w] = b;
    }
    V32 h[8];
    InitState(h);
    Compress<16>(h, m, 64, true);
    StoreNodes(variant, h, out, p);
  }
}

uint64_t Grind(HashVariant variant, const Digest& prefix, uint32_t pow_bits, uint64_t begin,
               uint64_t end) {
  const D32 d;
  const uint32_t mask = pow_bits >= 32 ? 0xffffffffu : (1u << pow_bits) - 1;
  V32 m[16] = {};
  for (size_t w = 0; w < 8; ++w) m[w] = hn::Set(d, digest_word(prefix, w));
  for (uint64_t i = begin; i < end; i += kLanes) {
    // begin is a multiple of the lanes, so a vector never crosses a change of the high word.
    m[8] = hn::Iota(d, static_cast<uint32_t>(i & ((1u << 20) - 1)));
    m[9] = hn::Set(d, static_cast<uint32_t>(i >> 20));
    V32 h[8];
    InitState(h);
    Compress<10>(h, m, 40, true);
    const V32 word = variant == HashVariant::kBlake2sM31 ? ReduceWord(h[0]) : h[0];
    const auto hit = hn::Eq(hn::And(word, hn::Set(d, mask)), hn::Zero(d));
    const intptr_t lane = hn::FindFirstTrue(d, hit);
    if (lane >= 0) return std::min(end, i + static_cast<uint64_t>(lane));
  }
  return end;
}

// ---- out-of-domain values, quotients, FRI -------------------------------------------------------

void ScaleSecure(const SecureColumns& values, uint64_t n, QM31 factor, uint64_t begin,
                 uint64_t end) {
  if (n < kLanes) {
    for (uint64_t i = begin; i < end; ++i) values.set(n + i, values.at(i) * factor);
    return;
  }
  const PackedQM31 f = PackedQM31::broadcast(factor);
  for (uint64_t i = begin; i < end; i += kLanes) {
    StoreSecure(LoadSecure(values, i) * f, values, n + i);
  }
}

void SubtractConstant(M31* values, M31 constant, uint64_t begin, uint64_t end) {
  const V32 c = Broadcast(constant);
  for (uint64_t i = begin; i < end; i += kLanes) Store(SubM31(Load(values + i), c), values + i);
}

HWY_INLINE M31 SumLanes(V32 v) {
  alignas(64) uint32_t lanes[kLanes];
  hn::Store(v, D32(), lanes);
  M31 s;
  for (const uint32_t x : lanes) s += M31(x);
  return s;
}

/// Two columns share one read of the weights.
template <size_t kColumns>
HWY_INLINE void WeightedSumsOf(const SecureColumns& weights, const M31* const* columns,
                               uint64_t begin, uint64_t end, QM31* sums) {
  V64 even[kColumns][4];
  V64 odd[kColumns][4];
  for (size_t j = 0; j < kColumns; ++j) {
    for (int k = 0; k < 4; ++k) even[j][k] = odd[j][k] = hn::Zero(D64());
  }
  uint32_t pending = 0;
  for (uint64_t i = begin; i < end; i += kLanes) {
    if (pending == 3) {
      for (size_t j = 0; j < kColumns; ++j) {
        for (int k = 0; k < 4; ++k) {
          even[j][k] = FoldOnce(even[j][k]);
          odd[j][k] = FoldOnce(odd[j][k]);
        }
      }
      pending = 0;
    }
    ++pending;
    V32 v[kColumns];
    V32 v_odd[kColumns];
    for (size_t j = 0; j < kColumns; ++j) {
      v[j] = Load(columns[j] + i);
      v_odd[j] = OddToEven(v[j]);
    }
    for (int k = 0; k < 4; ++k) {
      const V32 w = Load(weights.c[k] + i);
      const V32 w_odd = OddToEven(w);
      for (size_t j = 0; j < kColumns; ++j) {
        even[j][k] = hn::Add(even[j][k], hn::MulEven(w, v[j]));
        odd[j][k] = hn::Add(odd[j][k], hn::MulEven(w_odd, v_odd[j]));
      }
    }
  }
  for (size_t j = 0; j < kColumns; ++j) {
    QM31 s;
    for (uint32_t k = 0; k < 4; ++k) {
      s.set_coordinate(k, SumLanes(ReduceLanes(even[j][k], odd[j][k])));
    }
    sums[j] += s;
  }
}

void WeightedSums(const SecureColumns& weights, const M31* const* columns, size_t n, uint64_t begin,
                  uint64_t end, QM31* sums) {
  if (end - begin < kLanes) {
    for (size_t j = 0; j < n; ++j) {
      for (uint64_t i = begin; i < end; ++i) sums[j] += weights.at(i) * columns[j][i];
    }
    return;
  }
  size_t j = 0;
  for (; j + 2 <= n; j += 2) WeightedSumsOf<2>(weights, columns + j, begin, end, sums + j);
  if (j < n) WeightedSumsOf<1>(weights, columns + j, begin, end, sums + j);
}

void CombineColumns(const M31* const* columns, const QM31* factors, size_t n,
                    const SecureColumns& out, bool accumulate, uint64_t begin, uint64_t end) {
  for (uint64_t i = begin; i < end; i += kLanes) {
    SecureMac mac;
    for (size_t j = 0; j < n; ++j) {
      hwy::Prefetch(columns[j] + i + 2 * kLanes);
      mac.add(factors[j], Load(columns[j] + i));
    }
    PackedQM31 r = mac.reduce();
    if (accumulate) r = r + LoadSecure(out, i);
    StoreSecure(r, out, i);
  }
}

/// x^(2^31 - 3) = 1/x, with the addition chain that doubles runs of ones.
HWY_INLINE PackedM31 Inverse(PackedM31 x) {
  const auto square_n = [](PackedM31 v, int n) HWY_ATTR {
    for (int i = 0; i < n; ++i) v = v * v;
    return v;
  };
  const PackedM31 x2 = square_n(x, 1) * x;      // 2^2 - 1
  const PackedM31 x4 = square_n(x2, 2) * x2;    // 2^4 - 1
  const PackedM31 x8 = square_n(x4, 4) * x4;    // 2^8 - 1
  const PackedM31 x16 = square_n(x8, 8) * x8;   // 2^16 - 1
  const PackedM31 x24 = square_n(x16, 8) * x8;  // 2^24 - 1
  const PackedM31 x28 = square_n(x24, 4) * x4;  // 2^28 - 1
  const PackedM31 x29 = square_n(x28, 1) * x;   // 2^29 - 1
  return square_n(x29, 2) * x;                  // 2^31 - 4 + 1
}

void FinishQuotient(const QuotientPoint& point, const SecureColumns& numerators,
                    const M31* domain_x, const M31* domain_y, const SecureColumns& out,
                    bool accumulate, uint64_t begin, uint64_t end) {
  const PackedQM31 slope = PackedQM31::broadcast(point.line_slope);
  const PackedQM31 offset = PackedQM31::broadcast(point.line_offset);
  const PackedQM31 qx = PackedQM31::broadcast(point.x);
  const PackedQM31 qy = PackedQM31::broadcast(point.y);
  for (uint64_t i = begin; i < end; i += kLanes) {
    const PackedM31 x(Load(domain_x + i));
    const PackedM31 y(Load(domain_y + i));
    // (Re q.x - x) Im q.y - (Re q.y - y) Im q.x, in CM31.
    const PackedM31 a0 = qx.c[0] - x;
    const PackedM31 a1 = qx.c[1];
    const PackedM31 b0 = qy.c[0] - y;
    const PackedM31 b1 = qy.c[1];
    const PackedM31 re = (a0 * qy.c[2] - a1 * qy.c[3]) - (b0 * qx.c[2] - b1 * qx.c[3]);
    const PackedM31 im = (a0 * qy.c[3] + a1 * qy.c[2]) - (b0 * qx.c[3] + b1 * qx.c[2]);
    const PackedM31 norm_inverse = Inverse(re * re + im * im);
    const PackedM31 inv_re = re * norm_inverse;
    const PackedM31 inv_im = -(im * norm_inverse);
    const PackedQM31 numerator = LoadSecure(numerators, i) - (slope * y + offset);
    PackedQM31 r;
    for (int k = 0; k < 4; k += 2) {
      r.c[k] = numerator.c[k] * inv_re - numerator.c[k + 1] * inv_im;
      r.c[k + 1] = numerator.c[k] * inv_im + numerator.c[k + 1] * inv_re;
    }
    if (accumulate) r = r + LoadSecure(out, i);
    StoreSecure(r, out, i);
  }
}

void LiftAdd(const SecureColumns& source, uint32_t shift, const SecureColumns& out, uint64_t begin,
             uint64_t end) {
  if (shift == 0) {
    for (uint64_t i = begin; i < end; i += kLanes) {
      StoreSecure(LoadSecure(source, i) + LoadSecure(out, i), out, i);
    }
    return;
  }
  for (uint64_t p = begin; p < end; ++p) {
    const uint64_t q = ((p >> (shift + 1)) << 1) | (p & 1);
    out.set(p, out.at(p) + source.at(q));
  }
}

void Fold(const SecureColumns& in, const uint32_t* inverse, QM31 beta, const SecureColumns& out,
          uint64_t begin, uint64_t end) {
  const auto scalar = [&](uint64_t k) {
    const QM31 f0 = in.at(2 * k);
    const QM31 f1 = in.at(2 * k + 1);
    out.set(k, (f0 + f1) + beta * ((f0 - f1) * M31(inverse[k] / 2)));
  };
  if (end - begin < kLanes) {
    for (uint64_t k = begin; k < end; ++k) scalar(k);
    return;
  }
  const PackedQM31 b = PackedQM31::broadcast(beta);
  for (uint64_t k = begin; k < end; k += kLanes) {
    PackedQM31 f0;
    PackedQM31 f1;
    for (uint32_t c = 0; c < 4; ++c) {
      V32 lo = Load(in.c[c] + 2 * k);
      V32 hi = Load(in.c[c] + 2 * k + kLanes);
      Unzip(lo, hi);
      f0.c[c] = PackedM31(lo);
      f1.c[c] = PackedM31(hi);
    }
    const V32 inv = hn::LoadU(D32(), inverse + k);
    const V32 inv_odd = OddToEven(inv);
    const PackedQM31 difference = f0 - f1;
    PackedQM31 scaled;
    for (int c = 0; c < 4; ++c) {
      scaled.c[c] = PackedM31(MulDoubled(difference.c[c].v, inv, inv_odd));
    }
    StoreSecure((f0 + f1) + b * scaled, out, k);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stwo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stwo {

HWY_EXPORT(InterpolateKernel);
HWY_EXPORT(EvaluateKernel);
HWY_EXPORT(HashLeaves);
HWY_EXPORT(HashPackedLeaves);
HWY_EXPORT(HashNodes);
HWY_EXPORT(Grind);
HWY_EXPORT(ScaleSecure);
HWY_EXPORT(SubtractConstant);
HWY_EXPORT(WeightedSums);
HWY_EXPORT(CombineColumns);
HWY_EXPORT(FinishQuotient);
HWY_EXPORT(LiftAdd);
HWY_EXPORT(Fold);

namespace cpu {

Digest HashLayer::node(uint64_t i) const {
  Digest out;
  for (uint32_t w = 0; w < 8; ++w) {
    const uint32_t word = words[(uint64_t{w} << log_size) + i];
    for (uint32_t b = 0; b < 4; ++b) out[4 * w + b] = static_cast<uint8_t>(word >> (8 * b));
  }
  return out;
}

void interpolate(const M31* in, M31* out, uint32_t log_size, const FftLayers& inverse,
                 uint64_t block) {
  HWY_DYNAMIC_DISPATCH(InterpolateKernel)(in, out, log_size, inverse, block);
}
void evaluate(const M31* in, M31* out, uint32_t log_size, const FftLayers& forward,
              uint64_t block) {
  HWY_DYNAMIC_DISPATCH(EvaluateKernel)(in, out, log_size, forward, block);
}
void hash_leaves(HashVariant variant, const LeafColumn* columns, size_t n_columns,
                 const HashLayer& out, uint64_t begin, uint64_t end) {
  HWY_DYNAMIC_DISPATCH(HashLeaves)(variant, columns, n_columns, out, begin, end);
}
void hash_packed_leaves(HashVariant variant, const SecureColumns& values, const HashLayer& out,
                        uint64_t begin, uint64_t end) {
  HWY_DYNAMIC_DISPATCH(HashPackedLeaves)(variant, values, out, begin, end);
}
void hash_nodes(HashVariant variant, const HashLayer& children, const HashLayer& out,
                uint64_t begin, uint64_t end) {
  HWY_DYNAMIC_DISPATCH(HashNodes)(variant, children, out, begin, end);
}
uint64_t grind(HashVariant variant, const Digest& prefix, uint32_t pow_bits, uint64_t begin,
               uint64_t end) {
  return HWY_DYNAMIC_DISPATCH(Grind)(variant, prefix, pow_bits, begin, end);
}
void scale_secure(const SecureColumns& values, uint64_t n, QM31 factor, uint64_t begin,
                  uint64_t end) {
  HWY_DYNAMIC_DISPATCH(ScaleSecure)(values, n, factor, begin, end);
}
void subtract_constant(M31* values, M31 constant, uint64_t begin, uint64_t end) {
  HWY_DYNAMIC_DISPATCH(SubtractConstant)(values, constant, begin, end);
}
void weighted_sums(const SecureColumns& weights, const M31* const* columns, size_t n,
                   uint64_t begin, uint64_t end, QM31* sums) {
  HWY_DYNAMIC_DISPATCH(WeightedSums)(weights, columns, n, begin, end, sums);
}
void combine_columns(const M31* const* columns, const QM31* factors, size_t n,
                     const SecureColumns& out, bool accumulate, uint64_t begin, uint64_t end) {
  HWY_DYNAMIC_DISPATCH(CombineColumns)(columns, factors, n, out, accumulate, begin, end);
}
void finish_quotient(const QuotientPoint& point, const SecureColumns& numerators,
                     const M31* domain_x, const M31* domain_y, const SecureColumns& out,
                     bool accumulate, uint64_t begin, uint64_t end) {
  HWY_DYNAMIC_DISPATCH(FinishQuotient)
  (point, numerators, domain_x, domain_y, out, accumulate, begin, end);
}
void lift_add(const SecureColumns& source, uint32_t shift, const SecureColumns& out, uint64_t begin,
              uint64_t end) {
  HWY_DYNAMIC_DISPATCH(LiftAdd)(source, shift, out, begin, end);
}
void fold(const SecureColumns& in, const uint32_t* inverse, QM31 beta, const SecureColumns& out,
          uint64_t begin, uint64_t end) {
  HWY_DYNAMIC_DISPATCH(Fold)(in, inverse, beta, out, begin, end);
}

std::string instruction_set() {
  const int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
  // Highway numbers targets best first.
  const int64_t best = targets & -targets;
  switch (best) {
    case HWY_AVX3: return "avx512";
    case HWY_AVX2: return "avx2";
    case HWY_SSE4: return "sse4";
    case HWY_NEON: return "neon";
    default: return "portable";
  }
}

}  // namespace cpu
}  // namespace stwo
#endif

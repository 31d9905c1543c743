// Circle FFT kernels over blocks of one column. Included inside Highway's per-target loop.
//
// A block of 2^n positions is split depth first: one radix-8 pass over its three outermost layers,
// then its eight children, until a child is small; the innermost layers, whose pairs lie within two
// vectors, run in registers. Every pass below 2^12 positions therefore works in the L1 cache
// whatever the column's size.
#if defined(STWO_CPU_FFT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef STWO_CPU_FFT_INL_H
#undef STWO_CPU_FFT_INL_H
#else
#define STWO_CPU_FFT_INL_H
#endif

#include <cstring>

#include "prover/circle/domain.hpp"
#include "prover/cpu/packed-inl.h"
#include "prover/poly/twiddles.hpp"

HWY_BEFORE_NAMESPACE();
namespace stwo {
namespace HWY_NAMESPACE {

static constexpr uint32_t kLogLanes = kLanes == 16 ? 4 : kLanes == 8 ? 3 : 2;
static_assert(size_t{1} << kLogLanes == kLanes, "vectors hold 4, 8 or 16 lanes");
/// Layers that run in registers: pairs at distances 1 .. kLanes.
static constexpr uint32_t kInnerLayers = kLogLanes + 1;

/// Interleaves two vectors: lanes a0 b0 a1 b1 ... in (lo, hi).
HWY_INLINE void Zip(V32& a, V32& b) {
  const D32 d;
#if HWY_TARGET == HWY_AVX3
  alignas(64) static constexpr uint32_t kLo[16] = {0, 16, 1, 17, 2, 18, 3, 19,
                                                   4, 20, 5, 21, 6, 22, 7, 23};
  alignas(64) static constexpr uint32_t kHi[16] = {8,  24, 9,  25, 10, 26, 11, 27,
                                                   12, 28, 13, 29, 14, 30, 15, 31};
  const __m512i lo = _mm512_permutex2var_epi32(a.raw, hn::Load(d, kLo).raw, b.raw);
  const __m512i hi = _mm512_permutex2var_epi32(a.raw, hn::Load(d, kHi).raw, b.raw);
  a = V32{lo};
  b = V32{hi};
#else
  const V32 lo = hn::InterleaveLower(d, a, b);
  const V32 hi = hn::InterleaveUpper(d, a, b);
  if constexpr (kLanes == 4) {
    a = lo;
    b = hi;
  } else {
    a = hn::ConcatLowerLower(d, hi, lo);
    b = hn::ConcatUpperUpper(d, hi, lo);
  }
#endif
}

/// Inverse of Zip: even-indexed elements of the concatenation in a, odd-indexed ones in b.
HWY_INLINE void Unzip(V32& a, V32& b) {
  const D32 d;
  const V32 even = hn::ConcatEven(d, b, a);
  const V32 odd = hn::ConcatOdd(d, b, a);
  a = even;
  b = odd;
}

/// A twiddle vector in the form MulDoubled takes: factors of the even lanes, factors of the odd
/// lanes, each at even positions.
struct Twiddle {
  V32 even;
  V32 odd;
};
HWY_INLINE Twiddle BroadcastTwiddle(uint32_t t2) {
  const V32 v = hn::Set(D32(), t2);
  return {v, v};
}
/// t[0..2^kLogPeriod) repeated over the lanes, by loads alone: shuffles are what the innermost
/// layers have too many of. Reads no further than the period.
template <uint32_t kLogPeriod>
HWY_INLINE V32 LoadTiled(const uint32_t* t) {
  const D32 d;
  if constexpr (kLogPeriod == kLogLanes) {
    return hn::LoadU(d, t);
  } else if constexpr (kLogPeriod == 1) {
    uint64_t pair;
    memcpy(&pair, t, sizeof(pair));
    return hn::BitCast(d, hn::Set(D64(), pair));
  } else if constexpr (kLogPeriod == 2) {
#if HWY_TARGET == HWY_AVX3
    return V32{_mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(t)))};
#elif HWY_TARGET == HWY_AVX2
    return V32{_mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(t)))};
#endif
  } else {
    static_assert(kLogPeriod == 3, "period 0 is a broadcast");
#if HWY_TARGET == HWY_AVX3
    return V32{_mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(t)))};
#endif
  }
}
template <uint32_t kLogPeriod>
HWY_INLINE Twiddle TiledTwiddle(const uint32_t* t) {
  if constexpr (kLogPeriod == 0) {
    return BroadcastTwiddle(t[0]);
  } else {
    // One word further on, the odd factors lie at even positions. (The last odd position then holds
    // a word from beyond the period, which is not used; buffers are padded.)
    return {LoadTiled<kLogPeriod>(t), LoadTiled<kLogPeriod>(t + 1)};
  }
}

HWY_INLINE void ForwardButterfly(V32& a, V32& b, const Twiddle& t) {
  const V32 m = MulDoubled(b, t.even, t.odd);
  b = SubM31(a, m);
  a = AddM31(a, m);
}
HWY_INLINE void InverseButterfly(V32& a, V32& b, const Twiddle& t) {
  const V32 s = AddM31(a, b);
  b = MulDoubled(SubM31(a, b), t.even, t.odd);
  a = s;
}

/// Multiplies by 2^shift: a rotation of 31 bits.
HWY_INLINE V32 MulPowerOfTwo(V32 v, int shift) {
  if (shift == 0) return v;
  const V32 high = hn::And(hn::ShiftLeftSame(v, shift), SetP());
  return hn::Or(high, hn::ShiftRightSame(v, 31 - shift));
}

/// Innermost layers of kPairs pairs from pair q on (positions 2 kLanes q ...), forward: layer
/// kLogLanes down to 0. A pair's layers depend on each other; several pairs side by side keep the
/// execution ports busy, which out-of-order execution alone does not reach far enough ahead to do.
template <uint32_t kPairs, uint32_t kLayer>
HWY_INLINE void ForwardInner(V32* a, V32* b, const FftLayers& tw, uint64_t q) {
  // After i interleavings a lane's low bits are the group number within the pair, so the factors
  // are the 2^i of this pair, tiled.
  constexpr uint32_t kDone = kLogLanes - kLayer;
  for (uint32_t p = 0; p < kPairs; ++p) {
    ForwardButterfly(a[p], b[p], TiledTwiddle<kDone>(tw.layer[kLayer] + ((q + p) << kDone)));
    Zip(a[p], b[p]);
  }
  if constexpr (kLayer > 0) ForwardInner<kPairs, kLayer - 1>(a, b, tw, q);
}
template <uint32_t kPairs, uint32_t kLayer>
HWY_INLINE void InverseInner(V32* a, V32* b, const FftLayers& tw, uint64_t q) {
  constexpr uint32_t kPeriod = kLogLanes - kLayer;
  for (uint32_t p = 0; p < kPairs; ++p) {
    Unzip(a[p], b[p]);
    InverseButterfly(a[p], b[p], TiledTwiddle<kPeriod>(tw.layer[kLayer] + ((q + p) << kPeriod)));
  }
  if constexpr (kLayer < kLogLanes) InverseInner<kPairs, kLayer + 1>(a, b, tw, q);
}

/// Pairs worked on side by side: what the registers hold.
static constexpr uint32_t kInnerPairs = kLanes == 16 ? 4 : 2;

template <uint32_t kPairs>
HWY_INLINE void ForwardPairs(const M31* in, M31* out, const FftLayers& tw, uint64_t first,
                             uint64_t q) {
  V32 a[kPairs];
  V32 b[kPairs];
  for (uint32_t p = 0; p < kPairs; ++p) {
    a[p] = Load(in + 2 * (q + p) * kLanes);
    b[p] = Load(in + (2 * (q + p) + 1) * kLanes);
  }
  ForwardInner<kPairs, kLogLanes>(a, b, tw, first + q);
  for (uint32_t p = 0; p < kPairs; ++p) {
    Store(a[p], out + 2 * (q + p) * kLanes);
    Store(b[p], out + (2 * (q + p) + 1) * kLanes);
  }
}
template <uint32_t kPairs>
HWY_INLINE void InversePairs(const M31* in, M31* out, const FftLayers& tw, uint64_t first,
                             uint64_t q, int scale_shift) {
  V32 a[kPairs];
  V32 b[kPairs];
  for (uint32_t p = 0; p < kPairs; ++p) {
    a[p] = MulPowerOfTwo(Load(in + 2 * (q + p) * kLanes), scale_shift);
    b[p] = MulPowerOfTwo(Load(in + (2 * (q + p) + 1) * kLanes), scale_shift);
  }
  InverseInner<kPairs, 0>(a, b, tw, first + q);
  for (uint32_t p = 0; p < kPairs; ++p) {
    Store(a[p], out + 2 * (q + p) * kLanes);
    Store(b[p], out + (2 * (q + p) + 1) * kLanes);
  }
}

/// Factors of a block's kRadix outermost layers: layer n - 1 - r has 2^r, from t[2^r - 1] on.
template <uint32_t kRadix>
HWY_INLINE void LoadPassTwiddles(Twiddle* t, uint32_t n, const FftLayers& tw, uint64_t block) {
  for (uint32_t r = 0; r < kRadix; ++r) {
    for (uint32_t h = 0; h < (1u << r); ++h) {
      t[(1u << r) - 1 + h] = BroadcastTwiddle(tw.layer[n - 1 - r][(block << r) + h]);
    }
  }
}

/// Outermost kRadix layers of one block of 2^n, forward. in == out allowed.
template <uint32_t kRadix>
HWY_INLINE void ForwardPass(const M31* in, M31* out, uint32_t n, const FftLayers& tw,
                            uint64_t block) {
  constexpr uint32_t kCount = 1u << kRadix;
  const uint64_t stride = uint64_t{1} << (n - kRadix);
  Twiddle t[kCount];
  LoadPassTwiddles<kRadix>(t, n, tw, block);
  for (uint64_t l = 0; l < stride; l += kLanes) {
    V32 v[kCount];
    for (uint32_t j = 0; j < kCount; ++j) v[j] = Load(in + j * stride + l);
    for (uint32_t r = 0; r < kRadix; ++r) {
      const uint32_t half = kCount >> (r + 1);
      for (uint32_t h = 0; h < (1u << r); ++h) {
        for (uint32_t j = 0; j < half; ++j) {
          ForwardButterfly(v[2 * h * half + j], v[2 * h * half + half + j], t[(1u << r) - 1 + h]);
        }
      }
    }
    for (uint32_t j = 0; j < kCount; ++j) Store(v[j], out + j * stride + l);
  }
}

template <uint32_t kRadix>
HWY_INLINE void InversePass(M31* data, uint32_t n, const FftLayers& tw, uint64_t block) {
  constexpr uint32_t kCount = 1u << kRadix;
  const uint64_t stride = uint64_t{1} << (n - kRadix);
  Twiddle t[kCount];
  LoadPassTwiddles<kRadix>(t, n, tw, block);
  for (uint64_t l = 0; l < stride; l += kLanes) {
    V32 v[kCount];
    for (uint32_t j = 0; j < kCount; ++j) v[j] = Load(data + j * stride + l);
    for (uint32_t r = kRadix; r-- > 0;) {
      const uint32_t half = kCount >> (r + 1);
      for (uint32_t h = 0; h < (1u << r); ++h) {
        for (uint32_t j = 0; j < half; ++j) {
          InverseButterfly(v[2 * h * half + j], v[2 * h * half + half + j], t[(1u << r) - 1 + h]);
        }
      }
    }
    for (uint32_t j = 0; j < kCount; ++j) Store(v[j], data + j * stride + l);
  }
}

inline void ForwardBlock(const M31* in, M31* out, uint32_t n, const FftLayers& tw, uint64_t block) {
  const uint32_t outer = n - kInnerLayers;
  if (outer > 3) {
    ForwardPass<3>(in, out, n, tw, block);
    for (uint64_t c = 0; c < 8; ++c) {
      M31* child = out + (c << (n - 3));
      ForwardBlock(child, child, n - 3, tw, 8 * block + c);
    }
    return;
  }
  const M31* source = in;
  if (outer == 3) ForwardPass<3>(in, out, n, tw, block), source = out;
  if (outer == 2) ForwardPass<2>(in, out, n, tw, block), source = out;
  if (outer == 1) ForwardPass<1>(in, out, n, tw, block), source = out;
  const uint64_t pairs = uint64_t{1} << outer;
  uint64_t q = 0;
  for (; q + kInnerPairs <= pairs; q += kInnerPairs) {
    ForwardPairs<kInnerPairs>(source, out, tw, block << outer, q);
  }
  for (; q < pairs; ++q) ForwardPairs<1>(source, out, tw, block << outer, q);
}

inline void InverseBlock(const M31* in, M31* out, uint32_t n, const FftLayers& tw, uint64_t block,
                         int scale_shift) {
  const uint32_t outer = n - kInnerLayers;
  if (outer > 3) {
    for (uint64_t c = 0; c < 8; ++c) {
      const uint64_t at = c << (n - 3);
      InverseBlock(in + at, out + at, n - 3, tw, 8 * block + c, scale_shift);
    }
    InversePass<3>(out, n, tw, block);
    return;
  }
  const uint64_t pairs = uint64_t{1} << outer;
  uint64_t q = 0;
  for (; q + kInnerPairs <= pairs; q += kInnerPairs) {
    InversePairs<kInnerPairs>(in, out, tw, block << outer, q, scale_shift);
  }
  for (; q < pairs; ++q) InversePairs<1>(in, out, tw, block << outer, q, scale_shift);
  if (outer == 3) InversePass<3>(out, n, tw, block);
  if (outer == 2) InversePass<2>(out, n, tw, block);
  if (outer == 1) InversePass<1>(out, n, tw, block);
}

/// Blocks too small for vectors.
inline void ForwardScalar(const M31* in, M31* out, uint32_t n, const FftLayers& tw,
                          uint64_t block) {
  const uint64_t size = uint64_t{1} << n;
  for (uint64_t i = 0; i < size; ++i) out[i] = in[i];
  for (uint32_t k = n; k-- > 0;) {
    const uint32_t* t = tw.layer[k] + (block << (n - 1 - k));
    for (uint64_t h = 0; h < (size >> (k + 1)); ++h) {
      for (uint64_t l = 0; l < (uint64_t{1} << k); ++l) {
        M31& a = out[(h << (k + 1)) + l];
        M31& b = out[(h << (k + 1)) + (uint64_t{1} << k) + l];
        const M31 m = b * M31(t[h] / 2);
        b = a - m;
        a = a + m;
      }
    }
  }
}
inline void InverseScalar(const M31* in, M31* out, uint32_t n, const FftLayers& tw,
                          uint64_t block) {
  const uint64_t size = uint64_t{1} << n;
  const M31 scale = inverse_power_of_two(n);
  for (uint64_t i = 0; i < size; ++i) out[i] = in[i] * scale;
  for (uint32_t k = 0; k < n; ++k) {
    const uint32_t* t = tw.layer[k] + (block << (n - 1 - k));
    for (uint64_t h = 0; h < (size >> (k + 1)); ++h) {
      for (uint64_t l = 0; l < (uint64_t{1} << k); ++l) {
        M31& a = out[(h << (k + 1)) + l];
        M31& b = out[(h << (k + 1)) + (uint64_t{1} << k) + l];
        const M31 s = a + b;
        b = (a - b) * M31(t[h] / 2);
        a = s;
      }
    }
  }
}

inline void EvaluateKernel(const M31* in, M31* out, uint32_t n, const FftLayers& tw,
                           uint64_t block) {
  if (n < kInnerLayers) {
    ForwardScalar(in, out, n, tw, block);
  } else {
    ForwardBlock(in, out, n, tw, block);
  }
}
inline void InterpolateKernel(const M31* in, M31* out, uint32_t n, const FftLayers& tw,
                              uint64_t block) {
  if (n < kInnerLayers) {
    InverseScalar(in, out, n, tw, block);
  } else {
    InverseBlock(in, out, n, tw, block, static_cast<int>((31 - n % 31) % 31));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stwo
HWY_AFTER_NAMESPACE();

#endif  // STWO_CPU_FFT_INL_H

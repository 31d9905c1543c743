// Blake2s over lanes: each lane of a vector is an independent hash. Included inside Highway's
// per-target loop.
#if defined(STWO_CPU_BLAKE2S_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef STWO_CPU_BLAKE2S_INL_H
#undef STWO_CPU_BLAKE2S_INL_H
#else
#define STWO_CPU_BLAKE2S_INL_H
#endif

#include "prover/cpu/packed-inl.h"
#include "prover/hash/blake2s.hpp"

HWY_BEFORE_NAMESPACE();
namespace stwo {
namespace HWY_NAMESPACE {

template <int kBits>
HWY_INLINE V32 Rotr(V32 v) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
  // No vector rotate before AVX-512; whole bytes move with one shuffle.
  if constexpr (kBits == 16 || kBits == 8) {
    const hn::Repartition<uint8_t, D32> d8;
    alignas(16) static constexpr uint8_t k16[16] = {2, 3, 0, 1, 6, 7, 4, 5,
                                                    10, 11, 8, 9, 14, 15, 12, 13};
    alignas(16) static constexpr uint8_t k8[16] = {1, 2, 3, 0, 5, 6, 7, 4,
                                                   9, 10, 11, 8, 13, 14, 15, 12};
    const auto table = hn::LoadDup128(d8, kBits == 16 ? k16 : k8);
    return hn::BitCast(D32(), hn::TableLookupBytes(hn::BitCast(d8, v), table));
  } else {
    return hn::RotateRight<kBits>(v);
  }
#else
  return hn::RotateRight<kBits>(v);
#endif
}

HWY_INLINE void Mix(V32& a, V32& b, V32& c, V32& d, V32 x, V32 y) {
  a = hn::Add(hn::Add(a, b), x);
  d = Rotr<16>(hn::Xor(d, a));
  c = hn::Add(c, d);
  b = Rotr<12>(hn::Xor(b, c));
  a = hn::Add(hn::Add(a, b), y);
  d = Rotr<8>(hn::Xor(d, a));
  c = hn::Add(c, d);
  b = Rotr<7>(hn::Xor(b, c));
}

template <int kRound>
HWY_INLINE void Rounds(V32 v[16], const V32 m[16]) {
  if constexpr (kRound < 10) {
    constexpr const uint8_t* s = kBlake2sSigma[kRound];
    Mix(v[0], v[4], v[8], v[12], m[s[0]], m[s[1]]);
    Mix(v[1], v[5], v[9], v[13], m[s[2]], m[s[3]]);
    Mix(v[2], v[6], v[10], v[14], m[s[4]], m[s[5]]);
    Mix(v[3], v[7], v[11], v[15], m[s[6]], m[s[7]]);
    Mix(v[0], v[5], v[10], v[15], m[s[8]], m[s[9]]);
    Mix(v[1], v[6], v[11], v[12], m[s[10]], m[s[11]]);
    Mix(v[2], v[7], v[8], v[13], m[s[12]], m[s[13]]);
    Mix(v[3], v[4], v[9], v[14], m[s[14]], m[s[15]]);
    Rounds<kRound + 1>(v, m);
  }
}

HWY_INLINE void InitState(V32 h[8]) {
  const D32 d;
  for (int i = 0; i < 8; ++i) {
    h[i] = hn::Set(d, kBlake2sIv[static_cast<size_t>(i)] ^ (i == 0 ? kBlake2sParameterWord : 0));
  }
}

/// One block for every lane; `count` bytes hashed including this block.
inline void Compress(V32 h[8], const V32 m[16], uint64_t count, bool last) {
  const D32 d;
  V32 v[16];
  for (int i = 0; i < 8; ++i) {
    v[i] = h[i];
    v[i + 8] = hn::Set(d, kBlake2sIv[static_cast<size_t>(i)]);
  }
  v[12] = hn::Xor(v[12], hn::Set(d, static_cast<uint32_t>(count)));
  v[13] = hn::Xor(v[13], hn::Set(d, static_cast<uint32_t>(count >> 32)));
  if (last) v[14] = hn::Xor(v[14], hn::Set(d, 0xffffffffu));
  Rounds<0>(v, m);
  for (int i = 0; i < 8; ++i) h[i] = hn::Xor(h[i], hn::Xor(v[i], v[i + 8]));
}

/// Any 32-bit word modulo P.
HWY_INLINE V32 ReduceWord(V32 w) {
  const V32 s = hn::Add(hn::And(w, SetP()), hn::ShiftRight<31>(w));
  return hn::Min(s, hn::Sub(s, SetP()));
}

HWY_INLINE void StoreDigest(HashVariant variant, const V32 h[8], uint32_t* words,
                            uint64_t plane_stride) {
  const D32 d;
  for (uint64_t w = 0; w < 8; ++w) {
    const V32 x = variant == HashVariant::kBlake2sM31 ? ReduceWord(h[w]) : h[w];
    hn::StoreU(x, d, words + w * plane_stride);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stwo
HWY_AFTER_NAMESPACE();

#endif  // STWO_CPU_BLAKE2S_INL_H

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
    alignas(16) static constexpr uint8_t k16[16] = {2,  3,  0, 1, 6,  7,  4,  5,
                                                    10, 11, 8, 9, 14, 15, 12, 13};
    alignas(16) static constexpr uint8_t k8[16] = {1, 2,  3,  0, 5,  6,  7,  4,
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

/// kX, kY: is that message word live? Zero words need no add.
template <bool kX, bool kY>
HWY_INLINE void Mix(V32& a, V32& b, V32& c, V32& d, const V32& x, const V32& y) {
  a = hn::Add(a, b);
  if constexpr (kX) a = hn::Add(a, x);
  d = Rotr<16>(hn::Xor(d, a));
  c = hn::Add(c, d);
  b = Rotr<12>(hn::Xor(b, c));
  a = hn::Add(a, b);
  if constexpr (kY) a = hn::Add(a, y);
  d = Rotr<8>(hn::Xor(d, a));
  c = hn::Add(c, d);
  b = Rotr<7>(hn::Xor(b, c));
}

/// kWords: message words from this index on are zero.
template <int kRound, int kWords>
HWY_INLINE void Rounds(V32 v[16], const V32* m) {
  if constexpr (kRound < 10) {
    constexpr const uint8_t* s = kBlake2sSigma[kRound];
#define STWO_MIX(i, a, b, c, d)                                                          \
  Mix<(s[2 * i] < kWords), (s[2 * i + 1] < kWords)>(v[a], v[b], v[c], v[d], m[s[2 * i]], \
                                                    m[s[2 * i + 1]])
    STWO_MIX(0, 0, 4, 8, 12);
    STWO_MIX(1, 1, 5, 9, 13);
    STWO_MIX(2, 2, 6, 10, 14);
    STWO_MIX(3, 3, 7, 11, 15);
    STWO_MIX(4, 0, 5, 10, 15);
    STWO_MIX(5, 1, 6, 11, 12);
    STWO_MIX(6, 2, 7, 8, 13);
    STWO_MIX(7, 3, 4, 9, 14);
#undef STWO_MIX
    Rounds<kRound + 1, kWords>(v, m);
  }
}

HWY_INLINE void InitState(V32 h[8]) {
  const D32 d;
  for (int i = 0; i < 8; ++i) {
    h[i] = hn::Set(d, kBlake2sIv[static_cast<size_t>(i)] ^ (i == 0 ? kBlake2sParameterWord : 0));
  }
}

/// One block for every lane; `count` bytes hashed including this block. m has 16 words, of which
/// those from kWords on are zero and are not read.
template <int kWords>
inline void Compress(V32 h[8], const V32* m, uint64_t count, bool last) {
  const D32 d;
  V32 v[16];
  for (int i = 0; i < 8; ++i) {
    v[i] = h[i];
    v[i + 8] = hn::Set(d, kBlake2sIv[static_cast<size_t>(i)]);
  }
  v[12] = hn::Xor(v[12], hn::Set(d, static_cast<uint32_t>(count)));
  v[13] = hn::Xor(v[13], hn::Set(d, static_cast<uint32_t>(count >> 32)));
  if (last) v[14] = hn::Xor(v[14], hn::Set(d, 0xffffffffu));
  Rounds<0, kWords>(v, m);
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

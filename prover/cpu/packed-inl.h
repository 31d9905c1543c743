// Packed M31 and QM31: one vector register of field elements, for the instruction set this file is
// being compiled for. Included inside Highway's per-target loop.
//
// The Mersenne modulus makes reduction an add: with products of doubled operands the high 32-bit
// half of a 64-bit lane is floor(ab / 2^31) and the low half is (ab mod 2^31) * 2.
#if defined(STWO_CPU_PACKED_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef STWO_CPU_PACKED_INL_H
#undef STWO_CPU_PACKED_INL_H
#else
#define STWO_CPU_PACKED_INL_H
#endif

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "prover/field/qm31.hpp"

HWY_BEFORE_NAMESPACE();
namespace stwo {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D32 = hn::ScalableTag<uint32_t>;
using D64 = hn::ScalableTag<uint64_t>;
using V32 = hn::Vec<D32>;
using V64 = hn::Vec<D64>;

// All enabled targets have vectors of a size known at compile time.
static constexpr size_t kLanes = HWY_MAX_BYTES / 4;

HWY_INLINE V32 SetP() { return hn::Set(D32(), kP); }

/// Loads from M31 arrays. Alignment is not required.
HWY_INLINE V32 Load(const M31* p) { return hn::LoadU(D32(), reinterpret_cast<const uint32_t*>(p)); }
HWY_INLINE void Store(V32 v, M31* p) { hn::StoreU(v, D32(), reinterpret_cast<uint32_t*>(p)); }
HWY_INLINE V32 Broadcast(M31 c) { return hn::Set(D32(), c.v); }

/// Operands and results canonical.
HWY_INLINE V32 AddM31(V32 a, V32 b) {
  const V32 s = hn::Add(a, b);
  return hn::Min(s, hn::Sub(s, SetP()));
}
HWY_INLINE V32 SubM31(V32 a, V32 b) {
  const V32 d = hn::Sub(a, b);
  return hn::Min(d, hn::Add(d, SetP()));
}
HWY_INLINE V32 NegM31(V32 a) { return SubM31(hn::Zero(D32()), a); }

/// Moves the odd 32-bit lanes to even positions (the odd positions of the result are not used).
HWY_INLINE V32 OddToEven(V32 v) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
  return hn::DupOdd(v);
#else
  return hn::BitCast(D32(), hn::ShiftRight<32>(hn::BitCast(D64(), v)));
#endif
}

/// Product with a factor given doubled (2 b, b canonical): the form twiddles and broadcast
/// constants are kept in.
HWY_INLINE V32 MulDoubled(V32 a, V32 b2_even, V32 b2_odd) {
  const D32 d;
  const V32 even = hn::BitCast(d, hn::MulEven(a, b2_even));
  const V32 odd = hn::BitCast(d, hn::MulEven(OddToEven(a), b2_odd));
  // Even result lanes come from `even`, odd ones from `odd`.
#if HWY_TARGET == HWY_AVX3
  alignas(64) static constexpr uint32_t kHigh[16] = {1, 17, 3,  19, 5,  21, 7,  23,
                                                     9, 25, 11, 27, 13, 29, 15, 31};
  alignas(64) static constexpr uint32_t kLow[16] = {0, 16, 2,  18, 4,  20, 6,  22,
                                                    8, 24, 10, 26, 12, 28, 14, 30};
  const V32 hi{_mm512_permutex2var_epi32(even.raw, hn::Load(d, kHigh).raw, odd.raw)};
  const V32 lo2{_mm512_permutex2var_epi32(even.raw, hn::Load(d, kLow).raw, odd.raw)};
#else
  const V32 hi = hn::OddEven(odd, OddToEven(even));
  const V32 lo2 = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(hn::BitCast(D64(), odd))), even);
#endif
  const V32 s = hn::Add(hi, hn::ShiftRight<1>(lo2));
  return hn::Min(s, hn::Sub(s, SetP()));
}
HWY_INLINE V32 MulM31(V32 a, V32 b) {
  const V32 b2 = hn::Add(b, b);
  return MulDoubled(a, b2, OddToEven(b2));
}

/// Reduces 64-bit lanes (any value) to below 2^34: one folding step.
HWY_INLINE V64 FoldOnce(V64 x) {
  return hn::Add(hn::And(x, hn::Set(D64(), uint64_t{kP})), hn::ShiftRight<31>(x));
}
/// Canonical values from 64-bit lanes: even rows from `even`, odd rows from `odd`.
HWY_INLINE V32 ReduceLanes(V64 even, V64 odd) {
  const D32 d;
  // Two folds bring any 64-bit value below 2^31 + 8; the last correction makes it canonical.
  even = FoldOnce(FoldOnce(even));
  odd = FoldOnce(FoldOnce(odd));
  const V32 both = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
  return hn::Min(both, hn::Sub(both, SetP()));
}

/// Base field element per lane.
struct PackedM31 {
  V32 v;
  HWY_INLINE PackedM31() : v(hn::Zero(D32())) {}
  HWY_INLINE explicit PackedM31(V32 x) : v(x) {}
  friend HWY_INLINE PackedM31 operator+(PackedM31 a, PackedM31 b) {
    return PackedM31(AddM31(a.v, b.v));
  }
  friend HWY_INLINE PackedM31 operator-(PackedM31 a, PackedM31 b) {
    return PackedM31(SubM31(a.v, b.v));
  }
  friend HWY_INLINE PackedM31 operator*(PackedM31 a, PackedM31 b) {
    return PackedM31(MulM31(a.v, b.v));
  }
  HWY_INLINE PackedM31 operator-() const { return PackedM31(NegM31(v)); }
};

/// Secure field element per lane.
struct PackedQM31 {
  PackedM31 c[4];
  HWY_INLINE PackedQM31() = default;
  HWY_INLINE explicit PackedQM31(PackedM31 a) { c[0] = a; }
  static HWY_INLINE PackedQM31 broadcast(QM31 q) {
    PackedQM31 r;
    for (uint32_t k = 0; k < 4; ++k) r.c[k] = PackedM31(Broadcast(q.coordinate(k)));
    return r;
  }
  friend HWY_INLINE PackedQM31 operator+(PackedQM31 p, PackedQM31 q) {
    for (int k = 0; k < 4; ++k) p.c[k] = p.c[k] + q.c[k];
    return p;
  }
  friend HWY_INLINE PackedQM31 operator-(PackedQM31 p, PackedQM31 q) {
    for (int k = 0; k < 4; ++k) p.c[k] = p.c[k] - q.c[k];
    return p;
  }
  friend HWY_INLINE PackedQM31 operator+(PackedQM31 p, PackedM31 m) {
    p.c[0] = p.c[0] + m;
    return p;
  }
  friend HWY_INLINE PackedQM31 operator-(PackedQM31 p, PackedM31 m) {
    p.c[0] = p.c[0] - m;
    return p;
  }
  friend HWY_INLINE PackedQM31 operator*(PackedQM31 p, PackedM31 m) {
    for (int k = 0; k < 4; ++k) p.c[k] = p.c[k] * m;
    return p;
  }
  /// (a + b i) + (c + d i) u with u^2 = 2 + i.
  friend HWY_INLINE PackedQM31 operator*(const PackedQM31& p, const PackedQM31& q) {
    const PackedM31 xr = p.c[0] * q.c[0] - p.c[1] * q.c[1];
    const PackedM31 xi = p.c[0] * q.c[1] + p.c[1] * q.c[0];
    const PackedM31 yr = p.c[2] * q.c[2] - p.c[3] * q.c[3];
    const PackedM31 yi = p.c[2] * q.c[3] + p.c[3] * q.c[2];
    PackedQM31 r;
    r.c[0] = xr + (yr + yr - yi);
    r.c[1] = xi + (yi + yi + yr);
    r.c[2] = (p.c[0] * q.c[2] - p.c[1] * q.c[3]) + (p.c[2] * q.c[0] - p.c[3] * q.c[1]);
    r.c[3] = (p.c[0] * q.c[3] + p.c[1] * q.c[2]) + (p.c[2] * q.c[1] + p.c[3] * q.c[0]);
    return r;
  }
  HWY_INLINE PackedQM31 operator-() const {
    PackedQM31 r;
    for (int k = 0; k < 4; ++k) r.c[k] = -c[k];
    return r;
  }
};

/// Lazy sum of (secure constant) x (base lane) products: 64-bit lanes, even and odd rows apart,
/// folded only as often as overflow demands. Products are below 2^62; a folded lane is below 2^34,
/// so three products fit on top of it (3 * 2^62 + 2^34 < 2^64).
struct SecureMac {
  V64 even[4];
  V64 odd[4];
  uint32_t pending = 0;
  HWY_INLINE SecureMac() {
    for (int k = 0; k < 4; ++k) {
      even[k] = hn::Zero(D64());
      odd[k] = hn::Zero(D64());
    }
  }
  /// Adds factor * value.
  HWY_INLINE void add(const QM31& factor, V32 value) {
    const V32 value_odd = OddToEven(value);
    if (pending == 3) {
      fold();
    }
    for (uint32_t k = 0; k < 4; ++k) {
      const V32 f = Broadcast(factor.coordinate(k));
      even[k] = hn::Add(even[k], hn::MulEven(f, value));
      odd[k] = hn::Add(odd[k], hn::MulEven(f, value_odd));
    }
    ++pending;
  }
  HWY_INLINE void fold() {
    for (int k = 0; k < 4; ++k) {
      even[k] = FoldOnce(even[k]);
      odd[k] = FoldOnce(odd[k]);
    }
    pending = 0;
  }
  HWY_INLINE PackedQM31 reduce() const {
    PackedQM31 r;
    for (int k = 0; k < 4; ++k) r.c[k] = PackedM31(ReduceLanes(even[k], odd[k]));
    return r;
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace stwo
HWY_AFTER_NAMESPACE();

#endif  // STWO_CPU_PACKED_INL_H

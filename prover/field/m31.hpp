// M31: the base field, integers modulo the Mersenne prime P = 2^31 - 1.
// Everything above (CM31, QM31, circle points, polynomials) is built from it. Header-only so that
// the same definition serves host code and device code.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define STWO_HD __host__ __device__ __forceinline__
#else
#define STWO_HD inline
#endif

namespace stwo {

/// The field modulus.
inline constexpr uint32_t kP = 0x7fffffffu;

/// Element of F_P. Invariant: 0 <= v < P. P itself is never a legal value: it would hash
/// differently from 0 while computing alike.
struct M31 {
  uint32_t v = 0;

  constexpr M31() = default;
  /// Wraps a value that is already canonical.
  STWO_HD constexpr explicit M31(uint32_t canonical) : v(canonical) {}

  /// Reduces any 32-bit word modulo P.
  STWO_HD static constexpr M31 reduce(uint32_t x) {
    uint32_t r = (x & kP) + (x >> 31);
    return M31(r >= kP ? r - kP : r);
  }
  /// Reduces a 64-bit value below P^2 (a product of two canonical values, or less) modulo P.
  STWO_HD static constexpr M31 reduce64(uint64_t x) {
    const uint32_t r = static_cast<uint32_t>(x & kP) + static_cast<uint32_t>(x >> 31);
    return M31(r >= kP ? r - kP : r);
  }

  friend STWO_HD constexpr M31 operator+(M31 a, M31 b) {
    const uint32_t s = a.v + b.v;
    return M31(s >= kP ? s - kP : s);
  }
  friend STWO_HD constexpr M31 operator-(M31 a, M31 b) {
    return M31(a.v >= b.v ? a.v - b.v : a.v + kP - b.v);
  }
  friend STWO_HD constexpr M31 operator*(M31 a, M31 b) {
    return reduce64(static_cast<uint64_t>(a.v) * b.v);
  }
  STWO_HD constexpr M31 operator-() const { return M31(v == 0 ? 0 : kP - v); }
  STWO_HD constexpr M31& operator+=(M31 o) { return *this = *this + o; }
  STWO_HD constexpr M31& operator-=(M31 o) { return *this = *this - o; }
  STWO_HD constexpr M31& operator*=(M31 o) { return *this = *this * o; }
  friend STWO_HD constexpr bool operator==(M31 a, M31 b) { return a.v == b.v; }

  STWO_HD static constexpr M31 zero() { return M31(0); }
  STWO_HD static constexpr M31 one() { return M31(1); }
  STWO_HD constexpr bool is_zero() const { return v == 0; }

  STWO_HD constexpr M31 pow(uint64_t e) const {
    M31 base = *this;
    M31 acc(1);
    for (; e != 0; e >>= 1) {
      if (e & 1) acc *= base;
      base *= base;
    }
    return acc;
  }
  /// Multiplicative inverse by Fermat. The argument must be non-zero; inverse of 0 returns 0, and
  /// callers that can meet a zero check it first.
  STWO_HD constexpr M31 inverse() const { return pow(kP - 2); }
};

/// 2^-n in F_P. 2^31 = 1, so the inverse of 2^n is 2^(31 - n mod 31).
STWO_HD constexpr M31 inverse_power_of_two(uint32_t n) { return M31(1u << ((31 - n % 31) % 31)); }

}  // namespace stwo

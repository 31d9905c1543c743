// QM31: the secure field, CM31[u] / (u^2 - R) with R = 2 + i. Challenges, out-of-domain values and
// FRI layers live here.
#pragma once

#include <array>

#include "prover/field/cm31.hpp"

namespace stwo {

/// Number of M31 coordinates of a QM31 value.
inline constexpr uint32_t kSecureExtensionDegree = 4;

/// (a + b i) + (c + d i) u. Serialised, hashed and stored as coordinates a, b, c, d.
struct QM31 {
  CM31 x;
  CM31 y;

  constexpr QM31() = default;
  STWO_HD constexpr QM31(CM31 re, CM31 im) : x(re), y(im) {}
  STWO_HD constexpr QM31(M31 a, M31 b, M31 c, M31 d) : x(a, b), y(c, d) {}
  STWO_HD constexpr explicit QM31(M31 a) : x(a) {}
  STWO_HD static constexpr QM31 from_u32(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    return {M31(a), M31(b), M31(c), M31(d)};
  }

  /// Coordinate k in 0..4 in serialisation order.
  STWO_HD constexpr M31 coordinate(uint32_t k) const {
    return k == 0 ? x.a : k == 1 ? x.b : k == 2 ? y.a : y.b;
  }
  STWO_HD constexpr void set_coordinate(uint32_t k, M31 value) {
    (k == 0 ? x.a : k == 1 ? x.b : k == 2 ? y.a : y.b) = value;
  }

  friend STWO_HD constexpr QM31 operator+(QM31 p, QM31 q) { return {p.x + q.x, p.y + q.y}; }
  friend STWO_HD constexpr QM31 operator-(QM31 p, QM31 q) { return {p.x - q.x, p.y - q.y}; }
  friend STWO_HD constexpr QM31 operator*(QM31 p, QM31 q) {
    return {p.x * q.x + times_r(p.y * q.y), p.x * q.y + p.y * q.x};
  }
  friend STWO_HD constexpr QM31 operator*(QM31 p, CM31 c) { return {p.x * c, p.y * c}; }
  friend STWO_HD constexpr QM31 operator*(QM31 p, M31 c) { return {p.x * c, p.y * c}; }
  friend STWO_HD constexpr QM31 operator+(QM31 p, M31 c) { return {p.x + CM31(c), p.y}; }
  friend STWO_HD constexpr QM31 operator-(QM31 p, M31 c) { return {p.x - CM31(c), p.y}; }
  STWO_HD constexpr QM31 operator-() const { return {-x, -y}; }
  STWO_HD constexpr QM31& operator+=(QM31 o) { return *this = *this + o; }
  STWO_HD constexpr QM31& operator-=(QM31 o) { return *this = *this - o; }
  STWO_HD constexpr QM31& operator*=(QM31 o) { return *this = *this * o; }
  friend STWO_HD constexpr bool operator==(QM31 p, QM31 q) { return p.x == q.x && p.y == q.y; }
  friend STWO_HD constexpr bool operator!=(QM31 p, QM31 q) { return !(p == q); }

  STWO_HD static constexpr QM31 zero() { return {}; }
  STWO_HD static constexpr QM31 one() { return QM31(M31(1)); }
  STWO_HD constexpr bool is_zero() const { return x.is_zero() && y.is_zero(); }

  /// The conjugate over CM31: u -> -u.
  STWO_HD constexpr QM31 conjugate() const { return {x, -y}; }
  /// Argument must be non-zero.
  STWO_HD constexpr QM31 inverse() const {
    const CM31 d = (x * x - times_r(y * y)).inverse();
    return {x * d, -(y * d)};
  }
  STWO_HD constexpr QM31 pow(uint64_t e) const {
    QM31 base = *this;
    QM31 acc = one();
    for (; e != 0; e >>= 1) {
      if (e & 1) acc *= base;
      base *= base;
    }
    return acc;
  }

  /// (2 + i) c, the reduction of u^2.
  STWO_HD static constexpr CM31 times_r(CM31 c) { return {c.a + c.a - c.b, c.b + c.b + c.a}; }

  /// Combines the values of four coordinate polynomials at one point:
  /// v0 + v1 i + v2 u + v3 i u. On the base domain that is plain coordinate packing; out of domain
  /// each v_k is itself a QM31 value.
  STWO_HD static constexpr QM31 from_partial_evals(const QM31 v[4]) {
    const QM31 i(CM31(M31(0), M31(1)), CM31());
    const QM31 u(CM31(), CM31(M31(1)));
    return v[0] + v[1] * i + (v[2] + v[3] * i) * u;
  }
};

}  // namespace stwo

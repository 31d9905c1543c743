// CM31: the complex extension M31[i] / (i^2 + 1). Intermediate field between M31 and QM31.
#pragma once

#include "prover/field/m31.hpp"

namespace stwo {

/// a + b i. Serialised as a, b.
struct CM31 {
  M31 a;
  M31 b;

  constexpr CM31() = default;
  STWO_HD constexpr CM31(M31 re, M31 im) : a(re), b(im) {}
  STWO_HD constexpr explicit CM31(M31 re) : a(re) {}

  friend STWO_HD constexpr CM31 operator+(CM31 x, CM31 y) { return {x.a + y.a, x.b + y.b}; }
  friend STWO_HD constexpr CM31 operator-(CM31 x, CM31 y) { return {x.a - y.a, x.b - y.b}; }
  friend STWO_HD constexpr CM31 operator*(CM31 x, CM31 y) {
    return {x.a * y.a - x.b * y.b, x.a * y.b + x.b * y.a};
  }
  friend STWO_HD constexpr CM31 operator*(CM31 x, M31 y) { return {x.a * y, x.b * y}; }
  STWO_HD constexpr CM31 operator-() const { return {-a, -b}; }
  STWO_HD constexpr CM31& operator+=(CM31 o) { return *this = *this + o; }
  STWO_HD constexpr CM31& operator-=(CM31 o) { return *this = *this - o; }
  STWO_HD constexpr CM31& operator*=(CM31 o) { return *this = *this * o; }
  friend STWO_HD constexpr bool operator==(CM31 x, CM31 y) { return x.a == y.a && x.b == y.b; }
  friend STWO_HD constexpr bool operator!=(CM31 x, CM31 y) { return !(x == y); }

  STWO_HD static constexpr CM31 zero() { return {}; }
  STWO_HD static constexpr CM31 one() { return CM31(M31(1)); }
  STWO_HD constexpr bool is_zero() const { return a.is_zero() && b.is_zero(); }
  /// a^2 + b^2; zero only for zero, because -1 is not a square modulo P.
  STWO_HD constexpr M31 norm() const { return a * a + b * b; }
  /// Argument must be non-zero.
  STWO_HD constexpr CM31 inverse() const {
    const M31 n = norm().inverse();
    return {a * n, -(b * n)};
  }
};

}  // namespace stwo

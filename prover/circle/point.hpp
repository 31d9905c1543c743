// The circle group over F_P: points (x, y) with x^2 + y^2 = 1.
// Source: Circle STARKs (ePrint 2024/278), section 3; generator as fixed by the stwo crate.
#pragma once

#include <cstdint>

#include "prover/field/qm31.hpp"

namespace stwo {

/// log2 of the order of the circle group over F_P.
inline constexpr uint32_t kCircleLogOrder = 31;

template <class F>
struct CirclePoint {
  F x = F::one();
  F y = F::zero();

  /// Group law (complex multiplication).
  friend constexpr CirclePoint operator+(const CirclePoint& p, const CirclePoint& q) {
    return {p.x * q.x - p.y * q.y, p.x * q.y + p.y * q.x};
  }
  constexpr CirclePoint operator-() const { return {x, -y}; }
  friend constexpr bool operator==(const CirclePoint& p, const CirclePoint& q) {
    return p.x == q.x && p.y == q.y;
  }
  constexpr CirclePoint doubled() const { return *this + *this; }
  constexpr CirclePoint repeated_double(uint32_t n) const {
    CirclePoint p = *this;
    for (uint32_t i = 0; i < n; ++i) p = p.doubled();
    return p;
  }
};

/// x-coordinate of the double of a point: pi(x) = 2x^2 - 1.
template <class F>
constexpr F double_x(F x) {
  const F s = x * x;
  return s + s - F::one();
}

/// pi applied n times.
template <class F>
constexpr F repeated_double_x(F x, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) x = double_x(x);
  return x;
}

/// Generator of the whole circle group, order 2^31.
inline constexpr CirclePoint<M31> kCircleGenerator{M31(2), M31(1268011823)};

/// k * G for a point index k in Z / 2^31.
constexpr CirclePoint<M31> point_at_index(uint32_t k) {
  CirclePoint<M31> acc;
  CirclePoint<M31> base = kCircleGenerator;
  for (k &= 0x7fffffffu; k != 0; k >>= 1) {
    if (k & 1) acc = acc + base;
    base = base.doubled();
  }
  return acc;
}

/// Lifts a base-field point to the secure field.
constexpr CirclePoint<QM31> to_secure(const CirclePoint<M31>& p) { return {QM31(p.x), QM31(p.y)}; }

/// The point of the secure circle with rational parameter t:
/// ((1 - t^2)/(1 + t^2), 2t/(1 + t^2)). 1 + t^2 is zero for t = +-i only; both are reported by
/// returning false, because a prover must draw again and a verifier must reject.
[[nodiscard]] constexpr bool secure_point_from_parameter(QM31 t, CirclePoint<QM31>* out) {
  const QM31 t2 = t * t;
  const QM31 d = QM31::one() + t2;
  if (d.is_zero()) return false;
  const QM31 inv = d.inverse();
  out->x = (QM31::one() - t2) * inv;
  out->y = (t + t) * inv;
  return true;
}

}  // namespace stwo

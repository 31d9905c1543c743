// Random test values from a seed that every failure prints. STWO_TEST_SEED=<number> repeats a run.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include "prover/circle/point.hpp"
#include "prover/field/qm31.hpp"

namespace stwo::test {

/// One seed per program run: fresh, or the one asked for.
inline uint64_t run_seed() {
  static const uint64_t seed = [] {
    const char* text = std::getenv("STWO_TEST_SEED");
    if (text != nullptr) return static_cast<uint64_t>(std::strtoull(text, nullptr, 10));
    std::random_device device;
    return uint64_t{device()} << 32 | device();
  }();
  return seed;
}

class Random {
 public:
  Random() : engine_(run_seed()) {}

  uint64_t below(uint64_t n) { return engine_() % n; }
  bool coin() { return below(2) == 0; }
  M31 m31() {
    // The edges turn up far more often than chance would have them.
    switch (below(16)) {
      case 0: return M31(0);
      case 1: return M31(1);
      case 2: return M31(kP - 1);
      default: return M31(static_cast<uint32_t>(below(kP)));
    }
  }
  CM31 cm31() {
    const M31 a = m31();
    return {a, m31()};
  }
  QM31 qm31() {
    const CM31 x = cm31();
    return {x, cm31()};
  }
  CirclePoint<M31> circle_point() { return point_at_index(static_cast<uint32_t>(engine_())); }
  /// A point of the circle over QM31, usable as a sample point with any shift over the base field.
  CirclePoint<QM31> secure_point() {
    // Uniform, unlike the values above: parameters at the field's edges give points that lie over
    // CM31, themselves or after a shift, and the protocol samples at none of these.
    const auto coordinate = [&] { return M31(static_cast<uint32_t>(engine_() % kP)); };
    CirclePoint<QM31> p;
    QM31 t;
    do {
      for (uint32_t k = 0; k < 4; ++k) t.set_coordinate(k, coordinate());
    } while (!secure_point_from_parameter(t, &p));
    return p;
  }
  std::vector<M31> m31_vector(size_t n) {
    std::vector<M31> v(n);
    for (M31& x : v) x = m31();
    return v;
  }
  std::vector<QM31> qm31_vector(size_t n) {
    std::vector<QM31> v(n);
    for (QM31& x : v) x = qm31();
    return v;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace stwo::test

/// Names the seed in every failure of the enclosing scope.
#define STWO_TRACE_SEED() SCOPED_TRACE("STWO_TEST_SEED=" + std::to_string(::stwo::test::run_seed()))

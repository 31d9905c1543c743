#include "prover/poly/circle_fft.hpp"

#include <algorithm>
#include <bit>

#include "prover/circle/domain.hpp"
#include "prover/errors.hpp"
#include "prover/field/batch_inverse.hpp"

namespace stwo {
namespace {

uint32_t log_of(size_t n, uint32_t min, uint32_t max) {
  STWO_CHECK(std::has_single_bit(n), "length is not a power of two");
  const auto log = static_cast<uint32_t>(std::countr_zero(n));
  STWO_CHECK(log >= min && log <= max, "length outside the supported range");
  return log;
}

/// Permutation i -> brev(i), the reversed counter kept by carrying from the top bit.
template <class F>
void reverse_bits(std::span<F> v) {
  const size_t n = v.size();
  STWO_CHECK(std::has_single_bit(n), "length is not a power of two");
  for (size_t i = 0, j = 0; i < n; ++i) {
    if (i < j) std::swap(v[i], v[j]);
    size_t bit = n >> 1;
    for (; bit != 0 && (j & bit); bit >>= 1) j ^= bit;
    j |= bit;
  }
}

/// layers[k][h] is the twiddle of the pairs that are 2^k apart in the h-th run of 2^(k+1)
/// positions.
using Twiddles = std::vector<std::vector<M31>>;

/// Points of the half-odds coset of log m, coset order.
std::vector<CirclePoint<M31>> coset_points(uint32_t log_size) {
  const Coset coset = Coset::half_odds(log_size);
  std::vector<CirclePoint<M31>> points(size_t{1} << log_size);
  const CirclePoint<M31> step = point_at_index(coset.step);
  CirclePoint<M31> p = coset.at(0);
  for (auto& out : points) {
    out = p;
    p = p + step;
  }
  return points;
}

/// Appends the x-twiddles of the line domain whose coset-order x-coordinates are given.
void append_line_layers(std::vector<M31> xs, Twiddles& layers) {
  while (xs.size() > 1) {
    // The second half of the coset holds the negatives of the first.
    xs.resize(xs.size() / 2);
    layers.push_back(xs);
    reverse_bits(std::span(layers.back()));
    for (M31& x : xs) x = double_x(x);
  }
}

Twiddles line_twiddles(uint32_t log_size) {
  Twiddles layers;
  std::vector<M31> xs;
  for (const auto& p : coset_points(log_size)) xs.push_back(p.x);
  append_line_layers(std::move(xs), layers);
  return layers;
}

Twiddles circle_twiddles(uint32_t log_size) {
  std::vector<M31> xs;
  std::vector<M31> ys;
  for (const auto& p : coset_points(log_size - 1)) {
    xs.push_back(p.x);
    ys.push_back(p.y);
  }
  reverse_bits(std::span(ys));
  Twiddles layers;
  layers.push_back(std::move(ys));
  append_line_layers(std::move(xs), layers);
  return layers;
}

template <class F>
void forward(std::span<F> v, const Twiddles& twiddles) {
  for (size_t k = twiddles.size(); k-- > 0;) {
    const size_t distance = size_t{1} << k;
    for (size_t h = 0; h < twiddles[k].size(); ++h) {
      const M31 t = twiddles[k][h];
      F* lo = v.data() + 2 * h * distance;
      F* hi = lo + distance;
      for (size_t l = 0; l < distance; ++l) {
        const F a = lo[l];
        const F b = hi[l] * t;
        lo[l] = a + b;
        hi[l] = a - b;
      }
    }
  }
}

template <class F>
void inverse(std::span<F> v, Twiddles twiddles) {
  for (size_t k = 0; k < twiddles.size(); ++k) {
    const bool ok = batch_inverse<M31>(twiddles[k], twiddles[k]);
    STWO_CHECK(ok, "a twiddle is zero");
    const size_t distance = size_t{1} << k;
    for (size_t h = 0; h < twiddles[k].size(); ++h) {
      const M31 t = twiddles[k][h];
      F* lo = v.data() + 2 * h * distance;
      F* hi = lo + distance;
      for (size_t l = 0; l < distance; ++l) {
        const F a = lo[l];
        const F b = hi[l];
        lo[l] = a + b;
        hi[l] = (a - b) * t;
      }
    }
  }
  const M31 scale = inverse_power_of_two(static_cast<uint32_t>(twiddles.size()));
  for (F& x : v) x = x * scale;
}

/// Folds coefficients by the factors of their index bits, lowest bit first. `factor` of the first
/// fold; next(i, f) gives the factor of fold i + 1.
template <class F, class Next>
QM31 fold_coefficients(std::span<const F> coeffs, QM31 factor, Next next) {
  STWO_CHECK(std::has_single_bit(coeffs.size()), "length is not a power of two");
  std::vector<QM31> v;
  v.reserve(coeffs.size());
  for (const F& c : coeffs) v.push_back(QM31() + c);
  for (size_t n = v.size() / 2, i = 0; n > 0; n /= 2, ++i) {
    for (size_t k = 0; k < n; ++k) v[k] = v[2 * k] + factor * v[2 * k + 1];
    factor = next(i, factor);
  }
  return v[0];
}

template <class F>
QM31 circle_eval(std::span<const F> coeffs, const CirclePoint<QM31>& p) {
  return fold_coefficients(coeffs, p.y,
                           [&](size_t i, QM31 f) { return i == 0 ? p.x : double_x(f); });
}

}  // namespace

void interpolate(std::span<M31> values) {
  inverse(values, circle_twiddles(log_of(values.size(), 1, 30)));
}
void interpolate(std::span<QM31> values) {
  inverse(values, circle_twiddles(log_of(values.size(), 1, 30)));
}
void evaluate(std::span<M31> coeffs) {
  forward(coeffs, circle_twiddles(log_of(coeffs.size(), 1, 30)));
}
void evaluate(std::span<QM31> coeffs) {
  forward(coeffs, circle_twiddles(log_of(coeffs.size(), 1, 30)));
}

std::vector<M31> low_degree_extension(std::span<const M31> values, uint32_t log_blowup) {
  log_of(values.size(), 1, 30 - std::min(log_blowup, 30u));
  std::vector<M31> extended(values.size() << log_blowup);
  std::copy(values.begin(), values.end(), extended.begin());
  interpolate(std::span(extended).first(values.size()));
  evaluate(extended);
  return extended;
}

QM31 evaluate_basis_at_point(uint32_t j, const CirclePoint<QM31>& p) {
  QM31 product = QM31::one();
  QM31 factor = p.y;
  for (uint32_t bit = 0; bit < 32 && j >> bit != 0; ++bit) {
    if (j >> bit & 1) product *= factor;
    factor = bit == 0 ? p.x : double_x(factor);
  }
  return product;
}

QM31 eval_at_point(std::span<const M31> coeffs, const CirclePoint<QM31>& p) {
  return circle_eval(coeffs, p);
}
QM31 eval_at_point(std::span<const QM31> coeffs, const CirclePoint<QM31>& p) {
  return circle_eval(coeffs, p);
}

void line_interpolate(std::span<QM31> values) {
  inverse(values, line_twiddles(log_of(values.size(), 0, 29)));
}
void line_evaluate(std::span<QM31> coeffs) {
  forward(coeffs, line_twiddles(log_of(coeffs.size(), 0, 29)));
}
QM31 line_eval_at_point(std::span<const QM31> coeffs, QM31 x) {
  return fold_coefficients(coeffs, x, [](size_t, QM31 f) { return double_x(f); });
}

void bit_reverse_in_place(std::span<QM31> values) { reverse_bits(values); }
void bit_reverse_in_place(std::span<M31> values) { reverse_bits(values); }

}  // namespace stwo

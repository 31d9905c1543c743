#include "prover/proof/proof.hpp"

#include <bit>

#include "prover/circle/point.hpp"
#include "prover/errors.hpp"

namespace stwo {

QM31 LinePoly::evaluate(QM31 x) const {
  if (coeffs.empty()) return QM31::zero();
  STWO_CHECK(std::has_single_bit(coeffs.size()), "a line polynomial has 2^n coefficients");
  // Bit-reversed coefficients: the first split (lo half + x * hi half) belongs to x, deeper ones to
  // pi(x), pi(pi(x)), ... Neighbours are the deepest split, so fold from there upwards.
  std::vector<QM31> factors;
  for (size_t n = coeffs.size(); n > 1; n /= 2) {
    factors.push_back(x);
    x = double_x(x);
  }
  std::vector<QM31> values = coeffs;
  for (size_t level = factors.size(); level-- > 0;) {
    for (size_t i = 0; i < values.size() / 2; ++i) {
      values[i] = values[2 * i] + factors[level] * values[2 * i + 1];
    }
    values.resize(values.size() / 2);
  }
  return values[0];
}

}  // namespace stwo

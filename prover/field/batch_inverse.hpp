// Montgomery batch inversion: n inverses for one inversion and 3(n-1) products.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace stwo {

/// Writes 1/in[i] to out[i]. in and out have equal length and may be the same buffer.
/// Returns false (out unspecified) if some input is zero: a zero is never legal in the protocol,
/// and the caller knows what it stands for.
template <class F>
[[nodiscard]] bool batch_inverse(std::span<const F> in, std::span<F> out) {
  const size_t n = in.size();
  if (n == 0) return true;
  std::vector<F> prefix(n);
  F acc = F::one();
  for (size_t i = 0; i < n; ++i) {
    if (in[i].is_zero()) return false;
    prefix[i] = acc;
    acc *= in[i];
  }
  F inv = acc.inverse();
  for (size_t i = n; i-- > 0;) {
    const F value = in[i];
    out[i] = inv * prefix[i];
    inv *= value;
  }
  return true;
}

}  // namespace stwo

// Cosets and evaluation domains, with the index maps between the three orders the protocol uses:
// coset order (trace rows as neighbours), circle-domain natural order, and storage order (natural
// order with bit-reversed indices; what is committed, queried and folded).
#pragma once

#include <cstdint>

#include "prover/circle/point.hpp"

namespace stwo {

/// Reverses the low n bits of i, 0 <= n <= 32.
constexpr uint32_t bit_reverse(uint32_t i, uint32_t n) {
  uint32_t r = 0;
  for (uint32_t k = 0; k < n; ++k, i >>= 1) r = (r << 1) | (i & 1);
  return r;
}

/// Coset {initial + i * step : 0 <= i < 2^log_size}, as point indices modulo 2^31.
struct Coset {
  uint32_t initial = 0;
  uint32_t step = 0;
  uint32_t log_size = 0;

  /// Half coset of the canonic circle domain of log n, which is also the "half odds" coset of log
  /// n - 1 (the line domain of that size). 0 <= log_size <= 29.
  static constexpr Coset half_odds(uint32_t log_size) {
    return {1u << (29 - log_size), log_size == 0 ? 0u : 1u << (31 - log_size), log_size};
  }
  constexpr uint32_t index_at(uint32_t i) const { return (initial + i * step) & 0x7fffffffu; }
  constexpr CirclePoint<M31> at(uint32_t i) const { return point_at_index(index_at(i)); }
  constexpr Coset doubled() const {
    return {(initial * 2) & 0x7fffffffu, (step * 2) & 0x7fffffffu, log_size - 1};
  }
};

/// Canonic coset of log n and its circle domain, 1 <= n <= 30.
struct CanonicCoset {
  uint32_t log_size;

  constexpr uint64_t size() const { return uint64_t{1} << log_size; }
  /// Point index of the step between neighbouring trace rows: a generator of the subgroup of size
  /// 2^log_size.
  constexpr uint32_t step_index() const { return (1u << (31 - log_size)) & 0x7fffffffu; }
  constexpr CirclePoint<M31> step() const { return point_at_index(step_index()); }
  constexpr Coset half_coset() const { return Coset::half_odds(log_size - 1); }

  /// Point index of natural circle-domain position i.
  constexpr uint32_t natural_index_at(uint32_t i) const {
    const auto half = static_cast<uint32_t>(size() / 2);
    const Coset h = half_coset();
    return i < half ? h.index_at(i) : (0u - h.index_at(i - half)) & 0x7fffffffu;
  }
  /// Point stored at storage position p.
  constexpr CirclePoint<M31> at_storage(uint32_t p) const {
    return point_at_index(natural_index_at(bit_reverse(p, log_size)));
  }
  /// Storage position of coset row k.
  constexpr uint32_t storage_of_coset_row(uint32_t k) const {
    const uint32_t n = 1u << log_size;
    const uint32_t natural = (k & 1) == 0 ? k / 2 : n - (k + 1) / 2;
    return bit_reverse(natural, log_size);
  }
};

/// Line domain of log m: the x-coordinates of the half-odds coset. 0 <= m <= 29.
struct LineDomain {
  uint32_t log_size;

  /// x stored at storage position p. Positions 2k and 2k+1 hold x and -x.
  constexpr M31 x_at_storage(uint32_t p) const {
    return Coset::half_odds(log_size).at(bit_reverse(p, log_size)).x;
  }
};

/// Vanishing polynomial of the canonic coset of log n at a point with x-coordinate x:
/// pi applied n - 1 times.
template <class F>
constexpr F canonic_vanishing(F x, uint32_t log_size) {
  return repeated_double_x(x, log_size - 1);
}

/// Storage index of the row `offset` trace rows away from storage row s, on the canonic domain of
/// log `eval_log`, for a trace of log `trace_log` <= eval_log - 1 or equal.
constexpr uint32_t offset_storage_index(uint32_t s, int64_t offset, uint32_t trace_log,
                                        uint32_t eval_log) {
  if (offset == 0) return s;
  const int64_t half = int64_t{1} << (eval_log - 1);
  const int64_t j = bit_reverse(s, eval_log);
  // One trace row is a step of 2^(31-trace_log) point indices; neighbours in the half coset are
  // 2^(32-eval_log) apart, hence 2^(eval_log-trace_log-1) positions. On the trace domain itself
  // (eval_log == trace_log) a row step crosses between the two conjugate halves.
  if (eval_log == trace_log) {
    const int64_t n = int64_t{1} << eval_log;
    int64_t coset = j < half ? 2 * j : 2 * (n - 1 - j) + 1;
    coset = ((coset + offset) % n + n) % n;
    return CanonicCoset{eval_log}.storage_of_coset_row(static_cast<uint32_t>(coset));
  }
  const int64_t t = offset * (int64_t{1} << (eval_log - trace_log - 1));
  const int64_t m = half;
  int64_t r;
  if (j < half) {
    r = ((j + t) % m + m) % m;
  } else {
    r = half + (((j - half - t) % m) + m) % m;
  }
  return bit_reverse(static_cast<uint32_t>(r), eval_log);
}

/// Position at which a column of log `column_log` is read for position p of log `log_size`
/// (`column_log` <= `log_size`): the lift rule of the lifted Merkle tree.
constexpr uint64_t lifted_position(uint64_t p, uint32_t log_size, uint32_t column_log) {
  const uint32_t shift = log_size - column_log;
  return ((p >> (shift + 1)) << 1) | (p & 1);
}

}  // namespace stwo

// Twiddle factors of the circle FFT for every canonic domain up to a largest one.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "prover/cpu/memory.hpp"
#include "prover/field/m31.hpp"

namespace stwo {

/// Pointers to the twiddles of one canonic domain of log n. layer[k], 0 <= k < n, holds
/// 2^(n-1-k) factors in the order of the butterfly groups: t_{0,h} = y of storage position 2h;
/// t_{k,h} (k >= 1) = x-coordinate of element brev(h) of the half coset doubled k - 1 times.
/// Factors are kept doubled, as words 2 t < 2^32: with a doubled operand the two halves of a 64-bit
/// product are quotient and remainder by 2^31 without a shift.
/// Any aligned sub-block of 2^m storage positions uses, in layer k < m, the 2^(m-1-k) factors from
/// its block index times 2^(m-1-k) on.
struct FftLayers {
  uint32_t log_size = 0;
  const uint32_t* layer[31] = {};
};

/// Twiddle tree in the crate's layout plus explicit layer-0 factors for the domains asked for.
/// Tree: for each level the x-coordinates of the first half of the current coset in bit-reversed
/// order, then the coset is doubled; a single 1 ends it. Sub-slices serve all smaller domains.
/// Everything is stored doubled, see FftLayers.
class TwiddleTree {
 public:
  /// max_log: largest canonic domain, 1..30. domains: logs (1..max_log) whose FFTs will be run.
  TwiddleTree(uint32_t max_log, std::span<const uint32_t> domains);

  /// log must be one of the domains.
  FftLayers forward(uint32_t log) const;
  FftLayers inverse(uint32_t log) const;
  /// Inverse x-coordinates of line-domain storage positions 2k, for line domains of log m <
  /// max_log: what a fold divides by. 2^(m-1) entries, doubled.
  const uint32_t* line_inverse_x(uint32_t log_size) const;

  std::span<const uint32_t> tree() const { return {tree_.data(), tree_.size()}; }
  uint64_t bytes() const;

 private:
  FftLayers layers(uint32_t log, const cpu::Buffer<uint32_t>& tree,
                   const std::map<uint32_t, cpu::Buffer<uint32_t>>& first) const;

  uint32_t max_log_;
  cpu::Buffer<uint32_t> tree_;
  cpu::Buffer<uint32_t> inverse_tree_;
  std::map<uint32_t, cpu::Buffer<uint32_t>> first_;
  std::map<uint32_t, cpu::Buffer<uint32_t>> inverse_first_;
};

}  // namespace stwo

// Sorting and prefix sums over a block.
#pragma once

#include "kernels/device/compat.cuh"

namespace stwo::gpu {

struct ScanMemory {
  uint32_t warps[33];
};

/// Sum of `value` over the threads before this one; *total: over all. Whole block, at most 1024
/// threads.
STWO_DEVICE uint32_t block_prefix_sum(ScanMemory& memory, uint32_t value, uint32_t* total) {
  const uint32_t lane = thread_index() & 31;
  const uint32_t warp = thread_index() >> 5;
  uint32_t sum = value;
  STWO_UNROLL
  for (uint32_t step = 1; step < 32; step *= 2) {
    const uint32_t other = shuffle_up(sum, step);
    if (lane >= step) sum += other;
  }
  if (lane == 31) memory.warps[warp] = sum;
  sync_block();
  if (warp == 0) {
    const uint32_t n_warps = block_size() >> 5;
    uint32_t w = lane < n_warps ? memory.warps[lane] : 0;
    const uint32_t own = w;
    STWO_UNROLL
    for (uint32_t step = 1; step < 32; step *= 2) {
      const uint32_t other = shuffle_up(w, step);
      if (lane >= step) w += other;
    }
    memory.warps[lane] = w - own;
    if (lane == 31) memory.warps[32] = w;
  }
  sync_block();
  const uint32_t before = memory.warps[warp] + sum - value;
  *total = memory.warps[32];
  sync_block();
  return before;
}

/// Ascending bitonic sort of 2^log_n words in shared memory. Whole block.
STWO_DEVICE void block_sort(uint32_t* words, uint32_t log_n) {
  const uint32_t n = 1u << log_n;
  for (uint32_t size = 2; size <= n; size *= 2) {
    for (uint32_t step = size / 2; step > 0; step /= 2) {
      sync_block();
      for (uint32_t i = thread_index(); i < n / 2; i += block_size()) {
        const uint32_t low = ((i / step) * 2 * step) + (i % step);
        const uint32_t high = low + step;
        const uint32_t a = words[low];
        const uint32_t b = words[high];
        const bool ascending = (low & size) == 0;
        if ((a > b) == ascending) {
          words[low] = b;
          words[high] = a;
        }
      }
    }
  }
  sync_block();
}

/// Moves word i of n, for which keep(i) holds, to the front of `out` in order; returns how many.
/// `emit(i, rank)` is called for them. Whole block.
template <class Keep, class Emit>
STWO_DEVICE uint32_t block_compact(ScanMemory& memory, uint32_t n, Keep keep, Emit emit) {
  uint32_t base = 0;
  for (uint32_t start = 0; start < n; start += block_size()) {
    const uint32_t i = start + thread_index();
    const bool kept = i < n && keep(i);
    uint32_t total = 0;
    const uint32_t rank = base + block_prefix_sum(memory, kept ? 1 : 0, &total);
    if (kept) emit(i, rank);
    base += total;
  }
  sync_block();
  return base;
}

}  // namespace stwo::gpu

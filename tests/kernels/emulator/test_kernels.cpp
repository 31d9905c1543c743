// Small kernels for tests of the emulator and the runtime.
#include "kernels/device/compat.cuh"
#include "tests/kernels/emulator/test_args.hpp"

namespace stwo::gpu {

/// Writes block and thread numbers.
STWO_KERNEL(test_indices, TestArgs, 256, 1) {
  const uint32_t i =
      (block_index_y() * grid_size() + block_index()) * block_size() + thread_index();
  args.out[i] = block_index_y() << 24 | block_index() << 16 | thread_index();
}

/// Reverses a block through shared memory.
STWO_KERNEL(test_reverse, TestArgs, 256, 1) {
  auto& words = shared_memory<uint32_t[256]>();
  words[thread_index()] = thread_index();
  sync_block();
  args.out[block_index() * block_size() + thread_index()] =
      words[block_size() - 1 - thread_index()];
}

/// The same without the barrier: right or wrong depends on the order of the threads.
STWO_KERNEL(test_race, TestArgs, 256, 1) {
  auto& words = shared_memory<uint32_t[256]>();
  words[thread_index()] = thread_index();
  args.out[thread_index()] = words[block_size() - 1 - thread_index()];
}

/// Sum over the warp by butterflies, then n barriers.
STWO_KERNEL(test_warp_sum, TestArgs, 256, 1) {
  uint32_t value = thread_index();
  for (uint32_t mask = 16; mask != 0; mask >>= 1) value += shuffle_xor(value, mask);
  for (uint32_t i = 0; i < args.n; ++i) {
    sync_warp();
    sync_block();
  }
  args.out[thread_index()] = value;
}

STWO_KERNEL(test_shuffle_up, TestArgs, 256, 1) {
  args.out[thread_index()] = shuffle_up(thread_index(), args.n);
}

/// What shared memory holds before anybody wrote; then dirties it.
STWO_KERNEL(test_poison, TestArgs, 256, 1) {
  auto& word = shared_memory<uint32_t[256]>()[thread_index()];
  args.out[block_index() * block_size() + thread_index()] = word;
  word = 1;
}

/// Thread n leaves before the barrier.
STWO_KERNEL(test_leaves_early, TestArgs, 256, 1) {
  if (thread_index() == args.n) return;
  sync_block();
}

/// Lane n waits for the block, the others for the warp.
STWO_KERNEL(test_mixed_barriers, TestArgs, 256, 1) {
  if (thread_index() == args.n)
    sync_block();
  else
    sync_warp();
}

STWO_KERNEL(test_misaligned, TestArgs, 256, 1) { store4(args.out + 1, {1, 2, 3, 4}); }

STWO_KERNEL(test_add, TestArgs, 256, 1) {
  const uint32_t i = block_index() * block_size() + thread_index();
  if (i < args.n) args.out[i] += 1;
}

}  // namespace stwo::gpu

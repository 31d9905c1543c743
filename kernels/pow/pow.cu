// Proof of work. Blocks take chunks of 256 indices in ascending order and stop at the first chunk
// that starts beyond the best index found, so that every smaller index has been tried: the result
// does not depend on timing. Oracle: prover/cpu/kernels (grind).
//
// Ledger: reads 36 bytes a block, writes 8; 2^pow_bits compressions expected.

#include "kernels/device/blake2s.cuh"
#include "kernels/pow/pow_args.hpp"

namespace stwo::gpu {
namespace {

struct GrindMemory {
  uint32_t prefix[8];
};
static_assert(sizeof(GrindMemory) == kGrindSharedBytes);

STWO_DEVICE bool has_trailing_zeros(const uint32_t (&h)[8], uint32_t bits) {
  // Bits are counted from the lowest of word 0; pow_bits is at most 32.
  if (bits == 0) return true;
  return bits >= 32 ? h[0] == 0 : (h[0] << (32 - bits)) == 0;
}

}  // namespace

STWO_KERNEL(grind, GrindArgs, kGrindThreads, 4) {
  auto& memory = shared_memory<GrindMemory>();
  if (thread_index() == 0) {
    const uint32_t m[16] = {0x12345678u,
                            0,
                            0,
                            0,
                            args.state->digest[0],
                            args.state->digest[1],
                            args.state->digest[2],
                            args.state->digest[3],
                            args.state->digest[4],
                            args.state->digest[5],
                            args.state->digest[6],
                            args.state->digest[7],
                            args.pow_bits,
                            0,
                            0,
                            0};
    Blake2sState s;
    s.compress(m, 52, true);
    if (args.reduce != 0) s.reduce();
    STWO_UNROLL
    for (uint32_t w = 0; w < 8; ++w) memory.prefix[w] = s.h[w];
  }
  sync_block();
  uint32_t m[16];
  STWO_UNROLL
  for (uint32_t w = 0; w < 8; ++w) m[w] = memory.prefix[w];
  STWO_UNROLL
  for (uint32_t w = 10; w < 16; ++w) m[w] = 0;
  const uint64_t step = static_cast<uint64_t>(grid_size()) * kGrindThreads;
  STWO_NO_UNROLL
  for (uint64_t base = static_cast<uint64_t>(block_index()) * kGrindThreads; base < args.end;
       base += step) {
    if (load_volatile(args.nonce_index) < base) return;
    const uint64_t index = base + thread_index();
    m[8] = static_cast<uint32_t>(index) & ((1u << 20) - 1);
    m[9] = static_cast<uint32_t>(index >> 20);
    Blake2sState s;
    s.compress(m, 40, true);
    if (args.reduce != 0) s.reduce();
    if (has_trailing_zeros(s.h, args.pow_bits) && index < args.end) {
      atomic_min(args.nonce_index, index);
    }
  }
}

}  // namespace stwo::gpu

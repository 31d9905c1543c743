// Proof of work on the device.
#pragma once

#include <cstdint>

#include "kernels/abi/transcript_args.hpp"

namespace stwo::gpu {

/// Finds the least index whose nonce has `pow_bits` trailing zero bits. Index i stands for nonce
/// (i >> 20) << 32 | (i mod 2^20): the reference prover's order.
struct GrindArgs {
  const TranscriptState* state;
  uint64_t* nonce_index;  ///< all ones before; the least index after
  uint64_t end;           ///< indices searched; all ones stays if none fits
  uint32_t pow_bits;
  uint32_t reduce;
};
inline constexpr uint32_t kGrindThreads = 256;
/// The digest that does not depend on the nonce.
inline constexpr uint32_t kGrindSharedBytes = 32;

}  // namespace stwo::gpu

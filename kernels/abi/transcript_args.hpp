// The transcript on the device: its state in memory and the operations kernels run on it.
#pragma once

#include <cstdint>

namespace stwo::gpu {

/// Blake2s channel (prover/channel), in device memory.
struct TranscriptState {
  uint32_t digest[8];
  uint32_t n_draws;
  uint32_t pad[3];
};

enum class TranscriptOpKind : uint32_t {
  kReset,  ///< digest and counter to zero
  kMix,    ///< absorbs `count` words at `words`
  kDraw,   ///< one QM31 to `out`
  kCopy,   ///< copies `count` words from `words` to `out`; the state does not change
};

/// One operation. After it the digest is written to entry `log_entry` of the transcript log, unless
/// that is kNoLogEntry.
struct TranscriptOp {
  TranscriptOpKind kind;
  uint32_t count;
  uint32_t log_entry;
  uint32_t pad;
  const uint32_t* words;
  uint32_t* out;
};
inline constexpr uint32_t kNoLogEntry = 0xffffffffu;

/// Operations that one thread of a kernel runs when the kernel's own work is done.
struct TranscriptTail {
  TranscriptState* state;
  const TranscriptOp* ops;
  uint32_t n_ops;
  uint32_t reduce;  ///< the M31 variant of the hash?
  uint32_t* log;    ///< eight words an entry
};

}  // namespace stwo::gpu

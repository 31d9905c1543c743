// Device functions of the transcript: run by one thread, at the end of a kernel that has made what
// is absorbed. Mirrors prover/channel/channel.cpp.
#pragma once

#include "kernels/abi/transcript_args.hpp"
#include "kernels/device/blake2s.cuh"
#include "kernels/device/field.cuh"

namespace stwo::gpu {

struct DeviceChannel {
  uint32_t digest[8];
  uint32_t n_draws;
  bool reduce;

  /// The fresh channel.
  STWO_DEVICE explicit DeviceChannel(bool reduce_words) : n_draws(0), reduce(reduce_words) {
    STWO_UNROLL
    for (int i = 0; i < 8; ++i) digest[i] = 0;
  }
  STWO_DEVICE DeviceChannel(const TranscriptState& state, bool reduce_words)
      : n_draws(state.n_draws), reduce(reduce_words) {
    STWO_UNROLL
    for (int i = 0; i < 8; ++i) digest[i] = state.digest[i];
  }
  STWO_DEVICE void store(TranscriptState& state) const {
    STWO_UNROLL
    for (int i = 0; i < 8; ++i) state.digest[i] = digest[i];
    state.n_draws = n_draws;
  }

  STWO_DEVICE void mix(const uint32_t* words, uint32_t count) {
    // The first block holds the digest and eight words, every further one sixteen. The next block's
    // words are on their way while one is hashed.
    uint32_t m[16];
    uint32_t next[16];
    STWO_UNROLL
    for (int i = 0; i < 8; ++i) m[i] = digest[i];
    STWO_UNROLL
    for (uint32_t i = 0; i < 8; ++i) m[8 + i] = i < count ? words[i] : 0;
    STWO_UNROLL
    for (uint32_t i = 0; i < 16; ++i) next[i] = 8 + i < count ? words[8 + i] : 0;
    Blake2sState s;
    const uint32_t n_bytes = 32 + 4 * count;
    s.compress<false>(m, minimum(64, n_bytes), count <= 8);
    STWO_NO_UNROLL
    for (uint32_t at = 8; at < count; at += 16) {
      STWO_UNROLL
      for (uint32_t i = 0; i < 16; ++i) m[i] = next[i];
      STWO_UNROLL
      for (uint32_t i = 0; i < 16; ++i) next[i] = at + 16 + i < count ? words[at + 16 + i] : 0;
      const bool last = at + 16 >= count;
      s.compress<false>(m, last ? n_bytes : 32 + 4 * (at + 16), last);
    }
    if (reduce) s.reduce();
    STWO_UNROLL
    for (int i = 0; i < 8; ++i) digest[i] = s.h[i];
    n_draws = 0;
  }

  /// Eight random words.
  STWO_DEVICE void draw_words(uint32_t (&out)[8]) {
    uint32_t m[16];
    STWO_UNROLL
    for (int i = 0; i < 8; ++i) m[i] = digest[i];
    m[8] = n_draws;
    STWO_UNROLL
    for (int i = 9; i < 16; ++i) m[i] = 0;
    ++n_draws;
    Blake2sState s;
    // Digest, counter and the zero byte that separates a draw from mixing a word.
    s.compress<false>(m, 37, true);
    if (reduce) s.reduce();
    STWO_UNROLL
    for (int i = 0; i < 8; ++i) out[i] = s.h[i];
  }

  STWO_DEVICE QM31 draw_felt() {
    for (;;) {
      uint32_t w[8];
      draw_words(w);
      bool biased = false;
      STWO_UNROLL
      for (int i = 0; i < 8; ++i) biased |= w[i] >= 2 * kP;
      if (biased) continue;
      return QM31(M31::reduce(w[0]), M31::reduce(w[1]), M31::reduce(w[2]), M31::reduce(w[3]));
    }
  }
};

/// Runs a kernel's transcript operations. One thread; what it absorbs must be visible to it.
STWO_DEVICE void run_transcript(const TranscriptTail& tail) {
  if (tail.n_ops == 0) return;
  // A request starts with a reset; the state is not defined before it.
  const bool fresh = tail.ops[0].kind == TranscriptOpKind::kReset;
  DeviceChannel channel =
      fresh ? DeviceChannel(tail.reduce != 0) : DeviceChannel(*tail.state, tail.reduce != 0);
  STWO_NO_UNROLL
  for (uint32_t i = 0; i < tail.n_ops; ++i) {
    const TranscriptOp op = tail.ops[i];
    if (op.kind == TranscriptOpKind::kReset) {
      STWO_UNROLL
      for (int k = 0; k < 8; ++k) channel.digest[k] = 0;
      channel.n_draws = 0;
    } else if (op.kind == TranscriptOpKind::kMix) {
      channel.mix(op.words, op.count);
    } else if (op.kind == TranscriptOpKind::kDraw) {
      store_secure(op.out, channel.draw_felt());
    } else {
      for (uint32_t k = 0; k < op.count; ++k) op.out[k] = op.words[k];
    }
    if (op.log_entry != kNoLogEntry) {
      STWO_UNROLL
      for (int k = 0; k < 8; ++k) tail.log[8 * op.log_entry + k] = channel.digest[k];
    }
  }
  channel.store(*tail.state);
}

}  // namespace stwo::gpu

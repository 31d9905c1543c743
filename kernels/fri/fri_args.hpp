// FRI on the device: folds of large layers, and one kernel for everything that fits one block.
#pragma once

#include <cstdint>

#include "kernels/hash/hash_args.hpp"

namespace stwo::gpu {

/// 1..kFriMaxFold folds at once: out[i] from values 2^n_folds i .. of `in`.
struct FriFoldArgs {
  const uint32_t* in;
  uint32_t* out;
  uint64_t in_stride;
  uint64_t out_stride;
  uint64_t out_rows;
  const uint32_t* beta;     ///< one QM31
  uint32_t beta_squarings;  ///< the first fold uses beta^(2^beta_squarings)
  uint32_t in_log_size;
  uint32_t n_folds;
  uint32_t circle;  ///< is `in` the circle layer (its first fold divides by y)?
  const uint32_t* x_inverse;
  const uint32_t* y_inverse;
};
inline constexpr uint32_t kFriMaxFold = 4;

/// A layer the tail kernel commits and folds.
struct FriTailLayer {
  uint32_t* values;  ///< four coordinate columns
  uint64_t stride;
  uint32_t* next;  ///< values of the next layer (or of the last one)
  uint64_t next_stride;
  uint32_t* nodes;     ///< its tree
  uint32_t* beta;      ///< drawn challenge, for later use
  uint32_t* root_out;  ///< copy of the root for the proof
  uint32_t log_size;
  uint32_t fold_step;
  uint32_t circle;     ///< is it layer 0?
  uint32_t log_entry;  ///< transcript log: the root's entry; the draw is not logged
};

/// Layers of at most 2^kFriTailLogSize values and the last layer's polynomial, by one block. With
/// n_layers 0 only the polynomial.
struct FriTailArgs {
  const FriTailLayer* layers;
  uint32_t n_layers;
  uint32_t reduce;
  TranscriptState* state;
  uint32_t* log;
  const uint32_t* x_inverse;
  const uint32_t* y_inverse;
  const uint32_t* last_values;  ///< values of the last layer
  uint64_t last_stride;
  uint32_t last_log_size;    ///< log of their number
  uint32_t last_log_degree;  ///< log of the number of coefficients, at most kFriMaxLogDegree
  uint32_t last_log_entry;
  uint32_t pad;
  uint32_t* coefficients;  ///< bit reversed, one QM31 each
  uint64_t* nonce_index;   ///< reset for the search that follows
};
inline constexpr uint32_t kFriTailLogSize = 10;
inline constexpr uint32_t kFriMaxLogDegree = 10;
inline constexpr uint32_t kFriTailThreads = 1024;
inline constexpr uint32_t kFriTailSharedBytes = kHashSharedBytes + 16;

}  // namespace stwo::gpu

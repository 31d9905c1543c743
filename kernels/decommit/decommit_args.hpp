// Queries and openings on the device.
#pragma once

#include <cstdint>

#include "kernels/abi/transcript_args.hpp"
#include "kernels/hash/hash_args.hpp"

namespace stwo::gpu {

inline constexpr uint32_t kMaxQueries = 4096;

/// Absorbs the nonce, draws n_queries positions, sorts them and removes repeats.
struct DrawQueriesArgs {
  TranscriptState* state;
  uint32_t* log;
  const uint64_t* nonce_index;
  uint32_t* nonce_out;    ///< the nonce, two words
  uint32_t* positions;    ///< ascending; n_queries words of room
  uint32_t* n_positions;  ///< how many are left
  uint32_t* status;
  uint32_t n_queries;  ///< 1..kMaxQueries
  uint32_t log_domain;
  uint32_t reduce;
  uint32_t log_entry;  ///< transcript log entry of the nonce
};
inline constexpr uint32_t kQueryThreads = 1024;
inline constexpr uint32_t kQuerySharedBytes = 4 * (kMaxQueries + 64);

/// Values of one tree's columns at the query positions: out[column * capacity + query].
struct GatherArgs {
  const ColumnRef* columns;  ///< commit order; shift relative to the tree
  const uint32_t* positions;
  const uint32_t* n_positions;
  uint32_t* out;
  uint32_t n_columns;
  uint32_t capacity;
  /// A tree of another height than the query domain reads position
  /// (p >> down) << up | (p & 1), down and up at least 1.
  uint32_t down;
  uint32_t up;
};

/// Opening of a trace tree or of a FRI layer.
struct OpenRef {
  const uint32_t* nodes;
  uint32_t* witness;    ///< sibling digests
  uint32_t* n_witness;  ///< how many
  uint32_t height;
  uint32_t down;  ///< trace trees: as in GatherArgs
  uint32_t up;
  uint32_t sort;  ///< mapped positions may be unsorted and repeat
  /// FRI: positions are shifted down by fold_before, opened in blocks of 2^fold_step values. 0: a
  /// trace tree.
  uint32_t fold_step;
  uint32_t fold_before;
  uint32_t log_size;
  uint32_t pad;
  const uint32_t* values;
  uint64_t stride;
  uint32_t* fri_witness;  ///< values not derived by the verifier, one QM31 each
  uint32_t* n_fri_witness;
};
struct OpenArgs {
  const OpenRef* openings;
  const uint32_t* positions;
  const uint32_t* n_positions;
};
inline constexpr uint32_t kOpenThreads = 512;
inline constexpr uint32_t kOpenSharedBytes = 4 * (3 * kMaxQueries + 64);

}  // namespace stwo::gpu

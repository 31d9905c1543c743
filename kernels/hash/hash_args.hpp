// Lifted Merkle trees on the device.
#pragma once

#include <cstdint>

#include "kernels/abi/transcript_args.hpp"

namespace stwo::gpu {

/// A committed column: row i of the tree reads value ((i >> (shift + 1)) << 1) | (i & 1). A
/// constant column is one of two equal values.
struct ColumnRef {
  const uint32_t* values;
  uint32_t shift;
  uint32_t pad;
};

/// A tree keeps all its nodes in one buffer of 2^(height + 1) digests of eight words: node i of
/// level d (2^d nodes) is digest 2^d + i, the root digest 1. Digest 0 is unused.
inline constexpr uint32_t kDigestWords = 8;

/// Leaves of a tree of 2^height leaves and log_tile - log_stop levels above them.
struct HashLeavesArgs {
  const uint32_t* base;      ///< uniform and secure leaves: first column
  uint64_t stride;           ///< words from a column to the next
  const ColumnRef* columns;  ///< lifted leaves: in hash order
  uint32_t n_columns;
  uint32_t height;
  uint32_t log_tile;  ///< leaves per block, at most kHashLogTile; at least log_stop
  uint32_t log_stop;  ///< nodes per block at the highest level written
  uint32_t reduce;    ///< M31 variant?
  uint32_t pad;
  uint32_t* nodes;
};

/// Levels level - 1 .. level - 1 - (log_tile - log_stop) from level `level`. A block makes
/// 2^log_tile nodes of level `level` - 1 and reduces them.
struct HashNodesArgs {
  uint32_t* nodes;
  uint32_t level;
  uint32_t log_tile;
  uint32_t log_stop;
  uint32_t reduce;
};

/// All levels below `level` (at most kHashTopLevel) by one block, then the transcript.
struct HashTopArgs {
  uint32_t* nodes;
  uint32_t level;
  uint32_t reduce;
  uint32_t* root_out;  ///< copy of the root, or null
  TranscriptTail transcript;
};

inline constexpr uint32_t kHashLogTile = 10;
inline constexpr uint32_t kHashThreads = 256;
inline constexpr uint32_t kHashTopLevel = 11;
inline constexpr uint32_t kHashTopThreads = 1024;
/// Digest planes of a tile and of the level above it.
inline constexpr uint32_t kHashSharedBytes =
    4 * kDigestWords * ((1u << kHashLogTile) + (1u << (kHashLogTile - 1)));

}  // namespace stwo::gpu

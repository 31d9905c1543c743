// Lifted Merkle trees. Source: protocol.md section 5. Oracle: prover/merkle.
//
// Ledger, 2^h leaves of C columns, 32-byte digests; t levels are made per launch:
//   kernel              launches  reads            writes                  compressions
//   hash_leaves_*       1         4 C 2^h          32 (2 - 2^-t) 2^h       (ceil(C/16) + 1 - 2^-t)
//   2^h hash_nodes          1         32 * 2^level     32 (1 - 2^-t) 2^level   (1 - 2^-t) 2^level
//   hash_top            1         32 * 2^level     32 * 2^level            2^level and the
//   transcript
// A block hashes 2^10 leaves, four a thread, and reduces them to 32 nodes through shared memory:
// below a full warp, idle lanes would cost issue slots.

#include "kernels/device/digest_tile.cuh"
#include "kernels/device/field.cuh"
#include "kernels/device/transcript.cuh"

namespace stwo::gpu {
namespace {

/// Hash of one leaf given its word source: word(c) for column c.
template <class Words>
STWO_DEVICE Blake2sState hash_leaf(uint32_t n_columns, bool reduce, Words word) {
  Blake2sState s;
  uint32_t m[16];
  uint32_t at = 0;
  STWO_NO_UNROLL
  do {
    STWO_UNROLL
    for (uint32_t i = 0; i < 16; ++i) m[i] = at + i < n_columns ? word(at + i) : 0;
    at += 16;
    const bool last = at >= n_columns;
    s.compress(m, last ? 4 * n_columns : 4 * at, last);
  } while (at < n_columns);
  if (reduce) s.reduce();
  return s;
}

/// Leaves of the block's tile by `leaf(i)`, then the levels above.
template <class Leaf>
STWO_DEVICE void hash_tile(const HashLeavesArgs& args, Leaf leaf) {
  auto& tile = shared_memory<DigestTile>();
  const uint64_t first = static_cast<uint64_t>(block_index()) << args.log_tile;
  STWO_NO_UNROLL
  for (uint32_t i = thread_index(); i < 1u << args.log_tile; i += block_size()) {
    const Blake2sState s = leaf(first + i);
    store_digest(node_at(args.nodes, args.height, first + i), s);
    put_digest(tile.a, i, s);
  }
  reduce_tile<true>(tile, args.log_tile, args.log_stop, args.height, first, args.nodes,
                    args.reduce != 0);
}

}  // namespace

/// All columns as long as the tree is wide.
STWO_KERNEL(hash_leaves_uniform, HashLeavesArgs, kHashThreads, 4) {
  hash_tile(args, [&](uint64_t row) {
    const uint32_t* p = args.base + row;
    return hash_leaf(args.n_columns, args.reduce != 0, [&](uint32_t) {
      const uint32_t value = *p;
      p += args.stride;
      return value;
    });
  });
}

/// Columns of any length, in hash order.
STWO_KERNEL(hash_leaves_lifted, HashLeavesArgs, kHashThreads, 4) {
  hash_tile(args, [&](uint64_t row) {
    return hash_leaf(args.n_columns, args.reduce != 0, [&](uint32_t c) {
      const ColumnRef column = args.columns[c];
      return column.values[lifted_row(row, column.shift)];
    });
  });
}

/// Leaves of one QM31: a FRI layer.
STWO_KERNEL(hash_leaves_secure, HashLeavesArgs, kHashThreads, 4) {
  hash_tile(args, [&](uint64_t row) {
    return hash_secure_leaf(args.base, args.stride, row, args.reduce != 0);
  });
}

/// Leaves of four neighbouring QM31: a FRI layer folded more than once.
STWO_KERNEL(hash_leaves_packed, HashLeavesArgs, kHashThreads, 4) {
  hash_tile(args, [&](uint64_t row) {
    return hash_packed_leaf<true>(args.base, args.stride, row, args.reduce != 0);
  });
}

STWO_KERNEL(hash_nodes, HashNodesArgs, kHashThreads, 4) {
  auto& tile = shared_memory<DigestTile>();
  const uint64_t first = static_cast<uint64_t>(block_index()) << args.log_tile;
  const bool reduce = args.reduce != 0;
  STWO_NO_UNROLL
  for (uint32_t i = thread_index(); i < 1u << args.log_tile; i += block_size()) {
    const Blake2sState s = hash_pair(node_at(args.nodes, args.level, 2 * (first + i)), reduce);
    store_digest(node_at(args.nodes, args.level - 1, first + i), s);
    put_digest(tile.a, i, s);
  }
  reduce_tile(tile, args.log_tile, args.log_stop, args.level - 1, first, args.nodes, reduce);
}

STWO_KERNEL(hash_top, HashTopArgs, kHashTopThreads, 1) {
  auto& tile = shared_memory<DigestTile>();
  const bool reduce = args.reduce != 0;
  if (args.level > 0) {
    const uint32_t i = thread_index();
    if (i < 1u << (args.level - 1)) {
      const Blake2sState s = hash_pair(node_at(args.nodes, args.level, 2 * i), reduce);
      store_digest(node_at(args.nodes, args.level - 1, i), s);
      put_digest(tile.a, i, s);
    }
    reduce_tile(tile, args.level - 1, 0, args.level - 1, 0, args.nodes, reduce);
  }
  sync_block();
  if (thread_index() == 0) {
    if (args.root_out != nullptr) {
      const uint32_t* root = node_at(args.nodes, 0, 0);
      store4(args.root_out, load4(root));
      store4(args.root_out + 4, load4(root + 4));
    }
    run_transcript(args.transcript);
  }
}

/// Transcript operations on their own.
STWO_KERNEL(transcript, TranscriptTail, 32, 1) {
  if (thread_index() == 0) run_transcript(args);
}

}  // namespace stwo::gpu

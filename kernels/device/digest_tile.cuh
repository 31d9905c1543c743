// Levels of a Merkle tree inside one block: digests lie in shared memory as eight planes of words,
// so that the two children of a node are neighbours in every plane.
#pragma once

#include "kernels/device/blake2s.cuh"
#include "kernels/device/field.cuh"
#include "kernels/hash/hash_args.hpp"

namespace stwo::gpu {

/// Two levels at a time: the lower one in `a` or `b`, the upper one in the other.
struct DigestTile {
  uint32_t a[kDigestWords][1u << kHashLogTile];
  uint32_t b[kDigestWords][1u << (kHashLogTile - 1)];
};
static_assert(sizeof(DigestTile) == kHashSharedBytes);

template <uint32_t kSize>
STWO_DEVICE void put_digest(uint32_t (&plane)[kDigestWords][kSize], uint32_t i,
                            const Blake2sState& s) {
  STWO_UNROLL
  for (uint32_t w = 0; w < kDigestWords; ++w) plane[w][i] = s.h[w];
}

/// H(left || right) of children 2 i and 2 i + 1. kSteered: for trees so large that throughput
/// counts; where a chain of dependent hashes decides, the shorter chain of three-input additions
/// wins.
template <bool kSteered, uint32_t kSize>
STWO_DEVICE Blake2sState hash_children(const uint32_t (&plane)[kDigestWords][kSize], uint32_t i,
                                       bool reduce) {
  uint32_t m[16];
  STWO_UNROLL
  for (uint32_t w = 0; w < kDigestWords; ++w) {
    m[w] = plane[w][2 * i];
    m[8 + w] = plane[w][2 * i + 1];
  }
  Blake2sState s;
  s.compress<kSteered>(m, 64, true);
  if (reduce) s.reduce();
  return s;
}

/// H(left || right) of two digests that follow each other in memory.
STWO_DEVICE Blake2sState hash_pair(const uint32_t* children, bool reduce) {
  uint32_t m[16];
  STWO_UNROLL
  for (uint32_t w = 0; w < 16; w += 4) {
    const Word4 v = load4(children + w);
    m[w] = v.x;
    m[w + 1] = v.y;
    m[w + 2] = v.z;
    m[w + 3] = v.w;
  }
  Blake2sState s;
  s.compress<false>(m, 64, true);
  if (reduce) s.reduce();
  return s;
}

/// Leaf of one QM31: value i of four coordinate columns. Never steered: with four live words the
/// plain form is faster.
STWO_DEVICE Blake2sState hash_secure_leaf(const uint32_t* values, uint64_t stride, uint64_t i,
                                          bool reduce) {
  uint32_t m[16] = {};
  STWO_UNROLL
  for (uint32_t k = 0; k < 4; ++k) m[k] = values[k * stride + i];
  Blake2sState s;
  s.compress<false>(m, 16, true);
  if (reduce) s.reduce();
  return s;
}

/// Leaf of four neighbouring QM31, values 4 i .. 4 i + 3, one after another.
template <bool kSteered>
STWO_DEVICE Blake2sState hash_packed_leaf(const uint32_t* values, uint64_t stride, uint64_t i,
                                          bool reduce) {
  uint32_t m[16];
  STWO_UNROLL
  for (uint32_t k = 0; k < 4; ++k) {
    const Word4 w = load4(values + k * stride + 4 * i);
    m[k] = w.x;
    m[4 + k] = w.y;
    m[8 + k] = w.z;
    m[12 + k] = w.w;
  }
  Blake2sState s;
  s.compress<kSteered>(m, 64, true);
  if (reduce) s.reduce();
  return s;
}

STWO_DEVICE uint32_t* node_at(uint32_t* nodes, uint32_t level, uint64_t i) {
  return nodes + kDigestWords * ((uint64_t{1} << level) + i);
}

/// Reduces 2^log_count digests in tile.a, nodes first.. of level `level`, to 2^log_stop, and writes
/// every level. Whole block; tile.a must be written before (this starts with a barrier).
template <bool kSteered = false>
STWO_DEVICE void reduce_tile(DigestTile& tile, uint32_t log_count, uint32_t log_stop,
                             uint32_t level, uint64_t first, uint32_t* nodes, bool reduce) {
  bool from_a = true;
  STWO_NO_UNROLL
  for (uint32_t log = log_count; log > log_stop; --log) {
    sync_block();
    --level;
    first >>= 1;
    STWO_NO_UNROLL
    for (uint32_t i = thread_index(); i < 1u << (log - 1); i += block_size()) {
      const Blake2sState s = from_a ? hash_children<kSteered>(tile.a, i, reduce)
                                    : hash_children<kSteered>(tile.b, i, reduce);
      store_digest(node_at(nodes, level, first + i), s);
      if (from_a) {
        put_digest(tile.b, i, s);
      } else {
        put_digest(tile.a, i, s);
      }
    }
    from_a = !from_a;
  }
}

}  // namespace stwo::gpu

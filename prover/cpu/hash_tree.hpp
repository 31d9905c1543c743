// Prover side of a Merkle tree: building it with SIMD and opening it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "prover/cpu/kernels.hpp"
#include "prover/cpu/memory.hpp"
#include "prover/cpu/thread_pool.hpp"
#include "prover/proof/proof.hpp"

namespace stwo::cpu {

/// Owner of all layers of one tree, 64 bytes a leaf. Layer d has 2^d nodes; the leaves are layer
/// `height`.
class HashTree {
 public:
  HashTree() = default;
  explicit HashTree(uint32_t height);

  uint32_t height() const { return height_; }
  HashLayer layer(uint32_t d) const { return {words_.data() + 8 * ((uint64_t{1} << d) - 1), d}; }
  Digest root() const { return layer(0).node(0); }
  uint64_t bytes() const { return words_.bytes(); }
  static uint64_t bytes_for(uint32_t height);

  /// Fills the tree: `leaves` hashes leaves [begin, end) into the given layer.
  void build(ThreadPool& pool, HashVariant variant,
             const std::function<void(const HashLayer&, uint64_t, uint64_t)>& leaves);

  /// Sibling hashes for the given leaf positions, layer by layer from the leaves. Positions are
  /// taken in their order with adjacent repeats dropped, as the crate does also where the mapped
  /// preprocessed positions are unsorted.
  MerkleDecommitment decommit(std::vector<uint32_t> positions) const;

 private:
  uint32_t height_ = 0;
  Buffer<uint32_t> words_;
};

}  // namespace stwo::cpu

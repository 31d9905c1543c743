// Lifted Merkle trees, scalar: what the verifier checks openings with, and the reference the
// backends' trees are tested against.
// Source: protocol.md section 5; the crate's core/vcs_lifted.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "prover/field/m31.hpp"
#include "prover/hash/blake2s.hpp"

namespace stwo {

enum class MerkleVerifyStatus : uint8_t {
  kOk,
  kWitnessTooShort,
  kWitnessTooLong,
  kRootMismatch,
  kDuplicateRows,  ///< one position is opened with two different rows
};

/// A leaf position and the hash of its row.
struct MerkleLeaf {
  uint32_t position = 0;
  Digest hash{};
  friend bool operator==(const MerkleLeaf&, const MerkleLeaf&) = default;
};

/// H(row as little-endian words): no prefix, no length. An empty row gives H("").
Digest merkle_leaf(HashVariant variant, std::span<const M31> row);

/// Order in which columns enter a leaf: ascending size, ties in commit order. Entry i is the commit
/// index of the i-th hashed column.
std::vector<uint32_t> hash_order(std::span<const uint32_t> column_log_sizes);

/// Climbs from opened leaves to the root. The witness holds the missing siblings, layer by layer
/// from the leaves, positions ascending.
///
/// Leaves may come unsorted and repeated: query positions mapped into a smaller preprocessed tree
/// do that, but only inside one pair of siblings. Sorting changes neither which siblings are
/// missing nor their order, so every opening the crate accepts is accepted here; beyond the crate,
/// a pair whose right child comes first is accepted too (its verifier hashes such a pair in the
/// wrong order), and all repetitions are compared instead of adjacent ones only. Contract:
/// positions < 2^height, at least one leaf, height <= 31. Never throws on hashes or witness.
MerkleVerifyStatus merkle_verify_leaves(HashVariant variant, const Digest& root, uint32_t height,
                                        std::vector<MerkleLeaf> leaves,
                                        std::span<const Digest> witness);

/// Checks an opening given as columns: columns[c][k] is the value of column c, in commit order, at
/// positions[k].
/// Contract: one log size and one column per committed column, one value per position. A tree
/// without columns has height 0 and root H(""); its positions are ignored and its witness must be
/// empty.
MerkleVerifyStatus merkle_verify(HashVariant variant, const Digest& root, uint32_t height,
                                 std::span<const uint32_t> positions,
                                 std::span<const std::vector<M31>> columns,
                                 std::span<const uint32_t> column_log_sizes,
                                 std::span<const Digest> witness);

/// All layers of the lifted tree over `columns` (commit order, storage order, power-of-two lengths
/// of at most 2^height): layers[d] has 2^d nodes, layers[0] is the root. Without columns: one
/// layer, H(""). For tests and small trees; it keeps every hash.
std::vector<std::vector<Digest>> reference_lifted_tree(HashVariant variant,
                                                       std::span<const std::vector<M31>> columns,
                                                       uint32_t height);

/// Root of the same tree in memory proportional to its height.
Digest lifted_root(HashVariant variant, std::span<const std::vector<M31>> columns, uint32_t height);

/// Sibling hashes that open `positions` (any order, repeats allowed) in a tree kept as layers.
std::vector<Digest> reference_witness(const std::vector<std::vector<Digest>>& layers,
                                      std::span<const uint32_t> positions);

}  // namespace stwo

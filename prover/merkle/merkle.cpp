#include "prover/merkle/merkle.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "prover/circle/domain.hpp"
#include "prover/errors.hpp"

namespace stwo {
namespace {

/// Reads leaf rows of a lifted tree, columns already in hash order.
class LeafRows {
 public:
  LeafRows(std::span<const std::vector<M31>> columns, uint32_t height) : height_(height) {
    std::vector<uint32_t> logs;
    for (const auto& column : columns) {
      STWO_CHECK(std::has_single_bit(column.size()), "column length is not a power of two");
      logs.push_back(static_cast<uint32_t>(std::countr_zero(column.size())));
      STWO_CHECK(logs.back() <= height, "column is larger than its tree");
    }
    for (const uint32_t c : hash_order(logs)) {
      columns_.push_back(&columns[c]);
      logs_.push_back(logs[c]);
    }
    row_.resize(columns_.size());
  }

  Digest hash(HashVariant variant, uint64_t leaf) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      row_[i] = (*columns_[i])[lifted_position(leaf, height_, logs_[i])];
    }
    return merkle_leaf(variant, row_);
  }

 private:
  uint32_t height_;
  std::vector<const std::vector<M31>*> columns_;
  std::vector<uint32_t> logs_;
  std::vector<M31> row_;
};

}  // namespace

Digest merkle_leaf(HashVariant variant, std::span<const M31> row) {
  Blake2s hasher(variant);
  for (const M31 value : row) {
    const uint32_t word[1] = {value.v};
    hasher.update_words(word);
  }
  return hasher.finalize();
}

std::vector<uint32_t> hash_order(std::span<const uint32_t> column_log_sizes) {
  std::vector<uint32_t> order(column_log_sizes.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return column_log_sizes[a] < column_log_sizes[b];
  });
  return order;
}

MerkleVerifyStatus merkle_verify_leaves(HashVariant variant, const Digest& root, uint32_t height,
                                        std::vector<MerkleLeaf> leaves,
                                        std::span<const Digest> witness) {
  STWO_CHECK(!leaves.empty() && height <= 31, "opening without leaves");
  std::stable_sort(leaves.begin(), leaves.end(), [](const MerkleLeaf& a, const MerkleLeaf& b) {
    return a.position < b.position;
  });
  STWO_CHECK(uint64_t{leaves.back().position} >> height == 0, "leaf position outside the tree");
  for (size_t i = 1; i < leaves.size(); ++i) {
    if (leaves[i - 1].position == leaves[i].position && leaves[i - 1].hash != leaves[i].hash) {
      return MerkleVerifyStatus::kDuplicateRows;
    }
  }
  leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());

  size_t used = 0;
  for (uint32_t layer = 0; layer < height; ++layer) {
    // Parents overwrite the front of the list: each consumes one or two children.
    size_t n_parents = 0;
    for (size_t i = 0; i < leaves.size();) {
      const MerkleLeaf first = leaves[i];
      Digest left = first.hash;
      Digest right;
      if (i + 1 < leaves.size() && leaves[i + 1].position == (first.position ^ 1)) {
        right = leaves[i + 1].hash;
        i += 2;
      } else {
        if (used == witness.size()) return MerkleVerifyStatus::kWitnessTooShort;
        right = witness[used++];
        if (first.position & 1) std::swap(left, right);
        i += 1;
      }
      leaves[n_parents++] = {first.position >> 1, blake2s_node(variant, left, right)};
    }
    leaves.resize(n_parents);
  }
  if (used != witness.size()) return MerkleVerifyStatus::kWitnessTooLong;
  return leaves[0].hash == root ? MerkleVerifyStatus::kOk : MerkleVerifyStatus::kRootMismatch;
}

MerkleVerifyStatus merkle_verify(HashVariant variant, const Digest& root, uint32_t height,
                                 std::span<const uint32_t> positions,
                                 std::span<const std::vector<M31>> columns,
                                 std::span<const uint32_t> column_log_sizes,
                                 std::span<const Digest> witness) {
  STWO_CHECK(columns.size() == column_log_sizes.size(), "one log size per column");
  if (columns.empty()) {
    if (!witness.empty()) return MerkleVerifyStatus::kWitnessTooLong;
    return root == merkle_leaf(variant, {}) ? MerkleVerifyStatus::kOk
                                            : MerkleVerifyStatus::kRootMismatch;
  }
  for (const auto& column : columns) {
    STWO_CHECK(column.size() == positions.size(), "one value per column and position");
  }
  const std::vector<uint32_t> order = hash_order(column_log_sizes);
  std::vector<MerkleLeaf> leaves(positions.size());
  std::vector<M31> row(columns.size());
  for (size_t k = 0; k < positions.size(); ++k) {
    for (size_t i = 0; i < order.size(); ++i) row[i] = columns[order[i]][k];
    leaves[k] = {positions[k], merkle_leaf(variant, row)};
  }
  return merkle_verify_leaves(variant, root, height, std::move(leaves), witness);
}

std::vector<std::vector<Digest>> reference_lifted_tree(HashVariant variant,
                                                       std::span<const std::vector<M31>> columns,
                                                       uint32_t height) {
  if (columns.empty()) return {{merkle_leaf(variant, {})}};
  std::vector<std::vector<Digest>> layers(height + 1);
  LeafRows rows(columns, height);
  layers[height].resize(size_t{1} << height);
  for (size_t p = 0; p < layers[height].size(); ++p) layers[height][p] = rows.hash(variant, p);
  for (uint32_t d = height; d-- > 0;) {
    layers[d].resize(size_t{1} << d);
    for (size_t k = 0; k < layers[d].size(); ++k) {
      layers[d][k] = blake2s_node(variant, layers[d + 1][2 * k], layers[d + 1][2 * k + 1]);
    }
  }
  return layers;
}

Digest lifted_root(HashVariant variant, std::span<const std::vector<M31>> columns,
                   uint32_t height) {
  if (columns.empty()) return merkle_leaf(variant, {});
  LeafRows rows(columns, height);
  // stack holds the roots of the complete subtrees left of the current leaf, largest first; a
  // subtree closes for every trailing one bit of the leaf's index.
  std::vector<Digest> stack;
  for (uint64_t p = 0; p < uint64_t{1} << height; ++p) {
    Digest node = rows.hash(variant, p);
    for (uint64_t q = p; q & 1; q >>= 1) {
      node = blake2s_node(variant, stack.back(), node);
      stack.pop_back();
    }
    stack.push_back(node);
  }
  return stack[0];
}

std::vector<Digest> reference_witness(const std::vector<std::vector<Digest>>& layers,
                                      std::span<const uint32_t> positions) {
  std::vector<uint32_t> current(positions.begin(), positions.end());
  std::vector<Digest> witness;
  std::sort(current.begin(), current.end());
  current.erase(std::unique(current.begin(), current.end()), current.end());
  for (size_t d = layers.size() - 1; d > 0; --d) {
    for (const uint32_t p : current) {
      if (!std::binary_search(current.begin(), current.end(), p ^ 1)) {
        witness.push_back(layers[d][p ^ 1]);
      }
    }
    for (uint32_t& p : current) p >>= 1;
    current.erase(std::unique(current.begin(), current.end()), current.end());
  }
  return witness;
}

}  // namespace stwo

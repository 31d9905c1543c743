#include "prover/merkle/merkle.hpp"
#include "prover/hash/hex.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "prover/circle/domain.hpp"
#include "prover/errors.hpp"
#include "tests/support/random.hpp"

namespace stwo {
namespace {

using Status = MerkleVerifyStatus;

/// A committed tree and openings of it.
struct Tree {
  HashVariant variant = HashVariant::kBlake2s;
  uint32_t height = 0;
  std::vector<uint32_t> logs;
  std::vector<std::vector<M31>> columns;
  std::vector<std::vector<Digest>> layers;

  Tree(test::Random& rng, std::vector<uint32_t> column_logs, uint32_t h,
       HashVariant v = HashVariant::kBlake2s)
      : variant(v), height(h), logs(std::move(column_logs)) {
    for (const uint32_t log : logs) columns.push_back(rng.m31_vector(size_t{1} << log));
    layers = reference_lifted_tree(variant, columns, height);
  }
  Digest root() const { return layers[0][0]; }
};

struct Opening {
  std::vector<uint32_t> positions;
  std::vector<std::vector<M31>> values;
  std::vector<Digest> witness;

  Opening(const Tree& tree, std::vector<uint32_t> at) : positions(std::move(at)) {
    for (size_t c = 0; c < tree.columns.size(); ++c) {
      auto& column = values.emplace_back();
      for (const uint32_t p : positions) {
        column.push_back(tree.columns[c][lifted_position(p, tree.height, tree.logs[c])]);
      }
    }
    witness = reference_witness(tree.layers, positions);
  }
  Status verify(const Tree& tree) const { return verify(tree, tree.root()); }
  Status verify(const Tree& tree, const Digest& root) const {
    return merkle_verify(tree.variant, root, tree.height, positions, values, tree.logs, witness);
  }
};

TEST(Merkle, HashOrderIsStable) {
  EXPECT_EQ(hash_order(std::vector<uint32_t>{3, 1, 2, 1, 3}),
            (std::vector<uint32_t>{1, 3, 2, 0, 4}));
  EXPECT_TRUE(hash_order({}).empty());
}

TEST(Merkle, LeafIsTheHashOfTheWords) {
  const std::vector<M31> row = {M31(1), M31(0x01020304)};
  const uint8_t bytes[] = {1, 0, 0, 0, 4, 3, 2, 1};
  EXPECT_EQ(merkle_leaf(HashVariant::kBlake2s, row), blake2s(HashVariant::kBlake2s, bytes));
}

TEST(Merkle, TreeByHand) {
  test::Random rng;
  STWO_TRACE_SEED();
  for (const HashVariant v : {HashVariant::kBlake2s, HashVariant::kBlake2sM31}) {
    const Tree tree(rng, {2, 1}, 2, v);
    std::vector<Digest> leaves;
    for (uint32_t p = 0; p < 4; ++p) {
      // The smaller column first; its storage positions 0, 1 repeat as 0, 1, 0, 1.
      const std::vector<M31> row = {tree.columns[1][p & 1], tree.columns[0][p]};
      leaves.push_back(merkle_leaf(v, row));
    }
    EXPECT_EQ(tree.layers[2], leaves);
    EXPECT_EQ(tree.root(), blake2s_node(v, blake2s_node(v, leaves[0], leaves[1]),
                                        blake2s_node(v, leaves[2], leaves[3])));
  }
}

TEST(Merkle, EmptyTree) {
  const auto layers = reference_lifted_tree(HashVariant::kBlake2s, {}, 0);
  ASSERT_EQ(layers.size(), 1u);
  EXPECT_EQ(to_hex(layers[0][0]),
            "69217a3079908094e11121d042354a7c1f55b6482ca1a51e1b250dfd1ed0eef9");
  EXPECT_EQ(lifted_root(HashVariant::kBlake2s, {}, 0), layers[0][0]);
  const auto verify = [&](const Digest& root, std::span<const Digest> witness) {
    return merkle_verify(HashVariant::kBlake2s, root, 0, {}, {}, {}, witness);
  };
  EXPECT_EQ(verify(layers[0][0], {}), Status::kOk);
  EXPECT_EQ(verify(Digest{}, {}), Status::kRootMismatch);
  // The crate ignores a witness here.
  EXPECT_EQ(verify(layers[0][0], layers[0]), Status::kWitnessTooLong);
}

TEST(Merkle, RandomOpenings) {
  test::Random rng;
  STWO_TRACE_SEED();
  for (int n = 0; n < 200; ++n) {
    const uint32_t height = 1 + static_cast<uint32_t>(rng.below(7));
    std::vector<uint32_t> logs(1 + rng.below(6));
    for (uint32_t& log : logs) log = 1 + static_cast<uint32_t>(rng.below(height));
    const Tree tree(rng, logs, height,
                    rng.coin() ? HashVariant::kBlake2s : HashVariant::kBlake2sM31);
    EXPECT_EQ(lifted_root(tree.variant, tree.columns, height), tree.root());
    // Unsorted, with repeats.
    std::vector<uint32_t> positions(1 + rng.below(12));
    for (uint32_t& p : positions) p = static_cast<uint32_t>(rng.below(1u << height));
    EXPECT_EQ(Opening(tree, positions).verify(tree), Status::kOk);
  }
}

TEST(Merkle, WholeTreeNeedsNoWitness) {
  test::Random rng;
  const Tree tree(rng, {3, 3}, 3);
  const Opening all(tree, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_TRUE(all.witness.empty());
  EXPECT_EQ(all.verify(tree), Status::kOk);
}

TEST(Merkle, WitnessOrder) {
  test::Random rng;
  const Tree tree(rng, {3}, 3);
  const Opening opening(tree, {1, 6});
  EXPECT_EQ(opening.witness, (std::vector<Digest>{tree.layers[3][0], tree.layers[3][7],
                                                  tree.layers[2][1], tree.layers[2][2]}));
}

/// Mapped preprocessed positions: unsorted inside a pair of siblings.
TEST(Merkle, UnsortedSiblings) {
  test::Random rng;
  const Tree tree(rng, {4}, 4);
  for (const std::vector<uint32_t>& positions :
       {std::vector<uint32_t>{2, 3, 2, 3}, {3, 2}, {3, 2, 3, 8, 9, 8}, {1, 1, 7, 6, 6}}) {
    EXPECT_EQ(Opening(tree, positions).verify(tree), Status::kOk);
  }
}

TEST(MerkleTamper, EveryHashAndValue) {
  test::Random rng;
  STWO_TRACE_SEED();
  const Tree tree(rng, {3, 5, 3, 2}, 5);
  const Opening good(tree, {0, 3, 4, 17, 30});
  ASSERT_EQ(good.verify(tree), Status::kOk);
  for (size_t i = 0; i < good.witness.size(); ++i) {
    Opening bad = good;
    bad.witness[i][rng.below(32)] ^= static_cast<uint8_t>(1u << rng.below(8));
    EXPECT_EQ(bad.verify(tree), Status::kRootMismatch);
  }
  for (size_t c = 0; c < good.values.size(); ++c) {
    for (size_t k = 0; k < good.positions.size(); ++k) {
      Opening bad = good;
      bad.values[c][k] += M31(1);
      EXPECT_EQ(bad.verify(tree), Status::kRootMismatch);
    }
  }
  for (size_t k = 0; k < good.positions.size(); ++k) {
    Opening bad = good;
    bad.positions[k] ^= 2;
    EXPECT_NE(bad.verify(tree), Status::kOk);
  }
  Digest root = tree.root();
  root[0] ^= 1;
  EXPECT_EQ(good.verify(tree, root), Status::kRootMismatch);
}

TEST(MerkleTamper, WitnessLength) {
  test::Random rng;
  const Tree tree(rng, {3, 4}, 4);
  const Opening good(tree, {2, 9});
  Opening bad = good;
  bad.witness.pop_back();
  EXPECT_EQ(bad.verify(tree), Status::kWitnessTooShort);
  bad = good;
  bad.witness.push_back(Digest{});
  EXPECT_EQ(bad.verify(tree), Status::kWitnessTooLong);
  bad.witness.clear();
  EXPECT_EQ(bad.verify(tree), Status::kWitnessTooShort);
}

TEST(MerkleTamper, RepeatedPositionsNeedEqualRows) {
  test::Random rng;
  const Tree tree(rng, {3, 4}, 4);
  // Apart in the list, so that a check of neighbours would miss it.
  const Opening good(tree, {2, 3, 2, 9});
  for (size_t c = 0; c < 2; ++c) {
    for (const size_t k : {0u, 2u}) {
      Opening bad = good;
      bad.values[c][k] += M31(1);
      EXPECT_EQ(bad.verify(tree), Status::kDuplicateRows);
    }
  }
}

TEST(MerkleContract, CallerErrors) {
  test::Random rng;
  const Tree tree(rng, {3}, 3);
  Opening o(tree, {2});
  o.positions = {8};
  EXPECT_THROW(o.verify(tree), ContractError);
  o.positions = {1, 2};
  EXPECT_THROW(o.verify(tree), ContractError);
}

}  // namespace
}  // namespace stwo

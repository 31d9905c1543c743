#include "prover/cpu/hash_tree.hpp"

#include <gtest/gtest.h>

#include "prover/hash/hex.hpp"
#include "prover/merkle/merkle.hpp"
#include "tests/support/random.hpp"

namespace stwo::cpu {
namespace {

/// Heights on both sides of the tiling's limits, with one thread and with more threads than tiles.
TEST(HashTree, MatchesTheReferenceTreeAndWitness) {
  test::Random rng;
  STWO_TRACE_SEED();
  for (const uint32_t threads : {1u, 5u}) {
    ThreadPool pool(threads);
    for (const uint32_t height : {1u, 2u, 4u, 6u, 7u, 11u, 12u, 13u, 14u}) {
      std::vector<std::vector<M31>> columns;
      std::vector<LeafColumn> leaf;
      for (size_t c = 0; c < 3; ++c) {
        columns.push_back(rng.m31_vector(size_t{1} << height));
        // Vector loads may read past the end of a short column.
        columns.back().reserve((size_t{1} << height) + 64);
      }
      for (const auto& c : columns) leaf.push_back({c.data(), 0});
      HashTree tree(height);
      tree.build(pool, HashVariant::kBlake2s,
                 [&](const HashLayer& layer, uint64_t begin, uint64_t end) {
                   hash_leaves(HashVariant::kBlake2s, leaf.data(), leaf.size(), layer, begin, end);
                 });
      const auto layers = reference_lifted_tree(HashVariant::kBlake2s, columns, height);
      for (uint32_t d = 0; d <= height; ++d) {
        for (uint64_t i = 0; i < (uint64_t{1} << d); ++i) {
          ASSERT_EQ(tree.layer(d).node(i), layers[d][i]) << "layer " << d << " node " << i;
        }
      }
      std::vector<uint32_t> positions;
      for (int i = 0; i < 9; ++i) {
        positions.push_back(static_cast<uint32_t>(rng.below(uint64_t{1} << height)));
      }
      std::sort(positions.begin(), positions.end());
      auto unique = positions;
      unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
      EXPECT_EQ(tree.decommit(positions).hash_witness, reference_witness(layers, unique));
    }
  }
}

TEST(HashTree, EmptyTreeIsTheHashOfNothing) {
  ThreadPool pool(1);
  HashTree tree(0);
  tree.build(pool, HashVariant::kBlake2s,
             [&](const HashLayer& layer, uint64_t begin, uint64_t end) {
               hash_leaves(HashVariant::kBlake2s, nullptr, 0, layer, begin, end);
             });
  EXPECT_EQ(to_hex(tree.root()),
            "69217a3079908094e11121d042354a7c1f55b6482ca1a51e1b250dfd1ed0eef9");
  EXPECT_TRUE(tree.decommit({}).hash_witness.empty());
}

TEST(HashTree, BytesAreSixtyFourALeaf) {
  EXPECT_EQ(HashTree::bytes_for(10), 32u * ((2u << 10) - 1));
  EXPECT_EQ(HashTree(10).bytes(), HashTree::bytes_for(10));
}

}  // namespace
}  // namespace stwo::cpu

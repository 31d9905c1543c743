// What follows from statement and config: sizes, FRI layers, query mapping, and what is forbidden.

#include "prover/shape.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "prover/circle/domain.hpp"
#include "prover/errors.hpp"
#include "tests/support/random.hpp"

namespace stwo {
namespace {

using Parameters = std::vector<std::pair<std::string, uint64_t>>;

Statement wide(uint64_t log_n_rows, uint64_t sequence_len) {
  return {"wide_fibonacci",
          HashVariant::kBlake2s,
          false,
          {{"log_n_rows", log_n_rows}, {"sequence_len", sequence_len}}};
}
Statement pair(uint64_t log, uint64_t second_log, uint64_t second_enabled = 1) {
  return {"wide_fibonacci_pair",
          HashVariant::kBlake2s,
          false,
          {{"log_n_rows", log},
           {"sequence_len", 3},
           {"second_log_n_rows", second_log},
           {"second_sequence_len", 4},
           {"second_enabled", second_enabled}}};
}
Statement seq(uint64_t log, uint64_t unused = 0) {
  return {"wide_fibonacci_seq",
          HashVariant::kBlake2s,
          false,
          {{"log_n_rows", log}, {"sequence_len", 3}, {"unused_log_n_rows", unused}}};
}

std::vector<std::pair<uint32_t, uint32_t>> layers_of(const ProofShape& shape) {
  std::vector<std::pair<uint32_t, uint32_t>> out;
  for (const FriLayerShape& l : shape.fri_layers) out.emplace_back(l.log_size, l.fold_step);
  return out;
}

std::string error_of(const Statement& s, const PcsConfig& config) {
  try {
    make_shape(s, config);
  } catch (const UsageError& e) {
    return e.code() + ": " + e.what();
  }
  return "accepted";
}
std::string error_of(const Statement& s, const std::string& config) {
  return error_of(s, parse_config(config));
}

TEST(Shape, WideFibonacci) {
  const auto shape = make_shape(wide(5, 7), parse_config("blowup=2"));
  EXPECT_EQ(shape->composition_log_size, 6u);
  EXPECT_EQ(shape->lifting_log_size, 7u);
  EXPECT_EQ(shape->max_degree_log_size, 5u);
  EXPECT_EQ(shape->n_constraints, 5u);
  ASSERT_EQ(shape->trees.size(), 3u);
  EXPECT_EQ(shape->trees[0].height, 0u);
  EXPECT_TRUE(shape->trees[0].column_log_sizes.empty());
  EXPECT_EQ(shape->trees[1].height, 7u);
  EXPECT_EQ(shape->trees[1].column_log_sizes, std::vector<uint32_t>(7, 5));
  EXPECT_EQ(shape->trees[1].mask_offsets, std::vector<std::vector<int>>(7, {0}));
  EXPECT_EQ(shape->trees[2].height, 7u);
  EXPECT_EQ(shape->trees[2].column_log_sizes, std::vector<uint32_t>(8, 5));
  EXPECT_EQ(shape->trace_rows(), 32u);
  EXPECT_EQ(shape->trace_cells(), 32u * 7);
  EXPECT_EQ(shape->last_layer_log_size(), 2u);
}

TEST(Shape, Pair) {
  const auto shape = make_shape(pair(3, 6), fast_config());
  EXPECT_EQ(shape->lifting_log_size, 7u);
  EXPECT_EQ(shape->trees[1].column_log_sizes, (std::vector<uint32_t>{3, 3, 3, 6, 6, 6, 6}));
  ASSERT_EQ(shape->spans.size(), 2u);
  EXPECT_EQ(shape->spans[1].first_column[1], 3u);
  EXPECT_EQ(shape->spans[1].first_constraint, 1u);
  EXPECT_EQ(shape->n_constraints, 3u);

  const auto disabled = make_shape(pair(3, 6, 0), fast_config());
  EXPECT_EQ(disabled->lifting_log_size, 4u);
  EXPECT_EQ(disabled->trees[1].column_log_sizes, (std::vector<uint32_t>{3, 3, 3, 1, 1, 1, 1}));
  EXPECT_EQ(disabled->n_constraints, 3u);
}

TEST(Shape, Preprocessed) {
  const auto shape = make_shape(seq(4, 6), fast_config());
  EXPECT_EQ(shape->trees[0].column_log_sizes, (std::vector<uint32_t>{4, 6}));
  // Used columns are sampled once, unused ones not at all.
  EXPECT_EQ(shape->trees[0].mask_offsets, (std::vector<std::vector<int>>{{0}, {}}));
  EXPECT_EQ(shape->trees[0].height, 7u);
  EXPECT_EQ(shape->lifting_log_size, 5u);
  EXPECT_EQ(shape->spans[0].preprocessed, std::vector<uint32_t>{0});
}

TEST(Shape, Lifting) {
  const auto shape = make_shape(seq(4, 6), parse_config("blowup=2,lift=11"));
  EXPECT_EQ(shape->lifting_log_size, 11u);
  EXPECT_EQ(shape->max_degree_log_size, 9u);
  EXPECT_EQ(shape->composition_log_size, 5u);
  for (const TreeShape& tree : shape->trees) EXPECT_EQ(tree.height, 11u);
  EXPECT_EQ(shape->fri_layers[0].log_size, 11u);
}

TEST(Shape, StatementIsCompleted) {
  Statement s = seq(4);
  s.parameters.pop_back();
  const auto shape = make_shape(s, fast_config());
  EXPECT_EQ(shape->statement, seq(4));
  s.parameters = {};
  EXPECT_NE(error_of(s, fast_config()).find("'log_n_rows' is missing"), std::string::npos);
}

TEST(Shape, FriLayers) {
  using Layers = std::vector<std::pair<uint32_t, uint32_t>>;
  // L = 21, b = 1, s = 3, e = 0.
  EXPECT_EQ(layers_of(*make_shape(wide(20, 1), parse_config("blowup=1,fold=3,last=0"))),
            (Layers{{21, 3}, {18, 3}, {15, 3}, {12, 3}, {9, 3}, {6, 3}, {3, 2}}));
  // L = 9, b = 2, s = 3, e = 0: the last layer folds once and isn't packed.
  const auto shape = make_shape(wide(7, 1), parse_config("blowup=2,fold=3,last=0"));
  EXPECT_EQ(layers_of(*shape), (Layers{{9, 3}, {6, 3}, {3, 1}}));
  EXPECT_TRUE(shape->fri_layers[0].packed());
  EXPECT_EQ(shape->fri_layers[0].tree_height(), 7u);
  EXPECT_TRUE(shape->fri_layers[1].packed());
  EXPECT_FALSE(shape->fri_layers[2].packed());
  EXPECT_EQ(shape->fri_layers[2].tree_height(), 3u);
  // Folding by one: a layer for every bit down to the bound.
  EXPECT_EQ(layers_of(*make_shape(wide(4, 1), parse_config("blowup=1,fold=1,last=2"))),
            (Layers{{5, 1}, {4, 1}}));
  // The first layer alone.
  EXPECT_EQ(layers_of(*make_shape(wide(4, 1), parse_config("blowup=1,fold=3,last=1"))),
            (Layers{{5, 3}}));
  // For every allowed combination the layers join up and end at the last polynomial.
  for (uint32_t log = 1; log <= 12; ++log) {
    for (uint32_t fold = 1; fold <= log; ++fold) {
      for (uint32_t last = 0; last <= 10 && fold + last <= log; ++last) {
        PcsConfig c;
        c.fri = {2, last, 3, fold};
        const auto s = make_shape(wide(log, 1), c);
        uint32_t at = s->lifting_log_size;
        for (const FriLayerShape& l : s->fri_layers) {
          EXPECT_EQ(l.log_size, at);
          EXPECT_GE(l.fold_step, 1u);
          EXPECT_LE(l.fold_step, fold);
          EXPECT_GE(l.tree_height(), 1u);
          at -= l.fold_step;
        }
        EXPECT_EQ(at, s->last_layer_log_size());
      }
    }
  }
}

TEST(Shape, SamplePoints) {
  test::Random rng;
  STWO_TRACE_SEED();
  const auto shape = make_shape(seq(4, 6), parse_config("lift=9"));
  const auto z = rng.secure_point();
  const auto step = to_secure(CanonicCoset{8}.step());
  const auto points = shape->sample_points(z, {-1, 0, 2});
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[0] + step, z);
  EXPECT_EQ(points[1], z);
  EXPECT_EQ(points[2], z + step + step);
}

TEST(Shape, ForbiddenConfigs) {
  const auto expect = [](const Statement& s, const std::string& config, const std::string& why) {
    EXPECT_EQ(error_of(s, config), "SHAPE: " + s.air + ": " + why);
  };
  expect(seq(5), "lift=5",
         "config: lift 5 is below the composition tree's height 6; give at least that or none");
  expect(seq(4, 7), "lift=7",
         "config: lift 7 is below the 2^8 rows of a column in tree 0; give at least 8");
  expect(wide(5, 3), "lift=6",
         "config: lift is set but tree 0 has no column; the protocol's verifier cannot open an "
         "empty lifted tree, use lift=none");
  expect(wide(4, 3), "fold=3,last=2",
         "degree bound 2^4 is too small for fold 3 and last 2; enlarge the trace to at least 2^5 "
         "rows or lower fold or last");
  expect(wide(1, 3), "fold=2",
         "degree bound 2^1 is too small for fold 2 and last 0; enlarge the trace to at least 2^2 "
         "rows or lower fold or last");
  expect(wide(29, 1), "blowup=2",
         "evaluation domain 2^31 exceeds the largest circle domain over M31, 2^30; lower the trace "
         "size or the blowup");
  expect(wide(16, 1), "blowup=15",
         "evaluation domain 2^31 exceeds the largest circle domain over M31, 2^30; lower the trace "
         "size or the blowup");
  // The largest that is allowed.
  EXPECT_EQ(error_of(wide(29, 1), "blowup=1"), "accepted");
  EXPECT_EQ(error_of(wide(14, 1), "blowup=16"), "accepted");
  // A preprocessed column that is too large by itself.
  EXPECT_NE(error_of(seq(4, 29), "blowup=2"), "accepted");
}

TEST(Shape, ForbiddenValuesOfAConfigMadeInCode) {
  const auto expect = [](const std::function<void(PcsConfig&)>& change, const std::string& what) {
    PcsConfig c;
    change(c);
    EXPECT_NE(error_of(wide(5, 3), c).find("config: " + what), std::string::npos)
        << error_of(wide(5, 3), c);
  };
  expect([](PcsConfig& c) { c.fri.log_blowup_factor = 17; }, "blowup");
  expect([](PcsConfig& c) { c.fri.log_blowup_factor = 0; }, "blowup");
  expect([](PcsConfig& c) { c.fri.n_queries = 0; }, "queries");
  expect([](PcsConfig& c) { c.fri.fold_step = 0; }, "fold");
  expect([](PcsConfig& c) { c.fri.log_last_layer_degree_bound = 11; }, "last");
  expect([](PcsConfig& c) { c.pow_bits = 33; }, "pow");
  expect([](PcsConfig& c) { c.lifting_log_size = 31; }, "lift");
}

TEST(PreprocessedQueries, Vectors) {
  const std::vector<uint32_t> positions = {0, 107, 214, 321, 428, 535, 642, 749, 856, 963};
  EXPECT_EQ(preprocessed_query_positions(positions, 15, 10),
            (std::vector<uint32_t>{0, 3, 6, 11, 12, 17, 20, 23, 26, 31}));
  EXPECT_EQ(
      preprocessed_query_positions(positions, 10, 15),
      (std::vector<uint32_t>{0, 3393, 6848, 10241, 13696, 17089, 20544, 23937, 27392, 30785}));
  EXPECT_EQ(preprocessed_query_positions(positions, 10, 10), positions);
  EXPECT_TRUE(preprocessed_query_positions(positions, 10, 0).empty());
}

TEST(PreprocessedQueries, PointAtTheSamePlace) {
  // The mapped position holds the same value of a column lifted to both domains.
  const uint32_t column_log = 4;
  for (uint32_t log = column_log; log <= 9; ++log) {
    for (uint32_t height = column_log; height <= 9; ++height) {
      std::vector<uint32_t> all(1u << log);
      for (uint32_t p = 0; p < all.size(); ++p) all[p] = p;
      const auto mapped = preprocessed_query_positions(all, log, height);
      for (uint32_t p = 0; p < all.size(); ++p) {
        ASSERT_LT(mapped[p], 1u << height);
        ASSERT_EQ(lifted_position(mapped[p], height, column_log),
                  lifted_position(p, log, column_log));
      }
    }
  }
}

}  // namespace
}  // namespace stwo

// ProofShape: everything about a proof that follows from statement and config alone. Prover and
// verifier both work from it, so that no size is ever taken from a proof.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "prover/air/air.hpp"
#include "prover/air/statement.hpp"
#include "prover/circle/point.hpp"
#include "prover/pcs/config.hpp"

namespace stwo {

/// One commitment tree.
struct TreeShape {
  /// Trace log size of each column (before the blowup), commit order.
  std::vector<uint32_t> column_log_sizes;
  /// Row offsets at which each column is sampled out of domain; empty: not sampled.
  std::vector<std::vector<int>> mask_offsets;
  /// Log of the number of leaves; 0 for a tree without columns.
  uint32_t height = 0;
};

/// Where a component's columns lie.
struct ComponentSpan {
  /// First column of the component in each trace tree.
  std::vector<uint32_t> first_column;
  /// Tree-0 column of each preprocessed request.
  std::vector<uint32_t> preprocessed;
  /// Index of the component's first constraint among all constraints.
  uint32_t first_constraint = 0;
};

/// One FRI layer that is committed and then folded.
struct FriLayerShape {
  uint32_t log_size = 0;   ///< log of the number of QM31 values
  uint32_t fold_step = 0;  ///< folds applied to it
  /// Four values a leaf, tree height log_size - 2: when fold_step > 1 and log_size >= 2.
  bool packed() const { return fold_step > 1 && log_size >= 2; }
  uint32_t tree_height() const { return packed() ? log_size - 2 : log_size; }
};

struct ProofShape {
  Statement statement;
  PcsConfig config;
  const Air* air = nullptr;
  std::shared_ptr<const AirInstance> instance;

  /// Trees in commit order; the last is the composition tree (8 columns).
  std::vector<TreeShape> trees;
  std::vector<ComponentSpan> spans;
  uint32_t n_constraints = 0;

  uint32_t composition_log_size = 0;  ///< C: log of the composition polynomial's length
  uint32_t lifting_log_size = 0;      ///< L: log of the query domain
  uint32_t max_degree_log_size = 0;   ///< D = L - blowup

  /// First layer (the quotient on log L), then inner layers.
  std::vector<FriLayerShape> fri_layers;
  uint32_t last_layer_log_size() const {
    return config.fri.log_last_layer_degree_bound + config.fri.log_blowup_factor;
  }

  uint32_t n_trace_trees() const { return static_cast<uint32_t>(trees.size()) - 1; }
  uint32_t log_blowup() const { return config.fri.log_blowup_factor; }
  /// Rows and cells of the main trace and interaction trees (not preprocessed, not composition).
  uint64_t trace_rows() const;
  uint64_t trace_cells() const;

  /// Sample points of a column with the given offsets: Z + offset * step(canonic D).
  std::vector<CirclePoint<QM31>> sample_points(CirclePoint<QM31> z,
                                               const std::vector<int>& offsets) const;
};

/// Derives the shape. Throws UsageError for statements and configs the protocol forbids, naming the
/// rule (protocol.md 6.1, 6.3, 12).
std::shared_ptr<const ProofShape> make_shape(const Statement& statement, const PcsConfig& config);

/// The sampled values a component's script asks for, out of [tree][column][sample] values that have
/// the shape's mask shape. Refers to sampled_values.
ComponentMask component_mask(const ProofShape& shape, size_t component,
                             const std::vector<std::vector<std::vector<QM31>>>& sampled_values);

/// Positions at which tree 0 (height h0) is opened, for sorted query positions on log L. May be
/// unsorted and repeat when L > h0 > 0; empty for h0 = 0. One entry per query otherwise.
std::vector<uint32_t> preprocessed_query_positions(const std::vector<uint32_t>& positions,
                                                   uint32_t lifting_log_size, uint32_t height);

}  // namespace stwo

#include "prover/shape.hpp"

#include <algorithm>

#include "prover/circle/domain.hpp"
#include "prover/errors.hpp"

namespace stwo {
namespace {

/// Largest canonic domain over M31.
constexpr uint32_t kMaxDomainLogSize = 30;
constexpr uint32_t kCompositionColumns = 2 * kSecureExtensionDegree;

[[noreturn]] void forbid(const Statement& s, const std::string& why) {
  throw UsageError("SHAPE", s.air + ": " + why);
}

std::string num(uint64_t v) { return std::to_string(v); }

uint32_t tree_height(const std::vector<uint32_t>& logs, uint32_t blowup,
                     std::optional<uint32_t> lifting) {
  if (logs.empty()) return 0;
  const uint32_t largest = *std::max_element(logs.begin(), logs.end()) + blowup;
  return lifting.value_or(largest);
}

void lay_out_components(ProofShape& shape) {
  const auto& components = shape.instance->components();
  const auto& preprocessed = shape.instance->preprocessed();
  const uint32_t n_trees = shape.instance->n_trace_trees();
  shape.trees.resize(n_trees);
  for (const PreprocessedColumn& p : preprocessed) {
    shape.trees[0].column_log_sizes.push_back(p.log_size);
    shape.trees[0].mask_offsets.emplace_back();
  }
  for (const auto& component : components) {
    ComponentSpan span;
    span.first_constraint = shape.n_constraints;
    shape.n_constraints += static_cast<uint32_t>(component->info().n_constraints());
    const auto& masks = component->info().mask_offsets;
    span.first_column.resize(n_trees, 0);
    for (uint32_t t = 1; t < n_trees; ++t) {
      TreeShape& tree = shape.trees[t];
      span.first_column[t] = static_cast<uint32_t>(tree.column_log_sizes.size());
      if (t >= masks.size()) continue;
      for (const auto& offsets : masks[t]) {
        tree.column_log_sizes.push_back(component->log_size());
        tree.mask_offsets.push_back(offsets);
      }
    }
    for (const std::string& id : component->info().preprocessed_requests) {
      const auto it = std::find_if(preprocessed.begin(), preprocessed.end(),
                                   [&](const PreprocessedColumn& p) { return p.id == id; });
      STWO_CHECK(it != preprocessed.end(), "component asks for unknown preprocessed column " + id);
      const auto column = static_cast<uint32_t>(it - preprocessed.begin());
      STWO_CHECK(!component->enabled() || it->log_size == component->log_size(),
                 "preprocessed column " + id + " differs in size from the component that reads it");
      span.preprocessed.push_back(column);
      shape.trees[0].mask_offsets[column] = {0};
    }
    shape.spans.push_back(std::move(span));
  }
}

void check_masks(const ProofShape& shape) {
  for (const auto& component : shape.instance->components()) {
    if (component->info().max_degree() > 3) {
      forbid(shape.statement, "component " + component->name() + " has a constraint of degree " +
                                  num(component->info().max_degree()) +
                                  "; the lifted protocol proves degree 3 at most");
    }
    for (const auto& tree : component->info().mask_offsets) {
      for (const auto& offsets : tree) {
        // The periodicity sample is hard-wired to [previous, current]; other multi-offset masks are
        // accepted by the arithmetic and not sound.
        const bool ok = offsets.size() <= 1 || offsets == std::vector<int>{-1, 0};
        if (!ok) {
          forbid(shape.statement, "component " + component->name() +
                                      " opens a column at offsets other than [0] or [-1, 0], which "
                                      "the commitment scheme does not support soundly");
        }
      }
    }
  }
}

/// The composition polynomial takes its size from the largest component, so that one has to have a
/// constraint if any has (protocol.md 7, step 2).
void check_largest_component(const ProofShape& shape) {
  uint32_t largest = 0;
  uint32_t largest_constrained = 0;
  for (const auto& c : shape.instance->components()) {
    if (!c->enabled()) continue;
    largest = std::max(largest, c->log_size());
    if (c->info().n_constraints() > 0) {
      largest_constrained = std::max(largest_constrained, c->log_size());
    }
  }
  if (largest_constrained != 0 && largest_constrained != largest) {
    forbid(shape.statement, "the largest component, of 2^" + num(largest) +
                                " rows, has no constraint but a smaller one has; give it at least "
                                "3 columns");
  }
}

void lay_out_fri(ProofShape& shape) {
  const FriConfig& fri = shape.config.fri;
  const uint32_t needed = fri.fold_step + fri.log_last_layer_degree_bound;
  if (shape.max_degree_log_size < needed) {
    forbid(shape.statement,
           "degree bound 2^" + num(shape.max_degree_log_size) + " is too small for fold " +
               num(fri.fold_step) + " and last " + num(fri.log_last_layer_degree_bound) +
               "; enlarge the trace to at least 2^" + num(needed) + " rows or lower fold or last");
  }
  shape.fri_layers.push_back({shape.lifting_log_size, fri.fold_step});
  uint32_t bound = shape.max_degree_log_size - fri.fold_step;
  while (bound > fri.log_last_layer_degree_bound) {
    const uint32_t step = std::min(fri.fold_step, bound - fri.log_last_layer_degree_bound);
    shape.fri_layers.push_back({bound + fri.log_blowup_factor, step});
    bound -= step;
  }
}

}  // namespace

uint64_t ProofShape::trace_rows() const {
  uint64_t rows = 0;
  for (const auto& c : instance->components()) rows += uint64_t{1} << c->log_size();
  return rows;
}

uint64_t ProofShape::trace_cells() const {
  uint64_t cells = 0;
  for (uint32_t t = 1; t < n_trace_trees(); ++t) {
    for (const uint32_t log : trees[t].column_log_sizes) cells += uint64_t{1} << log;
  }
  return cells;
}

std::vector<CirclePoint<QM31>> ProofShape::sample_points(CirclePoint<QM31> z,
                                                         const std::vector<int>& offsets) const {
  std::vector<CirclePoint<QM31>> points;
  points.reserve(offsets.size());
  const uint32_t step = CanonicCoset{max_degree_log_size}.step_index();
  for (const int o : offsets) {
    const uint32_t index = static_cast<uint32_t>(static_cast<int64_t>(o) * step) & 0x7fffffffu;
    points.push_back(z + to_secure(point_at_index(index)));
  }
  return points;
}

std::shared_ptr<const ProofShape> make_shape(const Statement& statement, const PcsConfig& config) {
  check_config(config);
  auto shape = std::make_shared<ProofShape>();
  shape->config = config;
  shape->air = &AirRegistry::global().find(statement.air);
  shape->statement = shape->air->complete(statement);
  shape->instance = shape->air->instantiate(shape->statement);
  lay_out_components(*shape);
  check_masks(*shape);

  check_largest_component(*shape);
  const uint32_t blowup = config.fri.log_blowup_factor;
  bool any_enabled = false;
  for (const auto& c : shape->instance->components()) {
    any_enabled |= c->enabled();
    shape->composition_log_size = std::max(shape->composition_log_size, c->log_degree_bound());
  }
  STWO_CHECK(any_enabled, "an instance needs an enabled component");

  const uint32_t natural = shape->composition_log_size - 1 + blowup;
  shape->lifting_log_size = config.lifting_log_size.value_or(natural);
  if (natural > kMaxDomainLogSize || shape->lifting_log_size > kMaxDomainLogSize) {
    forbid(shape->statement, "evaluation domain 2^" +
                                 num(std::max(natural, shape->lifting_log_size)) +
                                 " exceeds the largest circle domain over M31, 2^" +
                                 num(kMaxDomainLogSize) + "; lower the trace size or the blowup");
  }
  if (shape->lifting_log_size < natural) {
    forbid(shape->statement, "config: lift " + num(shape->lifting_log_size) +
                                 " is below the composition tree's height " + num(natural) +
                                 "; give at least that or none");
  }
  shape->max_degree_log_size = shape->lifting_log_size - blowup;

  TreeShape composition;
  composition.column_log_sizes.assign(kCompositionColumns, shape->composition_log_size - 1);
  composition.mask_offsets.assign(kCompositionColumns, {0});
  shape->trees.push_back(std::move(composition));

  for (size_t t = 0; t < shape->trees.size(); ++t) {
    TreeShape& tree = shape->trees[t];
    tree.height = tree_height(tree.column_log_sizes, blowup, config.lifting_log_size);
    if (tree.column_log_sizes.empty() && config.lifting_log_size) {
      forbid(shape->statement,
             "config: lift is set but tree " + num(t) +
                 " has no column; the protocol's verifier cannot open an empty lifted tree, use "
                 "lift=none");
    }
    const uint32_t largest =
        tree.column_log_sizes.empty()
            ? 0
            : *std::max_element(tree.column_log_sizes.begin(), tree.column_log_sizes.end()) +
                  blowup;
    if (largest > kMaxDomainLogSize) {
      forbid(shape->statement, "a column of tree " + num(t) + " would be extended to 2^" +
                                   num(largest) +
                                   " rows; the largest circle domain over M31 is 2^" +
                                   num(kMaxDomainLogSize) + ", lower its size or the blowup");
    }
    if (largest > tree.height) {
      forbid(shape->statement, "config: lift " + num(tree.height) + " is below the 2^" +
                                   num(largest) + " rows of a column in tree " + num(t) +
                                   "; give at least " + num(largest));
    }
    if (t > 0) {
      STWO_CHECK(tree.height == shape->lifting_log_size,
                 "tree " + num(t) + " differs in height from the composition tree");
    }
  }
  lay_out_fri(*shape);
  return shape;
}

ComponentMask component_mask(const ProofShape& shape, size_t component,
                             const std::vector<std::vector<std::vector<QM31>>>& sampled_values) {
  const auto& masks = shape.instance->components()[component]->info().mask_offsets;
  const ComponentSpan& span = shape.spans[component];
  ComponentMask mask;
  // Tree 0 stays empty: it is addressed by id.
  mask.trees.resize(std::max<size_t>(masks.size(), 2));
  for (size_t t = 1; t < masks.size(); ++t) {
    mask.trees[t] = std::span(sampled_values[t]).subspan(span.first_column[t], masks[t].size());
  }
  for (const uint32_t column : span.preprocessed) {
    mask.preprocessed.push_back(sampled_values[0][column][0]);
  }
  return mask;
}

std::vector<uint32_t> preprocessed_query_positions(const std::vector<uint32_t>& positions,
                                                   uint32_t lifting_log_size, uint32_t height) {
  std::vector<uint32_t> out;
  if (height == 0) return out;
  out.reserve(positions.size());
  for (const uint32_t p : positions) {
    if (lifting_log_size < height) {
      out.push_back(((p >> 1) << (height - lifting_log_size + 1)) + (p & 1));
    } else {
      out.push_back(((p >> (lifting_log_size - height + 1)) << 1) + (p & 1));
    }
  }
  return out;
}

}  // namespace stwo

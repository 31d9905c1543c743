#include "prover/program/program_shape_check.hpp"

#include <algorithm>

#include "prover/errors.hpp"

namespace stwo::program_layout {
namespace {

constexpr uint32_t kMaxDomainLogSize = 30;
constexpr uint32_t kMaxDegree = 3;

std::string num(uint64_t v) { return std::to_string(v); }

class ShapeCheck {
 public:
  explicit ShapeCheck(const ProofShape& shape) : s_(shape) {}

  std::vector<std::string> run() {
    for (const auto rule : {&ShapeCheck::config, &ShapeCheck::columns, &ShapeCheck::constraints,
                            &ShapeCheck::domains, &ShapeCheck::heights, &ShapeCheck::fri}) {
      (this->*rule)();
      if (!faults_.empty()) break;
    }
    return std::move(faults_);
  }

 private:
  void expect(bool ok, std::string fault) {
    if (!ok) faults_.push_back(std::move(fault));
  }

  void config() {
    try {
      check_config(s_.config);
    } catch (const UsageError& e) {
      faults_.emplace_back(e.what());
    }
    expect(s_.instance != nullptr, "the shape has no AIR instance");
  }

  /// Trace trees hold the components' columns one after another, with their masks.
  void columns() {
    const auto& components = s_.instance->components();
    const auto& preprocessed = s_.instance->preprocessed();
    const uint32_t n_trees = s_.instance->n_trace_trees();
    expect(s_.trees.size() == n_trees + 1, "the shape has " + num(s_.trees.size()) +
                                               " trees; the instance needs " + num(n_trees + 1));
    expect(s_.spans.size() == components.size(), "the shape does not place every component");
    if (!faults_.empty()) return;
    std::vector<TreeShape> expected(n_trees);
    for (const PreprocessedColumn& p : preprocessed) {
      expected[0].column_log_sizes.push_back(p.log_size);
      expected[0].mask_offsets.emplace_back();
    }
    for (size_t i = 0; i < components.size(); ++i) {
      const ScriptInfo& info = components[i]->info();
      const ComponentSpan& span = s_.spans[i];
      const std::string name = "component " + components[i]->name();
      if (span.first_column.size() < n_trees ||
          span.preprocessed.size() != info.preprocessed_requests.size()) {
        expect(false, name + " is not placed in every tree");
        return;
      }
      for (uint32_t t = 1; t < info.mask_offsets.size(); ++t) {
        expect(info.mask_offsets[t].empty() ||
                   span.first_column[t] == expected[t].column_log_sizes.size(),
               name + " starts at a wrong column of tree " + num(t));
        for (const auto& offsets : info.mask_offsets[t]) {
          expected[t].column_log_sizes.push_back(components[i]->log_size());
          expected[t].mask_offsets.push_back(offsets);
          expect(offsets.size() <= 1 || offsets == std::vector<int>{-1, 0},
                 name + " opens a column at offsets other than [0] or [-1, 0]");
        }
      }
      for (size_t r = 0; r < span.preprocessed.size(); ++r) {
        const uint32_t column = span.preprocessed[r];
        const bool ok = column < preprocessed.size() &&
                        preprocessed[column].id == info.preprocessed_requests[r];
        expect(ok, name + " is given a wrong preprocessed column");
        if (!ok) return;
        expect(
            !components[i]->enabled() || preprocessed[column].log_size == components[i]->log_size(),
            name + " differs in size from its preprocessed column");
        expected[0].mask_offsets[column] = {0};
      }
    }
    for (uint32_t t = 0; t < n_trees; ++t) {
      expect(s_.trees[t].column_log_sizes == expected[t].column_log_sizes &&
                 s_.trees[t].mask_offsets == expected[t].mask_offsets,
             "tree " + num(t) + " does not hold the instance's columns and masks");
    }
  }

  void constraints() {
    uint32_t n = 0;
    uint32_t largest = 0;
    uint32_t largest_constrained = 0;
    const auto& components = s_.instance->components();
    for (size_t i = 0; i < components.size(); ++i) {
      const Component& c = *components[i];
      expect(s_.spans[i].first_constraint == n,
             "component " + c.name() + " starts at a wrong constraint");
      n += static_cast<uint32_t>(c.info().n_constraints());
      expect(c.info().max_degree() <= kMaxDegree,
             "component " + c.name() + " has a constraint of degree " + num(c.info().max_degree()) +
                 "; the lifted protocol proves degree " + num(kMaxDegree) + " at most");
      if (!c.enabled()) continue;
      largest = std::max(largest, c.log_size());
      if (c.info().n_constraints() > 0) {
        largest_constrained = std::max(largest_constrained, c.log_size());
      }
      composition_ = std::max(composition_, c.log_degree_bound());
    }
    expect(s_.n_constraints == n, "the shape counts " + num(s_.n_constraints) +
                                      " constraints; the instance has " + num(n));
    expect(largest > 0, "no component is enabled");
    expect(largest_constrained == 0 || largest_constrained == largest,
           "the largest component has no constraint but a smaller one has");
  }

  void domains() {
    const uint32_t blowup = s_.log_blowup();
    // Disabled components are of the smallest size and bound nothing.
    const uint32_t natural = composition_ - 1 + blowup;
    expect(s_.composition_log_size == composition_, "wrong composition size");
    expect(s_.lifting_log_size == s_.config.lifting_log_size.value_or(natural),
           "wrong query domain");
    expect(s_.lifting_log_size >= natural, "the query domain is smaller than the composition tree");
    expect(
        s_.lifting_log_size <= kMaxDomainLogSize,
        "the query domain exceeds the largest circle domain over M31, 2^" + num(kMaxDomainLogSize));
    expect(s_.max_degree_log_size + blowup == s_.lifting_log_size, "wrong degree bound");
    const TreeShape& last = s_.trees.back();
    expect(last.column_log_sizes ==
                   std::vector<uint32_t>(2 * kSecureExtensionDegree, composition_ - 1) &&
               last.mask_offsets ==
                   std::vector<std::vector<int>>(2 * kSecureExtensionDegree, std::vector<int>{0}),
           "the last tree does not hold the eight composition columns");
  }

  void heights() {
    for (uint32_t t = 0; t < s_.trees.size(); ++t) {
      const TreeShape& tree = s_.trees[t];
      uint32_t largest = 0;
      for (const uint32_t log : tree.column_log_sizes) {
        expect(log >= kMinDomainLogSize, "tree " + num(t) + " has a column of one row");
        largest = std::max(largest, log + s_.log_blowup());
      }
      const bool empty = tree.column_log_sizes.empty();
      expect(!(empty && s_.config.lifting_log_size),
             "lift is set but tree " + num(t) + " has no column");
      expect(tree.height == (empty ? 0 : s_.config.lifting_log_size.value_or(largest)),
             "tree " + num(t) + " has a wrong height");
      expect(largest <= kMaxDomainLogSize && largest <= tree.height,
             "tree " + num(t) + " has a column that is too large");
      expect(t == 0 || tree.height == s_.lifting_log_size,
             "tree " + num(t) + " differs in height from the query domain");
    }
  }

  void fri() {
    const FriConfig& c = s_.config.fri;
    if (s_.max_degree_log_size < c.fold_step + c.log_last_layer_degree_bound) {
      expect(false, "the degree bound is too small for fold and last");
      return;
    }
    uint32_t bound = s_.max_degree_log_size;
    size_t i = 0;
    while (i == 0 || bound > c.log_last_layer_degree_bound) {
      const uint32_t step = std::min(c.fold_step, bound - c.log_last_layer_degree_bound);
      if (i >= s_.fri_layers.size() || s_.fri_layers[i].log_size != bound + c.log_blowup_factor ||
          s_.fri_layers[i].fold_step != step) {
        expect(false, "FRI layer " + num(i) + " differs from the config's");
        return;
      }
      bound -= step;
      ++i;
    }
    expect(i == s_.fri_layers.size(), "the shape has " + num(s_.fri_layers.size()) +
                                          " FRI layers; the config gives " + num(i));
  }

  const ProofShape& s_;
  std::vector<std::string> faults_;
  uint32_t composition_ = 0;
};

}  // namespace

std::vector<std::string> shape_faults(const ProofShape& shape) { return ShapeCheck(shape).run(); }

}  // namespace stwo::program_layout

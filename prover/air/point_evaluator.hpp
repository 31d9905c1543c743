// The out-of-domain run of an AIR script: masks are sampled values, constraints are folded into the
// composition value by Horner's rule. Used by the verifier and by the prover's own check.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "prover/errors.hpp"
#include "prover/field/qm31.hpp"

namespace stwo {

/// Sampled values of one component, in the order its script asks for them.
/// Shapes are checked by the caller against ScriptInfo: untrusted bytes never reach this point with
/// a wrong shape.
struct ComponentMask {
  /// [tree][component-local column][offset]
  std::vector<std::span<const std::vector<QM31>>> trees;
  /// One value per preprocessed request.
  std::vector<QM31> preprocessed;
};

class PointEvaluator {
 public:
  using F = QM31;
  using EF = QM31;

  /// Folds each constraint into *accumulator: acc = acc * alpha + value.
  PointEvaluator(const ComponentMask& mask, QM31 alpha, QM31* accumulator)
      : mask_(mask), alpha_(alpha), accumulator_(accumulator), next_(mask.trees.size(), 0) {}

  F next_trace_mask() { return next_interaction_mask(1, std::array<int, 1>{0})[0]; }

  template <size_t N>
  std::array<F, N> next_interaction_mask(uint32_t tree, const std::array<int, N>&) {
    const std::vector<QM31>& samples = mask_.trees[tree][next_[tree]++];
    STWO_CHECK(samples.size() == N, "mask shape differs from the script");
    std::array<F, N> out;
    std::copy(samples.begin(), samples.end(), out.begin());
    return out;
  }
  EF next_extension_mask(uint32_t tree, int offset) {
    QM31 v[4];
    for (QM31& c : v) c = next_interaction_mask(tree, std::array<int, 1>{offset})[0];
    return QM31::from_partial_evals(v);
  }
  F preprocessed_column(std::string_view) { return mask_.preprocessed[next_preprocessed_++]; }
  F constant(M31 c) { return QM31(c); }
  EF secure_constant(QM31 c) { return c; }
  void add_constraint(EF value) { *accumulator_ = *accumulator_ * alpha_ + value; }

 private:
  const ComponentMask& mask_;
  QM31 alpha_;
  QM31* accumulator_;
  std::vector<size_t> next_;
  size_t next_preprocessed_ = 0;
};

}  // namespace stwo

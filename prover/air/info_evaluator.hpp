// The counting run of an AIR script: how many columns it asks for, at which offsets, which
// preprocessed columns, how many constraints of which degree.
//
// A script is a class with `template <class E> void evaluate(E& eval) const`. E offers
//   F, EF                                base and secure values of this run
//   F next_trace_mask()                  next main-trace column (tree 1) at the current row
//   next_interaction_mask<N>(tree, offsets)
//                                        next column of `tree` at N row offsets; index the result
//   EF next_extension_mask(tree, offset) next four columns of `tree`, read as one secure value
//   F preprocessed_column(id)            preprocessed column by string id, current row
//   F constant(M31), EF secure_constant(QM31)
//   void add_constraint(F or EF)         the value must vanish on the trace domain
// A script makes at most one of these requests in a statement: the order in which C++ evaluates two
// in one expression is not fixed, and the order is part of the protocol. Constraints are numbered
// in call order. The same script is run by this class, by PointEvaluator (out of domain; prover's
// check and verifier), by the SIMD row evaluator (prover/cpu) and by ConstraintRecorder
// (prover/air/constraint_program.hpp), always asking in the same order.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "prover/field/qm31.hpp"

namespace stwo {

/// What a script asks for, found by running it once.
struct ScriptInfo {
  /// mask_offsets[tree][component-local column] = row offsets, in request order. Tree 0 is empty:
  /// preprocessed columns are addressed by id.
  std::vector<std::vector<std::vector<int>>> mask_offsets;
  /// Ids in order of request, repeats included.
  std::vector<std::string> preprocessed_requests;
  /// Degree in the masks, per constraint.
  std::vector<uint32_t> constraint_degrees;

  size_t n_constraints() const { return constraint_degrees.size(); }
  uint32_t max_degree() const {
    return constraint_degrees.empty()
               ? 0
               : *std::max_element(constraint_degrees.begin(), constraint_degrees.end());
  }
};

class InfoEvaluator {
 public:
  /// Carries only the degree. An upper bound: cancellation of leading terms is not tracked.
  struct F {
    uint32_t degree = 0;
    friend F operator+(F a, F b) { return {std::max(a.degree, b.degree)}; }
    friend F operator-(F a, F b) { return {std::max(a.degree, b.degree)}; }
    friend F operator*(F a, F b) { return {a.degree + b.degree}; }
    F operator-() const { return *this; }
  };
  using EF = F;

  F next_trace_mask() { return next_interaction_mask(1, std::array<int, 1>{0})[0]; }

  template <size_t N>
  std::array<F, N> next_interaction_mask(uint32_t tree, const std::array<int, N>& offsets) {
    if (info_.mask_offsets.size() <= tree) info_.mask_offsets.resize(tree + 1);
    info_.mask_offsets[tree].emplace_back(offsets.begin(), offsets.end());
    std::array<F, N> out;
    out.fill(F{1});
    return out;
  }
  EF next_extension_mask(uint32_t tree, int offset) {
    for (uint32_t k = 0; k < kSecureExtensionDegree; ++k) {
      next_interaction_mask(tree, std::array<int, 1>{offset});
    }
    return F{1};
  }
  F preprocessed_column(std::string_view id) {
    info_.preprocessed_requests.emplace_back(id);
    return F{1};
  }
  F constant(M31) { return {}; }
  EF secure_constant(QM31) { return {}; }
  void add_constraint(F value) { info_.constraint_degrees.push_back(value.degree); }

  ScriptInfo take() { return std::move(info_); }

 private:
  ScriptInfo info_;
};

template <class Script>
ScriptInfo script_info(const Script& script) {
  InfoEvaluator eval;
  script.evaluate(eval);
  return eval.take();
}

}  // namespace stwo

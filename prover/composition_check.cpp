#include "prover/composition_check.hpp"

#include "prover/circle/domain.hpp"
#include "prover/errors.hpp"

namespace stwo {

void check_composition(const ProofShape& shape,
                       const std::vector<std::vector<std::vector<QM31>>>& sampled_values,
                       QM31 constraint_coefficient, const CirclePoint<QM31>& oods_point) {
  QM31 expected;
  for (size_t i = 0; i < shape.spans.size(); ++i) {
    const ComponentMask mask = component_mask(shape, i, sampled_values);
    shape.instance->components()[i]->evaluate_at_point(mask, constraint_coefficient, &expected);
  }
  const uint32_t d = shape.max_degree_log_size;
  expected *= canonic_vanishing(oods_point.x, d).inverse();
  QM31 left[4];
  QM31 right[4];
  for (size_t k = 0; k < 4; ++k) {
    left[k] = sampled_values.back()[k][0];
    right[k] = sampled_values.back()[4 + k][0];
  }
  const QM31 actual = QM31::from_partial_evals(left) +
                      repeated_double_x(oods_point.x, d - 1) * QM31::from_partial_evals(right);
  if (actual != expected) {
    throw ConstraintsNotSatisfied(shape.statement.air +
                                  ": the trace does not satisfy the AIR's constraints");
  }
}

}  // namespace stwo

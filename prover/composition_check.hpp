// The prover's own check of a proof's sampled values, before anything leaves it.
#pragma once

#include <vector>

#include "prover/circle/point.hpp"
#include "prover/shape.hpp"

namespace stwo {

/// The identity the verifier will check: the constraints at the out-of-domain point, over the
/// vanishing polynomial, equal the composition polynomial there. sampled_values has the shape's
/// mask shape; the last tree is the composition tree. Throws ConstraintsNotSatisfied: a trace that
/// breaks a constraint fails here.
void check_composition(const ProofShape& shape,
                       const std::vector<std::vector<std::vector<QM31>>>& sampled_values,
                       QM31 constraint_coefficient, const CirclePoint<QM31>& oods_point);

}  // namespace stwo

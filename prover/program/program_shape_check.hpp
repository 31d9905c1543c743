// Is a shape one that the protocol allows and does it agree with itself? make_shape only makes such
// shapes; programs can also be made from shapes of instances that no registry knows.
#pragma once

#include <string>
#include <vector>

#include "prover/shape.hpp"

namespace stwo::program_layout {

/// What is wrong, one line each; empty for a sound shape. Later rules are not looked at where
/// earlier ones fail that they build on.
std::vector<std::string> shape_faults(const ProofShape& shape);

}  // namespace stwo::program_layout

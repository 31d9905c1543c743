// Wide Fibonacci: N columns, every row an independent recurrence a_k = a_{k-2}^2 + a_{k-1}^2.
// Wide, shallow, no lookups: it stresses LDE, hashing and composition.
// Source: the stwo crate's wide_fibonacci example and its lifted-pair and preprocessed variants.
#pragma once

#include "prover/field/m31.hpp"

namespace stwo::air {

#include "prover/air/wide_fibonacci/wide_fibonacci_scripts.inc"

}  // namespace stwo::air

// From the shape to the program, before anybody has looked for faults.
#pragma once

#include <memory>

#include "prover/program/proof_program.hpp"

namespace stwo::program_layout {

/// Derives every field. Throws SizeOverflow, and ContractError for an instance whose transcript
/// does not commit its trees once each in order.
ProofProgram derive_program(std::shared_ptr<const ProofShape> shape);

}  // namespace stwo::program_layout

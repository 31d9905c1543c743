#include "prover/stage.hpp"

namespace stwo {

std::string_view stage_name(Stage stage) {
  static constexpr std::string_view kNames[kStageCount] = {
      "ingress",  "trace_generation", "trace_commit", "constraint_evaluation",
      "oods",     "quotient",         "fri_commit",   "pow",
      "decommit", "proof_assembly"};
  return kNames[static_cast<size_t>(stage)];
}

}  // namespace stwo

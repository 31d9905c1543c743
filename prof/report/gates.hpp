// What must be right before any number of a report counts.
#pragma once

#include <string>
#include <vector>

#include "prof/report/run_facts.hpp"

namespace prof {

enum class GateState { kPass, kFail, kUnknown };
/// "pass", "FAIL", "unknown".
std::string gate_state_name(GateState state);

struct Gate {
  std::string code;  ///< stable: GATE_*
  std::string title;
  GateState state = GateState::kUnknown;
  std::string found;  ///< what the report says, or why it says nothing
  std::string mend;   ///< what to do; empty exactly when it passes
};

/// In the order of attribution: proof identity, verification, oracle, code compiled ahead of time,
/// device, fallbacks, one copy to the host, no compilation in the run; then source, allocations
/// and admission. `baseline`: the other report, or null; the proofs of equal statements must be
/// equal.
std::vector<Gate> report_gates(const RunFacts& run, const RunFacts* baseline);

}  // namespace prof

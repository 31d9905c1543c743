// What `stwo prove` says about a run: text, one JSON object, the product report.
#pragma once

#include <optional>
#include <string>

#include "prover/cli/prove_run.hpp"

namespace stwo {

/// Files the run writes. Empty: not asked for.
struct ProveOutputs {
  std::string proof;
  std::string report;
  std::string transcript;
};

/// Stage times are the device's where there is one.
std::string prove_summary(const ProveResult& result, const ProveOutputs& outputs);
std::string prove_summary_json(const ProveResult& result, const ProveOutputs& outputs);

/// The product report's text. Throws ContractError if it would break its own rules.
std::string prove_report(const ProveResult& result, const ProveOutputs& outputs,
                         const std::optional<OracleReceipt>& oracle);

}  // namespace stwo

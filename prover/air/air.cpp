#include "prover/air/air.hpp"

#include <algorithm>

#include "prover/errors.hpp"

namespace stwo {

uint32_t AirInstance::n_trace_trees() const {
  size_t n = 2;
  for (const auto& c : components_) n = std::max(n, c->info().mask_offsets.size());
  return static_cast<uint32_t>(n);
}

std::vector<TranscriptStep> AirInstance::transcript(const Statement& statement) const {
  using Kind = TranscriptStep::Kind;
  std::vector<TranscriptStep> steps;
  if (statement.mix_config) steps.push_back({Kind::kMixConfig});
  for (uint32_t t = 0; t < n_trace_trees(); ++t) steps.push_back({Kind::kCommitTree, t});
  return steps;
}

Statement Air::complete(Statement statement) const {
  std::vector<std::pair<std::string, uint64_t>> ordered;
  for (const auto& [key, value] : statement.parameters) {
    const auto same = [&k = key](const auto& p) { return p.first == k; };
    if (std::count_if(statement.parameters.begin(), statement.parameters.end(), same) > 1) {
      throw UsageError("AIR_PARAMETER",
                       statement.air + ": parameter '" + key + "' is given twice; give it once");
    }
    const auto known = std::find_if(parameters().begin(), parameters().end(),
                                    [&k = key](const AirParameter& p) { return p.name == k; });
    if (known == parameters().end()) {
      std::string names;
      for (const AirParameter& p : parameters()) names += (names.empty() ? "" : ", ") + p.name;
      throw UsageError("AIR_PARAMETER", statement.air + ": unknown parameter '" + key +
                                            "'; its parameters are " + names);
    }
  }
  for (const AirParameter& p : parameters()) {
    const auto it = std::find_if(statement.parameters.begin(), statement.parameters.end(),
                                 [&](const auto& kv) { return kv.first == p.name; });
    uint64_t value = 0;
    if (it != statement.parameters.end()) {
      value = it->second;
    } else if (p.default_value) {
      value = *p.default_value;
    } else {
      throw UsageError("AIR_PARAMETER",
                       statement.air + ": parameter '" + p.name + "' is missing; " + p.help);
    }
    if (value < p.min || value > p.max) {
      throw UsageError("AIR_PARAMETER", statement.air + ": parameter '" + p.name + "' is " +
                                            std::to_string(value) + "; it must be between " +
                                            std::to_string(p.min) + " and " +
                                            std::to_string(p.max));
    }
    ordered.emplace_back(p.name, value);
  }
  statement.parameters = std::move(ordered);
  return statement;
}

const AirRegistry& AirRegistry::global() {
  static const AirRegistry registry = [] {
    AirRegistry r;
    register_linked_airs(r);
    return r;
  }();
  return registry;
}

const Air& AirRegistry::find(std::string_view name) const {
  std::string names;
  for (const auto& air : airs_) {
    if (air->name() == name) return *air;
    names += (names.empty() ? "" : ", ") + std::string(air->name());
  }
  throw UsageError("AIR_UNKNOWN",
                   "AIR '" + std::string(name) + "' is unknown; this program knows " + names);
}

}  // namespace stwo

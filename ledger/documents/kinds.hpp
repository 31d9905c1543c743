// What the kinds of documents share, and the rules of each kind. Internal to the folder.
#pragma once

#include <span>
#include <string_view>

#include "ledger/documents/schema.hpp"

namespace ledger::documents {

/// The names of stage.hpp, in order.
std::span<const std::string_view> stage_names();
/// The nine structural classes of the portfolio.
std::span<const std::string_view> structural_classes();

/// {name, version}.
std::span<const Rule> tool_rules();
/// A product in a comparison: label, digests, source.
std::span<const Rule> arm_rules();
/// The machine a judge ran on.
std::span<const Rule> judge_environment_rules();
/// Members of artifacts[]: digest and kind.
std::span<const Rule> artifact_rules();

/// Form of a kind, and its cross checks, for values whose form is right.
struct KindRules {
  const DocumentSchema& schema;
  void (*cross_check)(const Json& root, Problems& problems);
};
KindRules plan_rules();
KindRules counters_rules();
KindRules verdict_rules();
KindRules calibration_rules();

}  // namespace ledger::documents

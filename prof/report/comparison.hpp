// Two product reports: what they are about, then how their numbers differ.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "prof/report/run_facts.hpp"

namespace prof {

/// What a difference means for the numbers beside it.
enum class DriftMeaning {
  kChange,        ///< may be what is being compared: source, build, plan
  kIncomparable,  ///< another statement, protocol, device or mode: times say nothing together
};
/// "change", "not comparable".
std::string drift_meaning_name(DriftMeaning meaning);

struct Drift {
  std::string path;  ///< JSON pointer in both reports
  std::string baseline;
  std::string now;
  DriftMeaning meaning = DriftMeaning::kChange;
};

/// Fields that say what a run is, in the order they are shown.
struct IdentityField {
  const char* path;
  DriftMeaning meaning;
};
const std::vector<IdentityField>& identity_fields();

/// The identity fields that differ. A path that one report lacks shows as "absent", null as "null".
std::vector<Drift> identity_drift(const nlohmann::json& baseline, const nlohmann::json& now);

enum class Unit { kNs, kBytes, kCount };

struct Delta {
  std::string group;
  std::string name;
  Unit unit = Unit::kCount;
  Known<uint64_t> baseline;
  Known<uint64_t> now;
  /// now / baseline; absent where one is unknown or the baseline is 0.
  std::optional<double> ratio() const;
};

/// Lifecycle, steady medians, stages (in order of the proof), host gap, counters, transfers,
/// memory, and bytes and launches of the pass ledger by stage. Every number of both, also equal
/// ones.
std::vector<Delta> report_deltas(const RunFacts& baseline, const RunFacts& now);

}  // namespace prof

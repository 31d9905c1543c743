// A plan's passes with what is predicted and what captures have measured. Internal to the folder.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/query/run_facts.hpp"

namespace ledger {

/// Bytes and counts of a pass, or of a stage.
enum Quantity : size_t { kInput, kOutput, kReread, kTemporary, kLaunches, kBarriers, kQuantities };
using Predicted = std::array<int64_t, kQuantities>;

/// Bytes that have to be moved: read, written, read again.
inline int64_t traffic(const Predicted& p) { return p[kInput] + p[kOutput] + p[kReread]; }

inline Predicted sum_of(const Predicted& a, const Predicted& b) {
  Predicted sum;
  for (size_t i = 0; i < kQuantities; ++i) sum[i] = a[i] + b[i];
  return sum;
}

/// Per request; NULL: no capture tells.
struct Measured {
  Value launches;
  Value dram_bytes;
};

struct Pass {
  std::string stage;
  std::string pass;
  std::string kernel;
  Predicted predicted{};
  Measured measured;
};

struct Stage {
  std::string name;
  std::vector<size_t> passes;  ///< indices
  Predicted predicted{};
  Measured measured;
};

struct PassLedger {
  std::string plan_id;
  int64_t plan = 0;
  std::optional<RunFacts> run;  ///< the run asked for, or the newest with this plan
  std::vector<Pass> passes;
  std::vector<Stage> stages;  ///< in order of the request
  std::vector<std::string> notes;
};

/// The plan that `id` names, itself or through a run. Measured values are filled in as far as
/// captures of the run, or of its workload, environment and plan, tell. Throws UsageError ID_*,
/// RUN_*, PLAN_*.
PassLedger load_pass_ledger(Reader& reader, const std::string& id);

}  // namespace ledger

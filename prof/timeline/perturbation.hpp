// How far the recording itself slowed the program down.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/db/database.hpp"
#include "prof/timeline/answer.hpp"
#include "prof/timeline/recorded.hpp"
#include "prof/timeline/window.hpp"

namespace prof {

/// Above this ratio a capture's durations say nothing about production.
inline constexpr double kMaxInflation = 1.10;

struct OverheadRow {
  int64_t kind = 0;      ///< CUPTI's number
  std::string name;      ///< "instrumentation", "buffer flush", ...
  bool profiler = true;  ///< false: the driver would have spent it without a recorder too
  int64_t events = 0;    ///< that touch the window
  int64_t ns = 0;        ///< sum of their parts in the window; threads may overlap
};

struct Perturbation {
  std::vector<OverheadRow> rows;             ///< by kind
  Answer<int64_t> overhead_ns;               ///< all rows
  int64_t profiler_ns = 0;                   ///< rows with `profiler`
  int64_t untimed = 0;                       ///< records without times, left out
  int64_t captured_ns = 0;                   ///< length of the window
  std::optional<int64_t> uninstrumented_ns;  ///< the same without a recorder, if somebody measured
  Answer<double> inflation;                  ///< captured_ns / uninstrumented_ns
  bool perturbed() const { return inflation && *inflation > kMaxInflation; }
};

/// `uninstrumented_ns`: median resident time of the steady requests of a run without a recorder.
/// Throws UsageError TIMELINE_BASELINE if it is not positive.
Perturbation perturbation(ledger::Database& trace, const Window& window, const Recorded& recorded,
                          std::optional<int64_t> uninstrumented_ns);

}  // namespace prof

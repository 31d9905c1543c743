// Did the wall clock jump while a program was recorded?
#pragma once

#include <cstdint>
#include <vector>

#include "ledger/trace/trace_rows.hpp"

namespace prof {

/// Difference that no clock discipline makes between two readings a second apart.
inline constexpr int64_t kClockStepNs = 50'000;
/// Drift between the clocks that is no step: the crystal's error, corrected continuously.
inline constexpr double kMaxDrift = 1e-4;

struct ClockStep {
  int64_t before_ns = 0;  ///< CLOCK_REALTIME of the last reading before it
  int64_t after_ns = 0;   ///< and of the first one after it; less than before_ns if it went back
  int64_t jump_ns = 0;    ///< how much further the wall clock went than the monotonic one
  bool operator==(const ClockStep&) const = default;
};

/// Steps between consecutive readings of one process, ordered here by the monotonic clock. What the
/// clocks drift apart steadily (the median of the intervals, at most kMaxDrift; not known with
/// fewer than three intervals) is no step.
std::vector<ClockStep> find_clock_steps(std::vector<ledger::ClockPairRow> pairs);

/// Does [begin_ns, end_ns] contain a part of the step? Times on its two sides do not compare.
bool crosses(const ClockStep& step, int64_t begin_ns, int64_t end_ns);

}  // namespace prof

#include "prof/ingest/clock_steps.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>

namespace prof {

std::vector<ClockStep> find_clock_steps(std::vector<ledger::ClockPairRow> pairs) {
  std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
    return std::tie(a.monotonic_raw_ns, a.realtime_ns) <
           std::tie(b.monotonic_raw_ns, b.realtime_ns);
  });
  struct Interval {
    size_t last;  ///< index of its second pair
    double elapsed;
    double jump;
  };
  std::vector<Interval> intervals;
  std::vector<double> rates;
  for (size_t i = 1; i < pairs.size(); ++i) {
    // Differences as real numbers: damaged times may lie anywhere.
    const double elapsed = static_cast<double>(pairs[i].monotonic_raw_ns) -
                           static_cast<double>(pairs[i - 1].monotonic_raw_ns);
    const double raw_jump = static_cast<double>(pairs[i].realtime_ns) -
                            static_cast<double>(pairs[i - 1].realtime_ns) - elapsed;
    // Of readings less than 2^52 ns apart the exact difference fits.
    double jump = raw_jump;
    if (elapsed < 4e15 && std::abs(raw_jump) < 4e15) {
      jump = static_cast<double>((pairs[i].realtime_ns - pairs[i - 1].realtime_ns) -
                                 (pairs[i].monotonic_raw_ns - pairs[i - 1].monotonic_raw_ns));
    }
    intervals.push_back({i, elapsed, jump});
    if (elapsed > 0) rates.push_back(jump / elapsed);
  }
  double drift = 0;
  if (rates.size() >= 3) {
    const auto middle = rates.begin() + static_cast<std::ptrdiff_t>((rates.size() - 1) / 2);
    std::nth_element(rates.begin(), middle, rates.end());
    drift = std::clamp(*middle, -kMaxDrift, kMaxDrift);
  }
  std::vector<ClockStep> out;
  for (const Interval& interval : intervals) {
    if (std::abs(interval.jump - drift * interval.elapsed) <= static_cast<double>(kClockStepNs)) {
      continue;
    }
    const double bounded = std::clamp(interval.jump, -9e18, 9e18);
    out.push_back({pairs[interval.last - 1].realtime_ns, pairs[interval.last].realtime_ns,
                   std::llround(bounded)});
  }
  return out;
}

bool crosses(const ClockStep& step, int64_t begin_ns, int64_t end_ns) {
  const int64_t first = std::min(step.before_ns, step.after_ns);
  const int64_t last = std::max(step.before_ns, step.after_ns);
  return begin_ns <= last && end_ns >= first;
}

}  // namespace prof

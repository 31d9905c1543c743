// Unions of time intervals: how long at least one of many operations runs, and when none does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "prover/errors.hpp"

namespace ledger {

/// Nanoseconds; end_ns >= start_ns.
struct Interval {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  bool operator==(const Interval&) const = default;
};

/// Union of intervals that arrive in order of their start. Intervals that overlap or touch are one
/// island; a new island begins where a start lies after everything that came before. Constant
/// memory.
class UnionOfIntervals {
 public:
  /// Throws ContractError if the starts decrease or the interval ends before it starts.
  void add(const Interval& interval) {
    STWO_CHECK(interval.end_ns >= interval.start_ns, "interval ends before it starts");
    if (islands_ == 0 || interval.start_ns > island_.end_ns) {
      closed_ns_ += island_.end_ns - island_.start_ns;
      island_ = interval;
      ++islands_;
    } else {
      STWO_CHECK(interval.start_ns >= last_start_ns_, "intervals are not in order");
      island_.end_ns = std::max(island_.end_ns, interval.end_ns);
    }
    last_start_ns_ = interval.start_ns;
  }

  /// Length of the union so far.
  int64_t covered_ns() const { return closed_ns_ + (island_.end_ns - island_.start_ns); }
  int64_t islands() const { return islands_; }
  /// The island that the last interval belongs to; [0, 0] before the first.
  const Interval& island() const { return island_; }

 private:
  Interval island_;
  int64_t closed_ns_ = 0;
  int64_t last_start_ns_ = 0;
  int64_t islands_ = 0;
};

/// Islands of intervals in any order, sorted: pairwise apart by at least 1 ns.
inline std::vector<Interval> islands_of(std::span<const Interval> intervals) {
  std::vector<Interval> sorted(intervals.begin(), intervals.end());
  std::sort(sorted.begin(), sorted.end(), [](const Interval& a, const Interval& b) {
    return a.start_ns < b.start_ns || (a.start_ns == b.start_ns && a.end_ns < b.end_ns);
  });
  std::vector<Interval> out;
  UnionOfIntervals all;
  for (const Interval& interval : sorted) {
    all.add(interval);
    if (static_cast<int64_t>(out.size()) < all.islands()) out.emplace_back();
    out.back() = all.island();
  }
  return out;
}

/// Length of the union of intervals in any order.
inline int64_t union_ns(std::span<const Interval> intervals) {
  int64_t sum = 0;
  for (const Interval& island : islands_of(intervals)) sum += island.end_ns - island.start_ns;
  return sum;
}

}  // namespace ledger

// When the devices work, for questions about what happens beside them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "ledger/trace/intervals.hpp"

namespace prof {

/// Union of intervals that arrive in order of their start, searchable by time. 24 bytes for each
/// time without a pause.
class BusyTime {
 public:
  void add(const ledger::Interval& interval) {
    union_.add(interval);
    if (static_cast<int64_t>(islands_.size()) < union_.islands()) {
      islands_.push_back({union_.island(), union_.covered_ns() - length(union_.island())});
    }
    islands_.back().interval = union_.island();
  }

  int64_t covered_ns() const { return union_.covered_ns(); }
  /// Part of [start, end] in which nothing works; 0 for an empty interval.
  int64_t idle_ns(int64_t start_ns, int64_t end_ns) const {
    if (end_ns <= start_ns) return 0;
    return (end_ns - start_ns) - (covered_before(end_ns) - covered_before(start_ns));
  }

 private:
  struct Island {
    ledger::Interval interval;
    int64_t before_ns;  ///< length of all islands before
  };
  static int64_t length(const ledger::Interval& i) { return i.end_ns - i.start_ns; }
  int64_t covered_before(int64_t ns) const {
    const auto after = std::upper_bound(
        islands_.begin(), islands_.end(), ns,
        [](int64_t time, const Island& island) { return time < island.interval.start_ns; });
    if (after == islands_.begin()) return 0;
    const Island& island = *std::prev(after);
    return island.before_ns + std::min(ns, island.interval.end_ns) - island.interval.start_ns;
  }

  ledger::UnionOfIntervals union_;
  std::vector<Island> islands_;
};

}  // namespace prof

// Distributes slices over lanes, so that a viewer which drops partly overlapping slices of a track
// shows all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

namespace prof {

/// Lanes whose slices never overlap: for operations of a stream, where one inside another would be
/// misread as a call. Slices come in order of their start; touching ones share a lane. The least
/// free lane is taken, so the number of lanes is the largest number of slices at one time.
class DisjointLanes {
 public:
  size_t place(int64_t start_ns, int64_t end_ns) {
    while (!busy_.empty() && busy_.top().first <= start_ns) {
      free_.insert(busy_.top().second);
      busy_.pop();
    }
    size_t lane = count_;
    if (free_.empty()) {
      ++count_;
    } else {
      lane = *free_.begin();
      free_.erase(free_.begin());
    }
    busy_.emplace(end_ns, lane);
    return lane;
  }
  size_t count() const { return count_; }

 private:
  using Busy = std::pair<int64_t, size_t>;  ///< end and lane
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy_;
  std::set<size_t> free_;
  size_t count_ = 0;
};

/// Lanes whose slices are apart or one inside the other: for calls and ranges of a thread. Slices
/// come in order of their start, of equal ones the longer first.
class NestedLanes {
 public:
  size_t place(int64_t start_ns, int64_t end_ns) {
    size_t lane = 0;
    for (; lane < open_.size(); ++lane) {
      std::vector<int64_t>& ends = open_[lane];
      while (!ends.empty() && ends.back() <= start_ns) ends.pop_back();
      if (ends.empty() || ends.back() >= end_ns) break;
    }
    if (lane == open_.size()) open_.emplace_back();
    open_[lane].push_back(end_ns);
    return lane;
  }
  size_t count() const { return open_.size(); }

 private:
  std::vector<std::vector<int64_t>> open_;  ///< ends of the open slices, the innermost last
};

}  // namespace prof

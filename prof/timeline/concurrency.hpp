// Question 3: streams, kernels that really ran beside each other, and copies beside kernels.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "ledger/trace/intervals.hpp"
#include "prof/timeline/answer.hpp"
#include "prof/timeline/distribution.hpp"
#include "prof/timeline/launched_op.hpp"
#include "prof/timeline/recorded.hpp"
#include "prof/timeline/stream_waits.hpp"

namespace prof {

/// How long how many intervals are open. They arrive in order of their start.
class LevelSweep {
 public:
  void add(const ledger::Interval& interval);
  /// exact[k]: time with exactly k open, k >= 1, of all intervals so far.
  std::vector<int64_t> exact() const;

 private:
  void advance(int64_t now);

  std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>> ends_;
  std::vector<int64_t> exact_;
  int64_t now_ = 0;
};

/// Entries of DeviceConcurrency::at_least_ns.
inline constexpr size_t kMaxLevels = 64;

/// One device; nanoseconds.
struct DeviceConcurrency {
  int64_t device_id = 0;
  int64_t kernel_sum_ns = 0;          ///< sum of the kernels' durations
  std::vector<int64_t> at_least_ns;   ///< entry k-1: T(k), at least k kernels; first kMaxLevels
  int64_t most_at_once = 0;           ///< kernels
  int64_t overlap_ns = 0;             ///< T(2)
  std::optional<double> concurrency;  ///< kernel_sum / T(1); absent without kernel time
  int64_t copy_ns = 0;                ///< union of the copies
  int64_t copy_compute_overlap_ns = 0;
};

/// Streams listed one by one.
inline constexpr size_t kMaxStreams = 64;

/// A stream with operations in the window.
struct StreamUse {
  int64_t pid = 0;
  int64_t context_id = 0;
  int64_t stream_id = 0;
  int64_t device_id = 0;
  int64_t operations = 0;
  int64_t sum_ns = 0;  ///< of their durations
};

struct Concurrency {
  int64_t stream_count = 0;        ///< information only: streams are not concurrency
  std::vector<StreamUse> streams;  ///< longest sum first; at most kMaxStreams
  std::vector<DeviceConcurrency> devices;
  Answer<StreamWaits> waits;
};

/// Memory: the kernels that run at the same time.
class ConcurrencyQuestion {
 public:
  /// Operations in order of their start.
  void add(const DeviceOp& op, const ledger::Interval& inside, bool counts);
  /// Without the waits, which are a question of their own.
  Concurrency answer() const;

 private:
  struct Device {
    LevelSweep levels;
    int64_t kernel_sum_ns = 0;
    ledger::UnionOfIntervals kernels, copies, both;
  };
  std::map<int64_t, Device> devices_;
  std::map<std::tuple<int64_t, int64_t, int64_t>, StreamUse> streams_;
};

}  // namespace prof

// What a timeline says about one kernel and the stage it runs in: the timeline's part of a
// diagnosis.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace prof {

/// A stage (or, for a program without stages, the whole window) in the timeline. All times are
/// nanoseconds inside the window.
struct StageFacts {
  std::string stage;              ///< stage key, or "" for the whole window
  int64_t span_ns = 0;            ///< first start to last end of its operations
  int64_t kernels = 0;            ///< launches
  int64_t median_kernel_ns = 0;   ///< lower median of durations
  int64_t gaps_ns = 0;            ///< time in the span in which the device is idle
  int64_t host_late_ns = 0;       ///< part of the gaps before the launching API call began
  int64_t launch_latency_ns = 0;  ///< part of the gaps between that call and the start
  int64_t dependency_ns = 0;      ///< part of the gaps between nodes of one graph launch
  int64_t wait_ns = 0;     ///< waits of a stream for another (stream_waits.hpp); 0 if unknown
  double concurrency = 1;  ///< sum of durations / time with at least one kernel
  int64_t streams = 0;     ///< streams with at least one operation
};

/// A kernel (demangled name) in a stage, over the window.
struct KernelFacts {
  std::string kernel;
  int64_t launches = 0;
  int64_t total_ns = 0;
  double share_of_device = 0;  ///< total_ns / busy time of the window
  int64_t median_ns = 0;       ///< lower median of durations
  /// Lower median of the gaps before its launches, 0 where the device was busy; absent if it was
  /// never idle before one.
  std::optional<int64_t> median_gap_ns;
  StageFacts stage;  ///< the stage with most of its time, or the whole window
};

}  // namespace prof

// Question 2: how many operations the devices ran, and how long they waited for the next one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "prof/timeline/answer.hpp"
#include "prof/timeline/distribution.hpp"
#include "prof/timeline/launched_op.hpp"
#include "prof/timeline/recorded.hpp"

namespace prof {

inline constexpr size_t kTopGaps = 10;

struct TopGap {
  int64_t start_ns = 0;  ///< CLOCK_REALTIME
  int64_t ns = 0;
  int64_t host_late_ns = 0;
  int64_t launch_latency_ns = 0;
  int64_t dependency_ns = 0;
  std::string before;  ///< what ended, e.g. "kernel fft"
  std::string after;   ///< what started
  std::string stage;   ///< of what started; "" for none
};

/// One device; nanoseconds. window = before + span + after and span = busy + gaps.
struct DeviceGaps {
  int64_t device_id = 0;
  int64_t kernels = 0;
  int64_t copies = 0;
  int64_t fills = 0;
  int64_t graphs = 0;     ///< whole graphs, recorded instead of their nodes
  int64_t before_ns = 0;  ///< from the window's begin to the first operation
  int64_t after_ns = 0;   ///< from the last end to the window's end
  int64_t span_ns = 0;
  int64_t busy_ns = 0;
  Distribution gaps;  ///< those longer than 0
  int64_t host_late_ns = 0;
  int64_t launch_latency_ns = 0;
  int64_t dependency_ns = 0;
  int64_t unknown_ns = 0;
  /// Entry i: gaps of at least 2^i and less than 2^(i+1) ns; ends with the last that is not 0.
  std::vector<int64_t> histogram;
  std::vector<TopGap> top;  ///< longest first, at most kTopGaps
};

struct LaunchGaps {
  std::vector<DeviceGaps> devices;  ///< by id
  /// Kernels that start in the window; unknown if whole graphs were recorded instead.
  Answer<int64_t> kernels;
  int64_t gap_ns = 0;          ///< sum over the devices
  double share_of_window = 0;  ///< of gap_ns in devices x window
  /// From the begin of the launching call to the start, of kernels whose stream was idle when the
  /// call began.
  Answer<Distribution> launch_latency;
  Answer<Distribution> queued_to_submitted;  ///< needs --latency
  Answer<Distribution> submitted_to_start;   ///< needs --latency
};

/// Memory: 8 bytes for each gap and each kernel launch.
class LaunchGapsQuestion {
 public:
  LaunchGapsQuestion(const Window& window, Names& names) : window_(window), names_(names) {}
  /// Operations in order of their start.
  void add(const LaunchedOp& launched);
  LaunchGaps answer(const Recorded& recorded) const;

 private:
  struct Device {
    DeviceGaps out;
    ledger::UnionOfIntervals busy;
    int64_t first_ns = 0;
    int64_t last_ns = 0;
    std::vector<int64_t> gaps;
    bool any = false;
  };
  using Stream = std::tuple<int64_t, int64_t, int64_t>;  ///< process, context, stream
  void add_latency(const LaunchedOp& launched);
  void add_gap(const LaunchedOp& launched, Device* device);

  const Window& window_;
  Names& names_;
  std::map<int64_t, Device> devices_;
  std::map<Stream, int64_t> stream_ends_;
  std::vector<int64_t> latency_, queued_, submitted_;
};

}  // namespace prof

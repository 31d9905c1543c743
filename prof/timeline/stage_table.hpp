// What each stage of the prover cost on the devices, and how much of the kernel time has a stage.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "prof/timeline/answer.hpp"
#include "prof/timeline/kernel_facts.hpp"
#include "prof/timeline/launched_op.hpp"
#include "prof/timeline/stream_waits.hpp"

namespace prof {

/// Nanoseconds inside the window. With several devices, times are sums over the devices.
struct StageRow {
  /// span = gaps + the time in the span in which the device works, on this stage or another one.
  StageFacts facts;
  int64_t operations = 0;        ///< that start in the window
  int64_t first_ns = 0;          ///< start of the first, CLOCK_REALTIME
  int64_t kernel_ns = 0;         ///< sum of its kernels' durations
  int64_t busy_ns = 0;           ///< time with at least one of its operations
  double share_of_busy = 0;      ///< busy_ns / busy_ns of the window
  std::optional<double> active;  ///< (span - gaps) / span; absent for an empty span
};

struct StageTable {
  std::vector<StageRow> stages;   ///< in the order in which they began
  StageRow whole;                 ///< of the whole window, stage ""
  int64_t kernels = 0;            ///< that touch the window
  int64_t kernel_ns = 0;          ///< sum of their durations
  int64_t attributed_ns = 0;      ///< of kernels with a stage
  Answer<double> attributed;      ///< attributed_ns / kernel_ns
  int64_t ambiguous_kernels = 0;  ///< in several stages that do not lie inside each other
  int64_t ambiguous_ns = 0;
  int64_t uncalled_kernels = 0;  ///< whose launching call is not in the capture
  int64_t uncalled_ns = 0;
  int64_t outside_kernels = 0;  ///< launched outside of all stages
  int64_t outside_ns = 0;
  std::optional<std::string> no_waits;  ///< why wait_ns is unknown in all rows
  int64_t unclosed_ranges = 0;  ///< stages that never ended; they last to the end of the capture
};

/// Memory: 8 bytes for each kernel and stage, twice.
class StageQuestion {
 public:
  /// Operations in order of their start.
  void add(const LaunchedOp& launched);
  StageTable answer(const StageLookup& stages, Names& names,
                    const Answer<StreamWaits>& waits) const;

 private:
  /// Idle time of a device so far, in parts.
  struct Idle {
    int64_t ns = 0;
    int64_t host_late_ns = 0;
    int64_t launch_latency_ns = 0;
    int64_t dependency_ns = 0;
  };
  /// A stage on one device.
  struct OnDevice {
    int64_t first_ns = 0;
    int64_t last_ns = 0;
    Idle at_first;
    Idle at_last;
    ledger::UnionOfIntervals busy, kernels;
  };
  struct Stage {
    std::map<int64_t, OnDevice> devices;
    int64_t operations = 0;
    int64_t kernels = 0;
    int64_t kernel_ns = 0;
    std::vector<int64_t> durations;
    std::set<std::tuple<int64_t, int64_t, int64_t>> streams;
  };
  void add_to(Stage* stage, const LaunchedOp& launched, const Idle& idle) const;
  static StageRow row_of(const Stage& stage);

  std::map<int64_t, Idle> idle_;
  std::map<ledger::StrId, Stage> stages_;
  Stage whole_;
  StageTable sums_;
};

}  // namespace prof

// A device operation with everything that is known about its launch: call, stage, and the time in
// which the device waited for it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "ledger/db/database.hpp"
#include "prof/timeline/device_op.hpp"
#include "prof/timeline/stage_lookup.hpp"
#include "prof/timeline/window.hpp"

namespace prof {

/// Idle time of a device before an operation: from the latest end so far to the start, nanoseconds.
/// It is split without a rest: ns = host_late + launch_latency + dependency + unknown.
struct LaunchGap {
  int64_t start_ns = 0;
  int64_t ns = 0;
  int64_t host_late_ns = 0;       ///< before the launching call began
  int64_t launch_latency_ns = 0;  ///< from the begin of that call on
  int64_t dependency_ns = 0;      ///< between nodes of one graph launch
  int64_t unknown_ns = 0;         ///< the launching call is not known
  DeviceOp before;                ///< the operation whose end the gap begins with
};

struct LaunchedOp {
  DeviceOp op;
  ledger::Interval inside;         ///< the part of it in the window
  bool counts = false;             ///< starts in the window
  std::optional<LaunchCall> call;  ///< the launching call, if it is known and timed
  ledger::StrId stage = 0;         ///< 0: none
  bool ambiguous = false;          ///< several stages, none inside the others
  /// Absent for the first operation of the device in the window; length 0 if the device was busy.
  std::optional<LaunchGap> gap;
};

/// Splits the idle time of the devices. Operations come in order of their start.
class GapSplitter {
 public:
  /// Gap before the operation; `inside` is its part in the window.
  std::optional<LaunchGap> add(const DeviceOp& op, const ledger::Interval& inside,
                               const std::optional<LaunchCall>& call);

 private:
  struct Reached {
    int64_t end_ns;
    DeviceOp op;
  };
  std::map<int64_t, Reached> devices_;
};

/// Calls `on_op` with every operation that touches the window, in order of the start.
template <class OnOp>
void for_each_launched_op(ledger::Database& trace, const Window& window, const StageLookup& stages,
                          OnOp on_op) {
  OpReader reader(trace, window);
  CallFinder calls(trace);
  GapSplitter gaps;
  while (const std::optional<DeviceOp> op = reader.next()) {
    LaunchedOp out;
    out.op = *op;
    out.inside = window.clip(op->start_ns, op->end_ns);
    out.counts = window.starts_inside(op->start_ns);
    out.call = calls.find(op->pid, op->corr);
    if (out.call) {
      const auto found = stages.at(op->pid, out.call->tid, out.call->start_ns);
      out.stage = found.name;
      out.ambiguous = found.ambiguous;
    }
    out.gap = gaps.add(out.op, out.inside, out.call);
    on_op(out);
  }
}

}  // namespace prof

#include "prof/timeline/launched_op.hpp"

#include <algorithm>

namespace prof {

std::optional<LaunchGap> GapSplitter::add(const DeviceOp& op, const ledger::Interval& inside,
                                          const std::optional<LaunchCall>& call) {
  const auto it = devices_.find(op.device_id);
  if (it == devices_.end()) {
    devices_.emplace(op.device_id, Reached{inside.end_ns, op});
    return std::nullopt;
  }
  Reached& reached = it->second;
  LaunchGap gap;
  gap.start_ns = reached.end_ns;
  gap.before = reached.op;
  gap.ns = std::max<int64_t>(0, inside.start_ns - reached.end_ns);
  const bool same_graph_launch = op.graph_id && reached.op.graph_id == op.graph_id &&
                                 reached.op.pid == op.pid && reached.op.corr == op.corr;
  if (same_graph_launch) {
    gap.dependency_ns = gap.ns;
  } else if (!call) {
    gap.unknown_ns = gap.ns;
  } else {
    gap.host_late_ns = std::clamp<int64_t>(call->start_ns - reached.end_ns, 0, gap.ns);
    gap.launch_latency_ns = gap.ns - gap.host_late_ns;
  }
  if (inside.end_ns > reached.end_ns) reached = {inside.end_ns, op};
  return gap;
}

}  // namespace prof

#include "prof/timeline/stage_table.hpp"

#include <algorithm>

#include "prof/timeline/distribution.hpp"

namespace prof {

using ledger::OpKind;

void StageQuestion::add_to(Stage* stage, const LaunchedOp& launched, const Idle& idle) const {
  const DeviceOp& op = launched.op;
  const auto [it, first] = stage->devices.try_emplace(op.device_id);
  OnDevice& device = it->second;
  if (first) {
    device.first_ns = launched.inside.start_ns;
    device.last_ns = launched.inside.end_ns;
    device.at_first = idle;
  }
  // Idle time up to here lies between operations of this stage; what follows may not.
  device.at_last = idle;
  device.last_ns = std::max(device.last_ns, launched.inside.end_ns);
  device.busy.add(launched.inside);
  stage->streams.emplace(op.pid, op.context_id, op.stream_id);
  if (launched.counts) ++stage->operations;
  if (op.kind != OpKind::kKernel) return;
  const int64_t ns = launched.inside.end_ns - launched.inside.start_ns;
  device.kernels.add(launched.inside);
  stage->kernel_ns += ns;
  if (!launched.counts) return;
  ++stage->kernels;
  stage->durations.push_back(ns);
}

void StageQuestion::add(const LaunchedOp& launched) {
  Idle& idle = idle_[launched.op.device_id];
  if (launched.gap) {
    idle.ns += launched.gap->ns;
    idle.host_late_ns += launched.gap->host_late_ns;
    idle.launch_latency_ns += launched.gap->launch_latency_ns;
    idle.dependency_ns += launched.gap->dependency_ns;
  }
  add_to(&whole_, launched, idle);
  if (launched.stage != 0) add_to(&stages_[launched.stage], launched, idle);
  if (launched.op.kind != OpKind::kKernel) return;
  const int64_t ns = launched.inside.end_ns - launched.inside.start_ns;
  ++sums_.kernels;
  sums_.kernel_ns += ns;
  if (launched.stage != 0) {
    sums_.attributed_ns += ns;
  } else if (launched.ambiguous) {
    ++sums_.ambiguous_kernels;
    sums_.ambiguous_ns += ns;
  } else if (!launched.call) {
    ++sums_.uncalled_kernels;
    sums_.uncalled_ns += ns;
  } else {
    ++sums_.outside_kernels;
    sums_.outside_ns += ns;
  }
}

StageRow StageQuestion::row_of(const Stage& stage) {
  StageRow row;
  StageFacts& f = row.facts;
  int64_t kernel_busy = 0;
  bool any = false;
  for (const auto& [id, device] : stage.devices) {
    row.first_ns = any ? std::min(row.first_ns, device.first_ns) : device.first_ns;
    any = true;
    f.span_ns += device.last_ns - device.first_ns;
    f.gaps_ns += device.at_last.ns - device.at_first.ns;
    f.host_late_ns += device.at_last.host_late_ns - device.at_first.host_late_ns;
    f.launch_latency_ns += device.at_last.launch_latency_ns - device.at_first.launch_latency_ns;
    f.dependency_ns += device.at_last.dependency_ns - device.at_first.dependency_ns;
    row.busy_ns += device.busy.covered_ns();
    kernel_busy += device.kernels.covered_ns();
  }
  f.kernels = stage.kernels;
  f.median_kernel_ns = lower_median(stage.durations).value_or(0);
  if (kernel_busy > 0) {
    f.concurrency = static_cast<double>(stage.kernel_ns) / static_cast<double>(kernel_busy);
  }
  f.streams = static_cast<int64_t>(stage.streams.size());
  row.operations = stage.operations;
  row.kernel_ns = stage.kernel_ns;
  if (f.span_ns > 0) {
    row.active = static_cast<double>(f.span_ns - f.gaps_ns) / static_cast<double>(f.span_ns);
  }
  return row;
}

StageTable StageQuestion::answer(const StageLookup& stages, Names& names,
                                 const Answer<StreamWaits>& waits) const {
  StageTable out = sums_;
  out.unclosed_ranges = stages.unclosed();
  out.whole = row_of(whole_);
  if (waits) {
    out.whole.facts.wait_ns = waits->wait_ns;
  } else {
    out.no_waits = waits.reason;
  }
  const auto share = [&](const StageRow& row) {
    return out.whole.busy_ns == 0
               ? 0.0
               : static_cast<double>(row.busy_ns) / static_cast<double>(out.whole.busy_ns);
  };
  out.whole.share_of_busy = share(out.whole);
  for (const auto& [name, stage] : stages_) {
    StageRow row = row_of(stage);
    row.facts.stage = names.of(name);
    if (waits) {
      const auto it = waits->by_stage.find(name);
      if (it != waits->by_stage.end()) row.facts.wait_ns = it->second;
    }
    row.share_of_busy = share(row);
    out.stages.push_back(std::move(row));
  }
  std::sort(out.stages.begin(), out.stages.end(), [](const StageRow& a, const StageRow& b) {
    return std::tie(a.first_ns, a.facts.stage) < std::tie(b.first_ns, b.facts.stage);
  });
  if (!stages.has_stages()) {
    out.attributed =
        Answer<double>::unknown("the capture has no stage ranges (domain stwo.prover, category 2)");
  } else if (out.kernel_ns == 0) {
    out.attributed = Answer<double>::unknown("no kernel runs in the window");
  } else {
    out.attributed = Answer<double>::of(static_cast<double>(out.attributed_ns) /
                                        static_cast<double>(out.kernel_ns));
  }
  return out;
}

}  // namespace prof

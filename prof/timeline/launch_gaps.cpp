#include "prof/timeline/launch_gaps.hpp"

#include <algorithm>
#include <bit>

namespace prof {

using ledger::OpKind;

void LaunchGapsQuestion::add(const LaunchedOp& launched) {
  const DeviceOp& op = launched.op;
  Device& device = devices_[op.device_id];
  if (!device.any) {
    device.any = true;
    device.out.device_id = op.device_id;
    device.first_ns = launched.inside.start_ns;
    device.last_ns = launched.inside.end_ns;
  }
  device.last_ns = std::max(device.last_ns, launched.inside.end_ns);
  device.busy.add(launched.inside);
  if (launched.counts) {
    if (op.kind == OpKind::kKernel) ++device.out.kernels;
    if (op.kind == OpKind::kCopy) ++device.out.copies;
    if (op.kind == OpKind::kFill) ++device.out.fills;
    if (op.kind == OpKind::kGraph) ++device.out.graphs;
  }
  if (launched.gap && launched.gap->ns > 0) add_gap(launched, &device);
  add_latency(launched);
}

void LaunchGapsQuestion::add_gap(const LaunchedOp& launched, Device* device) {
  const LaunchGap& gap = *launched.gap;
  device->gaps.push_back(gap.ns);
  DeviceGaps& out = device->out;
  out.host_late_ns += gap.host_late_ns;
  out.launch_latency_ns += gap.launch_latency_ns;
  out.dependency_ns += gap.dependency_ns;
  out.unknown_ns += gap.unknown_ns;
  const auto bucket = static_cast<size_t>(std::bit_width(static_cast<uint64_t>(gap.ns))) - 1;
  if (out.histogram.size() <= bucket) out.histogram.resize(bucket + 1);
  ++out.histogram[bucket];
  if (out.top.size() == kTopGaps && gap.ns <= out.top.back().ns) return;
  keep_first(&out.top,
             TopGap{gap.start_ns, gap.ns, gap.host_late_ns, gap.launch_latency_ns,
                    gap.dependency_ns, op_label(gap.before, names_), op_label(launched.op, names_),
                    launched.stage == 0 ? std::string() : names_.of(launched.stage)},
             kTopGaps, [](const TopGap& a, const TopGap& b) {
               return a.ns != b.ns ? a.ns > b.ns : a.start_ns < b.start_ns;
             });
}

void LaunchGapsQuestion::add_latency(const LaunchedOp& launched) {
  const DeviceOp& op = launched.op;
  int64_t& stream_end = stream_ends_[{op.pid, op.context_id, op.stream_id}];
  if (op.kind == OpKind::kKernel && launched.counts) {
    // What ran on the stream before the window began is not known, nor whether it was idle then.
    const bool known = launched.call && launched.call->start_ns >= window_.begin_ns;
    if (known && !op.graph_id && stream_end <= launched.call->start_ns &&
        op.start_ns >= launched.call->start_ns) {
      latency_.push_back(op.start_ns - launched.call->start_ns);
    }
    if (op.queued_ns && op.submitted_ns && *op.queued_ns <= *op.submitted_ns &&
        *op.submitted_ns <= op.start_ns) {
      queued_.push_back(*op.submitted_ns - *op.queued_ns);
      submitted_.push_back(op.start_ns - *op.submitted_ns);
    }
  }
  stream_end = std::max(stream_end, op.end_ns);
}

LaunchGaps LaunchGapsQuestion::answer(const Recorded& recorded) const {
  LaunchGaps out;
  int64_t kernels = 0;
  int64_t graphs = 0;
  for (const auto& [id, device] : devices_) {
    DeviceGaps d = device.out;
    d.before_ns = device.first_ns - window_.begin_ns;
    d.after_ns = window_.end_ns - device.last_ns;
    d.span_ns = device.last_ns - device.first_ns;
    d.busy_ns = device.busy.covered_ns();
    d.gaps = distribution_of(device.gaps);
    out.gap_ns += d.gaps.sum_ns;
    kernels += d.kernels;
    graphs += d.graphs;
    out.devices.push_back(std::move(d));
  }
  if (!out.devices.empty()) {
    out.share_of_window =
        static_cast<double>(out.gap_ns) /
        (static_cast<double>(window_.length_ns()) * static_cast<double>(out.devices.size()));
  }
  if (const auto why = recorded.why_not({"CONCURRENT_KERNEL"})) {
    out.kernels = Answer<int64_t>::unknown(*why);
  } else if (graphs > 0) {
    out.kernels = Answer<int64_t>::unknown(
        "whole graphs were recorded instead of their kernels; capture without --graph graph");
  } else {
    out.kernels = Answer<int64_t>::of(kernels);
  }
  if (const auto why = recorded.why_no_calls()) {
    out.launch_latency = Answer<Distribution>::unknown(*why);
  } else if (latency_.empty()) {
    out.launch_latency = Answer<Distribution>::unknown(
        "no kernel was launched by a call of the window on an idle stream");
  } else {
    out.launch_latency = Answer<Distribution>::of(distribution_of(latency_));
  }
  if (queued_.empty()) {
    const std::string why = "no kernel has the times of its queue; capture with --latency";
    out.queued_to_submitted = Answer<Distribution>::unknown(why);
    out.submitted_to_start = Answer<Distribution>::unknown(why);
  } else {
    out.queued_to_submitted = Answer<Distribution>::of(distribution_of(queued_));
    out.submitted_to_start = Answer<Distribution>::of(distribution_of(submitted_));
  }
  return out;
}

}  // namespace prof

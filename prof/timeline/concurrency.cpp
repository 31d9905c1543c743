#include "prof/timeline/concurrency.hpp"

#include <algorithm>

namespace prof {

using ledger::OpKind;

void LevelSweep::advance(int64_t now) {
  if (exact_.size() <= ends_.size()) exact_.resize(ends_.size() + 1);
  exact_[ends_.size()] += now - now_;
  now_ = now;
}

void LevelSweep::add(const ledger::Interval& interval) {
  while (!ends_.empty() && ends_.top() <= interval.start_ns) {
    advance(ends_.top());
    ends_.pop();
  }
  advance(interval.start_ns);
  if (interval.end_ns > interval.start_ns) ends_.push(interval.end_ns);
}

std::vector<int64_t> LevelSweep::exact() const {
  LevelSweep rest = *this;
  while (!rest.ends_.empty()) {
    rest.advance(rest.ends_.top());
    rest.ends_.pop();
  }
  // Level 0 also holds the time before the first interval.
  if (!rest.exact_.empty()) rest.exact_[0] = 0;
  return rest.exact_;
}

void ConcurrencyQuestion::add(const DeviceOp& op, const ledger::Interval& inside, bool counts) {
  const int64_t ns = inside.end_ns - inside.start_ns;
  Device& device = devices_[op.device_id];
  if (op.kind == OpKind::kKernel) {
    device.levels.add(inside);
    device.kernel_sum_ns += ns;
    device.kernels.add(inside);
    device.both.add(inside);
  } else if (op.kind == OpKind::kCopy) {
    device.copies.add(inside);
    device.both.add(inside);
  }
  StreamUse& stream = streams_[{op.pid, op.context_id, op.stream_id}];
  stream.pid = op.pid;
  stream.context_id = op.context_id;
  stream.stream_id = op.stream_id;
  stream.device_id = op.device_id;
  stream.operations += counts ? 1 : 0;
  stream.sum_ns += ns;
}

Concurrency ConcurrencyQuestion::answer() const {
  Concurrency out;
  for (const auto& [id, device] : devices_) {
    DeviceConcurrency d;
    d.device_id = id;
    d.kernel_sum_ns = device.kernel_sum_ns;
    const std::vector<int64_t> exact = device.levels.exact();
    std::vector<int64_t> at_least(exact.size(), 0);
    int64_t sum = 0;
    for (size_t k = exact.size(); k-- > 1;) {
      sum += exact[k];
      at_least[k] = sum;
      if (d.most_at_once == 0 && exact[k] > 0) d.most_at_once = static_cast<int64_t>(k);
    }
    for (size_t k = 1; k < at_least.size() && at_least[k] > 0 && k <= kMaxLevels; ++k) {
      d.at_least_ns.push_back(at_least[k]);
    }
    d.overlap_ns = d.at_least_ns.size() > 1 ? d.at_least_ns[1] : 0;
    if (!d.at_least_ns.empty()) {
      d.concurrency =
          static_cast<double>(d.kernel_sum_ns) / static_cast<double>(d.at_least_ns.front());
    }
    d.copy_ns = device.copies.covered_ns();
    d.copy_compute_overlap_ns =
        device.kernels.covered_ns() + device.copies.covered_ns() - device.both.covered_ns();
    out.devices.push_back(std::move(d));
  }
  out.stream_count = static_cast<int64_t>(streams_.size());
  for (const auto& [key, stream] : streams_) {
    keep_first(&out.streams, stream, kMaxStreams, [](const StreamUse& a, const StreamUse& b) {
      return std::tuple(-a.sum_ns, a.pid, a.context_id, a.stream_id) <
             std::tuple(-b.sum_ns, b.pid, b.context_id, b.stream_id);
    });
  }
  return out;
}

}  // namespace prof

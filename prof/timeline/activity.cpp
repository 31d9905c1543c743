#include "prof/timeline/activity.hpp"

namespace prof {

void ActivityQuestion::add(const DeviceOp& op, const ledger::Interval& inside) {
  for (Union* of : {&any_, &devices_[op.device_id]}) {
    ++of->operations;
    of->all.add(inside);
    if (op.kind == ledger::OpKind::kKernel) of->kernels.add(inside);
  }
}

Activity ActivityQuestion::answer(const Window& window, const UntimedOps& untimed,
                                  const Recorded& recorded) const {
  Activity out;
  out.window_ns = window.length_ns();
  const auto share = [&](int64_t ns) {
    return static_cast<double>(ns) / static_cast<double>(out.window_ns);
  };
  out.busy_ns = any_.all.covered_ns();
  out.kernel_busy_ns = any_.kernels.covered_ns();
  out.active = share(out.busy_ns);
  out.kernel_active = share(out.kernel_busy_ns);
  for (const auto& [id, device] : devices_) {
    DeviceActive d;
    d.device_id = id;
    d.operations = device.operations;
    d.busy_ns = device.all.covered_ns();
    d.kernel_busy_ns = device.kernels.covered_ns();
    d.active = share(d.busy_ns);
    d.kernel_active = share(d.kernel_busy_ns);
    out.devices.push_back(d);
  }
  out.untimed = untimed;
  out.lower_bound = recorded.lost_anything() || untimed.total() > 0 ||
                    recorded.why_not({"CONCURRENT_KERNEL", "MEMCPY", "MEMSET"}).has_value();
  return out;
}

}  // namespace prof

// Question 9: in how much of the window the devices worked.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ledger/trace/intervals.hpp"
#include "prof/timeline/device_op.hpp"

namespace prof {

/// Nanoseconds inside the window.
struct DeviceActive {
  int64_t device_id = 0;
  int64_t operations = 0;      ///< that touch the window
  int64_t busy_ns = 0;         ///< with at least one operation
  int64_t kernel_busy_ns = 0;  ///< with at least one kernel
  double active = 0;           ///< busy_ns / window
  double kernel_active = 0;    ///< kernel_busy_ns / window
};

struct Activity {
  int64_t window_ns = 0;
  int64_t busy_ns = 0;  ///< with an operation on any device
  int64_t kernel_busy_ns = 0;
  double active = 0;
  double kernel_active = 0;
  std::vector<DeviceActive> devices;  ///< by id
  UntimedOps untimed;                 ///< operations that all of this leaves out
  bool lower_bound = false;           ///< records are missing: the real fraction may be higher
};

/// Constant memory.
class ActivityQuestion {
 public:
  /// Operations in order of their start.
  void add(const DeviceOp& op, const ledger::Interval& inside);
  Activity answer(const Window& window, const UntimedOps& untimed, const Recorded& recorded) const;

 private:
  struct Union {
    int64_t operations = 0;
    ledger::UnionOfIntervals all, kernels;
  };
  Union any_;
  std::map<int64_t, Union> devices_;
};

}  // namespace prof

// Measured DRAM bytes of a kernel against those that the plan's pass ledger predicts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "prof/diagnose/thresholds.hpp"
#include "prof/ncu/kernel_counters.hpp"

namespace prof {

enum class TrafficVerdict {
  kUnknown,  ///< one of the two is not there
  kBelow,    ///< less than predicted: caches served the rest
  kNear,     ///< up to the threshold for rereads
  kRereads,  ///< more than that
};

struct Traffic {
  std::optional<double> measured_bytes;  ///< of the median launch
  std::optional<double> ledger_bytes;    ///< of a launch on average
  std::optional<double> ratio;           ///< measured over predicted
  TrafficVerdict verdict = TrafficVerdict::kUnknown;
  std::string reason;  ///< why it is unknown; else empty
};

/// `ledger_bytes` unset: there is no plan. A prediction of 0 bytes gives no ratio.
Traffic compare_traffic(const KernelCounters& counters, std::optional<int64_t> ledger_bytes,
                        const Thresholds& thresholds);

/// One line: "measured 1.5 GB, pass ledger 1 GB: 1.5 times as much (rereads)".
std::string to_text(const Traffic& traffic);

}  // namespace prof

// How fast a device's memory can be at best.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "prof/nvml/known.hpp"

namespace prof {

struct PeakBandwidth {
  uint64_t bytes_per_s = 0;
  std::string source;  ///< who says so
};

/// Of a device by its name as the driver gives it and its SM (90 for 9.0), from vendor's data
/// sheets. Unknown for devices that are not in the table.
Known<PeakBandwidth> peak_bandwidth(const std::string& device_name, uint32_t sm);

/// Least time a device needs to move the bytes, rounded to nanoseconds.
uint64_t traffic_floor_ns(uint64_t bytes, const PeakBandwidth& peak);

}  // namespace prof

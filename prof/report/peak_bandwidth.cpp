#include "prof/report/peak_bandwidth.hpp"

#include <cmath>

namespace prof {
namespace {

struct Entry {
  const char* name;
  uint32_t sm;
  uint64_t gigabytes_per_s;
};
/// Memory bandwidth as NVIDIA's data sheet of each product gives it.
constexpr Entry kTable[] = {
    {"NVIDIA A100-SXM4-40GB", 80, 1555},
    {"NVIDIA A100-PCIE-40GB", 80, 1555},
    {"NVIDIA A100-SXM4-80GB", 80, 2039},
    {"NVIDIA A100 80GB PCIe", 80, 1935},
    {"NVIDIA A10", 86, 600},
    {"NVIDIA GeForce RTX 3090", 86, 936},
    {"NVIDIA L4", 89, 300},
    {"NVIDIA L40S", 89, 864},
    {"NVIDIA GeForce RTX 4090", 89, 1008},
    {"NVIDIA H100 PCIe", 90, 2000},
    {"NVIDIA H100 80GB HBM3", 90, 3350},
    {"NVIDIA H200", 90, 4800},
    {"NVIDIA H200 NVL", 90, 4800},
    {"NVIDIA GeForce RTX 5090", 120, 1792},
};

}  // namespace

Known<PeakBandwidth> peak_bandwidth(const std::string& device_name, uint32_t sm) {
  for (const Entry& entry : kTable) {
    if (device_name != entry.name || sm != entry.sm) continue;
    return Known<PeakBandwidth>::of({entry.gigabytes_per_s * 1'000'000'000,
                                     "NVIDIA's data sheet of the " + device_name.substr(7)});
  }
  return Known<PeakBandwidth>::unknown(
      "no data sheet of this device is in the table; give "
      "--peak-gb-s, e.g. from stwo-prof cuda caps");
}

uint64_t traffic_floor_ns(uint64_t bytes, const PeakBandwidth& peak) {
  return static_cast<uint64_t>(
      std::llround(static_cast<double>(bytes) * 1e9 / static_cast<double>(peak.bytes_per_s)));
}

}  // namespace prof

// The driver's management library, NVML: what a device is, and how it is doing.
//
// It is loaded when the program runs: machines without a driver have none, and its symbols differ
// from driver to driver. What a driver or a device does not tell is unknown with a reason.
// Source: NVIDIA's NVML API reference; prototypes are our own (prof/nvml/nvml_abi.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "prof/nvml/known.hpp"

namespace prof {

/// A process that has a compute context on a device.
struct ComputeProcess {
  uint32_t pid = 0;  ///< as the driver sees it: in a container it may be another number inside
  Known<uint64_t> memory_bytes;
};

/// What a device is; read once.
struct NvmlDevice {
  uint32_t index = 0;
  Known<std::string> uuid;
  Known<std::string> name;
  Known<uint32_t> sm;  ///< 90 for 9.0
  Known<uint64_t> memory_bytes;
  Known<uint64_t> memory_used_bytes;
  Known<uint32_t> sm_clock_mhz;
  Known<uint32_t> memory_clock_mhz;
  Known<uint32_t> max_sm_clock_mhz;
  Known<uint32_t> max_memory_clock_mhz;
  Known<uint32_t> power_limit_mw;  ///< what is enforced
  Known<bool> ecc;
  Known<uint64_t> uncorrected_ecc_errors;  ///< since the driver was loaded
  Known<bool> mig;
  Known<std::string> compute_mode;  ///< default, exclusive_thread, prohibited, exclusive_process
  Known<bool> persistence;
  Known<uint32_t> pcie_generation;
  Known<uint32_t> pcie_width;
  Known<std::vector<ComputeProcess>> processes;  ///< by pid
};

/// How a device is doing at one moment.
struct NvmlSample {
  int64_t realtime_ns = 0;  ///< CLOCK_REALTIME, before the first question
  Known<uint32_t> temperature_c;
  Known<uint32_t> power_mw;
  Known<uint64_t> energy_mj;  ///< since the driver was loaded
  Known<uint32_t> sm_clock_mhz;
  Known<uint32_t> memory_clock_mhz;
  /// Why clocks are not higher; bits of NVML (kReason*).
  Known<uint64_t> clock_reasons;
  Known<uint32_t> performance_state;  ///< 0 is the fastest, 15 the slowest
  Known<uint32_t> gpu_utilization_percent;
  Known<uint64_t> memory_used_bytes;
  Known<uint64_t> uncorrected_ecc_errors;
  Known<std::vector<ComputeProcess>> processes;
};

inline constexpr uint64_t kReasonIdle = 0x1;
inline constexpr uint64_t kReasonApplicationClocks = 0x2;
inline constexpr uint64_t kReasonSoftwarePowerCap = 0x4;
inline constexpr uint64_t kReasonHardwareSlowdown = 0x8;
inline constexpr uint64_t kReasonSyncBoost = 0x10;
inline constexpr uint64_t kReasonSoftwareThermal = 0x20;
inline constexpr uint64_t kReasonHardwareThermal = 0x40;
inline constexpr uint64_t kReasonPowerBrake = 0x80;
inline constexpr uint64_t kReasonDisplay = 0x100;

/// Names of the bits, by value, e.g. "idle, hardware_slowdown"; bits without a name as hex; "" for
/// 0.
std::string clock_reasons_text(uint64_t reasons);

/// How the reason of a value begins that the device does not have at all.
inline constexpr const char* kNotSupportedByDevice = "not supported by the device";

class Nvml {
 public:
  virtual ~Nvml() = default;
  /// e.g. "580.95.05".
  virtual Known<std::string> driver_version() = 0;
  /// Highest version of CUDA the driver serves, e.g. "13.0".
  virtual Known<std::string> cuda_version() = 0;
  /// By index. Unknown if they cannot even be counted.
  virtual Known<std::vector<NvmlDevice>> devices() = 0;
  /// Never throws; for a UUID without a device everything is unknown.
  virtual NvmlSample sample(const std::string& uuid) = 0;
};

/// Loads libnvidia-ml.so.1, or the file that the variable STWO_NVML names. Unknown without the
/// library, and when it does not start (driver not loaded, library and driver of two versions).
Known<std::shared_ptr<Nvml>> open_nvml();

/// Does the process list hold what it must? The list's record changed its size between drivers
/// under one name: a list with process 0 or 4294967295, or without a process of ours that is known
/// to hold a context, is in a layout we do not know, so that nothing is known about co-tenants.
bool process_list_is_plausible(const std::vector<ComputeProcess>& processes);

}  // namespace prof

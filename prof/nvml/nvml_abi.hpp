// The part of NVML's binary interface that is used: the build machine has no nvml.h. Internal to
// the folder and to the tests' stand-in. Source: NVIDIA's NVML API reference.
#pragma once

#include <cstdint>

namespace prof::abi {

using Device = struct DeviceRecord*;

inline constexpr int kSuccess = 0;
inline constexpr int kNotSupported = 3;
inline constexpr int kNoPermission = 4;
inline constexpr int kNotFound = 6;
inline constexpr int kInsufficientSize = 7;
inline constexpr int kDriverNotLoaded = 9;
inline constexpr int kGpuIsLost = 15;
inline constexpr int kVersionMismatch = 18;

inline constexpr int kClockSm = 1;
inline constexpr int kClockMemory = 2;
inline constexpr int kTemperatureGpu = 0;
inline constexpr int kUncorrected = 1;
inline constexpr int kVolatile = 0;
inline constexpr int kUnknownPerformanceState = 32;
/// "Not available" among sizes.
inline constexpr uint64_t kNoValue = UINT64_MAX;

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
struct MemoryV2 {
  unsigned version;
  unsigned long long total;
  unsigned long long reserved;
  unsigned long long free;
  unsigned long long used;
};
inline constexpr unsigned kMemoryV2 = sizeof(MemoryV2) | (2U << 24);
static_assert(sizeof(MemoryV2) == 40);

/// Of nvmlDeviceGetComputeRunningProcesses.
struct ProcessV1 {
  unsigned pid;
  unsigned long long used_memory;
};
/// Of _v2 and _v3.
struct ProcessV2 {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};
static_assert(sizeof(ProcessV1) == 16 && sizeof(ProcessV2) == 24);

struct Utilization {
  unsigned gpu;
  unsigned memory;
};

}  // namespace prof::abi

// Stands in for libnvidia-ml.so.1 in tests. Built in variants: FAKE_OLD has the names of old
// drivers only, FAKE_BARE lacks most functions, FAKE_NOT_NVML all of them.
//
// FAKE_NVML_INIT: result of the start. FAKE_NVML_REFUSE: result of every question about a device.
// FAKE_NVML_PROCESSES: number of processes; "zero": one with process 0, as in a wrong layout.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "prof/nvml/nvml_abi.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using namespace prof::abi;

#ifdef FAKE_NOT_NVML
EXPORT int something_else() { return 0; }
#else

int variable(const char* name, int otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::atoi(value);
}

[[maybe_unused]] int copy(char* out, unsigned length, const char* value) {
  std::snprintf(out, length, "%s", value);
  return kSuccess;
}

template <class T>
int answer(T* out, T value) {
  if (const int refused = variable("FAKE_NVML_REFUSE", kSuccess); refused != kSuccess) {
    return refused;
  }
  *out = value;
  return kSuccess;
}

Device device_at(size_t index) {
  static char records[2];
  return reinterpret_cast<Device>(&records[index]);
}

int start() { return variable("FAKE_NVML_INIT", kSuccess); }

EXPORT const char* nvmlErrorString(int code) {
  switch (code) {
    case kNotSupported: return "Not Supported";
    case kNotFound: return "Not Found";
    case kDriverNotLoaded: return "Driver Not Loaded";
    case kGpuIsLost: return "GPU is lost";
    default: return "Unknown\nError";
  }
}
EXPORT int nvmlShutdown() { return kSuccess; }

#ifdef FAKE_BARE
EXPORT int nvmlInit_v2() { return start(); }
EXPORT int nvmlDeviceGetCount_v2(unsigned* count) { return answer(count, 1U); }
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  return answer(device, device_at(index));
}
#else

int count_devices(unsigned* count) {
  *count = 2;
  return kSuccess;
}
int by_index(unsigned index, Device* device) {
  // The second device has fallen off the bus.
  if (index == 1) return kGpuIsLost;
  *device = device_at(0);
  return kSuccess;
}

template <class Record>
int processes(unsigned* count, Record* records) {
  const char* kind = std::getenv("FAKE_NVML_PROCESSES");
  const bool zero = kind != nullptr && std::strcmp(kind, "zero") == 0;
  const auto n = zero ? 1U : static_cast<unsigned>(variable("FAKE_NVML_PROCESSES", 2));
  if (const int refused = variable("FAKE_NVML_REFUSE", kSuccess); refused != kSuccess) {
    return refused;
  }
  if (*count < n) {
    *count = n;
    return kInsufficientSize;
  }
  *count = n;
  // In falling order of pid; the first one's memory is not told.
  for (unsigned i = 0; i < n; ++i) {
    records[i].pid = zero ? 0 : 1000 + n - i;
    records[i].used_memory = i == 0 ? kNoValue : 1048576ULL * i;
  }
  return kSuccess;
}

EXPORT int nvmlSystemGetDriverVersion(char* out, unsigned length) {
  return copy(out, length, "580.95.05");
}
EXPORT int nvmlDeviceGetName(Device, char* out, unsigned length) {
  if (const int refused = variable("FAKE_NVML_REFUSE", kSuccess); refused != kSuccess) {
    return refused;
  }
  return copy(out, length, "NVIDIA Test");
}
EXPORT int nvmlDeviceGetUUID(Device, char* out, unsigned length) {
  return copy(out, length, "GPU-0");
}
EXPORT int nvmlDeviceGetHandleByUUID(const char* uuid, Device* device) {
  if (std::strcmp(uuid, "GPU-0") != 0) return kNotFound;
  *device = device_at(0);
  return kSuccess;
}
EXPORT int nvmlDeviceGetCudaComputeCapability(Device, int* major, int* minor) {
  *minor = 9;
  return answer(major, 8);
}
EXPORT int nvmlDeviceGetClockInfo(Device, int which, unsigned* out) {
  return answer(out, which == kClockSm ? 1500U : 2600U);
}
EXPORT int nvmlDeviceGetMaxClockInfo(Device, int which, unsigned* out) {
  return answer(out, which == kClockSm ? 1980U : 3200U);
}
EXPORT int nvmlDeviceGetEnforcedPowerLimit(Device, unsigned* out) { return answer(out, 700000U); }
EXPORT int nvmlDeviceGetPowerUsage(Device, unsigned* out) { return answer(out, 123456U); }
EXPORT int nvmlDeviceGetTotalEnergyConsumption(Device, unsigned long long* out) {
  return answer(out, 5000000000ULL);
}
EXPORT int nvmlDeviceGetTemperature(Device, int sensor, unsigned* out) {
  return answer(out, sensor == kTemperatureGpu ? 41U : 0U);
}
EXPORT int nvmlDeviceGetPerformanceState(Device, int* out) {
  return answer(out, variable("FAKE_NVML_PSTATE", 2));
}
EXPORT int nvmlDeviceGetUtilizationRates(Device, Utilization* out) {
  return answer(out, Utilization{37, 11});
}
EXPORT int nvmlDeviceGetEccMode(Device, int* now, int* pending) {
  *pending = 0;
  return answer(now, 1);
}
EXPORT int nvmlDeviceGetTotalEccErrors(Device, int type, int counter, unsigned long long* out) {
  return answer(out, type == kUncorrected && counter == kVolatile ? 3ULL : 99ULL);
}
EXPORT int nvmlDeviceGetMigMode(Device, unsigned* now, unsigned* pending) {
  *pending = 1;
  return answer(now, 0U);
}
EXPORT int nvmlDeviceGetComputeMode(Device, int* out) {
  return answer(out, variable("FAKE_NVML_MODE", 3));
}
EXPORT int nvmlDeviceGetPersistenceMode(Device, int* out) { return answer(out, 1); }
EXPORT int nvmlDeviceGetCurrPcieLinkGeneration(Device, unsigned* out) { return answer(out, 5U); }
EXPORT int nvmlDeviceGetCurrPcieLinkWidth(Device, unsigned* out) { return answer(out, 16U); }

#ifdef FAKE_OLD
EXPORT int nvmlInit() { return start(); }
EXPORT int nvmlSystemGetCudaDriverVersion(int* out) { return answer(out, 11040); }
EXPORT int nvmlDeviceGetCount(unsigned* count) { return count_devices(count); }
EXPORT int nvmlDeviceGetHandleByIndex(unsigned index, Device* device) {
  return by_index(index, device);
}
EXPORT int nvmlDeviceGetMemoryInfo(Device, Memory* out) {
  return answer(out, Memory{1000, 600, 400});
}
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(Device, unsigned long long* out) {
  return answer(out, 0x8ULL);
}
EXPORT int nvmlDeviceGetComputeRunningProcesses(Device, unsigned* count, ProcessV1* records) {
  return processes(count, records);
}
#else
EXPORT int nvmlInit_v2() { return start(); }
EXPORT int nvmlInit() { return kDriverNotLoaded; }
EXPORT int nvmlSystemGetCudaDriverVersion_v2(int* out) { return answer(out, 13000); }
EXPORT int nvmlDeviceGetCount_v2(unsigned* count) { return count_devices(count); }
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  return by_index(index, device);
}
EXPORT int nvmlDeviceGetMemoryInfo_v2(Device, MemoryV2* out) {
  if (out->version != kMemoryV2) return 25;
  return answer(out, MemoryV2{kMemoryV2, 2000, 100, 1200, 700});
}
EXPORT int nvmlDeviceGetCurrentClocksEventReasons(Device, unsigned long long* out) {
  return answer(out, 0x5ULL);
}
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(Device, unsigned long long* out) {
  return answer(out, 0x40ULL);
}
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(Device, unsigned* count, ProcessV2* records) {
  return processes(count, records);
}
#endif
#endif
#endif

}  // namespace

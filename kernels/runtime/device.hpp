// Which device the runtime runs on, for admission and for reports.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/runtime/driver_api.hpp"

namespace stwo::gpu {

struct DeviceIdentity {
  int ordinal = 0;
  std::string name;
  std::string uuid;  ///< "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", as nvidia-smi prints it
  int sm_major = 0;
  int sm_minor = 0;
  uint32_t multiprocessors = 0;
  uint64_t global_memory_bytes = 0;
  uint64_t l2_bytes = 0;
  uint32_t max_shared_per_block_bytes = 0;  ///< dynamic, with opt-in
  int driver_version = 0;                   ///< newest CUDA of the driver; 13000 is 13.0
  int toolkit_version = 0;                  ///< CUDA that the host code is built with
  bool mig = false;                         ///< an instance of a partitioned device

  /// 90 for compute capability 9.0.
  int sm() const { return sm_major * 10 + sm_minor; }
};

/// Reads the identity of a device. The driver has been initialised.
/// Throws EnvironmentError: NO_CUDA_DEVICE (no device of this ordinal), DEVICE_UNSUPPORTED (no
/// memory pools); CudaError when a call fails.
DeviceIdentity identify_device(DriverApi& driver, int ordinal);

}  // namespace stwo::gpu

// A CudaRuntime on the emulated device, ready for tests: all linked kernels in one module.
#pragma once

#include <filesystem>
#include <memory>

#include "kernels/emulator/emulated_driver.hpp"
#include "kernels/runtime/fault_driver.hpp"
#include "kernels/runtime/runtime.hpp"

namespace stwo::gpu {

/// A runtime with everything around it that a test looks at. Destroy or reset `runtime` first to
/// see what it left behind in `device`.
struct EmulatedRuntime {
  std::shared_ptr<EmulatedDevice> device;
  std::shared_ptr<FaultPlan> faults;
  std::unique_ptr<CudaRuntime> runtime;
};

/// `options.cubin_directory` is replaced. `faults` may be armed already; null: a new plan.
EmulatedRuntime make_emulated_runtime(EmulatedDeviceConfig config = {}, RuntimeOptions options = {},
                                      std::shared_ptr<FaultPlan> faults = nullptr);

/// One cubin entry named "emulator" for the SM with every linked kernel; writes its file, which has
/// the bytes of no real cubin, into the directory.
CubinManifest write_emulator_manifest(const std::filesystem::path& directory, int sm);

}  // namespace stwo::gpu

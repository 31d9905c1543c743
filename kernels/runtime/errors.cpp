#include "kernels/runtime/errors.hpp"

namespace stwo::gpu {
namespace {

/// Errors that the machine causes, not our arguments.
bool is_environment(CUresult result) {
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_STUB_LIBRARY:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_DEVICE_NOT_LICENSED:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
    case CUDA_ERROR_OPERATING_SYSTEM:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
    case CUDA_ERROR_MPS_CONNECTION_FAILED:
    case CUDA_ERROR_MPS_RPC_FAILURE:
    case CUDA_ERROR_MPS_SERVER_NOT_READY:
    case CUDA_ERROR_MPS_MAX_CLIENTS_REACHED:
    case CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED:
    case CUDA_ERROR_MPS_CLIENT_TERMINATED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
    case CUDA_ERROR_NOT_SUPPORTED: return true;
    default: return false;
  }
}

const char* advice(CUresult result) {
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return "close other programs on the device or prove a smaller statement";
    case CUDA_ERROR_NO_DEVICE: return "check that nvidia-smi lists a device";
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
      return "the device reports a hardware fault; check nvidia-smi -q and reset the device";
    case CUDA_ERROR_LAUNCH_TIMEOUT:
      return "the driver's watchdog ended the kernel; use a device without a display";
    case CUDA_ERROR_NO_BINARY_FOR_GPU: return "build with this device in STWO_CUDA_ARCHS";
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: return "install a newer driver";
    default: break;
  }
  if (is_environment(result)) return "check the device with nvidia-smi and try again";
  return "this is a bug; please report it with the command line";
}

std::string describe(std::string_view name, std::string_view text, const CallSite& site,
                     CUresult result) {
  std::string out(site.call);
  out += " failed";
  if (!site.stage.empty()) out += " in " + std::string(site.stage);
  if (!site.kernel.empty()) out += ", kernel " + std::string(site.kernel);
  out += ": " + std::string(name) + " (" + std::string(text) + "); " + advice(result);
  return out;
}

}  // namespace

bool is_sticky(CUresult result) {
  switch (result) {
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
    case CUDA_ERROR_MPS_CLIENT_TERMINATED:
    case CUDA_ERROR_EXTERNAL_DEVICE: return true;
    default: return false;
  }
}

CudaError::CudaError(CUresult result, std::string_view name, std::string_view text,
                     const CallSite& site)
    : Error(is_environment(result) ? ExitCode::kEnvironment : ExitCode::kBug, "CUDA_ERROR",
            describe(name, text, site, result)),
      result_(result),
      result_name_(name),
      call_(site.call),
      stage_(site.stage),
      kernel_(site.kernel) {}

OutOfDeviceMemory::OutOfDeviceMemory(std::string_view what, uint64_t bytes, uint64_t free_bytes)
    : EnvironmentError("OUT_OF_DEVICE_MEMORY",
                       "the device has no room for " + std::string(what) + " (" +
                           std::to_string(bytes) + " bytes, " + std::to_string(free_bytes) +
                           " free): close other programs on it or prove a smaller statement"),
      bytes_(bytes) {}

}  // namespace stwo::gpu

// Errors of the CUDA backend. Messages are one line: what failed, where, and what to do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/runtime/driver_api.hpp"
#include "prover/errors.hpp"

namespace stwo::gpu {

/// True when the error leaves the device context unusable: every later call returns it again, and
/// only a new process (or a new CudaRuntime, once the old one is gone) can go on.
bool is_sticky(CUresult result);

/// Where a driver call was made.
struct CallSite {
  std::string_view call;    ///< driver function, "cuLaunchKernel"
  std::string_view stage;   ///< stage name of prover/backend.hpp, or "init", "prepare", "teardown"
  std::string_view kernel;  ///< of a launch; else empty
};

/// A driver call failed. Exit code 4 when the machine is the cause (device lost, driver, ECC), 70
/// when only a bug of ours can be (invalid argument, illegal address). Code "CUDA_ERROR".
class CudaError : public Error {
 public:
  /// `name` and `text` are the driver's words for `result`.
  CudaError(CUresult result, std::string_view name, std::string_view text, const CallSite& site);

  CUresult result() const { return result_; }
  const std::string& result_name() const { return result_name_; }
  const std::string& call() const { return call_; }
  const std::string& stage() const { return stage_; }
  const std::string& kernel() const { return kernel_; }
  bool sticky() const { return is_sticky(result_); }

 private:
  CUresult result_;
  std::string result_name_, call_, stage_, kernel_;
};

/// The device has no room for an allocation. Code "OUT_OF_DEVICE_MEMORY", exit code 4. The runtime
/// stays usable.
class OutOfDeviceMemory : public EnvironmentError {
 public:
  /// `what` names the buffer; free_bytes is what the device had left.
  OutOfDeviceMemory(std::string_view what, uint64_t bytes, uint64_t free_bytes);
  uint64_t bytes() const { return bytes_; }

 private:
  uint64_t bytes_;
};

}  // namespace stwo::gpu

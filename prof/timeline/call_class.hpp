// What a call of the CUDA runtime or driver is for, from its name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace prof {

enum class CallClass : uint8_t {
  kOther,
  kKernelLaunch,
  kGraphLaunch,
  kGraphInstantiate,
  kGraphUpdate,
  kGraphUpload,
  kDeviceSync,
  kStreamSync,
  kEventSync,
  kStreamQuery,
  kEventQuery,
  kCopy,
  kAllocate,       ///< device memory, stream-ordered or not
  kRelease,        ///< device memory
  kHostAllocate,   ///< pinned host memory
  kHostRelease,    ///< pinned host memory
  kHostRegister,   ///< pins, or unpins, memory of the program
  kModuleLoad,     ///< modules and libraries
  kContextCreate,  ///< contexts, primary ones too
};

/// Name without what tells variants apart: "cudaMalloc_v3020", "cuLaunchKernel_ptsz" and
/// "cuMemAlloc_v2" give "cudaMalloc", "cuLaunchKernel" and "cuMemAlloc".
std::string base_call_name(std::string_view name);

/// Class of a call, by any variant of its name.
CallClass call_class(std::string_view name);

/// Does the call put work for the device into a stream: a kernel or a graph?
inline bool is_launch(CallClass c) {
  return c == CallClass::kKernelLaunch || c == CallClass::kGraphLaunch;
}
/// Does the host wait in the call until the device has caught up?
inline bool is_sync(CallClass c) {
  return c == CallClass::kDeviceSync || c == CallClass::kStreamSync || c == CallClass::kEventSync;
}

}  // namespace prof

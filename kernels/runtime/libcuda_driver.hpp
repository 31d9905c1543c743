// The real driver: libcuda.so.1 opened at run time, so that one binary runs on machines with and
// without a GPU.
#pragma once

#include <memory>
#include <string>

#include "kernels/runtime/driver_api.hpp"

namespace stwo::gpu {

/// Either a driver or the reason why there is none.
struct LibcudaDriver {
  std::unique_ptr<DriverApi> driver;  ///< null: see reason
  std::string reason;                 ///< one line, for people
};

/// Opens the driver library and resolves every call. Does not initialise CUDA (DriverApi::init) and
/// does not look for devices. Fails when the library or one of its functions is missing, or when
/// the driver is older than the toolkit that the kernels are built with (its cubins would not
/// load).
LibcudaDriver open_libcuda();

}  // namespace stwo::gpu

// What the CUDA driver says about versions and devices. Loads libcuda.so.1 (or what STWO_LIBCUDA
// names) when it is asked; makes no context.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "prof/nvml/known.hpp"

namespace prof {

struct DriverDevice {
  std::string uuid;  ///< GPU-01234567-89ab-cdef-0123-456789abcdef
  Known<std::string> name;
  Known<uint32_t> sm;  ///< 90 for 9.0
  Known<uint32_t> multiprocessors;
  Known<uint64_t> memory_bytes;
  Known<uint64_t> l2_bytes;
  /// 2 x memory clock x bus width: data moves on both edges.
  Known<uint64_t> peak_memory_bytes_per_s;
};

struct DriverFacts {
  Known<std::string> cuda_version;  ///< highest version of CUDA it serves, e.g. "13.0"
  Known<std::vector<DriverDevice>> devices;
};

DriverFacts read_driver();

/// Of libcudart, if there is one to load; programs usually bring their own.
Known<std::string> runtime_version();

}  // namespace prof

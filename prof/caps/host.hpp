// The machine around the devices.
#pragma once

#include <cstdint>
#include <string>

#include "prof/nvml/known.hpp"

namespace prof {

struct HostFacts {
  Known<std::string> cpu_model;
  Known<uint32_t> logical_cpus;
  Known<uint64_t> memory_bytes;
  Known<double> load_1min;       ///< processes that run or wait, average of a minute
  Known<std::string> kernel;     ///< release
  Known<std::string> container;  ///< docker, podman, kubernetes, lxc, other, or none
  Known<bool> virtual_machine;
};

/// Reads proc and other files below `root`, which ends without a slash: "" is the machine itself.
HostFacts read_host(const std::string& root = "");

}  // namespace prof

// What this machine can do for us: devices, versions, tools, and whether it could be a judge host.
//
// A value that is not known is unknown with a reason. Where the facts come from is given from
// outside, so that each can be missing in a test.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "prof/caps/driver.hpp"
#include "prof/caps/host.hpp"
#include "prof/caps/tools.hpp"
#include "prof/nvml/nvml.hpp"

namespace prof {

struct DeviceCapabilities {
  NvmlDevice nvml;
  NvmlSample sample;
  /// Unknown: the CUDA driver does not offer the device to programs.
  Known<DriverDevice> cuda;
  /// By either.
  Known<std::string> uuid() const;
};

/// Something that keeps the machine from being a locked judge host.
struct Obstacle {
  std::string code;     ///< stable: JUDGE_*
  std::string device;   ///< UUID; empty: the whole machine
  std::string message;  ///< what, and what to do; one line
};

struct Capabilities {
  Known<std::string> driver_version;   ///< 580.95.05
  Known<std::string> cuda_version;     ///< highest the driver serves, 13.0
  Known<std::string> runtime_version;  ///< of a runtime library that is installed
  Known<std::string> toolkit_version;  ///< of the nvcc in PATH
  /// By NVML's index, then what only CUDA shows.
  Known<std::vector<DeviceCapabilities>> devices;
  HostFacts host;
  std::vector<Tool> tools;  ///< cupti, nvtx, nsys, ncu
  Known<bool> counter_permission;
  std::vector<Obstacle> obstacles;
  /// UUIDs of devices without an obstacle, on a machine without one.
  std::vector<std::string> judge_devices;
};

struct CapabilityProbes {
  std::function<Known<std::shared_ptr<Nvml>>()> nvml;
  std::function<DriverFacts()> driver;
  std::function<Known<std::string>()> runtime;
  std::function<HostFacts()> host;
  /// CUPTI: usable if the library is there and of the version we were built with.
  std::function<Tool()> cupti;
  /// nsys, tried out: it has to record and export.
  std::function<Tool()> nsys;
  /// ncu's tool as far as it can be known without a run.
  std::function<Tool()> locate_ncu;
  /// Runs tools; also nvcc.
  CommandRunner run;
  /// A command that launches one kernel and ends; may be empty.
  std::vector<std::string> one_kernel;
};

/// The machine itself, as far as this folder knows it: `cupti`, `nsys` and `locate_ncu` say that
/// the build lacks them until somebody sets them, and `one_kernel` is empty.
CapabilityProbes machine_probes();

Capabilities gather_capabilities(const CapabilityProbes& probes);

/// What keeps the machine from being a judge host: obstacles of the machine, then by device.
std::vector<Obstacle> judge_obstacles(const Capabilities& capabilities);

std::string capabilities_text(const Capabilities& capabilities);
/// One JSON object, schema stwo_prof_caps_v1, and a newline. `missing` maps the path of every null
/// to its reason.
std::string capabilities_json(const Capabilities& capabilities);

}  // namespace prof

#include "prof/caps/capabilities.hpp"

#include <algorithm>

namespace prof {
namespace {

NvmlDevice unknown_device(const std::string& why) {
  NvmlDevice d;
  const auto unknown = [&](auto&... fields) { ((fields.reason = why), ...); };
  unknown(d.uuid, d.name, d.sm, d.memory_bytes, d.memory_used_bytes, d.sm_clock_mhz,
          d.memory_clock_mhz, d.max_sm_clock_mhz, d.max_memory_clock_mhz, d.power_limit_mw, d.ecc,
          d.uncorrected_ecc_errors, d.mig, d.compute_mode, d.persistence, d.pcie_generation,
          d.pcie_width, d.processes);
  return d;
}

NvmlSample unknown_sample(const std::string& why) {
  NvmlSample s;
  const auto unknown = [&](auto&... fields) { ((fields.reason = why), ...); };
  unknown(s.temperature_c, s.power_mw, s.energy_mj, s.sm_clock_mhz, s.memory_clock_mhz,
          s.clock_reasons, s.performance_state, s.gpu_utilization_percent, s.memory_used_bytes,
          s.uncorrected_ecc_errors, s.processes);
  return s;
}

Known<std::vector<DeviceCapabilities>> merge(const Known<std::shared_ptr<Nvml>>& nvml,
                                             const DriverFacts& driver) {
  using Result = Known<std::vector<DeviceCapabilities>>;
  std::vector<DeviceCapabilities> out;
  const auto seen = nvml.has_value() ? (*nvml.value)->devices()
                                     : Known<std::vector<NvmlDevice>>::unknown(nvml.reason);
  if (!seen.has_value() && !driver.devices.has_value()) {
    return Result::unknown(seen.reason + "; " + driver.devices.reason);
  }
  std::vector<DriverDevice> rest = driver.devices.value.value_or(std::vector<DriverDevice>{});
  for (const NvmlDevice& device : seen.value.value_or(std::vector<NvmlDevice>{})) {
    DeviceCapabilities d;
    d.nvml = device;
    d.sample = device.uuid.has_value() ? (*nvml.value)->sample(*device.uuid.value)
                                       : unknown_sample(device.uuid.reason);
    const auto same = std::find_if(rest.begin(), rest.end(), [&](const DriverDevice& other) {
      return device.uuid.value == other.uuid;
    });
    if (same != rest.end()) {
      d.cuda = Known<DriverDevice>::of(*same);
      rest.erase(same);
    } else {
      d.cuda = Known<DriverDevice>::unknown(
          driver.devices.has_value()
              ? "the CUDA driver does not offer this device; see CUDA_VISIBLE_DEVICES"
              : driver.devices.reason);
    }
    out.push_back(std::move(d));
  }
  for (const DriverDevice& device : rest) {
    const std::string why = seen.has_value() ? "NVML does not show this device" : seen.reason;
    out.push_back({unknown_device(why), unknown_sample(why), Known<DriverDevice>::of(device)});
    out.back().nvml.index = static_cast<uint32_t>(out.size() - 1);
  }
  return Result::of(std::move(out));
}

/// NVTX has no part of its own at run time: its records reach us through CUPTI.
Tool nvtx_of(const Tool& cupti) {
  if (cupti.usable) return {"nvtx", true, "", cupti.version, cupti.path};
  return Tool::unusable("nvtx", "its ranges are recorded through CUPTI, which is not usable");
}

}  // namespace

Known<std::string> DeviceCapabilities::uuid() const {
  return nvml.uuid.has_value() || !cuda.has_value() ? nvml.uuid
                                                    : Known<std::string>::of(cuda.value->uuid);
}

CapabilityProbes machine_probes() {
  CapabilityProbes probes;
  probes.nvml = open_nvml;
  probes.driver = read_driver;
  probes.runtime = runtime_version;
  probes.host = [] { return read_host(); };
  probes.cupti = [] { return Tool::unusable("cupti", "this build has no recorder"); };
  probes.nsys = [] { return Tool::unusable("nsys", "this build does not look for it"); };
  probes.locate_ncu = [] { return Tool::unusable("ncu", "this build does not look for it"); };
  probes.run = run_command;
  return probes;
}

Capabilities gather_capabilities(const CapabilityProbes& probes) {
  Capabilities out;
  const Known<std::shared_ptr<Nvml>> nvml = probes.nvml();
  const DriverFacts driver = probes.driver();
  out.driver_version =
      nvml.has_value() ? (*nvml.value)->driver_version() : Known<std::string>::unknown(nvml.reason);
  out.cuda_version = driver.cuda_version.has_value() || !nvml.has_value()
                         ? driver.cuda_version
                         : (*nvml.value)->cuda_version();
  out.runtime_version = probes.runtime();
  out.toolkit_version = toolkit_version(probes.run);
  out.devices = merge(nvml, driver);
  out.host = probes.host();
  const Tool cupti = probes.cupti();
  const bool has_device = driver.devices.has_value() && !driver.devices.value->empty();
  NcuProbe ncu = probe_ncu(probes.run, probes.locate_ncu(), probes.one_kernel, has_device);
  out.tools = {cupti, nvtx_of(cupti), probes.nsys(), std::move(ncu.tool)};
  out.counter_permission = std::move(ncu.counter_permission);
  out.obstacles = judge_obstacles(out);
  const auto blocked = [&](const std::string& device) {
    return std::any_of(out.obstacles.begin(), out.obstacles.end(),
                       [&](const Obstacle& o) { return o.device == device; });
  };
  if (!blocked("") && out.devices.has_value()) {
    for (const DeviceCapabilities& d : *out.devices.value) {
      const Known<std::string> uuid = d.uuid();
      if (uuid.has_value() && !blocked(*uuid.value)) out.judge_devices.push_back(*uuid.value);
    }
  }
  return out;
}

}  // namespace prof

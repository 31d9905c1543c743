// Could the machine be a locked judge host? The rules of stationarity need values that can be read,
// and a device that nobody else uses.

#include <cstdio>

#include "prof/caps/capabilities.hpp"

namespace prof {
namespace {

constexpr uint64_t kHotReasons = kReasonHardwareSlowdown | kReasonSyncBoost |
                                 kReasonSoftwareThermal | kReasonHardwareThermal |
                                 kReasonPowerBrake;
/// Of the logical processors, as the judge's own rule has it.
constexpr double kLoadShare = 0.5;

class Obstacles {
 public:
  void of_device(const DeviceCapabilities& d, const std::string& name) {
    device_ = name;
    const NvmlDevice& n = d.nvml;
    if (!d.cuda.has_value()) add("JUDGE_NO_CUDA", d.cuda.reason);
    if (n.mig.value == true) {
      add("JUDGE_MIG",
          "MIG is on, so that the device may be shared; switch it off (nvidia-smi -mig 0)");
    } else if (!n.mig.has_value() && n.mig.reason.rfind(kNotSupportedByDevice, 0) != 0) {
      unknown("JUDGE_MIG_UNKNOWN", "MIG mode", n.mig.reason);
    }
    if (!n.ecc.has_value()) unknown("JUDGE_ECC_UNKNOWN", "ECC mode", n.ecc.reason);
    if (n.uncorrected_ecc_errors.value.value_or(0) > 0) {
      add("JUDGE_ECC_ERRORS", std::to_string(*n.uncorrected_ecc_errors.value) +
                                  " uncorrected memory errors since the driver was loaded; reset "
                                  "or replace the device");
    }
    if (!n.processes.has_value()) {
      unknown("JUDGE_PROCESSES_UNKNOWN", "list of compute processes", n.processes.reason);
    } else if (!n.processes.value->empty()) {
      add("JUDGE_OTHER_PROCESSES", std::to_string(n.processes.value->size()) +
                                       " compute processes use the device (the first is " +
                                       std::to_string(n.processes.value->front().pid) +
                                       "); end them");
    }
    if (!n.persistence.has_value()) {
      unknown("JUDGE_PERSISTENCE_UNKNOWN", "persistence mode", n.persistence.reason);
    } else if (!*n.persistence.value) {
      add("JUDGE_PERSISTENCE_OFF",
          "persistence mode is off: the driver starts anew with every process; switch it on "
          "(nvidia-smi -pm 1)");
    }
    if (n.compute_mode.value == "prohibited") {
      add("JUDGE_COMPUTE_PROHIBITED",
          "compute mode is prohibited; set it to default (nvidia-smi -c 0)");
    }
    telemetry(d);
  }

  void of_host(const HostFacts& host) {
    device_.clear();
    if (!host.container.has_value()) {
      unknown("JUDGE_CONTAINER_UNKNOWN", "kind of container", host.container.reason);
    } else if (*host.container.value != "none") {
      add("JUDGE_CONTAINER", "runs in a container (" + *host.container.value +
                                 "), where other tenants of the machine are hidden; judge on the "
                                 "machine itself");
    }
    if (!host.load_1min.has_value() || !host.logical_cpus.has_value()) {
      unknown("JUDGE_LOAD_UNKNOWN", "load",
              host.load_1min.has_value() ? host.logical_cpus.reason : host.load_1min.reason);
    } else if (*host.load_1min.value > kLoadShare * *host.logical_cpus.value) {
      char text[120];
      std::snprintf(text, sizeof text,
                    "load of the last minute is %.2f (expected at most %.1f for %u processors); "
                    "end other work",
                    *host.load_1min.value, kLoadShare * *host.logical_cpus.value,
                    *host.logical_cpus.value);
      add("JUDGE_LOAD", text);
    }
  }

  void no_device(const std::string& why) {
    device_.clear();
    add("JUDGE_NO_DEVICE", why);
  }

  std::vector<Obstacle> take() { return std::move(out_); }

 private:
  void add(const std::string& code, const std::string& message) {
    out_.push_back({code, device_, message});
  }
  void unknown(const std::string& code, const std::string& what, const std::string& why) {
    add(code,
        "the " + what + " cannot be read (" + why + "); use a driver and rights that show it");
  }

  void telemetry(const DeviceCapabilities& d) {
    const NvmlSample& s = d.sample;
    if (!s.sm_clock_mhz.has_value() || !s.memory_clock_mhz.has_value()) {
      unknown("JUDGE_CLOCKS_UNKNOWN", "clocks",
              s.sm_clock_mhz.has_value() ? s.memory_clock_mhz.reason : s.sm_clock_mhz.reason);
    }
    if (!s.clock_reasons.has_value()) {
      unknown("JUDGE_THROTTLE_UNKNOWN", "reasons that hold the clocks down",
              s.clock_reasons.reason);
    } else if ((*s.clock_reasons.value & kHotReasons) != 0) {
      add("JUDGE_THROTTLED", "the clocks are held down (" +
                                 clock_reasons_text(*s.clock_reasons.value & kHotReasons) +
                                 "); see to cooling and power");
    }
    if (!s.temperature_c.has_value()) {
      unknown("JUDGE_TEMPERATURE_UNKNOWN", "temperature", s.temperature_c.reason);
    }
    if (!d.nvml.power_limit_mw.has_value()) {
      unknown("JUDGE_POWER_UNKNOWN", "power limit", d.nvml.power_limit_mw.reason);
    }
  }

  std::string device_;
  std::vector<Obstacle> out_;
};

}  // namespace

std::vector<Obstacle> judge_obstacles(const Capabilities& capabilities) {
  Obstacles out;
  const bool has_devices = capabilities.devices.has_value() && !capabilities.devices.value->empty();
  if (!has_devices) {
    out.no_device(capabilities.devices.has_value()
                      ? "there is no device; judge on a machine with one"
                      : capabilities.devices.reason);
  }
  out.of_host(capabilities.host);
  if (!has_devices) return out.take();
  for (const DeviceCapabilities& d : *capabilities.devices.value) {
    const Known<std::string> uuid = d.uuid();
    out.of_device(d, uuid.value.value_or("device " + std::to_string(d.nvml.index)));
  }
  return out.take();
}

}  // namespace prof

// Capabilities for a terminal.

#include <cstdio>
#include <type_traits>
#include <utility>

#include "prof/caps/capabilities.hpp"
#include "prover/cli/terminal.hpp"

namespace prof {
namespace {

std::string shown(const Known<std::string>& known) {
  return known.has_value() ? *known.value : "unknown: " + known.reason;
}
template <class T, class Format>
std::string shown(const Known<T>& known, const Format& format) {
  return known.has_value() ? format(*known.value) : "unknown: " + known.reason;
}

std::string plain(uint64_t value) { return std::to_string(value); }
std::string mhz(uint64_t value) { return std::to_string(value) + " MHz"; }
std::string on_off(bool value) { return value ? "on" : "off"; }
std::string watts(uint64_t milliwatts) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f W", static_cast<double>(milliwatts) / 1000);
  return text;
}
std::string sm_text(uint32_t sm) { return std::to_string(sm / 10) + "." + std::to_string(sm % 10); }

using Rows = std::vector<std::vector<std::string>>;

void add_device(Rows& rows, const DeviceCapabilities& d) {
  const NvmlDevice& n = d.nvml;
  const auto add = [&](const char* key, const std::string& value) {
    rows.push_back({"  " + std::string(key), value});
  };
  const auto or_cuda = [&](const auto& known, auto member) {
    return known.has_value() || !d.cuda.has_value() ? known : (*d.cuda.value).*member;
  };
  const auto of_cuda = [&](auto member) {
    using Field = std::decay_t<decltype(std::declval<DriverDevice>().*member)>;
    return d.cuda.has_value() ? (*d.cuda.value).*member : Field::unknown(d.cuda.reason);
  };
  rows.push_back(
      {"device " + std::to_string(n.index), shown(or_cuda(n.name, &DriverDevice::name))});
  add("UUID", shown(d.uuid()));
  add("SM", shown(or_cuda(n.sm, &DriverDevice::sm), sm_text));
  add("multiprocessors", shown(of_cuda(&DriverDevice::multiprocessors), plain));
  add("memory", shown(or_cuda(n.memory_bytes, &DriverDevice::memory_bytes), stwo::format_bytes));
  add("memory used", shown(n.memory_used_bytes, stwo::format_bytes));
  add("peak bandwidth", shown(of_cuda(&DriverDevice::peak_memory_bytes_per_s), [](uint64_t rate) {
        char text[48];
        std::snprintf(text, sizeof text, "%.0f GB/s by clock and bus",
                      static_cast<double>(rate) / 1e9);
        return std::string(text);
      }));
  add("L2", shown(of_cuda(&DriverDevice::l2_bytes), stwo::format_bytes));
  add("SM clock", shown(n.sm_clock_mhz, mhz) + ", at most " + shown(n.max_sm_clock_mhz, mhz));
  add("memory clock",
      shown(n.memory_clock_mhz, mhz) + ", at most " + shown(n.max_memory_clock_mhz, mhz));
  add("clocks held by", shown(d.sample.clock_reasons, [](uint64_t reasons) {
        return reasons == 0 ? std::string("nothing") : clock_reasons_text(reasons);
      }));
  add("power", shown(d.sample.power_mw, watts) + ", limit " + shown(n.power_limit_mw, watts));
  add("temperature",
      shown(d.sample.temperature_c, [](uint64_t c) { return std::to_string(c) + " C"; }));
  add("ECC", shown(n.ecc, on_off));
  add("uncorrected errors", shown(n.uncorrected_ecc_errors, plain));
  add("MIG", shown(n.mig, on_off));
  add("compute mode", shown(n.compute_mode));
  add("persistence", shown(n.persistence, on_off));
  add("PCIe",
      "generation " + shown(n.pcie_generation, plain) + ", lanes " + shown(n.pcie_width, plain));
  add("compute processes", shown(n.processes, [](const auto& list) {
        std::string out = std::to_string(list.size());
        for (const ComputeProcess& p : list) {
          out += (&p == &list.front() ? ": " : ", ") + std::to_string(p.pid);
        }
        return out;
      }));
}

}  // namespace

std::string capabilities_text(const Capabilities& c) {
  Rows rows = {{"driver", shown(c.driver_version)},
               {"CUDA of the driver", shown(c.cuda_version)},
               {"CUDA runtime", shown(c.runtime_version)},
               {"CUDA toolkit", shown(c.toolkit_version)}};
  if (!c.devices.has_value()) {
    rows.push_back({"devices", "unknown: " + c.devices.reason});
  } else if (c.devices.value->empty()) {
    rows.push_back({"devices", "none"});
  } else {
    for (const DeviceCapabilities& d : *c.devices.value) add_device(rows, d);
  }
  const HostFacts& h = c.host;
  rows.push_back({"host", shown(h.cpu_model)});
  rows.push_back({"  processors", shown(h.logical_cpus, plain)});
  rows.push_back({"  memory", shown(h.memory_bytes, stwo::format_bytes)});
  rows.push_back({"  load", shown(h.load_1min, [](double load) {
                    char text[32];
                    std::snprintf(text, sizeof text, "%.2f", load);
                    return std::string(text);
                  })});
  rows.push_back({"  kernel", shown(h.kernel)});
  rows.push_back({"  container", shown(h.container)});
  rows.push_back({"  virtual machine",
                  shown(h.virtual_machine, [](bool b) { return std::string(b ? "yes" : "no"); })});
  std::string out = stwo::format_table({"machine", ""}, rows) + "\n";

  Rows tools;
  for (const Tool& tool : c.tools) {
    tools.push_back({tool.name, tool.usable ? "usable" : "not usable",
                     tool.version.value.value_or("-"),
                     tool.usable ? tool.path.value.value_or("") : tool.reason});
  }
  tools.push_back({"counters",
                   !c.counter_permission.has_value() ? "unknown"
                   : *c.counter_permission.value     ? "permitted"
                                                     : "denied",
                   "-", c.counter_permission.reason});
  out += stwo::format_table({"tool", "state", "version", "where, or why not"}, tools) + "\n";

  if (c.obstacles.empty()) {
    out += "This machine could be a locked judge host.\n";
    return out;
  }
  out += c.judge_devices.empty() ? "This machine cannot be a locked judge host:\n"
                                 : "Not every device could be judged on:\n";
  Rows obstacles;
  for (const Obstacle& o : c.obstacles) {
    obstacles.push_back({o.code, o.device.empty() ? "machine" : o.device, o.message});
  }
  return out + stwo::format_table({"code", "of", "what stands in the way"}, obstacles);
}

}  // namespace prof

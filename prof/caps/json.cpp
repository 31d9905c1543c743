// stwo_prof_caps_v1.

#include <type_traits>
#include <utility>

#include "prof/caps/capabilities.hpp"
#include "prof/nvml/known_json.hpp"

namespace prof {
namespace {

using Json = JsonWriter::Json;

void put_processes(JsonWriter& writer, Json& object, const std::string& path,
                   const Known<std::vector<ComputeProcess>>& processes) {
  writer.put_list(object, path, "processes", processes);
  if (!processes.has_value()) return;
  for (size_t i = 0; i < processes.value->size(); ++i) {
    const ComputeProcess& p = (*processes.value)[i];
    Json one = {{"pid", p.pid}};
    writer.put(one, path + "/processes/" + std::to_string(i), "memory_bytes", p.memory_bytes);
    object["processes"].push_back(std::move(one));
  }
}

Json device_json(JsonWriter& writer, const std::string& path, const DeviceCapabilities& d) {
  const NvmlDevice& n = d.nvml;
  Json out = {{"index", n.index}};
  writer.put(out, path, "uuid", d.uuid());
  writer.put(out, path, "name",
             n.name.has_value() || !d.cuda.has_value() ? n.name : d.cuda.value->name);
  writer.put(out, path, "sm", n.sm.has_value() || !d.cuda.has_value() ? n.sm : d.cuda.value->sm);
  writer.put(out, path, "memory_bytes",
             n.memory_bytes.has_value() || !d.cuda.has_value() ? n.memory_bytes
                                                               : d.cuda.value->memory_bytes);
  const auto of_cuda = [&](auto member) {
    using Field = std::decay_t<decltype(std::declval<DriverDevice>().*member)>;
    return d.cuda.has_value() ? (*d.cuda.value).*member : Field::unknown(d.cuda.reason);
  };
  writer.put(out, path, "multiprocessors", of_cuda(&DriverDevice::multiprocessors));
  writer.put(out, path, "l2_bytes", of_cuda(&DriverDevice::l2_bytes));
  writer.put(out, path, "peak_memory_bytes_per_s", of_cuda(&DriverDevice::peak_memory_bytes_per_s));
  writer.put(out, path, "memory_used_bytes", n.memory_used_bytes);
  writer.put(out, path, "sm_clock_mhz", n.sm_clock_mhz);
  writer.put(out, path, "max_sm_clock_mhz", n.max_sm_clock_mhz);
  writer.put(out, path, "memory_clock_mhz", n.memory_clock_mhz);
  writer.put(out, path, "max_memory_clock_mhz", n.max_memory_clock_mhz);
  writer.put(out, path, "power_limit_mw", n.power_limit_mw);
  writer.put(out, path, "power_mw", d.sample.power_mw);
  writer.put(out, path, "temperature_c", d.sample.temperature_c);
  writer.put(out, path, "performance_state", d.sample.performance_state);
  writer.put(out, path, "clock_reasons", d.sample.clock_reasons);
  writer.put(out, path, "ecc", n.ecc);
  writer.put(out, path, "uncorrected_ecc_errors", n.uncorrected_ecc_errors);
  writer.put(out, path, "mig", n.mig);
  writer.put(out, path, "compute_mode", n.compute_mode);
  writer.put(out, path, "persistence", n.persistence);
  writer.put(out, path, "pcie_generation", n.pcie_generation);
  writer.put(out, path, "pcie_width", n.pcie_width);
  put_processes(writer, out, path, n.processes);
  return out;
}

Json host_json(JsonWriter& writer, const HostFacts& host) {
  Json out = Json::object();
  writer.put(out, "/host", "cpu_model", host.cpu_model);
  writer.put(out, "/host", "logical_cpus", host.logical_cpus);
  writer.put(out, "/host", "memory_bytes", host.memory_bytes);
  writer.put(out, "/host", "load_1min", host.load_1min);
  writer.put(out, "/host", "kernel", host.kernel);
  writer.put(out, "/host", "container", host.container);
  writer.put(out, "/host", "virtual_machine", host.virtual_machine);
  return out;
}

}  // namespace

std::string capabilities_json(const Capabilities& c) {
  JsonWriter writer;
  Json out = {{"schema", "stwo_prof_caps_v1"}};
  Json versions = Json::object();
  writer.put(versions, "/versions", "driver", c.driver_version);
  writer.put(versions, "/versions", "cuda", c.cuda_version);
  writer.put(versions, "/versions", "runtime", c.runtime_version);
  writer.put(versions, "/versions", "toolkit", c.toolkit_version);
  out["versions"] = std::move(versions);
  writer.put_list(out, "", "devices", c.devices);
  if (c.devices.has_value()) {
    for (size_t i = 0; i < c.devices.value->size(); ++i) {
      out["devices"].push_back(
          device_json(writer, "/devices/" + std::to_string(i), (*c.devices.value)[i]));
    }
  }
  out["host"] = host_json(writer, c.host);
  out["tools"] = Json::array();
  for (size_t i = 0; i < c.tools.size(); ++i) {
    const Tool& tool = c.tools[i];
    const std::string path = "/tools/" + std::to_string(i);
    Json one = {{"name", tool.name}, {"usable", tool.usable}};
    one["reason"] = tool.usable ? Json(nullptr) : Json(tool.reason);
    writer.put(one, path, "version", tool.version);
    writer.put(one, path, "path", tool.path);
    out["tools"].push_back(std::move(one));
  }
  writer.put(out, "", "counter_permission", c.counter_permission);
  Json obstacles = Json::array();
  for (const Obstacle& o : c.obstacles) {
    obstacles.push_back({{"code", o.code},
                         {"device", o.device.empty() ? Json(nullptr) : Json(o.device)},
                         {"message", o.message}});
  }
  out["judge_host"] = {{"possible", !c.judge_devices.empty()},
                       {"devices", c.judge_devices},
                       {"obstacles", std::move(obstacles)}};
  out["missing"] = writer.missing();
  return JsonWriter::text(out);
}

}  // namespace prof

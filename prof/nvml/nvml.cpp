#include "prof/nvml/nvml.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <tuple>
#include <utility>

#include "prof/nvml/library.hpp"
#include "prof/nvml/nvml_abi.hpp"
#include "prover/cli/terminal.hpp"

namespace prof {
namespace {

using abi::Device;

constexpr const char* kVariable = "STWO_NVML";
constexpr const char* kName = "libnvidia-ml.so.1";
constexpr const char* kNoSymbol = "this driver's NVML lacks the function";

template <class... Arguments>
using Function = int(Arguments...);

class LoadedNvml : public Nvml {
 public:
  LoadedNvml() : library_(kVariable, kName) {}
  ~LoadedNvml() override {
    if (!started_) return;
    if (auto* shutdown = library_.function<Function<>>({"nvmlShutdown"})) shutdown();
  }
  LoadedNvml(const LoadedNvml&) = delete;
  LoadedNvml& operator=(const LoadedNvml&) = delete;

  /// Empty: started.
  std::string start() {
    if (!library_.is_loaded()) {
      return "NVML cannot be loaded (" + library_.error() + "); install the NVIDIA driver";
    }
    auto* init = library_.function<Function<>>({"nvmlInit_v2", "nvmlInit"});
    if (init == nullptr) return library_.name() + " is not NVML: it has no nvmlInit";
    if (const int code = init(); code != abi::kSuccess) return "NVML does not start: " + text(code);
    started_ = true;
    return "";
  }

  Known<std::string> driver_version() override {
    return system_string({"nvmlSystemGetDriverVersion"});
  }

  Known<std::string> cuda_version() override {
    auto* get = library_.function<Function<int*>>(
        {"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"});
    if (get == nullptr) return Known<std::string>::unknown(kNoSymbol);
    int version = 0;
    if (const int code = get(&version); code != abi::kSuccess) {
      return Known<std::string>::unknown(text(code));
    }
    return Known<std::string>::of(std::to_string(version / 1000) + "." +
                                  std::to_string(version % 1000 / 10));
  }

  Known<std::vector<NvmlDevice>> devices() override {
    using Result = Known<std::vector<NvmlDevice>>;
    auto* count_of =
        library_.function<Function<unsigned*>>({"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
    auto* by_index = library_.function<Function<unsigned, Device*>>(
        {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
    if (count_of == nullptr || by_index == nullptr) return Result::unknown(kNoSymbol);
    unsigned count = 0;
    if (const int code = count_of(&count); code != abi::kSuccess) {
      return Result::unknown(text(code));
    }
    std::vector<NvmlDevice> out;
    for (unsigned index = 0; index < count; ++index) {
      Device device = nullptr;
      const int code = by_index(index, &device);
      out.push_back(read_device(code == abi::kSuccess ? device : nullptr, text(code)));
      out.back().index = index;
    }
    return Result::of(std::move(out));
  }

  NvmlSample sample(const std::string& uuid) override {
    NvmlSample out;
    out.realtime_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count();
    Device d = nullptr;
    std::string why = kNoSymbol;
    if (auto* by_uuid =
            library_.function<Function<const char*, Device*>>({"nvmlDeviceGetHandleByUUID"})) {
      const int code = by_uuid(uuid.c_str(), &d);
      if (code != abi::kSuccess) d = nullptr;
      why = text(code);
    }
    out.temperature_c =
        number<uint32_t, unsigned>(d, why, {"nvmlDeviceGetTemperature"}, abi::kTemperatureGpu);
    out.power_mw = number<uint32_t, unsigned>(d, why, {"nvmlDeviceGetPowerUsage"});
    out.energy_mj =
        number<uint64_t, unsigned long long>(d, why, {"nvmlDeviceGetTotalEnergyConsumption"});
    out.sm_clock_mhz = clock(d, why, "nvmlDeviceGetClockInfo", abi::kClockSm);
    out.memory_clock_mhz = clock(d, why, "nvmlDeviceGetClockInfo", abi::kClockMemory);
    out.clock_reasons = number<uint64_t, unsigned long long>(
        d, why,
        {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
    out.performance_state = number<uint32_t, int>(d, why, {"nvmlDeviceGetPerformanceState"});
    if (out.performance_state.value == uint32_t{abi::kUnknownPerformanceState}) {
      out.performance_state = Known<uint32_t>::unknown("the driver does not know it");
    }
    const auto utilization =
        number<abi::Utilization, abi::Utilization>(d, why, {"nvmlDeviceGetUtilizationRates"});
    out.gpu_utilization_percent = utilization.has_value()
                                      ? Known<uint32_t>::of(utilization.value->gpu)
                                      : Known<uint32_t>::unknown(utilization.reason);
    out.memory_used_bytes = memory(d, why).second;
    out.uncorrected_ecc_errors = ecc_errors(d, why);
    out.processes = processes(d, why);
    return out;
  }

 private:
  /// What the library says about one of its result codes.
  std::string text(int code) const {
    std::string out = "NVML error " + std::to_string(code);
    if (auto* error_string = library_.function<const char*(int)>({"nvmlErrorString"})) {
      if (const char* said = error_string(code)) out = stwo::one_line(said);
    }
    return code == abi::kNotSupported ? std::string(kNotSupportedByDevice) + " (" + out + ")" : out;
  }

  Known<std::string> system_string(std::initializer_list<const char*> symbols) const {
    auto* get = library_.function<Function<char*, unsigned>>(symbols);
    if (get == nullptr) return Known<std::string>::unknown(kNoSymbol);
    char buffer[256] = {};
    if (const int code = get(buffer, sizeof buffer - 1); code != abi::kSuccess) {
      return Known<std::string>::unknown(text(code));
    }
    return Known<std::string>::of(stwo::one_line(buffer));
  }

  Known<std::string> device_string(Device d, const std::string& why, const char* symbol) const {
    if (d == nullptr) return Known<std::string>::unknown(why);
    auto* get = library_.function<Function<Device, char*, unsigned>>({symbol});
    if (get == nullptr) return Known<std::string>::unknown(kNoSymbol);
    char buffer[256] = {};
    if (const int code = get(d, buffer, sizeof buffer - 1); code != abi::kSuccess) {
      return Known<std::string>::unknown(text(code));
    }
    return Known<std::string>::of(stwo::one_line(buffer));
  }

  /// A question with arguments and one answer of type Raw. `d` null: unknown for the reason `why`.
  template <class T, class Raw, class... Arguments>
  Known<T> number(Device d, const std::string& why, std::initializer_list<const char*> symbols,
                  Arguments... arguments) const {
    if (d == nullptr) return Known<T>::unknown(why);
    auto* get = library_.function<Function<Device, Arguments..., Raw*>>(symbols);
    if (get == nullptr) return Known<T>::unknown(kNoSymbol);
    Raw raw{};
    if (const int code = get(d, arguments..., &raw); code != abi::kSuccess) {
      return Known<T>::unknown(text(code));
    }
    return Known<T>::of(static_cast<T>(raw));
  }

  Known<uint32_t> clock(Device d, const std::string& why, const char* symbol, int which) const {
    return number<uint32_t, unsigned>(d, why, {symbol}, which);
  }

  /// A mode that has a current and a pending value; the current one.
  template <class Raw>
  Known<bool> current(Device d, const std::string& why, const char* symbol) const {
    if (d == nullptr) return Known<bool>::unknown(why);
    auto* get = library_.function<Function<Device, Raw*, Raw*>>({symbol});
    if (get == nullptr) return Known<bool>::unknown(kNoSymbol);
    Raw now{};
    Raw pending{};
    if (const int code = get(d, &now, &pending); code != abi::kSuccess) {
      return Known<bool>::unknown(text(code));
    }
    return Known<bool>::of(now != Raw{});
  }

  Known<uint64_t> ecc_errors(Device d, const std::string& why) const {
    return number<uint64_t, unsigned long long>(d, why, {"nvmlDeviceGetTotalEccErrors"},
                                                abi::kUncorrected, abi::kVolatile);
  }

  /// Total and used.
  std::pair<Known<uint64_t>, Known<uint64_t>> memory(Device d, const std::string& why) const {
    const auto both_unknown = [](const std::string& reason) {
      return std::pair(Known<uint64_t>::unknown(reason), Known<uint64_t>::unknown(reason));
    };
    if (d == nullptr) return both_unknown(why);
    if (auto* get =
            library_.function<Function<Device, abi::MemoryV2*>>({"nvmlDeviceGetMemoryInfo_v2"})) {
      abi::MemoryV2 info{};
      info.version = abi::kMemoryV2;
      if (get(d, &info) == abi::kSuccess) {
        return {Known<uint64_t>::of(info.total), Known<uint64_t>::of(info.used)};
      }
    }
    const auto info = number<abi::Memory, abi::Memory>(d, why, {"nvmlDeviceGetMemoryInfo"});
    if (!info.has_value()) return both_unknown(info.reason);
    return {Known<uint64_t>::of(info.value->total), Known<uint64_t>::of(info.value->used)};
  }

  Known<std::string> compute_mode(Device d, const std::string& why) const {
    const auto mode = number<int, int>(d, why, {"nvmlDeviceGetComputeMode"});
    if (!mode.has_value()) return Known<std::string>::unknown(mode.reason);
    static constexpr const char* kNames[] = {"default", "exclusive_thread", "prohibited",
                                             "exclusive_process"};
    if (*mode.value < 0 || *mode.value > 3) {
      return Known<std::string>::unknown("mode " + std::to_string(*mode.value) + " has no name");
    }
    return Known<std::string>::of(kNames[*mode.value]);
  }

  template <class Record>
  Known<std::vector<ComputeProcess>> list(Device d,
                                          Function<Device, unsigned*, Record*>* get) const {
    using Result = Known<std::vector<ComputeProcess>>;
    // Room to spare: a driver with larger records than ours must not write past the end.
    constexpr size_t kSpare = 4;
    std::vector<Record> records;
    unsigned count = 64;
    int code = abi::kInsufficientSize;
    for (int attempt = 0; attempt < 8 && code == abi::kInsufficientSize; ++attempt) {
      // Processes may start between two calls.
      if (attempt != 0) count = std::min(count, 1U << 20) + 16;
      records.assign(size_t{count} * kSpare, Record{});
      code = get(d, &count, records.data());
    }
    if (code != abi::kSuccess) return Result::unknown(text(code));
    if (count > records.size()) return Result::unknown("the driver's process list is damaged");
    std::vector<ComputeProcess> out;
    for (unsigned i = 0; i < count; ++i) {
      out.push_back({records[i].pid, records[i].used_memory == abi::kNoValue
                                         ? Known<uint64_t>::unknown("the driver does not tell it")
                                         : Known<uint64_t>::of(records[i].used_memory)});
    }
    if (!process_list_is_plausible(out)) {
      return Result::unknown("the driver's process list has a layout that is not known");
    }
    std::sort(out.begin(), out.end(),
              [](const ComputeProcess& a, const ComputeProcess& b) { return a.pid < b.pid; });
    return Result::of(std::move(out));
  }

  Known<std::vector<ComputeProcess>> processes(Device d, const std::string& why) const {
    using Result = Known<std::vector<ComputeProcess>>;
    if (d == nullptr) return Result::unknown(why);
    if (auto* get = library_.function<Function<Device, unsigned*, abi::ProcessV2*>>(
            {"nvmlDeviceGetComputeRunningProcesses_v3",
             "nvmlDeviceGetComputeRunningProcesses_v2"})) {
      return list(d, get);
    }
    if (auto* get = library_.function<Function<Device, unsigned*, abi::ProcessV1*>>(
            {"nvmlDeviceGetComputeRunningProcesses"})) {
      return list(d, get);
    }
    return Result::unknown(kNoSymbol);
  }

  Known<uint32_t> compute_capability(Device d, const std::string& why) const {
    if (d == nullptr) return Known<uint32_t>::unknown(why);
    auto* get =
        library_.function<Function<Device, int*, int*>>({"nvmlDeviceGetCudaComputeCapability"});
    if (get == nullptr) return Known<uint32_t>::unknown(kNoSymbol);
    int major = 0;
    int minor = 0;
    if (const int code = get(d, &major, &minor); code != abi::kSuccess) {
      return Known<uint32_t>::unknown(text(code));
    }
    return Known<uint32_t>::of(static_cast<uint32_t>(major * 10 + minor));
  }

  NvmlDevice read_device(Device d, const std::string& why) const {
    NvmlDevice out;
    out.uuid = device_string(d, why, "nvmlDeviceGetUUID");
    out.name = device_string(d, why, "nvmlDeviceGetName");
    out.sm = compute_capability(d, why);
    std::tie(out.memory_bytes, out.memory_used_bytes) = memory(d, why);
    out.sm_clock_mhz = clock(d, why, "nvmlDeviceGetClockInfo", abi::kClockSm);
    out.memory_clock_mhz = clock(d, why, "nvmlDeviceGetClockInfo", abi::kClockMemory);
    out.max_sm_clock_mhz = clock(d, why, "nvmlDeviceGetMaxClockInfo", abi::kClockSm);
    out.max_memory_clock_mhz = clock(d, why, "nvmlDeviceGetMaxClockInfo", abi::kClockMemory);
    out.power_limit_mw = number<uint32_t, unsigned>(d, why, {"nvmlDeviceGetEnforcedPowerLimit"});
    out.ecc = current<int>(d, why, "nvmlDeviceGetEccMode");
    out.uncorrected_ecc_errors = ecc_errors(d, why);
    out.mig = current<unsigned>(d, why, "nvmlDeviceGetMigMode");
    out.compute_mode = compute_mode(d, why);
    out.persistence = number<bool, int>(d, why, {"nvmlDeviceGetPersistenceMode"});
    out.pcie_generation =
        number<uint32_t, unsigned>(d, why, {"nvmlDeviceGetCurrPcieLinkGeneration"});
    out.pcie_width = number<uint32_t, unsigned>(d, why, {"nvmlDeviceGetCurrPcieLinkWidth"});
    out.processes = processes(d, why);
    return out;
  }

  Library library_;
  bool started_ = false;
};

}  // namespace

std::string clock_reasons_text(uint64_t reasons) {
  static constexpr std::pair<uint64_t, const char*> kNames[] = {
      {kReasonIdle, "idle"},
      {kReasonApplicationClocks, "application_clocks"},
      {kReasonSoftwarePowerCap, "software_power_cap"},
      {kReasonHardwareSlowdown, "hardware_slowdown"},
      {kReasonSyncBoost, "sync_boost"},
      {kReasonSoftwareThermal, "software_thermal"},
      {kReasonHardwareThermal, "hardware_thermal"},
      {kReasonPowerBrake, "power_brake"},
      {kReasonDisplay, "display"},
  };
  std::string out;
  for (const auto& [bit, name] : kNames) {
    if ((reasons & bit) == 0) continue;
    out += (out.empty() ? "" : ", ") + std::string(name);
    reasons &= ~bit;
  }
  if (reasons != 0) {
    char rest[24];
    std::snprintf(rest, sizeof rest, "0x%llx", static_cast<unsigned long long>(reasons));
    out += (out.empty() ? "" : ", ") + std::string(rest);
  }
  return out;
}

bool process_list_is_plausible(const std::vector<ComputeProcess>& processes) {
  return std::none_of(processes.begin(), processes.end(),
                      [](const ComputeProcess& p) { return p.pid == 0 || p.pid == UINT32_MAX; });
}

Known<std::shared_ptr<Nvml>> open_nvml() {
  auto nvml = std::make_shared<LoadedNvml>();
  if (const std::string why = nvml->start(); !why.empty()) {
    return Known<std::shared_ptr<Nvml>>::unknown(why);
  }
  return Known<std::shared_ptr<Nvml>>::of(std::move(nvml));
}

}  // namespace prof

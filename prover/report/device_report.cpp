#include "prover/report/device_report.hpp"

#include "prover/errors.hpp"

namespace stwo {

std::string_view execution_mode_name(ExecutionMode mode) {
  switch (mode) {
    case ExecutionMode::kGraphs: return "graphs";
    case ExecutionMode::kDirect: return "direct";
  }
  return "unknown";
}

std::string_view module_kind_name(ModuleKind kind) {
  switch (kind) {
    case ModuleKind::kCubin: return "cubin";
    case ModuleKind::kPtx: return "ptx";
    case ModuleKind::kNvrtc: return "nvrtc";
  }
  return "unknown";
}

std::string_view load_phase_name(LoadPhase phase) {
  switch (phase) {
    case LoadPhase::kInit: return "init";
    case LoadPhase::kPrepare: return "prepare";
    case LoadPhase::kRequest: return "request";
  }
  return "unknown";
}

std::string_view resource_lifetime_name(ResourceLifetime lifetime) {
  switch (lifetime) {
    case ResourceLifetime::kPersistent: return "persistent";
    case ResourceLifetime::kShape: return "shape";
    case ResourceLifetime::kRequest: return "request";
    case ResourceLifetime::kTerminalHost: return "terminal_host";
  }
  return "unknown";
}

uint64_t DeviceMemory::accounted_peak() const {
  uint64_t sum = 0;
  bool overflow = false;
  for (const uint64_t part :
       {persistent_runtime.value_or(0), modules.value_or(0), tables, cached_shapes,
        graphs.value_or(0), arena_high_water, staging, terminal_host}) {
    overflow |= __builtin_add_overflow(sum, part, &sum);
  }
  STWO_CHECK(!overflow, "the parts of the device memory overflow");
  return sum;
}

}  // namespace stwo

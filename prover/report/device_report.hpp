// What a device backend tells about itself and about each request, for the product report. Plain
// values without any CUDA type: the backend fills them, the report and the command line read them.
//
// Fields have the names of the report's keys (docs/formats.md). Times are nanoseconds, sizes bytes,
// digests lowercase SHA-256 hex.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prover/stage.hpp"

namespace stwo {

/// Nanoseconds per stage, summed over the stage's occurrences in one request.
struct StageTimes {
  std::array<uint64_t, kStageCount> ns{};
  uint64_t total() const {
    uint64_t sum = 0;
    for (const uint64_t v : ns) sum += v;
    return sum;
  }
};

/// How a proof is submitted: as instantiated graphs, or launch by launch.
enum class ExecutionMode : uint8_t { kGraphs, kDirect };
std::string_view execution_mode_name(ExecutionMode mode);

struct DeviceDescription {
  std::string uuid;
  std::string name;
  uint32_t ordinal = 0;
  uint32_t sm_major = 0;
  uint32_t sm_minor = 0;
  std::string driver_version;
  /// Unset: the program talks to the driver only and links no runtime.
  std::optional<std::string> runtime_version;
  /// Toolkit whose compiler made the kernels.
  std::string toolkit_version;
  uint64_t global_memory_bytes = 0;
  uint32_t multiprocessors = 0;
  bool mig = false;
};

/// cubin: compiled ahead of time for exactly this SM. ptx, nvrtc: compiled at run time.
enum class ModuleKind : uint8_t { kCubin, kPtx, kNvrtc };
std::string_view module_kind_name(ModuleKind kind);
enum class LoadPhase : uint8_t { kInit, kPrepare, kRequest };
std::string_view load_phase_name(LoadPhase phase);

struct ModuleRecord {
  std::string name;
  std::string sha256;
  uint64_t bytes = 0;
  ModuleKind kind = ModuleKind::kCubin;
  uint32_t sm = 0;  ///< 90 for 9.0
  uint64_t load_ordinal = 0;
  LoadPhase loaded_in = LoadPhase::kInit;
};

/// The store of kernels compiled ahead of time, over the life of the process.
struct AotRecord {
  uint64_t entries = 0;
  uint64_t loads = 0;
  uint64_t cache_hits = 0;
  uint64_t misses = 0;
  uint64_t launches = 0;
  uint64_t launch_failures = 0;
  std::string build_identity_sha256;
  /// Was everything but an authenticated cubin for this SM refused?
  bool strict = true;
};

/// The compiled plan of the requests' shape.
struct PlanRecord {
  std::string program_sha256;   ///< of the proof program
  std::string semantic_sha256;  ///< equal for programs whose proofs must be equal
  std::string cache_key_sha256;
  uint64_t schedule_version = 0;
  bool compiled_once = false;
  uint64_t reuse_count = 0;
  uint64_t node_count = 0;
  uint64_t predicted_minimum_launches = 0;
  uint64_t transcript_barriers = 0;
  uint64_t request_bytes = 0;
  uint64_t persistent_bytes = 0;
};

/// Counts of one request, from ingress to the end of proof assembly.
struct RequestCounters {
  uint64_t kernel_launches = 0;  ///< kernels that ran, in graphs too
  uint64_t graph_launches = 0;
  uint64_t graph_instantiations = 0;
  uint64_t graph_updates = 0;
  uint64_t graph_cache_hits = 0;    ///< launches of a graph that was there already
  uint64_t graph_cache_misses = 0;  ///< launches whose graph had to be made first
  uint64_t graph_fallbacks = 0;
  uint64_t sync_calls = 0;           ///< calls that block the host: stream, event, whole device
  uint64_t device_synchronizes = 0;  ///< those of them that wait for the whole device
  uint64_t module_loads = 0;
  uint64_t jit_compiles = 0;  ///< module loads that were not a cubin
  uint64_t allocations = 0;   ///< device and pinned memory
  uint64_t frees = 0;
  uint64_t cpu_fallback_attempts = 0;
  uint64_t cpu_fallbacks_completed = 0;
  bool operator==(const RequestCounters&) const = default;
};

/// Copies of one request. Every copy to the host is terminal (it carries the proof) or
/// intermediate: d2h_operations is the sum of both.
struct RequestTransfers {
  uint64_t h2d_operations = 0;
  uint64_t h2d_bytes = 0;
  uint64_t d2h_operations = 0;
  uint64_t d2h_bytes = 0;
  uint64_t d2d_operations = 0;
  uint64_t d2d_bytes = 0;
  uint64_t terminal_d2h_operations = 0;
  uint64_t terminal_d2h_bytes = 0;
  uint64_t intermediate_d2h_operations = 0;
};

/// What one request did on the device.
struct RequestTelemetry {
  /// From the event before the first operation to the one after the last.
  uint64_t device_elapsed = 0;
  /// Sums to device_elapsed exactly: stages meet at shared events, so a stage is the difference of
  /// two rounded distances from the first event, never a rounded distance of its own.
  StageTimes stages;
  RequestCounters counters;
  RequestTransfers transfers;
};

/// One pass of a stage over global memory, as the plan predicts it for one request.
struct PassRecord {
  Stage stage = Stage::kIngress;
  std::string pass;
  std::string kernel;
  uint64_t input_bytes = 0;
  uint64_t output_bytes = 0;
  uint64_t reread_bytes = 0;
  uint64_t temporary_bytes = 0;
  uint64_t launches = 0;
  uint64_t barriers = 0;
  /// Who keeps the output alive; unset: nothing reads it after the pass's own stage.
  std::optional<std::string> retained_consumer;
};

/// Memory at its peak. Unset: nobody tells that share.
struct DeviceMemory {
  std::optional<uint64_t> persistent_runtime;  ///< context and what the driver adds
  std::optional<uint64_t> modules;
  uint64_t tables = 0;
  uint64_t cached_shapes = 0;  ///< held for prepared shapes, besides tables and arena
  std::optional<uint64_t> graphs;
  uint64_t arena_high_water = 0;
  uint64_t staging = 0;
  uint64_t terminal_host = 0;
  /// What the allocator holds and how much of that is handed out; they contain the arena, and are
  /// no parts of the sum below.
  uint64_t pool_reserved = 0;
  uint64_t pool_used = 0;
  uint64_t in_flight_multiplier = 1;
  uint64_t capacity = 0;
  bool admitted = true;

  /// Sum of the parts. Throws ContractError if it overflows.
  uint64_t accounted_peak() const;
};

enum class ResourceLifetime : uint8_t { kPersistent, kShape, kRequest, kTerminalHost };
std::string_view resource_lifetime_name(ResourceLifetime lifetime);

/// One resource: who makes it, who uses it last, who frees it when.
struct ResourceRecord {
  std::string name;
  uint64_t bytes = 0;
  uint64_t alignment = 0;
  ResourceLifetime lifetime = ResourceLifetime::kRequest;
  std::string producer;
  std::string last_consumer;
  bool is_mutable = false;
  bool alias_eligible = false;
  std::string owner;
  std::string unwind_path;  ///< who frees it after an error
  std::optional<std::string> stream;
  std::optional<std::string> last_use_event;
  std::optional<std::string> cache_key;
  std::optional<std::string> eviction_rule;
};

/// Everything about device, code and plan that does not belong to a single request.
struct DeviceReport {
  ExecutionMode execution_mode = ExecutionMode::kDirect;
  std::string nvcc_version;
  std::string cuda_arch_list;
  DeviceDescription device;
  std::vector<ModuleRecord> modules;  ///< in load order
  AotRecord aot;
  PlanRecord plan;
  std::vector<PassRecord> pass_ledger;
  DeviceMemory memory;
  /// May be empty: not every run lists its resources.
  std::vector<ResourceRecord> resources;
};

/// Implemented by a backend that has a device; found through Backend::telemetry().
class DeviceTelemetry {
 public:
  virtual ~DeviceTelemetry() = default;
  /// About the last finished request. May wait for the device; called outside measured times.
  virtual RequestTelemetry last_request() const = 0;
  /// About the process so far and the shape prepared last.
  virtual DeviceReport device_report() const = 0;
};

}  // namespace stwo

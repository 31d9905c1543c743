// Rows of a trace capture as C++ structs, one per table of ledger/schema/trace/0001_trace.sql,
// which documents the fields. Times are nanoseconds of CLOCK_REALTIME and above 0, or absent;
// names are ids from TraceWriter::intern.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ledger {

using StrId = int64_t;

/// Both or neither.
struct TimeSpan {
  std::optional<int64_t> start_ns{};
  std::optional<int64_t> end_ns{};
};

struct DeviceRow {
  int64_t id = 0;
  std::string uuid{};
  std::string name{};
  int64_t sm_major = 0;
  int64_t sm_minor = 0;
  int64_t multiprocessors = 0;
  int64_t memory_bytes = 0;
  std::optional<int64_t> memory_bytes_per_s{};
  std::optional<int64_t> l2_bytes{};
  std::optional<int64_t> constant_bytes{};
  std::optional<int64_t> clock_khz{};
  std::optional<int64_t> warp_threads{};
  std::optional<int64_t> copy_engines{};
  std::optional<int64_t> max_threads_per_block{};
  std::optional<int64_t> max_registers_per_block{};
  std::optional<int64_t> max_shared_per_block_bytes{};
  std::optional<int64_t> max_warps_per_sm{};
  std::optional<int64_t> max_blocks_per_sm{};
  std::optional<int64_t> max_registers_per_sm{};
  std::optional<int64_t> max_shared_per_sm_bytes{};
  std::optional<bool> ecc{};
  std::optional<bool> mig{};
  bool operator==(const DeviceRow&) const = default;
};

struct ContextRow {
  int64_t pid = 0;
  int64_t id = 0;
  int64_t device_id = 0;
  std::optional<int64_t> null_stream_id{};
  std::optional<int64_t> parent_id{};
  std::optional<bool> green{};
  bool operator==(const ContextRow&) const = default;
};

struct StreamRow {
  int64_t pid = 0;
  int64_t context_id = 0;
  int64_t id = 0;
  std::optional<int64_t> priority{};
  std::optional<int64_t> flag{};
  bool operator==(const StreamRow&) const = default;
};

enum class ApiDomain : uint8_t { kRuntime = 0, kDriver = 1, kInternalLaunch = 2 };

struct ApiRow {
  int64_t pid = 0;
  int64_t tid = 0;
  ApiDomain domain = ApiDomain::kRuntime;
  int64_t cbid = 0;
  StrId name = 0;
  TimeSpan time{};
  int64_t corr = 0;
  int64_t rc = 0;
};

/// Column gpu_op.kind.
enum class OpKind : uint8_t { kKernel = 1, kCopy = 2, kFill = 3, kGraph = 4 };

/// What operations of every kind have. The kind follows from the method that takes the row.
struct GpuOpRow {
  int64_t pid = 0;
  int64_t device_id = 0;
  int64_t context_id = 0;
  int64_t stream_id = 0;
  TimeSpan time{};
  int64_t corr = 0;
  std::optional<int64_t> graph_id{};
  std::optional<uint64_t> graph_node_id{};
};

struct KernelRow {
  StrId name = 0;
  StrId short_name = 0;
  std::optional<StrId> mangled_name{};
  int64_t grid_x = 0, grid_y = 0, grid_z = 0;
  int64_t block_x = 0, block_y = 0, block_z = 0;
  std::optional<int64_t> cluster_x{}, cluster_y{}, cluster_z{};
  int64_t static_shared_bytes = 0;
  int64_t dynamic_shared_bytes = 0;
  std::optional<int64_t> shared_executed_bytes{};
  int64_t registers = 0;
  int64_t local_per_thread_bytes = 0;
  int64_t local_total_bytes = 0;
  int64_t grid_number = 0;
  std::optional<int64_t> launch_type{};
  std::optional<int64_t> cache_config{};
  std::optional<int64_t> queued_ns{};
  std::optional<int64_t> submitted_ns{};
};

/// Memory kinds are CUPTI's numbers, 0 to 7.
struct CopyRow {
  int64_t copy_kind = 0;
  int64_t src_kind = 0;
  int64_t dst_kind = 0;
  bool async = false;
  int64_t bytes = 0;
  std::optional<int64_t> src_device_id{};
  std::optional<int64_t> src_context_id{};
  std::optional<int64_t> dst_device_id{};
  std::optional<int64_t> dst_context_id{};
  std::optional<int64_t> copy_count{};
};

struct FillRow {
  int64_t value = 0;
  int64_t bytes = 0;
  int64_t mem_kind = 0;
};

struct SyncRow {
  int64_t pid = 0;
  int64_t type = 0;
  int64_t context_id = 0;
  std::optional<int64_t> stream_id{};
  std::optional<int64_t> event_id{};
  std::optional<uint64_t> event_sync_id{};
  TimeSpan time{};
  int64_t corr = 0;
  std::optional<int64_t> rc{};
};

struct CudaEventRow {
  int64_t pid = 0;
  int64_t device_id = 0;
  int64_t context_id = 0;
  int64_t stream_id = 0;
  int64_t event_id = 0;
  std::optional<uint64_t> event_sync_id{};
  std::optional<int64_t> device_ts_ns{};
  int64_t corr = 0;
};

enum class MemOp : uint8_t { kAllocation = 1, kRelease = 2 };

struct MemEventRow {
  int64_t pid = 0;
  MemOp op = MemOp::kAllocation;
  int64_t mem_kind = 0;
  int64_t device_id = 0;
  int64_t context_id = 0;
  std::optional<int64_t> stream_id{};
  uint64_t address = 0;
  int64_t bytes = 0;
  std::optional<int64_t> ts_ns{};
  std::optional<uint64_t> pc{};
  std::optional<StrId> name{};
  int64_t corr = 0;
  bool async = false;
  std::optional<int64_t> pool_type{};
  std::optional<uint64_t> pool_address{};
  std::optional<uint64_t> pool_release_threshold_bytes{};
  std::optional<int64_t> pool_bytes{};
  std::optional<int64_t> pool_used_bytes{};
  std::optional<int64_t> pool_pid{};
};

enum class PoolOp : uint8_t { kCreated = 1, kDestroyed = 2, kTrimmed = 3 };

struct PoolEventRow {
  int64_t pid = 0;
  PoolOp op = PoolOp::kCreated;
  int64_t pool_type = 0;
  int64_t device_id = 0;
  uint64_t address = 0;
  std::optional<int64_t> size_bytes{};
  std::optional<int64_t> used_bytes{};
  std::optional<uint64_t> release_threshold_bytes{};
  std::optional<int64_t> min_keep_bytes{};
  std::optional<int64_t> ts_ns{};
  int64_t corr = 0;
};

enum class ResKind : uint8_t {
  kContextCreated,
  kContextDestroyed,
  kStreamCreated,
  kStreamDestroyed,
  kModuleLoaded,
  kModuleUnloaded,
  kGraphCreated,
  kGraphDestroyed,
  kGraphExecCreated,
  kGraphExecDestroyed,
};

struct ResEventRow {
  int64_t pid = 0;
  ResKind kind = ResKind::kContextCreated;
  int64_t ts_ns = 0;
  std::optional<int64_t> context_id{};
  std::optional<int64_t> object{};
  std::optional<int64_t> bytes{};
  std::optional<std::string> sha256{};
};

struct JitRow {
  int64_t pid = 0;
  int64_t tid = 0;
  int64_t entry_type = 0;
  int64_t operation = 0;
  int64_t device_id = 0;
  TimeSpan time{};
  int64_t corr = 0;
  uint64_t operation_corr = 0;
  std::optional<int64_t> cache_bytes{};
  std::optional<StrId> cache_path{};
};

struct OverheadRow {
  int64_t pid = 0;
  std::optional<int64_t> tid{};
  int64_t kind = 0;
  std::optional<int64_t> context_id{};
  std::optional<int64_t> stream_id{};
  TimeSpan time{};
  std::optional<int64_t> corr{};
};

enum class NvtxType : uint8_t { kMark = 1, kPushPop = 2, kStartEnd = 3 };

struct NvtxRow {
  int64_t pid = 0;
  NvtxType type = NvtxType::kPushPop;
  std::optional<StrId> domain{};
  std::optional<StrId> name{};
  int64_t tid = 0;
  std::optional<int64_t> end_tid{};
  int64_t start_ns = 0;
  std::optional<int64_t> end_ns{};  ///< absent: a mark, or never closed
  std::optional<uint64_t> payload{};
  int64_t category = 0;
  int64_t flags = 0;
};

struct ClockPairRow {
  int64_t realtime_ns = 0;
  int64_t monotonic_raw_ns = 0;
};

struct QuarantineRow {
  std::string reason{};
  std::vector<uint8_t> bytes{};
};

struct LossRow {
  std::string kind{};
  int64_t count = 0;
  bool operator==(const LossRow&) const = default;
};

enum class WindowRole : uint8_t { kFirst, kWarmup, kSteady };

struct WindowRow {
  int64_t request = 0;
  WindowRole role = WindowRole::kSteady;
  int64_t begin_ns = 0;
  int64_t resident_begin_ns = 0;
  int64_t resident_end_ns = 0;
  int64_t end_ns = 0;
  bool operator==(const WindowRow&) const = default;
};

}  // namespace ledger

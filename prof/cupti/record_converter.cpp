#include "prof/cupti/record_converter.hpp"

#include <cstdlib>
#include <exception>
#include <string>

namespace prof {
namespace {

using ledger::TimeSpan;

/// Fields of packed records can't be bound to references: everything goes by value.
int64_t number(uint64_t value) { return static_cast<int64_t>(value); }

/// CUPTI's 0 stands for a time that it could not collect. A record that was flushed by force while
/// its work was going on has a start alone: it is not timed either.
TimeSpan span(uint64_t start, uint64_t end) {
  if (start == 0 || end == 0) return {};
  return {number(start), number(end)};
}

std::optional<int64_t> unless(uint64_t value, uint64_t absent) {
  if (value == absent) return std::nullopt;
  return number(value);
}
std::optional<int64_t> unless_zero(uint64_t value) { return unless(value, 0); }
std::optional<uint64_t> bits_unless_zero(uint64_t value) {
  if (value == 0) return std::nullopt;
  return value;
}

std::optional<ledger::StrId> name_or_none(LogWriter& log, const char* name) {
  if (name == nullptr) return std::nullopt;
  return log.intern(name);
}

/// "GPU-" and the UUID with its dashes.
std::string uuid_text(const char* bytes, const char* prefix) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out = prefix;
  for (size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    const auto byte = static_cast<unsigned char>(bytes[i]);
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

ledger::GpuOpRow operation(int64_t pid, uint32_t device, uint32_t context, uint32_t stream,
                           TimeSpan time, uint32_t corr, uint32_t graph, uint64_t node) {
  ledger::GpuOpRow op;
  op.pid = pid;
  op.device_id = device;
  op.context_id = context;
  op.stream_id = stream;
  op.time = time;
  op.corr = corr;
  op.graph_id = unless_zero(graph);
  op.graph_node_id = bits_unless_zero(node);
  return op;
}

/// Payload as the 64 bits that our conventions put there. Floating-point payloads are none of ours.
std::optional<uint64_t> payload_of(CUpti_MetricValueKind kind, CUpti_MetricValue value) {
  if (kind == CUPTI_METRIC_VALUE_KIND_UINT64) return value.metricValueUint64;
  if (kind == CUPTI_METRIC_VALUE_KIND_INT64) return static_cast<uint64_t>(value.metricValueInt64);
  return std::nullopt;
}

template <class Record>
const Record& as(const CUpti_Activity* record) {
  return *reinterpret_cast<const Record*>(record);
}

}  // namespace

void RecordConverter::convert(CUpti_Activity* record) noexcept {
  try {
    switch (record->kind) {
      case CUPTI_ACTIVITY_KIND_KERNEL:
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return kernel(as<CUpti_ActivityKernel10>(record));
      case CUPTI_ACTIVITY_KIND_MEMCPY: return copy(as<CUpti_ActivityMemcpy6>(record));
      case CUPTI_ACTIVITY_KIND_MEMCPY2: return peer_copy(as<CUpti_ActivityMemcpyPtoP4>(record));
      case CUPTI_ACTIVITY_KIND_MEMSET: return fill(as<CUpti_ActivityMemset4>(record));
      case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: return graph(as<CUpti_ActivityGraphTrace2>(record));
      case CUPTI_ACTIVITY_KIND_RUNTIME:
      case CUPTI_ACTIVITY_KIND_DRIVER:
      case CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API: return api(as<CUpti_ActivityAPI>(record));
      case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        return sync(as<CUpti_ActivitySynchronization2>(record));
      case CUPTI_ACTIVITY_KIND_CUDA_EVENT: return cuda_event(as<CUpti_ActivityCudaEvent2>(record));
      case CUPTI_ACTIVITY_KIND_MEMORY2: return memory(as<CUpti_ActivityMemory4>(record));
      case CUPTI_ACTIVITY_KIND_MEMORY_POOL: return pool(as<CUpti_ActivityMemoryPool3>(record));
      case CUPTI_ACTIVITY_KIND_CONTEXT: return context(as<CUpti_ActivityContext3>(record));
      case CUPTI_ACTIVITY_KIND_STREAM: return stream(as<CUpti_ActivityStream>(record));
      case CUPTI_ACTIVITY_KIND_DEVICE: return device(as<CUpti_ActivityDevice5>(record));
      case CUPTI_ACTIVITY_KIND_JIT: return jit(as<CUpti_ActivityJit2>(record));
      case CUPTI_ACTIVITY_KIND_OVERHEAD: return overhead(as<CUpti_ActivityOverhead3>(record));
      case CUPTI_ACTIVITY_KIND_MARKER: return marker(as<CUpti_ActivityMarker2>(record));
      case CUPTI_ACTIVITY_KIND_MARKER_DATA:
        return marker_data(as<CUpti_ActivityMarkerData2>(record));
      case CUPTI_ACTIVITY_KIND_NAME: return name(as<CUpti_ActivityName>(record));
      default: return unknown(*record);
    }
  } catch (const std::exception&) {
    // No memory for a text: the record is lost, and counted in the log.
    log_.write(ledger::LossRow{"recorder_memory", 1});
  }
}

void RecordConverter::kernel(const CUpti_ActivityKernel10& r) {
  KernelOp out;
  out.op = operation(pid_, r.deviceId, r.contextId, r.streamId, span(r.start, r.end),
                     r.correlationId, r.graphId, r.graphNodeId);
  ledger::KernelRow& k = out.kernel;
  // Demangling is left to whoever reads the log.
  k.name = log_.intern(r.name == nullptr ? "" : r.name);
  k.short_name = k.name;
  k.mangled_name = k.name;
  k.grid_x = r.gridX;
  k.grid_y = r.gridY;
  k.grid_z = r.gridZ;
  k.block_x = r.blockX;
  k.block_y = r.blockY;
  k.block_z = r.blockZ;
  if (r.clusterX != 0) {
    k.cluster_x = r.clusterX;
    k.cluster_y = r.clusterY;
    k.cluster_z = r.clusterZ;
  }
  k.static_shared_bytes = r.staticSharedMemory;
  k.dynamic_shared_bytes = r.dynamicSharedMemory;
  k.shared_executed_bytes = r.sharedMemoryExecuted;
  k.registers = r.registersPerThread;
  k.local_per_thread_bytes = r.localMemoryPerThread;
  k.local_total_bytes = number(r.localMemoryTotal_v2);
  k.grid_number = r.gridId;
  k.launch_type = r.launchType;
  k.cache_config = r.cacheConfig.config.executed;
  k.queued_ns = unless_zero(r.queued);
  k.submitted_ns = unless_zero(r.submitted);
  log_.write(out);
}

/// What copies within a device or with the host and copies between devices share.
template <class Record>
CopyOp RecordConverter::copy_of(const Record& r) const {
  CopyOp out;
  out.op = operation(pid_, r.deviceId, r.contextId, r.streamId, span(r.start, r.end),
                     r.correlationId, r.graphId, r.graphNodeId);
  out.copy.copy_kind = r.copyKind;
  out.copy.src_kind = r.srcKind;
  out.copy.dst_kind = r.dstKind;
  out.copy.async = (r.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0;
  out.copy.bytes = number(r.bytes);
  return out;
}

void RecordConverter::copy(const CUpti_ActivityMemcpy6& r) {
  CopyOp out = copy_of(r);
  out.copy.copy_count = unless_zero(r.copyCount);
  log_.write(out);
}

void RecordConverter::peer_copy(const CUpti_ActivityMemcpyPtoP4& r) {
  CopyOp out = copy_of(r);
  out.copy.src_device_id = r.srcDeviceId;
  out.copy.src_context_id = r.srcContextId;
  out.copy.dst_device_id = r.dstDeviceId;
  out.copy.dst_context_id = r.dstContextId;
  log_.write(out);
}

void RecordConverter::fill(const CUpti_ActivityMemset4& r) {
  FillOp out;
  out.op = operation(pid_, r.deviceId, r.contextId, r.streamId, span(r.start, r.end),
                     r.correlationId, r.graphId, r.graphNodeId);
  out.fill.value = r.value;
  out.fill.bytes = number(r.bytes);
  out.fill.mem_kind = r.memoryKind;
  log_.write(out);
}

void RecordConverter::graph(const CUpti_ActivityGraphTrace2& r) {
  GraphOp out;
  out.op = operation(pid_, r.deviceId, r.contextId, r.streamId, span(r.start, r.end),
                     r.correlationId, r.graphId, 0);
  out.op.graph_id = r.graphId;
  log_.write(out);
}

void RecordConverter::api(const CUpti_ActivityAPI& r) {
  ledger::ApiRow out;
  out.pid = r.processId;
  out.tid = r.threadId;
  out.cbid = r.cbid;
  const char* name = nullptr;
  if (r.kind == CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API) {
    out.domain = ledger::ApiDomain::kInternalLaunch;
    name = "internal_launch";
  } else {
    const bool driver = r.kind == CUPTI_ACTIVITY_KIND_DRIVER;
    out.domain = driver ? ledger::ApiDomain::kDriver : ledger::ApiDomain::kRuntime;
    name = names_(driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API, r.cbid);
  }
  out.name = name != nullptr ? log_.intern(name) : log_.intern("cbid " + std::to_string(r.cbid));
  out.time = span(r.start, r.end);
  out.corr = r.correlationId;
  out.rc = r.returnValue;
  log_.write(out);
}

void RecordConverter::sync(const CUpti_ActivitySynchronization2& r) {
  ledger::SyncRow out;
  out.pid = pid_;
  out.type = r.type;
  out.context_id = r.contextId;
  out.stream_id = unless(r.streamId, CUPTI_SYNCHRONIZATION_INVALID_VALUE);
  out.event_id = unless(r.cudaEventId, CUPTI_SYNCHRONIZATION_INVALID_VALUE);
  out.event_sync_id = bits_unless_zero(r.cudaEventSyncId);
  out.time = span(r.start, r.end);
  out.corr = r.correlationId;
  out.rc = r.returnValue;
  log_.write(out);
}

void RecordConverter::cuda_event(const CUpti_ActivityCudaEvent2& r) {
  ledger::CudaEventRow out;
  out.pid = pid_;
  out.device_id = r.deviceId;
  out.context_id = r.contextId;
  out.stream_id = r.streamId;
  out.event_id = r.eventId;
  out.event_sync_id = bits_unless_zero(r.cudaEventSyncId);
  out.device_ts_ns = unless_zero(r.deviceTimestamp);
  out.corr = r.correlationId;
  log_.write(out);
}

void RecordConverter::memory(const CUpti_ActivityMemory4& r) {
  if (r.memoryOperationType != CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION &&
      r.memoryOperationType != CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE) {
    return unknown(as<CUpti_Activity>(reinterpret_cast<const CUpti_Activity*>(&r)));
  }
  ledger::MemEventRow out;
  out.pid = r.processId;
  out.op = static_cast<ledger::MemOp>(r.memoryOperationType);
  out.mem_kind = r.memoryKind;
  out.device_id = r.deviceId;
  out.context_id = r.contextId;
  out.stream_id = unless(r.streamId, CUPTI_INVALID_STREAM_ID);
  out.address = r.address;
  out.bytes = number(r.bytes);
  out.ts_ns = unless_zero(r.timestamp);
  out.pc = bits_unless_zero(r.PC);
  out.name = name_or_none(log_, r.name);
  out.corr = r.correlationId;
  out.async = r.isAsync != 0;
  const auto& pool = r.memoryPoolConfig;
  if (pool.memoryPoolType != CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID) {
    out.pool_type = pool.memoryPoolType;
    out.pool_address = pool.address;
    if (pool.memoryPoolType == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL) {
      out.pool_release_threshold_bytes = pool.releaseThreshold;
      out.pool_bytes = number(pool.pool.size);
      out.pool_used_bytes = number(pool.utilizedSize);
    } else {
      out.pool_pid = number(pool.pool.processId);
    }
  }
  log_.write(out);
}

void RecordConverter::pool(const CUpti_ActivityMemoryPool3& r) {
  const auto op = r.memoryPoolOperationType;
  if (op != CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED &&
      op != CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED &&
      op != CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED) {
    return unknown(as<CUpti_Activity>(reinterpret_cast<const CUpti_Activity*>(&r)));
  }
  ledger::PoolEventRow out;
  out.pid = r.processId;
  out.op = static_cast<ledger::PoolOp>(op);
  out.pool_type = r.memoryPoolType;
  out.device_id = r.deviceId;
  out.address = r.address;
  if (r.memoryPoolType == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL) {
    out.size_bytes = number(r.size);
    out.used_bytes = number(r.utilizedSize);
    out.release_threshold_bytes = r.releaseThreshold;
  }
  if (op == CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED) {
    out.min_keep_bytes = number(r.minBytesToKeep);
  }
  out.ts_ns = unless_zero(r.timestamp);
  out.corr = r.correlationId;
  log_.write(out);
}

void RecordConverter::context(const CUpti_ActivityContext3& r) {
  ledger::ContextRow out;
  out.pid = pid_;
  out.id = r.contextId;
  out.device_id = r.deviceId;
  out.null_stream_id = r.nullStreamId;
  out.parent_id = unless_zero(r.parentContextId);
  out.green = r.isGreenContext != 0;
  log_.write(out);
}

void RecordConverter::stream(const CUpti_ActivityStream& r) {
  ledger::StreamRow out;
  out.pid = pid_;
  out.context_id = r.contextId;
  out.id = r.streamId;
  // A small signed number in an unsigned field: priorities above the default are negative.
  out.priority = static_cast<int32_t>(r.priority);
  if (r.flag != CUPTI_ACTIVITY_STREAM_CREATE_FLAG_UNKNOWN) out.flag = r.flag;
  log_.write(out);
}

void RecordConverter::device(const CUpti_ActivityDevice5& r) {
  ledger::DeviceRow out;
  out.id = r.id;
  const CUuuid uuid = r.uuid;
  out.uuid = uuid_text(uuid.bytes, "GPU-");
  out.name = r.name == nullptr ? "" : r.name;
  out.sm_major = r.computeCapabilityMajor;
  out.sm_minor = r.computeCapabilityMinor;
  out.multiprocessors = r.numMultiprocessors;
  out.memory_bytes = number(r.globalMemorySize);
  if (r.globalMemoryBandwidth != 0) out.memory_bytes_per_s = number(r.globalMemoryBandwidth * 1000);
  out.l2_bytes = unless_zero(r.l2CacheSize);
  out.constant_bytes = unless_zero(r.constantMemorySize);
  out.clock_khz = unless_zero(r.coreClockRate);
  out.warp_threads = unless_zero(r.numThreadsPerWarp);
  out.copy_engines = unless_zero(r.numMemcpyEngines);
  out.max_threads_per_block = unless_zero(r.maxThreadsPerBlock);
  out.max_registers_per_block = unless_zero(r.maxRegistersPerBlock);
  out.max_shared_per_block_bytes = unless_zero(r.maxSharedMemoryPerBlock);
  out.max_warps_per_sm = unless_zero(r.maxWarpsPerMultiprocessor);
  out.max_blocks_per_sm = unless_zero(r.maxBlocksPerMultiprocessor);
  out.max_registers_per_sm = unless_zero(r.maxRegistersPerMultiprocessor);
  out.max_shared_per_sm_bytes = unless_zero(r.maxSharedMemoryPerMultiprocessor);
  out.ecc = r.eccEnabled != 0;
  out.mig = r.isMigEnabled != 0;
  log_.write(out);
  // CUPTI hands the name over.
  std::free(const_cast<char*>(r.name));
}

void RecordConverter::jit(const CUpti_ActivityJit2& r) {
  ledger::JitRow out;
  out.pid = r.processId;
  out.tid = r.threadId;
  out.entry_type = r.jitEntryType;
  out.operation = r.jitOperationType;
  out.device_id = r.deviceId;
  out.time = span(r.start, r.end);
  out.corr = r.correlationId;
  out.operation_corr = r.jitOperationCorrelationId;
  out.cache_bytes = unless_zero(r.cacheSize);
  out.cache_path = name_or_none(log_, r.cachePath);
  log_.write(out);
}

void RecordConverter::overhead(const CUpti_ActivityOverhead3& r) {
  ledger::OverheadRow out;
  out.pid = pid_;
  out.kind = r.overheadKind;
  if (r.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD) out.tid = r.objectId.pt.threadId;
  if (r.objectKind == CUPTI_ACTIVITY_OBJECT_CONTEXT ||
      r.objectKind == CUPTI_ACTIVITY_OBJECT_STREAM) {
    out.context_id = r.objectId.dcs.contextId;
  }
  if (r.objectKind == CUPTI_ACTIVITY_OBJECT_STREAM) out.stream_id = r.objectId.dcs.streamId;
  out.time = span(r.start, r.end);
  out.corr = unless_zero(r.correlationId);
  log_.write(out);
  // CUPTI hands this over as well.
  std::free(r.overheadData);
}

void RecordConverter::marker(const CUpti_ActivityMarker2& r) {
  MarkerRow out;
  out.pid = pid_;
  out.id = r.id;
  out.flags = r.flags;
  out.phase = MarkerRow::Phase::kInstant;
  if ((r.flags & CUPTI_ACTIVITY_FLAG_MARKER_START) != 0) out.phase = MarkerRow::Phase::kStart;
  if ((r.flags & CUPTI_ACTIVITY_FLAG_MARKER_END) != 0) out.phase = MarkerRow::Phase::kEnd;
  out.ts_ns = unless_zero(r.timestamp);
  if (r.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD) out.tid = r.objectId.pt.threadId;
  out.domain = name_or_none(log_, r.domain);
  out.name = name_or_none(log_, r.name);
  log_.write(out);
}

void RecordConverter::marker_data(const CUpti_ActivityMarkerData2& r) {
  MarkerDataRow out;
  out.id = r.id;
  out.category = r.category;
  out.payload = payload_of(r.payloadKind, r.payload);
  log_.write(out);
}

void RecordConverter::name(const CUpti_ActivityName& r) {
  if (r.name == nullptr) return;
  LogFact fact;
  switch (r.objectKind) {
    case CUPTI_ACTIVITY_OBJECT_THREAD:
      fact.key =
          "thread_name." + std::to_string(pid_) + "." + std::to_string(r.objectId.pt.threadId);
      break;
    case CUPTI_ACTIVITY_OBJECT_CONTEXT:
      fact.key =
          "context_name." + std::to_string(pid_) + "." + std::to_string(r.objectId.dcs.contextId);
      break;
    case CUPTI_ACTIVITY_OBJECT_STREAM:
      fact.key = "stream_name." + std::to_string(pid_) + "." +
                 std::to_string(r.objectId.dcs.contextId) + "." +
                 std::to_string(r.objectId.dcs.streamId);
      break;
    default: return;
  }
  fact.value = r.name;
  log_.write(fact);
}

void RecordConverter::unknown(const CUpti_Activity& r) {
  UnknownRow out;
  out.kind = r.kind;
  log_.write(out);
}

}  // namespace prof

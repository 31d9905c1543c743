// Every kind of record, field by field.
#include "prof/cupti/record_converter.hpp"

#include <cstdlib>
#include <cstring>

#include "prof/log/log_fields.hpp"
#include "tests/prof/log/sample_logs.hpp"

namespace prof {
namespace {

using test::sample_header;
using test::TemporaryFolder;

constexpr uint64_t kStart = 1'700'000'000'000'000'000;

const char* names(CUpti_CallbackDomain domain, uint32_t cbid) {
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API && cbid == 307) return "cuLaunchKernel";
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && cbid == 211) return "cudaLaunchKernel_v7000";
  return nullptr;
}

/// What a converter writes for one record.
class Converted {
 public:
  template <class Record>
  explicit Converted(Record record) {
    LogWriter log;
    EXPECT_TRUE(log.open(folder_.file(""), sample_header()));
    RecordConverter converter(log, 7, names);
    converter.convert(reinterpret_cast<CUpti_Activity*>(&record));
    log.finish(0);
    LogReader reader(log.path());
    while (const auto item = reader.next()) {
      if (item->kind == FrameKind::kString) {
        const auto row = decode<StringRow>(item->payload);
        names_[row->id] = row->text;
      } else if (item->kind != FrameKind::kTrailer) {
        kind_ = item->kind;
        payload_.assign(item->payload.begin(), item->payload.end());
        ++frames_;
      }
    }
  }
  template <class Row>
  Row row() const {
    EXPECT_EQ(frames_, 1);
    EXPECT_EQ(kind_, kKindOf<Row>);
    const auto decoded = decode<Row>(payload_);
    EXPECT_TRUE(decoded);
    return decoded.value_or(Row{});
  }
  std::string name(ledger::StrId id) const { return names_.at(id); }
  int frames() const { return frames_; }

 private:
  TemporaryFolder folder_;
  std::map<int64_t, std::string> names_;
  FrameKind kind_ = FrameKind::kUnknown;
  std::vector<uint8_t> payload_;
  int frames_ = 0;
};

CUpti_ActivityKernel10 kernel_record() {
  CUpti_ActivityKernel10 r{};
  r.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  r.cacheConfig.config.executed = 2;
  r.registersPerThread = 40;
  r.start = kStart + 10;
  r.end = kStart + 20;
  r.deviceId = 1;
  r.contextId = 2;
  r.streamId = 3;
  r.gridX = 4;
  r.gridY = 5;
  r.gridZ = 6;
  r.blockX = 7;
  r.blockY = 8;
  r.blockZ = 9;
  r.staticSharedMemory = 10;
  r.dynamicSharedMemory = 11;
  r.localMemoryPerThread = 12;
  r.localMemoryTotal = 1;
  r.localMemoryTotal_v2 = uint64_t{1} << 33;
  r.correlationId = 13;
  r.gridId = 14;
  r.name = "_Z3addPi";
  r.launchType = 1;
  r.sharedMemoryExecuted = 15;
  return r;
}

TEST(RecordConverter, Kernel) {
  const Converted out(kernel_record());
  const auto row = out.row<KernelOp>();
  EXPECT_EQ(row.op.pid, 7);
  EXPECT_EQ(row.op.device_id, 1);
  EXPECT_EQ(row.op.context_id, 2);
  EXPECT_EQ(row.op.stream_id, 3);
  EXPECT_EQ(row.op.time.start_ns, kStart + 10);
  EXPECT_EQ(row.op.time.end_ns, kStart + 20);
  EXPECT_EQ(row.op.corr, 13);
  EXPECT_EQ(row.op.graph_id, std::nullopt);
  EXPECT_EQ(row.op.graph_node_id, std::nullopt);
  const auto& k = row.kernel;
  EXPECT_EQ(out.name(k.name), "_Z3addPi");
  EXPECT_EQ(k.mangled_name, k.name);
  EXPECT_EQ((std::array{k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z}),
            (std::array<int64_t, 6>{4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(k.cluster_x, std::nullopt);
  EXPECT_EQ(k.static_shared_bytes, 10);
  EXPECT_EQ(k.dynamic_shared_bytes, 11);
  EXPECT_EQ(k.shared_executed_bytes, 15);
  EXPECT_EQ(k.registers, 40);
  EXPECT_EQ(k.local_per_thread_bytes, 12);
  EXPECT_EQ(k.local_total_bytes, int64_t{1} << 33);
  EXPECT_EQ(k.grid_number, 14);
  EXPECT_EQ(k.launch_type, 1);
  EXPECT_EQ(k.cache_config, 2);
  EXPECT_EQ(k.queued_ns, std::nullopt);
  EXPECT_EQ(k.submitted_ns, std::nullopt);
}

TEST(RecordConverter, KernelOfAGraphWithClustersAndLatency) {
  auto r = kernel_record();
  r.graphId = 21;
  r.graphNodeId = uint64_t{1} << 63;
  r.clusterX = 2;
  r.clusterY = 1;
  r.clusterZ = 1;
  r.queued = kStart + 1;
  r.submitted = kStart + 2;
  const auto row = Converted(r).row<KernelOp>();
  EXPECT_EQ(row.op.graph_id, 21);
  EXPECT_EQ(row.op.graph_node_id, uint64_t{1} << 63);
  EXPECT_EQ(row.kernel.cluster_x, 2);
  EXPECT_EQ(row.kernel.queued_ns, kStart + 1);
  EXPECT_EQ(row.kernel.submitted_ns, kStart + 2);
}

TEST(RecordConverter, WorkWithoutTimesIsUntimed) {
  for (const bool started : {false, true}) {
    auto r = kernel_record();
    r.start = started ? kStart : 0;
    r.end = 0;
    const auto row = Converted(r).row<KernelOp>();
    EXPECT_EQ(row.op.time.start_ns, std::nullopt);
    EXPECT_EQ(row.op.time.end_ns, std::nullopt);
  }
}

TEST(RecordConverter, Copies) {
  CUpti_ActivityMemcpy6 r{};
  r.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  r.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
  r.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  r.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
  r.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
  r.bytes = 4096;
  r.start = kStart;
  r.end = kStart + 5;
  r.correlationId = 9;
  r.runtimeCorrelationId = 8;
  const auto row = Converted(r).row<CopyOp>();
  EXPECT_EQ(row.copy.copy_kind, 2);
  EXPECT_EQ(row.copy.src_kind, 3);
  EXPECT_EQ(row.copy.dst_kind, 2);
  EXPECT_TRUE(row.copy.async);
  EXPECT_EQ(row.copy.bytes, 4096);
  EXPECT_EQ(row.copy.copy_count, std::nullopt);
  EXPECT_EQ(row.copy.src_device_id, std::nullopt);
  EXPECT_EQ(row.op.corr, 9);

  CUpti_ActivityMemcpyPtoP4 p{};
  p.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  p.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  p.srcDeviceId = 1;
  p.srcContextId = 2;
  p.dstDeviceId = 3;
  p.dstContextId = 4;
  const auto peer = Converted(p).row<CopyOp>();
  EXPECT_EQ(peer.copy.copy_kind, 10);
  EXPECT_EQ(peer.copy.src_device_id, 1);
  EXPECT_EQ(peer.copy.src_context_id, 2);
  EXPECT_EQ(peer.copy.dst_device_id, 3);
  EXPECT_EQ(peer.copy.dst_context_id, 4);
  EXPECT_FALSE(peer.copy.async);
}

TEST(RecordConverter, FillAndGraph) {
  CUpti_ActivityMemset4 r{};
  r.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  r.value = 0xff;
  r.bytes = 64;
  r.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  const auto fill = Converted(r).row<FillOp>();
  EXPECT_EQ(fill.fill.value, 255);
  EXPECT_EQ(fill.fill.bytes, 64);
  EXPECT_EQ(fill.fill.mem_kind, 3);

  CUpti_ActivityGraphTrace2 g{};
  g.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  g.graphId = 5;
  g.correlationId = 6;
  g.start = kStart;
  g.end = kStart + 1;
  const auto graph = Converted(g).row<GraphOp>();
  EXPECT_EQ(graph.op.graph_id, 5);
  EXPECT_EQ(graph.op.corr, 6);
  EXPECT_EQ(graph.op.time.end_ns, kStart + 1);
}

TEST(RecordConverter, Calls) {
  struct Case {
    CUpti_ActivityKind kind;
    uint32_t cbid;
    ledger::ApiDomain domain;
    const char* name;
  };
  const Case cases[] = {
      {CUPTI_ACTIVITY_KIND_DRIVER, 307, ledger::ApiDomain::kDriver, "cuLaunchKernel"},
      {CUPTI_ACTIVITY_KIND_DRIVER, 9999, ledger::ApiDomain::kDriver, "cbid 9999"},
      {CUPTI_ACTIVITY_KIND_RUNTIME, 211, ledger::ApiDomain::kRuntime, "cudaLaunchKernel_v7000"},
      {CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API, 1, ledger::ApiDomain::kInternalLaunch,
       "internal_launch"}};
  for (const Case& c : cases) {
    CUpti_ActivityAPI r{};
    r.kind = c.kind;
    r.cbid = c.cbid;
    r.start = kStart;
    r.end = kStart + 3;
    r.processId = 70;
    r.threadId = 71;
    r.correlationId = 72;
    r.returnValue = 700;
    const Converted out(r);
    const auto row = out.row<ledger::ApiRow>();
    EXPECT_EQ(row.domain, c.domain);
    EXPECT_EQ(out.name(row.name), c.name);
    EXPECT_EQ(row.pid, 70);
    EXPECT_EQ(row.tid, 71);
    EXPECT_EQ(row.corr, 72);
    EXPECT_EQ(row.rc, 700);
    EXPECT_EQ(row.time.end_ns, kStart + 3);
  }
}

TEST(RecordConverter, WaitsAndEvents) {
  CUpti_ActivitySynchronization2 r{};
  r.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  r.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
  r.contextId = 1;
  r.streamId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  r.cudaEventId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  r.start = kStart;
  r.end = kStart + 9;
  const auto context = Converted(r).row<ledger::SyncRow>();
  EXPECT_EQ(context.type, 4);
  EXPECT_EQ(context.stream_id, std::nullopt);
  EXPECT_EQ(context.event_id, std::nullopt);
  EXPECT_EQ(context.event_sync_id, std::nullopt);
  r.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
  r.streamId = 13;
  r.cudaEventId = 14;
  r.cudaEventSyncId = 15;
  const auto wait = Converted(r).row<ledger::SyncRow>();
  EXPECT_EQ(wait.stream_id, 13);
  EXPECT_EQ(wait.event_id, 14);
  EXPECT_EQ(wait.event_sync_id, 15U);

  CUpti_ActivityCudaEvent2 e{};
  e.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
  e.eventId = 14;
  e.cudaEventSyncId = 15;
  e.streamId = 12;
  const auto event = Converted(e).row<ledger::CudaEventRow>();
  EXPECT_EQ(event.event_id, 14);
  EXPECT_EQ(event.event_sync_id, 15U);
  EXPECT_EQ(event.stream_id, 12);
  EXPECT_EQ(event.device_ts_ns, std::nullopt);
}

TEST(RecordConverter, Memory) {
  CUpti_ActivityMemory4 r{};
  r.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  r.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  r.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  r.address = 0xffff000000000000;
  r.bytes = 512;
  r.timestamp = kStart;
  r.processId = 70;
  r.streamId = CUPTI_INVALID_STREAM_ID;
  const auto plain = Converted(r).row<ledger::MemEventRow>();
  EXPECT_EQ(plain.op, ledger::MemOp::kAllocation);
  EXPECT_EQ(plain.address, 0xffff000000000000U);
  EXPECT_EQ(plain.stream_id, std::nullopt);
  EXPECT_EQ(plain.name, std::nullopt);
  EXPECT_EQ(plain.pc, std::nullopt);
  EXPECT_EQ(plain.pool_type, std::nullopt);
  EXPECT_EQ(plain.pool_bytes, std::nullopt);

  r.streamId = 13;
  r.isAsync = 1;
  r.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  r.memoryPoolConfig.address = 3;
  r.memoryPoolConfig.releaseThreshold = UINT64_MAX;
  r.memoryPoolConfig.pool.size = 5;
  r.memoryPoolConfig.utilizedSize = 6;
  const auto pooled = Converted(r).row<ledger::MemEventRow>();
  EXPECT_TRUE(pooled.async);
  EXPECT_EQ(pooled.pool_type, 1);
  EXPECT_EQ(pooled.pool_release_threshold_bytes, UINT64_MAX);
  EXPECT_EQ(pooled.pool_bytes, 5);
  EXPECT_EQ(pooled.pool_used_bytes, 6);
  EXPECT_EQ(pooled.pool_pid, std::nullopt);

  r.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED;
  const auto imported = Converted(r).row<ledger::MemEventRow>();
  EXPECT_EQ(imported.pool_pid, 5);
  EXPECT_EQ(imported.pool_bytes, std::nullopt);

  r.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_INVALID;
  EXPECT_EQ(Converted(r).row<UnknownRow>().kind, CUPTI_ACTIVITY_KIND_MEMORY2);
}

TEST(RecordConverter, Pool) {
  CUpti_ActivityMemoryPool3 r{};
  r.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL;
  r.memoryPoolOperationType = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED;
  r.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  r.minBytesToKeep = 1;
  r.size = 2;
  r.utilizedSize = 3;
  r.releaseThreshold = 4;
  r.timestamp = kStart;
  const auto row = Converted(r).row<ledger::PoolEventRow>();
  EXPECT_EQ(row.op, ledger::PoolOp::kTrimmed);
  EXPECT_EQ(row.min_keep_bytes, 1);
  EXPECT_EQ(row.size_bytes, 2);
  EXPECT_EQ(row.used_bytes, 3);
  EXPECT_EQ(row.release_threshold_bytes, 4U);
  EXPECT_EQ(row.ts_ns, kStart);
}

TEST(RecordConverter, ContextStreamAndDevice) {
  CUpti_ActivityContext3 c{};
  c.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  c.contextId = 1;
  c.deviceId = 2;
  c.nullStreamId = 7;
  const auto context = Converted(c).row<ledger::ContextRow>();
  EXPECT_EQ(context.id, 1);
  EXPECT_EQ(context.null_stream_id, 7);
  EXPECT_EQ(context.parent_id, std::nullopt);
  EXPECT_EQ(context.green, false);

  CUpti_ActivityStream s{};
  s.kind = CUPTI_ACTIVITY_KIND_STREAM;
  s.contextId = 1;
  s.streamId = 13;
  s.priority = static_cast<uint32_t>(-5);
  s.flag = CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING;
  const auto stream = Converted(s).row<ledger::StreamRow>();
  EXPECT_EQ(stream.priority, -5);
  EXPECT_EQ(stream.flag, 2);

  CUpti_ActivityDevice5 d{};
  d.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  d.globalMemoryBandwidth = 4'800'000'000;
  d.globalMemorySize = 143;
  d.computeCapabilityMajor = 9;
  d.numMultiprocessors = 132;
  d.eccEnabled = 1;
  CUuuid uuid{};
  for (int i = 0; i < 16; ++i) uuid.bytes[i] = static_cast<char>(i * 17);
  d.uuid = uuid;
  // The converter frees it.
  d.name = ::strdup("NVIDIA H200");
  const auto device = Converted(d).row<ledger::DeviceRow>();
  EXPECT_EQ(device.uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff");
  EXPECT_EQ(device.name, "NVIDIA H200");
  EXPECT_EQ(device.memory_bytes_per_s, 4'800'000'000'000);
  EXPECT_EQ(device.multiprocessors, 132);
  EXPECT_EQ(device.ecc, true);
  EXPECT_EQ(device.l2_bytes, std::nullopt);
}

TEST(RecordConverter, JitAndOverhead) {
  CUpti_ActivityJit2 j{};
  j.kind = CUPTI_ACTIVITY_KIND_JIT;
  j.jitEntryType = CUPTI_ACTIVITY_JIT_ENTRY_PTX_TO_CUBIN;
  j.jitOperationType = CUPTI_ACTIVITY_JIT_OPERATION_COMPILE;
  j.start = kStart;
  j.end = kStart + 1;
  j.processId = 70;
  j.threadId = 71;
  j.cachePath = "/c";
  const Converted out(j);
  const auto jit = out.row<ledger::JitRow>();
  EXPECT_EQ(jit.operation, 3);
  EXPECT_EQ(jit.tid, 71);
  EXPECT_EQ(out.name(*jit.cache_path), "/c");
  EXPECT_EQ(jit.cache_bytes, std::nullopt);

  CUpti_ActivityOverhead3 o{};
  o.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  o.overheadKind = CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING;
  o.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  o.objectId.pt.threadId = 71;
  o.start = kStart;
  o.end = kStart + 1;
  o.overheadData = std::malloc(12);  // the converter frees it
  const auto overhead = Converted(o).row<ledger::OverheadRow>();
  EXPECT_EQ(overhead.kind, 5 << 16);
  EXPECT_EQ(overhead.tid, 71);
  EXPECT_EQ(overhead.context_id, std::nullopt);
  EXPECT_EQ(overhead.corr, std::nullopt);
}

TEST(RecordConverter, Markers) {
  CUpti_ActivityMarker2 m{};
  m.kind = CUPTI_ACTIVITY_KIND_MARKER;
  m.flags = CUPTI_ACTIVITY_FLAG_MARKER_START;
  m.timestamp = kStart;
  m.id = 5;
  m.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  m.objectId.pt.threadId = 71;
  m.name = "pow";
  m.domain = "stwo.prover";
  const Converted out(m);
  const auto start = out.row<MarkerRow>();
  EXPECT_EQ(start.phase, MarkerRow::Phase::kStart);
  EXPECT_EQ(start.id, 5);
  EXPECT_EQ(start.tid, 71);
  EXPECT_EQ(out.name(*start.name), "pow");
  EXPECT_EQ(out.name(*start.domain), "stwo.prover");
  m.flags = CUPTI_ACTIVITY_FLAG_MARKER_END;
  m.name = nullptr;
  m.domain = nullptr;
  const auto end = Converted(m).row<MarkerRow>();
  EXPECT_EQ(end.phase, MarkerRow::Phase::kEnd);
  EXPECT_EQ(end.name, std::nullopt);
  m.flags = CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS;
  m.timestamp = 0;
  const auto instant = Converted(m).row<MarkerRow>();
  EXPECT_EQ(instant.phase, MarkerRow::Phase::kInstant);
  EXPECT_EQ(instant.ts_ns, std::nullopt);

  CUpti_ActivityMarkerData2 d{};
  d.kind = CUPTI_ACTIVITY_KIND_MARKER_DATA;
  d.id = 5;
  d.category = 2;
  d.payloadKind = CUPTI_METRIC_VALUE_KIND_UINT64;
  d.payload.metricValueUint64 = 0;
  const auto data = Converted(d).row<MarkerDataRow>();
  EXPECT_EQ(data.category, 2);
  EXPECT_EQ(data.payload, 0U);
  d.payloadKind = CUPTI_METRIC_VALUE_KIND_DOUBLE;
  EXPECT_EQ(Converted(d).row<MarkerDataRow>().payload, std::nullopt);
}

TEST(RecordConverter, NamesAndWhatItDoesNotKnow) {
  CUpti_ActivityName n{};
  n.kind = CUPTI_ACTIVITY_KIND_NAME;
  n.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  n.objectId.pt.threadId = 71;
  n.name = "submit";
  EXPECT_EQ(Converted(n).row<LogFact>(), (LogFact{"thread_name.7.71", "submit"}));
  CUpti_ActivityAPI r{};
  r.kind = CUPTI_ACTIVITY_KIND_PCIE;
  EXPECT_EQ(Converted(r).row<UnknownRow>().kind, CUPTI_ACTIVITY_KIND_PCIE);
}

}  // namespace
}  // namespace prof

// The views that look like an export of Nsight Systems, column by column.
#include "ledger/trace/trace_schema.hpp"
#include "tests/ledger/trace/trace_files.hpp"

namespace ledger {
namespace {

using test::at;
using test::kSessionStart;
using test::Rows;
using test::rows_of;
using test::span;

/// Columns of export schema 3.16.1, in its order.
struct NsysTable {
  const char* name;
  const char* columns;
};
constexpr NsysTable kNsysTables[] = {
    {"StringIds", "id,value"},
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     "start,end,deviceId,contextId,greenContextId,streamId,correlationId,globalPid,demangledName,"
     "shortName,mangledName,launchType,cacheConfig,registersPerThread,gridX,gridY,gridZ,blockX,"
     "blockY,blockZ,staticSharedMemory,dynamicSharedMemory,localMemoryPerThread,localMemoryTotal,"
     "gridId,sharedMemoryExecuted,graphNodeId,sharedMemoryLimitConfig"},
    {"CUPTI_ACTIVITY_KIND_MEMCPY",
     "start,end,deviceId,contextId,greenContextId,streamId,correlationId,globalPid,bytes,copyKind,"
     "deprecatedSrcId,srcKind,dstKind,srcDeviceId,srcContextId,dstDeviceId,dstContextId,"
     "migrationCause,graphNodeId,virtualAddress"},
    {"CUPTI_ACTIVITY_KIND_MEMSET",
     "start,end,deviceId,contextId,greenContextId,streamId,correlationId,globalPid,value,bytes,"
     "graphNodeId,memKind"},
    {"CUPTI_ACTIVITY_KIND_RUNTIME",
     "start,end,eventClass,globalTid,correlationId,nameId,returnValue,callchainId"},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
     "start,end,deviceId,contextId,greenContextId,streamId,correlationId,globalPid,syncType,"
     "eventId"},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
     "start,end,deviceId,contextId,greenContextId,streamId,correlationId,globalPid,graphId,"
     "graphExecId"},
    {"CUPTI_ACTIVITY_KIND_OVERHEAD",
     "start,end,eventClass,globalTid,correlationId,nameId,overheadType"},
    {"CUDA_GPU_MEMORY_USAGE_EVENTS",
     "start,globalPid,deviceId,contextId,address,pc,bytes,memKind,memoryOperationType,name,"
     "correlationId,streamId,localMemoryPoolAddress,localMemoryPoolReleaseThreshold,"
     "localMemoryPoolSize,localMemoryPoolUtilizedSize,importedMemoryPoolAddress,"
     "importedMemoryPoolProcessId"},
    {"NVTX_EVENTS",
     "start,end,eventType,rangeId,category,color,text,globalTid,endGlobalTid,textId,domainId,"
     "uint64Value,int64Value,doubleValue,uint32Value,int32Value,floatValue,jsonTextId,jsonText,"
     "binaryData"},
    {"PROCESSES", "globalPid,pid,name"},
    {"TARGET_INFO_GPU",
     "vmId,id,name,busLocation,isDiscrete,l2CacheSize,totalMemory,memoryBandwidth,clockRate,"
     "smCount,pwGpuId,uuid,luid,chipName,cuDevice,ctxswDevPath,ctrlDevPath,revision,nodeMask,"
     "constantMemory,maxIPC,maxRegistersPerBlock,maxShmemPerBlock,maxShmemPerBlockOptin,"
     "maxShmemPerSm,maxRegistersPerSm,threadsPerWarp,asyncEngines,maxWarpsPerSm,maxBlocksPerSm,"
     "maxThreadsPerBlock,maxBlockDimX,maxBlockDimY,maxBlockDimZ,maxGridDimX,maxGridDimY,"
     "maxGridDimZ,computeMajor,computeMinor,smMajor,smMinor"},
    {"TARGET_INFO_SESSION_START_TIME", "utcEpochNs,utcTime,localTime"},
    {"META_DATA_EXPORT", "name,value"},
    {"ENUM_CUDA_MEMCPY_OPER", "id,name,label"},
    {"ENUM_CUDA_MEM_KIND", "id,name,label"},
    {"ENUM_CUDA_DEV_MEM_EVENT_OPER", "id,name,label"},
    {"ENUM_CUPTI_SYNC_TYPE", "id,name,label"},
};

class NsysViews : public testing::Test {
 protected:
  std::unique_ptr<Database> open(const std::function<void(TraceWriter&)>& fill) {
    test::write_trace(folder_.file("t.sptrace"), fill);
    return open_trace(folder_.file("t.sptrace"));
  }

 private:
  test::TemporaryFolder folder_;
};

constexpr int64_t kPid = 7;
const std::string kGlobalPid = std::to_string(kPid << 24);

TEST_F(NsysViews, NamesAndColumnsAreThoseOfTheExport) {
  const auto trace = open([](TraceWriter&) {});
  for (const NsysTable& table : kNsysTables) {
    std::string columns;
    for (const std::string& name :
         rows_of(*trace, std::string("SELECT name FROM pragma_table_info('") + table.name + "')")) {
      columns += (columns.empty() ? "" : ",") + name;
    }
    EXPECT_EQ(columns, table.columns) << table.name;
  }
  // Nothing else passes for a part of an export.
  EXPECT_EQ(rows_of(*trace,
                    "SELECT COUNT(*) FROM sqlite_master WHERE type = 'view' AND name <> "
                    "'busy_island'"),
            (Rows{std::to_string(std::size(kNsysTables))}));
}

TEST_F(NsysViews, Kernels) {
  const auto trace = open([](TraceWriter& w) {
    GpuOpRow op{.pid = kPid,
                .device_id = 1,
                .context_id = 2,
                .stream_id = 3,
                .time = span(100, 250),
                .corr = 44,
                .graph_id = 5,
                .graph_node_id = 6};
    const StrId full = w.intern("void leaf<true>(int)");
    const KernelRow kernel{.name = full,
                           .short_name = w.intern("leaf"),
                           .mangled_name = w.intern("_Z4leafILb1EEvi"),
                           .grid_x = 11,
                           .grid_y = 12,
                           .grid_z = 13,
                           .block_x = 14,
                           .block_y = 15,
                           .block_z = 16,
                           .static_shared_bytes = 17,
                           .dynamic_shared_bytes = 18,
                           .shared_executed_bytes = 19,
                           .registers = 20,
                           .local_per_thread_bytes = 21,
                           .local_total_bytes = 22,
                           .grid_number = 23,
                           .launch_type = 0,
                           .cache_config = 1};
    w.kernel(op, kernel);
    op.time = {};  // not timed: not in the export
    w.kernel(op, kernel);
  });
  EXPECT_EQ(rows_of(*trace, "SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL"),
            (Rows{"100|250|1|2|-|3|44|" + kGlobalPid +
                  "|1|2|3|0|1|20|11|12|13|14|15|16|17|18|21|22|23|19|6|-"}));
  EXPECT_EQ(rows_of(*trace,
                    "SELECT s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = "
                    "k.shortName"),
            (Rows{"leaf"}));
}

TEST_F(NsysViews, CopiesAndFills) {
  const auto trace = open([](TraceWriter& w) {
    GpuOpRow op{.pid = kPid,
                .device_id = 1,
                .context_id = 2,
                .stream_id = 3,
                .time = span(100, 250),
                .corr = 44,
                .graph_id = {},
                .graph_node_id = {}};
    w.copy(op, {.copy_kind = 2,
                .src_kind = 3,
                .dst_kind = 1,
                .async = true,
                .bytes = 64,
                .src_device_id = {},
                .src_context_id = {},
                .dst_device_id = {},
                .dst_context_id = {},
                .copy_count = 1});
    w.copy(op, {.copy_kind = 10,
                .src_kind = 0,
                .dst_kind = 7,
                .async = true,
                .bytes = 65,
                .src_device_id = 4,
                .src_context_id = 5,
                .dst_device_id = 6,
                .dst_context_id = 7,
                .copy_count = 1});
    w.fill(op, {.value = 255, .bytes = 66, .mem_kind = 2});
    op.time = {};
    w.copy(op, {});
    w.fill(op, {});
  });
  EXPECT_EQ(rows_of(*trace, "SELECT * FROM CUPTI_ACTIVITY_KIND_MEMCPY"),
            (Rows{"100|250|1|2|-|3|44|" + kGlobalPid + "|64|2|-|2|0|-|-|-|-|-|-|-",
                  "100|250|1|2|-|3|44|" + kGlobalPid + "|65|10|-|7|6|4|5|6|7|-|-|-"}));
  EXPECT_EQ(rows_of(*trace, "SELECT * FROM CUPTI_ACTIVITY_KIND_MEMSET"),
            (Rows{"100|250|1|2|-|3|44|" + kGlobalPid + "|255|66|-|1"}));
  EXPECT_EQ(rows_of(*trace,
                    "SELECT o.label, s.label, d.label FROM CUPTI_ACTIVITY_KIND_MEMCPY m JOIN "
                    "ENUM_CUDA_MEMCPY_OPER o ON o.id = m.copyKind JOIN ENUM_CUDA_MEM_KIND s ON "
                    "s.id = m.srcKind JOIN ENUM_CUDA_MEM_KIND d ON d.id = m.dstKind"),
            (Rows{"Device-to-Host|Device|Pageable", "Peer-to-Peer|Unknown|Managed Static"}));
}

TEST_F(NsysViews, MemoryKindsAreTranslated) {
  const auto trace = open([](TraceWriter& w) {
    for (int64_t kind = 0; kind < 8; ++kind) {
      w.mem_event({.pid = kPid, .mem_kind = kind, .address = 1, .ts_ns = at(kind)});
    }
  });
  // CUPTI's unknown, pageable, pinned, device, array, managed and the two static ones.
  EXPECT_EQ(rows_of(*trace,
                    "SELECT memKind, k.label FROM CUDA_GPU_MEMORY_USAGE_EVENTS e JOIN "
                    "ENUM_CUDA_MEM_KIND k ON k.id = e.memKind ORDER BY start"),
            (Rows{"7|Unknown", "0|Pageable", "1|Pinned", "2|Device", "3|Array", "4|Managed",
                  "5|Device Static", "6|Managed Static"}));
}

TEST_F(NsysViews, Memory) {
  const auto trace = open([](TraceWriter& w) {
    w.mem_event({.pid = kPid,
                 .op = MemOp::kAllocation,
                 .mem_kind = 3,
                 .device_id = 1,
                 .context_id = 2,
                 .stream_id = 3,
                 .address = 4096,
                 .bytes = 64,
                 .ts_ns = at(5),
                 .pc = 6,
                 .name = w.intern("table"),
                 .corr = 7,
                 .async = true,
                 .pool_type = 1,
                 .pool_address = 8,
                 .pool_release_threshold_bytes = 9,
                 .pool_bytes = 10,
                 .pool_used_bytes = 11,
                 .pool_pid = {}});
    w.mem_event({.pid = kPid,
                 .op = MemOp::kRelease,
                 .mem_kind = 2,
                 .device_id = 1,
                 .context_id = 2,
                 .stream_id = {},
                 .address = 4096,
                 .bytes = 64,
                 .ts_ns = at(6),
                 .pc = {},
                 .name = {},
                 .corr = 7,
                 .async = false,
                 .pool_type = 2,
                 .pool_address = 8,
                 .pool_release_threshold_bytes = {},
                 .pool_bytes = {},
                 .pool_used_bytes = {},
                 .pool_pid = 12});
    w.mem_event({.pid = kPid, .address = 1, .ts_ns = {}});
  });
  EXPECT_EQ(rows_of(*trace, "SELECT * FROM CUDA_GPU_MEMORY_USAGE_EVENTS ORDER BY start"),
            (Rows{"5|" + kGlobalPid + "|1|2|4096|6|64|2|0|table|7|3|8|9|10|11|-|-",
                  "6|" + kGlobalPid + "|1|2|4096|-|64|1|1|-|7|-|-|-|-|-|8|12"}));
  EXPECT_EQ(rows_of(*trace,
                    "SELECT o.label FROM CUDA_GPU_MEMORY_USAGE_EVENTS e JOIN "
                    "ENUM_CUDA_DEV_MEM_EVENT_OPER o ON o.id = e.memoryOperationType ORDER BY "
                    "start"),
            (Rows{"Allocation", "Deallocation"}));
}

TEST_F(NsysViews, RuntimeHoldsRuntimeAndDriverCalls) {
  const auto trace = open([](TraceWriter& w) {
    ApiRow row{.pid = kPid,
               .tid = 4'000'000,
               .domain = ApiDomain::kRuntime,
               .cbid = 211,
               .name = w.intern("cudaLaunchKernel_v7000"),
               .time = span(1, 4),
               .corr = 44,
               .rc = 0};
    w.api(row);
    row.domain = ApiDomain::kDriver;
    row.name = w.intern("cuLaunchKernel");
    row.time = span(2, 3);
    row.rc = 700;
    w.api(row);
    row.domain = ApiDomain::kInternalLaunch;
    w.api(row);
    row.domain = ApiDomain::kDriver;
    row.time = {};
    w.api(row);
  });
  const std::string global_tid = std::to_string((kPid << 24) + 4'000'000);
  EXPECT_EQ(rows_of(*trace, "SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME"),
            (Rows{"1|4|0|" + global_tid + "|44|1|0|-", "2|3|1|" + global_tid + "|44|2|700|-"}));
}

/// The join that scripts for exports make.
TEST_F(NsysViews, KernelsJoinTheirCallsByMaskedThread) {
  const auto trace = open([](TraceWriter& w) {
    for (int64_t pid : {kPid, kPid + 1}) {
      w.api({.pid = pid,
             .tid = 100 + pid,
             .domain = ApiDomain::kDriver,
             .cbid = 1,
             .name = w.intern("call of " + std::to_string(pid)),
             .time = span(1, 2),
             .corr = 44,
             .rc = 0});
      w.kernel({.pid = pid,
                .device_id = 0,
                .context_id = 1,
                .stream_id = 1,
                .time = span(5 + pid, 6 + pid),
                .corr = 44,
                .graph_id = {},
                .graph_node_id = {}},
               {.name = w.intern("kernel of " + std::to_string(pid)), .short_name = 1});
    }
  });
  EXPECT_EQ(rows_of(*trace,
                    "SELECT n.value, c.value FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN "
                    "CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId AND "
                    "(r.globalTid & 0xFFFFFFFFFF000000) = k.globalPid JOIN StringIds n ON n.id = "
                    "k.demangledName JOIN StringIds c ON c.id = r.nameId ORDER BY k.start"),
            (Rows{"kernel of 7|call of 7", "kernel of 8|call of 8"}));
}

TEST_F(NsysViews, SynchronizationsAndGraphsAndOverhead) {
  const auto trace = open([](TraceWriter& w) {
    w.context({.pid = kPid, .id = 2, .device_id = 1});
    w.sync({.pid = kPid,
            .type = 3,
            .context_id = 2,
            .stream_id = 13,
            .event_id = {},
            .event_sync_id = {},
            .time = span(1, 2),
            .corr = 5,
            .rc = 0});
    w.sync({.pid = kPid,
            .type = 1,
            .context_id = 2,
            .stream_id = {},
            .event_id = 9,
            .event_sync_id = {},
            .time = span(3, 4),
            .corr = 6,
            .rc = 0});
    w.sync({.pid = kPid,
            .type = 4,
            .context_id = 99,
            .stream_id = {},
            .event_id = {},
            .event_sync_id = {},
            .time = span(5, 6),
            .corr = 7,
            .rc = 0});
    w.sync({.pid = kPid, .type = 4, .context_id = 2});
    GpuOpRow op{.pid = kPid,
                .device_id = 1,
                .context_id = 2,
                .stream_id = 3,
                .time = span(100, 250),
                .corr = 44,
                .graph_id = 5,
                .graph_node_id = {}};
    w.graph(op);
    op.time = {};
    w.graph(op);
    for (int64_t kind : {0, 1, 1 << 16, 4 << 16, 6 << 16}) {
      w.overhead({.pid = kPid,
                  .tid = 8,
                  .kind = kind,
                  .context_id = {},
                  .stream_id = {},
                  .time = span(1, 2),
                  .corr = {}});
    }
    w.overhead({.pid = kPid,
                .tid = {},
                .kind = 1,
                .context_id = {},
                .stream_id = {},
                .time = span(1, 3),
                .corr = 5});
    w.overhead({.pid = kPid, .kind = 1});
  });
  EXPECT_EQ(rows_of(*trace, "SELECT * FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"),
            (Rows{"1|2|1|2|-|13|5|" + kGlobalPid + "|3|4294967295",
                  "3|4|1|2|-|4294967295|6|" + kGlobalPid + "|1|9",
                  "5|6|-|99|-|4294967295|7|" + kGlobalPid + "|4|4294967295"}));
  EXPECT_EQ(rows_of(*trace,
                    "SELECT t.label FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION s JOIN "
                    "ENUM_CUPTI_SYNC_TYPE t ON t.id = s.syncType ORDER BY s.start"),
            (Rows{"Stream sync", "Event sync", "Context sync"}));
  EXPECT_EQ(rows_of(*trace, "SELECT * FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE"),
            (Rows{"100|250|1|2|-|3|44|" + kGlobalPid + "|5|5"}));
  const std::string global_tid = std::to_string((kPid << 24) + 8);
  EXPECT_EQ(rows_of(*trace, "SELECT * FROM CUPTI_ACTIVITY_KIND_OVERHEAD"),
            (Rows{"1|2|-|" + global_tid + "|-|-|1", "1|2|-|" + global_tid + "|-|-|2",
                  "1|2|-|" + global_tid + "|-|-|3", "1|2|-|" + global_tid + "|-|-|6",
                  "1|2|-|" + global_tid + "|-|-|8", "1|3|-|" + kGlobalPid + "|5|-|2"}));
}

TEST_F(NsysViews, Nvtx) {
  const auto trace = open([](TraceWriter& w) {
    const StrId domain = w.intern("stwo.prover");
    const StrId name = w.intern("oods");
    w.nvtx({.pid = kPid,
            .type = NvtxType::kPushPop,
            .domain = domain,
            .name = name,
            .tid = 8,
            .end_tid = {},
            .start_ns = at(1),
            .end_ns = at(5),
            .payload = 3,
            .category = 2,
            .flags = 0});
    w.nvtx({.pid = kPid,
            .type = NvtxType::kStartEnd,
            .domain = {},
            .name = {},
            .tid = 8,
            .end_tid = 9,
            .start_ns = at(2),
            .end_ns = {},
            .payload = {},
            .category = 0,
            .flags = 0});
    w.nvtx({.pid = kPid,
            .type = NvtxType::kMark,
            .domain = {},
            .name = name,
            .tid = 8,
            .end_tid = {},
            .start_ns = at(3),
            .end_ns = {},
            .payload = {},
            .category = 0,
            .flags = 0});
  });
  const std::string tid = std::to_string((kPid << 24) + 8);
  const std::string end_tid = std::to_string((kPid << 24) + 9);
  const std::string nulls = "|-|-|-|-|-|-|-|-";
  EXPECT_EQ(rows_of(*trace, "SELECT * FROM NVTX_EVENTS WHERE eventType <> 75"),
            (Rows{"1|5|59|-|2|-|-|" + tid + "|-|2|1|3" + nulls,
                  "2|-|60|-|-|-|-|" + tid + "|" + end_tid + "|-|0|-" + nulls,
                  "3|-|34|-|-|-|-|" + tid + "|-|2|0|-" + nulls}));
  // The names of domains are events too.
  EXPECT_EQ(rows_of(*trace, "SELECT * FROM NVTX_EVENTS WHERE eventType = 75"),
            (Rows{"0|-|75|-|-|-|stwo.prover|" + kGlobalPid + "|-|-|1|-" + nulls}));
}

TEST_F(NsysViews, ProcessesDevicesAndSession) {
  const auto trace = open([](TraceWriter& w) {
    w.meta("process_name.7", "stwo");
    test::write_call(w, 8, 1, span(1, 2));
    test::write_call(w, 9, 2, span(1, 2));
    test::write_kernel(w, "k", 1, span(1, 2));
    w.context({.pid = 12, .id = 1, .device_id = 0});
    w.fill({.pid = 9,
            .device_id = 0,
            .context_id = 1,
            .stream_id = 1,
            .time = span(1, 2),
            .corr = 1,
            .graph_id = {},
            .graph_node_id = {}},
           {});
    DeviceRow device;
    device.id = 0;
    device.uuid = "GPU-00112233-4455-6677-8899-aabbccddeeff";
    device.name = "NVIDIA H200";
    device.sm_major = 9;
    device.sm_minor = 1;
    device.multiprocessors = 132;
    device.memory_bytes = 150;
    device.memory_bytes_per_s = 151;
    device.l2_bytes = 152;
    device.constant_bytes = 153;
    device.clock_khz = 1'980'000;
    device.warp_threads = 32;
    device.copy_engines = 3;
    device.max_threads_per_block = 1024;
    device.max_registers_per_block = 154;
    device.max_shared_per_block_bytes = 155;
    device.max_warps_per_sm = 64;
    device.max_blocks_per_sm = 156;
    device.max_registers_per_sm = 157;
    device.max_shared_per_sm_bytes = 158;
    w.device(device);
  });
  EXPECT_EQ(rows_of(*trace, "SELECT * FROM PROCESSES ORDER BY pid"),
            (Rows{kGlobalPid + "|7|stwo", std::to_string(9 << 24) + "|9|-",
                  std::to_string(12 << 24) + "|12|-"}));
  EXPECT_EQ(rows_of(*trace, "SELECT * FROM TARGET_INFO_GPU"),
            (Rows{"0|0|NVIDIA H200|-|-|152|150|151|1980000000|132|-|"
                  "00112233-4455-6677-8899-aabbccddeeff|-|-|0|-|-|-|-|153|-|154|155|-|158|157|32|"
                  "3|64|156|1024|-|-|-|-|-|-|9|1|9|1"}));
  EXPECT_EQ(rows_of(*trace, "SELECT * FROM TARGET_INFO_SESSION_START_TIME"),
            (Rows{std::to_string(kSessionStart) + "|2023-11-14T22:13:20|-"}));
  EXPECT_EQ(rows_of(*trace, "SELECT * FROM META_DATA_EXPORT"),
            (Rows{"EXPORT_SCHEMA_VERSION|3.16.1", "EXPORT_SCHEMA_VERSION_MAJOR|3",
                  "EXPORT_SCHEMA_VERSION_MINOR|16", "EXPORT_SCHEMA_VERSION_MICRO|1",
                  "EXPORT_PRODUCT_NAME|stwo-prof", "EXPORT_PRODUCT_VERSION|0.1.0"}));
}

TEST_F(NsysViews, ProcessesOfAnEmptyCapture) {
  const auto trace = open([](TraceWriter&) {});
  EXPECT_TRUE(rows_of(*trace, "SELECT * FROM PROCESSES").empty());
}

}  // namespace
}  // namespace ledger

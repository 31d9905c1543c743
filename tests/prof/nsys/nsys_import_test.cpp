#include "prof/nsys/nsys_import.hpp"

#include <algorithm>

#include "ledger/trace/trace_summary.hpp"
#include "tests/prof/nsys/nsys_files.hpp"

namespace prof {
namespace {

using ledger::test::code_of;
using ledger::test::failure_of;
using ledger::test::Rows;
using ledger::test::rows_of;
using test::call;
using test::kBase;
using test::kernel;
using test::kernel_table;
using test::kGlobalPid;
using test::kGlobalTid;
using test::kRuntimeTable;

const std::string kGpid = std::to_string(kGlobalPid);
const std::string kGtid = std::to_string(kGlobalTid);

class NsysImport : public testing::Test {
 protected:
  /// Imports an export made of `sql`; the capture stays open.
  ledger::Database& import(const std::string& sql, const NsysImportOptions& how = test::options()) {
    const std::string name = "x" + std::to_string(++count_);
    result_ = import_nsys(exports_.make(name, sql), exports_.file(name + ".sptrace"), how);
    trace_ = ledger::open_trace(exports_.file(name + ".sptrace"));
    return *trace_;
  }
  std::string meta(const std::string& key) {
    const Rows rows = rows_of(*trace_, "SELECT value FROM meta WHERE key = '" + key + "'");
    return rows.empty() ? "-" : rows.at(0);
  }

  test::Exports exports_;
  NsysImported result_;
  std::unique_ptr<ledger::Database> trace_;

 private:
  int count_ = 0;
};

TEST_F(NsysImport, CallsAndKernels) {
  ledger::Database& trace = import(kBase + kRuntimeTable + call(10, 20, 5) +
                                   call(30, 35, 6, 10, 1) + kernel_table() + kernel(40, 90, 5));
  EXPECT_EQ(rows_of(trace,
                    "SELECT pid, tid, domain, cbid, (SELECT value FROM str WHERE id = name_id),"
                    " start_ns - 1700000000000000000, end_ns - 1700000000000000000, corr, rc"
                    " FROM api"),
            (Rows{"100|101|0|0|cudaLaunchKernel_v7000|10|20|5|0",
                  "100|101|1|0|cudaLaunchKernel_v7000|30|35|6|0"}));
  EXPECT_EQ(rows_of(trace,
                    "SELECT o.pid, o.device_id, o.context_id, o.stream_id, o.corr,"
                    " o.start_ns - 1700000000000000000, o.end_ns - o.start_ns, o.graph_node_id,"
                    " (SELECT value FROM str WHERE id = k.name_id),"
                    " (SELECT value FROM str WHERE id = k.short_id), k.mangled_id, k.grid_x,"
                    " k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z, k.static_shared_bytes,"
                    " k.dynamic_shared_bytes, k.registers, k.local_per_thread_bytes,"
                    " k.local_total_bytes, k.grid_number FROM gpu_op o JOIN kernel k ON"
                    " k.op_id = o.id"),
            (Rows{"100|0|1|7|5|40|50|-|void leaf<1>(int)|leaf|-|11|12|13|32|2|1|512|1024|40|16|"
                  "4096|77"}));
  // What no table lists is known from the operations.
  EXPECT_EQ(rows_of(trace, "SELECT pid, id, device_id, null_stream_id FROM context"),
            (Rows{"100|1|0|-"}));
  EXPECT_EQ(rows_of(trace, "SELECT pid, context_id, id FROM stream"), (Rows{"100|1|7"}));
  EXPECT_EQ(result_.rows.at("CUPTI_ACTIVITY_KIND_RUNTIME"), 2);
  EXPECT_EQ(result_.rows.at("CUPTI_ACTIVITY_KIND_KERNEL"), 1);
}

TEST_F(NsysImport, FactsAndWhatIsMissing) {
  NsysImportOptions how = test::options();
  how.facts = {{"driver_version", "580.1"}};
  how.windows = {{0, ledger::WindowRole::kSteady, 1, 2, 3, 4}};
  import(kBase + kRuntimeTable + kernel_table(), how);
  EXPECT_EQ(meta("tool"), "Nsight Systems");
  EXPECT_EQ(meta("tool_version"), "2025.3.2");
  EXPECT_EQ(meta("created_utc"), "2023-11-14T22:13:20.000Z");
  EXPECT_EQ(meta("session_start_ns"), "1700000000000000000");
  EXPECT_EQ(meta("nsys_export_schema"), "3.16.1");
  EXPECT_EQ(meta("imported_by"), "stwo-prof 0.1.0");
  EXPECT_EQ(meta("driver_version"), "580.1");
  EXPECT_EQ(meta("trailer"), "1");
  EXPECT_EQ(meta("missing_kinds"), "MEMCPY MEMORY MEMSET SYNCHRONIZATION");
  EXPECT_EQ(meta("kinds_not_exported"), "MODULE JIT MEMORY_POOL RESOURCES CUDA_EVENT");
  EXPECT_EQ(ledger::summarize_trace(*trace_).evidence, ledger::TraceEvidence::kIncomplete);
  EXPECT_EQ(ledger::summarize_trace(*trace_).windows.size(), 1U);

  // Everything was asked for: no table, nothing happened. Kernels and calls must be there.
  how.recorded_everything = true;
  import(kBase + kRuntimeTable + kernel_table(), how);
  EXPECT_EQ(meta("missing_kinds"), "-");
  EXPECT_EQ(ledger::summarize_trace(*trace_).evidence, ledger::TraceEvidence::kComplete);
  import(kBase, how);
  EXPECT_EQ(meta("missing_kinds"), "KERNEL RUNTIME");
  EXPECT_EQ(result_.missing_kinds, (std::vector<std::string>{"KERNEL", "RUNTIME"}));
}

TEST_F(NsysImport, OptionalColumnsAndNewerTables) {
  ledger::Database& trace =
      import(kBase + kRuntimeTable +
             kernel_table(", mangledName INTEGER, graphNodeId INTEGER, greenContextId INTEGER,"
                          " launchType INTEGER, cacheConfig INTEGER, sharedMemoryExecuted INTEGER",
                          "CUPTI_ACTIVITY_KIND_KERNEL_V2") +
             kernel(1, 2, 5, ",3,9,NULL,0,1,2048", "CUPTI_ACTIVITY_KIND_KERNEL_V2") +
             kernel_table() + kernel(1, 999, 5));
  EXPECT_EQ(rows_of(trace,
                    "SELECT o.end_ns - o.start_ns, o.graph_node_id, (SELECT value FROM str WHERE"
                    " id = k.mangled_id), k.launch_type, k.cache_config, k.shared_executed_bytes"
                    " FROM gpu_op o JOIN kernel k ON k.op_id = o.id"),
            (Rows{"1|9|_Z4leafILi1EEvi|0|1|2048"}));
}

TEST_F(NsysImport, CopiesFillsAndGraphs) {
  std::string copies;
  const auto copy = [&](int64_t corr, int64_t kind, const char* src, const char* dst) {
    copies += "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 2, 0, 1, 7, " +
              std::to_string(corr) + "," + kGpid + ", 64, " + std::to_string(kind) + "," + src +
              "," + dst + ");";
  };
  copy(1, 1, "0", "2");     // pageable to device, by a call that waits
  copy(2, 2, "2", "1");     // device to pinned, by one that does not
  copy(3, 8, "NULL", "7");  // kinds that are not known
  copy(4, 11, "4", "4");    // a migration of unified memory
  copy(5, 1, "0", "8");     // no such kind
  ledger::Database& trace = import(
      kBase + kRuntimeTable + call(0, 1, 1, 11) + call(0, 1, 2, 12) + test::kMemcpyTable + copies +
      test::kMemsetTable + "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (3, 4, 0, 1, 7, 9, " +
      kGpid +
      ", 255, 32, 2);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, contextId, streamId,"
      " correlationId, globalPid, graphId, graphExecId);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (5, 6, 0, 1, 7, 9, " +
      kGpid + ", 21, 22), (7, 8, 0, 1, 7, 9, " + kGpid + ", 23, NULL);");
  EXPECT_EQ(rows_of(trace,
                    "SELECT o.corr, c.copy_kind, c.src_kind, c.dst_kind, c.async, c.bytes"
                    " FROM copy c JOIN gpu_op o ON o.id = c.op_id"),
            (Rows{"1|1|1|3|0|64", "2|2|3|2|1|64", "3|8|0|0|1|64"}));
  EXPECT_EQ(rows_of(trace, "SELECT value, bytes, mem_kind FROM fill"), (Rows{"255|32|3"}));
  EXPECT_EQ(rows_of(trace, "SELECT graph_id FROM gpu_op WHERE kind = 4"), (Rows{"22", "23"}));
  EXPECT_EQ(rows_of(trace, "SELECT kind, count FROM loss"),
            (Rows{"migrations of unified memory, which belong to no stream|1"}));
  EXPECT_EQ(result_.lost, 1);
  EXPECT_EQ(rows_of(trace, "SELECT reason, CAST(bytes AS TEXT) FROM quarantine"),
            (Rows{"CUPTI_ACTIVITY_KIND_MEMCPY row 5: memory kind 8 is unknown (expected 0 to 7)|"
                  "CUPTI_ACTIVITY_KIND_MEMCPY row 5"}));
}

TEST_F(NsysImport, WaitsMemoryAndOverhead) {
  ledger::Database& trace =
      import(kBase + kRuntimeTable + kernel_table() + test::kSyncTable +
             "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (1, 2, 0, 1, 7, 3, " + kGpid +
             ", 3, 4294967295), (3, 4, 0, 1, -1, NULL, " + kGpid + ", 1, 9);" + test::kMemoryTable +
             "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (5, " + kGpid +
             ", 0, 1, 4096, 6, 64, 2, 0, 'table', 3, 7), (8, " + kGpid +
             ", 0, 1, 4096, 6, 64, 1, 1, NULL, NULL, NULL);"
             "CREATE TABLE PROFILER_OVERHEAD (start, end, globalTid, correlationId, nameId);"
             "INSERT INTO PROFILER_OVERHEAD VALUES (1, 2, " +
             kGtid +
             ", 3, 1);"
             "CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD (start, end, globalTid, correlationId,"
             " overheadType);"
             "INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES (1, 2, " +
             kGpid + ", NULL, 2), (1, 2, " + kGtid + ", NULL, 6);");
  EXPECT_EQ(rows_of(trace, "SELECT type, context_id, stream_id, event_id, corr FROM sync"),
            (Rows{"3|1|7|-|3", "1|1|-|9|0"}));
  EXPECT_EQ(rows_of(trace,
                    "SELECT op, mem_kind, address, bytes, stream_id, async, corr, pc,"
                    " (SELECT value FROM str WHERE id = name_id),"
                    " ts_ns - 1700000000000000000 FROM mem_event"),
            (Rows{"1|3|4096|64|7|1|3|6|table|5", "2|2|4096|64|-|0|0|6|-|8"}));
  // Compiler; the fourth of CUPTI's steps of 65536; nsys's own, of no kind of CUPTI.
  EXPECT_EQ(rows_of(trace, "SELECT kind, tid, corr FROM overhead"),
            (Rows{"1|-|-", "262144|101|-", "0|101|3"}));
}

TEST_F(NsysImport, Ranges) {
  const std::string table =
      "CREATE TABLE NVTX_EVENTS (start, end, eventType, globalTid, endGlobalTid, text, textId,"
      " domainId, category, uint64Value, int32Value);";
  const auto row = [](const char* head, const char* tail) {
    return std::string("INSERT INTO NVTX_EVENTS VALUES (") + head + "," + kGtid + "," + tail + ");";
  };
  ledger::Database& trace =
      import(kBase + kRuntimeTable + kernel_table() + table +
             row("10, 20, 59", "NULL, NULL, 2, 5, 2, 3, NULL") +
             row("0, NULL, 75", "NULL, 'stwo.prover', NULL, 5, NULL, NULL, NULL") +
             row("11, NULL, 60",
                 (std::to_string(kGlobalTid + 1) + ", 'text', NULL, 0, NULL, NULL, -1").c_str()) +
             row("12, NULL, 34", "NULL, 'mark', NULL, 6, NULL, NULL, NULL") +
             row("0, NULL, 33", "NULL, 'category', NULL, 0, NULL, NULL, NULL") +
             row("0, NULL, 61", "NULL, 'odd', NULL, 0, NULL, NULL, NULL"));
  EXPECT_EQ(rows_of(trace,
                    "SELECT type, (SELECT value FROM str WHERE id = domain_id),"
                    " (SELECT value FROM str WHERE id = name_id), tid, end_tid,"
                    " start_ns - 1700000000000000000, end_ns - 1700000000000000000, payload,"
                    " category FROM nvtx"),
            (Rows{"2|stwo.prover|leaf|101|-|10|20|3|2", "3|-|text|101|102|11|-|-1|0",
                  "1|(domain 6)|mark|101|-|12|-|-|0"}));
  EXPECT_EQ(rows_of(trace, "SELECT kind, count FROM loss"), (Rows{"NVTX events of type 61|1"}));
  EXPECT_EQ(result_.quarantined, 0);
}

TEST_F(NsysImport, DevicesContextsStreamsAndProcesses) {
  const std::string gpu =
      "CREATE TABLE TARGET_INFO_GPU (id, cuDevice, name, uuid, smCount, totalMemory, computeMajor,"
      " computeMinor, memoryBandwidth, clockRate);"
      "INSERT INTO TARGET_INFO_GPU VALUES"
      " (4, 1, 'H200', '0011-22', 132, 150, 9, 0, 4800, 1980000000),"
      " (5, 0, 'H200', 'GPU-33', 132, 150, 9, 0, NULL, NULL),"
      " (6, NULL, 'display', 'GPU-44', 1, 1, 1, 0, NULL, NULL);";
  const std::string rest =
      "CREATE TABLE TARGET_INFO_CUDA_CONTEXT_INFO (nullStreamId, hwId, vmId, processId, deviceId,"
      " contextId, parentContextId, isGreenContext);"
      "INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO VALUES (7, 0, 0, 100, 0, 1, NULL, 0);"
      "CREATE TABLE TARGET_INFO_CUDA_STREAM (streamId, hwId, vmId, processId, contextId, priority,"
      " flag);"
      "INSERT INTO TARGET_INFO_CUDA_STREAM VALUES (7, 0, 0, 100, 1, -5, 3);"
      "CREATE TABLE PROCESSES (globalPid, pid, name);"
      "INSERT INTO PROCESSES VALUES (" +
      kGpid + ", 100, 'stwo'), (" + std::to_string(int64_t{99} << 24) + ", 99, 'bash');";
  ledger::Database* trace =
      &import(kBase + kRuntimeTable + kernel_table() + kernel(1, 2, 3) + gpu + rest);
  EXPECT_EQ(rows_of(*trace,
                    "SELECT id, uuid, name, sm_major, multiprocessors, memory_bytes,"
                    " memory_bytes_per_s, clock_khz FROM device"),
            (Rows{"0|GPU-33|H200|9|132|150|-|-", "1|GPU-0011-22|H200|9|132|150|4800|1980000"}));
  EXPECT_EQ(rows_of(*trace, "SELECT id, device_id, null_stream_id, green FROM context"),
            (Rows{"1|0|7|0"}));
  EXPECT_EQ(rows_of(*trace, "SELECT id, priority, flag FROM stream"), (Rows{"7|-5|3"}));
  EXPECT_EQ(meta("process_name.100"), "stwo");
  EXPECT_EQ(meta("process_name.99"), "-");  // it did nothing with a device

  // The processes may number the devices in another way.
  trace = &import(kBase + kRuntimeTable + kernel_table() + gpu +
                  "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid);"
                  "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (4, 0, 100), (NULL, 1, 100);");
  EXPECT_EQ(rows_of(*trace, "SELECT id, uuid FROM device"), (Rows{"0|GPU-0011-22"}));
  // Versions without that knowledge have one number only.
  trace = &import(kBase + kRuntimeTable + kernel_table() +
                  "CREATE TABLE TARGET_INFO_GPU (id, name, uuid, smCount, totalMemory,"
                  " computeMajor, computeMinor);"
                  "INSERT INTO TARGET_INFO_GPU VALUES (2, 'H200', 'GPU-1', 132, 150, 9, 0),"
                  " (3, 'H200', NULL, 132, 150, 9, 0);");
  EXPECT_EQ(rows_of(*trace, "SELECT id, uuid FROM device"), (Rows{"2|GPU-1"}));
  EXPECT_EQ(rows_of(*trace, "SELECT reason FROM quarantine"),
            (Rows{"TARGET_INFO_GPU row 2: the export does not say its name or UUID"}));
}

TEST_F(NsysImport, WhatNsysSaysAboutLosses) {
  ledger::Database& trace =
      import(kBase + kRuntimeTable + kernel_table() +
             "CREATE TABLE DIAGNOSTIC_EVENT (timestamp, severity, text);"
             "INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 1, 'fine'), (2, 2, 'no sampling here'),"
             " (3, 2, 'Not all CUDA events might have been collected.'), (4, 3, 'broken');");
  EXPECT_EQ(
      rows_of(trace, "SELECT kind, count FROM loss ORDER BY kind"),
      (Rows{"nsys says: Not all CUDA events might have been collected.|1", "nsys says: broken|1"}));
  EXPECT_EQ(ledger::summarize_trace(trace).evidence, ledger::TraceEvidence::kIncomplete);
}

TEST_F(NsysImport, RowsThatCannotBeTaken) {
  ledger::Database& trace =
      import(kBase + kRuntimeTable + call(20, 10, 1) + call(1, 2, 1, 999) + call(1, 2, 1, 10, 67) +
             call(-1700000000000000000, 2, 1) + call(1, 9223372036854775807, 1) + call(1, 2, 8) +
             "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ('now', 2, 0, 1, 1, 10, 0, NULL);");
  EXPECT_EQ(rows_of(trace, "SELECT corr FROM api"), (Rows{"8"}));
  EXPECT_EQ(result_.quarantined, 6);
  const Rows reasons = rows_of(trace, "SELECT reason FROM quarantine");
  ASSERT_EQ(reasons.size(), 6U);
  const char* expected[] = {"lies before start_ns", "name 999 is not in StringIds",
                            "eventClass 67",        "not above 0",
                            "out of range",         "start is not an integer"};
  for (size_t i = 0; i < reasons.size(); ++i) {
    EXPECT_NE(reasons[i].find(expected[i]), std::string::npos) << reasons[i];
  }
}

TEST_F(NsysImport, ManyBadRowsAreCounted) {
  ledger::Database& trace =
      import(kBase + kRuntimeTable +
             "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL"
             " SELECT i + 1 FROM n WHERE i < 1500) SELECT 2, 1, 0, 1, i, 10, 0, NULL FROM n;");
  EXPECT_EQ(rows_of(trace, "SELECT COUNT(*) FROM quarantine"), (Rows{"1000"}));
  EXPECT_EQ(rows_of(trace, "SELECT count FROM loss"), (Rows{"500"}));
}

TEST_F(NsysImport, SameExportSameBytes) {
  const std::string source = exports_.make(
      "again", kBase + kRuntimeTable + call(1, 2, 3) + kernel_table() + kernel(1, 2, 3));
  import_nsys(source, exports_.file("1.sptrace"), test::options());
  import_nsys(source, exports_.file("2.sptrace"), test::options());
  EXPECT_EQ(ledger::test::read_file(exports_.file("1.sptrace")),
            ledger::test::read_file(exports_.file("2.sptrace")));
}

TEST_F(NsysImport, ProgressNamesTheTable) {
  std::vector<std::string> seen;
  NsysImportOptions how = test::options();
  how.progress = [&](const std::string& table, int64_t done, int64_t total) {
    seen.push_back(table + " " + std::to_string(done) + "/" + std::to_string(total));
  };
  import(kBase + kRuntimeTable + call(1, 2, 3) + call(2, 3, 4), how);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), "CUPTI_ACTIVITY_KIND_RUNTIME 0/2"), 1);
}

TEST_F(NsysImport, FailuresLeaveNothing) {
  const auto fails = [&](const std::string& name, const std::string& sql) {
    return failure_of([&] {
      import_nsys(exports_.make(name, sql), exports_.file("out.sptrace"), test::options());
    });
  };
  auto failure = fails("a", kBase + "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end);");
  EXPECT_EQ(failure.code, "NSYS_FORMAT");
  EXPECT_NE(failure.message.find("CUPTI_ACTIVITY_KIND_RUNTIME has no column eventClass"),
            std::string::npos)
      << failure.message;
  failure = fails("b", kBase + "DROP TABLE TARGET_INFO_SESSION_START_TIME;");
  EXPECT_EQ(failure.code, "NSYS_FORMAT");
  failure = fails("c", kBase + "DELETE FROM TARGET_INFO_SESSION_START_TIME;");
  EXPECT_EQ(failure.code, "NSYS_FORMAT");
  failure = fails("d", kBase + "UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = 'now';");
  EXPECT_EQ(failure.code, "NSYS_FORMAT");
  failure = fails("e", kBase + "CREATE TABLE NVTX_EVENTS (start PRIMARY KEY) WITHOUT ROWID;");
  EXPECT_EQ(failure.code, "NSYS_FORMAT");
  EXPECT_EQ(exports_.names(), (Rows{"a", "b", "c", "d", "e"}));

  // What exists stays.
  ledger::test::write_file(exports_.file("out.sptrace"), "mine");
  EXPECT_EQ(fails("f", kBase).code, "OUTPUT_EXISTS");
  EXPECT_EQ(ledger::test::read_file(exports_.file("out.sptrace")), "mine");
}

TEST_F(NsysImport, ADamagedExport) {
  const std::string path =
      exports_.make("damaged", kBase + kRuntimeTable +
                                   "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME WITH RECURSIVE n (i) AS"
                                   " (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
                                   " SELECT i, i, 0, 1, i, 10, 0, NULL FROM n;");
  const std::string whole = ledger::test::read_file(path);
  ASSERT_GT(whole.size(), 65536U);
  ledger::test::write_file(path, whole.substr(0, whole.size() / 2));
  EXPECT_EQ(code_of([&] { import_nsys(path, exports_.file("x.sptrace"), test::options()); }),
            "NSYS_FORMAT");
  EXPECT_EQ(exports_.names(), (Rows{"damaged"}));
}

}  // namespace
}  // namespace prof

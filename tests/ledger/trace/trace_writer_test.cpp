// What the writer stores, refuses and leaves behind.
#include "ledger/trace/trace_writer.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/ledger/trace/trace_files.hpp"

namespace ledger {
namespace {

using test::at;
using test::code_of;
using test::failure_of;
using test::Rows;
using test::rows_of;
using test::span;
using test::TemporaryFolder;

GpuOpRow some_op() {
  GpuOpRow op;
  op.pid = 7;
  op.device_id = 0;
  op.context_id = 1;
  op.stream_id = 13;
  op.time = span(10, 20);
  op.corr = 5;
  return op;
}

ApiRow some_call(TraceWriter& writer) {
  ApiRow row;
  row.pid = 7;
  row.tid = 8;
  row.name = writer.intern("cuLaunchKernel");
  row.time = span(1, 2);
  row.corr = 5;
  return row;
}

TEST(TraceWriter, EveryColumnOfEveryTable) {
  const TemporaryFolder folder;
  const std::string path = folder.file("t.sptrace");
  {
    TraceWriter w(path);
    test::write_facts(w);
    EXPECT_EQ(w.intern("one"), 1);
    EXPECT_EQ(w.intern("two"), 2);
    EXPECT_EQ(w.intern("one"), 1);
    EXPECT_EQ(w.intern(""), 3);
    w.device({.id = 0,
              .uuid = "GPU-0011",
              .name = "H200",
              .sm_major = 9,
              .sm_minor = 0,
              .multiprocessors = 132,
              .memory_bytes = 4,
              .memory_bytes_per_s = 5,
              .l2_bytes = 6,
              .constant_bytes = 7,
              .clock_khz = 8,
              .warp_threads = 32,
              .copy_engines = 9,
              .max_threads_per_block = 10,
              .max_registers_per_block = 11,
              .max_shared_per_block_bytes = 12,
              .max_warps_per_sm = 13,
              .max_blocks_per_sm = 14,
              .max_registers_per_sm = 15,
              .max_shared_per_sm_bytes = 16,
              .ecc = true,
              .mig = false});
    w.context(
        {.pid = 7, .id = 1, .device_id = 2, .null_stream_id = 3, .parent_id = 4, .green = true});
    w.stream({.pid = 7, .context_id = 1, .id = 13, .priority = -5, .flag = 2});
    w.api({.pid = 7,
           .tid = 8,
           .domain = ApiDomain::kDriver,
           .cbid = 3,
           .name = 1,
           .time = span(4, 5),
           .corr = 6,
           .rc = 700});
    GpuOpRow op = some_op();
    op.graph_id = 21;
    op.graph_node_id = uint64_t{1} << 63;
    EXPECT_EQ(w.kernel(op, {.name = 1,
                            .short_name = 2,
                            .mangled_name = 3,
                            .grid_x = 11,
                            .grid_y = 12,
                            .grid_z = 13,
                            .block_x = 14,
                            .block_y = 15,
                            .block_z = 16,
                            .cluster_x = 17,
                            .cluster_y = 18,
                            .cluster_z = 19,
                            .static_shared_bytes = 20,
                            .dynamic_shared_bytes = 21,
                            .shared_executed_bytes = 22,
                            .registers = 23,
                            .local_per_thread_bytes = 24,
                            .local_total_bytes = 25,
                            .grid_number = 26,
                            .launch_type = 0,
                            .cache_config = 1,
                            .queued_ns = at(1),
                            .submitted_ns = at(2)}),
              1);
    EXPECT_EQ(w.copy(some_op(), {.copy_kind = 10,
                                 .src_kind = 3,
                                 .dst_kind = 2,
                                 .async = true,
                                 .bytes = 4096,
                                 .src_device_id = 1,
                                 .src_context_id = 2,
                                 .dst_device_id = 3,
                                 .dst_context_id = 4,
                                 .copy_count = 5}),
              2);
    EXPECT_EQ(w.fill(some_op(), {.value = 255, .bytes = 64, .mem_kind = 3}), 3);
    EXPECT_EQ(w.graph(op), 4);
    w.sync({.pid = 7,
            .type = 1,
            .context_id = 2,
            .stream_id = 3,
            .event_id = 4,
            .event_sync_id = 5,
            .time = span(6, 7),
            .corr = 8,
            .rc = 9});
    w.cuda_event({.pid = 7,
                  .device_id = 1,
                  .context_id = 2,
                  .stream_id = 3,
                  .event_id = 4,
                  .event_sync_id = 5,
                  .device_ts_ns = at(6),
                  .corr = 7});
    w.mem_event({.pid = 7,
                 .op = MemOp::kRelease,
                 .mem_kind = 3,
                 .device_id = 1,
                 .context_id = 2,
                 .stream_id = 3,
                 .address = 0x7f0000000000,
                 .bytes = 512,
                 .ts_ns = at(4),
                 .pc = 5,
                 .name = 2,
                 .corr = 6,
                 .async = true,
                 .pool_type = 1,
                 .pool_address = 8,
                 .pool_release_threshold_bytes = ~uint64_t{0},
                 .pool_bytes = 10,
                 .pool_used_bytes = 11,
                 .pool_pid = 12});
    w.pool_event({.pid = 7,
                  .op = PoolOp::kTrimmed,
                  .pool_type = 1,
                  .device_id = 2,
                  .address = 3,
                  .size_bytes = 4,
                  .used_bytes = 5,
                  .release_threshold_bytes = 6,
                  .min_keep_bytes = 7,
                  .ts_ns = at(8),
                  .corr = 9});
    w.res_event({.pid = 7,
                 .kind = ResKind::kModuleLoaded,
                 .ts_ns = at(1),
                 .context_id = 2,
                 .object = 3,
                 .bytes = 4,
                 .sha256 = std::string(64, 'a')});
    w.res_event({.pid = 7, .kind = ResKind::kGraphExecDestroyed, .ts_ns = at(2)});
    w.jit({.pid = 7,
           .tid = 8,
           .entry_type = 1,
           .operation = 3,
           .device_id = 2,
           .time = span(3, 4),
           .corr = 5,
           .operation_corr = 6,
           .cache_bytes = 9,
           .cache_path = 1});
    w.overhead({.pid = 7,
                .tid = 8,
                .kind = 1,
                .context_id = 2,
                .stream_id = 3,
                .time = span(4, 5),
                .corr = 6});
    w.nvtx({.pid = 7,
            .type = NvtxType::kStartEnd,
            .domain = 1,
            .name = 2,
            .tid = 8,
            .end_tid = 9,
            .start_ns = at(1),
            .end_ns = at(2),
            .payload = 11,
            .category = 3,
            .flags = 4});
    w.clock_pair({.realtime_ns = at(0), .monotonic_raw_ns = 17});
    w.quarantine({.reason = "unknown kind", .bytes = {0, 1, 255}});
    w.loss({.kind = "dropped", .count = 3});
    w.loss({.kind = "dropped", .count = 4});
    w.window({.request = 0,
              .role = WindowRole::kWarmup,
              .begin_ns = at(1),
              .resident_begin_ns = at(2),
              .resident_end_ns = at(3),
              .end_ns = at(4)});
    w.finalize();
  }
  const auto t = open_trace(path);
  const auto first = [&](const std::string& table) {
    return rows_of(*t, "SELECT * FROM " + table + " LIMIT 1").at(0);
  };
  const std::string s = "17000000000000000";  // all but the last two digits of the times here
  EXPECT_EQ(rows_of(*t, "SELECT * FROM str"), (Rows{"1|one", "2|two", "3|"}));
  EXPECT_EQ(first("device"), "0|GPU-0011|H200|9|0|132|4|5|6|7|8|32|9|10|11|12|13|14|15|16|1|0");
  EXPECT_EQ(first("context"), "7|1|2|3|4|1");
  EXPECT_EQ(first("stream"), "7|1|13|-5|2");
  EXPECT_EQ(first("api"), "1|7|8|1|3|1|" + s + "04|" + s + "05|6|700");
  EXPECT_EQ(rows_of(*t, "SELECT * FROM gpu_op"),
            (Rows{"1|7|1|0|1|13|" + s + "10|" + s + "20|5|21|-9223372036854775808",
                  "2|7|2|0|1|13|" + s + "10|" + s + "20|5|-|-",
                  "3|7|3|0|1|13|" + s + "10|" + s + "20|5|-|-",
                  "4|7|4|0|1|13|" + s + "10|" + s + "20|5|21|-9223372036854775808"}));
  EXPECT_EQ(first("kernel"),
            "1|1|2|3|11|12|13|14|15|16|17|18|19|20|21|22|23|24|25|26|0|1|" + s + "01|" + s + "02");
  EXPECT_EQ(first("copy"), "2|10|3|2|1|4096|1|2|3|4|5");
  EXPECT_EQ(first("fill"), "3|255|64|3");
  EXPECT_EQ(first("sync"), "1|7|1|2|3|4|5|" + s + "06|" + s + "07|8|9");
  EXPECT_EQ(first("cuda_event"), "1|7|1|2|3|4|5|" + s + "06|7");
  EXPECT_EQ(first("mem_event"),
            "1|7|2|3|1|2|3|139637976727552|512|" + s + "04|5|2|6|1|1|8|-1|10|11|12");
  EXPECT_EQ(first("pool_event"), "1|7|3|1|2|3|4|5|6|7|" + s + "08|9");
  EXPECT_EQ(rows_of(*t, "SELECT * FROM res_event"),
            (Rows{"1|7|module_loaded|" + s + "01|2|3|4|" + std::string(64, 'a'),
                  "2|7|graph_exec_destroyed|" + s + "02|-|-|-|-"}));
  EXPECT_EQ(first("jit"), "1|7|8|1|3|2|" + s + "03|" + s + "04|5|6|9|1");
  EXPECT_EQ(first("overhead"), "1|7|8|1|2|3|" + s + "04|" + s + "05|6");
  EXPECT_EQ(first("nvtx"), "1|7|3|1|2|8|9|" + s + "01|" + s + "02|11|3|4");
  EXPECT_EQ(first("clock_pair"), "1|" + s + "00|17");
  EXPECT_EQ(rows_of(*t, "SELECT id, reason, hex(bytes) FROM quarantine"),
            (Rows{"1|unknown kind|0001FF"}));
  EXPECT_EQ(rows_of(*t, "SELECT * FROM loss"), (Rows{"dropped|7"}));
  EXPECT_EQ(first("window"), "0|warmup|" + s + "01|" + s + "02|" + s + "03|" + s + "04");
  // A table that this test forgets would go unnoticed.
  EXPECT_EQ(rows_of(*t,
                    "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name NOT "
                    "LIKE 'sqlite_%'"),
            (Rows{"23"}));
}

TEST(TraceWriter, PublishesReadOnlyAndLeavesNothingElse) {
  const TemporaryFolder folder;
  const std::string path = folder.file("t.sptrace");
  TraceWriter writer(path);
  EXPECT_EQ(writer.partial_path(), path + ".partial");
  EXPECT_EQ(folder.names(), (Rows{"t.sptrace.partial"}));
  test::write_facts(writer);
  writer.finalize();
  EXPECT_EQ(folder.names(), (Rows{"t.sptrace"}));
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0444U);
  EXPECT_EQ(info.st_nlink, 1U);
  const auto trace = open_trace(path);
  EXPECT_EQ(trace->query_text("PRAGMA journal_mode"), "delete");
  EXPECT_EQ(trace->query_integer("PRAGMA application_id"), 0x73745472);
  EXPECT_EQ(trace->query_integer("PRAGMA user_version"), 1);
  EXPECT_EQ(trace->query_text("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(trace->query_text("SELECT value FROM meta WHERE key = 'finalized'"), "1");
  // The writer is done.
  EXPECT_THROW(writer.api({}), stwo::Error);
  EXPECT_THROW(writer.finalize(), stwo::ContractError);
}

TEST(TraceWriter, SameRowsGiveTheSameBytes) {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b"}) {
    test::write_trace(folder.file(name), [](TraceWriter& writer) {
      for (int i = 0; i < 1000; ++i) {
        test::write_call(writer, 8, i, span(2 * i, 2 * i + 1));
        test::write_kernel(writer, "k", i, span(3 * i, 3 * i + 2));
      }
    });
  }
  EXPECT_TRUE(test::read_file(folder.file("a")) == test::read_file(folder.file("b")));
}

TEST(TraceWriter, NeverOverwrites) {
  const TemporaryFolder folder;
  const std::string path = folder.file("t.sptrace");
  test::write_file(path, "mine");
  EXPECT_EQ(code_of([&] { TraceWriter writer(path); }), "OUTPUT_EXISTS");
  EXPECT_EQ(folder.names(), (Rows{"t.sptrace"}));
  EXPECT_EQ(test::read_file(path), "mine");

  // A name that is taken while the capture is being written.
  const std::string other = folder.file("u.sptrace");
  TraceWriter writer(other);
  test::write_facts(writer);
  test::write_file(other, "theirs");
  EXPECT_EQ(code_of([&] { writer.finalize(); }), "OUTPUT_EXISTS");
  EXPECT_EQ(test::read_file(other), "theirs");
  EXPECT_EQ(folder.names(), (Rows{"t.sptrace", "u.sptrace", "u.sptrace.partial"}));

  // Replacing is possible when asked for, and takes the leftover away.
  {
    TraceWriter replacing(other, TraceWriter::Existing::kReplace);
    test::write_facts(replacing);
    EXPECT_EQ(test::read_file(other), "theirs");
    replacing.finalize();
  }
  open_trace(other);
  EXPECT_EQ(folder.names(), (Rows{"t.sptrace", "u.sptrace"}));
}

TEST(TraceWriter, InterruptedRunLeavesOnlyThePartialFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("t.sptrace");
  {
    TraceWriter writer(path);
    test::write_call(writer, 8, 1, span(1, 2));
  }
  EXPECT_EQ(folder.names(), (Rows{"t.sptrace.partial"}));
  EXPECT_EQ(code_of([&] { open_trace(path + ".partial"); }), "TRACE_NOT_FINAL");
  // What had arrived can be looked at.
  Database partial(path + ".partial", OpenMode::kReadOnly);
  EXPECT_EQ(partial.query_integer("SELECT COUNT(*) FROM api"), 1);
  // The next run does not destroy it unasked.
  EXPECT_EQ(code_of([&] { TraceWriter writer(path); }), "OUTPUT_EXISTS");
}

TEST(TraceWriter, KilledRunLeavesOnlyThePartialFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("t.sptrace");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    TraceWriter writer(path);
    for (int i = 0; i < 100'000; ++i) test::write_call(writer, 8, i, span(i, i + 1));
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(folder.names(), (Rows{"t.sptrace.partial"}));
  EXPECT_NE(code_of([&] { open_trace(path + ".partial"); }), "");
}

TEST(TraceWriter, FullDiskIsReportedAndLeavesOnlyThePartialFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("t.sptrace");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // A file that may not grow any more behaves like a full disk.
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {200'000, 200'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string code = code_of([&] {
      TraceWriter writer(path);
      test::write_facts(writer);
      for (int i = 0; i < 50'000; ++i) test::write_call(writer, 8, i, span(i, i + 1));
      writer.finalize();
    });
    ::_exit(code == "LEDGER_IO" || code == "LEDGER_FULL" ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(folder.names(), (Rows{"t.sptrace.partial"}));
  EXPECT_NE(code_of([&] { open_trace(path + ".partial"); }), "");
}

TEST(TraceWriter, NeedsTheFactsThatReadersRelyOn) {
  const TemporaryFolder folder;
  TraceWriter writer(folder.file("t.sptrace"));
  writer.meta("tool", "stwo-prof");
  writer.meta("tool_version", "0.1.0");
  writer.meta("created_utc", "2026-01-31T12:00:00.123Z");
  EXPECT_NE(failure_of([&] { writer.finalize(); }).message.find("session_start_ns"),
            std::string::npos);
  writer.meta("session_start_ns", "1");
  writer.finalize();
}

/// Rows that contradict the schema.
TEST(TraceWriter, RefusesInvalidRowsAndStaysUsable) {
  const TemporaryFolder folder;
  const std::string path = folder.file("t.sptrace");
  TraceWriter w(path);
  test::write_facts(w);
  const StrId name = w.intern("k");
  const auto refused = [&](const std::string& words, const std::function<void()>& action) {
    const auto failure = failure_of(action);
    EXPECT_EQ(failure.code, "TRACE_ROW") << words;
    EXPECT_NE(failure.message.find(words), std::string::npos) << failure.message;
    EXPECT_NE(failure.message.find(path), std::string::npos) << failure.message;
  };
  const auto bad_call = [&](TimeSpan time) {
    return [&w, time] {
      ApiRow row = some_call(w);
      row.time = time;
      w.api(row);
    };
  };
  const auto bad_op = [&](TimeSpan time) {
    return [&w, time, name] {
      GpuOpRow op = some_op();
      op.time = time;
      w.kernel(op, {.name = name, .short_name = name});
    };
  };
  for (const auto& bad : {std::function<std::function<void()>(TimeSpan)>(bad_call),
                          std::function<std::function<void()>(TimeSpan)>(bad_op)}) {
    refused("end_ns 9 lies before start_ns 10", bad({10, 9}));
    refused("start_ns without end_ns", bad({10, {}}));
    refused("end_ns without start_ns", bad({{}, 10}));
    refused("not above 0", bad({0, 0}));
    refused("not above 0", bad({-5, 0}));
  }
  refused("row of sync", [&] { w.sync({.time = {2, 1}}); });
  refused("row of jit", [&] { w.jit({.time = {2, 1}}); });
  refused("row of overhead", [&] { w.overhead({.time = {2, 1}}); });
  refused("row of nvtx", [&] { w.nvtx({.start_ns = 2, .end_ns = 1}); });
  refused("a mark with an end",
          [&] { w.nvtx({.type = NvtxType::kMark, .start_ns = 1, .end_ns = 1}); });
  refused("not above 0", [&] { w.nvtx({.start_ns = 0}); });
  refused("not above 0", [&] { w.mem_event({.ts_ns = 0}); });
  refused("not above 0", [&] { w.pool_event({.ts_ns = 0}); });
  refused("not above 0", [&] { w.cuda_event({.device_ts_ns = 0}); });
  refused("not above 0", [&] { w.res_event({.ts_ns = 0}); });
  refused("not above 0", [&] { w.clock_pair({}); });
  refused("64 characters", [&] { w.res_event({.ts_ns = 1, .sha256 = "ab"}); });
  refused("memory kind 8", [&] { w.copy(some_op(), {.src_kind = 8}); });
  refused("memory kind -1", [&] { w.fill(some_op(), {.mem_kind = -1}); });
  refused("size is negative", [&] { w.copy(some_op(), {.bytes = -1}); });
  refused("without graph_id", [&] { w.graph(some_op()); });
  refused("type is unknown", [&] { w.sync({.type = 5}); });
  refused("name 99 was not interned", [&] { w.nvtx({.name = 99, .start_ns = 1}); });
  refused("name 0 was not interned", [&] { w.kernel(some_op(), {}); });
  refused("different row", [&] {
    w.context({.pid = 1, .id = 2, .device_id = 3});
    w.context({.pid = 1, .id = 2, .device_id = 3});
    w.context({.pid = 1, .id = 2, .device_id = 4});
  });
  refused("key tool", [&] { w.meta("tool", "another"); });
  refused("not in order", [&] {
    w.window({.begin_ns = 2, .resident_begin_ns = 1, .resident_end_ns = 3, .end_ns = 4});
  });
  refused("count is not above 0", [&] { w.loss({.kind = "x", .count = 0}); });
  refused("without a reason", [&] { w.quarantine({}); });

  w.api(some_call(w));
  w.kernel(some_op(), {.name = name, .short_name = name});
  w.finalize();
  const auto trace = open_trace(path);
  EXPECT_EQ(trace->query_integer("SELECT COUNT(*) FROM api"), 1);
  EXPECT_EQ(trace->query_integer("SELECT COUNT(*) FROM gpu_op"), 1);
  EXPECT_EQ(trace->query_integer("SELECT COUNT(*) FROM kernel"), 1);
  EXPECT_EQ(trace->query_integer("SELECT COUNT(*) FROM context"), 1);
}

}  // namespace
}  // namespace ledger

// A capture, read through its own views in the form of nsys, and imported again.
#include "prof/nsys/nsys_import.hpp"
#include "tests/prof/nsys/nsys_files.hpp"

namespace prof {
namespace {

using ledger::test::at;
using ledger::test::Rows;
using ledger::test::rows_of;
using ledger::test::span;

void fill(ledger::TraceWriter& w) {
  ledger::DeviceRow device;
  device.uuid = "GPU-00112233-4455";
  device.name = "NVIDIA H200";
  device.sm_major = 9;
  device.multiprocessors = 132;
  device.memory_bytes = 150;
  device.clock_khz = 1'980'000;
  device.max_shared_per_sm_bytes = 158;
  w.device(device);
  w.meta("process_name.7", "stwo");
  for (int64_t i = 0; i < 200; ++i) {
    ledger::ApiRow call;
    call.pid = 7;
    call.tid = 8 + i % 2;
    call.domain = i % 3 == 0 ? ledger::ApiDomain::kDriver : ledger::ApiDomain::kRuntime;
    call.name = w.intern(i % 4 == 0 ? "cudaMemcpy_v3020" : "cudaLaunchKernel_v7000");
    call.time = span(10 * i, 10 * i + i % 7);
    call.corr = i;
    call.rc = i % 50 == 0 ? 1 : 0;
    w.api(call);
    ledger::GpuOpRow op;
    op.pid = 7;
    op.context_id = 1;
    op.stream_id = 13 + i % 2;
    op.time = span(10 * i + 5, 10 * i + 5 + i);
    op.corr = i;
    if (i % 5 == 0) op.graph_node_id = 1000 + static_cast<uint64_t>(i);
    if (i % 4 == 0) {
      ledger::CopyRow copy;
      copy.copy_kind = 1 + i % 8;
      copy.src_kind = i % 8;
      copy.dst_kind = (i + 3) % 8;
      copy.async = false;  // its call waits for it
      copy.bytes = i;
      if (i % 8 == 0) copy.src_device_id = 0;
      w.copy(op, copy);
    } else if (i % 4 == 1) {
      w.fill(op, {i, 2 * i, i % 8});
    } else {
      ledger::KernelRow kernel;
      kernel.name = w.intern("void k<" + std::to_string(i % 3) + ">()");
      kernel.short_name = w.intern("k");
      if (i % 3 == 0) kernel.mangled_name = w.intern("_Z1k");
      kernel.grid_x = i;
      kernel.grid_y = kernel.grid_z = 2;
      kernel.block_x = 32;
      kernel.block_y = kernel.block_z = 1;
      kernel.registers = 40;
      kernel.local_total_bytes = 9;
      kernel.grid_number = i;
      kernel.launch_type = 0;
      w.kernel(op, kernel);
    }
  }
  ledger::GpuOpRow graph;
  graph.pid = 7;
  graph.context_id = 1;
  graph.time = span(1, 2);
  graph.graph_id = 77;
  w.graph(graph);
  for (int64_t type = 1; type <= 4; ++type) {
    ledger::SyncRow wait;
    wait.pid = 7;
    wait.type = type;
    wait.context_id = 1;
    if (type == 3) wait.stream_id = 13;
    if (type < 3) wait.event_id = 5;
    wait.time = span(type, 2 * type);
    wait.corr = type;
    w.sync(wait);
  }
  for (int64_t kind = 0; kind < 8; ++kind) {
    ledger::MemEventRow memory;
    memory.pid = 7;
    memory.op = kind % 2 == 0 ? ledger::MemOp::kAllocation : ledger::MemOp::kRelease;
    memory.mem_kind = kind;
    memory.context_id = 1;
    memory.address = 0xffff000000000000 + static_cast<uint64_t>(kind);
    memory.bytes = 10 * kind;
    memory.ts_ns = at(kind);
    memory.corr = kind;
    if (kind == 3) {
      memory.stream_id = 13;
      memory.async = true;
      memory.pool_type = 1;
      memory.pool_address = 99;
      memory.pool_bytes = 1000;
      memory.pool_used_bytes = 500;
    }
    w.mem_event(memory);
  }
  for (const int64_t kind : {int64_t{0}, int64_t{1}, int64_t{65536}, 5 * int64_t{65536}}) {
    ledger::OverheadRow overhead;
    overhead.pid = 7;
    if (kind != 1) overhead.tid = 8;
    overhead.kind = kind;
    overhead.time = span(1, 2);
    w.overhead(overhead);
  }
  ledger::test::write_range(w, "oods", 8, 10, 50);
  ledger::test::write_range(w, "open", 9, 20, std::nullopt, 1);
  ledger::test::write_range(w, "mark", 9, 30, std::nullopt, 0, "other", ledger::NvtxType::kMark);
  ledger::NvtxRow crossing;
  crossing.pid = 7;
  crossing.type = ledger::NvtxType::kStartEnd;
  crossing.tid = 8;
  crossing.end_tid = 9;
  crossing.start_ns = at(40);
  crossing.end_ns = at(60);
  crossing.payload = 0xfedcba9876543210;
  w.nvtx(crossing);
}

/// All that an export keeps, with names in place of their ids.
constexpr const char* kComparisons[] = {
    "SELECT o.pid, o.device_id, o.context_id, o.stream_id, o.start_ns, o.end_ns, o.corr,"
    " o.graph_node_id, n.value, s.value, (SELECT value FROM str WHERE id = k.mangled_id),"
    " k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z, k.static_shared_bytes,"
    " k.dynamic_shared_bytes, k.registers, k.local_per_thread_bytes, k.local_total_bytes,"
    " k.grid_number, k.launch_type FROM kernel k JOIN gpu_op o ON o.id = k.op_id"
    " JOIN str n ON n.id = k.name_id JOIN str s ON s.id = k.short_id ORDER BY k.op_id",
    "SELECT o.pid, o.device_id, o.context_id, o.stream_id, o.start_ns, o.end_ns, o.corr,"
    " o.graph_node_id, c.copy_kind, c.src_kind, c.dst_kind, c.async, c.bytes, c.src_device_id"
    " FROM copy c JOIN gpu_op o ON o.id = c.op_id ORDER BY c.op_id",
    "SELECT o.pid, o.stream_id, o.start_ns, o.end_ns, f.value, f.bytes, f.mem_kind"
    " FROM fill f JOIN gpu_op o ON o.id = f.op_id ORDER BY f.op_id",
    "SELECT pid, stream_id, start_ns, end_ns, graph_id FROM gpu_op WHERE kind = 4",
    "SELECT pid, tid, domain, (SELECT value FROM str WHERE id = name_id), start_ns, end_ns, corr,"
    " rc FROM api ORDER BY id",
    "SELECT pid, type, context_id, stream_id, event_id, start_ns, end_ns, corr FROM sync"
    " ORDER BY id",
    "SELECT pid, op, mem_kind, device_id, context_id, stream_id, address, bytes, ts_ns, corr,"
    " async, pool_type, pool_address, pool_bytes, pool_used_bytes FROM mem_event ORDER BY id",
    "SELECT pid, tid, kind, start_ns, end_ns FROM overhead ORDER BY id",
    "SELECT pid, type, (SELECT value FROM str WHERE id = domain_id),"
    " (SELECT value FROM str WHERE id = name_id), tid, end_tid, start_ns, end_ns, payload,"
    " category FROM nvtx ORDER BY id",
    "SELECT * FROM device",
    "SELECT value FROM meta WHERE key IN ('session_start_ns', 'process_name.7') ORDER BY key",
};

TEST(NsysRoundTrip, TheViewsSayWhatTheTablesHold) {
  const test::Exports exports;
  const std::string first = exports.file("first.sptrace");
  ledger::test::write_trace(first, fill);
  const std::string path = exports.file("export.sqlite");
  {
    ledger::Database copy(path, ledger::OpenMode::kCreate);
    copy.attach_read_only(first, "original");
    const Rows views = rows_of(copy,
                               "SELECT name FROM original.sqlite_master WHERE type = 'view' AND"
                               " name <> 'busy_island'");
    EXPECT_EQ(views.size(), 18U);
    const auto source = ledger::open_trace(first);
    for (const std::string& view : views) {
      // Through a table: nsys writes tables, not views.
      ledger::Statement columns = source->prepare("SELECT * FROM " + view + " LIMIT 0");
      std::string list;
      std::string marks;
      for (int c = 0; c < columns.column_count(); ++c) {
        list += (c > 0 ? ", \"" : "\"") + columns.column_name(c) + '"';
        marks += c > 0 ? ",?" : "?";
      }
      copy.execute("CREATE TABLE " + view + " (" + list + ")");
      ledger::Statement rows = source->prepare("SELECT * FROM " + view);
      ledger::Statement insert = copy.prepare("INSERT INTO " + view + " VALUES (" + marks + ")");
      while (rows.step()) {
        for (int c = 0; c < rows.column_count(); ++c) insert.bind_value(c + 1, rows.value(c));
        insert.run();
      }
    }
  }
  const NsysImported result = import_nsys(path, exports.file("second.sptrace"), test::options());
  EXPECT_EQ(result.quarantined, 0);
  EXPECT_EQ(result.lost, 0);
  EXPECT_TRUE(result.missing_kinds.empty());
  const auto before = ledger::open_trace(first);
  const auto after = ledger::open_trace(exports.file("second.sptrace"));
  for (const char* sql : kComparisons) {
    const Rows expected = rows_of(*before, sql);
    EXPECT_FALSE(expected.empty()) << sql;
    EXPECT_EQ(rows_of(*after, sql), expected) << sql;
  }
}

}  // namespace
}  // namespace prof

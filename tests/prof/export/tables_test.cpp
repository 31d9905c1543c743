#include "prof/export/tables.hpp"

#include "tests/ledger/trace/trace_files.hpp"

namespace prof {
namespace {

using ledger::test::at;
using ledger::test::span;
using ledger::test::write_call;
using ledger::test::write_kernel;
using ledger::test::write_range;

class ExportTables : public testing::Test {
 protected:
  ExportTables() {
    ledger::test::write_trace(folder_.file("t.sptrace"), [](ledger::TraceWriter& w) {
      write_range(w, "oods", 8, 10, 50);
      write_call(w, 8, 1, span(20, 30));
      write_kernel(w, "f<int, 4>(void)", 1, span(40, 70));
      write_kernel(w, "f<int, 4>(void)", 1, {});
      ledger::GpuOpRow op{.pid = 7,
                          .device_id = 0,
                          .context_id = 1,
                          .stream_id = 13,
                          .time = span(80, 95),
                          .corr = 2,
                          .graph_id = {},
                          .graph_node_id = {}};
      ledger::CopyRow copy;
      copy.copy_kind = 2;
      copy.src_kind = 3;
      copy.dst_kind = 2;
      copy.async = true;
      copy.bytes = 64;
      w.copy(op, copy);
      ledger::MemEventRow memory;
      memory.pid = 7;
      memory.mem_kind = 3;
      memory.address = 0xffff000000001000;
      memory.bytes = 4096;
      memory.ts_ns = at(5);
      w.mem_event(memory);
    });
    trace_ = ledger::open_trace(folder_.file("t.sptrace"));
  }
  std::string csv(std::string_view table, int64_t expected_rows) {
    std::string out;
    EXPECT_EQ(export_csv(*trace_, table, [&](std::string_view piece) { out += piece; }),
              expected_rows);
    return out;
  }

  ledger::test::TemporaryFolder folder_;
  std::unique_ptr<ledger::Database> trace_;
};

TEST_F(ExportTables, KernelsHaveTheirStage) {
  const std::string t = std::to_string(at(40));
  const std::string e = std::to_string(at(70));
  EXPECT_EQ(csv("kernels", 2),
            "id,pid,device_id,context_id,stream_id,corr,stage,start_ns,end_ns,duration_ns,"
            "graph_id,graph_node_id,kernel,grid_x,grid_y,grid_z,block_x,block_y,block_z,"
            "static_shared_bytes,dynamic_shared_bytes,registers,local_per_thread_bytes,queued_ns,"
            "submitted_ns\n"
            "1,7,0,1,13,1,oods," +
                t + "," + e +
                ",30,,,\"f<int, 4>(void)\",4,1,1,256,1,1,0,1024,40,0,,\n"
                "2,7,0,1,13,1,oods,,,,,,\"f<int, 4>(void)\",4,1,1,256,1,1,0,1024,40,0,,\n");
}

TEST_F(ExportTables, OtherTables) {
  EXPECT_NE(csv("copies", 1).find(",15,,,Device-to-Host,64,3,2,1,,\n"), std::string::npos);
  EXPECT_NE(csv("api", 1).find(",8,runtime,cuLaunchKernel,"), std::string::npos);
  EXPECT_NE(csv("stages", 1).find("1,7,8,oods,"), std::string::npos);
  EXPECT_NE(csv("memory", 1).find(",0xffff000000001000,4096,"), std::string::npos);
  EXPECT_EQ(csv("fills", 0),
            "id,pid,device_id,context_id,stream_id,corr,stage,start_ns,end_ns,duration_ns,"
            "graph_id,graph_node_id,value,bytes,mem_kind\n");
  // Busy: 30 ns of the kernel and 15 of the copy.
  EXPECT_EQ(csv("kernel_stats", 1),
            "kernel,stage,launches,untimed,total_ns,share_of_busy,min_ns,median_ns,max_ns\n"
            "\"f<int, 4>(void)\",oods,2,1,30,0.6666666666666666,30,30,30\n");
}

TEST_F(ExportTables, EveryTableOfTheListCanBeWritten) {
  EXPECT_EQ(export_tables().size(), 13U);
  for (const ExportTable& table : export_tables()) {
    std::string out;
    const int64_t rows =
        export_csv(*trace_, table.name, [&](std::string_view piece) { out += piece; });
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), rows + 1) << table.name;
  }
}

TEST_F(ExportTables, UnknownTable) {
  const auto failure =
      ledger::test::failure_of([&] { export_csv(*trace_, "kernel", [](std::string_view) {}); });
  EXPECT_EQ(failure.code, "EXPORT_TABLE");
  EXPECT_NE(failure.message.find("kernels, copies, fills"), std::string::npos) << failure.message;
}

}  // namespace
}  // namespace prof

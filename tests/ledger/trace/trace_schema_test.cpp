// The schema by itself: what it refuses, that it is documented, and that its indexes are used.
#include "ledger/trace/trace_schema.hpp"

#include <cctype>

#include "tests/ledger/trace/trace_files.hpp"

namespace ledger {
namespace {

using test::code_of;
using test::span;
using test::TemporaryFolder;

TEST(TraceSchema, IsTheFileByteForByte) {
  ASSERT_EQ(kTraceSchema.size(), 1U);
  EXPECT_EQ(kTraceSchema[0].name, "0001_trace.sql");
  EXPECT_TRUE(kTraceSchema[0].text == test::read_file(LEDGER_TEST_TRACE_SQL));
  EXPECT_TRUE(std::string(trace_tables_sql()) + std::string(trace_indexes_sql()) ==
              kTraceSchema[0].text);
}

/// The schema itself refuses the same, for whoever writes without TraceWriter.
TEST(TraceSchema, RefusesInvalidRows) {
  const TemporaryFolder folder;
  Database database(folder.file("t.db"), OpenMode::kCreate);
  database.execute(trace_tables_sql());
  database.execute(trace_indexes_sql());
  database.execute("INSERT INTO str VALUES (1, 'k')");
  const auto insert = [&](const std::string& table, const std::string& values) {
    return code_of([&] { database.execute("INSERT INTO " + table + " VALUES (" + values + ")"); });
  };
  EXPECT_EQ(insert("api", "1,7,8,0,3,1,10,20,5,0"), "");
  EXPECT_EQ(insert("api", "2,7,8,0,3,1,NULL,NULL,5,0"), "");
  EXPECT_EQ(insert("gpu_op", "1,7,1,0,1,13,10,10,5,NULL,NULL"), "");
  for (const char* times : {"20,10", "NULL,10", "10,NULL", "0,0", "0,5"}) {
    EXPECT_EQ(insert("api", "3,7,8,0,3,1," + std::string(times) + ",5,0"), "LEDGER_CONSTRAINT");
    EXPECT_EQ(insert("gpu_op", "2,7,1,0,1,13," + std::string(times) + ",5,NULL,NULL"),
              "LEDGER_CONSTRAINT");
    EXPECT_EQ(insert("sync", "1,7,1,2,NULL,NULL,NULL," + std::string(times) + ",5,NULL"),
              "LEDGER_CONSTRAINT");
    EXPECT_EQ(insert("jit", "1,7,8,1,3,2," + std::string(times) + ",5,6,NULL,NULL"),
              "LEDGER_CONSTRAINT");
    EXPECT_EQ(insert("overhead", "1,7,8,1,NULL,NULL," + std::string(times) + ",NULL"),
              "LEDGER_CONSTRAINT");
  }
  EXPECT_EQ(insert("gpu_op", "2,7,5,0,1,13,10,10,5,NULL,NULL"), "LEDGER_CONSTRAINT");
  EXPECT_EQ(insert("gpu_op", "2,'x',1,0,1,13,10,10,5,NULL,NULL"), "LEDGER_CONSTRAINT");
  EXPECT_EQ(insert("kernel",
                   "9,1,1,1,1,1,1,1,1,1,NULL,NULL,NULL,0,0,NULL,0,0,0,0,NULL,NULL,NULL,"
                   "NULL"),
            "LEDGER_CONSTRAINT");  // no such operation
  EXPECT_EQ(insert("nvtx", "1,7,2,NULL,NULL,8,NULL,10,9,NULL,0,0"), "LEDGER_CONSTRAINT");
  EXPECT_EQ(insert("loss", "'x',0"), "LEDGER_CONSTRAINT");
  EXPECT_EQ(insert("window", "0,'cold',1,2,3,4"), "LEDGER_CONSTRAINT");
  EXPECT_EQ(insert("window", "0,'first',1,3,2,4"), "LEDGER_CONSTRAINT");
}

/// The writer leaves the constraints to this check.
TEST(TraceSchema, QuickCheckFindsInvalidRows) {
  for (const char* row :
       {"1,7,8,0,3,1,20,10,5,0", "1,7,8,0,3,1,NULL,10,5,0", "1,7,8,9,3,1,1,2,5,0"}) {
    const TemporaryFolder folder;
    Database database(folder.file("t.db"), OpenMode::kCreate);
    database.execute(trace_tables_sql());
    database.execute("INSERT INTO str VALUES (1, 'k')");
    EXPECT_EQ(database.query_text("PRAGMA quick_check(1)"), "ok");
    database.execute("PRAGMA ignore_check_constraints=ON");
    database.execute(std::string("INSERT INTO api VALUES (") + row + ")");
    database.execute("PRAGMA ignore_check_constraints=OFF");
    EXPECT_NE(database.query_text("PRAGMA quick_check(1)"), "ok") << row;
  }
}

TEST(TraceSchema, DocumentsEveryTableAndColumn) {
  const std::string_view sql = trace_tables_sql();
  std::string above;
  std::string table;
  int tables = 0;
  int columns = 0;
  size_t begin = 0;
  while (begin < sql.size()) {
    const size_t end = std::min(sql.find('\n', begin), sql.size());
    const std::string line(sql.substr(begin, end - begin));
    begin = end + 1;
    EXPECT_LE(line.size(), 100U) << line;
    if (line.rfind("CREATE TABLE ", 0) == 0) {
      table = line;
      ++tables;
      EXPECT_EQ(above.rfind("-- table: ", 0), 0U) << line;
    } else if (line.rfind("CREATE VIEW ", 0) == 0) {
      EXPECT_EQ(above.rfind("-- view: ", 0), 0U) << line;
    } else if (!table.empty() && line.rfind(')', 0) == 0) {
      EXPECT_NE(line.find("STRICT"), std::string::npos) << table;
      table.clear();
    } else if (!table.empty() && line.rfind("  ", 0) == 0 && std::islower(line[2]) != 0) {
      ++columns;
      EXPECT_NE(line.find("  -- "), std::string::npos) << line;
    }
    // A comment may go over several lines.
    if (line.rfind("-- ", 0) != 0) {
      above.clear();
    } else if (above.empty()) {
      above = line;
    }
  }
  EXPECT_EQ(tables, 23);
  EXPECT_GT(columns, 180);
}

TEST(TraceSchema, CommonLookupsUseIndexes) {
  const TemporaryFolder folder;
  test::write_trace(folder.file("t.sptrace"), [](TraceWriter& writer) {
    for (int i = 0; i < 200; ++i) {
      test::write_call(writer, 8 + i % 2, i, span(2 * i, 2 * i + 1));
      test::write_kernel(writer, "k", i, span(3 * i, 3 * i + 2));
      test::write_range(writer, "oods", 8, i, i + 1);
    }
  });
  const auto trace = open_trace(folder.file("t.sptrace"));
  const auto plan = [&](const std::string& sql) {
    std::string out;
    Statement statement = trace->prepare("EXPLAIN QUERY PLAN " + sql);
    while (statement.step()) out += statement.string(3) + "\n";
    return out;
  };
  const auto uses = [&](const std::string& sql, const std::string& words) {
    EXPECT_NE(plan(sql).find(words), std::string::npos) << sql << "\n" << plan(sql);
  };
  uses("SELECT * FROM api WHERE pid = 7 AND corr = 5", "api_corr (pid=? AND corr=?)");
  uses("SELECT * FROM gpu_op WHERE pid = 7 AND corr = 5", "gpu_op_corr (pid=? AND corr=?)");
  uses("SELECT * FROM gpu_op o JOIN api a ON a.pid = o.pid AND a.corr = o.corr WHERE o.id = 3",
       "api_corr (pid=? AND corr=?)");
  uses("SELECT * FROM api WHERE tid = 8 AND start_ns BETWEEN 1 AND 2",
       "api_thread (tid=? AND start_ns>? AND start_ns<?)");
  uses(
      "SELECT start_ns, end_ns FROM gpu_op WHERE device_id = 0 AND start_ns >= 5 ORDER BY "
      "start_ns",
      "COVERING INDEX gpu_op_device (device_id=? AND start_ns>?)");
  uses("SELECT * FROM gpu_op WHERE context_id = 1 AND stream_id = 13 ORDER BY start_ns",
       "gpu_op_stream (context_id=? AND stream_id=?)");
  uses("SELECT * FROM mem_event WHERE pid = 7 AND device_id = 0 AND address = 5 ORDER BY ts_ns",
       "mem_event_address (pid=? AND device_id=? AND address=?)");
  uses("SELECT * FROM nvtx WHERE tid = 8 AND start_ns <= 5 ORDER BY start_ns DESC",
       "nvtx_thread (tid=? AND start_ns<?)");
  uses("SELECT * FROM kernel WHERE op_id = 5", "INTEGER PRIMARY KEY");
  uses("SELECT id FROM str WHERE value = 'k'", "sqlite_autoindex_str_1");
  uses("SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName",
       "SEARCH k USING INTEGER PRIMARY KEY");
  // The union of a device's operations needs no sorting of rows.
  EXPECT_NE(plan("SELECT * FROM busy_island").find("COVERING INDEX gpu_op_device"),
            std::string::npos);
}

}  // namespace
}  // namespace ledger

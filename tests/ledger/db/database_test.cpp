#include "ledger/db/database.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <limits>
#include <thread>

#include "tests/ledger/support/child.hpp"
#include "tests/ledger/support/temporary_folder.hpp"
#include "tests/support/errors.hpp"

namespace ledger::test {
namespace {

using std::chrono::milliseconds;
using stwo::test::code_of;
using Clock = std::chrono::steady_clock;

int64_t ms_since(Clock::time_point start) {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - start).count();
}

class DatabaseTest : public ::testing::Test {
 protected:
  DatabaseTest() {
    Database database(path_, OpenMode::kCreate);
    database.execute(
        "PRAGMA journal_mode=WAL;"
        "CREATE TABLE thing (row INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, size REAL) STRICT;"
        "INSERT INTO thing (name, size) VALUES ('one', 1.5), ('two', 2.5), ('three', NULL)");
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / "a.db";
};

TEST_F(DatabaseTest, EveryTypeComesBackAsItWentIn) {
  Database database(path_, OpenMode::kReadWrite);
  database.execute("CREATE TABLE any (row INTEGER PRIMARY KEY, value ANY) STRICT");
  const std::string with_zero("a\0b", 3);
  const std::vector<Value> values = {std::monostate{},
                                     std::numeric_limits<int64_t>::min(),
                                     std::numeric_limits<int64_t>::max(),
                                     -0.0,
                                     1e-308,
                                     std::numeric_limits<double>::infinity(),
                                     std::string(),
                                     with_zero,
                                     std::string("é\n\"'"),
                                     Blob{},
                                     Blob{0, 1, 255}};
  Statement insert = database.prepare("INSERT INTO any (value) VALUES (?1)");
  for (const Value& value : values) insert.bind_value(1, value).run();
  Statement select = database.prepare("SELECT value FROM any ORDER BY row");
  for (const Value& value : values) {
    ASSERT_TRUE(select.step());
    EXPECT_EQ(select.value(0), value) << "of index " << value.index();
    EXPECT_EQ(select.is_null(0), std::holds_alternative<std::monostate>(value));
  }
  EXPECT_FALSE(select.step());
  EXPECT_EQ(database.last_insert_row(), static_cast<int64_t>(values.size()));
  EXPECT_EQ(database.changes(), 1);
}

TEST_F(DatabaseTest, NamesColumnsAndParameters) {
  Database database(path_, OpenMode::kReadOnly);
  Statement select =
      database.prepare("SELECT name AS what, size FROM thing WHERE row = :row OR name = ?2");
  EXPECT_EQ(select.column_count(), 2);
  EXPECT_EQ(select.column_name(0), "what");
  EXPECT_EQ(select.parameter_count(), 2);
  EXPECT_EQ(select.parameter_index(":row"), 1);
  EXPECT_EQ(select.parameter_index(":other"), 0);
  EXPECT_EQ(select.parameter_name(1), ":row");
  EXPECT_TRUE(select.is_read_only());
  select.bind_all(3, "none");
  ASSERT_TRUE(select.step());
  EXPECT_EQ(select.string(0), "three");
  EXPECT_EQ(select.optional_integer(1), std::nullopt);
  EXPECT_EQ(select.optional_string(0), "three");
  EXPECT_EQ(value_or_null(std::optional<int>()), Value());
  EXPECT_EQ(value_or_null(std::optional<bool>(true)), Value(int64_t{1}));
  EXPECT_EQ(value_or_null(std::optional<double>(0.5)), Value(0.5));
}

TEST_F(DatabaseTest, ATransactionThatIsNotCommittedHasNotHappened) {
  Database database(path_, OpenMode::kReadWrite);
  {
    const Transaction transaction(database, Transaction::Kind::kWrite);
    EXPECT_TRUE(database.in_transaction());
    database.execute("INSERT INTO thing (name) VALUES ('four')");
  }
  EXPECT_FALSE(database.in_transaction());
  EXPECT_EQ(database.query_integer("SELECT count(*) FROM thing"), 3);
  {
    Transaction transaction(database, Transaction::Kind::kWrite);
    database.execute("INSERT INTO thing (name) VALUES ('four')");
    transaction.commit();
  }
  EXPECT_EQ(database.query_integer("SELECT count(*) FROM thing"), 4);
}

TEST_F(DatabaseTest, EnforcesForeignKeysAndTakesDoubleQuotesForNames) {
  Database database(path_, OpenMode::kReadWrite);
  database.execute(
      "CREATE TABLE part (row INTEGER PRIMARY KEY, thing INTEGER REFERENCES thing (row)) STRICT");
  EXPECT_EQ(code_of([&] { database.execute("INSERT INTO part (thing) VALUES (99)"); }),
            "LEDGER_CONSTRAINT");
  EXPECT_EQ(code_of([&] { database.execute("SELECT \"no column\" FROM thing"); }), "LEDGER_SQL");
}

TEST_F(DatabaseTest, OpensWhateverTheNameIs) {
  for (const std::string name : {"a b.db", "100%.db", "what?.db", "#1.db", "a&mode=ro.db", "%41.db",
                                 "line\nbreak.db", "é.db", "file:x.db"}) {
    Database(folder_ / name, OpenMode::kCreate).execute("CREATE TABLE t (x)");
    EXPECT_TRUE(fs::exists(folder_ / name)) << name;
    EXPECT_EQ(Database(folder_ / name, OpenMode::kReadOnly).query_integer("SELECT count(*) FROM t"),
              0)
        << name;
  }
  // Two slashes must not become the host of a URI.
  EXPECT_EQ(Database("/" + path_, OpenMode::kReadOnly).query_integer("SELECT count(*) FROM thing"),
            3);
  EXPECT_EQ(in_child([&] {
              fs::current_path(folder_.path());
              return Database("a.db", OpenMode::kReadOnly)
                  .query_text("SELECT name FROM thing WHERE row = 1");
            }),
            "one");
}

TEST_F(DatabaseTest, RefusesWhatIsNoDatabaseItMayOpen) {
  const auto open = [](const std::string& path, OpenMode mode) {
    return code_of([&] { Database(path, mode).query_integer("PRAGMA user_version"); });
  };
  write_file(folder_ / "text", "no database, but some text that is long enough to look at\n");
  for (const OpenMode mode : {OpenMode::kReadOnly, OpenMode::kReadWrite}) {
    EXPECT_EQ(open("", mode), "LEDGER_OPEN");
    EXPECT_EQ(open(folder_ / "missing.db", mode), "LEDGER_MISSING");
    EXPECT_EQ(open(folder_ / "missing/a.db", mode), "LEDGER_MISSING");
    EXPECT_EQ(open(folder_.path(), mode), "LEDGER_OPEN");
    EXPECT_EQ(open("/dev/null", mode), "LEDGER_OPEN");
    EXPECT_EQ(open(folder_ / "text", mode), "LEDGER_CORRUPT");
  }
  EXPECT_EQ(open(path_, OpenMode::kCreate), "OUTPUT_EXISTS");
  EXPECT_EQ(open(folder_ / "missing/a.db", OpenMode::kCreate), "LEDGER_OPEN");
  EXPECT_FALSE(fs::exists(folder_ / "missing.db"));
}

TEST_F(DatabaseTest, ErrorsNameTheDatabaseTheCauseAndTheWayOut) {
  Database database(path_, OpenMode::kReadWrite);
  std::string message;
  EXPECT_EQ(code_of([&] { database.prepare("SELECT none\n   FROM thing"); }, &message),
            "LEDGER_SQL");
  EXPECT_EQ(message, "database " + path_ +
                         ": no such column: none in \"SELECT none FROM thing\"; correct the SQL");
  try {
    database.execute("INSERT INTO thing (name) VALUES ('one')");
    ADD_FAILURE() << "a name was given twice";
  } catch (const DatabaseError& e) {
    EXPECT_EQ(e.code(), "LEDGER_CONSTRAINT");
    EXPECT_EQ(e.exit_code(), stwo::ExitCode::kInvalidEvidence);
    EXPECT_EQ(e.sqlite_code(), 2067);  // SQLITE_CONSTRAINT_UNIQUE
  }
  EXPECT_THROW(database.query_integer("SELECT row FROM thing WHERE row = 99"), stwo::ContractError);
}

TEST_F(DatabaseTest, ABusyWriterWaitsTellsOnceAndGivesUp) {
  Database holder(path_, OpenMode::kReadWrite);
  const Transaction lock(holder, Transaction::Kind::kWrite);
  Database waiting(path_, OpenMode::kReadWrite);
  int told = 0;
  const auto begin = [&] {
    return code_of([&] { const Transaction mine(waiting, Transaction::Kind::kWrite); });
  };
  waiting.set_wait(milliseconds(100), [&] { ++told; });
  Clock::time_point start = Clock::now();
  EXPECT_EQ(begin(), "LEDGER_BUSY");
  EXPECT_GE(ms_since(start), 95);
  EXPECT_EQ(told, 0) << "a short wait is not worth a word";

  waiting.set_wait(milliseconds(2000), [&] {
    ++told;
    EXPECT_GE(ms_since(start), 950);
  });
  start = Clock::now();
  try {
    const Transaction mine(waiting, Transaction::Kind::kWrite);
    ADD_FAILURE() << "two writers at once";
  } catch (const DatabaseError& e) {
    EXPECT_EQ(e.code(), "LEDGER_BUSY");
    EXPECT_EQ(e.exit_code(), stwo::ExitCode::kRefused);
    EXPECT_NE(std::string(e.what()).find("another program is writing"), std::string::npos);
  }
  EXPECT_GE(ms_since(start), 1950);
  EXPECT_EQ(told, 1);
}

TEST_F(DatabaseTest, AWriterGoesOnWhenTheOtherHasFinished) {
  Database holder(path_, OpenMode::kReadWrite);
  auto lock = std::make_unique<Transaction>(holder, Transaction::Kind::kWrite);
  std::thread other([&] {
    Database database(path_, OpenMode::kReadWrite);
    database.execute("INSERT INTO thing (name) VALUES ('four')");
  });
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(holder.query_integer("SELECT count(*) FROM thing"), 3);
  lock.reset();
  other.join();
  EXPECT_EQ(holder.query_integer("SELECT count(*) FROM thing"), 4);
}

TEST_F(DatabaseTest, ReadersAreNeverBlockedAndSeeOneState) {
  Database writer(path_, OpenMode::kReadWrite);
  Database reader(path_, OpenMode::kReadOnly);
  reader.set_wait(milliseconds(0));
  {
    Transaction writing(writer, Transaction::Kind::kWrite);
    writer.execute("INSERT INTO thing (name) VALUES ('four')");
    EXPECT_EQ(reader.query_integer("SELECT count(*) FROM thing"), 3);
    const Transaction reading(reader, Transaction::Kind::kRead);
    EXPECT_EQ(reader.query_integer("SELECT count(*) FROM thing"), 3);
    writing.commit();
    EXPECT_EQ(reader.query_integer("SELECT count(*) FROM thing"), 3) << "half way through";
  }
  EXPECT_EQ(reader.query_integer("SELECT count(*) FROM thing"), 4);
}

TEST_F(DatabaseTest, AReaderCannotWrite) {
  Database reader(path_, OpenMode::kReadOnly);
  std::string message;
  EXPECT_EQ(code_of([&] { reader.execute("DELETE FROM thing"); }, &message), "LEDGER_READ_ONLY")
      << message;
}

TEST_F(DatabaseTest, ABackupIsOneStateThoughOthersWrite) {
  const std::string path = folder_ / "small pages.db";
  Database database(path, OpenMode::kCreate);
  database.execute(
      "PRAGMA page_size=512; PRAGMA journal_mode=WAL;"
      "CREATE TABLE thing (row INTEGER PRIMARY KEY, name TEXT) STRICT;"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) "
      "INSERT INTO thing (name) SELECT hex(randomblob(10000)) FROM n");
  const int64_t before = database.query_integer("SELECT count(*) FROM thing");
  Database writer(path, OpenMode::kReadWrite);
  int told = 0;
  Database(path, OpenMode::kReadOnly).backup_to(folder_ / "copy.db", [&](int done, int total) {
    EXPECT_LE(done, total);
    writer.execute("INSERT INTO thing (name) VALUES ('while copying " + std::to_string(++told) +
                   "')");
  });
  EXPECT_GE(told, 2) << "the copy should take several steps";
  EXPECT_EQ(database.query_integer("SELECT count(*) FROM thing"), before + told);
  Database copy(folder_ / "copy.db", OpenMode::kReadOnly);
  EXPECT_EQ(copy.query_integer("SELECT count(*) FROM thing"), before);
  EXPECT_EQ(copy.query_text("PRAGMA integrity_check"), "ok");
}

TEST_F(DatabaseTest, ABackupReplacesNothingAndLeavesNothingHalf) {
  Database database(path_, OpenMode::kReadOnly);
  write_file(folder_ / "there.db", "content");
  EXPECT_EQ(code_of([&] { database.backup_to(folder_ / "there.db", {}); }), "OUTPUT_EXISTS");
  EXPECT_EQ(read_file(folder_ / "there.db"), "content");
  struct Stopped {};
  EXPECT_THROW(database.backup_to(folder_ / "copy.db", [](int, int) { throw Stopped(); }), Stopped);
  EXPECT_FALSE(fs::exists(folder_ / "copy.db"));
  EXPECT_FALSE(fs::exists(folder_ / "copy.db-journal"));
  EXPECT_FALSE(database.in_transaction());
}

TEST_F(DatabaseTest, AttachesAnotherDatabaseToReadIt) {
  Database(folder_ / "other #1.db", OpenMode::kCreate).execute("CREATE TABLE t AS SELECT 7 AS x");
  Database database(path_, OpenMode::kReadWrite);
  database.attach_read_only(folder_ / "other #1.db", "other");
  EXPECT_EQ(database.query_integer("SELECT x FROM other.t"), 7);
  EXPECT_EQ(code_of([&] { database.execute("DELETE FROM other.t"); }), "LEDGER_READ_ONLY");
  EXPECT_EQ(code_of([&] { database.attach_read_only(folder_ / "missing.db", "m"); }),
            "LEDGER_OPEN");
  EXPECT_FALSE(fs::exists(folder_ / "missing.db"));
}

TEST_F(DatabaseTest, PreparesOneStatementOnly) {
  Database database(path_, OpenMode::kReadOnly);
  for (const char* sql : {"SELECT 1", "SELECT 1;", "SELECT 1; -- and no more", "-- first\nSELECT 1",
                          "SELECT 1;;  /* nothing */ ;"}) {
    EXPECT_TRUE(database.prepare_only(sql).step()) << sql;
  }
  for (const char* sql :
       {"SELECT 1; SELECT 2", "SELECT 1;; SELECT 2", "SELECT 1; DELETE FROM thing",
        "SELECT 1; /* */ ATTACH 'x' AS y", "SELECT 1; nonsense", "", " ", "-- nothing", ";"}) {
    EXPECT_EQ(code_of([&] { database.prepare_only(sql); }), "LEDGER_SQL") << sql;
  }
}

// --- SQL of unknown origin

class RestrictedTest : public DatabaseTest {
 protected:
  /// What a query answers: its first value, or "CODE" of what it throws.
  std::string ask(const std::string& sql, const QueryLimits& limits = {}) {
    Database database(path_, mode_);
    database.restrict_to_queries(limits);
    std::string out;
    const std::string code = code_of(
        [&] {
          Statement statement = database.prepare_only(sql);
          if (statement.step()) out = statement.string(0);
          while (statement.step()) {
          }
        },
        &message_);
    return code == "nothing" ? out : code;
  }

  OpenMode mode_ = OpenMode::kReadOnly;
  std::string message_;
};

TEST_F(RestrictedTest, ReadsInEveryWay) {
  EXPECT_EQ(ask("SELECT name FROM thing WHERE row = 2"), "two");
  EXPECT_EQ(ask("WITH t AS (SELECT max(size) AS m FROM thing) SELECT m FROM t"), "2.5");
  EXPECT_EQ(ask("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) "
                "SELECT sum(i) FROM n"),
            "45");
  EXPECT_EQ(ask("SELECT json_extract('{\"a\":[1,2]}', '$.a[1]')"), "2");
  EXPECT_EQ(ask("SELECT value FROM json_each('[5,6]') ORDER BY value DESC"), "6");
  EXPECT_EQ(ask("SELECT sum(row) OVER (ORDER BY row DESC) FROM thing"), "3");
  EXPECT_EQ(ask("VALUES (8), (9)"), "8");
  EXPECT_EQ(ask("SELECT count(*) FROM sqlite_schema"), "2");
  EXPECT_EQ(ask("SELECT name FROM pragma_table_info('thing') WHERE cid = 1"), "name");
  EXPECT_EQ(ask("PRAGMA table_info(thing)"), "0");
  EXPECT_EQ(ask("PRAGMA user_version"), "0");
  EXPECT_EQ(ask("SELECT replace(printf('%05d', 7), '0', 'x') || strftime('%Y', 0, 'unixepoch')"),
            "xxxx71970");
  // Their answers are for people: anything but an error.
  EXPECT_EQ(ask("EXPLAIN QUERY PLAN SELECT * FROM thing WHERE name = 'one'").find("LEDGER"),
            std::string::npos);
  EXPECT_EQ(ask("EXPLAIN SELECT * FROM thing").find("LEDGER"), std::string::npos);
}

TEST_F(RestrictedTest, WritesInNoWay) {
  const std::string out = folder_ / "out";
  const std::vector<std::string> refused = {
      "INSERT INTO thing (name) VALUES ('x')",
      "INSERT INTO thing (name) SELECT name || 'x' FROM thing RETURNING row",
      "REPLACE INTO thing (row, name) VALUES (1, 'x')",
      "UPDATE thing SET name = 'x'",
      "DELETE FROM thing",
      "WITH t AS (SELECT 'x' AS n) INSERT INTO thing (name) SELECT n FROM t",
      "WITH t AS (SELECT 1) DELETE FROM thing",
      "EXPLAIN DELETE FROM thing",
      "EXPLAIN QUERY PLAN UPDATE thing SET name = 'x'",
      "CREATE TABLE t (x)",
      "CREATE TEMP TABLE t (x)",
      "CREATE TEMP VIEW t AS SELECT 1",
      "CREATE INDEX i ON thing (size)",
      "CREATE TRIGGER t BEFORE INSERT ON thing BEGIN SELECT 1; END",
      "CREATE VIRTUAL TABLE t USING fts5 (x)",
      "CREATE TABLE t AS SELECT * FROM thing",
      "DROP TABLE thing",
      "ALTER TABLE thing RENAME TO other",
      "ALTER TABLE thing ADD COLUMN x",
      "ATTACH '" + out + "' AS o",
      "ATTACH ':memory:' AS o",
      "DETACH main",
      "VACUUM",
      "VACUUM INTO '" + out + "'",
      "REINDEX",
      "ANALYZE",
      "BEGIN",
      "BEGIN IMMEDIATE",
      "COMMIT",
      "ROLLBACK",
      "SAVEPOINT s",
      "PRAGMA journal_mode=DELETE",
      "PRAGMA query_only=OFF",
      "PRAGMA writable_schema=ON",
      "PRAGMA user_version=7",
      "PRAGMA application_id=7",
      "PRAGMA foreign_keys=OFF",
      "PRAGMA wal_checkpoint",
      "PRAGMA temp_store_directory='/'",
      "PRAGMA main.user_version=7",
      "SELECT load_extension('/tmp/x.so')",
      "SELECT LOAD_EXTENSION('/tmp/x.so', 'entry')",
      "SELECT writefile('" + out + "', 'x')",
      "SELECT readfile('/etc/passwd')",
      "SELECT edit('x')",
      "SELECT fts3_tokenizer('x')",
      "SELECT zeroblob(100)",
      "SELECT hex(randomblob(100))",
      "SELECT 1; DELETE FROM thing",
      "SELECT * FROM thing; ATTACH '" + out + "' AS o",
      "DELETE FROM thing; SELECT 1",
      "SELECT * FROM pragma_journal_mode('delete')",
      "SELECT * FROM pragma_wal_checkpoint",
  };
  for (const OpenMode mode : {OpenMode::kReadOnly, OpenMode::kReadWrite}) {
    mode_ = mode;
    for (const std::string& sql : refused) {
      const std::string answer = ask(sql);
      EXPECT_TRUE(answer == "LEDGER_QUERY_REFUSED" || answer == "LEDGER_SQL")
          << sql << " answers " << answer << " " << message_;
    }
  }
  Database database(path_, OpenMode::kReadOnly);
  EXPECT_EQ(
      database.query_text("SELECT group_concat(name) FROM (SELECT name FROM thing ORDER BY row)"),
      "one,two,three");
  EXPECT_EQ(database.query_integer("PRAGMA user_version"), 0);
  EXPECT_EQ(database.query_text("PRAGMA journal_mode"), "wal");
  EXPECT_FALSE(fs::exists(out));
}

TEST_F(RestrictedTest, ARefusalSaysWhatIsAllowed) {
  try {
    Database database(path_, OpenMode::kReadOnly);
    database.restrict_to_queries({});
    database.prepare_only("DROP TABLE thing");
    ADD_FAILURE() << "not refused";
  } catch (const DatabaseError& e) {
    EXPECT_EQ(e.code(), "LEDGER_QUERY_REFUSED");
    EXPECT_EQ(e.exit_code(), stwo::ExitCode::kRefused);
    EXPECT_NE(std::string(e.what()).find("only SELECT, WITH and EXPLAIN"), std::string::npos);
  }
}

TEST_F(RestrictedTest, EndlessQueriesStopInTime) {
  QueryLimits limits;
  limits.timeout = milliseconds(250);
  const std::string endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) ";
  for (const std::string& sql :
       {endless + "SELECT count(*) FROM n", endless + "SELECT i FROM n WHERE i < 0",
        endless + "SELECT max(a.i) FROM n AS a, n AS b",
        std::string("WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n) SELECT 1 FROM n "
                    "WHERE i = 0")}) {
    const Clock::time_point start = Clock::now();
    EXPECT_EQ(ask(sql, limits), "LEDGER_LIMIT") << sql;
    EXPECT_GE(ms_since(start), 240) << sql;
    EXPECT_LT(ms_since(start), 5000) << sql;
    EXPECT_NE(message_.find("stopped after 250 ms"), std::string::npos) << message_;
  }
}

TEST_F(RestrictedTest, TellsThatItIsStillAskingAndCanStartTheClockAgain) {
  QueryLimits limits;
  limits.timeout = milliseconds(450);
  Database database(path_, OpenMode::kReadOnly);
  int told = 0;
  database.restrict_to_queries(limits, [&] { ++told; });
  const std::string endless =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
  EXPECT_EQ(code_of([&] { database.query_integer(endless); }), "LEDGER_LIMIT");
  EXPECT_GE(told, 1);
  EXPECT_LE(told, 5);
  EXPECT_EQ(code_of([&] { database.query_integer(endless); }), "LEDGER_LIMIT") << "no time left";
  database.restart_clock();
  EXPECT_EQ(database.query_integer("SELECT count(*) FROM thing"), 3);
}

TEST_F(RestrictedTest, HugeValuesAreRefused) {
  QueryLimits limits;
  limits.max_bytes = 1 << 20;
  EXPECT_EQ(ask("SELECT length(printf('%1000000d', 1))", limits), "1000000");
  for (const char* sql :
       {"SELECT hex(printf('%1000000d', 1))",
        "SELECT replace(printf('%1000000d', 1), ' ', '0123456789')",
        "SELECT replace(replace(replace(printf('%1000d', 1), ' ', printf('%1000d', 1)), ' ', "
        "printf('%1000d', 1)), ' ', printf('%1000d', 1))",
        "SELECT group_concat(printf('%100000d', 1)) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION "
        "ALL SELECT i + 1 FROM n LIMIT 100) SELECT i FROM n)",
        "WITH RECURSIVE n(s) AS (SELECT 'xx' UNION ALL SELECT s || s FROM n) SELECT max(s) FROM n",
        "SELECT json_group_array(printf('%100000d', 1)) FROM (WITH RECURSIVE n(i) AS (SELECT 1 "
        "UNION ALL SELECT i + 1 FROM n LIMIT 100) SELECT i FROM n)"}) {
    EXPECT_EQ(ask(sql, limits), "LEDGER_LIMIT") << sql << message_;
  }
  // These give NULL instead.
  for (const char* sql :
       {"SELECT printf('%2000000d', 1) IS NULL", "SELECT printf('%.*c', 20000000, 'x') IS NULL",
        "SELECT quote(printf('%1048576d', 1)) = 'NULL'"}) {
    EXPECT_EQ(ask(sql, limits), "1") << sql << message_;
  }
  // No comparison is so long that the clock is forgotten.
  EXPECT_EQ(ask("SELECT 'x' LIKE printf('%.*c', 2000, '%')", limits), "LEDGER_SQL") << message_;
  // Neither depth nor length of SQL can exhaust the stack or the memory.
  EXPECT_EQ(ask("SELECT " + std::string(5000, '(') + "1" + std::string(5000, ')'), limits),
            "LEDGER_SQL");
  EXPECT_EQ(ask("SELECT 1 -- " + std::string(2 << 20, 'x'), limits), "LEDGER_LIMIT");
}

TEST(SqliteVersion, IsTheOneTheSchemaNeeds) {
  // STRICT tables came with 3.37.
  const std::string version = sqlite_version();
  EXPECT_EQ(version.substr(0, 2), "3.");
  EXPECT_GE(std::stoi(version.substr(2)), 37);
}

}  // namespace
}  // namespace ledger::test

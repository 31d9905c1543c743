// Making, recognising and migrating ledgers.
#include "ledger/store/schema.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <regex>

#include "ledger/schema/ledger_schema.hpp"
#include "ledger/store/check.hpp"
#include "prover/hash/sha256.hpp"
#include "tests/ledger/support/child.hpp"
#include "tests/ledger/support/full_ledger.hpp"
#include "tests/ledger/support/temporary_folder.hpp"
#include "tests/support/errors.hpp"

namespace ledger::test {
namespace {

using stwo::test::code_of;

/// "CODE exit code" of what opening throws, "nothing 0" without an error.
std::string open_result(const std::string& path, Access access, std::string* message = nullptr) {
  try {
    const Ledger ledger(path, access);
    return "nothing 0";
  } catch (const stwo::Error& e) {
    if (message != nullptr) *message = e.what();
    return e.code() + " " + std::to_string(static_cast<int>(e.exit_code()));
  }
}

TEST(SchemaFiles, AreNumberedFromOne) {
  // A gap would make the number of a file and its version differ.
  const auto files = ledger_schema_files();
  ASSERT_GE(files.size(), 1u);
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string number = std::to_string(10'000 + i + 1).substr(1);
    EXPECT_EQ(files[i].name.substr(0, 5), number + "_");
  }
  EXPECT_EQ(newest_schema_version(), static_cast<int64_t>(files.size()));
}

class SchemaTest : public ::testing::Test {
 protected:
  /// Sets a pragma on a connection that is not ours.
  void set(const std::string& pragma) {
    Database(path_, OpenMode::kReadWrite).execute("PRAGMA " + pragma);
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / "a.db";
};

TEST_F(SchemaTest, InitMakesAnEmptyLedgerAndNothingElse) {
  Ledger::init(path_);
  EXPECT_EQ(files_under(folder_.path()), std::vector<std::string>{"a.db"});
  Ledger ledger(path_, Access::kRead);
  EXPECT_EQ(ledger.schema_version(), newest_schema_version());
  EXPECT_EQ(ledger.database().query_integer("PRAGMA application_id"), kLedgerApplicationId);
  EXPECT_EQ(ledger.database().query_text("PRAGMA journal_mode"), "wal");
  EXPECT_TRUE(is_ulid(ledger.id()));
  EXPECT_EQ(findings_of(ledger), "");
  EXPECT_EQ(ledger.database().query_text("SELECT kind || ' ' || subject FROM entry"),
            "init ledger");
  for (const std::string& table : tables_of(ledger.database())) {
    const bool own = table == "meta" || table == "migration" || table.starts_with("entry");
    EXPECT_EQ(count_rows(ledger.database(), table) == 0, !own) << table;
    // STRICT, and with a row number that the chain can count.
    Statement select = ledger.database().prepare("SELECT strict FROM pragma_table_list(?1)");
    select.bind(1, std::string_view(table));
    ASSERT_TRUE(select.step());
    EXPECT_EQ(select.integer(0), 1) << table;
    EXPECT_EQ(columns_of(ledger.database(), table).front(), table == "entry" ? "seq" : "row");
  }
}

TEST_F(SchemaTest, InitReplacesNothing) {
  Ledger::init(path_);
  const std::string before = read_file(path_);
  EXPECT_EQ(code_of([&] { Ledger::init(path_); }), "OUTPUT_EXISTS");
  EXPECT_EQ(read_file(path_), before);
  fs::create_symlink(folder_ / "nowhere", folder_ / "link.db");
  EXPECT_EQ(code_of([&] { Ledger::init(folder_ / "link.db"); }), "OUTPUT_EXISTS");
  EXPECT_EQ(code_of([&] { Ledger::init(folder_.path()); }), "OUTPUT_EXISTS");
  EXPECT_EQ(code_of([&] { Ledger::init(folder_ / "missing/a.db"); }), "OUTPUT_DIRECTORY");
  EXPECT_EQ(files_under(folder_.path()), (std::vector<std::string>{"a.db", "link.db"}));
}

TEST_F(SchemaTest, OnlyOneOfManyInitsMakesALedger) {
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 6; ++i) {
    children.push_back(std::make_unique<Child>([&](int output) {
      Ledger::init(path_);
      write_all(output, "made");
    }));
  }
  int made = 0;
  for (auto& child : children) {
    const std::string out = child->read_all();
    if (out == "made") {
      ++made;
    } else {
      EXPECT_EQ(out.substr(0, out.find(' ')), "OUTPUT_EXISTS");
    }
  }
  EXPECT_EQ(made, 1);
  EXPECT_EQ(files_under(folder_.path()), std::vector<std::string>{"a.db"});
  EXPECT_EQ(findings_of(path_), "");
}

TEST_F(SchemaTest, RefusesWhatIsNoLedger) {
  write_file(folder_ / "empty.db", "");
  write_file(folder_ / "short.txt", "no database\n");
  write_file(folder_ / "long.txt", std::string(100'000, 'x'));
  write_file(folder_ / "zeros.db", std::string(8192, '\0'));
  Database(folder_ / "foreign.db", OpenMode::kCreate)
      .execute("PRAGMA application_id=7; CREATE TABLE entry (x)");
  Database(folder_ / "anonymous.db", OpenMode::kCreate).execute("CREATE TABLE entry (x)");
  Database(folder_ / "vacuum.db", OpenMode::kCreate)
      .execute("CREATE TABLE t (x); DROP TABLE t; VACUUM");
  Database(folder_ / "unnumbered.db", OpenMode::kCreate)
      .execute("PRAGMA application_id=" + std::to_string(kLedgerApplicationId) +
               "; CREATE TABLE t (x)");
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"empty.db", "LEDGER_FOREIGN 3"},       {"foreign.db", "LEDGER_FOREIGN 3"},
      {"anonymous.db", "LEDGER_FOREIGN 3"},   {"vacuum.db", "LEDGER_FOREIGN 3"},
      {"short.txt", "LEDGER_CORRUPT 3"},      {"long.txt", "LEDGER_CORRUPT 3"},
      {"zeros.db", "LEDGER_CORRUPT 3"},       {"unnumbered.db", "LEDGER_CORRUPT 3"},
      {"missing.db", "LEDGER_MISSING 2"},     {"missing/a.db", "LEDGER_MISSING 2"},
      {"short.txt/a.db", "LEDGER_MISSING 2"}, {".", "LEDGER_OPEN 2"}};
  const std::vector<std::string> before = files_under(folder_.path());
  for (const auto& [name, result] : expected) {
    const std::string path = folder_ / name;
    const std::string content = fs::is_regular_file(path) ? read_file(path) : "";
    std::string message;
    for (const Access access : {Access::kRead, Access::kAppend}) {
      EXPECT_EQ(open_result(path, access, &message), result) << name << ": " << message;
      EXPECT_NE(message.find(path), std::string::npos) << message;
      EXPECT_NE(message.find(';'), std::string::npos) << "no way out in: " << message;
    }
    EXPECT_EQ(code_of([&] { migrate_ledger(path, {}); }), result.substr(0, result.find(' ')))
        << name;
    if (fs::is_regular_file(path)) {
      EXPECT_EQ(read_file(path), content) << name;
    }
  }
  EXPECT_EQ(files_under(folder_.path()), before) << "looking must leave nothing behind";
  EXPECT_EQ(open_result("", Access::kRead), "LEDGER_OPEN 2");
}

TEST_F(SchemaTest, ANewerLedgerIsReadWithANoteAndNotAppendedTo) {
  const int64_t newer = newest_schema_version() + 1;
  Ledger::init(path_);
  {
    Ledger ledger(path_, Access::kAppend);
    fill_every_table(ledger);
    Append append(ledger, "migrate", std::to_string(newer));
    append.insert("migration", {{"version", newer},
                                {"sql_sha256", digest_of("a file of the future")},
                                {"tool_version", "ledger 99"},
                                {"applied_utc", utc_now()}});
    append.commit();
  }
  set("user_version=" + std::to_string(newer));
  LedgerOptions options;
  std::vector<std::string> notes;
  options.on_note = [&](const std::string& note) { notes.push_back(note); };
  {
    Ledger ledger(path_, Access::kRead, options);
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_NE(notes[0].find("schema version " + std::to_string(newer)), std::string::npos);
    EXPECT_GT(count_rows(ledger.database(), "run"), 0);
    EXPECT_EQ(findings_of(ledger), "");
  }
  std::string message;
  EXPECT_EQ(open_result(path_, Access::kAppend, &message), "LEDGER_NEWER 5");
  EXPECT_EQ(code_of([&] { migrate_ledger(path_, {}); }), "LEDGER_NEWER");
  EXPECT_EQ(files_under(folder_.path()).size(), 1 + files_under(artifact_folder(path_)).size())
      << "a refused migration makes no backup";
}

TEST_F(SchemaTest, AMigrationWithNothingToDoDoesNothing) {
  Ledger::init(path_);
  const std::string before = read_file(path_);
  const MigrationResult result = migrate_ledger(path_, {});
  EXPECT_EQ(result.from, newest_schema_version());
  EXPECT_EQ(result.to, newest_schema_version());
  EXPECT_EQ(result.backup_path, "");
  EXPECT_EQ(files_under(folder_.path()), std::vector<std::string>{"a.db"});
  EXPECT_EQ(read_file(path_), before);
}

class OldSchemaTest : public SchemaTest, public ::testing::WithParamInterface<int64_t> {
 protected:
  OldSchemaTest() {
    init_ledger(path_, version());
    Ledger ledger(Ledger::AnyVersion{}, path_, {});
    fill_every_table(ledger);
    rows_ = dump(ledger.database());
    head_ = ledger.head();
  }
  static int64_t version() { return GetParam(); }
  /// Findings, whatever the version.
  static std::string findings(const std::string& path) {
    Ledger ledger(Ledger::AnyVersion{}, path, {});
    return findings_of(ledger);
  }

  std::map<std::string, std::vector<std::string>> rows_;
  std::string head_;
};

TEST_P(OldSchemaTest, HasRowsInEveryTableAndIsSound) {
  for (const auto& [table, rows] : rows_) EXPECT_FALSE(rows.empty()) << table;
  EXPECT_EQ(findings(path_), "");
}

TEST_P(OldSchemaTest, IsRefusedUntilItIsMigrated) {
  for (const Access access : {Access::kRead, Access::kAppend}) {
    std::string message;
    EXPECT_EQ(open_result(path_, access, &message), "LEDGER_OLD 5");
    EXPECT_NE(message.find("run `ledger migrate`"), std::string::npos) << message;
    EXPECT_NE(message.find("version " + std::to_string(version())), std::string::npos) << message;
  }
}

TEST_P(OldSchemaTest, MigratesWithoutAChangeToItsRows) {
  const int64_t newest = newest_schema_version();
  std::vector<std::string> steps;
  const MigrationResult result =
      migrate_ledger(path_, {}, [&](const std::string& step) { steps.push_back(step); });
  EXPECT_EQ(result.from, version());
  EXPECT_EQ(result.to, newest);
  std::vector<std::string> expected_steps = {"backup"};
  for (int64_t v = version(); v < newest; ++v) {
    expected_steps.emplace_back(ledger_schema_files()[static_cast<size_t>(v)].name);
  }
  for (const char* step : {"check", "commit", "done"}) expected_steps.emplace_back(step);
  EXPECT_EQ(steps, expected_steps);

  Ledger ledger(path_, Access::kAppend);
  Database& database = ledger.database();
  EXPECT_EQ(ledger.schema_version(), newest);
  CheckOptions options;
  options.head = head_;
  EXPECT_EQ(findings_of(ledger, options), "");
  // Some tables have more rows: one migration per step, and one entry for all of them.
  auto rows = dump(database);
  std::map<std::string, size_t> more;
  for (const auto& [table, old] : rows_) {
    std::vector<std::string>& now = rows.at(table);
    ASSERT_GE(now.size(), old.size()) << table;
    if (now.size() != old.size()) more[table] = now.size() - old.size();
    now.resize(old.size());
    EXPECT_EQ(now, old) << table;
  }
  EXPECT_EQ(more, (std::map<std::string, size_t>{
                      {"entry", 1},
                      {"entry_rows", 1},
                      {"migration", static_cast<size_t>(newest - version())}}));
  Statement entry = database.prepare(
      "SELECT kind || ' ' || subject, prev_sha256 FROM entry ORDER BY seq DESC LIMIT 1");
  ASSERT_TRUE(entry.step());
  EXPECT_EQ(entry.string(0), "migrate " + std::to_string(newest));
  EXPECT_EQ(entry.string(1), head_);
  Statement migrations =
      database.prepare("SELECT version, sql_sha256, tool_version FROM migration ORDER BY row");
  for (int64_t v = 1; v <= newest; ++v) {
    ASSERT_TRUE(migrations.step());
    EXPECT_EQ(migrations.integer(0), v);
    EXPECT_EQ(migrations.string(1),
              stwo::sha256_hex(ledger_schema_files()[static_cast<size_t>(v - 1)].text));
    EXPECT_EQ(migrations.string(2), tool_version());
  }
  // Append-only as before, the new tables, too.
  for (const std::string& table : tables_of(database)) {
    Statement triggers = database.prepare(
        "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 AND name IN "
        "(?1 || '_no_update', ?1 || '_no_delete')");
    triggers.bind(1, std::string_view(table));
    ASSERT_TRUE(triggers.step());
    EXPECT_EQ(triggers.integer(0), 2) << table;
  }
  fill_every_table(ledger, "after");
  EXPECT_EQ(findings_of(ledger), "");
}

TEST_P(OldSchemaTest, LeavesABackupOfTheOldVersion) {
  const MigrationResult result = migrate_ledger(path_, {});
  EXPECT_TRUE(std::regex_match(
      result.backup_path.substr(path_.size()),
      std::regex("\\.v" + std::to_string(version()) + "\\.\\d{8}T\\d{9}Z\\.backup")))
      << result.backup_path;
  fs::copy_file(result.backup_path, folder_ / "b.db");
  fs::copy(artifact_folder(path_), folder_ / "b.artifacts", fs::copy_options::recursive);
  EXPECT_EQ(findings(folder_ / "b.db"), "");
  Ledger backup(Ledger::AnyVersion{}, folder_ / "b.db", {});
  EXPECT_EQ(backup.schema_version(), version());
  EXPECT_EQ(dump(backup.database()), rows_);
  // And it can be migrated in its turn.
  EXPECT_EQ(migrate_ledger(folder_ / "b.db", {}).from, version());
}

TEST_P(OldSchemaTest, StaysAsItWasIfTheMigrationFails) {
  {
    Database database(path_, OpenMode::kReadWrite);
    database.execute(
        "PRAGMA foreign_keys=OFF;"
        "INSERT INTO entry_rows (seq, table_name, first_row, row_count, digests) "
        "VALUES (999, 'x', 1, 1, zeroblob(32))");
    rows_ = dump(database);
  }
  std::string message;
  EXPECT_EQ(code_of([&] { migrate_ledger(path_, {}); }, &message), "LEDGER_CORRUPT");
  EXPECT_NE(message.find("foreign_key_check"), std::string::npos) << message;
  struct Stopped {};
  EXPECT_THROW(migrate_ledger(path_, {},
                              [](const std::string& step) {
                                if (step == "check") throw Stopped();
                              }),
               Stopped);
  Ledger ledger(Ledger::AnyVersion{}, path_, {});
  EXPECT_EQ(ledger.schema_version(), version());
  EXPECT_EQ(dump(ledger.database()), rows_);
}

TEST_P(OldSchemaTest, WaitsForAWriterAndThenMigratesItsRowsToo) {
  auto writer = std::make_unique<Ledger>(Ledger::AnyVersion{}, path_, LedgerOptions());
  auto append = std::make_unique<Append>(*writer, "test", "slow");
  append->add_artifact("other", "a", "slow");
  LedgerOptions impatient;
  impatient.wait = std::chrono::milliseconds(20);
  EXPECT_EQ(code_of([&] { migrate_ledger(path_, impatient); }), "LEDGER_BUSY");
  append->commit();
  append.reset();
  writer.reset();
  const MigrationResult result = migrate_ledger(path_, impatient);
  EXPECT_EQ(result.from, version());
  EXPECT_EQ(findings_of(path_), "");
  EXPECT_EQ(count_rows(Ledger(path_, Access::kRead).database(), "artifact"),
            static_cast<int64_t>(rows_.at("artifact").size()) + 1);
}

TEST_P(OldSchemaTest, OnlyOneOfTwoMigrationsMigrates) {
  const auto migrate = [&](int output) {
    const MigrationResult result = migrate_ledger(path_, {});
    write_all(output, result.from == result.to ? "found it done" : "migrated");
  };
  Child a(migrate);
  Child b(migrate);
  std::vector<std::string> results = {a.read_all(), b.read_all()};
  std::sort(results.begin(), results.end());
  EXPECT_EQ(results, (std::vector<std::string>{"found it done", "migrated"}));
  EXPECT_EQ(findings_of(path_), "");
  const std::vector<std::string> files = files_under(folder_.path());
  EXPECT_EQ(std::count_if(files.begin(), files.end(),
                          [](const std::string& f) { return f.ends_with(".backup"); }),
            1);
}

INSTANTIATE_TEST_SUITE_P(Version, OldSchemaTest,
                         ::testing::Range(int64_t{1}, newest_schema_version()),
                         [](const auto& version) { return std::to_string(version.param); });

}  // namespace
}  // namespace ledger::test

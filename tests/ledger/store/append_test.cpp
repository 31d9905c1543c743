// Appends: all or nothing, nothing but appends, one at a time.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "ledger/store/check.hpp"
#include "ledger/store/ledger.hpp"
#include "tests/ledger/support/child.hpp"
#include "tests/ledger/support/full_ledger.hpp"
#include "tests/ledger/support/temporary_folder.hpp"
#include "tests/support/errors.hpp"

namespace ledger::test {
namespace {

using std::chrono::milliseconds;
using stwo::test::code_of;
using Clock = std::chrono::steady_clock;

class AppendTest : public ::testing::Test {
 protected:
  AppendTest() { Ledger::init(path_); }

  static void add_workload(Append& append, const std::string& name) {
    append.insert("workload", {{"workload_id", name}, {"config", "fast"}});
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / "a.db";
};

TEST_F(AppendTest, TheSampleLedgerHasRowsInEveryTable) {
  Ledger ledger(path_, Access::kAppend);
  fill_every_table(ledger);
  for (const std::string& table : tables_of(ledger.database())) {
    EXPECT_GT(count_rows(ledger.database(), table), 0) << table;
  }
  fill_every_table(ledger, "b");
  EXPECT_EQ(findings_of(ledger), "");
  EXPECT_EQ(findings_of(path_), "");
}

TEST_F(AppendTest, WritesOneEntryThatCoversItsRows) {
  Ledger ledger(path_, Access::kAppend);
  EXPECT_TRUE(is_ulid(ledger.id()));
  const std::string before = ledger.head();
  Append append(ledger, "test.kind", "test subject");
  EXPECT_EQ(append.insert("workload", {{"workload_id", "a"}, {"config", "fast"}}), 1);
  EXPECT_EQ(append.insert("workload", {{"workload_id", "b"}, {"config", "fast"}}), 2);
  const int64_t artifact = append.add_artifact("other", "name.txt", "content");
  const std::string head = append.commit();
  EXPECT_EQ(ledger.head(), head);
  Database& database = ledger.database();
  Statement entry = database.prepare(
      "SELECT seq, prev_sha256, kind, subject, tool_version FROM entry WHERE entry_sha256 = ?1");
  entry.bind(1, std::string_view(head));
  ASSERT_TRUE(entry.step());
  EXPECT_EQ(entry.string(1), before);
  EXPECT_EQ(entry.string(2), "test.kind");
  EXPECT_EQ(entry.string(3), "test subject");
  EXPECT_EQ(entry.string(4), tool_version());
  Statement rows = database.prepare(
      "SELECT table_name || ' ' || first_row || ' ' || row_count FROM entry_rows WHERE seq = ?1 "
      "ORDER BY row");
  rows.bind(1, entry.integer(0));
  ASSERT_TRUE(rows.step());
  EXPECT_EQ(rows.string(0), "artifact 1 1");
  ASSERT_TRUE(rows.step());
  EXPECT_EQ(rows.string(0), "workload 1 2");
  EXPECT_FALSE(rows.step());

  Statement file =
      database.prepare("SELECT sha256, kind, bytes, file_name FROM artifact WHERE row = ?1");
  file.bind(1, artifact);
  ASSERT_TRUE(file.step());
  EXPECT_EQ(file.string(0), digest_of("content"));
  EXPECT_EQ(file.string(1), "other");
  EXPECT_EQ(file.integer(2), 7);
  EXPECT_EQ(file.string(3), "name.txt");
  EXPECT_EQ(ledger.find_artifact(digest_of("content")), artifact);
  EXPECT_EQ(ledger.read_artifact(digest_of("content")), "content");
}

TEST_F(AppendTest, WritesThroughToTheDisk) {
  // No test can pull the plug: this is what SQLite is asked for.
  Ledger ledger(path_, Access::kAppend);
  EXPECT_EQ(ledger.database().query_text("PRAGMA journal_mode"), "wal");
  EXPECT_EQ(ledger.database().query_integer("PRAGMA synchronous"), 2);
  EXPECT_EQ(ledger.database().query_integer("PRAGMA foreign_keys"), 1);
}

TEST_F(AppendTest, WithoutRowsThereIsNoEntry) {
  Ledger ledger(path_, Access::kAppend);
  const auto before = dump(ledger.database());
  EXPECT_EQ(Append(ledger, "test", "nothing").commit(), "");
  EXPECT_EQ(dump(ledger.database()), before);
}

TEST_F(AppendTest, WithoutCommitNothingHasHappened) {
  Ledger ledger(path_, Access::kAppend);
  const auto before = dump(ledger.database());
  {
    Append append(ledger, "test", "forgotten");
    add_workload(append, "a");
    append.add_artifact("other", "name", "content");
    EXPECT_TRUE(fs::exists(ledger.artifact_path(digest_of("content"))));
  }
  EXPECT_EQ(code_of([&] {
              Append append(ledger, "test", "refused");
              append.add_artifact("other", "name", "content");
              add_workload(append, "a");
              append.insert("workload", {{"workload_id", "b"}});
            }),
            "LEDGER_CONSTRAINT");
  EXPECT_EQ(dump(ledger.database()), before);
  EXPECT_FALSE(fs::exists(ledger.artifact_path(digest_of("content"))));
  EXPECT_FALSE(ledger.artifacts().has_incoming());
  EXPECT_EQ(findings_of(ledger), "");
}

TEST_F(AppendTest, AnArtifactIsStoredOnce) {
  Ledger ledger(path_, Access::kAppend);
  write_file(folder_ / "file", "content");
  Append first(ledger, "test", "1");
  const int64_t row = first.add_artifact("other", "a", "content");
  EXPECT_EQ(first.add_artifact("plan", "b", "content"), row);
  EXPECT_EQ(first.add_artifact_file("plan", "c", folder_ / "file"), row);
  first.commit();
  Append second(ledger, "test", "2");
  EXPECT_EQ(second.add_artifact("plan", "d", "content"), row);
  EXPECT_EQ(second.commit(), "");
  EXPECT_EQ(count_rows(ledger.database(), "artifact"), 1);
  EXPECT_FALSE(ledger.artifacts().has_incoming());
  EXPECT_EQ(findings_of(ledger), "");
}

TEST_F(AppendTest, AnArtifactReceivedEarlierMayComeFromAnotherProgramMeanwhile) {
  Ledger ledger(path_, Access::kAppend);
  ArtifactStore::Incoming incoming = ledger.artifacts().receive("content");
  {
    // Its sweep must leave our file alone.
    Ledger other(path_, Access::kAppend);
    Append append(other, "test", "other");
    append.add_artifact("other", "a", "content");
    append.commit();
  }
  Append append(ledger, "test", "mine");
  EXPECT_EQ(append.add_artifact("other", "b", std::move(incoming)), 1);
  append.commit();
  EXPECT_FALSE(ledger.artifacts().has_incoming());
  EXPECT_EQ(findings_of(ledger), "");
}

TEST_F(AppendTest, ReadsNoArtifactThatIsNotWhatItWas) {
  Ledger ledger(path_, Access::kAppend);
  Append append(ledger, "test", "1");
  append.add_artifact("other", "a", "content");
  append.commit();
  const std::string digest = digest_of("content");
  std::string message;
  write_file(ledger.artifact_path(digest), "contents");
  EXPECT_EQ(code_of([&] { ledger.read_artifact(digest); }, &message), "ARTIFACT_CHANGED");
  EXPECT_NE(message.find(digest), std::string::npos);
  fs::remove(ledger.artifact_path(digest));
  EXPECT_EQ(code_of([&] { ledger.read_artifact(digest); }), "ARTIFACT_MISSING");
  EXPECT_EQ(code_of([&] { ledger.read_artifact("../../a.db"); }), "LEDGER_CORRUPT");
}

TEST_F(AppendTest, AReaderDoesNotAppend) {
  Ledger ledger(path_, Access::kRead);
  {
    Append append(ledger, "test", "1");
    EXPECT_EQ(code_of([&] { add_workload(append, "a"); }), "LEDGER_READ_ONLY");
    EXPECT_EQ(code_of([&] { append.add_artifact("other", "a", "content"); }), "LEDGER_READ_ONLY");
  }
  EXPECT_FALSE(fs::exists(ledger.artifact_path(digest_of("content"))));
  EXPECT_FALSE(ledger.artifacts().has_incoming());
}

TEST_F(AppendTest, NothingIsChangedOrRemovedOnAConnectionOfOurs) {
  Ledger ledger(path_, Access::kAppend);
  fill_every_table(ledger);
  Database& database = ledger.database();
  const auto before = dump(database);
  for (const std::string& table : tables_of(database)) {
    const std::vector<std::string> columns = columns_of(database, table);
    const std::string key = columns.front();
    const std::vector<std::string> refused = {
        "UPDATE " + table + " SET " + columns.back() + " = " + columns.back(),
        "UPDATE OR REPLACE " + table + " SET " + key + " = " + key + " + 1",
        "UPDATE OR IGNORE " + table + " SET " + key + " = " + key + " + 100000",
        "DELETE FROM " + table,
        "DELETE FROM " + table + " WHERE " + key + " = (SELECT max(" + key + ") FROM " + table +
            ")",
        "INSERT OR REPLACE INTO " + table + " SELECT * FROM " + table + " WHERE " + key +
            " = (SELECT min(" + key + ") FROM " + table + ")",
        "REPLACE INTO " + table + " SELECT * FROM " + table,
        "INSERT INTO " + table + " SELECT * FROM " + table + " WHERE " + key + " = (SELECT min(" +
            key + ") FROM " + table + ") ON CONFLICT DO UPDATE SET " + key + " = " + key + " + 1"};
    for (const std::string& sql : refused) {
      std::string message;
      EXPECT_EQ(code_of([&] { database.execute(sql); }, &message), "LEDGER_CONSTRAINT") << sql;
      // Before the SQL, which has it anyway.
      EXPECT_NE(message.substr(0, message.find(" in \"")).find(": " + table), std::string::npos)
          << message;
    }
    std::string message;
    code_of([&] { database.execute("DELETE FROM " + table); }, &message);
    EXPECT_NE(message.find(table + " is append-only"), std::string::npos) << message;
  }
  EXPECT_EQ(dump(database), before);
  EXPECT_EQ(findings_of(ledger), "");
}

TEST_F(AppendTest, TwoProcessesTakeTurns) {
  constexpr int kAppends = 200;
  const auto work = [&](const std::string& who) {
    return [this, who](int output) {
      Ledger ledger(path_, Access::kAppend);
      for (int i = 0; i < kAppends; ++i) {
        Append append(ledger, "test", who + std::to_string(i));
        add_workload(append, who + std::to_string(i));
        // Some of the files are the same.
        if (i % 4 == 0) append.add_artifact("other", "a", std::to_string(i));
        append.commit();
      }
      write_all(output, "done");
    };
  };
  {
    Child a(work("a"));
    Child b(work("b"));
    EXPECT_EQ(a.read_all(), "done");
    EXPECT_EQ(b.read_all(), "done");
  }
  Ledger ledger(path_, Access::kRead);
  Database& database = ledger.database();
  EXPECT_EQ(database.query_integer("SELECT count(DISTINCT workload_id) FROM workload"),
            2 * kAppends);
  EXPECT_EQ(database.query_integer("SELECT count(*) FROM entry WHERE kind = 'test'"), 2 * kAppends);
  EXPECT_EQ(count_rows(database, "artifact"), kAppends / 4);
  EXPECT_EQ(findings_of(ledger), "");
  EXPECT_FALSE(ledger.artifacts().has_incoming());
}

TEST_F(AppendTest, OneThatWaitsTooLongStoresNothing) {
  Ledger holder(path_, Access::kAppend);
  int told = 0;
  LedgerOptions options;
  options.wait = milliseconds(2000);
  options.on_wait = [&] { ++told; };
  Ledger waiting(path_, Access::kAppend, options);
  const auto before = dump(holder.database());
  {
    Append held(holder, "test", "held up");
    add_workload(held, "a");
    const Clock::time_point start = Clock::now();
    try {
      const ArtifactStore::Incoming incoming = waiting.artifacts().receive("content");
      Append append(waiting, "test", "late");
      ADD_FAILURE() << "two writers at once";
    } catch (const stwo::Error& e) {
      EXPECT_EQ(e.code(), "LEDGER_BUSY");
      EXPECT_EQ(static_cast<int>(e.exit_code()), 5);
    }
    EXPECT_GE(Clock::now() - start, milliseconds(1950));
    EXPECT_EQ(told, 1);
  }
  EXPECT_EQ(dump(holder.database()), before);
  EXPECT_TRUE(files_under(holder.artifacts().root()).empty());
  // And then it goes on.
  Append append(waiting, "test", "after all");
  add_workload(append, "b");
  EXPECT_NE(append.commit(), "");
  EXPECT_EQ(findings_of(waiting), "");
}

TEST_F(AppendTest, AReaderInsideAnAppendSeesTheStateBeforeAndIsNotBlocked) {
  Ledger writer(path_, Access::kAppend);
  fill_every_table(writer);
  LedgerOptions no_wait;
  no_wait.wait = milliseconds(0);
  Append append(writer, "test", "slow");
  add_workload(append, "slow");
  append.add_artifact("other", "a", "on its way");
  Ledger reader(path_, Access::kRead, no_wait);
  const auto before = dump(reader.database());
  // The file is in its place already, and no row speaks of it yet: not a finding.
  EXPECT_EQ(findings_of(reader), "");
  {
    const Transaction snapshot(reader.database(), Transaction::Kind::kRead);
    EXPECT_EQ(dump(reader.database()), before);
    append.commit();
    EXPECT_EQ(dump(reader.database()), before);
    EXPECT_EQ(findings_of(reader), "");
  }
  EXPECT_NE(dump(reader.database()), before);
  EXPECT_EQ(findings_of(reader), "");
}

TEST_F(AppendTest, ChecksWhileOthersAppendFindNothing) {
  Child child([&](int output) {
    Ledger ledger(path_, Access::kAppend);
    write_all(output, "!");
    for (int i = 0;; ++i) {
      Append append(ledger, "test", std::to_string(i));
      append.add_artifact("other", "a", "content " + std::to_string(i));
      // Every third one fails.
      if (i % 3 != 0) append.commit();
    }
  });
  ASSERT_EQ(child.read_some(1, 20'000), "!");
  Ledger reader(path_, Access::kRead);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(findings_of(reader), "") << "check " << i;
  child.kill();
  child.wait();
  EXPECT_GT(count_rows(reader.database(), "artifact"), 0);
}

TEST_F(AppendTest, RowsOfAnAppendAreConsecutive) {
  Ledger ledger(path_, Access::kAppend);
  // A row by hand at the end of the row numbers leaves no room after it.
  ledger.database().execute(
      "INSERT INTO workload (row, workload_id, config) VALUES (9223372036854775807, 'x', 'y')");
  Append append(ledger, "test", "1");
  EXPECT_EQ(code_of([&] {
              add_workload(append, "a");
              add_workload(append, "b");
            }),
            "CONTRACT");
}

}  // namespace
}  // namespace ledger::test

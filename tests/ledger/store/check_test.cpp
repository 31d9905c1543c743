// Whatever is changed behind the ledger's back is named.
#include "ledger/store/check.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <random>

#include "ledger/store/chain.hpp"
#include "ledger/store/schema.hpp"
#include "tests/ledger/support/full_ledger.hpp"
#include "tests/ledger/support/temporary_folder.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/random.hpp"

namespace ledger::test {
namespace {

using stwo::test::code_of;

/// Code, table and row of a finding.
std::string short_text(const Finding& finding) {
  return finding.code + " " + finding.table + " " + std::to_string(finding.row);
}

class CheckTest : public ::testing::Test {
 protected:
  CheckTest() {
    Ledger::init(path_);
    ledger_.emplace(path_, Access::kAppend);
    fill_every_table(*ledger_);
    fill_every_table(*ledger_, "b");
  }
  Ledger& ledger() { return *ledger_; }
  Database& database() { return ledger_->database(); }

  /// Runs SQL as somebody would who goes around the ledger: without its triggers, foreign keys and
  /// CHECKs; with everything put back afterwards.
  void go_around(const std::string& sql) {
    std::vector<std::pair<std::string, std::string>> triggers;
    Statement select =
        database().prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'");
    while (select.step()) triggers.emplace_back(select.string(0), select.string(1));
    for (const auto& [name, text] : triggers) database().execute("DROP TRIGGER " + name);
    database().execute(sql);
    for (const auto& [name, text] : triggers) database().execute(text);
  }

  /// What a check finds after go_around(sql), which is undone then.
  std::vector<Finding> findings_after(const std::string& sql, const CheckOptions& options = {}) {
    // Neither can be set inside a transaction.
    database().execute("PRAGMA foreign_keys=OFF; PRAGMA ignore_check_constraints=ON");
    const Transaction undone(database(), Transaction::Kind::kWrite);
    go_around(sql);
    return check_ledger(ledger(), options).findings;
  }

  /// The first of them that is not SQLite's own.
  static std::string first_of(const std::vector<Finding>& findings) {
    for (const Finding& f : findings) {
      if (f.code != "CHECK_DATABASE") return short_text(f);
    }
    return "nothing";
  }

  /// Something done to a table, and the finding that must come first of those about it.
  struct Tampering {
    std::string table;
    std::string sql;
    std::string finding;
  };
  void expect_named(const std::vector<Tampering>& all) {
    std::string sql;
    for (const Tampering& t : all) sql += t.sql + ";\n";
    CheckOptions options;
    options.max_findings = 10'000;
    const std::vector<Finding> findings = findings_after(sql, options);
    for (const Tampering& t : all) {
      std::string first = "nothing";
      for (size_t i = 0; i < findings.size() && first == "nothing"; ++i) {
        const Finding& f = findings[i];
        if (f.table == t.table && f.code != "CHECK_DATABASE") first = short_text(f);
      }
      EXPECT_EQ(first, t.finding) << "after " << t.sql;
    }
  }

  static std::string finding(const std::string& code, const std::string& table, int64_t row) {
    return short_text({code, table, row, ""});
  }

  /// All tables but the chain's.
  std::vector<std::string> data_tables() {
    std::vector<std::string> out = tables_of(database());
    std::erase_if(out, [](const std::string& t) { return t == "entry" || t == "entry_rows"; });
    return out;
  }

  /// Inserts a row like the last one, with other values everywhere, because some must be unique.
  std::string insert_other(const std::string& table, int64_t row) {
    std::string names;
    std::string values;
    for (const std::string& column : columns_of(database(), table)) {
      names += (names.empty() ? "" : ", ") + column;
      values += values.empty() ? std::to_string(row) : ", " + other_value(table, column);
    }
    return "INSERT INTO " + table + " (" + names + ") SELECT " + values + " FROM " + table +
           " ORDER BY 1 DESC LIMIT 1";
  }

  std::vector<int64_t> numbers_of(const std::string& table) {
    const std::string key = table == "entry" ? "seq" : "row";
    Statement select = database().prepare("SELECT " + key + " FROM " + table + " ORDER BY " + key);
    std::vector<int64_t> out;
    while (select.step()) out.push_back(select.integer(0));
    return out;
  }

  /// An expression for another value of a column of the same type.
  std::string other_value(const std::string& table, const std::string& column) {
    Statement select = database().prepare("SELECT type FROM pragma_table_info(?1) WHERE name = ?2");
    select.bind_all(std::string_view(table), std::string_view(column));
    EXPECT_TRUE(select.step());
    const std::string type = select.string(0);
    if (type == "INTEGER") return "ifnull(" + column + ", 0) + 1000003";
    if (type == "REAL") return "ifnull(" + column + ", 0.0) + 0.5";
    if (type == "BLOB") return "CAST(x'01' || substr(" + column + ", 2) AS BLOB)";
    EXPECT_EQ(type, "TEXT") << table << "." << column;
    // As long as before: what is looked at is the content.
    return "ifnull('~' || substr(" + column + ", 2), 'x')";
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / "a.db";
  std::optional<Ledger> ledger_;
};

TEST_F(CheckTest, ASoundLedgerIsSoundAndCounted) {
  int64_t rows = 0;
  for (const std::string& table : tables_of(database())) {
    if (table != "entry" && table != "entry_rows") rows += count_rows(database(), table);
  }
  std::set<std::string> told;
  CheckOptions options;
  options.on_progress = [&](const std::string& what, int64_t done, int64_t total) {
    told.insert(what);
    EXPECT_LE(done, total);
  };
  const CheckResult result = check_ledger(ledger(), options);
  EXPECT_EQ(to_text(result.findings), "");
  EXPECT_FALSE(result.more);
  EXPECT_EQ(result.entries, count_rows(database(), "entry"));
  EXPECT_EQ(result.rows, rows);
  EXPECT_EQ(result.artifacts, count_rows(database(), "artifact"));
  EXPECT_EQ(result.artifact_bytes,
            static_cast<uint64_t>(database().query_integer("SELECT sum(bytes) FROM artifact")));
  EXPECT_EQ(result.head, ledger().head());
  EXPECT_TRUE(told.contains("database"));
  EXPECT_TRUE(told.contains("artifacts"));
  EXPECT_EQ(findings_of(path_), "");
  EXPECT_EQ(to_text(findings_after("SELECT 1")), "") << "triggers put back are no change";
}

// --- rows

TEST_F(CheckTest, AChangeOfAnyColumnNamesTheRow) {
  STWO_TRACE_SEED();
  std::mt19937_64 random(stwo::test::run_seed());
  // Column after column, of all tables at once: a check takes its time.
  for (size_t c = 0;; ++c) {
    std::vector<Tampering> all;
    for (const std::string& table : data_tables()) {
      const std::vector<std::string> columns = columns_of(database(), table);
      if (c >= columns.size()) continue;
      const std::vector<int64_t> rows = numbers_of(table);
      const int64_t row = rows[random() % rows.size()];
      all.push_back({table,
                     "UPDATE " + table + " SET " + columns[c] + " = " +
                         other_value(table, columns[c]) + " WHERE row = " + std::to_string(row),
                     finding(c == 0 ? "CHECK_ROW_MISSING" : "CHECK_ROW_CHANGED", table, row)});
    }
    if (all.empty()) break;
    expect_named(all);
  }
}

TEST_F(CheckTest, TheNameOfARowThatIsTamperedWithComesFirst) {
  STWO_TRACE_SEED();
  std::mt19937_64 random(stwo::test::run_seed());
  for (const std::string& table : data_tables()) {
    const std::vector<int64_t> rows = numbers_of(table);
    const int64_t row = rows[random() % rows.size()];
    if (random() % 2 == 0) {
      EXPECT_EQ(
          first_of(findings_after("DELETE FROM " + table + " WHERE row = " + std::to_string(row))),
          finding("CHECK_ROW_MISSING", table, row));
    } else {
      const std::vector<std::string> columns = columns_of(database(), table);
      const std::string column = columns[1 + random() % (columns.size() - 1)];
      EXPECT_EQ(first_of(findings_after("UPDATE " + table + " SET " + column + " = " +
                                        other_value(table, column) +
                                        " WHERE row = " + std::to_string(row))),
                finding("CHECK_ROW_CHANGED", table, row))
          << column;
    }
  }
}

TEST_F(CheckTest, AChangeOfAnyColumnOfTheChainNamesTheEntry) {
  STWO_TRACE_SEED();
  std::mt19937_64 random(stwo::test::run_seed());
  for (const std::string table : {"entry", "entry_rows"}) {
    const std::string key = table == "entry" ? "seq" : "row";
    const std::vector<int64_t> rows = numbers_of(table);
    for (const std::string& column : columns_of(database(), table)) {
      const int64_t row = rows[random() % rows.size()];
      const auto findings =
          findings_after("UPDATE " + table + " SET " + column + " = " + other_value(table, column) +
                         " WHERE " + key + " = " + std::to_string(row));
      const std::string first = first_of(findings);
      SCOPED_TRACE(table + "." + column + " of row " + std::to_string(row) + " changed:\n" +
                   to_text(findings));
      if (table == "entry") {
        EXPECT_EQ(first, finding("CHECK_ENTRY", table, row));
        continue;
      }
      // The digest of an entry covers its rows there, and cannot tell which of them it was.
      const int64_t entry =
          database().query_integer("SELECT seq FROM entry_rows WHERE row = " + std::to_string(row));
      EXPECT_TRUE(first == finding("CHECK_ENTRY", "entry", entry) ||
                  first == finding("CHECK_ENTRY", table, row) ||
                  first == finding("CHECK_ROW_MISSING", table, row))
          << first;
    }
  }
}

TEST_F(CheckTest, NullAndNoNullAreDifferent) {
  const auto changed = [&](const std::string& sql) { return first_of(findings_after(sql)); };
  EXPECT_EQ(changed("UPDATE run SET device_ns = NULL WHERE row = 1"), "CHECK_ROW_CHANGED run 1");
  EXPECT_EQ(changed("UPDATE run SET ineligible_reason = '' WHERE row = 1"),
            "CHECK_ROW_CHANGED run 1");
  EXPECT_EQ(changed("UPDATE verdict SET supersedes = NULL WHERE row = 2"),
            "CHECK_ROW_CHANGED verdict 2");
}

TEST_F(CheckTest, TwoRowsThatChangePlacesAreNamed) {
  const auto findings = findings_after(
      "UPDATE request SET row = row + 100 WHERE row <= 2;"
      "UPDATE request SET row = 103 - row WHERE row > 100");
  EXPECT_EQ(first_of(findings), "CHECK_ROW_CHANGED request 1");
  EXPECT_EQ(findings.size(), 2u) << to_text(findings);
}

TEST_F(CheckTest, ADeletedRowIsNamed) {
  // The first one, one in the middle, the last one.
  for (const int place : {0, 1, 2}) {
    std::vector<Tampering> all;
    for (const std::string& table : data_tables()) {
      const std::vector<int64_t> rows = numbers_of(table);
      const int64_t row = place == 0   ? rows.front()
                          : place == 1 ? rows[rows.size() / 2]
                                       : rows.back();
      all.push_back({table, "DELETE FROM " + table + " WHERE row = " + std::to_string(row),
                     finding("CHECK_ROW_MISSING", table, row)});
    }
    expect_named(all);
  }
}

TEST_F(CheckTest, ADeletedEntryIsNamed) {
  const auto first_after = [&](const std::string& table, const std::string& key, int64_t row) {
    return first_of(
        findings_after("DELETE FROM " + table + " WHERE " + key + " = " + std::to_string(row)));
  };
  const std::vector<int64_t> entries = numbers_of("entry");
  for (const int64_t row : {entries.front(), entries[entries.size() / 2]}) {
    EXPECT_EQ(first_after("entry", "seq", row), finding("CHECK_ENTRY", "entry", row));
  }
  // That there was one after the last is told by the rows it had.
  EXPECT_EQ(
      first_after("entry", "seq", entries.back()),
      finding("CHECK_ROW_UNCHAINED", "entry_rows",
              database().query_integer(
                  "SELECT min(row) FROM entry_rows WHERE seq = (SELECT max(seq) FROM entry)")));
  const std::vector<int64_t> parts = numbers_of("entry_rows");
  for (const int64_t row : {parts.front(), parts[parts.size() / 2]}) {
    EXPECT_EQ(first_after("entry_rows", "row", row),
              finding("CHECK_ROW_MISSING", "entry_rows", row));
  }
  EXPECT_EQ(first_after("entry_rows", "row", parts.back()),
            finding("CHECK_ENTRY", "entry", entries.back()));
}

TEST_F(CheckTest, ARowInsertedByHandIsNamed) {
  // Before the first row, right after the last, and far away.
  for (const int64_t place : {-7, 0, 1, 1000}) {
    std::vector<Tampering> all;
    for (const std::string& table : data_tables()) {
      const int64_t row = place < 1 ? place : numbers_of(table).back() + place;
      all.push_back({table, insert_other(table, row), finding("CHECK_ROW_UNCHAINED", table, row)});
    }
    expect_named(all);
  }
}

TEST_F(CheckTest, AnEntryInsertedByHandIsNamed) {
  const auto first_after = [&](const std::string& table, int64_t row) {
    return first_of(findings_after(insert_other(table, row)));
  };
  const int64_t entry = numbers_of("entry").back();
  EXPECT_EQ(first_after("entry", entry + 1), finding("CHECK_ENTRY", "entry", entry + 1));
  EXPECT_EQ(first_after("entry", entry + 9), finding("CHECK_ENTRY", "entry", entry + 1));
  EXPECT_EQ(first_after("entry", 0), finding("CHECK_ENTRY", "entry", 0));
  // This one belongs to an entry that does not exist.
  const int64_t part = numbers_of("entry_rows").back();
  EXPECT_EQ(first_after("entry_rows", part + 1),
            finding("CHECK_ROW_UNCHAINED", "entry_rows", part + 1));
  EXPECT_EQ(first_after("entry_rows", -7), finding("CHECK_ROW_UNCHAINED", "entry_rows", -7));
}

TEST_F(CheckTest, ARowInsertedByHandIsNamedAfterLaterAppendsToo) {
  database().execute("INSERT INTO workload (workload_id, config) VALUES ('by hand', 'fast')");
  const int64_t row = database().last_insert_row();
  fill_every_table(ledger(), "c");
  const auto findings = check_ledger(ledger(), {}).findings;
  ASSERT_EQ(findings.size(), 1u) << to_text(findings);
  EXPECT_EQ(short_text(findings[0]), "CHECK_ROW_UNCHAINED workload " + std::to_string(row));
}

// --- the chain itself

TEST_F(CheckTest, RowsOfEntryRowsThatAreForgedAreNamed) {
  const auto number = [&](const std::string& sql) {
    return std::to_string(database().query_integer(sql));
  };
  const std::string last = number("SELECT max(row) FROM entry_rows");
  const std::string next = number("SELECT max(row) + 1 FROM entry_rows");
  // A row more for an entry in the middle.
  EXPECT_EQ(first_of(findings_after(
                "INSERT INTO entry_rows (seq, table_name, first_row, row_count, digests) VALUES "
                "(3, 'zzz', 1, 1, zeroblob(32))")),
            "CHECK_ENTRY entry_rows " + next);
  // A row that moves to another entry.
  EXPECT_EQ(first_of(findings_after("UPDATE entry_rows SET seq = 9 WHERE row = 3")),
            "CHECK_ENTRY entry_rows 3");
  EXPECT_EQ(first_of(findings_after("UPDATE entry_rows SET seq = 1 WHERE row = " + last)),
            "CHECK_ENTRY entry_rows " + last);
  // Numbers and digests that do not go together, and numbers nobody can count to.
  for (const char* change :
       {"row_count = 2", "row_count = 9223372036854775807", "first_row = 9223372036854775807",
        "digests = zeroblob(31)", "digests = x''", "first_row = 0", "row_count = 0",
        "table_name = 'entry'", "table_name = 'entry_rows'", "table_name = 'sqlite_schema'",
        "table_name = 'no\"such table'", "table_name = 'run_list'"}) {
    const auto findings =
        findings_after(std::string("UPDATE entry_rows SET ") + change + " WHERE row = " + last);
    EXPECT_EQ(first_of(findings), "CHECK_ENTRY entry " + number("SELECT max(seq) FROM entry"))
        << change << "\n"
        << to_text(findings);
  }
}

TEST_F(CheckTest, AnEntryRewrittenWithItsDigestBreaksTheNextOne) {
  ChainEntry entry;
  Statement select = database().prepare(
      "SELECT seq, prev_sha256, recorded_utc, tool_version, kind FROM entry WHERE seq = 3");
  ASSERT_TRUE(select.step());
  entry.sequence = select.integer(0);
  entry.previous = select.string(1);
  entry.recorded_utc = select.string(2);
  entry.tool_version = select.string(3);
  entry.kind = select.string(4);
  entry.subject = "another subject";
  Statement parts = database().prepare(
      "SELECT table_name, first_row, row_count, digests FROM entry_rows WHERE seq = 3 ORDER BY "
      "row");
  while (parts.step()) {
    entry.rows.push_back(
        {parts.string(0), parts.integer(1), parts.integer(2), std::get<Blob>(parts.value(3))});
  }
  const std::string rewritten = entry_digest(entry);
  const auto findings =
      findings_after("UPDATE entry SET subject = 'another subject', entry_sha256 = '" + rewritten +
                     "' WHERE seq = 3");
  ASSERT_EQ(findings.size(), 1u) << to_text(findings);
  EXPECT_EQ(short_text(findings[0]), "CHECK_ENTRY entry 4");
  EXPECT_NE(findings[0].message.find("expected " + rewritten), std::string::npos);
}

TEST_F(CheckTest, AnEntryWithoutRowsIsForged) {
  // Its digest is right and so is its place: only we never write one.
  ChainEntry entry;
  entry.sequence = numbers_of("entry").back() + 1;
  entry.previous = ledger().head();
  entry.kind = "forged";
  const auto findings =
      findings_after("INSERT INTO entry VALUES (" + std::to_string(entry.sequence) + ", '" +
                     entry.previous + "', '" + entry_digest(entry) + "', '', '', 'forged', '')");
  ASSERT_EQ(findings.size(), 1u) << to_text(findings);
  EXPECT_EQ(short_text(findings[0]), "CHECK_ENTRY entry " + std::to_string(entry.sequence));
}

TEST_F(CheckTest, ATailThatIsTakenBackIsNoticedByTheHead) {
  CheckOptions options;
  options.head = ledger().head();
  const int64_t last = numbers_of("entry").back();
  std::string sql;
  {
    Statement parts = database().prepare(
        "SELECT table_name, first_row FROM entry_rows WHERE seq = (SELECT max(seq) FROM entry)");
    while (parts.step()) {
      sql += "DELETE FROM " + parts.string(0) +
             " WHERE row >= " + std::to_string(parts.integer(1)) + ";";
    }
  }
  sql += "DELETE FROM entry_rows WHERE seq = " + std::to_string(last) +
         "; DELETE FROM entry WHERE seq = " + std::to_string(last);
  EXPECT_EQ(to_text(findings_after(sql)), "") << "nothing in the ledger tells";
  const auto findings = findings_after(sql, options);
  ASSERT_EQ(findings.size(), 1u) << to_text(findings);
  EXPECT_EQ(findings[0].code, "CHECK_HEAD");
  EXPECT_NE(findings[0].message.find(options.head), std::string::npos);
  // A head that was noted earlier is in the chain as long as nothing is taken back.
  EXPECT_EQ(to_text(findings_after("SELECT 1", options)), "");
  fill_every_table(ledger(), "c");
  EXPECT_EQ(findings_of(ledger(), options), "");
}

TEST_F(CheckTest, ACorrectionOfSomethingElseIsForged) {
  const auto findings = [&] { return check_ledger(ledger(), {}).findings; };
  const int64_t verdict = database().query_integer("SELECT max(row) FROM verdict");
  int64_t screen = 0;
  {
    Append append(ledger(), "verdict", "forged");
    screen = add_verdict(append, "a screen in place of a verdict", verdict, "screen");
    append.commit();
  }
  ASSERT_EQ(findings().size(), 1u) << to_text(findings());
  EXPECT_EQ(short_text(findings()[0]), "CHECK_SUPERSEDES verdict " + std::to_string(screen));
  // Rows that name themselves or the future.
  const std::string last = std::to_string(screen);
  for (const std::string& change :
       {"supersedes = " + last + " WHERE row = " + last, "supersedes = " + last + " WHERE row = 1",
        std::string("supersedes = 999 WHERE row = 1")}) {
    bool found = false;
    for (const Finding& f : findings_after("UPDATE verdict SET " + change)) {
      found = found || f.code == "CHECK_SUPERSEDES";
    }
    EXPECT_TRUE(found) << change;
  }
}

TEST_F(CheckTest, ARecordThatSupersedesAnotherOneIsForged) {
  // The triggers forbid it: without them, and with a chain made anew.
  for (const std::string table : {"experiment", "brief"}) {
    const std::string first =
        database().query_text("SELECT min(row) FROM " + table + " WHERE supersedes IS NULL");
    const std::string tip = database().query_text("SELECT max(row) FROM " + table +
                                                  " WHERE row NOT IN (SELECT supersedes FROM " +
                                                  table + " WHERE supersedes IS NOT NULL)");
    const auto findings =
        findings_after("UPDATE " + table + " SET supersedes = NULL WHERE row = " + tip +
                       "; UPDATE " + table + " SET supersedes = " + tip + " WHERE row = " + first);
    bool found = false;
    for (const Finding& f : findings) {
      found = found || short_text(f) == "CHECK_SUPERSEDES " + table + " " + first;
    }
    EXPECT_TRUE(found) << to_text(findings);
  }
}

// --- the schema

TEST_F(CheckTest, AChangedSchemaIsNamed) {
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"DROP TRIGGER run_no_update", "trigger run_no_update is missing from the schema"},
      {"DROP TRIGGER run_no_delete; CREATE TRIGGER run_no_delete BEFORE DELETE ON run BEGIN SELECT "
       "1; END",
       "trigger run_no_delete has been changed in the schema"},
      {"CREATE TRIGGER spy AFTER INSERT ON run BEGIN SELECT 1; END",
       "trigger spy is not part of the schema"},
      {"CREATE TRIGGER sqliteX AFTER INSERT ON run BEGIN SELECT 1; END",
       "trigger sqliteX is not part of the schema"},
      {"DROP VIEW current_verdict; CREATE VIEW current_verdict AS SELECT * FROM verdict",
       "view current_verdict has been changed in the schema"},
      {"DROP VIEW class_history", "view class_history is missing from the schema"},
      {"CREATE VIEW another AS SELECT 1", "view another is not part of the schema"},
      {"DROP INDEX run_created", "index run_created is missing from the schema"},
      {"CREATE INDEX another ON run (eligible)", "index another is not part of the schema"},
      {"CREATE TABLE notes (text TEXT)", "table notes is not part of the schema"},
      {"CREATE TABLE \"a \"\" quote\" (row INTEGER PRIMARY KEY)",
       "table a \" quote is not part of the schema"},
      {"ALTER TABLE run ADD COLUMN remark TEXT", "table run has been changed in the schema"},
      {"ANALYZE", "table sqlite_stat1 is not part of the schema"},
  };
  for (const auto& [sql, message] : changes) {
    const Transaction undone(database(), Transaction::Kind::kWrite);
    database().execute(sql);
    const auto findings = check_ledger(ledger(), {}).findings;
    ASSERT_EQ(findings.size(), 1u) << sql << "\n" << to_text(findings);
    EXPECT_EQ(findings[0].code, "CHECK_SCHEMA");
    EXPECT_EQ(findings[0].message, message);
  }
}

TEST_F(CheckTest, AMissingTableIsNamed) {
  database().execute("PRAGMA foreign_keys=OFF");
  for (const std::string table : {"sample", "meta", "migration", "entry_rows", "entry"}) {
    const Transaction undone(database(), Transaction::Kind::kWrite);
    database().execute("DROP TABLE " + table);
    const auto findings = check_ledger(ledger(), {}).findings;
    bool found = false;
    for (const Finding& f : findings) {
      found = found || (f.code == "CHECK_SCHEMA" &&
                        f.message == "table " + table + " is missing from the schema");
    }
    EXPECT_TRUE(found) << to_text(findings);
  }
}

TEST_F(CheckTest, AVersionThatNoMigrationLedToIsNamed) {
  const int64_t version = newest_schema_version();
  database().execute("PRAGMA user_version=" + std::to_string(version + 1));
  const auto findings = check_ledger(ledger(), {}).findings;
  ASSERT_EQ(findings.size(), 1u) << to_text(findings);
  EXPECT_EQ(findings[0].code, "CHECK_SCHEMA");
}

// --- artifacts

class CheckArtifactsTest : public CheckTest {
 protected:
  /// Findings, by code, after `change` of the large artifact's file.
  std::string after(const std::function<void(const std::string& file)>& change) {
    Statement select = database().prepare("SELECT sha256 FROM artifact WHERE row = 2");
    EXPECT_TRUE(select.step());
    const std::string file = ledger().artifact_path(select.string(0));
    const std::string content = read_file(file);
    change(file);
    std::string out;
    for (const Finding& f : check_ledger(ledger(), {}).findings) {
      EXPECT_NE(f.message.find(file.substr(file.size() - 10)), std::string::npos) << f.message;
      out += (out.empty() ? "" : ", ") + short_text(f);
    }
    fs::remove_all(file);
    write_file(file, content);
    EXPECT_EQ(findings_of(ledger()), "");
    return out;
  }
};

TEST_F(CheckArtifactsTest, AChangedFileIsNamed) {
  const std::string changed = "CHECK_ARTIFACT_CHANGED artifact 2";
  EXPECT_EQ(after([](const std::string& file) {
              std::string content = read_file(file);
              content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 1);
              write_file(file, content);
            }),
            changed);
  EXPECT_EQ(after([](const std::string& file) {
              const std::string content = read_file(file);
              write_file(file, content.substr(0, content.size() - 1));
            }),
            changed);
  EXPECT_EQ(after([](const std::string& file) { write_file(file, ""); }), changed);
  EXPECT_EQ(after([](const std::string& file) { write_file(file, read_file(file) + "x"); }),
            changed);
  EXPECT_EQ(after([](const std::string& file) { fs::remove(file); }),
            "CHECK_ARTIFACT_MISSING artifact 2");
}

TEST_F(CheckArtifactsTest, WhatIsNoPlainFileIsNamed) {
  const std::string changed = "CHECK_ARTIFACT_CHANGED artifact 2";
  // With the right content, but who knows for how long.
  EXPECT_EQ(after([&](const std::string& file) {
              fs::copy_file(file, folder_ / "elsewhere");
              fs::remove(file);
              fs::create_symlink(folder_ / "elsewhere", file);
            }),
            changed);
  EXPECT_EQ(after([&](const std::string& file) {
              fs::remove(file);
              fs::create_symlink(folder_ / "nowhere", file);
            }),
            changed);
  EXPECT_EQ(after([&](const std::string& file) {
              fs::remove(file);
              fs::create_directory(file);
            }),
            changed);
  // Reading from a pipe would never end.
  EXPECT_EQ(after([&](const std::string& file) {
              fs::remove(file);
              ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
            }),
            changed);
}

TEST_F(CheckArtifactsTest, ALinkAsLongAsTheFileIsNamed) {
  // The size of a link is the length of the path it holds.
  const std::string content = folder_ / "elsewhere";
  {
    Append append(ledger(), "test", "link");
    append.add_artifact("other", "a", content);
    append.commit();
  }
  write_file(content, content);
  const std::string file = ledger().artifact_path(digest_of(content));
  fs::remove(file);
  fs::create_symlink(content, file);
  const auto findings = check_ledger(ledger(), {}).findings;
  ASSERT_EQ(findings.size(), 1u) << to_text(findings);
  EXPECT_EQ(findings[0].code, "CHECK_ARTIFACT_CHANGED");
}

TEST_F(CheckArtifactsTest, FilesThatDoNotBelongAreNamed) {
  const std::string root = ledger().artifacts().root();
  for (const std::string& name : {std::string("stray"), artifact_relpath(digest_of("nobody's")),
                                  std::string("ab/stray"), std::string("incoming2/x")}) {
    fs::create_directories(fs::path(root + "/" + name).parent_path());
    write_file(root + "/" + name, "x");
    const auto findings = check_ledger(ledger(), {}).findings;
    ASSERT_EQ(findings.size(), 1u) << to_text(findings);
    EXPECT_EQ(findings[0].code, "CHECK_ARTIFACT_UNKNOWN");
    fs::remove(root + "/" + name);
  }
  EXPECT_EQ(findings_of(ledger()), "");
}

TEST_F(CheckArtifactsTest, ARowWithoutADigestReachesNoFile) {
  for (const std::string& digest : {std::string("x"), std::string("../../../../etc/passwd"),
                                    "/" + std::string(63, 'a'), std::string(64, '.')}) {
    const auto findings =
        findings_after("UPDATE artifact SET sha256 = '" + digest + "' WHERE row = 2");
    EXPECT_EQ(first_of(findings), "CHECK_ROW_CHANGED artifact 2");
    bool missing = false;
    for (const Finding& f : findings) {
      missing = missing || short_text(f) == "CHECK_ARTIFACT_MISSING artifact 2";
    }
    EXPECT_TRUE(missing) << to_text(findings);
  }
}

TEST_F(CheckArtifactsTest, AStoreThatIsGoneIsMissingEveryFile) {
  fs::rename(ledger().artifacts().root(), folder_ / "moved");
  const auto findings = check_ledger(ledger(), {}).findings;
  EXPECT_EQ(findings.size(), static_cast<size_t>(count_rows(database(), "artifact")));
  for (const Finding& f : findings) EXPECT_EQ(f.code, "CHECK_ARTIFACT_MISSING");
}

TEST_F(CheckTest, StopsListingAtTheLimit) {
  CheckOptions options;
  options.max_findings = 3;
  database().execute("PRAGMA foreign_keys=OFF; PRAGMA ignore_check_constraints=ON");
  const Transaction undone(database(), Transaction::Kind::kWrite);
  go_around("UPDATE request SET resident_prove_ns = 1");
  const CheckResult result = check_ledger(ledger(), options);
  EXPECT_EQ(result.findings.size(), 3u);
  EXPECT_TRUE(result.more);
}

TEST_F(CheckTest, ManyBrokenReferencesLeaveRoomForTheNamesOfRows) {
  const auto findings = findings_after("DELETE FROM capture; DELETE FROM run; DELETE FROM verdict");
  EXPECT_EQ(first_of(findings).substr(0, 17), "CHECK_ROW_MISSING");
}

// --- bytes of the file

TEST_F(CheckTest, AFlippedBitIsNoticedOrChangesNothing) {
  STWO_TRACE_SEED();
  std::mt19937_64 random(stwo::test::run_seed());
  const auto rows = dump(database());
  const auto schema = [](Database& d) { return rows_of(d, "sqlite_schema"); };
  const auto objects = schema(database());
  ledger_.reset();
  const std::string sound = read_file(path_);
  ASSERT_FALSE(fs::exists(path_ + "-wal"));
  int named = 0;
  int refused = 0;
  int harmless = 0;
  std::string broken = folder_ / "broken.db";
  fs::copy(artifact_folder(path_), artifact_folder(broken), fs::copy_options::recursive);
  for (int i = 0; i < 120; ++i) {
    // The header, the beginnings of pages (which hold their structure), and anywhere.
    size_t at = random() % sound.size();
    if (i % 4 == 0) at = random() % 100;
    if (i % 4 == 1) at = at / 4096 * 4096 + random() % 64;
    const int bit = static_cast<int>(random() % 8);
    SCOPED_TRACE("bit " + std::to_string(bit) + " of byte " + std::to_string(at));
    std::string content = sound;
    content[at] = static_cast<char>(content[at] ^ (1 << bit));
    write_file(broken, content);
    for (const char* suffix : {"-wal", "-shm"}) fs::remove(broken + suffix);
    try {
      Ledger ledger(broken, Access::kRead);
      const auto findings = check_ledger(ledger, {}).findings;
      if (!findings.empty()) {
        ++named;
        continue;
      }
      // Sound: then nothing that is stored has changed.
      EXPECT_EQ(dump(ledger.database()), rows);
      EXPECT_EQ(schema(ledger.database()), objects);
      ++harmless;
    } catch (const stwo::Error& e) {
      ++refused;
      EXPECT_TRUE(e.code() == "LEDGER_CORRUPT" || e.code() == "LEDGER_FOREIGN" ||
                  e.code() == "LEDGER_OLD")
          << e.code() << ": " << e.what();
    }
  }
  RecordProperty("named", named);
  EXPECT_GT(named + refused, 10);
  EXPECT_GT(harmless, 10);
}

}  // namespace
}  // namespace ledger::test

#include "ledger/store/check.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "ledger/store/chain.hpp"
#include "ledger/store/schema.hpp"

namespace ledger {
namespace {

std::string quoted(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

class Checker {
 public:
  Checker(Ledger& ledger, const CheckOptions& options)
      : ledger_(ledger), database_(ledger.database()), options_(options) {}

  CheckResult run() {
    {
      // A caller that goes on reading what has been checked has opened one.
      std::optional<Transaction> snapshot;
      if (!database_.in_transaction()) snapshot.emplace(database_, Transaction::Kind::kRead);
      part([&] { check_database(); });
      part([&] { check_schema(); });
      part([&] { check_entry_rows(); });
      part([&] { check_chain(); });
      part([&] { check_supersedes(); });
      part([&] { check_version(); });
      if (!part([&] { list_artifacts(); })) return std::move(result_);
    }
    // Outside the snapshot: hashing may take minutes, and files don't change.
    part([&] { check_artifacts(); });
    return std::move(result_);
  }

 private:
  void add(const std::string& code, const std::string& table, int64_t row,
           const std::string& message) {
    if (result_.findings.size() >= options_.max_findings) {
      result_.more = true;
      return;
    }
    result_.findings.push_back({code, table, row, message});
  }
  /// What is broken may end one part of the check, and must not hide what the others find.
  template <class Check>
  bool part(const Check& check) {
    try {
      check();
      return true;
    } catch (const DatabaseError& e) {
      // SQL of ours fails where the schema is not ours, and a damaged row may claim any length.
      const bool schema = e.code() == "LEDGER_SQL";
      if (!schema && e.code() != "LEDGER_CORRUPT" && e.code() != "LEDGER_LIMIT") throw;
      add(schema ? "CHECK_SCHEMA" : "CHECK_DATABASE", "", 0, e.what());
      return false;
    }
  }
  void progress(const std::string& what, int64_t done, int64_t total) {
    if (options_.on_progress) options_.on_progress(what, done, total);
  }
  static std::string row_name(const std::string& table, int64_t row) {
    return "table " + table + " row " + std::to_string(row);
  }

  void check_database() {
    progress("database", 0, 1);
    // One fault may give thousands of lines, which must leave room for the names of the rows.
    constexpr int kLines = 20;
    for (const std::string pragma : {"integrity_check", "foreign_key_check"}) {
      Statement select = database_.prepare("PRAGMA " + pragma);
      for (int line = 0; select.step(); ++line) {
        if (line == kLines) {
          result_.more = true;
          break;
        }
        if (pragma == "integrity_check") {
          if (select.text(0) == "ok") continue;
          add("CHECK_DATABASE", "", 0, "integrity_check: " + select.string(0));
        } else {
          const std::string table = select.string(0);
          add("CHECK_DATABASE", table, select.integer(1),
              row_name(table, select.integer(1)) + " refers to a missing row of " +
                  select.string(2));
        }
      }
    }
  }

  /// Compares with a ledger of the same version made in memory. A newer version's schema is not
  /// known here.
  void check_schema() {
    const int64_t version = ledger_.schema_version();
    if (version > newest_schema_version()) return;
    Ledger fresh(Ledger::New{}, ":memory:");
    {
      Append append(fresh, "init", "ledger");
      apply_schema(append, 0, version);
      append.commit();
    }
    std::map<std::string, std::string> expected;
    const auto read = [](Database& database, std::map<std::string, std::string>* out) {
      Statement select =
          database.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name");
      while (select.step()) {
        // Joined, so that a second one of the same name shows.
        (*out)[select.string(0) + " " + select.string(1)] +=
            select.string(2) + "\n" + select.string(3) + "\n";
      }
    };
    read(fresh.database(), &expected);
    std::map<std::string, std::string> found;
    read(database_, &found);
    for (const auto& [name, sql] : expected) {
      const auto it = found.find(name);
      if (it == found.end()) {
        add("CHECK_SCHEMA", "", 0, name + " is missing from the schema");
      } else if (it->second != sql) {
        add("CHECK_SCHEMA", "", 0, name + " has been changed in the schema");
      }
    }
    for (const auto& [name, sql] : found) {
      if (!expected.contains(name)) add("CHECK_SCHEMA", "", 0, name + " is not part of the schema");
    }
  }

  void check_version() {
    const int64_t version = ledger_.schema_version();
    const int64_t recorded =
        database_.query_integer("SELECT ifnull(max(version), 0) FROM migration");
    if (recorded != version) {
      add("CHECK_SCHEMA", "migration", 0,
          "the database says schema version " + std::to_string(version) +
              ", its migrations lead to " + std::to_string(recorded));
    }
  }

  /// Entries write their rows of entry_rows one after the other, tables in order of name.
  void check_entry_rows() {
    struct Place {
      int64_t row;
      int64_t sequence;
      std::string table;
      bool operator<(const Place& other) const {
        return std::tie(sequence, table) < std::tie(other.sequence, other.table);
      }
    };
    std::vector<Place> places;
    Statement select = database_.prepare(
        "SELECT r.row, r.seq, r.table_name, e.seq IS NULL FROM entry_rows AS r LEFT JOIN entry AS "
        "e ON e.seq = r.seq ORDER BY r.row");
    int64_t expected = 1;
    while (select.step()) {
      const int64_t row = select.integer(0);
      if (row > expected) {
        add("CHECK_ROW_MISSING", "entry_rows", expected,
            row_name("entry_rows", expected) + " is missing");
      }
      expected = std::max<int64_t>(row, 0) + 1;
      // Rows without an entry are reported with the chain.
      if (select.integer(3) == 0) places.push_back({row, select.integer(1), select.string(2)});
    }
    const Place* last = nullptr;
    for (size_t i = 0; i < places.size(); ++i) {
      const Place* next = i + 1 < places.size() ? &places[i + 1] : nullptr;
      const bool behind = last != nullptr && !(*last < places[i]);
      // Too far ahead: it is this one that does not fit between its neighbours.
      const bool ahead = next != nullptr && !(places[i] < *next) && (!last || *last < *next);
      if (behind || ahead || places[i].row < 1) {
        add("CHECK_ENTRY", "entry_rows", places[i].row,
            row_name("entry_rows", places[i].row) + " is out of order");
      } else {
        last = &places[i];
      }
    }
  }

  void check_chain() {
    read_tables();
    const int64_t total = database_.query_integer("SELECT count(*) FROM entry");
    Statement entries = database_.prepare(
        "SELECT seq, prev_sha256, entry_sha256, recorded_utc, tool_version, kind, subject "
        "FROM entry ORDER BY seq");
    int64_t expected_sequence = 1;
    std::string previous(kNoDigest);
    bool head_seen = options_.head.empty();
    while (entries.step()) {
      const int64_t sequence = entries.integer(0);
      if (sequence < expected_sequence) {
        add("CHECK_ENTRY", "entry", sequence,
            row_name("entry", sequence) + " was not written by this program: entries count from 1");
        continue;
      }
      if (sequence != expected_sequence) {
        add("CHECK_ENTRY", "entry", expected_sequence,
            row_name("entry", expected_sequence) + " is missing");
        expected_sequence = sequence;
      }
      ++expected_sequence;
      ChainEntry entry{sequence,
                       entries.string(1),
                       entries.string(3),
                       entries.string(4),
                       entries.string(5),
                       entries.string(6),
                       {}};
      const std::string digest = entries.string(2);
      head_seen = head_seen || digest == options_.head;
      if (entry.previous != previous) {
        add("CHECK_ENTRY", "entry", sequence,
            row_name("entry", sequence) + " does not follow the entry before it (expected " +
                previous + ", found " + entry.previous + ")");
      }
      const std::vector<int64_t> parts = read_parts(&entry);
      if (const std::string found = entry_digest(entry); found != digest) {
        add("CHECK_ENTRY", "entry", sequence,
            row_name("entry", sequence) + ", or its rows of entry_rows, has been changed (digest " +
                digest + ", recomputed " + found + ")");
      } else if (parts.empty()) {
        add("CHECK_ENTRY", "entry", sequence,
            row_name("entry", sequence) + " was not written by this program: it has no rows");
      }
      previous = digest;
      for (size_t i = 0; i < parts.size(); ++i) check_rows(entry.rows[i], sequence, parts[i]);
      ++result_.entries;
      if (result_.entries % 256 == 0) progress("chain", result_.entries, total);
    }
    result_.head = previous;
    Statement orphans = database_.prepare(
        "SELECT row FROM entry_rows WHERE seq NOT IN (SELECT seq FROM entry) ORDER BY row");
    while (orphans.step()) {
      add("CHECK_ROW_UNCHAINED", "entry_rows", orphans.integer(0),
          row_name("entry_rows", orphans.integer(0)) + " belongs to no entry");
    }
    if (!head_seen) {
      add("CHECK_HEAD", "", 0,
          "no entry has the digest " + options_.head +
              ": entries have been removed or this is another ledger");
    }
    check_rest();
  }

  /// Tables whose rows the chain can speak of.
  void read_tables() {
    Statement tables = database_.prepare(
        "SELECT name FROM sqlite_schema AS s WHERE type = 'table' AND name <> 'entry_rows' AND "
        "EXISTS (SELECT 1 FROM pragma_table_info(s.name) AS c WHERE c.name = 'row') ORDER BY name");
    while (tables.step()) tables_.emplace(tables.string(0), 1);
  }

  /// Adds an entry's rows of entry_rows to it. Returns their row numbers.
  std::vector<int64_t> read_parts(ChainEntry* entry) {
    if (!parts_) {
      parts_.emplace(database_.prepare(
          "SELECT row, table_name, first_row, row_count, digests FROM entry_rows WHERE seq = ?1 "
          "ORDER BY table_name"));
    }
    std::vector<int64_t> rows;
    parts_->reset().bind(1, entry->sequence);
    while (parts_->step()) {
      ChainedRows part{parts_->string(1), parts_->integer(2), parts_->integer(3), {}};
      const Value digests = parts_->value(4);
      if (const auto* blob = std::get_if<Blob>(&digests)) part.digests = *blob;
      entry->rows.push_back(std::move(part));
      rows.push_back(parts_->integer(0));
    }
    parts_->reset();
    return rows;
  }

  /// `part` is the row of entry_rows that speaks of these rows.
  void check_rows(const ChainedRows& rows, int64_t sequence, int64_t part) {
    const std::string speaker = "entry " + std::to_string(sequence);
    const auto n = static_cast<int64_t>(rows.digests.size() / sizeof(Digest));
    if (rows.first < 1 || rows.count < 1 || n != rows.count ||
        rows.first > std::numeric_limits<int64_t>::max() - n) {
      add("CHECK_ENTRY", "entry_rows", part,
          row_name("entry_rows", part) + " has been changed: it does not hold a digest per row");
      return;
    }
    const auto table = tables_.find(rows.table);
    if (table == tables_.end()) {
      add("CHECK_SCHEMA", rows.table, 0,
          "table " + rows.table + " is missing; " + speaker + " speaks of its rows");
      return;
    }
    int64_t& next = table->second;
    if (rows.first > next && !unchained(rows.table, next, rows.first)) {
      add("CHECK_ENTRY", "entry_rows", part,
          speaker + " speaks of rows of " + rows.table + " from " + std::to_string(rows.first) +
              ", the next one is " + std::to_string(next));
    } else if (rows.first < next) {
      add("CHECK_ENTRY", "entry_rows", part,
          speaker + " speaks of rows of " + rows.table + " that another entry wrote");
    }
    next = std::max(next, rows.first + rows.count);
    Statement& select = select_rows(rows.table);
    select.bind_all(rows.first, rows.first + rows.count);
    int64_t expected = rows.first;
    while (select.step()) {
      const int64_t row = select.integer(0);
      // A damaged tree gives rows that were not asked for.
      if (row < expected || row >= rows.first + rows.count) {
        add("CHECK_ROW_CHANGED", rows.table, row, row_name(rows.table, row) + " is out of order");
        continue;
      }
      for (; expected < row; ++expected) missing(rows.table, expected, sequence);
      ++expected;
      ++result_.rows;
      const Digest digest = row_digest(rows.table, select);
      const size_t at = static_cast<size_t>(row - rows.first) * digest.size();
      if (!std::equal(digest.begin(), digest.end(),
                      rows.digests.begin() + static_cast<std::ptrdiff_t>(at))) {
        add("CHECK_ROW_CHANGED", rows.table, row,
            row_name(rows.table, row) + " is not as " + speaker + " wrote it");
      }
    }
    select.reset();
    for (; expected < rows.first + rows.count; ++expected) missing(rows.table, expected, sequence);
  }

  void missing(const std::string& table, int64_t row, int64_t sequence) {
    add("CHECK_ROW_MISSING", table, row,
        row_name(table, row) + ", written by entry " + std::to_string(sequence) + ", is missing");
  }

  Statement& select_rows(const std::string& table) {
    auto it = selects_.find(table);
    if (it == selects_.end()) {
      it = selects_
               .emplace(table, database_.prepare("SELECT * FROM " + quoted(table) +
                                                 " WHERE row >= ?1 AND row < ?2 ORDER BY row"))
               .first;
    }
    return it->second.reset();
  }

  /// Reports the rows from `first` on and before `end`, which no entry speaks of. Is every one of
  /// them there?
  bool unchained(const std::string& table, int64_t first, int64_t end) {
    Statement& select = select_rows(table);
    select.bind_all(first, end);
    int64_t n = 0;
    for (; select.step(); ++n) add_unchained(table, select.integer(0));
    select.reset();
    return n == end - first;
  }

  void add_unchained(const std::string& table, int64_t row) {
    add("CHECK_ROW_UNCHAINED", table, row,
        row_name(table, row) + " was not written by this program: no entry speaks of it");
  }

  /// Rows after the last one that an entry speaks of, or before the first.
  void check_rest() {
    for (const auto& [table, next] : tables_) {
      Statement outside = database_.prepare("SELECT row FROM " + quoted(table) +
                                            " WHERE row >= ?1 OR row < 1 ORDER BY row");
      outside.bind(1, next);
      while (outside.step()) add_unchained(table, outside.integer(0));
    }
  }

  /// A correction must come after what it corrects, and be about the same thing.
  void check_supersedes() {
    if (ledger_.schema_version() > newest_schema_version()) return;
    struct Chain {
      const char* table;
      const char* same;  ///< column both rows must agree in
    };
    for (const Chain& c : {Chain{"verdict", "kind"}, Chain{"experiment", "experiment_id"},
                           Chain{"brief", "brief_id"}}) {
      const std::string table = c.table;
      if (!tables_.contains(table)) continue;
      Statement select = database_.prepare(
          "SELECT n.row FROM " + table + " AS n LEFT JOIN " + table +
          " AS o ON o.row = n.supersedes WHERE n.supersedes IS NOT NULL AND (o.row IS NULL OR "
          "o.row >= n.row OR o." +
          c.same + " <> n." + c.same + ") ORDER BY n.row");
      while (select.step()) {
        add("CHECK_SUPERSEDES", table, select.integer(0),
            row_name(table, select.integer(0)) +
                " supersedes a row that is not its own predecessor");
      }
    }
  }

  struct Artifact {
    std::string sha256;
    int64_t row;
    int64_t bytes;
    std::string relpath;
  };

  void list_artifacts() {
    Statement select =
        database_.prepare("SELECT sha256, row, bytes, relpath FROM artifact ORDER BY row");
    while (select.step()) {
      artifacts_.push_back(
          {select.string(0), select.integer(1), select.integer(2), select.string(3)});
    }
  }

  void check_artifacts() {
    std::set<std::string> known;
    uint64_t total = 0;
    for (const Artifact& a : artifacts_) total += static_cast<uint64_t>(a.bytes);
    for (const Artifact& a : artifacts_) {
      known.insert(a.sha256);
      ++result_.artifacts;
      progress("artifacts", static_cast<int64_t>(result_.artifact_bytes),
               static_cast<int64_t>(total));
      if (!is_digest(a.sha256)) {
        add("CHECK_ARTIFACT_MISSING", "artifact", a.row,
            row_name("artifact", a.row) + " names no file: \"" + a.sha256 + "\" is no digest");
        continue;
      }
      const std::string path = ledger_.artifact_path(a.sha256);
      struct stat info {};
      if (::lstat(path.c_str(), &info) != 0) {
        add("CHECK_ARTIFACT_MISSING", "artifact", a.row,
            "artifact " + path + " of " + row_name("artifact", a.row) + " is gone");
        continue;
      }
      result_.artifact_bytes += static_cast<uint64_t>(info.st_size);
      if (!S_ISREG(info.st_mode) || info.st_size != a.bytes || file_sha256(path) != a.sha256 ||
          a.relpath != artifact_relpath(a.sha256)) {
        add("CHECK_ARTIFACT_CHANGED", "artifact", a.row,
            "artifact " + path + " of " + row_name("artifact", a.row) + " has been changed");
      }
    }
    ledger_.artifacts().for_each([&](const std::string& name) {
      if (known.contains(name) || is_on_its_way(name)) return;
      add("CHECK_ARTIFACT_UNKNOWN", "", 0,
          "file " + name + " in " + ledger_.artifacts().root() + " is in no row of artifact");
    });
  }

  /// Does the file belong to an append that goes on, or went on until now? Asked in the order in
  /// which an append moves: its file leaves incoming/ after the row is there or the file is gone.
  bool is_on_its_way(const std::string& name) {
    if (!is_digest(name)) return false;
    if (ledger_.artifacts().is_incoming(name)) return true;
    // As it is now, and not in the state that is being checked.
    if (!present_) present_.emplace(ledger_.path(), OpenMode::kReadOnly);
    Statement select = present_->prepare("SELECT 1 FROM artifact WHERE sha256 = ?1");
    select.bind(1, std::string_view(name));
    if (select.step()) return true;
    struct stat info {};
    return ::lstat(ledger_.artifact_path(name).c_str(), &info) != 0;
  }

  Ledger& ledger_;
  Database& database_;
  const CheckOptions& options_;
  CheckResult result_;
  std::map<std::string, int64_t> tables_;  ///< and their first row that no entry has spoken of yet
  std::map<std::string, Statement> selects_;
  std::optional<Statement> parts_;
  std::optional<Database> present_;
  std::vector<Artifact> artifacts_;
};

}  // namespace

CheckResult check_ledger(Ledger& ledger, const CheckOptions& options) {
  return Checker(ledger, options).run();
}

}  // namespace ledger

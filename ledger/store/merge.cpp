#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "ledger/store/check.hpp"
#include "ledger/store/copy.hpp"
#include "ledger/store/schema.hpp"

namespace ledger {
namespace {

/// Tables whose rows have ids that mean the same on every host, with the columns that make the id.
/// A row of another table belongs to the row that its NOT NULL reference names, and comes with it.
struct Keyed {
  const char* table;
  std::vector<std::string> key;
};
const std::vector<Keyed>& keyed_tables() {
  static const std::vector<Keyed> tables = {
      {"artifact", {"sha256"}},
      {"product", {"product_id"}},
      {"environment", {"environment_id"}},
      {"workload", {"workload_id", "config", "statement_sha256"}},
      {"plan", {"plan_id"}},
      {"run", {"run_id"}},
      {"capture", {"capture_id"}},
      {"verdict", {"verdict_id"}},
      {"calibration", {"calibration_id"}},
      {"experiment", {"revision_id"}},
      {"brief", {"revision_id"}},
      {"record_link", {"link_id"}},
  };
  return tables;
}
/// What each ledger keeps for itself.
const std::set<std::string> kOwnTables = {"meta", "migration", "entry", "entry_rows"};

struct Reference {
  std::string column;
  std::string table;
  bool owner = false;  ///< a row comes with the row that this names
};

struct Table {
  std::string name;
  std::vector<std::string> columns;  ///< without row
  std::vector<Reference> references;
  std::vector<std::string> key;  ///< empty: rows come with their parent
};

std::vector<Table> tables_of(Database& database) {
  std::vector<Table> tables;
  Statement names = database.prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "
      "ORDER BY name");
  while (names.step()) {
    Table t;
    t.name = names.string(0);
    if (kOwnTables.contains(t.name)) continue;
    std::set<std::string> never_null;
    Statement columns =
        database.prepare("SELECT name, \"notnull\" FROM pragma_table_info(?1) ORDER BY cid");
    columns.bind(1, std::string_view(t.name));
    while (columns.step()) {
      if (columns.text(0) != "row") t.columns.push_back(columns.string(0));
      if (columns.integer(1) != 0) never_null.insert(columns.string(0));
    }
    for (const Keyed& k : keyed_tables()) {
      if (t.name == k.table) t.key = k.key;
    }
    Statement references =
        database.prepare("SELECT \"from\", \"table\" FROM pragma_foreign_key_list(?1)");
    references.bind(1, std::string_view(t.name));
    while (references.step()) {
      const std::string column = references.string(0);
      t.references.push_back(
          {column, references.string(1), t.key.empty() && never_null.contains(column)});
    }
    STWO_CHECK(!t.key.empty() || std::count_if(t.references.begin(), t.references.end(),
                                               [](const Reference& r) { return r.owner; }) == 1,
               "rows of " + t.name + " have no id and do not belong to exactly one other row");
    tables.push_back(std::move(t));
  }
  // Referenced tables first; references of a table to itself point to earlier rows.
  std::vector<Table> ordered;
  std::set<std::string> done;
  while (!tables.empty()) {
    const auto next = std::find_if(tables.begin(), tables.end(), [&](const Table& t) {
      return std::all_of(t.references.begin(), t.references.end(), [&](const Reference& r) {
        return r.table == t.name || done.contains(r.table);
      });
    });
    STWO_CHECK(next != tables.end(), "tables refer to each other in a circle");
    done.insert(next->name);
    ordered.push_back(std::move(*next));
    tables.erase(next);
  }
  return ordered;
}

std::string quoted_list(const std::vector<std::string>& columns) {
  std::string out;
  for (const std::string& c : columns) out += (out.empty() ? "\"" : ", \"") + c + "\"";
  return out;
}

class Merger {
 public:
  Merger(Ledger& ledger, Ledger& source, bool skip_conflicts, const CopyObserver& observe)
      : ledger_(ledger), source_(source), skip_conflicts_(skip_conflicts), observe_(observe) {}

  MergeResult run() {
    result_.bundle_id = source_.id();
    result_.bundle_head = source_.head();
    receive_artifacts();
    Append append(ledger_, "merge", result_.bundle_id + "@" + result_.bundle_head);
    for (const Table& table : tables_of(source_.database())) merge_table(append, table);
    append.commit();
    return std::move(result_);
  }

 private:
  /// Files come in before the writer's lock is taken.
  void receive_artifacts() {
    Statement select =
        source_.database().prepare("SELECT row, sha256, bytes FROM artifact ORDER BY row");
    const int64_t total = source_.database().query_integer("SELECT count(*) FROM artifact");
    int64_t done = 0;
    while (select.step()) {
      const std::string sha256 = select.string(1);
      if (observe_) observe_("artifacts", done++, total);
      if (ledger_.find_artifact(sha256) != 0) continue;
      auto incoming = ledger_.artifacts().receive_file(source_.artifact_path(sha256));
      if (incoming.sha256() != sha256) {
        throw stwo::FormatError("MERGE_SOURCE", "artifact " + source_.artifact_path(sha256) +
                                                    " has been changed; merge another copy");
      }
      files_.emplace(sha256, std::move(incoming));
    }
  }

  void merge_table(Append& append, const Table& table) {
    Database& from = source_.database();
    Statement select = from.prepare("SELECT row, " + quoted_list(table.columns) + " FROM \"" +
                                    table.name + "\" ORDER BY row");
    std::string where;
    for (const std::string& k : table.key) {
      where += (where.empty() ? "" : " AND ") + ("\"" + k + "\" IS ?");
    }
    std::optional<Statement> find;
    if (!table.key.empty()) {
      find.emplace(
          append.database().prepare("SELECT row FROM \"" + table.name + "\" WHERE " + where));
    }
    int64_t added = 0;
    std::map<int64_t, Mapped>& map = rows_[table.name];
    while (select.step()) {
      const int64_t row = select.integer(0);
      std::vector<Column> columns;
      bool owner_is_new = false;
      bool left_out = false;
      for (size_t c = 0; c < table.columns.size(); ++c) {
        const int column = static_cast<int>(c) + 1;
        Value value = select.value(column);
        const auto reference =
            std::find_if(table.references.begin(), table.references.end(),
                         [&](const Reference& r) { return r.column == table.columns[c]; });
        if (reference != table.references.end() && !select.is_null(column)) {
          const Mapped& mapped = rows_.at(reference->table).at(select.integer(column));
          left_out = left_out || mapped.row == 0;
          owner_is_new = owner_is_new || (reference->owner && mapped.is_new);
          value = mapped.row;
        }
        columns.push_back({table.columns[c], std::move(value)});
      }
      if (find) {
        int index = 0;
        find->reset();
        for (const std::string& k : table.key) {
          const auto it = std::find(table.columns.begin(), table.columns.end(), k);
          find->bind_value(++index, columns[static_cast<size_t>(it - table.columns.begin())].value);
        }
        if (find->step()) {
          map[row] = {find->integer(0), false};
          continue;
        }
      } else if (!owner_is_new) {
        map[row] = {0, false};
        continue;
      }
      if (left_out) {
        if (!table.key.empty()) {
          result_.conflicts.push_back(name_of(table, columns) + " rests on a row that is left out");
        }
        map[row] = {0, false};
        continue;
      }
      if (conflicts(append, table, columns)) {
        map[row] = {0, false};
        continue;
      }
      const int64_t inserted = insert_or_conflict(append, table, columns);
      map[row] = {inserted, inserted != 0};
      if (inserted != 0) ++added;
    }
    if (added != 0) result_.added.emplace_back(table.name, added);
  }

  /// 0: left out. Sound on its own, a row can still contradict the other side's history, such as a
  /// decision on a link that was retracted here.
  int64_t insert_or_conflict(Append& append, const Table& table, std::vector<Column>& columns) {
    try {
      return insert(append, table, columns);
    } catch (const DatabaseError& e) {
      // A part of something that has come in can't be left out alone.
      if (e.code() != "LEDGER_CONSTRAINT" || table.key.empty()) throw;
      conflict(name_of(table, columns) + " contradicts this ledger: " + e.what());
      return 0;
    }
  }

  int64_t insert(Append& append, const Table& table, std::vector<Column>& columns) {
    if (table.name != "artifact") return append.insert(table.name, columns);
    const auto text = [&](std::string_view name) {
      const auto it = std::find_if(columns.begin(), columns.end(),
                                   [&](const Column& c) { return c.name == name; });
      return std::get<std::string>(it->value);
    };
    ++result_.artifacts;
    return append.add_artifact(text("kind"), text("file_name"),
                               std::move(files_.at(text("sha256"))));
  }

  static std::string name_of(const Table& table, const std::vector<Column>& columns) {
    const auto key = std::find_if(columns.begin(), columns.end(),
                                  [&](const Column& c) { return c.name == table.key.front(); });
    return table.name + " " + std::get<std::string>(key->value);
  }

  /// Both sides have corrected the same row: only one can be its successor.
  bool conflicts(Append& append, const Table& table, const std::vector<Column>& columns) {
    const auto it = std::find_if(columns.begin(), columns.end(), [](const Column& c) {
      return c.name == "supersedes" || c.name == "retracts";
    });
    if (it == columns.end() || std::holds_alternative<std::monostate>(it->value)) return false;
    Statement find =
        append.database().prepare("SELECT \"" + table.key.front() + "\" FROM \"" + table.name +
                                  "\" WHERE " + std::string(it->name) + " = ?1");
    find.bind_value(1, it->value);
    if (!find.step()) return false;
    conflict(name_of(table, columns) + " and the local " + find.string(0) +
             " correct the same row");
    return true;
  }

  /// Notes a row that is left out, or refuses the merge.
  void conflict(const std::string& what) {
    if (!skip_conflicts_) {
      throw stwo::RefusedError("MERGE_CONFLICT",
                               what +
                                   "; --skip-conflicts keeps the local ones and leaves the "
                                   "others out");
    }
    result_.conflicts.push_back(what);
  }

  struct Mapped {
    int64_t row = 0;  ///< here; 0: left out
    bool is_new = false;
  };

  Ledger& ledger_;
  Ledger& source_;
  bool skip_conflicts_;
  const CopyObserver& observe_;
  MergeResult result_;
  std::map<std::string, ArtifactStore::Incoming> files_;
  std::map<std::string, std::map<int64_t, Mapped>> rows_;
};

/// A bundle's folder or a ledger's own path.
std::string database_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return path;
  const std::string manifest_path = path + "/manifest.json";
  std::ifstream file(manifest_path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  const nlohmann::json manifest = nlohmann::json::parse(text.str(), nullptr, false);
  const auto field = [&](const char* key) {
    const auto it = manifest.find(key);
    return it != manifest.end() && it->is_string() ? it->get<std::string>() : "";
  };
  if (!file || !manifest.is_object() || field("schema") != kBundleSchema) {
    throw stwo::FormatError("MERGE_SOURCE", "folder " + path +
                                                " is no bundle: manifest.json is missing or not "
                                                "of schema " +
                                                std::string(kBundleSchema) +
                                                "; make one with `ledger export`");
  }
  std::string database = path + "/ledger.db";
  if (::stat(database.c_str(), &info) != 0) {
    throw stwo::FormatError("MERGE_SOURCE", "bundle " + path + " has no ledger.db; copy it again");
  }
  const std::string expected = field("database_sha256");
  if (const std::string found = file_sha256(database); found != expected) {
    throw stwo::FormatError("MERGE_SOURCE", "bundle " + path +
                                                ": ledger.db is not the one it was made with "
                                                "(expected SHA-256 " +
                                                expected + ", found " + found + "); copy it again");
  }
  return database;
}

}  // namespace

MergeResult merge_ledger(Ledger& ledger, const std::string& source_path, bool skip_conflicts,
                         const CopyObserver& observe) {
  const std::string path = database_of(source_path);
  Ledger source(path, Access::kRead);
  if (source.schema_version() != ledger.schema_version()) {
    throw stwo::FormatError(
        "MERGE_SOURCE", "ledger " + path + " has schema version " +
                            std::to_string(source.schema_version()) + ", this one " +
                            std::to_string(ledger.schema_version()) + "; migrate the older one");
  }
  // What is merged is what has been checked, whatever is appended to the source meanwhile.
  const Transaction snapshot(source.database(), Transaction::Kind::kRead);
  CheckOptions options;
  options.max_findings = 1;
  options.on_progress = observe;
  const CheckResult check = check_ledger(source, options);
  if (!check.findings.empty()) {
    throw stwo::FormatError("MERGE_SOURCE", "ledger " + path +
                                                " is not sound: " + check.findings.front().message +
                                                "; `ledger check` lists everything");
  }
  return Merger(ledger, source, skip_conflicts, observe).run();
}

}  // namespace ledger

#include "ledger/store/schema.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "ledger/schema/ledger_schema.hpp"
#include "ledger/store/files.hpp"
#include "prover/cli/output_file.hpp"
#include "prover/hash/sha256.hpp"

namespace ledger {
namespace {

std::vector<std::string> names_of(Database& database, const std::string& type) {
  Statement select = database.prepare(
      "SELECT name FROM sqlite_schema WHERE type = ?1 AND name NOT LIKE 'sqlite_%' ORDER BY name");
  select.bind(1, std::string_view(type));
  std::vector<std::string> out;
  while (select.step()) out.push_back(select.string(0));
  return out;
}

/// History is only ever added to.
void forbid_changes(Database& database) {
  for (const std::string& table : names_of(database, "table")) {
    for (const std::string verb : {"update", "delete"}) {
      database.execute("CREATE TRIGGER IF NOT EXISTS " + table + "_no_" + verb + " BEFORE " + verb +
                       " ON " + table + " BEGIN SELECT RAISE(ABORT, '" + table +
                       " is append-only; append a row that supersedes the old one'); END");
    }
  }
}

/// First row of a pragma that reports problems; empty: none.
std::string first_problem(Database& database, const std::string& pragma) {
  Statement select = database.prepare("PRAGMA " + pragma);
  if (!select.step()) return "";
  std::string out;
  for (int c = 0; c < select.column_count(); ++c) {
    out += (c == 0 ? "" : " ") + select.string(c);
  }
  return out == "ok" ? "" : out;
}

void require_sound(Database& database, const std::string& path) {
  for (const std::string pragma : {"foreign_key_check", "integrity_check"}) {
    if (const std::string problem = first_problem(database, pragma); !problem.empty()) {
      throw stwo::FormatError("LEDGER_CORRUPT", "ledger " + path + ": " + pragma + " says \"" +
                                                    problem + "\"; restore a backup");
    }
  }
}

void set_version(Database& database, int64_t version) {
  database.execute("PRAGMA user_version=" + std::to_string(version));
}

}  // namespace

int64_t newest_schema_version() { return static_cast<int64_t>(ledger_schema_files().size()); }

int64_t require_ledger(Database& database) {
  const std::string& path = database.path();
  const int64_t application = database.query_integer("PRAGMA application_id");
  const int64_t version = database.query_integer("PRAGMA user_version");
  if (application == 0 && version == 0 && names_of(database, "table").empty()) {
    throw stwo::FormatError("LEDGER_FOREIGN", "database " + path +
                                                  " is empty and no ledger; make one under "
                                                  "another name with `ledger init`");
  }
  if (application != kLedgerApplicationId) {
    throw stwo::FormatError("LEDGER_FOREIGN",
                            "database " + path + " belongs to another application (id " +
                                std::to_string(application) + ", expected " +
                                std::to_string(kLedgerApplicationId) + "); name a ledger");
  }
  if (version < 1) {
    throw stwo::FormatError("LEDGER_CORRUPT",
                            "ledger " + path + " has no schema version; restore a backup");
  }
  return version;
}

void apply_schema(Append& append, int64_t from, int64_t to) {
  Database& database = append.database();
  const auto files = ledger_schema_files();
  for (int64_t version = from + 1; version <= to; ++version) {
    const EmbeddedSql& file = files[static_cast<size_t>(version - 1)];
    database.execute(file.text);
    append.insert("migration", {{"version", version},
                                {"sql_sha256", stwo::sha256_hex(file.text)},
                                {"tool_version", tool_version()},
                                {"applied_utc", utc_now()}});
  }
  forbid_changes(database);
  set_version(database, to);
}

void init_ledger(const std::string& path, int64_t version) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0) {
    throw stwo::RefusedError("OUTPUT_EXISTS", "ledger " + path + " exists; choose another name");
  }
  stwo::check_output(path, false);
  const std::string temporary = path + ".tmp." + std::to_string(::getpid());
  const auto remove = [&] {
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
      ::unlink((temporary + suffix).c_str());
    }
  };
  remove();
  try {
    {
      Ledger ledger(Ledger::New{}, temporary);
      // The id has to be set before the first page is written with another one.
      ledger.database().execute("PRAGMA application_id=" + std::to_string(kLedgerApplicationId));
      Append append(ledger, "init", "ledger");
      apply_schema(append, 0, version);
      append.insert("meta", {{"key", std::string("ledger_id")}, {"value", new_ulid()}});
      append.insert("meta", {{"key", std::string("created_utc")}, {"value", utc_now()}});
      append.commit();
    }
    publish(temporary, path);
  } catch (...) {
    remove();
    throw;
  }
  remove();
}

MigrationResult migrate_ledger(const std::string& path, const LedgerOptions& options,
                               const MigrationObserver& observe) {
  const auto tell = [&](const std::string& step) {
    if (observe) observe(step);
  };
  Ledger ledger(Ledger::AnyVersion{}, path, options);
  Database& database = ledger.database();
  MigrationResult result;
  {
    Append append(ledger, "migrate", std::to_string(newest_schema_version()));
    // Read under the lock: another program may just have migrated it.
    result.from = require_ledger(database);
    result.to = newest_schema_version();
    if (result.from > result.to) {
      throw stwo::RefusedError("LEDGER_NEWER", "ledger " + path + " has schema version " +
                                                   std::to_string(result.from) +
                                                   ", newer than this program's " +
                                                   std::to_string(result.to) + "; use its program");
    }
    if (result.from == result.to) return result;
    tell("backup");
    std::string time = utc_now();
    std::erase_if(time, [](char c) { return c == ':' || c == '-' || c == '.'; });
    result.backup_path = path + ".v" + std::to_string(result.from) + "." + time + ".backup";
    const std::string temporary = result.backup_path + ".tmp." + std::to_string(::getpid());
    // By a connection of its own: SQLite copies nothing out of a connection that is writing.
    Database(path, OpenMode::kReadOnly).backup_to(temporary, {});
    publish(temporary, result.backup_path);
    const auto files = ledger_schema_files();
    for (int64_t v = result.from; v < result.to; ++v) {
      tell(std::string(files[static_cast<size_t>(v)].name));
      apply_schema(append, v, v + 1);
    }
    tell("check");
    require_sound(database, path);
    tell("commit");
    append.commit();
  }
  tell("done");
  return result;
}

}  // namespace ledger

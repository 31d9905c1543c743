// The schema of a ledger: numbered SQL files, one version each.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "ledger/db/database.hpp"
#include "ledger/store/ledger.hpp"

namespace ledger {

/// Newest schema version this program knows: the number of SQL files.
int64_t newest_schema_version();

/// What user_version and application_id say. Throws FormatError LEDGER_FOREIGN if it is no ledger.
int64_t require_ledger(Database& database);

/// Told before each step of a migration ("backup", "0003_captures.sql", "check", "commit").
using MigrationObserver = std::function<void(const std::string& step)>;

/// Runs the SQL files after `from` up to `to` inside an append: tables, views, triggers; then adds
/// the triggers that keep every table append-only. A file that changes a view drops it first.
void apply_schema(Append& append, int64_t from, int64_t to);

struct MigrationResult {
  int64_t from = 0;
  int64_t to = 0;
  std::string backup_path;  ///< empty if there was nothing to do
};

/// Brings the ledger at `path` to the newest version. Under the writer's lock: copies the database
/// to `path`.v<old>.<time>.backup (complete or absent), then runs all steps, foreign_key_check and
/// integrity_check in one transaction. On failure the ledger is as it was. Throws RefusedError
/// LEDGER_NEWER.
MigrationResult migrate_ledger(const std::string& path, const LedgerOptions& options,
                               const MigrationObserver& observe = {});

/// Makes a ledger at schema version `version`; tests need older ones.
void init_ledger(const std::string& path, int64_t version);

}  // namespace ledger

// A ledger: one SQLite database and the folder of artifacts beside it.
//
//   history.db              the database (WAL, synchronous=FULL)
//   history.artifacts/ab/…  files by SHA-256, mode 0444
//   history.artifacts/incoming/  files on their way in; never half-written elsewhere
//
// Every row of every table is covered by a hash chain: an append writes its rows, then one `entry`
// with the digests of those rows and of the entry before it, in one transaction.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/db/database.hpp"
#include "ledger/store/artifact_store.hpp"

namespace ledger {

/// PRAGMA application_id of a ledger, "stLd" in ASCII.
inline constexpr int64_t kLedgerApplicationId = 0x73744c64;

enum class Access : uint8_t {
  kRead,    ///< an older schema is refused, a newer one is read as it is
  kAppend,  ///< also sweeps what an interrupted append has left behind
};

struct LedgerOptions {
  std::chrono::milliseconds wait{5000};  ///< for another writer
  std::function<void()> on_wait;         ///< told once when the wait has lasted a second
  /// Told when the schema is newer than this program's and the ledger is only read.
  std::function<void(const std::string&)> on_note;
};

class Ledger {
 public:
  /// Makes an empty ledger at `path`. Throws RefusedError OUTPUT_EXISTS.
  static void init(const std::string& path);
  /// Throws DatabaseError; FormatError LEDGER_FOREIGN (no ledger of ours: an empty file, another
  /// application's database); RefusedError LEDGER_OLD (needs `ledger migrate`) and LEDGER_NEWER
  /// (opened to append, but written by a newer program).
  Ledger(const std::string& path, Access access, const LedgerOptions& options = {});
  /// A new, empty database: for init.
  struct New {};
  Ledger(New, const std::string& path);
  /// To append, whatever the schema's version: for migrations.
  struct AnyVersion {};
  Ledger(AnyVersion, const std::string& path, const LedgerOptions& options);

  Database& database() { return database_; }
  const std::string& path() const { return path_; }
  /// ULID given at init; names this history in merges.
  std::string id();
  int64_t schema_version();

  ArtifactStore& artifacts() { return store_; }
  /// Digest of the last entry.
  std::string head();
  /// Path of an artifact in the store.
  std::string artifact_path(std::string_view sha256) const;
  /// Row of the artifact with this digest; 0: none.
  int64_t find_artifact(std::string_view sha256);
  /// Content of an artifact, checked against its digest. Throws FormatError ARTIFACT_MISSING,
  /// ARTIFACT_CHANGED.
  std::string read_artifact(std::string_view sha256);

 private:
  friend class Append;
  void set_up_writing(const LedgerOptions& options);
  void sweep();

  std::string path_;
  ArtifactStore store_;
  Database database_;
};

/// Folder of artifacts of the ledger at `path`: history.db has history.artifacts.
std::string artifact_folder(const std::string& path);

/// A column of a new row.
struct Column {
  std::string_view name;
  Value value;
};

/// One append: all of it or nothing, under the writer's lock from construction to the end.
class Append {
 public:
  /// `kind` says what is appended (docs/ledger-schema.md lists the kinds), `subject` what about: an
  /// id that readers can look up.
  Append(Ledger& ledger, std::string kind, std::string subject);
  Append(const Append&) = delete;
  Append& operator=(const Append&) = delete;
  /// Without commit: nothing has happened.
  ~Append() = default;

  Database& database();
  /// Appends a row and returns its number. Columns left out are NULL.
  int64_t insert(const std::string& table, std::initializer_list<Column> columns);
  int64_t insert(const std::string& table, std::span<const Column> columns);
  /// Row of the artifact with this content, which is stored if it is new.
  /// `kind` is the artifact's kind, `file_name` the name it had.
  int64_t add_artifact(std::string_view kind, std::string_view file_name, std::string_view content);
  /// The same for a file, which is hashed and copied without being held in memory.
  int64_t add_artifact_file(std::string_view kind, std::string_view file_name,
                            const std::string& source_path);
  /// The same for content that has been received before the writer's lock was taken: hashing a
  /// large file must not keep other writers waiting.
  int64_t add_artifact(std::string_view kind, std::string_view file_name,
                       ArtifactStore::Incoming incoming);
  /// Writes the entry and commits. Returns the entry's digest. Without any row: does nothing,
  /// returns an empty text.
  std::string commit();

 private:
  struct Inserted {
    int64_t first = 0;
    int64_t count = 0;
  };

  Ledger& ledger_;
  std::string kind_;
  std::string subject_;
  // Destroyed after the files: they leave the store before the writer's lock is given up.
  Transaction transaction_;
  std::vector<ArtifactStore::Incoming> incoming_;
  std::map<std::string, Inserted> inserted_;
  std::map<std::string, Statement> statements_;
};

/// Program and version that entries name, e.g. "ledger 0.1.0". Set once, by main().
void set_tool_version(std::string text);
const std::string& tool_version();

/// UTC time now, "2026-01-31T12:00:00.123Z".
std::string utc_now();
/// A new ULID (26 characters of Crockford's base 32: 48 bits of time in ms, 80 random bits).
/// Two made by one process are in order.
std::string new_ulid();
bool is_ulid(std::string_view text);

}  // namespace ledger

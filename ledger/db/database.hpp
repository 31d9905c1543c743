// SQLite with owners: a connection, a prepared statement, a transaction. Everything else in the
// ledger goes through these; nothing else includes sqlite3.h.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "prover/errors.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace ledger {

/// A value as SQLite stores it. Booleans are integers 0 and 1.
using Blob = std::vector<uint8_t>;
using Value = std::variant<std::monostate, int64_t, double, std::string, Blob>;

/// For values that may be absent.
template <class T>
Value value_or_null(const std::optional<T>& v) {
  if (!v) return std::monostate{};
  if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, double>) {
    return *v;
  } else {
    return static_cast<int64_t>(*v);
  }
}

/// SQLite refused. The code is one of ours (LEDGER_*), the message names database and cause.
///   LEDGER_BUSY (refused), LEDGER_FULL, LEDGER_IO, LEDGER_READ_ONLY (environment),
///   LEDGER_CORRUPT, LEDGER_CONSTRAINT (invalid evidence), LEDGER_SQL (usage),
///   LEDGER_LIMIT (refused): a query hit its limit.
class DatabaseError : public stwo::Error {
 public:
  DatabaseError(stwo::ExitCode exit_code, std::string code, const std::string& message,
                int sqlite_code)
      : Error(exit_code, std::move(code), message), sqlite_code_(sqlite_code) {}
  /// Extended result code of SQLite.
  int sqlite_code() const { return sqlite_code_; }

 private:
  int sqlite_code_;
};

class Database;

/// A prepared statement. Move-only; must not outlive its database.
class Statement {
 public:
  Statement(Statement&&) noexcept;
  Statement& operator=(Statement&&) noexcept;
  ~Statement();

  /// Parameters count from 1, as in SQLite.
  Statement& bind(int index, std::monostate);
  Statement& bind(int index, int64_t value);
  Statement& bind(int index, double value);
  Statement& bind(int index, std::string_view text);
  Statement& bind(int index, const Blob& bytes);
  Statement& bind(int index, const char* text) { return bind(index, std::string_view(text)); }
  template <std::integral T>
  Statement& bind(int index, T value) {
    return bind(index, static_cast<int64_t>(value));
  }
  Statement& bind_value(int index, const Value& value);
  /// Text that stays valid until the statement is reset or bound again: not copied.
  Statement& bind_static(int index, std::string_view text);
  /// Binds 1..n.
  template <class... T>
  Statement& bind_all(const T&... values) {
    int index = 0;
    (bind(++index, values), ...);
    return *this;
  }
  /// Index of a named parameter (":name"); 0: the statement has none.
  int parameter_index(const std::string& name) const;
  int parameter_count() const;
  /// Name of parameter `index`, with its colon; empty if it has none.
  std::string parameter_name(int index) const;

  /// True: a row is there. Throws DatabaseError.
  bool step();
  /// Runs to the end, then resets: for statements whose rows nobody wants.
  void run();
  /// Ready to run again; bindings stay.
  Statement& reset();

  int column_count() const;
  std::string column_name(int column) const;
  bool is_null(int column) const;
  int64_t integer(int column) const;
  double real(int column) const;
  /// Valid until the next step or reset.
  std::string_view text(int column) const;
  std::string string(int column) const { return std::string(text(column)); }
  Value value(int column) const;
  std::optional<int64_t> optional_integer(int column) const;
  std::optional<std::string> optional_string(int column) const;
  /// Does the statement leave the database as it is?
  bool is_read_only() const;

 private:
  friend class Database;
  Statement(Database* database, sqlite3_stmt* statement)
      : database_(database), statement_(statement) {}
  [[noreturn]] void fail(int code) const;

  Database* database_;
  sqlite3_stmt* statement_;
};

enum class OpenMode : uint8_t {
  kReadOnly,
  kReadWrite,  ///< must exist
  kCreate,     ///< must not exist; ":memory:" lives and dies with the connection
};

/// Limits of a connection that runs SQL of unknown origin.
struct QueryLimits {
  std::chrono::milliseconds timeout{10'000};
  uint64_t max_bytes = uint64_t{1} << 28;  ///< longest text or blob
};

/// A connection. One thread at a time. foreign_keys is on, trusted_schema off when reading,
/// extensions can't be loaded, double-quoted strings are errors.
class Database {
 public:
  /// Throws DatabaseError; `name` in messages is the path. A database on a file system without
  /// write permission is opened as immutable if no writer has left a write-ahead log behind.
  Database(const std::string& path, OpenMode mode);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  const std::string& path() const { return path_; }
  Statement prepare(std::string_view sql);
  /// Prepares one statement and requires that nothing but white space and comments follows.
  Statement prepare_only(std::string_view sql);
  /// Runs a script of any number of statements.
  void execute(std::string_view sql);
  /// First column of the first row; throws ContractError if there is no row.
  int64_t query_integer(std::string_view sql);
  std::string query_text(std::string_view sql);
  int64_t last_insert_row() const;
  int64_t changes() const;

  /// How long to wait for another writer, and whom to tell (once) when a wait has lasted a second.
  void set_wait(std::chrono::milliseconds limit, std::function<void()> on_wait = {});
  /// From now on only SELECT, WITH and EXPLAIN run: an authorizer refuses writing, ATTACH, PRAGMAs
  /// that change anything and functions that reach outside; a statement ends with LEDGER_LIMIT
  /// when the time is over. `on_progress` is called about ten times a second while one runs.
  void restrict_to_queries(const QueryLimits& limits, std::function<void()> on_progress = {});
  /// Starts the clock of the limit again.
  void restart_clock();
  /// Is a transaction open on this connection?
  bool in_transaction() const;
  /// Copies this database (a consistent state, whatever writers do) into a new file. On failure no
  /// file stays.
  void backup_to(const std::string& path, const std::function<void(int done, int total)>& progress);
  /// Makes a database from another file visible under `schema_name` of this connection, read-only.
  /// Only before restrict_to_queries.
  void attach_read_only(const std::string& path, const std::string& schema_name);

 private:
  friend class Statement;
  [[noreturn]] void fail(int code, std::string_view doing) const;
  void copy_pages(Database& target, const std::function<void(int done, int total)>& progress);
  static int busy_handler(void* self, int attempt);
  static int progress_handler(void* self);

  std::string path_;
  sqlite3* handle_ = nullptr;
  std::chrono::milliseconds wait_limit_{5000};
  std::function<void()> on_wait_;
  std::chrono::steady_clock::time_point wait_start_;
  bool told_ = false;
  std::optional<QueryLimits> limits_;
  std::function<void()> on_progress_;
  std::chrono::steady_clock::time_point clock_start_;
  std::chrono::steady_clock::time_point last_progress_;
  bool out_of_time_ = false;
  bool refused_ = false;  ///< by the authorizer, since the last prepare
};

/// Rolls back unless committed.
class Transaction {
 public:
  enum class Kind : uint8_t {
    kRead,   ///< one consistent state for several statements
    kWrite,  ///< takes the writer's lock at once
  };
  Transaction(Database& database, Kind kind);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

/// SQLite's own version, e.g. "3.40.1".
std::string sqlite_version();

}  // namespace ledger

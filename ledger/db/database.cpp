#include "ledger/db/database.hpp"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <thread>

namespace ledger {
namespace {

using stwo::ExitCode;

struct Classified {
  ExitCode exit_code;
  const char* code;
  const char* mend;
};

Classified classify(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ExitCode::kRefused, "LEDGER_BUSY",
              "another program is writing; wait for it or give a longer --wait"};
    case SQLITE_FULL: return {ExitCode::kEnvironment, "LEDGER_FULL", "free some disk space"};
    case SQLITE_READONLY:
      return {ExitCode::kEnvironment, "LEDGER_READ_ONLY",
              "open it where you may write, or copy it with `ledger backup`"};
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      return {ExitCode::kEnvironment, "LEDGER_OPEN", "check the path and its permissions"};
    case SQLITE_IOERR:
      return {ExitCode::kEnvironment, "LEDGER_IO", "check the disk and the file size limit"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {ExitCode::kInvalidEvidence, "LEDGER_CORRUPT",
              "restore a backup; `ledger check` names what is broken"};
    case SQLITE_CONSTRAINT:
      return {ExitCode::kInvalidEvidence, "LEDGER_CONSTRAINT", "correct the row"};
    case SQLITE_AUTH:
      return {ExitCode::kRefused, "LEDGER_QUERY_REFUSED",
              "only SELECT, WITH and EXPLAIN on tables and views are allowed"};
    case SQLITE_INTERRUPT:
      return {ExitCode::kRefused, "LEDGER_LIMIT", "narrow the query or give a longer --timeout"};
    case SQLITE_TOOBIG: return {ExitCode::kRefused, "LEDGER_LIMIT", "ask for smaller values"};
    case SQLITE_NOMEM:
      return {ExitCode::kEnvironment, "OUT_OF_MEMORY", "free some memory or narrow the query"};
    case SQLITE_ERROR:
    case SQLITE_RANGE:
    case SQLITE_MISMATCH: return {ExitCode::kUsage, "LEDGER_SQL", "correct the SQL"};
    default: return {ExitCode::kBug, "LEDGER_SQLITE", "please report it with the command line"};
  }
}

[[noreturn]] void throw_classified(int code, const std::string& path, const std::string& cause) {
  const Classified c = classify(code);
  throw DatabaseError(c.exit_code, c.code, "database " + path + ": " + cause + "; " + c.mend, code);
}

std::string strip(std::string_view sql) {
  constexpr size_t kShown = 120;
  std::string out;
  for (const char c : sql.substr(0, kShown)) {
    const bool blank = c == '\n' || c == '\t' || c == ' ' || c == '\r';
    if (blank && (out.empty() || out.back() == ' ')) continue;
    out += blank ? ' ' : c;
  }
  return out + (sql.size() > kShown ? "..." : "");
}

bool exists(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

bool has_content(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && info.st_size > 0;
}

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// A path as a URI: without the characters that a URI would read as its own, and without an
/// authority, for which two leading slashes would be taken.
std::string file_uri(const std::string& path) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = path.front() == '/' ? "file://" : "file:./";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '%' || c == '?' || c == '#' || byte < 0x20) {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out;
}

/// What SQL of unknown origin may do: read.
int decide_query(int action, const char* first, const char* second) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    // Table-valued functions such as json_each declare themselves so. Statements that change the
    // schema need other permissions, too, and that table cannot be updated.
    case SQLITE_UPDATE:
      return first != nullptr && std::string_view(first) == "sqlite_master" ? SQLITE_OK
                                                                            : SQLITE_DENY;
    case SQLITE_FUNCTION: {
      static constexpr std::string_view kRefused[] = {
          "load_extension", "fts3_tokenizer", "readfile", "writefile",
          "edit",           "randomblob",     "zeroblob"};
      const std::string_view name = second == nullptr ? "" : second;
      return std::find(std::begin(kRefused), std::end(kRefused), name) == std::end(kRefused)
                 ? SQLITE_OK
                 : SQLITE_DENY;
    }
    case SQLITE_PRAGMA: {
      static constexpr std::string_view kReading[] = {
          "table_info",     "table_xinfo",      "table_list",    "index_list",   "index_info",
          "index_xinfo",    "foreign_key_list", "function_list", "user_version", "application_id",
          "collation_list", "compile_options",  "database_list"};
      const std::string_view name = first == nullptr ? "" : first;
      const bool reads =
          std::find(std::begin(kReading), std::end(kReading), name) != std::end(kReading);
      // user_version and application_id write when they are given a value.
      const bool sets = second != nullptr && (name == "user_version" || name == "application_id");
      return reads && !sets ? SQLITE_OK : SQLITE_DENY;
    }
    default: return SQLITE_DENY;
  }
}

/// `refused` is told of refusals: SQLite has one code for them and another for its own nested SQL.
int authorize_query(void* refused, int action, const char* first, const char* second, const char*,
                    const char*) {
  const int decision = decide_query(action, first, second);
  if (decision != SQLITE_OK) *static_cast<bool*>(refused) = true;
  return decision;
}

}  // namespace

std::string sqlite_version() { return sqlite3_libversion(); }

// --- Statement

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)) {}
Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(database_, other.database_);
  std::swap(statement_, other.statement_);
  return *this;
}
Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::fail(int code) const {
  const char* sql = sqlite3_sql(statement_);
  database_->fail(code, sql == nullptr ? "" : sql);
}

#define LEDGER_BIND(call)                                          \
  do {                                                             \
    if (const int code_ = (call); code_ != SQLITE_OK) fail(code_); \
    return *this;                                                  \
  } while (false)

Statement& Statement::bind(int index, std::monostate) {
  LEDGER_BIND(sqlite3_bind_null(statement_, index));
}
Statement& Statement::bind(int index, int64_t value) {
  LEDGER_BIND(sqlite3_bind_int64(statement_, index, value));
}
Statement& Statement::bind(int index, double value) {
  LEDGER_BIND(sqlite3_bind_double(statement_, index, value));
}
Statement& Statement::bind(int index, std::string_view text) {
  LEDGER_BIND(sqlite3_bind_text64(statement_, index, text.data() == nullptr ? "" : text.data(),
                                  text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}
Statement& Statement::bind_static(int index, std::string_view text) {
  LEDGER_BIND(sqlite3_bind_text64(statement_, index, text.data() == nullptr ? "" : text.data(),
                                  text.size(), SQLITE_STATIC, SQLITE_UTF8));
}
Statement& Statement::bind(int index, const Blob& bytes) {
  static constexpr uint8_t kNothing = 0;
  LEDGER_BIND(sqlite3_bind_blob64(statement_, index, bytes.empty() ? &kNothing : bytes.data(),
                                  bytes.size(), SQLITE_TRANSIENT));
}
#undef LEDGER_BIND
Statement& Statement::bind_value(int index, const Value& value) {
  return std::visit(
      [&](const auto& v) -> Statement& {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::string>) {
          return bind(index, std::string_view(v));
        } else {
          return bind(index, v);
        }
      },
      value);
}
int Statement::parameter_index(const std::string& name) const {
  return sqlite3_bind_parameter_index(statement_, name.c_str());
}
int Statement::parameter_count() const { return sqlite3_bind_parameter_count(statement_); }
std::string Statement::parameter_name(int index) const {
  const char* name = sqlite3_bind_parameter_name(statement_, index);
  return name == nullptr ? "" : name;
}

bool Statement::step() {
  switch (const int code = sqlite3_step(statement_)) {
    case SQLITE_ROW: return true;
    case SQLITE_DONE: return false;
    default: fail(code);
  }
}
void Statement::run() {
  while (step()) {
  }
  reset();
}
Statement& Statement::reset() {
  // Repeats the error of the last step, which has been thrown already.
  sqlite3_reset(statement_);
  return *this;
}

int Statement::column_count() const { return sqlite3_column_count(statement_); }
std::string Statement::column_name(int column) const {
  const char* name = sqlite3_column_name(statement_, column);
  return name == nullptr ? "" : name;
}
bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}
int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }
std::string_view Statement::text(int column) const {
  const auto* text = sqlite3_column_text(statement_, column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}
Value Statement::value(int column) const {
  switch (sqlite3_column_type(statement_, column)) {
    case SQLITE_INTEGER: return integer(column);
    case SQLITE_FLOAT: return real(column);
    case SQLITE_TEXT: return string(column);
    case SQLITE_BLOB: {
      const auto* data = static_cast<const uint8_t*>(sqlite3_column_blob(statement_, column));
      const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_, column));
      return size == 0 ? Blob{} : Blob(data, data + size);
    }
    default: return std::monostate{};
  }
}
std::optional<int64_t> Statement::optional_integer(int column) const {
  if (is_null(column)) return std::nullopt;
  return integer(column);
}
std::optional<std::string> Statement::optional_string(int column) const {
  if (is_null(column)) return std::nullopt;
  return string(column);
}
bool Statement::is_read_only() const { return sqlite3_stmt_readonly(statement_) != 0; }

// --- Database

Database::Database(const std::string& path, OpenMode mode) : path_(path) {
  if (path.empty())
    throw stwo::UsageError("LEDGER_OPEN", "the database's name is empty; name a file");
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI;
  const bool in_memory = path == ":memory:";
  std::string uri = in_memory ? path : file_uri(path);
  if (mode == OpenMode::kCreate) {
    if (!in_memory && exists(path)) {
      throw stwo::RefusedError("OUTPUT_EXISTS",
                               "database " + path + " exists; choose another name");
    }
    flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  } else {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) {
      throw stwo::UsageError("LEDGER_MISSING", "database " + path + ": " + std::strerror(errno) +
                                                   "; name an existing one with --ledger or make "
                                                   "one with `ledger init`");
    }
    if (!S_ISREG(info.st_mode)) {
      throw stwo::UsageError("LEDGER_OPEN",
                             "database " + path + " is not a regular file; name a file");
    }
    // SQLite would fall back to reading, and fail later with other words.
    if (mode == OpenMode::kReadWrite &&
        (::access(path.c_str(), W_OK) != 0 || ::access(directory_of(path).c_str(), W_OK) != 0)) {
      throw_classified(SQLITE_READONLY, path, std::strerror(errno));
    }
    flags |= mode == OpenMode::kReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    // Reading a WAL database needs its shared-memory file, which can't be made in a directory
    // without write permission. Without a log there is nothing to coordinate.
    if (mode == OpenMode::kReadOnly && ::access(directory_of(path).c_str(), W_OK) != 0 &&
        !has_content(path + "-wal")) {
      uri += "?immutable=1";
    }
  }
  const int code = sqlite3_open_v2(uri.c_str(), &handle_, flags, nullptr);
  if (code != SQLITE_OK) {
    const std::string cause = handle_ == nullptr ? "no memory" : sqlite3_errmsg(handle_);
    sqlite3_close_v2(handle_);
    throw_classified(code, path, cause);
  }
  try {
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
    // Writing needs json_valid() in CHECKs, which SQLite 3.40 does not call innocuous.
    if (mode == OpenMode::kReadOnly) {
      sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    }
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
    set_wait(wait_limit_);
    execute("PRAGMA foreign_keys=ON");
  } catch (...) {
    sqlite3_close_v2(handle_);
    throw;
  }
}

Database::~Database() { sqlite3_close_v2(handle_); }

void Database::fail(int code, std::string_view doing) const {
  // Not every refusal has its own code: CREATE TABLE ends with SQLITE_SCHEMA.
  const int primary = code & 0xff;
  if (refused_ && (primary == SQLITE_ERROR || primary == SQLITE_SCHEMA)) code = SQLITE_AUTH;
  std::string cause = sqlite3_errmsg(handle_);
  if (out_of_time_ && (code & 0xff) == SQLITE_INTERRUPT) {
    cause = "stopped after " + std::to_string(limits_->timeout.count()) + " ms";
  }
  if (const std::string what = strip(doing); !what.empty()) cause += " in \"" + what + "\"";
  throw_classified(code, path_, cause);
}

Statement Database::prepare(std::string_view sql) {
  refused_ = false;
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()), 0, &statement, nullptr);
  if (code != SQLITE_OK) fail(code, sql);
  STWO_CHECK(statement != nullptr, "empty SQL");
  return {this, statement};
}

Statement Database::prepare_only(std::string_view sql) {
  refused_ = false;
  sqlite3_stmt* statement = nullptr;
  const char* tail = nullptr;
  int code =
      sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()), 0, &statement, &tail);
  if (code != SQLITE_OK) fail(code, sql);
  Statement first(this, statement);
  if (statement == nullptr) {
    throw stwo::UsageError("LEDGER_SQL", "the SQL text is empty; give one SELECT statement");
  }
  const std::string_view rest = sql.substr(static_cast<size_t>(tail - sql.data()));
  sqlite3_stmt* second = nullptr;
  code =
      sqlite3_prepare_v3(handle_, rest.data(), static_cast<int>(rest.size()), 0, &second, nullptr);
  sqlite3_finalize(second);
  if (code != SQLITE_OK || second != nullptr) {
    throw stwo::UsageError("LEDGER_SQL", "more than one SQL statement: \"" + strip(rest) +
                                             "\" follows the first; give one at a time");
  }
  return first;
}

void Database::execute(std::string_view sql) {
  refused_ = false;
  const std::string text(sql);
  const int code = sqlite3_exec(handle_, text.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code, sql);
}

int64_t Database::query_integer(std::string_view sql) {
  Statement statement = prepare(sql);
  STWO_CHECK(statement.step(), "no row");
  return statement.integer(0);
}

std::string Database::query_text(std::string_view sql) {
  Statement statement = prepare(sql);
  STWO_CHECK(statement.step(), "no row");
  return statement.string(0);
}

int64_t Database::last_insert_row() const { return sqlite3_last_insert_rowid(handle_); }
int64_t Database::changes() const { return sqlite3_changes64(handle_); }

void Database::set_wait(std::chrono::milliseconds limit, std::function<void()> on_wait) {
  wait_limit_ = limit;
  on_wait_ = std::move(on_wait);
  sqlite3_busy_handler(handle_, &Database::busy_handler, this);
}

int Database::busy_handler(void* self, int attempt) {
  auto& database = *static_cast<Database*>(self);
  const auto now = std::chrono::steady_clock::now();
  if (attempt == 0) database.wait_start_ = now;
  const auto waited = now - database.wait_start_;
  if (waited >= database.wait_limit_) return 0;
  if (waited >= std::chrono::seconds(1) && !database.told_) {
    database.told_ = true;
    if (database.on_wait_) database.on_wait_();
  }
  // Irregular steps, so that two waiting writers do not keep meeting.
  static thread_local std::minstd_rand random(std::random_device{}());
  const int longest = std::min(1 + attempt * 2, 25);
  std::this_thread::sleep_for(
      std::chrono::milliseconds(1 + static_cast<int>(random() % static_cast<unsigned>(longest))));
  return 1;
}

int Database::progress_handler(void* self) {
  auto& database = *static_cast<Database*>(self);
  const auto now = std::chrono::steady_clock::now();
  if (now - database.clock_start_ >= database.limits_->timeout) {
    database.out_of_time_ = true;
    return 1;
  }
  if (database.on_progress_ && now - database.last_progress_ >= std::chrono::milliseconds(100)) {
    database.last_progress_ = now;
    database.on_progress_();
  }
  return 0;
}

void Database::restrict_to_queries(const QueryLimits& limits, std::function<void()> on_progress) {
  limits_ = limits;
  on_progress_ = std::move(on_progress);
  execute("PRAGMA query_only=ON");
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_limit(handle_, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH,
                static_cast<int>(std::min<uint64_t>(limits.max_bytes, 1'000'000'000)));
  sqlite3_limit(handle_, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
  sqlite3_limit(handle_, SQLITE_LIMIT_EXPR_DEPTH, 200);
  // The clock is not looked at inside a comparison.
  sqlite3_limit(handle_, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000);
  sqlite3_set_authorizer(handle_, authorize_query, &refused_);
  constexpr int kInstructionsPerCheck = 10'000;
  sqlite3_progress_handler(handle_, kInstructionsPerCheck, &Database::progress_handler, this);
  restart_clock();
}

void Database::restart_clock() {
  clock_start_ = last_progress_ = std::chrono::steady_clock::now();
  out_of_time_ = false;
}

bool Database::in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }

void Database::backup_to(const std::string& path,
                         const std::function<void(int done, int total)>& progress) {
  // One state from beginning to end: SQLite would start over after every write of another program.
  std::optional<Transaction> snapshot;
  if (!in_transaction()) snapshot.emplace(*this, Transaction::Kind::kRead);
  query_integer("SELECT count(*) FROM sqlite_schema");
  Database target(path, OpenMode::kCreate);
  try {
    copy_pages(target, progress);
  } catch (...) {
    for (const char* suffix : {"", "-journal"}) ::unlink((path + suffix).c_str());
    throw;
  }
}

void Database::copy_pages(Database& target,
                          const std::function<void(int done, int total)>& progress) {
  const std::unique_ptr<sqlite3_backup, int (*)(sqlite3_backup*)> backup(
      sqlite3_backup_init(target.handle_, "main", handle_, "main"), sqlite3_backup_finish);
  if (!backup) target.fail(sqlite3_extended_errcode(target.handle_), "backup");
  constexpr int kPagesPerStep = 4096;
  const auto end = std::chrono::steady_clock::now() + wait_limit_;
  for (;;) {
    const int code = sqlite3_backup_step(backup.get(), kPagesPerStep);
    const bool busy = (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED;
    if (busy && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      continue;
    }
    // The step leaves its error in no connection.
    if (code != SQLITE_OK && code != SQLITE_DONE) {
      throw_classified(code, target.path(), sqlite3_errstr(code));
    }
    if (progress) {
      const int total = sqlite3_backup_pagecount(backup.get());
      progress(total - sqlite3_backup_remaining(backup.get()), total);
    }
    if (code == SQLITE_DONE) return;
  }
}

void Database::attach_read_only(const std::string& path, const std::string& schema_name) {
  std::string uri = file_uri(path) + "?mode=ro";
  if (::access(directory_of(path).c_str(), W_OK) != 0) uri += "&immutable=1";
  Statement statement = prepare("ATTACH ?1 AS ?2");
  statement.bind(1, std::string_view(uri));
  statement.bind(2, std::string_view(schema_name));
  statement.run();
}

// --- Transaction

Transaction::Transaction(Database& database, Kind kind) : database_(database) {
  database_.execute(kind == Kind::kWrite ? "BEGIN IMMEDIATE" : "BEGIN");
}
Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.execute("ROLLBACK");
  } catch (const std::exception&) {
    // SQLite has rolled back by itself after a failure of the disk.
  }
}
void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace ledger

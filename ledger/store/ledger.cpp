#include "ledger/store/ledger.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "ledger/store/chain.hpp"
#include "ledger/store/schema.hpp"
#include "prover/hash/sha256.hpp"

namespace ledger {
namespace {

std::string& tool_version_text() {
  static std::string text = "ledger";
  return text;
}

bool is_empty_file(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0;
}

/// SQLite takes an empty file for a new database; we don't.
const std::string& require_content(const std::string& path) {
  if (is_empty_file(path)) {
    throw stwo::FormatError("LEDGER_FOREIGN", "database " + path +
                                                  " is an empty file and no ledger; make one "
                                                  "under another name with `ledger init`");
  }
  return path;
}

}  // namespace

void set_tool_version(std::string text) { tool_version_text() = std::move(text); }
const std::string& tool_version() { return tool_version_text(); }

std::string artifact_folder(const std::string& path) {
  constexpr std::string_view kSuffix = ".db";
  const bool has_suffix = path.size() > kSuffix.size() && path.ends_with(kSuffix);
  return path.substr(0, path.size() - (has_suffix ? kSuffix.size() : 0)) + ".artifacts";
}

void Ledger::init(const std::string& path) { init_ledger(path, newest_schema_version()); }

Ledger::Ledger(New, const std::string& path)
    : path_(path), store_(artifact_folder(path)), database_(path, OpenMode::kCreate) {
  set_up_writing({});
}

Ledger::Ledger(AnyVersion, const std::string& path, const LedgerOptions& options)
    : path_(path),
      store_(artifact_folder(path)),
      database_(require_content(path), OpenMode::kReadWrite) {
  require_ledger(database_);
  set_up_writing(options);
}

Ledger::Ledger(const std::string& path, Access access, const LedgerOptions& options)
    : path_(path),
      store_(artifact_folder(path)),
      database_(require_content(path),
                access == Access::kRead ? OpenMode::kReadOnly : OpenMode::kReadWrite) {
  const int64_t version = require_ledger(database_);
  const int64_t known = newest_schema_version();
  if (version < known) {
    throw stwo::RefusedError("LEDGER_OLD", "ledger " + path + " has schema version " +
                                               std::to_string(version) + ", this program needs " +
                                               std::to_string(known) + "; run `ledger migrate`");
  }
  if (version > known) {
    const std::string what = "ledger " + path + " has schema version " + std::to_string(version) +
                             ", newer than this program's " + std::to_string(known);
    if (access == Access::kAppend) {
      throw stwo::RefusedError("LEDGER_NEWER",
                               what + "; it can only be read, use its own program to append");
    }
    if (options.on_note) options.on_note(what + "; it is only read");
  }
  if (access == Access::kAppend) {
    set_up_writing(options);
    sweep();
  } else {
    database_.set_wait(options.wait, options.on_wait);
  }
}

void Ledger::set_up_writing(const LedgerOptions& options) {
  database_.set_wait(options.wait, options.on_wait);
  // Statements that replace rows must meet the triggers that forbid deleting.
  database_.execute("PRAGMA recursive_triggers=ON");
  const std::string journal = database_.query_text("PRAGMA journal_mode=WAL");
  if (journal != "wal" && journal != "memory") {
    throw stwo::EnvironmentError("LEDGER_READ_ONLY",
                                 "ledger " + path_ +
                                     ": no write-ahead log is possible here; keep ledgers on a "
                                     "local file system you may write to");
  }
  database_.execute("PRAGMA synchronous=FULL");
}

void Ledger::sweep() {
  if (!store_.has_incoming()) return;
  Transaction lock(database_, Transaction::Kind::kWrite);
  store_.sweep([&](const std::string& sha256) { return find_artifact(sha256) != 0; });
}

std::string Ledger::id() {
  return database_.query_text("SELECT value FROM meta WHERE key = 'ledger_id'");
}

int64_t Ledger::schema_version() { return database_.query_integer("PRAGMA user_version"); }

std::string Ledger::head() {
  Statement select = database_.prepare("SELECT entry_sha256 FROM entry ORDER BY seq DESC LIMIT 1");
  return select.step() ? select.string(0) : std::string(kNoDigest);
}

std::string Ledger::artifact_path(std::string_view sha256) const { return store_.path(sha256); }

int64_t Ledger::find_artifact(std::string_view sha256) {
  Statement select = database_.prepare("SELECT row FROM artifact WHERE sha256 = ?1");
  select.bind(1, sha256);
  return select.step() ? select.integer(0) : 0;
}

std::string Ledger::read_artifact(std::string_view sha256) {
  const std::string path = artifact_path(sha256);
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw stwo::FormatError("ARTIFACT_MISSING",
                            "artifact " + path + " is gone; restore it from a backup");
  }
  std::ostringstream content;
  content << file.rdbuf();
  std::string text = std::move(content).str();
  if (const std::string found = stwo::sha256_hex(text); found != sha256) {
    throw stwo::FormatError("ARTIFACT_CHANGED", "artifact " + path +
                                                    " has been changed (expected SHA-256 " +
                                                    std::string(sha256) + ", found " + found +
                                                    "); restore it from a backup");
  }
  return text;
}

}  // namespace ledger

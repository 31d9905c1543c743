#include "ledger/trace/trace_reader.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "ledger/trace/trace_schema.hpp"
#include "ledger/trace/trace_seal.hpp"
#include "prover/errors.hpp"

namespace ledger {
namespace {

[[noreturn]] void corrupt(const std::string& path, const std::string& why) {
  throw stwo::FormatError("TRACE_CORRUPT",
                          "capture " + path + " is damaged: " + why + "; take another copy");
}

void require_regular_file(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    throw stwo::UsageError("TRACE_OPEN", "capture " + path + ": " + std::strerror(errno) +
                                             "; name an existing .sptrace file");
  }
  if (!S_ISREG(info.st_mode)) {
    throw stwo::UsageError("TRACE_OPEN",
                           "capture " + path + " is not a regular file; name a .sptrace file");
  }
}

void require_capture(Database& database) {
  const std::string& path = database.path();
  int64_t application = 0;
  try {
    application = database.query_integer("PRAGMA application_id");
  } catch (const DatabaseError& error) {
    if (error.code() != "LEDGER_CORRUPT") throw;
    throw stwo::FormatError("TRACE_FOREIGN",
                            "capture " + path + " is not a SQLite database; name a .sptrace file");
  }
  if (application != kTraceApplicationId) {
    throw stwo::FormatError("TRACE_FOREIGN", "capture " + path + " is none: application id " +
                                                 std::to_string(application) + " (expected " +
                                                 std::to_string(kTraceApplicationId) +
                                                 "); name a .sptrace file");
  }
  const int64_t version = database.query_integer("PRAGMA user_version");
  if (version > kTraceVersion) {
    throw stwo::FormatError("TRACE_NEWER", "capture " + path + " has schema version " +
                                               std::to_string(version) + " (expected at most " +
                                               std::to_string(kTraceVersion) +
                                               "); read it with a newer program");
  }
  if (version < 1) {
    throw stwo::FormatError("TRACE_FOREIGN", "capture " + path + " has schema version " +
                                                 std::to_string(version) +
                                                 " (expected 1 or more); name a .sptrace file");
  }
}

/// The digest in the file. Throws if the capture was never finished.
std::string finished_seal(Database& database) {
  std::string seal;
  bool finalized = false;
  {
    Statement meta = database.prepare("SELECT 1 FROM meta WHERE key = ?1 AND value = '1'");
    meta.bind(1, trace_meta::kFinalized);
    finalized = meta.step();
    Statement row = database.prepare("SELECT sha256 FROM seal");
    if (row.step()) seal = row.string(0);
  }
  if (!finalized || seal.size() != kSealLength || seal == std::string(kSealLength, '0')) {
    throw stwo::FormatError("TRACE_NOT_FINAL", "capture " + database.path() +
                                                   " was not finished by the program that wrote "
                                                   "it; capture again");
  }
  return seal;
}

void require_unchanged(Database& database, const std::string& seal) {
  const std::string digest = sealed_digest(database.path(), seal_offset(database));
  if (digest != seal) {
    corrupt(database.path(), "its content has the digest " + digest + " (expected " + seal + ")");
  }
  // A file that was made to mislead can have a right seal.
  const std::string found = database.query_text("PRAGMA quick_check(1)");
  if (found != "ok") corrupt(database.path(), found);
}

}  // namespace

std::unique_ptr<Database> open_trace(const std::string& path, TraceCheck check) {
  require_regular_file(path);
  auto database = std::make_unique<Database>(path, OpenMode::kReadOnly);
  require_capture(*database);
  try {
    const std::string seal = finished_seal(*database);
    if (check == TraceCheck::kContent) require_unchanged(*database, seal);
  } catch (const DatabaseError& error) {
    // The schema promises these tables: if they can't be read, the file isn't what was written.
    if (error.exit_code() == stwo::ExitCode::kEnvironment) throw;
    corrupt(path, error.what());
  } catch (const stwo::ContractError&) {
    corrupt(path, "a table that every capture has is missing");
  }
  return database;
}

}  // namespace ledger

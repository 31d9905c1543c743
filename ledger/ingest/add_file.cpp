#include "ledger/ingest/add_file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "ledger/documents/document.hpp"
#include "ledger/ingest/rows.hpp"
#include "ledger/trace/trace_schema.hpp"
#include "prover/hash/sha256.hpp"

namespace ledger {
namespace {

constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);
constexpr uint64_t kMaxDocumentBytes = uint64_t{64} << 20;

[[noreturn]] void unreadable(const std::string& path, const std::string& why) {
  throw stwo::UsageError("ARTIFACT_SOURCE", "file " + path + ": " + why + "; name a readable file");
}

/// Is it a SQLite file? If so it must be a capture, and closed: told from its first bytes, because
/// opening a database that has a log leaves files beside it.
bool is_trace(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) unreadable(path, std::strerror(errno));
  if (S_ISDIR(info.st_mode)) unreadable(path, "it is a directory");
  if (!S_ISREG(info.st_mode)) unreadable(path, "it is no regular file");
  std::ifstream file(path, std::ios::binary);
  if (!file) unreadable(path, std::strerror(errno));
  // Header of a SQLite file: format versions at 18 and 19 (1: no write-ahead log), application id
  // at 68, big-endian. Source: sqlite.org/fileformat2.html, 1.3.
  std::array<char, 100> header{};
  file.read(header.data(), header.size());
  const auto n = static_cast<size_t>(file.gcount());
  if (std::string_view(header.data(), std::min(n, kSqliteMagic.size())) != kSqliteMagic) {
    return false;
  }
  int64_t application = 0;
  for (size_t i = 68; i < 72; ++i) {
    application = application << 8 | static_cast<unsigned char>(header[i]);
  }
  if (application != kTraceApplicationId) {
    throw stwo::FormatError("TRACE_FOREIGN",
                            "file " + path +
                                " is a database of another application and no capture; add "
                                ".sptrace files (another ledger is brought in with `ledger "
                                "merge`)");
  }
  if (header[18] != 1 || header[19] != 1) {
    throw stwo::FormatError("TRACE_NOT_FINAL", "capture " + path +
                                                   " is still open or was not finished; finish it "
                                                   "first");
  }
  return true;
}

std::string read_document_text(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && static_cast<uint64_t>(info.st_size) > kMaxDocumentBytes) {
    throw stwo::FormatError("DOCUMENT_TOO_LARGE",
                            "file " + path + " has " + std::to_string(info.st_size) +
                                " bytes, a document at most " + std::to_string(kMaxDocumentBytes) +
                                "; split it");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) unreadable(path, std::strerror(errno));
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad()) unreadable(path, "reading failed");
  return std::move(text).str();
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

Value scalar(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null: return std::monostate{};
    case Json::value_t::boolean: return static_cast<int64_t>(value.get<bool>());
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned: return value.get<int64_t>();
    case Json::value_t::number_float: return value.get<double>();
    case Json::value_t::string: return value.get<std::string>();
    default: throw stwo::ContractError("not a scalar: " + value.dump());
  }
}

Value real(const Json& value) {
  if (value.is_null()) return std::monostate{};
  return value.get<double>();
}

std::string canonical(const Json& value) { return value.dump(); }

int64_t Filing::find(const std::string& table, const std::string& key, std::string_view id) {
  Statement select =
      append.database().prepare("SELECT row FROM " + table + " WHERE " + key + " = ?1");
  select.bind(1, id);
  return select.step() ? select.integer(0) : 0;
}

int64_t require_workload(Filing& filing, const std::string& workload_id, const std::string& config,
                         const Value& statement_sha256, const Value& structural_class,
                         const Value& trace_rows, const Value& trace_cells) {
  // Somebody who knows only the name means the statement of that name.
  Statement select = filing.append.database().prepare(
      "SELECT row FROM workload WHERE workload_id = ?1 AND config = ?2 AND "
      "(?3 IS NULL OR statement_sha256 IS ?3) ORDER BY statement_sha256 IS NULL, row LIMIT 1");
  select.bind(1, std::string_view(workload_id));
  select.bind(2, std::string_view(config));
  select.bind_value(3, statement_sha256);
  if (select.step()) return select.integer(0);
  return filing.insert("workload", {{"workload_id", workload_id},
                                    {"config", config},
                                    {"statement_sha256", statement_sha256},
                                    {"structural_class", structural_class},
                                    {"trace_rows", trace_rows},
                                    {"trace_cells", trace_cells}});
}

int64_t require_environment(Filing& filing, const std::string& kind, const Json& description,
                            const std::string& given_id) {
  const std::string text = canonical(description);
  const std::string id = given_id.empty() ? stwo::sha256_hex(text) : given_id;
  if (const int64_t row = filing.find("environment", "environment_id", id); row != 0) return row;
  const auto field = [&](const char* key) {
    return description.contains(key) ? scalar(description.at(key)) : Value{};
  };
  return filing.insert("environment", {{"environment_id", id},
                                       {"kind", kind},
                                       {"device_uuid", field("device_uuid")},
                                       {"device_name", field("device_name")},
                                       {"sm", field("sm")},
                                       {"driver_version", field("driver_version")},
                                       {"cpu_model", field("cpu_model")},
                                       {"logical_cpus", field("logical_cpus")},
                                       {"canonical_json", text}});
}

AddResult add_file(Ledger& ledger, const std::string& path) {
  AddResult result;
  result.file = path;
  std::string text;
  Document document;
  const bool timeline = is_trace(path);
  if (timeline) {
    result.kind = "timeline";
  } else {
    text = read_document_text(path);
    document = read_document(path, text);
    result.kind = document_kind_name(document.kind);
  }
  // Hashed and copied before the writer's lock is taken.
  ArtifactStore::Incoming incoming =
      timeline ? ledger.artifacts().receive_file(path) : ledger.artifacts().receive(text);
  result.id = incoming.sha256();
  if (ledger.find_artifact(result.id) != 0) return result;
  Timeline capture;
  // The copy in the store is read: the file itself may change meanwhile.
  if (timeline) capture = read_timeline(incoming.path());

  Append append(ledger, result.kind, result.id);
  // Another program may have added it while this one was waiting for the lock.
  if (ledger.find_artifact(result.id) != 0) return result;
  Filing filing{append, result.id, 0, 0, {}};
  filing.artifact = append.add_artifact(result.kind, base_name(path), std::move(incoming));
  if (timeline) {
    add_timeline(filing, capture);
  } else {
    switch (document.kind) {
      case DocumentKind::kProductReport: add_product_report(filing, document.json, text); break;
      case DocumentKind::kPlan: add_plan_document(filing, document.json); break;
      case DocumentKind::kCounters: add_counters(filing, document.json); break;
      case DocumentKind::kVerdict: add_verdict(filing, document.json); break;
      case DocumentKind::kCalibration: add_calibration(filing, document.json); break;
    }
  }
  append.commit();
  result.added = true;
  result.rows = filing.rows + 1;
  result.notes = std::move(filing.notes);
  return result;
}

}  // namespace ledger

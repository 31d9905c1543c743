#include "prof/nsys/nsys_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>

#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"

namespace prof::nsys {
namespace {

constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr std::string_view kSchemaMajor = "3";

/// N of NAME_VN, 1 for NAME itself, 0 for other names.
int64_t version_of(std::string_view table, std::string_view name) {
  if (table.substr(0, name.size()) != name) return 0;
  std::string_view rest = table.substr(name.size());
  if (rest.empty()) return 1;
  if (rest.substr(0, 2) != "_V") return 0;
  rest.remove_prefix(2);
  if (rest.empty() || rest.size() > 9) return 0;
  int64_t version = 0;
  for (const char c : rest) {
    if (c < '0' || c > '9') return 0;
    version = version * 10 + (c - '0');
  }
  return version;
}

std::string select_sql(NsysFile& file, const std::string& table, std::span<const Column> columns) {
  const std::vector<std::string> there = file.columns(table);
  std::string sql = "SELECT rowid";
  for (const Column& column : columns) {
    if (std::find(there.begin(), there.end(), column.name) != there.end()) {
      sql += std::string(", \"") + column.name + '"';
    } else if (column.is_required) {
      file.fail("table " + table + " has no column " + column.name);
    } else {
      sql += ", NULL";
    }
  }
  return sql + " FROM \"" + table + "\" ORDER BY rowid";
}

}  // namespace

std::string NsysFile::checked(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw stwo::UsageError("NSYS_OPEN", "export " + path +
                                            ": missing, or not a regular file; give the file that "
                                            "nsys export --type sqlite wrote");
  }
  std::array<char, kMagic.size()> head{};
  std::ifstream in(path, std::ios::binary);
  in.read(head.data(), head.size());
  if (!in || std::string_view(head.data(), head.size()) != kMagic) {
    throw stwo::FormatError("NSYS_FORMAT", "export " + path +
                                               ": not a SQLite database; export the report with "
                                               "nsys export --type sqlite");
  }
  return path;
}

NsysFile::NsysFile(const std::string& path) : path_(checked(path)) {
  guarded([&] {
    database_.emplace(path_, ledger::OpenMode::kReadOnly);
    ledger::Statement names =
        database_->prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
    while (names.step()) tables_.push_back(names.string(0));
  });
  const std::optional<std::string> schema = property("META_DATA_EXPORT", "EXPORT_SCHEMA_VERSION");
  if (!schema) fail("META_DATA_EXPORT does not name an EXPORT_SCHEMA_VERSION (expected 3.x)");
  if (schema->substr(0, schema->find('.')) != kSchemaMajor) {
    fail("export schema version " + *schema + " is not known (expected 3.x)");
  }
}

void NsysFile::fail(const std::string& what) const {
  throw stwo::FormatError("NSYS_FORMAT", "export " + path_ + ": " + stwo::one_line(what) +
                                             "; export the report again with nsys export --type "
                                             "sqlite of the version that recorded it");
}

std::optional<std::string> NsysFile::table(std::string_view name) const {
  int64_t best = 0;
  std::optional<std::string> out;
  for (const std::string& table : tables_) {
    const int64_t version = version_of(table, name);
    if (version <= best) continue;
    best = version;
    out = table;
  }
  return out;
}

std::vector<std::string> NsysFile::columns(const std::string& table) {
  return guarded([&] {
    std::vector<std::string> out;
    ledger::Statement rows = database_->prepare("SELECT name FROM pragma_table_info(?1)");
    rows.bind(1, std::string_view(table));
    while (rows.step()) out.push_back(rows.string(0));
    return out;
  });
}

std::optional<std::string> NsysFile::property(std::string_view table_name, std::string_view name) {
  const std::optional<std::string> found = table(table_name);
  if (!found) return std::nullopt;
  const std::vector<std::string> there = columns(*found);
  for (const char* needed : {"name", "value"}) {
    if (std::find(there.begin(), there.end(), needed) == there.end()) return std::nullopt;
  }
  return guarded([&]() -> std::optional<std::string> {
    ledger::Statement rows =
        database_->prepare("SELECT value FROM \"" + *found + "\" WHERE name = ?1 LIMIT 1");
    rows.bind(1, name);
    if (!rows.step()) return std::nullopt;
    return rows.optional_string(0);
  });
}

ledger::Statement NsysFile::prepare(const std::string& sql) {
  return guarded([&] { return database_->prepare(sql); });
}

int64_t NsysFile::last_row(const std::string& table) {
  return guarded([&] {
    ledger::Statement row = database_->prepare("SELECT MAX(rowid) FROM \"" + table + "\"");
    return row.step() ? row.integer(0) : 0;
  });
}

Rows::Rows(NsysFile& file, const std::string& table, std::span<const Column> columns)
    : file_(file),
      table_(table),
      columns_(columns),
      statement_(file.prepare(select_sql(file, table, columns))) {}

bool Rows::step() {
  return file_.guarded([&] { return statement_.step(); });
}

void Rows::reject(size_t column, const char* what) const {
  throw RowProblem(std::string(columns_[column].name) + " is " + what);
}

int64_t Rows::integer(size_t column) const {
  const std::optional<int64_t> value = optional_integer(column);
  if (!value) reject(column, "null");
  return *value;
}

std::optional<int64_t> Rows::optional_integer(size_t column) const {
  const ledger::Value value = statement_.value(static_cast<int>(column) + 1);
  if (std::holds_alternative<std::monostate>(value)) return std::nullopt;
  if (!std::holds_alternative<int64_t>(value)) reject(column, "not an integer");
  return std::get<int64_t>(value);
}

std::optional<std::string> Rows::optional_text(size_t column) const {
  ledger::Value value = statement_.value(static_cast<int>(column) + 1);
  if (std::holds_alternative<std::monostate>(value)) return std::nullopt;
  if (!std::holds_alternative<std::string>(value)) reject(column, "not a text");
  return std::get<std::string>(std::move(value));
}

}  // namespace prof::nsys

// An export of Nsight Systems (nsys export --type sqlite, schema 3.x), read with suspicion: tables
// come and go with versions and with what was recorded. Internal to the folder.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/db/database.hpp"

namespace prof::nsys {

/// A row that cannot be a row of a capture. The import goes on without it.
class RowProblem : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Column {
  const char* name;
  bool is_required = true;
};
constexpr Column optional_column(const char* name) { return {name, false}; }

class NsysFile {
 public:
  /// Throws UsageError NSYS_OPEN (missing, or not a regular file) and FormatError NSYS_FORMAT (not
  /// SQLite, not an export, or one of another schema than 3.x).
  explicit NsysFile(const std::string& path);

  const std::string& path() const { return path_; }
  /// The newest version of a table: NAME, NAME_V2, NAME_V3, ... Absent: not in the export.
  std::optional<std::string> table(std::string_view name) const;
  std::vector<std::string> columns(const std::string& table);
  /// Value of a row (name, value) of a table; absent without table, columns or row.
  std::optional<std::string> property(std::string_view table, std::string_view name);
  ledger::Statement prepare(const std::string& sql);
  /// The last row number of a table: about its number of rows, without reading it.
  int64_t last_row(const std::string& table);

  [[noreturn]] void fail(const std::string& what) const;
  /// Runs `action` and turns SQLite's complaints about the file into FormatError NSYS_FORMAT.
  template <class Action>
  auto guarded(const Action& action) const {
    try {
      return action();
    } catch (const ledger::DatabaseError& error) {
      if (error.code() == "LEDGER_IO" || error.code() == "LEDGER_BUSY") throw;
      fail(error.what());
    }
  }

 private:
  static std::string checked(const std::string& path);

  std::string path_;
  std::optional<ledger::Database> database_;
  std::vector<std::string> tables_;
};

/// The rows of one table, in the order of the file.
class Rows {
 public:
  /// Throws FormatError NSYS_FORMAT if a required column is missing. An optional one that is
  /// missing reads as absent.
  Rows(NsysFile& file, const std::string& table, std::span<const Column> columns);

  bool step();
  int64_t row() const { return statement_.integer(0); }
  const std::string& table() const { return table_; }

  // Values by their place in `columns`. Throw RowProblem if the value is of another type, or
  // (integer, text) null.
  int64_t integer(size_t column) const;
  std::optional<int64_t> optional_integer(size_t column) const;
  std::optional<std::string> optional_text(size_t column) const;

 private:
  [[noreturn]] void reject(size_t column, const char* what) const;

  NsysFile& file_;
  std::string table_;
  std::span<const Column> columns_;
  ledger::Statement statement_;
};

}  // namespace prof::nsys

// Answers as tables: read from a statement, shown as text, JSON or CSV.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ledger/db/database.hpp"

namespace ledger {

/// Schema of a table's JSON form.
inline constexpr std::string_view kTableSchema = "stwo_ledger_table_v1";

/// A question's answer. What a column holds follows from its name: _ns is nanoseconds, _bytes
/// bytes, ratio and _ratio quotients, share and _share parts of a whole. If there is a column
/// `unit` (ns, bytes or count), it holds for the columns value, a, b and delta of its row.
struct ResultTable {
  std::string question;  ///< "runs", "query", a saved query's name
  std::vector<std::string> columns;
  std::vector<std::vector<Value>> rows;
  bool truncated = false;          ///< there are more rows
  std::vector<std::string> notes;  ///< what a reader must know, one sentence each
  /// What the whole table is about: column-like names and their values. Not in CSV.
  std::vector<std::pair<std::string, Value>> about;
  /// Columns that the text form shows; empty: all. JSON and CSV have all of them anyway.
  std::vector<std::string> in_text;
};

/// Values for the named parameters of a statement, names without the colon.
using Parameters = std::vector<std::pair<std::string, Value>>;

/// Runs statements on one database, which must outlive it.
class Reader {
 public:
  explicit Reader(Database& database) : database_(database) {}
  Database& database() { return database_; }

  /// Calls `row` for each row. Throws DatabaseError.
  void for_each(std::string_view sql, const Parameters& parameters,
                const std::function<void(const Statement&)>& row);
  /// Reads up to `max_rows` rows. Throws DatabaseError.
  ResultTable table(std::string question, std::string_view sql, const Parameters& parameters,
                    size_t max_rows);
  /// Told of every statement before it runs: for tests, which look at its plan.
  std::function<void(std::string_view sql, const Parameters& parameters)> on_statement;

 private:
  Statement prepare(std::string_view sql, const Parameters& parameters);

  Database& database_;
};

/// Binds named parameters. Throws ContractError if the statement has a parameter without a value or
/// a value has no parameter.
void bind_parameters(Statement& statement, const Parameters& parameters);

/// Reads up to `max_rows` rows of a statement that is ready to run. Columns of equal names get
/// different ones.
ResultTable read_table(std::string question, Statement& statement, size_t max_rows);

/// Aligned columns for people: milliseconds, KiB, digests shortened to 12 characters, NULL as "-".
/// What it is about comes first; without rows: "no rows"; notes follow as lines of their own.
std::string table_text(const ResultTable& table);
/// One line: {"schema":"stwo_ledger_table_v1","question","about":{...},"columns","rows":[{...}],
/// "truncated","notes"}. Values in full; blobs as hex; infinities as text.
std::string table_json(const ResultTable& table);
/// RFC 4180 with a header line; NULL is empty, texts stay as they are.
std::string table_csv(const ResultTable& table);

}  // namespace ledger

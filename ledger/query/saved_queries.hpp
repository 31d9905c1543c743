// The queries that come with the program: ledger/queries/*.sql.
//
// A file begins with comment lines: what the query answers, then a line per parameter,
//   -- :name: what it is            needs a value
//   -- :name = 50: what it is       has a value of its own, possibly none
// and further remarks. The rest is one SELECT statement.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/query/result_table.hpp"

namespace ledger {

struct QueryParameter {
  std::string name;  ///< without the colon
  std::string text;  ///< what it is
  std::optional<std::string> default_text;
};

struct SavedQuery {
  std::string name;  ///< the file's name without .sql
  std::string description;
  std::vector<QueryParameter> parameters;
  std::string_view sql;  ///< the whole file
};

/// All of them, by name.
const std::vector<SavedQuery>& saved_queries();
/// Reads the comment lines of a query. Throws ContractError if the description or a parameter's
/// text is missing.
SavedQuery parse_saved_query(std::string_view file_name, std::string_view text);
/// Throws UsageError QUERY_UNKNOWN, which lists the names.
const SavedQuery& require_saved_query(const std::string& name);

/// NAME=VALUE, as given for --param. Throws UsageError QUERY_PARAMETER.
std::pair<std::string, std::string> parse_parameter(const std::string& text);
/// Whole numbers are bound as integers and numbers with a decimal point as reals, all else as text.
/// Compared with a text column, SQLite takes a whole number for text again.
Value parameter_value(const std::string& text);

/// Binds the parameters of a statement: what was given, else the defaults. Throws UsageError
/// QUERY_PARAMETER: one is unknown, given twice, missing or has no name.
void bind_given_parameters(Statement& statement, const std::vector<QueryParameter>& declared,
                           const std::vector<std::pair<std::string, std::string>>& given);

}  // namespace ledger

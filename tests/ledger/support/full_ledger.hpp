// Ledgers with something in every table, and what can be asked of any ledger.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/store/check.hpp"
#include "ledger/store/ledger.hpp"

namespace ledger::test {

/// Adds rows to every table that the ledger's schema version has, with consistent values, in some
/// appends. Ids depend on `seed` only; rows that `seed` has are not added twice, so each seed may
/// be used once.
void fill_every_table(Ledger& ledger, std::string_view seed = "a");

/// Digest that stands for `what`.
std::string digest_of(std::string_view what);
/// ULID that stands for `what`.
std::string ulid_of(std::string_view what);

/// Adds a verdict with one session; `supersedes` is its row, 0: none. Returns its row.
int64_t add_verdict(Append& append, std::string_view seed, int64_t supersedes = 0,
                    std::string_view kind = "verdict");

/// Names of all tables.
std::vector<std::string> tables_of(Database& database);
/// Names of a table's columns.
std::vector<std::string> columns_of(Database& database, const std::string& table);
int64_t count_rows(Database& database, const std::string& table);

/// Every row of a table as text, without NULLs, in order of the first column.
std::vector<std::string> rows_of(Database& database, const std::string& table);
/// rows_of() every table.
std::map<std::string, std::vector<std::string>> dump(Database& database);

/// Ids that mean the same in every ledger, "table id".
std::set<std::string> content_ids(Database& database);

/// Findings as text, one per line; empty: sound.
std::string findings_of(Ledger& ledger, const CheckOptions& options = {});
std::string findings_of(const std::string& path, const CheckOptions& options = {});
std::string to_text(const std::vector<Finding>& findings);

/// Copies a closed ledger and its artifacts.
void copy_files(const std::string& from, const std::string& to);

}  // namespace ledger::test

// What the tables mean, taken from the SQL files that make them: a comment "-- table: text" or
// "-- view: text" above each of them and "-- text" behind each column. Constraints, keys and
// indexes come from SQLite itself.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/schema/embedded_sql.hpp"

namespace ledger {

struct ColumnDoc {
  std::string name;
  std::string type;                       ///< INTEGER, REAL, TEXT or BLOB; of views: empty
  bool may_be_null = true;                ///< of views: unknown, true
  std::vector<std::string> constraints;   ///< in words
  std::optional<std::string> references;  ///< table that the value is a row of
  std::string text;
};

struct ObjectDoc {
  std::string name;
  bool is_view = false;
  std::string text;
  std::vector<ColumnDoc> columns;
  std::vector<std::string> constraints;  ///< over several columns, in words
  std::vector<std::string> indexes;      ///< "name (columns)"
};

/// Tables and views in the order in which the files make them. Throws DatabaseError if the files
/// are no valid SQL.
std::vector<ObjectDoc> describe_schema(std::span<const EmbeddedSql> files);

/// Of this program's ledgers, and of captures (*.sptrace).
const std::vector<ObjectDoc>& ledger_schema_doc();
const std::vector<ObjectDoc>& trace_schema_doc();

/// The table or view called `name`; those of captures are called trace.NAME. Throws UsageError
/// SCHEMA_UNKNOWN.
const ObjectDoc& require_schema_object(const std::string& name);

/// What an entry of the hash chain can be about.
struct EntryKindDoc {
  std::string_view kind;
  std::string_view subject;  ///< what entry.subject is
  std::string_view text;
};
std::span<const EntryKindDoc> entry_kinds();

/// All tables and views with their texts.
std::string schema_overview_text();
/// One of them with its columns.
std::string schema_object_text(const ObjectDoc& object);
/// Schema "stwo_ledger_schema_v1"; only `object` unless it is null.
std::string schema_json(const ObjectDoc* object);
/// docs/ledger-schema.md.
std::string schema_markdown();

}  // namespace ledger

#include "ledger/trace/trace_schema.hpp"

#include "prover/errors.hpp"

namespace ledger {
namespace {

/// Where the first part ends.
size_t indexes_begin(std::string_view sql) {
  const size_t at = sql.find("\n-- === Indexes");
  STWO_CHECK(at != std::string_view::npos, "the schema of captures has no mark before its indexes");
  return at + 1;
}

std::string_view schema() {
  STWO_CHECK(kTraceSchema.size() == static_cast<size_t>(kTraceVersion),
             "one schema file per version");
  return kTraceSchema.front().text;
}

}  // namespace

std::string_view trace_tables_sql() { return schema().substr(0, indexes_begin(schema())); }
std::string_view trace_indexes_sql() { return schema().substr(indexes_begin(schema())); }

}  // namespace ledger

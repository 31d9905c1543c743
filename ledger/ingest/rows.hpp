// From checked documents to rows. Internal to the folder.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ledger/store/ledger.hpp"
#include "ledger/trace/trace_summary.hpp"

namespace ledger {

using Json = nlohmann::json;

/// Value of a JSON scalar as the database stores it; null stays NULL.
Value scalar(const Json& value);
/// Value of a real number, whole ones included.
Value real(const Json& value);
/// Sorted keys, compact.
std::string canonical(const Json& value);

/// What one file needs to be filed.
struct Filing {
  Append& append;
  std::string sha256;    ///< of the file
  int64_t artifact = 0;  ///< its row
  int64_t rows = 0;      ///< appended so far, without the artifact
  std::vector<std::string> notes;

  int64_t insert(const std::string& table, std::initializer_list<Column> columns) {
    ++rows;
    return append.insert(table, columns);
  }
  /// Row of `table` whose text column `key` is `id`; 0: none.
  int64_t find(const std::string& table, const std::string& key, std::string_view id);
};

/// A timeline capture, read.
struct Timeline {
  TraceSummary summary;
  Json environment;  ///< of its first device; null: it has none
};

/// Row of the workload, appended if new. statement_sha256, the class and the sizes may be null.
int64_t require_workload(Filing& filing, const std::string& workload_id, const std::string& config,
                         const Value& statement_sha256, const Value& structural_class,
                         const Value& trace_rows, const Value& trace_cells);

/// One environment, described by `description`; its id is the digest of the canonical JSON unless
/// the document gives one.
int64_t require_environment(Filing& filing, const std::string& kind, const Json& description,
                            const std::string& given_id);

void add_product_report(Filing& filing, const Json& report, std::string_view text);
void add_plan_document(Filing& filing, const Json& plan);
void add_counters(Filing& filing, const Json& document);
/// What `path` holds. Throws like open_trace; takes seconds for millions of rows, and is therefore
/// done before the writer's lock is taken.
Timeline read_timeline(const std::string& path);
void add_timeline(Filing& filing, const Timeline& timeline);
void add_verdict(Filing& filing, const Json& document);
void add_calibration(Filing& filing, const Json& document);

}  // namespace ledger

#include "prof/export/tables.hpp"

#include <algorithm>
#include <optional>

#include "ledger/trace/stage_ranges.hpp"
#include "ledger/trace/trace_summary.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

constexpr std::string_view kKernelStats = "kernel_stats";

constexpr ExportTable kTables[] = {
    {"kernels", "launches of kernels, with their stage"},
    {"copies", "copies of memory, with their stage"},
    {"fills", "fills of memory, with their stage"},
    {"graphs", "launches of whole graphs"},
    {"api", "calls of the CUDA runtime and driver"},
    {"syncs", "waits of the host, and of streams for each other"},
    {"stages", "stages of the prover as the host ran through them"},
    {"ranges", "NVTX ranges and marks"},
    {"memory", "allocations and releases"},
    {"resources", "contexts, streams, modules and graphs that came or went"},
    {"jit", "compilations at run time"},
    {"overhead", "time that the profiler took"},
    {kKernelStats, "kernels by stage: launches, total, least, median and longest time"},
};

/// What the tables of operations begin with. The stage is computed from pid and corr.
#define PROF_OP_COLUMNS                                                                      \
  "o.id, o.pid, o.device_id, o.context_id, o.stream_id, o.corr, NULL AS stage, o.start_ns, " \
  "o.end_ns, o.end_ns - o.start_ns AS duration_ns, o.graph_id, o.graph_node_id"
constexpr int kPidColumn = 1;
constexpr int kCorrColumn = 5;
constexpr int kStageColumn = 6;

struct Query {
  std::string_view table;
  const char* sql;
  bool has_stage;
};

constexpr Query kQueries[] = {
    {"kernels",
     "SELECT " PROF_OP_COLUMNS ", (SELECT value FROM str WHERE id = k.name_id) AS kernel,"
     " k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z, k.static_shared_bytes,"
     " k.dynamic_shared_bytes, k.registers, k.local_per_thread_bytes, k.queued_ns, k.submitted_ns"
     " FROM gpu_op o CROSS JOIN kernel k ON k.op_id = o.id ORDER BY o.id",
     true},
    {"copies",
     "SELECT " PROF_OP_COLUMNS ", (SELECT label FROM ENUM_CUDA_MEMCPY_OPER WHERE id = c.copy_kind)"
     " AS direction, c.bytes, c.src_kind, c.dst_kind, c.async, c.src_device_id, c.dst_device_id"
     " FROM gpu_op o CROSS JOIN copy c ON c.op_id = o.id ORDER BY o.id",
     true},
    {"fills",
     "SELECT " PROF_OP_COLUMNS ", f.value, f.bytes, f.mem_kind"
     " FROM gpu_op o CROSS JOIN fill f ON f.op_id = o.id ORDER BY o.id",
     true},
    {"graphs", "SELECT " PROF_OP_COLUMNS " FROM gpu_op o WHERE o.kind = 4 ORDER BY o.id", true},
    {"api",
     "SELECT id, pid, tid, CASE domain WHEN 0 THEN 'runtime' WHEN 1 THEN 'driver' ELSE"
     " 'internal_launch' END AS domain, (SELECT value FROM str WHERE id = name_id) AS name,"
     " start_ns, end_ns, end_ns - start_ns AS duration_ns, corr, rc FROM api ORDER BY id",
     false},
    {"syncs",
     "SELECT id, pid, (SELECT label FROM ENUM_CUPTI_SYNC_TYPE e WHERE e.id = sync.type) AS type,"
     " context_id, stream_id, event_id, event_sync_id, start_ns, end_ns,"
     " end_ns - start_ns AS duration_ns, corr, rc FROM sync ORDER BY id",
     false},
    {"stages",
     "SELECT id, pid, tid, (SELECT value FROM str WHERE id = name_id) AS stage, start_ns, end_ns,"
     " end_ns - start_ns AS duration_ns, payload FROM nvtx WHERE type = 2 AND category = 2 AND"
     " domain_id = (SELECT id FROM str WHERE value = 'stwo.prover') ORDER BY id",
     false},
    {"ranges",
     "SELECT id, pid, tid, end_tid, CASE type WHEN 1 THEN 'mark' WHEN 2 THEN 'push_pop' ELSE"
     " 'start_end' END AS type, (SELECT value FROM str WHERE id = domain_id) AS domain,"
     " (SELECT value FROM str WHERE id = name_id) AS name, start_ns, end_ns,"
     " end_ns - start_ns AS duration_ns, payload, category FROM nvtx ORDER BY id",
     false},
    {"memory",
     "SELECT id, pid, CASE op WHEN 1 THEN 'allocation' ELSE 'release' END AS op, mem_kind,"
     " device_id, context_id, stream_id, printf('0x%llx', address) AS address, bytes, ts_ns, corr,"
     " async, pool_type, pool_bytes, pool_used_bytes FROM mem_event ORDER BY id",
     false},
    {"resources",
     "SELECT id, pid, kind, ts_ns, context_id, object, bytes, sha256 FROM res_event ORDER BY id",
     false},
    {"jit",
     "SELECT id, pid, tid, entry_type, operation, device_id, start_ns, end_ns,"
     " end_ns - start_ns AS duration_ns, corr, cache_bytes,"
     " (SELECT value FROM str WHERE id = cache_path_id) AS cache_path FROM jit ORDER BY id",
     false},
    {"overhead",
     "SELECT id, pid, tid, kind, context_id, stream_id, start_ns, end_ns,"
     " end_ns - start_ns AS duration_ns, corr FROM overhead ORDER BY id",
     false},
};
#undef PROF_OP_COLUMNS

/// Stages of operations, with their names.
class Stages {
 public:
  explicit Stages(ledger::Database& trace)
      : finder_(trace), name_(trace.prepare("SELECT value FROM str WHERE id = ?1")) {}
  /// Empty: none.
  std::string of(int64_t pid, int64_t corr) {
    const ledger::StrId id = finder_.has_stages() ? finder_.stage_of(pid, corr) : 0;
    if (id == 0) return "";
    name_.reset().bind(1, id);
    STWO_CHECK(name_.step(), "a name is in the table of names");
    return name_.string(0);
  }

 private:
  ledger::StageFinder finder_;
  ledger::Statement name_;
};

int64_t write_rows(ledger::Database& trace, const Query& query, const TextSink& sink) {
  std::optional<Stages> stages;
  if (query.has_stage) stages.emplace(trace);
  ledger::Statement rows = trace.prepare(query.sql);
  std::string line;
  for (int c = 0; c < rows.column_count(); ++c) {
    if (c > 0) line += ',';
    line += rows.column_name(c);
  }
  sink(line + "\n");
  int64_t n = 0;
  for (; rows.step(); ++n) {
    line.clear();
    for (int c = 0; c < rows.column_count(); ++c) {
      if (c > 0) line += ',';
      if (stages && c == kStageColumn) {
        text::append_csv(line, stages->of(rows.integer(kPidColumn), rows.integer(kCorrColumn)));
      } else {
        text::append_csv(line, rows.text(c));
      }
    }
    line += '\n';
    sink(line);
  }
  return n;
}

int64_t write_kernel_stats(ledger::Database& trace, const TextSink& sink) {
  const ledger::TraceSummary summary = ledger::summarize_trace(trace);
  sink("kernel,stage,launches,untimed,total_ns,share_of_busy,min_ns,median_ns,max_ns\n");
  const auto optional = [](const std::optional<int64_t>& value) {
    return "," + (value ? std::to_string(*value) : std::string());
  };
  for (const ledger::KernelStat& k : summary.kernels) {
    std::string line;
    text::append_csv(line, k.kernel);
    line += ',';
    text::append_csv(line, k.stage.value_or(""));
    line += "," + std::to_string(k.launches) + "," + std::to_string(k.untimed) + ",";
    if (k.min_ns) {
      const std::optional<double> share = text::ratio(k.total_ns, summary.busy_ns);
      line += std::to_string(k.total_ns) + "," + (share ? text::shortest(*share) : std::string());
    } else {
      line += ",";
    }
    line += optional(k.min_ns) + optional(k.median_ns) + optional(k.max_ns) + "\n";
    sink(line);
  }
  return static_cast<int64_t>(summary.kernels.size());
}

}  // namespace

std::span<const ExportTable> export_tables() { return kTables; }

int64_t export_csv(ledger::Database& trace, std::string_view table, const TextSink& sink) {
  if (table == kKernelStats) return write_kernel_stats(trace, sink);
  const auto* query = std::find_if(std::begin(kQueries), std::end(kQueries),
                                   [&](const Query& q) { return q.table == table; });
  if (query != std::end(kQueries)) return write_rows(trace, *query, sink);
  std::string names;
  for (const ExportTable& t : kTables) names += (names.empty() ? "" : ", ") + std::string(t.name);
  throw stwo::UsageError(
      "EXPORT_TABLE", "table \"" + std::string(table) + "\" is not known; choose one of " + names);
}

}  // namespace prof

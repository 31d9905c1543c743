// runs, stages, history: questions about the runs of product reports.

#include <algorithm>
#include <map>

#include "ledger/query/lookup.hpp"
#include "ledger/query/questions.hpp"
#include "ledger/query/run_facts.hpp"

namespace ledger {
namespace {

constexpr size_t kMaxRows = 100'000;

int64_t to_signed(size_t n) { return static_cast<int64_t>(std::min(n, kMaxRows)); }

/// "(:w0, :w1)", with the parameters.
std::string list_of(const std::vector<int64_t>& rows, const std::string& name,
                    Parameters* parameters) {
  std::string out;
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string parameter = name + std::to_string(i);
    out += (i == 0 ? "(:" : ", :") + parameter;
    parameters->emplace_back(parameter, rows[i]);
  }
  return out + ")";
}

std::vector<int64_t> workloads_of_config(Reader& reader, const std::string& config) {
  std::vector<int64_t> rows;
  reader.for_each("SELECT row FROM workload WHERE config = :config ORDER BY row",
                  {{"config", config}}, [&](const Statement& s) { rows.push_back(s.integer(0)); });
  if (rows.empty()) {
    throw stwo::UsageError("WORKLOAD_NOT_FOUND", "no workload has the configuration '" + config +
                                                     "'; `ledger runs` shows those there are");
  }
  return rows;
}

/// Stage times of one statistic of a run.
struct StageTimes {
  std::string statistic;
  std::map<std::string, int64_t> ns;
  int64_t total = 0;
};

/// Of the steady requests' median, or of the first request if there were no steady ones.
StageTimes stage_times(Reader& reader, int64_t run, const std::string& clock) {
  for (const std::string statistic : {"median", "first"}) {
    StageTimes times;
    times.statistic = statistic;
    reader.for_each(
        "SELECT stage, ns FROM stage_time WHERE run = :run AND clock = :clock AND "
        "statistic = :statistic",
        {{"run", run}, {"clock", clock}, {"statistic", statistic}}, [&](const Statement& s) {
          if (s.text(0) == "total") {
            times.total = s.integer(1);
          } else {
            times.ns[s.string(0)] = s.integer(1);
          }
        });
    if (!times.ns.empty()) return times;
  }
  return {};
}

Value share_of(int64_t part, int64_t whole) {
  if (whole == 0) return std::monostate{};
  return static_cast<double>(part) / static_cast<double>(whole);
}

/// Longest first; equal ones by name.
std::vector<std::string> ranked(const std::map<std::string, double>& values) {
  std::vector<std::string> names;
  for (const auto& [name, value] : values) names.push_back(name);
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return values.at(a) > values.at(b);
  });
  return names;
}

/// Leaves columns out of the text form that say the same in every row.
void hide_if_same(ResultTable* table, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto it = std::find(table->columns.begin(), table->columns.end(), name);
    const auto c = static_cast<size_t>(it - table->columns.begin());
    const bool same = std::all_of(table->rows.begin(), table->rows.end(), [&](const auto& row) {
      return row[c] == table->rows.front()[c];
    });
    if (same) std::erase(table->in_text, name);
  }
}

/// Newest runs of a group, at most `limit`.
std::vector<int64_t> newest_runs(Reader& reader, const RunGroup& group, size_t limit) {
  std::vector<int64_t> rows;
  Parameters parameters = group_parameters(group);
  parameters.emplace_back("limit", to_signed(limit));
  reader.for_each("SELECT r.row FROM run AS r WHERE " + group_condition() +
                      " ORDER BY r.created_utc DESC, r.row DESC LIMIT :limit",
                  parameters, [&](const Statement& s) { rows.push_back(s.integer(0)); });
  return rows;
}

}  // namespace

ResultTable ask_runs(Reader& reader, const RunFilter& filter) {
  const Transaction snapshot(reader.database(), Transaction::Kind::kRead);
  std::vector<std::string> where;
  Parameters parameters;
  // The order that the index of the chosen filter gives; a plus keeps SQLite from walking through
  // all runs by time instead.
  std::string order = "r.created_utc DESC, r.row DESC";
  if (!filter.environment.empty()) {
    where.push_back("r.environment = :environment");
    parameters.emplace_back("environment",
                            require_id(reader, IdKind::kEnvironment, filter.environment).row);
  }
  if (!filter.workload.empty() || !filter.config.empty()) {
    const std::vector<int64_t> rows =
        filter.workload.empty() ? workloads_of_config(reader, filter.config)
                                : require_workloads(reader, filter.workload, filter.config);
    where.push_back("r.workload IN " + list_of(rows, "workload", &parameters));
    order = "+r.created_utc DESC, r.row DESC";
  }
  if (!filter.product.empty()) {
    where.push_back("r.product = :product");
    parameters.emplace_back("product", require_id(reader, IdKind::kProduct, filter.product).row);
    order = "+r.created_utc DESC, r.row DESC";
  }
  if (!filter.backend.empty()) {
    where.push_back("r.backend = :backend");
    parameters.emplace_back("backend", filter.backend);
  }
  std::string condition;
  for (const std::string& w : where) condition += (condition.empty() ? "WHERE " : " AND ") + w;
  parameters.emplace_back("limit", to_signed(filter.limit) + 1);
  ResultTable table = reader.table(
      "runs",
      "SELECT r.run_id, r.created_utc, w.workload_id, w.config, w.structural_class, r.backend, "
      "r.execution_mode, e.environment_id, coalesce(e.device_name, e.cpu_model) AS machine, "
      "p.product_id, p.source_commit, p.dirty, r.verified_request_ns, r.resident_prove_ns, "
      "r.device_ns, r.n_steady, r.accounted_peak_bytes, r.verified, r.oracle_accepted, "
      "r.eligible, r.n_flags "
      "FROM run AS r CROSS JOIN workload AS w ON w.row = r.workload "
      "CROSS JOIN environment AS e ON e.row = r.environment "
      "CROSS JOIN product AS p ON p.row = r.product " +
          condition + " ORDER BY " + order + " LIMIT :limit",
      parameters, filter.limit);
  table.in_text = {"run_id",    "created_utc", "workload_id",
                   "backend",   "machine",     "verified_request_ns",
                   "device_ns", "n_steady",    "accounted_peak_bytes",
                   "n_flags"};
  if (table.truncated) table.notes.push_back("there are older runs; --limit shows more");
  return table;
}

ResultTable ask_stages(Reader& reader, const std::string& run) {
  const Transaction snapshot(reader.database(), Transaction::Kind::kRead);
  const RunFacts facts = run_facts(reader, require_id(reader, IdKind::kRun, run).row);
  ResultTable table;
  table.question = "stages";
  table.about = {{"run_id", facts.run_id},
                 {"workload_id", facts.workload_id},
                 {"config", facts.config},
                 {"backend", facts.backend},
                 {"execution_mode", facts.execution_mode},
                 {"machine", facts.machine},
                 {"environment_id", facts.environment_id},
                 {"n_steady", facts.n_steady}};
  table.columns = {"clock", "stage", "statistic", "ns", "share", "min_ns", "first_ns"};
  for (const std::string clock : {"device", "host"}) {
    const StageTimes times = stage_times(reader, facts.row, clock);
    if (times.ns.empty()) continue;
    std::map<std::string, std::map<std::string, int64_t>> others;
    reader.for_each(
        "SELECT statistic, stage, ns FROM stage_time WHERE run = :run AND clock = :clock",
        {{"run", facts.row}, {"clock", clock}},
        [&](const Statement& s) { others[s.string(0)][s.string(1)] = s.integer(2); });
    const auto other = [&](const std::string& statistic, const std::string& stage) -> Value {
      const auto of = others.find(statistic);
      if (of == others.end()) return std::monostate{};
      const auto it = of->second.find(stage);
      if (it == of->second.end()) return std::monostate{};
      return it->second;
    };
    std::map<std::string, double> values;
    for (const auto& [stage, ns] : times.ns) values[stage] = static_cast<double>(ns);
    for (const std::string& stage : ranked(values)) {
      const int64_t ns = times.ns.at(stage);
      table.rows.push_back({clock, stage, times.statistic, ns, share_of(ns, times.total),
                            other("min", stage), other("first", stage)});
    }
    table.rows.push_back({clock, std::string("total"), times.statistic, times.total,
                          share_of(times.total, times.total), other("min", "total"),
                          other("first", "total")});
  }
  if (facts.n_steady == 0) {
    table.notes.push_back(
        "this run has no steady requests; these are the times of its first one, which warms up");
  }
  return table;
}

ResultTable ask_stages_of_workload(Reader& reader, const RunFilter& filter) {
  const Transaction snapshot(reader.database(), Transaction::Kind::kRead);
  ResultTable table;
  table.question = "stages";
  table.about = {{"workload_id", filter.workload}};
  table.columns = {"environment_id", "machine",   "config",    "backend",    "execution_mode",
                   "clock",          "runs",      "stage",     "mean_share", "least_share",
                   "most_share",     "latest_ns", "fastest_ns"};
  table.in_text = {"environment_id", "machine",    "config",    "backend",
                   "execution_mode", "runs",       "stage",     "mean_share",
                   "least_share",    "most_share", "latest_ns", "fastest_ns"};
  for (const RunGroup& group : run_groups(reader, filter)) {
    struct Stage {
      double sum = 0;
      double least = 1;
      double most = 0;
      std::optional<int64_t> latest;
      std::optional<int64_t> fastest;
    };
    const std::string clock = group.backend == "cuda" ? "device" : "host";
    std::map<std::string, Stage> stages;
    int64_t n_runs = 0;
    size_t without_steady = 0;
    for (const int64_t run : newest_runs(reader, group, filter.limit)) {
      const StageTimes times = stage_times(reader, run, clock);
      if (times.total == 0) continue;
      if (times.statistic == "first") {
        ++without_steady;
        continue;
      }
      ++n_runs;
      for (const auto& [name, ns] : times.ns) {
        Stage& stage = stages[name];
        const double share = static_cast<double>(ns) / static_cast<double>(times.total);
        stage.sum += share;
        stage.least = std::min(stage.least, share);
        stage.most = std::max(stage.most, share);
        if (!stage.latest) stage.latest = ns;
        stage.fastest = std::min(stage.fastest.value_or(ns), ns);
      }
    }
    if (without_steady != 0) {
      table.notes.push_back("left out in environment " + group.environment_id.substr(0, 12) + " (" +
                            group.backend + "): " + std::to_string(without_steady) +
                            (without_steady == 1 ? " run" : " runs") + " without steady requests");
    }
    std::map<std::string, double> shares;
    for (const auto& [name, stage] : stages) {
      shares[name] = stage.sum / static_cast<double>(n_runs);
    }
    for (const std::string& name : ranked(shares)) {
      const Stage& stage = stages.at(name);
      table.rows.push_back({group.environment_id, group.machine, group.config, group.backend,
                            group.execution_mode, clock, n_runs, name, shares.at(name), stage.least,
                            stage.most, value_or_null(stage.latest), value_or_null(stage.fastest)});
    }
  }
  hide_if_same(&table, {"config", "backend", "execution_mode"});
  return table;
}

ResultTable ask_history(Reader& reader, const RunFilter& filter) {
  const Transaction snapshot(reader.database(), Transaction::Kind::kRead);
  ResultTable table;
  table.question = "history";
  table.about = {{"workload_id", filter.workload}};
  table.columns = {"environment_id",
                   "machine",
                   "config",
                   "backend",
                   "execution_mode",
                   "created_utc",
                   "run_id",
                   "product_id",
                   "source_commit",
                   "dirty",
                   "verified_request_ns",
                   "ratio",
                   "resident_prove_ns",
                   "device_ns",
                   "n_steady",
                   "n_flags"};
  table.in_text = {"environment_id", "machine",   "config",        "backend", "execution_mode",
                   "created_utc",    "run_id",    "source_commit", "dirty",   "verified_request_ns",
                   "ratio",          "device_ns", "n_steady",      "n_flags"};
  bool older = false;
  for (const RunGroup& group : run_groups(reader, filter)) {
    Parameters parameters = group_parameters(group);
    // One more than is shown: the first row's ratio is to the run before it.
    parameters.emplace_back("limit", to_signed(filter.limit) + 1);
    std::vector<std::vector<Value>> rows;
    reader.for_each(
        "SELECT r.created_utc, r.run_id, p.product_id, p.source_commit, p.dirty, "
        "r.verified_request_ns, r.resident_prove_ns, r.device_ns, r.n_steady, r.n_flags "
        "FROM run AS r CROSS JOIN product AS p ON p.row = r.product WHERE " +
            group_condition() + " ORDER BY r.created_utc DESC, r.row DESC LIMIT :limit",
        parameters, [&](const Statement& s) {
          std::vector<Value>& row = rows.emplace_back();
          for (int c = 0; c < s.column_count(); ++c) row.push_back(s.value(c));
        });
    std::reverse(rows.begin(), rows.end());
    Value before;
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::vector<Value>& r = rows[i];
      const Value verified = r[5];
      if (i == 0 && rows.size() > filter.limit) {
        older = true;
      } else {
        table.rows.push_back({group.environment_id, group.machine, group.config, group.backend,
                              group.execution_mode, r[0], r[1], r[2], r[3], r[4], verified,
                              ratio_of(before, verified), r[6], r[7], r[8], r[9]});
      }
      if (!std::holds_alternative<std::monostate>(verified)) before = verified;
    }
  }
  if (older) {
    table.truncated = true;
    table.notes.push_back("there are older runs; --limit shows more");
  }
  hide_if_same(&table, {"config", "backend", "execution_mode", "dirty"});
  return table;
}

}  // namespace ledger

// show: what an id names, and the main facts about it.

#include <algorithm>
#include <array>

#include "ledger/query/lookup.hpp"
#include "ledger/query/questions.hpp"
#include "ledger/query/run_facts.hpp"

namespace ledger {
namespace {

/// What is shown of a kind: statements whose columns are the facts. Each gets the row as :row.
struct Shown {
  IdKind kind;
  const char* name;
  const char* facts;
};

constexpr std::array kShown = {
    Shown{IdKind::kRun, "run",
          "SELECT r.run_id, r.created_utc, w.workload_id, w.config, w.structural_class, r.backend, "
          "r.execution_mode, coalesce(e.device_name, e.cpu_model) AS machine, e.environment_id, "
          "p.product_id, p.source_commit, p.dirty, l.plan_id, r.semantic_sha256, r.proof_sha256, "
          "r.proof_bytes AS proof_size_bytes, r.verified, r.oracle_name, r.oracle_accepted, "
          "r.eligible, "
          "r.ineligible_reason, r.n_requests, r.n_steady, r.verified_request_ns, "
          "r.resident_prove_ns, r.device_ns AS device_time_ns, r.first_request_ns, r.total_ns, "
          "r.kernel_launches, "
          "r.accounted_peak_bytes, (SELECT group_concat(code, ' ') FROM contract_flag WHERE run = "
          "r.row) AS flags, (SELECT group_concat(capture_id, ' ') FROM capture WHERE run = r.row) "
          "AS captures, a.file_name, a.bytes AS file_size_bytes, a.added_utc "
          "FROM run AS r JOIN workload AS w ON w.row = r.workload JOIN environment AS e ON e.row = "
          "r.environment JOIN product AS p ON p.row = r.product LEFT JOIN plan AS l ON l.row = "
          "r.plan JOIN artifact AS a ON a.row = r.artifact WHERE r.row = :row"},
    Shown{IdKind::kPlan, "plan",
          "SELECT l.plan_id, l.cache_key_sha256, l.program_sha256, l.semantic_sha256, "
          "l.schedule_version, l.transcript_barriers, l.launches, l.request_bytes, "
          "l.persistent_bytes, (SELECT count(*) FROM pass WHERE plan = l.row) AS passes, "
          "(SELECT sum(input_bytes + output_bytes + reread_bytes) FROM pass WHERE plan = l.row) AS "
          "traffic_bytes, (SELECT count(*) FROM run WHERE plan = l.row) AS runs, "
          "a.sha256 AS artifact, a.file_name "
          "FROM plan AS l JOIN artifact AS a ON a.row = l.artifact WHERE l.row = :row"},
    Shown{IdKind::kProduct, "product",
          "SELECT p.product_id, p.name, p.binary_sha256, p.source_commit, p.dirty, p.build_type, "
          "p.host_compiler, p.nvcc_version, p.cuda_arch_list, p.protocol, (SELECT count(*) FROM "
          "run WHERE product = p.row) AS runs FROM product AS p WHERE p.row = :row"},
    Shown{IdKind::kEnvironment, "environment",
          "SELECT e.environment_id, e.kind AS described_by, e.device_name, e.device_uuid, e.sm, "
          "e.driver_version, e.cpu_model, e.logical_cpus, (SELECT count(*) FROM calibration WHERE "
          "environment = e.row) AS calibrations, e.canonical_json FROM environment AS e WHERE "
          "e.row = :row"},
    Shown{IdKind::kCapture, "capture",
          "SELECT c.capture_id, c.kind AS capture_kind, c.created_utc, c.tool, c.evidence, "
          "w.workload_id, w.config, coalesce(e.device_name, e.cpu_model) AS machine, "
          "e.environment_id, p.product_id, r.run_id, c.n_operations, c.n_launches, c.span_ns, "
          "c.busy_ns, c.n_lost, (SELECT group_concat(kind || ' ' || count, ', ') FROM "
          "capture_loss WHERE capture = c.row) AS losses, (SELECT group_concat(kernel || ': ' || "
          "diagnosis, ', ') FROM diagnosis WHERE capture = c.row) AS diagnoses, a.file_name, "
          "a.bytes AS file_size_bytes, a.added_utc "
          "FROM capture AS c LEFT JOIN workload AS w ON w.row = c.workload LEFT JOIN environment "
          "AS e ON e.row = c.environment LEFT JOIN product AS p ON p.row = c.product LEFT JOIN run "
          "AS r ON r.row = c.run JOIN artifact AS a ON a.row = c.artifact WHERE c.row = :row"},
    Shown{IdKind::kVerdict, "verdict",
          "SELECT v.verdict_id, v.created_utc, v.kind AS verdict_kind, v.profile, v.outcome, "
          "v.label_a, v.label_b, v.product_a, v.product_b, coalesce(e.device_name, e.cpu_model) AS "
          "machine, e.environment_id, p.ratio AS portfolio_ratio, p.low AS low_ratio, p.high AS "
          "high_ratio, v.theta, v.meets_minimum, v.meets_objective, v.headline_eligible, (SELECT "
          "group_concat(code, ' ') FROM verdict_reason WHERE verdict = v.row) AS reasons, (SELECT "
          "count(*) FROM session WHERE verdict = v.row) AS sessions, o.verdict_id AS supersedes, "
          "n.verdict_id AS superseded_by, v.spec_sha256, a.file_name, a.bytes AS file_size_bytes, "
          "a.added_utc FROM verdict AS v JOIN environment AS e ON e.row = v.environment LEFT JOIN "
          "estimate AS p ON p.verdict = v.row AND p.scope = 'portfolio' AND p.subject = '' LEFT "
          "JOIN verdict AS o ON o.row = v.supersedes LEFT JOIN verdict AS n ON n.supersedes = "
          "v.row JOIN artifact AS a ON a.row = v.artifact WHERE v.row = :row"},
    Shown{
        IdKind::kCalibration, "calibration",
        "SELECT c.calibration_id, c.created_utc, c.structural_class, c.product AS product_id, "
        "coalesce(e.device_name, e.cpu_model) AS machine, e.environment_id, c.rounds, c.low, "
        "c.high, c.delta, c.theta, c.passed, a.file_name, a.bytes AS file_size_bytes, a.added_utc "
        "FROM calibration AS c JOIN environment AS e ON e.row = c.environment JOIN artifact AS a "
        "ON a.row = c.artifact WHERE c.row = :row"},
    Shown{IdKind::kExperiment, "experiment",
          "SELECT t.*, (SELECT group_concat(role || ' ' || target_kind || ' ' || target_id, ', ') "
          "FROM current_link WHERE record_kind = 'experiment' AND record_id = t.experiment_id) AS "
          "links FROM experiment_tip AS t WHERE t.experiment_id = (SELECT experiment_id FROM "
          "experiment WHERE row = :row)"},
    Shown{IdKind::kBrief, "brief",
          "SELECT t.*, (SELECT group_concat(role || ' ' || target_kind || ' ' || target_id, ', ') "
          "FROM current_link WHERE record_kind = 'brief' AND record_id = t.brief_id) AS links FROM "
          "brief_tip AS t WHERE t.brief_id = (SELECT brief_id FROM brief WHERE row = :row)"},
    Shown{IdKind::kEntry, "entry",
          "SELECT e.entry_sha256, e.seq, e.recorded_utc, e.kind AS entry_kind, e.subject, "
          "e.tool_version, e.prev_sha256, (SELECT group_concat(row_count || ' ' || table_name, "
          "', ') FROM entry_rows WHERE seq = e.seq) AS rows FROM entry AS e WHERE e.seq = :row"},
    Shown{IdKind::kArtifact, "artifact",
          "SELECT a.sha256, a.kind AS artifact_kind, a.file_name, a.bytes AS file_size_bytes, "
          "a.added_utc, a.relpath FROM artifact AS a WHERE a.row = :row"},
};

/// What says the same in another form, or only inside this ledger.
bool is_hidden(std::string_view column) {
  return column == "row" || column == "prediction_json" || column == "verdict_link";
}

/// A fact's name and unit from its column: busy_ns is busy, in nanoseconds.
std::vector<Value> fact(const std::string& column, const Value& value) {
  for (const std::string unit : {"ns", "bytes", "ratio"}) {
    const std::string suffix = "_" + unit;
    if (column.ends_with(suffix)) {
      return {column.substr(0, column.size() - suffix.size()), unit, value};
    }
  }
  return {column, std::monostate{}, value};
}

struct Match {
  const Shown* shown;
  FoundId found;
};

ResultTable facts_of(Reader& reader, const Shown& shown, const FoundId& found) {
  ResultTable table;
  table.question = "show";
  table.columns = {"item", "unit", "value"};
  table.in_text = {"item", "value"};
  table.rows.push_back({std::string("kind"), std::monostate{}, std::string(shown.name)});
  reader.for_each(shown.facts, {{"row", found.row}}, [&](const Statement& s) {
    for (int c = 0; c < s.column_count(); ++c) {
      const std::string column = s.column_name(c);
      if (!is_hidden(column)) table.rows.push_back(fact(column, s.value(c)));
    }
  });
  return table;
}

std::string list_of(const std::vector<Match>& matches) {
  std::string out;
  for (const Match& m : matches) {
    out += (out.empty() ? "" : ", ") + std::string(m.shown->name) + " " + m.found.id;
  }
  return out;
}

}  // namespace

ResultTable show_id(Reader& reader, const std::string& id) {
  const Transaction snapshot(reader.database(), Transaction::Kind::kRead);
  if (id == "last") return facts_of(reader, kShown.front(), require_id(reader, IdKind::kRun, id));
  require_id_form(id);
  constexpr size_t kEnough = 3;
  std::vector<Match> matches;
  for (const Shown& s : kShown) {
    for (FoundId& f : find_ids(reader, s.kind, id, kEnough)) {
      // A document's artifact has the document's own id, which says more.
      const bool known = std::any_of(matches.begin(), matches.end(),
                                     [&](const Match& m) { return m.found.id == f.id; });
      if (!known) matches.push_back({&s, std::move(f)});
    }
  }
  if (matches.empty()) {
    throw stwo::UsageError("ID_NOT_FOUND", "nothing in this ledger has an id that begins with " +
                                               id + "; `ledger runs` lists the newest runs");
  }
  if (matches.size() > 1) {
    throw stwo::UsageError("ID_AMBIGUOUS",
                           id + " could be " + list_of(matches) + "; give more of the id");
  }
  return facts_of(reader, *matches.front().shown, matches.front().found);
}

}  // namespace ledger

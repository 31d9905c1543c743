// hypotheses, gaps, verdicts: what was believed, what is missing, what was judged.

#include <algorithm>

#include "ledger/query/lookup.hpp"
#include "ledger/query/questions.hpp"

namespace ledger {
namespace {

constexpr size_t kMaxRows = 100'000;

}  // namespace

ResultTable ask_hypotheses(Reader& reader, bool open_only) {
  ResultTable table;
  if (open_only) {
    table = reader.table(
        "hypotheses",
        "SELECT experiment_id, number, slug, title, opened_utc, program_and_shape, "
        "dominant_mechanism, predicted_movement, supporting, contradicting FROM open_hypotheses "
        "ORDER BY opened_utc, experiment_id",
        {}, kMaxRows);
    table.in_text = {"experiment_id", "slug",          "opened_utc",
                     "supporting",    "contradicting", "predicted_movement"};
  } else {
    table = reader.table(
        "hypotheses",
        "SELECT experiment_id, number, slug, title, state, recorded_utc, predicted_movement, "
        "decision, no_verdict_reason, runs, captures, verdicts, calibrations, plans, artifacts, "
        "records FROM experiment_board ORDER BY experiment_id",
        {}, kMaxRows);
    table.in_text = {"experiment_id", "number",   "slug",     "state", "decision",
                     "runs",          "captures", "verdicts", "title"};
  }
  return table;
}

ResultTable ask_gaps(Reader& reader) {
  ResultTable table = reader.table(
      "gaps",
      "SELECT structural_class, gap, mend FROM evidence_gaps ORDER BY structural_class, ordinal",
      {}, kMaxRows);
  if (table.rows.empty()) {
    table.notes.push_back("every structural class has runs, captures, calibration and a verdict");
  }
  return table;
}

ResultTable ask_verdicts(Reader& reader, const VerdictFilter& filter) {
  const Transaction snapshot(reader.database(), Transaction::Kind::kRead);
  std::string where;
  Parameters parameters;
  const auto add = [&](const std::string& condition) {
    where += (where.empty() ? "WHERE " : " AND ") + condition;
  };
  if (!filter.all) add("n.row IS NULL");
  if (!filter.outcome.empty()) {
    add("v.outcome = :outcome");
    parameters.emplace_back("outcome", filter.outcome);
  }
  if (!filter.product.empty()) {
    // The judge's products need not be rows of this ledger: their identity is enough.
    add("(v.product_a = :product OR v.product_b = :product)");
    parameters.emplace_back("product", require_id(reader, IdKind::kProduct, filter.product).id);
  }
  if (!filter.environment.empty()) {
    add("v.environment = :environment");
    parameters.emplace_back("environment",
                            require_id(reader, IdKind::kEnvironment, filter.environment).row);
  }
  parameters.emplace_back("limit", static_cast<int64_t>(std::min(filter.limit, kMaxRows)) + 1);
  ResultTable table = reader.table(
      "verdicts",
      "SELECT v.verdict_id, v.created_utc, v.kind, v.profile, v.outcome, v.label_a, v.label_b, "
      "v.product_a, v.product_b, e.environment_id, coalesce(e.device_name, e.cpu_model) AS "
      "machine, p.ratio, p.low AS low_ratio, p.high AS high_ratio, v.meets_minimum, "
      "v.meets_objective, v.headline_eligible, (SELECT group_concat(code, ' ') FROM (SELECT "
      "DISTINCT code FROM verdict_reason WHERE verdict = v.row ORDER BY code)) AS reasons, "
      "n.verdict_id AS superseded_by "
      "FROM verdict AS v CROSS JOIN environment AS e ON e.row = v.environment "
      "LEFT JOIN estimate AS p ON p.verdict = v.row AND p.scope = 'portfolio' AND p.subject = '' "
      "LEFT JOIN verdict AS n ON n.supersedes = v.row " +
          where + " ORDER BY v.created_utc DESC, v.row DESC LIMIT :limit",
      parameters, filter.limit);
  table.in_text = {"verdict_id", "created_utc", "profile",   "outcome",    "label_a", "label_b",
                   "machine",    "ratio",       "low_ratio", "high_ratio", "reasons"};
  if (filter.all) table.in_text.emplace_back("superseded_by");
  if (table.truncated) table.notes.push_back("there are older verdicts; --limit shows more");
  return table;
}

}  // namespace ledger

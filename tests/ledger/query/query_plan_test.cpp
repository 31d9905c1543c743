// No question walks through a whole table that grows with the history.
//
// Which cursor reads which table is taken from SQLite's bytecode: EXPLAIN QUERY PLAN names aliases
// only. A cursor that is put to the first or last entry of a table or index, or counts it, is a
// scan.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "ledger/query/saved_queries.hpp"
#include "tests/ledger/query/query_fixture.hpp"

namespace ledger::test {
namespace {

const std::set<std::string> kLarge = {"run",     "request",    "stage_time", "pass",
                                      "counter", "session",    "sample",     "telemetry",
                                      "entry",   "entry_rows", "artifact",   "kernel_stat"};

/// Saved queries that may walk through a large table, and why.
const std::map<std::string, std::string> kExempt = {
    {"artifacts_by_kind", "a sum over all files"},
    {"entries", "goes backwards through the row numbers and stops at the limit"},
    {"host_gap", "the subquery stops at its limit; only its rows are sorted"},
    {"slowest_stages", "the subquery stops at its limit; only its rows are sorted"},
};

/// What is wrong with the plan of a statement; empty: nothing.
std::string offence(Database& database, std::string_view sql, const Parameters& parameters) {
  const auto explain = [&](const std::string& how) {
    Statement s = database.prepare(how + " " + std::string(sql));
    bind_parameters(s, parameters);
    return s;
  };
  std::string plan;
  Statement query_plan = explain("EXPLAIN QUERY PLAN");
  while (query_plan.step()) plan += query_plan.string(3) + "\n";
  const bool sorts = plan.find("USE TEMP B-TREE FOR ORDER BY") != std::string::npos;
  const bool limited = sql.find("LIMIT") != std::string_view::npos;

  struct Root {
    std::string table;
    bool is_index;
  };
  std::map<int64_t, Root> roots;
  Statement schema = database.prepare("SELECT rootpage, tbl_name, type FROM sqlite_schema");
  while (schema.step()) {
    roots[schema.integer(0)] = {schema.string(1), schema.text(2) == "index"};
  }
  std::map<int64_t, Root> cursors;
  Statement code = explain("EXPLAIN");
  while (code.step()) {
    const std::string opcode = code.string(1);
    const int64_t cursor = code.integer(2);
    if (opcode == "OpenRead" || opcode == "ReopenIdx") {
      cursors[cursor] = roots.at(code.integer(3));
    } else if (opcode.starts_with("Open")) {
      cursors.erase(cursor);
    } else if (opcode == "Rewind" || opcode == "Last" || opcode == "Count") {
      const auto it = cursors.find(cursor);
      if (it == cursors.end() || !kLarge.contains(it->second.table)) continue;
      if (it->second.is_index && limited && !sorts && opcode != "Count") continue;
      return "scan of " + it->second.table + " in " + std::string(sql) + "\n" + plan;
    }
  }
  return "";
}

class QueryPlan : public ::testing::Test {
 protected:
  void SetUp() override {
    l_.add_plan("plan", {{"commit", "lde", "k", 100, 100, 0, 0, 2, 0}});
    l_.add_plan("plan 2", {{"commit", "lde", "k", 100, 100, 0, 0, 1, 0}});
    l_.add_run({.name = "cpu"});
    l_.add_run({.name = "gpu", .plan = "plan", .created_utc = "2026-01-05T00:00:00Z"});
    l_.add_run({.name = "gpu 2", .plan = "plan 2", .created_utc = "2026-01-06T00:00:00Z"});
    l_.add_timeline("timeline", "gpu", {{"k", "commit", 10}});
    l_.add_counters("counters", "gpu", {{"k", "commit", 200.0, 100.0}});
    l_.add_verdict({.name = "verdict"});
    explainer_ = std::make_unique<Ledger>(l_.path(), Access::kRead);
    l_.reader().on_statement = [this](std::string_view sql, const Parameters& parameters) {
      ++statements_;
      EXPECT_EQ(offence(explainer_->database(), sql, parameters), "");
    };
  }
  Reader& reader() { return l_.reader(); }

  QueryLedger l_;
  std::unique_ptr<Ledger> explainer_;
  int statements_ = 0;
};

TEST_F(QueryPlan, OffencesAreFound) {
  Database& database = explainer_->database();
  EXPECT_NE(offence(database, "SELECT * FROM run", {}), "");
  EXPECT_NE(offence(database, "SELECT * FROM run LIMIT 5", {}), "");
  EXPECT_NE(offence(database, "SELECT count(*) FROM run", {}), "");
  EXPECT_NE(offence(database, "SELECT * FROM run_list WHERE source_commit = 'x'", {}), "");
  EXPECT_NE(offence(database, "SELECT created_utc FROM run ORDER BY total_ns LIMIT 5", {}), "");
  EXPECT_NE(
      offence(database,
              "SELECT w.row FROM workload AS w CROSS JOIN stage_time AS t ON t.ns = w.row", {}),
      "");
  EXPECT_EQ(offence(database, "SELECT run_id FROM run ORDER BY created_utc DESC LIMIT 5", {}), "");
  EXPECT_EQ(offence(database, "SELECT * FROM run WHERE run_id = 'x'", {}), "");
  EXPECT_EQ(offence(database, "SELECT * FROM workload", {}), "");
}

TEST_F(QueryPlan, OfRunsUnderEveryFilter) {
  for (int mask = 0; mask < 32; ++mask) {
    RunFilter f;
    if (mask & 1) f.workload = "wide_10";
    if (mask & 2) f.config = "fast";
    if (mask & 4) f.backend = "cuda";
    if (mask & 8) f.product = digest("stwo-1");
    if (mask & 16) f.environment = digest("host");
    SCOPED_TRACE(mask);
    ask_runs(reader(), f);
    if (mask & 1 && !(mask & 8)) {
      ask_history(reader(), f);
      ask_stages_of_workload(reader(), f);
    }
  }
  EXPECT_GT(statements_, 100);
}

TEST_F(QueryPlan, OfQuestionsAboutRuns) {
  ask_stages(reader(), "last");
  ask_stages(reader(), digest("cpu").substr(0, 8));
  ask_compare(reader(), digest("cpu"), "last");
  ask_passes(reader(), digest("gpu"));
  ask_passes(reader(), digest("plan"));
  ask_passes_against(reader(), digest("gpu"), "last");
  EXPECT_GT(statements_, 50);
}

TEST_F(QueryPlan, OfQuestionsAboutEvidence) {
  ask_hypotheses(reader(), true);
  ask_hypotheses(reader(), false);
  ask_gaps(reader());
  for (int mask = 0; mask < 16; ++mask) {
    VerdictFilter f;
    f.all = (mask & 1) != 0;
    if (mask & 2) f.outcome = "keep";
    if (mask & 4) f.product = digest("stwo-1");
    if (mask & 8) f.environment = digest("host");
    ask_verdicts(reader(), f);
  }
  for (const std::string& id :
       {std::string("last"), digest("plan"), digest("timeline"), digest("verdict"),
        digest("stwo-1"), digest("host"), digest("plan document"), l_.ledger().head()}) {
    show_id(reader(), id);
  }
  EXPECT_GT(statements_, 50);
}

TEST_F(QueryPlan, OfSavedQueries) {
  std::set<std::string> exempt;
  for (const SavedQuery& q : saved_queries()) {
    Parameters parameters;
    for (const QueryParameter& p : q.parameters) {
      parameters.emplace_back(p.name, parameter_value(p.default_text.value_or("wide_10")));
    }
    const std::string found = offence(explainer_->database(), q.sql, parameters);
    if (kExempt.contains(q.name)) {
      EXPECT_NE(found, "") << q.name << " needs no exemption";
    } else {
      EXPECT_EQ(found, "") << q.name;
    }
  }
  for (const auto& [name, reason] : kExempt) EXPECT_EQ(require_saved_query(name).name, name);
}

}  // namespace
}  // namespace ledger::test

// Saved queries: what their files say, and that they run.

#include "ledger/query/saved_queries.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/ledger/query/query_fixture.hpp"
#include "tests/support/errors.hpp"

namespace ledger::test {
namespace {

using stwo::test::code_of;
using Given = std::vector<std::pair<std::string, std::string>>;

TEST(ParseSavedQuery, ReadsDescriptionAndParameters) {
  const SavedQuery q = parse_saved_query("a_query.sql",
                                         "-- What it answers\n"
                                         "-- :one: a value: any\n"
                                         "-- :two = 1.5: with a default\n"
                                         "-- :three = : may be empty\n"
                                         "-- A remark\n"
                                         "SELECT :one, :two, :three -- :four: no parameter\n");
  EXPECT_EQ(q.name, "a_query");
  EXPECT_EQ(q.description, "What it answers");
  ASSERT_EQ(q.parameters.size(), 3u);
  EXPECT_EQ(q.parameters[0].name, "one");
  EXPECT_EQ(q.parameters[0].text, "a value: any");
  EXPECT_FALSE(q.parameters[0].default_text.has_value());
  EXPECT_EQ(q.parameters[1].default_text, "1.5");
  EXPECT_EQ(q.parameters[2].default_text, "");
  EXPECT_EQ(q.parameters[2].text, "may be empty");
}

TEST(ParseSavedQuery, WantsEverythingExplained) {
  for (const char* text : {"SELECT 1", "-- :a: first line\nSELECT :a", "-- D\n-- :a:\nSELECT :a",
                           "-- D\n-- :a = 5\nSELECT :a", "-- D\n-- :a b: text\nSELECT 1"}) {
    EXPECT_EQ(code_of([&] { parse_saved_query("q.sql", text); }), "CONTRACT") << text;
  }
}

TEST(ParameterValue, KeepsDigestsTexts) {
  EXPECT_EQ(parameter_value("50"), Value{int64_t{50}});
  EXPECT_EQ(parameter_value("-7"), Value{int64_t{-7}});
  EXPECT_EQ(parameter_value("1.25"), Value{1.25});
  EXPECT_EQ(parameter_value("-0.5"), Value{-0.5});
  for (const std::string text : {"", "007", "12e456", "1e5", "0x10", "1.2.3", "-",
                                 "99999999999999999999", "+5", "nan", "inf", " 5", "abc"}) {
    EXPECT_EQ(parameter_value(text), Value{text}) << text;
  }
}

TEST(ParseParameter, SplitsAtTheFirstEqualsSign) {
  EXPECT_EQ(parse_parameter("a=b=c"), (std::pair<std::string, std::string>{"a", "b=c"}));
  EXPECT_EQ(parse_parameter(":a="), (std::pair<std::string, std::string>{"a", ""}));
  for (const std::string text : {"", "a", "=b", "a b=c", ":=c"}) {
    EXPECT_EQ(code_of([&] { parse_parameter(text); }), "QUERY_PARAMETER") << text;
  }
}

TEST(BindGivenParameters, UsesDefaultsAndRefusesTheRest) {
  Database database(":memory:", OpenMode::kCreate);
  const std::vector<QueryParameter> declared = {{"a", "first", std::nullopt}, {"b", "second", "2"}};
  const auto bind = [&](const std::string& sql, const Given& given) {
    Statement s = database.prepare_only(sql);
    bind_given_parameters(s, declared, given);
    s.step();
    return s.string(0);
  };
  EXPECT_EQ(bind("SELECT :a + :b + :a", {{"a", "5"}}), "12");
  EXPECT_EQ(bind("SELECT :a + :b", {{"a", "5"}, {"b", "4"}}), "9");
  std::string message;
  EXPECT_EQ(code_of([&] { bind("SELECT :a", {}); }, &message), "QUERY_PARAMETER");
  EXPECT_NE(message.find("first"), std::string::npos) << message;
  EXPECT_EQ(code_of([&] { bind("SELECT :a", {{"a", "1"}, {"c", "2"}}); }), "QUERY_PARAMETER");
  EXPECT_EQ(code_of([&] { bind("SELECT :a", {{"a", "1"}, {"a", "2"}}); }), "QUERY_PARAMETER");
  EXPECT_EQ(code_of([&] { bind("SELECT 1", {{"a", "1"}}); }), "QUERY_PARAMETER");
  EXPECT_EQ(code_of([&] { bind("SELECT ?", {}); }), "QUERY_PARAMETER");
  EXPECT_EQ(code_of([&] { bind("SELECT @a", {{"a", "1"}}); }), "QUERY_PARAMETER");
}

/// Runs a saved query as the program does: restricted, with values for what has no default.
ResultTable ask(QueryLedger& l, const std::string& name, const Given& given) {
  Ledger ledger(l.path(), Access::kRead);
  ledger.database().restrict_to_queries({});
  const SavedQuery& q = require_saved_query(name);
  Statement s = ledger.database().prepare_only(q.sql);
  bind_given_parameters(s, q.parameters, given);
  return read_table(q.name, s, 1000);
}

void fill(QueryLedger& l) {
  l.add_plan("plan", {{"commit", "lde", "k", 100, 100, 0, 0, 2, 0}});
  l.add_run({.name = "gpu", .plan = "plan", .flags = {"FLAG_JIT"}});
  l.add_run({.name = "cpu", .created_utc = "2026-01-05T00:00:00Z", .verified_ns = 500});
  l.add_run({.name = "faster", .created_utc = "2026-01-06T00:00:00Z", .verified_ns = 400});
  l.add_timeline("timeline", "gpu", {{"k", "commit", 10}});
  l.add_counters("counters", "gpu", {{"k", "commit", 200.0, 100.0}, {"k", "commit", 100.0, 100.0}});
  l.add_verdict({.name = "verdict", .reasons = {"COLD"}});
  l.add_calibration("calibration", "wide");
}

TEST(SavedQueries, AllRunAndHaveDistinctColumns) {
  QueryLedger l;
  fill(l);
  EXPECT_GE(saved_queries().size(), 8u);
  for (const SavedQuery& q : saved_queries()) {
    Given given;
    for (const QueryParameter& p : q.parameters) {
      if (!p.default_text) given.emplace_back(p.name, "wide_10");
    }
    const ResultTable t = ask(l, q.name, given);
    EXPECT_EQ(std::set<std::string>(t.columns.begin(), t.columns.end()).size(), t.columns.size());
    EXPECT_FALSE(q.description.ends_with('.')) << q.name;
  }
}

TEST(SavedQueries, AnswerTheirQuestions) {
  QueryLedger l;
  fill(l);
  EXPECT_EQ(text_cell(ask(l, "slowest_stages", {}), 0, "stage"), "trace_commit");
  EXPECT_EQ(ask(l, "slowest_stages", {{"clock", "host"}, {"limit", "3"}}).rows.size(), 3u);
  EXPECT_EQ(text_cell(ask(l, "flagged_runs", {}), 0, "code"), "FLAG_JIT");
  EXPECT_EQ(integer_cell(ask(l, "runs_per_product", {}), 0, "runs"), 3);
  const ResultTable fastest = ask(l, "fastest_runs", {{"backend", "cpu"}});
  EXPECT_EQ(text_cell(fastest, 0, "run_id"), digest("faster"));
  EXPECT_EQ(integer_cell(fastest, 0, "runs"), 2);
  EXPECT_EQ(text_cell(ask(l, "kernel_time", {}), 0, "kernel"), "k");
  EXPECT_TRUE(ask(l, "kernel_time", {{"workload", "other"}}).rows.empty());
  const ResultTable dram = ask(l, "dram_over_ledger", {});
  EXPECT_DOUBLE_EQ(real_cell(dram, 0, "ratio"), 2.5);
  EXPECT_TRUE(ask(l, "dram_over_ledger", {{"over", "2.6"}}).rows.empty());
  EXPECT_EQ(integer_cell(ask(l, "host_gap", {}), 0, "gap_ns"), 100'000);
  EXPECT_EQ(text_cell(ask(l, "verdict_reasons", {}), 0, "code"), "COLD");
  EXPECT_EQ(text_cell(ask(l, "calibrations", {}), 0, "structural_class"), "wide");
  const ResultTable memory = ask(l, "memory_parts", {{"workload", "wide_10"}});
  // Two backends, two parts each, of their newest runs.
  EXPECT_EQ(memory.rows.size(), 4u);
  EXPECT_EQ(text_cell(memory, 0, "run_id"), digest("faster"));
  EXPECT_EQ(integer_cell(memory, 0, "bytes"), 8192);
  EXPECT_TRUE(ask(l, "experiments_without_evidence", {}).rows.empty());
  EXPECT_EQ(text_cell(ask(l, "artifacts_by_kind", {}), 0, "kind"), "other");
  EXPECT_EQ(text_cell(ask(l, "entries", {}), 0, "kind"), "calibration");
  const ResultTable telemetry =
      ask(l, "session_telemetry", {{"verdict", digest("verdict").substr(0, 8)}});
  EXPECT_EQ(text_cell(telemetry, 0, "metric"), "sm_clock");
  EXPECT_EQ(code_of([] { require_saved_query("nothing"); }), "QUERY_UNKNOWN");
}

}  // namespace
}  // namespace ledger::test

// runs, stages, history, compare.

#include <gtest/gtest.h>

#include "tests/ledger/query/query_fixture.hpp"
#include "tests/support/errors.hpp"

namespace ledger::test {
namespace {

using stwo::test::code_of;
using Strings = std::vector<std::string>;

std::string day(int n) {
  return std::string("2026-01-") + (n < 10 ? "0" : "") + std::to_string(n) + "T00:00:00Z";
}

/// Runs in two environments, of two workloads, two products, both backends.
void fill(QueryLedger& l) {
  l.add_plan("plan", {{.stage = "oods", .pass = "p", .kernel = "k"}});
  l.add_run({.name = "a1", .created_utc = day(1), .verified_ns = 4'000'000});
  l.add_run(
      {.name = "b1", .environment = "other", .created_utc = day(2), .verified_ns = 1'000'000});
  l.add_run({.name = "a2", .product = "stwo-2", .created_utc = day(3), .verified_ns = 2'000'000});
  l.add_run({.name = "c1", .workload = "narrow_4", .created_utc = day(4)});
  l.add_run({.name = "g1", .environment = "gpu", .plan = "plan", .created_utc = day(5)});
  l.add_run(
      {.name = "b2", .environment = "other", .created_utc = day(6), .verified_ns = 3'000'000});
  l.add_run({.name = "a3", .created_utc = day(7), .verified_ns = 3'000'000});
}

Strings ids(const Strings& names) {
  Strings out;
  for (const std::string& n : names) out.push_back(digest(n));
  return out;
}

TEST(Runs, AreNewestFirstAndLimited) {
  QueryLedger l;
  EXPECT_TRUE(ask_runs(l.reader(), {}).rows.empty());
  fill(l);
  const ResultTable all = ask_runs(l.reader(), {});
  EXPECT_EQ(texts(all, "run_id"), ids({"a3", "b2", "g1", "c1", "a2", "b1", "a1"}));
  EXPECT_FALSE(all.truncated);
  const ResultTable two = ask_runs(l.reader(), {.limit = 2});
  EXPECT_EQ(texts(two, "run_id"), ids({"a3", "b2"}));
  EXPECT_TRUE(two.truncated);
  EXPECT_TRUE(has_note(two, "older"));
  EXPECT_FALSE(ask_runs(l.reader(), {.limit = 7}).truncated);
}

TEST(Runs, PassEveryFilterThatIsGiven) {
  QueryLedger l;
  fill(l);
  const auto found = [&](const RunFilter& f) { return texts(ask_runs(l.reader(), f), "run_id"); };
  EXPECT_EQ(found({.workload = "narrow_4"}), ids({"c1"}));
  EXPECT_EQ(found({.config = "fast", .limit = 1}), ids({"a3"}));
  EXPECT_EQ(found({.backend = "cuda"}), ids({"g1"}));
  EXPECT_EQ(found({.product = digest("stwo-2").substr(0, 8)}), ids({"a2"}));
  EXPECT_EQ(found({.environment = digest("other").substr(0, 8)}), ids({"b2", "b1"}));
  EXPECT_EQ(found({.workload = "wide_10", .environment = digest("host").substr(0, 9)}),
            ids({"a3", "a2", "a1"}));
  EXPECT_EQ(found({.workload = "wide_10",
                   .config = "fast",
                   .backend = "cpu",
                   .product = digest("stwo-1"),
                   .environment = digest("host")}),
            ids({"a3", "a1"}));
  EXPECT_EQ(code_of([&] { found({.config = "slow"}); }), "WORKLOAD_NOT_FOUND");
  EXPECT_EQ(code_of([&] { found({.product = "000000"}); }), "PRODUCT_NOT_FOUND");
}

TEST(Stages, OfARunAreRankedAndSumToTheTotal) {
  QueryLedger l;
  fill(l);
  const ResultTable t = ask_stages(l.reader(), "last");
  EXPECT_EQ(t.about[0], (std::pair<std::string, Value>{"run_id", digest("a3")}));
  EXPECT_EQ(texts(t, "stage"), (Strings{"trace_commit", "oods", "total"}));
  EXPECT_EQ(texts(t, "clock"), (Strings{"host", "host", "host"}));
  EXPECT_EQ(integer_cell(t, 0, "ns"), 600'000);
  EXPECT_DOUBLE_EQ(real_cell(t, 0, "share"), 2.0 / 3);
  EXPECT_DOUBLE_EQ(real_cell(t, 2, "share"), 1.0);
  EXPECT_EQ(integer_cell(t, 2, "ns"), 900'000);
}

TEST(Stages, OfADeviceRunComeFromBothClocks) {
  QueryLedger l;
  fill(l);
  const ResultTable t = ask_stages(l.reader(), digest("g1").substr(0, 6));
  EXPECT_EQ(texts(t, "clock"), (Strings{"device", "device", "device", "host", "host", "host"}));
  EXPECT_EQ(integer_cell(t, 0, "ns"), 600'000);
  EXPECT_EQ(integer_cell(t, 3, "ns"), 1'200'000);
}

TEST(Stages, WithoutSteadyRequestsAreTheFirstOnes) {
  QueryLedger l;
  l.add_run({.name = "cold", .verified_ns = std::nullopt});
  const ResultTable t = ask_stages(l.reader(), "last");
  EXPECT_EQ(texts(t, "statistic"), (Strings{"first", "first", "first"}));
  EXPECT_TRUE(has_note(t, "no steady requests"));
  EXPECT_TRUE(null_cell(t, 0, "min_ns"));
}

TEST(Stages, OfAWorkloadNeverMixEnvironments) {
  QueryLedger l;
  l.add_plan("plan", {{.stage = "oods", .pass = "p", .kernel = "k"}});
  l.add_run({.name = "a1", .created_utc = day(1), .stages = {{"oods", 100}, {"quotient", 300}}});
  l.add_run({.name = "a2", .created_utc = day(2), .stages = {{"oods", 600}, {"quotient", 200}}});
  l.add_run({.name = "b1",
             .environment = "other",
             .created_utc = day(3),
             .stages = {{"oods", 10}, {"quotient", 90}}});
  l.add_run({.name = "cold", .created_utc = day(4), .verified_ns = std::nullopt});
  l.add_run({.name = "g1",
             .plan = "plan",
             .created_utc = day(5),
             .stages = {{"oods", 5}, {"quotient", 15}}});
  const ResultTable t = ask_stages_of_workload(l.reader(), {.workload = "wide_10", .limit = 5});
  // Two backends in one environment, one in the other.
  EXPECT_EQ(t.rows.size(), 6u);
  const auto share = [&](const std::string& environment, const std::string& backend,
                         const std::string& stage) {
    return real_cell(
        t,
        find_row(t,
                 {{"environment_id", digest(environment)}, {"backend", backend}, {"stage", stage}}),
        "mean_share");
  };
  EXPECT_DOUBLE_EQ(share("host", "cpu", "oods"), (0.25 + 0.75) / 2);
  EXPECT_DOUBLE_EQ(share("host", "cuda", "oods"), 0.25);
  EXPECT_DOUBLE_EQ(share("other", "cpu", "oods"), 0.1);
  const size_t quotient =
      find_row(t, {{"environment_id", digest("host")}, {"backend", "cpu"}, {"stage", "quotient"}});
  EXPECT_EQ(integer_cell(t, quotient, "runs"), 2);
  EXPECT_EQ(integer_cell(t, quotient, "latest_ns"), 200);
  EXPECT_EQ(integer_cell(t, quotient, "fastest_ns"), 200);
  EXPECT_TRUE(has_note(t, "1 run without steady"));
  // Only the newest run counts here.
  const ResultTable newest = ask_stages_of_workload(
      l.reader(), {.workload = "wide_10", .environment = digest("other"), .limit = 1});
  EXPECT_EQ(texts(newest, "stage"), (Strings{"quotient", "oods"}));
}

TEST(History, HasRatiosWithinAnEnvironmentOnly) {
  QueryLedger l;
  fill(l);
  const ResultTable t = ask_history(l.reader(), {.workload = "wide_10", .limit = 50});
  ASSERT_EQ(t.rows.size(), 6u);
  const auto row = [&](const std::string& run) { return find_row(t, {{"run_id", digest(run)}}); };
  EXPECT_TRUE(null_cell(t, row("a1"), "ratio"));
  EXPECT_DOUBLE_EQ(real_cell(t, row("a2"), "ratio"), 0.5);
  EXPECT_DOUBLE_EQ(real_cell(t, row("a3"), "ratio"), 1.5);
  EXPECT_TRUE(null_cell(t, row("b1"), "ratio"));
  EXPECT_DOUBLE_EQ(real_cell(t, row("b2"), "ratio"), 3.0);
  EXPECT_TRUE(null_cell(t, row("g1"), "ratio"));
  EXPECT_LT(row("a1"), row("a2"));
  EXPECT_LT(row("a2"), row("a3"));
}

TEST(History, KeepsTheRunBeforeTheFirstShown) {
  QueryLedger l;
  fill(l);
  const ResultTable t =
      ask_history(l.reader(), {.workload = "wide_10", .environment = digest("host"), .limit = 2});
  EXPECT_EQ(texts(t, "run_id"), ids({"a2", "a3"}));
  EXPECT_DOUBLE_EQ(real_cell(t, 0, "ratio"), 0.5);
  EXPECT_TRUE(t.truncated);
}

TEST(History, SkipsRunsWithoutSteadyRequests) {
  QueryLedger l;
  l.add_run({.name = "a1", .created_utc = day(1), .verified_ns = 4'000'000});
  l.add_run({.name = "cold", .created_utc = day(2), .verified_ns = std::nullopt});
  l.add_run({.name = "a2", .created_utc = day(3), .verified_ns = 1'000'000});
  const ResultTable t = ask_history(l.reader(), {.workload = "wide_10"});
  EXPECT_TRUE(null_cell(t, 1, "ratio"));
  EXPECT_DOUBLE_EQ(real_cell(t, 2, "ratio"), 0.25);
}

TEST(Compare, PutsDriftFirstAndGivesRatios) {
  QueryLedger l;
  fill(l);
  const ResultTable t = ask_compare(l.reader(), digest("a1"), digest("a2"));
  EXPECT_EQ(text_cell(t, 0, "item"), "product");
  EXPECT_EQ(integer_cell(t, 0, "same"), 0);
  EXPECT_EQ(integer_cell(t, 1, "same"), 1);
  const size_t time = find_row(t, {{"section", "steady request"}, {"item", "verified_request"}});
  EXPECT_EQ(integer_cell(t, time, "a"), 4'000'000);
  EXPECT_EQ(integer_cell(t, time, "delta"), -2'000'000);
  EXPECT_DOUBLE_EQ(real_cell(t, time, "ratio"), 0.5);
  const size_t stage = find_row(t, {{"section", "host stage"}, {"item", "oods"}});
  EXPECT_DOUBLE_EQ(real_cell(t, stage, "ratio"), 1.0);
  EXPECT_TRUE(t.notes.empty());
}

TEST(Compare, NeverComparesTimesOfDifferentEnvironments) {
  QueryLedger l;
  fill(l);
  const ResultTable t = ask_compare(l.reader(), digest("a1"), "last");
  EXPECT_TRUE(t.notes.empty());
  const ResultTable other = ask_compare(l.reader(), digest("a1"), digest("b1"));
  EXPECT_EQ(text_cell(other, 0, "item"), "environment");
  EXPECT_TRUE(has_note(other, "not comparable"));
  size_t times = 0;
  for (size_t i = 0; i < other.rows.size(); ++i) {
    if (null_cell(other, i, "unit")) continue;
    const bool is_time = text_cell(other, i, "unit") == "ns";
    times += is_time ? 1 : 0;
    EXPECT_EQ(null_cell(other, i, "ratio"), is_time) << text_cell(other, i, "item");
    EXPECT_EQ(null_cell(other, i, "delta"), is_time) << text_cell(other, i, "item");
  }
  EXPECT_GT(times, 8u);
}

TEST(Compare, SaysWhatDoesNotFit) {
  QueryLedger l;
  fill(l);
  l.add_run({.name = "wrong", .created_utc = day(9), .proof = "another proof"});
  EXPECT_TRUE(has_note(ask_compare(l.reader(), digest("a1"), "last"), "one of them is wrong"));
  EXPECT_TRUE(has_note(ask_compare(l.reader(), digest("a1"), digest("c1")), "workloads differ"));
  l.add_run({.name = "cold", .created_utc = day(10), .verified_ns = std::nullopt});
  EXPECT_TRUE(has_note(ask_compare(l.reader(), digest("a1"), "last"), "no medians"));
  // Launches are there on one side only.
  const ResultTable t = ask_compare(l.reader(), digest("a1"), digest("g1"));
  const size_t launches = find_row(t, {{"item", "kernel_launches"}});
  EXPECT_TRUE(null_cell(t, launches, "a"));
  EXPECT_EQ(integer_cell(t, launches, "b"), 31);
  EXPECT_TRUE(null_cell(t, launches, "delta"));
}

}  // namespace
}  // namespace ledger::test

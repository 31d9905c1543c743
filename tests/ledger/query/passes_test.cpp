// passes: predicted and measured, alone and against another plan.

#include <gtest/gtest.h>

#include "tests/ledger/query/query_fixture.hpp"
#include "tests/support/errors.hpp"

namespace ledger::test {
namespace {

using stwo::test::code_of;
using Strings = std::vector<std::string>;

const std::vector<PassRow> kBefore = {
    {"commit", "lde", "fft_extend", 100, 400, 10, 50, 2, 0},
    {"commit", "leaves", "hash_leaves", 400, 40, 0, 0, 1, 1},
    {"decommit", "queries of tree 1", "gather", 10, 5, 0, 0, 1, 0},
    {"decommit", "queries of tree 2", "gather", 20, 5, 0, 0, 1, 0},
};

void fill(QueryLedger& l) {
  l.add_plan("before", kBefore);
  l.add_run({.name = "run", .plan = "before", .n_requests = 4});
}

size_t pass_row(const ResultTable& t, const std::string& stage, const std::string& pass) {
  return find_row(t, {{"stage", stage}, {"pass", pass}});
}

TEST(Passes, SumPerStageAndOverAll) {
  QueryLedger l;
  fill(l);
  const ResultTable t = ask_passes(l.reader(), "last");
  EXPECT_EQ(texts(t, "pass"), (Strings{"lde", "leaves", "total", "queries of tree 1",
                                       "queries of tree 2", "total", "total"}));
  const size_t commit = pass_row(t, "commit", "total");
  EXPECT_EQ(integer_cell(t, commit, "input_bytes"), 500);
  EXPECT_EQ(integer_cell(t, commit, "traffic_bytes"), 950);
  EXPECT_EQ(integer_cell(t, commit, "launches"), 3);
  EXPECT_EQ(integer_cell(t, commit, "barriers"), 1);
  const size_t all = pass_row(t, "total", "total");
  EXPECT_EQ(integer_cell(t, all, "input_bytes"), 530);
  EXPECT_EQ(integer_cell(t, all, "launches"), 5);
  EXPECT_TRUE(null_cell(t, all, "measured_launches"));
  EXPECT_TRUE(null_cell(t, all, "dram_bytes"));
  // Columns that nothing fills do not widen the text.
  EXPECT_EQ(std::count(t.in_text.begin(), t.in_text.end(), "dram_bytes"), 0);
}

TEST(Passes, AreFoundByRunAndByPlan) {
  QueryLedger l;
  fill(l);
  for (const std::string& id : {digest("run").substr(0, 8), digest("before").substr(0, 8)}) {
    const ResultTable t = ask_passes(l.reader(), id);
    EXPECT_EQ(std::get<std::string>(t.about[0].second), digest("before"));
    EXPECT_EQ(std::get<std::string>(t.about[1].second), digest("run"));
  }
  EXPECT_EQ(code_of([&] { ask_passes(l.reader(), "000000"); }), "RUN_NOT_FOUND");
  l.add_run({.name = "cpu", .created_utc = "2026-02-01T00:00:00Z"});
  EXPECT_EQ(code_of([&] { ask_passes(l.reader(), "last"); }), "PLAN_NOT_FOUND");
  l.add_plan("unused", kBefore);
  EXPECT_TRUE(has_note(ask_passes(l.reader(), digest("unused")), "no run of this plan"));
}

TEST(Passes, MeasureLaunchesPerRequest) {
  QueryLedger l;
  fill(l);
  l.add_timeline("timeline", "run",
                 {{"stwo::fft_extend<4>(unsigned int const*)", "commit", 8},
                  {"void (anonymous namespace)::hash_leaves(int)", "commit", 6},
                  {"gather", "decommit", 8},
                  {"surprise", "commit", 4},
                  {"fft_extend", "", 100}});
  const ResultTable t = ask_passes(l.reader(), "last");
  EXPECT_EQ(integer_cell(t, pass_row(t, "commit", "lde"), "measured_launches"), 2);
  EXPECT_DOUBLE_EQ(real_cell(t, pass_row(t, "commit", "leaves"), "measured_launches"), 1.5);
  EXPECT_DOUBLE_EQ(real_cell(t, pass_row(t, "commit", "total"), "measured_launches"), 4.5);
  // Two passes of one kernel: only their sum is known.
  EXPECT_TRUE(null_cell(t, pass_row(t, "decommit", "queries of tree 1"), "measured_launches"));
  EXPECT_EQ(integer_cell(t, pass_row(t, "decommit", "total"), "measured_launches"), 2);
  EXPECT_TRUE(has_note(t, "2 passes of stage decommit run kernel gather"));
  EXPECT_TRUE(has_note(t, "kernel surprise ran in stage commit"));
  EXPECT_DOUBLE_EQ(real_cell(t, pass_row(t, "total", "total"), "measured_launches"), 6.5);
}

TEST(Passes, NeedTheNumberOfRequestsForLaunches) {
  QueryLedger l;
  fill(l);
  l.add_timeline("timeline", "", {{"fft_extend", "commit", 8}});
  const ResultTable t = ask_passes(l.reader(), "last");
  EXPECT_TRUE(null_cell(t, pass_row(t, "commit", "lde"), "measured_launches"));
  EXPECT_TRUE(has_note(t, "not linked to a run"));
}

TEST(Passes, PreferCompleteCapturesOfTheirRun) {
  QueryLedger l;
  fill(l);
  l.add_timeline("of the run", "run", {{"fft_extend", "commit", 4}}, "truncated");
  const ResultTable incomplete = ask_passes(l.reader(), "last");
  EXPECT_EQ(integer_cell(incomplete, pass_row(incomplete, "commit", "lde"), "measured_launches"),
            1);
  EXPECT_TRUE(has_note(incomplete, "lower bounds"));
  l.add_timeline("complete", "run", {{"fft_extend", "commit", 8}});
  const ResultTable t = ask_passes(l.reader(), "last");
  EXPECT_EQ(integer_cell(t, pass_row(t, "commit", "lde"), "measured_launches"), 2);
  EXPECT_FALSE(has_note(t, "lower bounds"));
  // Another run of the same plan, workload and environment borrows it.
  l.add_run({.name = "again", .plan = "before", .created_utc = "2026-02-01T00:00:00Z"});
  const ResultTable again = ask_passes(l.reader(), "last");
  EXPECT_EQ(integer_cell(again, pass_row(again, "commit", "lde"), "measured_launches"), 2);
  // Not so a run of another plan.
  l.add_plan("other", kBefore);
  l.add_run({.name = "third", .plan = "other", .created_utc = "2026-03-01T00:00:00Z"});
  const ResultTable other = ask_passes(l.reader(), "last");
  EXPECT_TRUE(null_cell(other, pass_row(other, "commit", "lde"), "measured_launches"));
}

TEST(Passes, ScaleDramBytesOfWholeRequestsOnly) {
  QueryLedger l;
  fill(l);
  l.add_counters("counters", "run",
                 {// Two requests of two launches each, of different sizes.
                  {"fft_extend", "commit", 300.0, 100.0},
                  {"fft_extend", "commit", 100.0, 100.0},
                  {"fft_extend", "", 310.0, 110.0},
                  {"fft_extend", "", 90.0, 90.0},
                  // A value is missing.
                  {"hash_leaves", "commit", 400.0, std::nullopt},
                  // Three launches, where a request makes two.
                  {"gather", "decommit", 1.0, 1.0},
                  {"gather", "decommit", 1.0, 1.0},
                  {"gather", "decommit", 1.0, 1.0}});
  const ResultTable t = ask_passes(l.reader(), "last");
  const size_t lde = pass_row(t, "commit", "lde");
  EXPECT_EQ(integer_cell(t, lde, "dram_bytes"), 600);
  EXPECT_DOUBLE_EQ(real_cell(t, lde, "dram_ratio"), 600.0 / 510);
  EXPECT_TRUE(null_cell(t, pass_row(t, "commit", "leaves"), "dram_bytes"));
  // A part of a stage says nothing about its total.
  EXPECT_TRUE(null_cell(t, pass_row(t, "commit", "total"), "dram_bytes"));
  EXPECT_TRUE(null_cell(t, pass_row(t, "decommit", "total"), "dram_bytes"));
  EXPECT_TRUE(has_note(t, "3 launches of kernel gather"));
}

TEST(Passes, IgnoreCountersInOtherUnits) {
  QueryLedger l;
  fill(l);
  l.add_counters("counters", "run", {{"hash_leaves", "commit", 1.0, 1.0, "Mbyte"}});
  const ResultTable t = ask_passes(l.reader(), "last");
  EXPECT_TRUE(null_cell(t, pass_row(t, "commit", "leaves"), "dram_bytes"));
}

TEST(PassesAgainst, MatchPassesAndSumDifferences) {
  QueryLedger l;
  fill(l);
  l.add_plan("after", {{"commit", "lde", "fft_extend_wide", 100, 300, 0, 50, 1, 0},
                       {"commit", "upper levels", "hash_top", 40, 4, 0, 0, 1, 1},
                       {"decommit", "queries of tree 1", "gather", 10, 5, 0, 0, 1, 0},
                       {"decommit", "queries of tree 2", "gather", 20, 5, 0, 0, 1, 0},
                       {"pow", "proof of work", "grind", 8, 8, 0, 0, 1, 1}});
  const ResultTable t = ask_passes_against(l.reader(), digest("run"), digest("after"));
  EXPECT_EQ(texts(t, "stage"), (Strings{"commit", "commit", "commit", "commit", "decommit",
                                        "decommit", "decommit", "pow", "pow", "total"}));
  const size_t lde = pass_row(t, "commit", "lde");
  EXPECT_EQ(text_cell(t, lde, "kernel_a"), "fft_extend");
  EXPECT_EQ(text_cell(t, lde, "kernel_b"), "fft_extend_wide");
  EXPECT_EQ(integer_cell(t, lde, "output_delta_bytes"), -100);
  EXPECT_EQ(integer_cell(t, lde, "traffic_a_bytes"), 510);
  EXPECT_EQ(integer_cell(t, lde, "launches_delta"), -1);
  EXPECT_DOUBLE_EQ(real_cell(t, lde, "traffic_ratio"), 400.0 / 510);
  // What is gone moves nothing any more.
  const size_t leaves = pass_row(t, "commit", "leaves");
  EXPECT_TRUE(null_cell(t, leaves, "kernel_b"));
  EXPECT_EQ(integer_cell(t, leaves, "traffic_delta_bytes"), -440);
  const size_t fresh = pass_row(t, "commit", "upper levels");
  EXPECT_TRUE(null_cell(t, fresh, "kernel_a"));
  EXPECT_TRUE(null_cell(t, fresh, "traffic_ratio"));
  // Differences of the passes add up to those of the stage, and those to the total.
  for (const std::string column : {"traffic_delta_bytes", "launches_delta", "barriers_delta"}) {
    int64_t of_passes = 0;
    int64_t of_stages = 0;
    for (size_t i = 0; i + 1 < t.rows.size(); ++i) {
      (text_cell(t, i, "pass") == "total" ? of_stages : of_passes) += integer_cell(t, i, column);
    }
    EXPECT_EQ(of_passes, of_stages) << column;
    EXPECT_EQ(of_stages, integer_cell(t, t.rows.size() - 1, column)) << column;
  }
  EXPECT_TRUE(has_note(t, "b: no run of this plan"));
}

TEST(PassesAgainst, KnowsThatBothAreTheSame) {
  QueryLedger l;
  fill(l);
  const ResultTable t = ask_passes_against(l.reader(), "last", digest("before"));
  EXPECT_TRUE(has_note(t, "same plan"));
  EXPECT_EQ(std::count(t.in_text.begin(), t.in_text.end(), "kernel_a"), 0);
  for (size_t i = 0; i < t.rows.size(); ++i)
    EXPECT_EQ(integer_cell(t, i, "traffic_delta_bytes"), 0);
}

}  // namespace
}  // namespace ledger::test

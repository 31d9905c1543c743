// hypotheses, gaps, verdicts, show.

#include <gtest/gtest.h>

#include "tests/ledger/query/query_fixture.hpp"
#include "tests/support/errors.hpp"

namespace ledger::test {
namespace {

using stwo::test::code_of;
using Strings = std::vector<std::string>;

Strings ids(const Strings& names) {
  Strings out;
  for (const std::string& n : names) out.push_back(digest(n));
  return out;
}

TEST(Gaps, CloseOneByOne) {
  QueryLedger l;
  const size_t all = ask_gaps(l.reader()).rows.size();
  EXPECT_EQ(all, 9u * 6u);
  const auto of_wide = [&] {
    Strings out;
    const ResultTable t = ask_gaps(l.reader());
    for (size_t i = 0; i < t.rows.size(); ++i) {
      if (text_cell(t, i, "structural_class") == "wide") out.push_back(text_cell(t, i, "gap"));
    }
    return out;
  };
  EXPECT_EQ(of_wide(), (Strings{"eligible run", "oracle receipt", "timeline capture",
                                "kernel counters", "calibration", "kept verdict"}));
  l.add_plan("plan", {{.stage = "oods", .pass = "p", .kernel = "k"}});
  l.add_run({.name = "run", .plan = "plan"});
  l.add_timeline("timeline", "run", {{"k", "oods", 5}});
  l.add_counters("counters", "run", {{"k", "oods", 1.0, 1.0}});
  l.add_calibration("calibration", "wide");
  EXPECT_EQ(of_wide(), (Strings{"oracle receipt", "kept verdict"}));
  l.add_verdict({.name = "kept"});
  EXPECT_EQ(of_wide(), Strings{"oracle receipt"});
  l.add_verdict({.name = "taken back", .outcome = "rejected", .supersedes = "kept"});
  EXPECT_EQ(of_wide(), (Strings{"oracle receipt", "kept verdict"}));
}

TEST(Verdicts, AreCurrentUnlessAllAreAskedFor) {
  QueryLedger l;
  l.add_verdict({.name = "first", .outcome = "keep", .reasons = {"B", "A", "B"}});
  l.add_verdict({.name = "corrected",
                 .outcome = "inconclusive",
                 .supersedes = "first",
                 .created_utc = "2026-01-03T00:00:00Z",
                 .ratio = 0.9});
  l.add_verdict({.name = "elsewhere",
                 .outcome = "keep",
                 .environment = "other",
                 .created_utc = "2026-01-01T00:00:00Z"});
  const auto found = [&](const VerdictFilter& f) {
    return texts(ask_verdicts(l.reader(), f), "verdict_id");
  };
  EXPECT_EQ(found({}), ids({"corrected", "elsewhere"}));
  EXPECT_EQ(found({.all = true}), ids({"corrected", "first", "elsewhere"}));
  EXPECT_EQ(found({.all = true, .outcome = "keep"}), ids({"first", "elsewhere"}));
  EXPECT_EQ(found({.outcome = "keep"}), ids({"elsewhere"}));
  EXPECT_EQ(found({.environment = digest("other").substr(0, 7)}), ids({"elsewhere"}));
  EXPECT_EQ(found({.all = true, .product = digest("stwo-1")}).size(), 3u);
  EXPECT_EQ(found({.limit = 1}), ids({"corrected"}));
  const ResultTable t = ask_verdicts(l.reader(), {.all = true});
  EXPECT_EQ(text_cell(t, 1, "reasons"), "A B");
  EXPECT_EQ(text_cell(t, 1, "superseded_by"), digest("corrected"));
  EXPECT_TRUE(null_cell(t, 0, "superseded_by"));
  EXPECT_DOUBLE_EQ(real_cell(t, 0, "ratio"), 0.9);
  EXPECT_TRUE(ask_verdicts(l.reader(), {.limit = 1}).truncated);
}

void add_experiment(QueryLedger& l, const std::string& id, const std::string& state) {
  const auto revision = [&](const std::string& revision_id, const std::string& of_state,
                            const Value& supersedes) {
    l.add("experiment", {{"revision_id", revision_id},
                         {"experiment_id", id},
                         {"supersedes", supersedes},
                         {"state", of_state},
                         {"slug", std::string("slug-") + static_cast<char>(id.back() + 32)},
                         {"title", std::string("A title")},
                         {"recorded_utc", std::string("2026-01-01T00:00:00.000Z")},
                         {"program_and_shape", std::string("wide")},
                         {"baseline", std::string("1 ms")},
                         {"dominant_mechanism", std::string("bytes")},
                         {"predicted_movement", std::string("bytes: x < 1 ratio")},
                         {"prediction_json", std::string("[{}]")}});
  };
  revision(id, "draft", std::monostate{});
  if (state == "draft") return;
  std::string next = id;
  next.front() = '1';
  const int64_t row = l.reader().database().query_integer("SELECT max(row) FROM experiment");
  revision(next, state, row);
}

TEST(Hypotheses, AreAllOrTheOpenOnes) {
  QueryLedger l;
  const std::string draft = "01JDY2Q6N8E4C7K5V3M1R9T0XA";
  const std::string open = "01JDY2Q6N8E4C7K5V3M1R9T0XB";
  add_experiment(l, draft, "draft");
  add_experiment(l, open, "open");
  const ResultTable all = ask_hypotheses(l.reader(), false);
  EXPECT_EQ(texts(all, "experiment_id"), (Strings{draft, open}));
  EXPECT_EQ(texts(all, "state"), (Strings{"draft", "open"}));
  const ResultTable only = ask_hypotheses(l.reader(), true);
  EXPECT_EQ(texts(only, "experiment_id"), Strings{open});
  EXPECT_EQ(text_cell(only, 0, "opened_utc"), "2026-01-01T00:00:00.000Z");
}

TEST(Show, KnowsEveryKindOfId) {
  QueryLedger l;
  l.add_plan("plan", {{"oods", "p", "k", 1, 2, 3, 0, 1, 0}});
  l.add_run({.name = "run", .plan = "plan", .flags = {"FLAG_AOT_MISS"}});
  l.add_timeline("timeline", "run", {{"k", "oods", 5}});
  l.add_verdict({.name = "verdict"});
  l.add_calibration("calibration", "wide");
  const std::string experiment = "01JDY2Q6N8E4C7K5V3M1R9T0XA";
  add_experiment(l, experiment, "open");
  const auto kind = [&](const std::string& id) {
    return text_cell(show_id(l.reader(), id.substr(0, 16)), 0, "value");
  };
  // The report's, capture's, ... artifact has the same id and says less.
  EXPECT_EQ(kind(digest("run")), "run");
  EXPECT_EQ(kind("last"), "run");
  EXPECT_EQ(kind(digest("timeline")), "capture");
  EXPECT_EQ(kind(digest("verdict")), "verdict");
  EXPECT_EQ(kind(digest("calibration")), "calibration");
  EXPECT_EQ(kind(digest("plan")), "plan");
  EXPECT_EQ(kind(digest("plan document")), "artifact");
  EXPECT_EQ(kind(digest("stwo-1")), "product");
  EXPECT_EQ(kind(digest("host")), "environment");
  EXPECT_EQ(kind(experiment), "experiment");
  EXPECT_EQ(kind(l.ledger().head()), "entry");
  const ResultTable run = show_id(l.reader(), "last");
  EXPECT_EQ(text_cell(run, find_row(run, {{"item", "flags"}}), "value"), "FLAG_AOT_MISS");
  EXPECT_EQ(text_cell(run, find_row(run, {{"item", "captures"}}), "value"), digest("timeline"));
  const ResultTable plan = show_id(l.reader(), digest("plan"));
  EXPECT_EQ(integer_cell(plan, find_row(plan, {{"item", "traffic"}, {"unit", "bytes"}}), "value"),
            6);
  EXPECT_EQ(code_of([&] { show_id(l.reader(), "000000"); }), "ID_NOT_FOUND");
  EXPECT_EQ(code_of([&] { show_id(l.reader(), "12345"); }), "ID_FORMAT");
}

TEST(Show, NamesWhatAnIdCouldBe) {
  QueryLedger l;
  const std::string shared = "abcdef";
  const auto padded = [&](const std::string& rest) {
    return shared + rest + std::string(64 - shared.size() - rest.size(), '0');
  };
  for (const std::string last : {"7", "8"}) {
    l.add("environment", {{"environment_id", padded(last)},
                          {"kind", std::string("report")},
                          {"canonical_json", std::string("{}")}});
  }
  std::string message;
  EXPECT_EQ(code_of([&] { show_id(l.reader(), shared); }, &message), "ID_AMBIGUOUS");
  EXPECT_NE(message.find("environment " + padded("7")), std::string::npos) << message;
}

}  // namespace
}  // namespace ledger::test

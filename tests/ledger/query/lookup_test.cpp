// From what people type to rows.

#include "ledger/query/lookup.hpp"

#include <gtest/gtest.h>

#include "tests/ledger/query/query_fixture.hpp"
#include "tests/support/errors.hpp"

namespace ledger::test {
namespace {

using stwo::test::code_of;

const std::string kShared = "abcdef0123";

std::string padded(const std::string& prefix) {
  return prefix + std::string(64 - prefix.size(), '0');
}

/// Two environments whose ids begin alike.
void add_twins(QueryLedger& l) {
  for (const std::string last : {"7", "8"}) {
    l.add("environment", {{"environment_id", padded(kShared + last)},
                          {"kind", std::string("report")},
                          {"canonical_json", std::string("{}")}});
  }
}

TEST(RequireId, TakesUniquePrefixesInAnyCase) {
  QueryLedger l;
  l.add_run({.name = "first"});
  const std::string id = digest("first");
  for (const size_t length : {size_t{6}, size_t{12}, size_t{64}}) {
    EXPECT_EQ(require_id(l.reader(), IdKind::kRun, id.substr(0, length)).id, id);
  }
  std::string upper = id.substr(0, 10);
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  EXPECT_EQ(require_id(l.reader(), IdKind::kRun, upper).id, id);
}

TEST(RequireId, RefusesWhatIsNoId) {
  QueryLedger l;
  l.add_run({.name = "first"});
  const std::string id = digest("first");
  for (const std::string& text :
       {std::string(), id.substr(0, 5), std::string("xyzxyz"), id + "0", id.substr(0, 8) + "%",
        std::string("last "), std::string("' OR 1")}) {
    EXPECT_EQ(code_of([&] { require_id(l.reader(), IdKind::kRun, text); }), "ID_FORMAT") << text;
  }
  // A digest does not become another one's prefix by a character beyond it.
  std::string other = id.substr(0, 10);
  other.back() = other.back() == '0' ? '1' : '0';
  std::string message;
  EXPECT_EQ(code_of([&] { require_id(l.reader(), IdKind::kRun, other); }, &message),
            "RUN_NOT_FOUND");
  EXPECT_NE(message.find(other), std::string::npos);
}

TEST(RequireId, NamesTheCandidates) {
  QueryLedger l;
  add_twins(l);
  std::string message;
  EXPECT_EQ(code_of([&] { require_id(l.reader(), IdKind::kEnvironment, kShared); }, &message),
            "ENVIRONMENT_AMBIGUOUS");
  EXPECT_NE(message.find(padded(kShared + "7")), std::string::npos) << message;
  EXPECT_NE(message.find(padded(kShared + "8")), std::string::npos) << message;
  EXPECT_EQ(require_id(l.reader(), IdKind::kEnvironment, kShared + "8").id, padded(kShared + "8"));
}

TEST(RequireId, LastIsTheNewestRun) {
  QueryLedger l;
  EXPECT_EQ(code_of([&] { require_id(l.reader(), IdKind::kRun, "last"); }), "RUN_NOT_FOUND");
  l.add_run({.name = "newest", .created_utc = "2026-03-01T00:00:00Z"});
  l.add_run({.name = "older", .created_utc = "2026-02-01T00:00:00Z"});
  EXPECT_EQ(require_id(l.reader(), IdKind::kRun, "last").id, digest("newest"));
  // Of two at the same time, the one that was added later.
  l.add_run({.name = "twin", .created_utc = "2026-03-01T00:00:00Z"});
  EXPECT_EQ(require_id(l.reader(), IdKind::kRun, "last").id, digest("twin"));
  EXPECT_EQ(code_of([&] { require_id(l.reader(), IdKind::kPlan, "last"); }), "ID_FORMAT");
}

TEST(FindIds, TakesUlidsOfRecords) {
  QueryLedger l;
  const std::string id = "01JDY2Q6N8E4C7K5V3M1R9T0XA";
  l.add("experiment", {{"revision_id", id},
                       {"experiment_id", id},
                       {"state", std::string("draft")},
                       {"slug", std::string("leaf-fusion")},
                       {"title", std::string("Leaves")},
                       {"predicted_movement", std::string()},
                       {"prediction_json", std::string("[]")},
                       {"recorded_utc", std::string("2026-01-01T00:00:00.000Z")}});
  EXPECT_EQ(require_id(l.reader(), IdKind::kExperiment, "01jdy2q6").id, id);
  EXPECT_TRUE(find_ids(l.reader(), IdKind::kBrief, id, 2).empty());
  // I, L, O and U are no digits of theirs.
  EXPECT_EQ(code_of([&] { require_id(l.reader(), IdKind::kExperiment, "01JDYI"); }), "ID_FORMAT");
}

TEST(RequireWorkloads, FindsAllConfigurationsAndNamesWhatThereIs) {
  QueryLedger l;
  std::string message;
  EXPECT_EQ(code_of([&] { require_workloads(l.reader(), "wide_10", ""); }), "WORKLOAD_NOT_FOUND");
  l.add_run({.name = "a", .config = "fast"});
  l.add_run({.name = "b", .config = "secure"});
  EXPECT_EQ(require_workloads(l.reader(), "wide_10", "").size(), 2u);
  EXPECT_EQ(require_workloads(l.reader(), "wide_10", "secure").size(), 1u);
  EXPECT_EQ(code_of([&] { require_workloads(l.reader(), "wide", ""); }, &message),
            "WORKLOAD_NOT_FOUND");
  EXPECT_NE(message.find("wide_10"), std::string::npos) << message;
  EXPECT_EQ(code_of([&] { require_workloads(l.reader(), "wide_10", "slow"); }, &message),
            "WORKLOAD_NOT_FOUND");
  EXPECT_NE(message.find("fast, secure"), std::string::npos) << message;
}

}  // namespace
}  // namespace ledger::test

// The triggers of the schema, by raw SQL: what they let through and what they stop.

#include <map>

#include "ledger/records/record_fields.hpp"
#include "ledger/schema/ledger_schema.hpp"
#include "tests/ledger/records/records_fixture.hpp"

namespace ledger {
namespace {

using Row = std::map<std::string, Value>;

std::string ulid(char last) { return "01JDY2Q6N8E4C7K5V3M1R9T0X" + std::string(1, last); }
std::string time_at(int second) {
  return "2026-01-01T00:00:" + std::string(second < 10 ? "0" : "") + std::to_string(second) +
         ".000Z";
}
const Value kNull = std::monostate{};

class RecordRules : public ::testing::TestWithParam<RecordKind> {
 protected:
  RecordRules() : database_(":memory:", OpenMode::kCreate) {
    for (const EmbeddedSql& file : ledger_schema_files()) database_.execute(file.text);
  }

  std::string table() const { return std::string(record_form(GetParam()).table); }

  int64_t insert(const std::string& into, const Row& row) {
    std::string names;
    std::string places;
    for (const auto& [name, value] : row) {
      names += (names.empty() ? "" : ", ") + name;
      places += places.empty() ? "?" : ", ?";
    }
    Statement s =
        database_.prepare("INSERT INTO " + into + " (" + names + ") VALUES (" + places + ")");
    int index = 0;
    for (const auto& [name, value] : row) s.bind_value(++index, value);
    s.run();
    return database_.last_insert_row();
  }
  /// The message, or "" if the row went in.
  std::string refusal(const std::string& into, const Row& row) {
    try {
      insert(into, row);
      return "";
    } catch (const DatabaseError& e) {
      EXPECT_EQ(e.code(), "LEDGER_CONSTRAINT");
      return e.what();
    }
  }
  void expect_refused(const Row& row, const std::string& words) {
    const std::string message = refusal(table(), row);
    EXPECT_NE(message.find(table() + ": "), std::string::npos) << message;
    EXPECT_NE(message.find(words), std::string::npos) << message;
  }
  void expect_accepted(const Row& row) { EXPECT_EQ(refusal(table(), row), ""); }

  /// A complete draft with this id.
  Row draft(char id = 'A') const {
    Row row = {
        {"revision_id", ulid(id)},       {std::string(record_form(GetParam()).id_column), ulid(id)},
        {"state", std::string("draft")}, {"slug", std::string("slug")},
        {"title", std::string("title")}, {"recorded_utc", time_at(1)}};
    for (const RecordField& f : record_form(GetParam()).fields) {
      row[std::string(f.column)] = "text of " + std::string(f.column);
      if (f.prediction) row["prediction_json"] = std::string("[{}]");
    }
    return row;
  }
  /// The same as a revision of what is in row `supersedes`.
  static Row after(Row row, int64_t supersedes, char revision, const std::string& state,
                   int second) {
    row["supersedes"] = supersedes;
    row["revision_id"] = ulid(revision);
    row["state"] = state;
    row["recorded_utc"] = time_at(second);
    return row;
  }
  Row open_row() {
    draft_row_ = insert(table(), draft());
    return after(draft(), draft_row_, 'B', "open", 2);
  }
  Row decided_row() {
    open_row_ = insert(table(), open_row());
    Row row = after(draft(), open_row_, 'C', "decided", 3);
    row["decision"] = std::string("keep");
    row["no_verdict_reason"] = std::string("no judge");
    return row;
  }
  Row correction_row() {
    Row row = decided_row();
    decided_row_ = insert(table(), row);
    row = after(row, decided_row_, 'D', "decided", 4);
    row["correction"] = std::string("a typing error");
    return row;
  }
  Row link(char id = 'L', const std::string& kind = "verdict") const {
    return {{"link_id", ulid(id)},       {"record_kind", table()},
            {"record_id", ulid('A')},    {"role", std::string("abba")},
            {"target_kind", kind},       {"target_id", std::string(64, 'a')},
            {"recorded_utc", time_at(2)}};
  }
  Row retraction(int64_t of, char id, int second) const {
    Row row = link(id);
    row["retracts"] = of;
    row["recorded_utc"] = time_at(second);
    return row;
  }

  Database database_;
  int64_t draft_row_ = 0;
  int64_t open_row_ = 0;
  int64_t decided_row_ = 0;
};

/// What briefs do not have.
class ExperimentRules : public RecordRules {};
INSTANTIATE_TEST_SUITE_P(, ExperimentRules, ::testing::Values(RecordKind::kExperiment), kind_name);

TEST_P(RecordRules, ALifeIsAccepted) {
  Row row = correction_row();
  insert(table(), row);
  EXPECT_EQ(database_.query_integer("SELECT count(*) FROM " + table()), 4);
  EXPECT_EQ(database_.query_integer("SELECT count(*) FROM " + table() + "_tip"), 1);
  EXPECT_EQ(database_.query_text("SELECT correction FROM " + table() + "_tip"), "a typing error");
}

TEST_P(RecordRules, FirstRevisions) {
  Row row = draft();
  row["state"] = std::string("open");
  expect_refused(row, "a first revision is a draft");
  row = draft();
  row[std::string(record_form(GetParam()).id_column)] = ulid('Z');
  expect_refused(row, "a first revision gives the");
  expect_accepted(draft());
  EXPECT_NE(refusal(table(), draft()).find("UNIQUE"), std::string::npos);
}

TEST_P(RecordRules, Successors) {
  insert(table(), draft());
  const int64_t other = insert(table(), draft('Y'));
  expect_refused(after(draft(), 77, 'B', "draft", 2), "the superseded revision is missing");
  expect_refused(after(draft(), other, 'B', "draft", 2), "of another " + table());
  expect_refused(after(draft(), 1, 'B', "draft", 0), "older than the one it supersedes");
  expect_accepted(after(draft(), 1, 'B', "draft", 1));
  expect_refused(after(draft(), 1, 'C', "draft", 2), "has a successor");
}

TEST_P(RecordRules, StatesGoForward) {
  Row row = open_row();
  Row decided = after(draft(), draft_row_, 'X', "decided", 2);
  decided["decision"] = std::string("keep");
  decided["no_verdict_reason"] = std::string("no judge");
  expect_refused(decided, "a draft is opened before it is decided");
  const int64_t open = insert(table(), row);
  expect_refused(after(draft(), open, 'X', "draft", 3), "no way back to a draft");
  const int64_t open2 = insert(table(), after(draft(), open, 'C', "open", 3));
  decided = after(decided, open2, 'D', "decided", 4);
  const int64_t end = insert(table(), decided);
  expect_refused(after(draft(), end, 'X', "open", 5), "a decision stays");
  expect_refused(after(draft(), end, 'X', "draft", 5), "no way back to a draft");
}

TEST_P(RecordRules, OpeningNeedsFields) {
  Row row = open_row();
  for (const RecordField& f : record_form(GetParam()).fields) {
    if (f.prediction) continue;
    for (const Value& nothing : {kNull, Value{std::string()}, Value{std::string("  ")}}) {
      Row without = row;
      without[std::string(f.column)] = nothing;
      // A draft may be incomplete.
      if (f.needed_to_open) {
        expect_refused(without, "needed to leave the draft");
      }
    }
  }
  Row draft_again = after(draft(), draft_row_, 'E', "draft", 2);
  for (const RecordField& f : record_form(GetParam()).fields) {
    draft_again[std::string(f.column)] = kNull;
    if (f.prediction) draft_again["prediction_json"] = kNull;
  }
  const int64_t empty = insert(table(), draft_again);
  row["supersedes"] = empty;
  expect_accepted(row);
}

TEST_P(ExperimentRules, OpeningNeedsAPrediction) {
  Row row = open_row();
  row["prediction_json"] = std::string("[]");
  expect_refused(row, "nothing is opened without a prediction");
  row["prediction_json"] = kNull;
  row["predicted_movement"] = kNull;
  expect_refused(row, "nothing is opened without a prediction");
  row = after(draft(), draft_row_, 'B', "draft", 2);
  row["prediction_json"] = std::string("{}");
  expect_refused(row, "the prediction is no list");
  row["prediction_json"] = std::string("null");
  expect_refused(row, "the prediction is no list");
  row["prediction_json"] = kNull;
  EXPECT_NE(refusal(table(), row), "") << "text and JSON go together";
}

TEST_P(RecordRules, TheHypothesisStands) {
  const int64_t open = insert(table(), open_row());
  const Row same = after(draft(), open, 'C', "open", 3);
  Row decided = after(draft(), open, 'C', "decided", 3);
  decided["decision"] = std::string("keep");
  decided["no_verdict_reason"] = std::string("no judge");
  for (const RecordField& f : record_form(GetParam()).fields) {
    const std::string column(f.column);
    for (Row row : {same, decided}) {
      row[column] = std::string("another text");
      if (f.hypothesis) {
        expect_refused(row, "as they were opened");
      }
    }
    if (f.prediction) {
      Row row = same;
      row["prediction_json"] = std::string("[{},{}]");
      expect_refused(row, "as they were opened");
    }
  }
  Row row = same;
  for (const RecordField& f : record_form(GetParam()).fields) {
    if (!f.hypothesis) row[std::string(f.column)] = std::string("another text");
  }
  row["title"] = std::string("another title");
  row["slug"] = std::string("another-slug");
  row["number"] = int64_t{7};
  expect_accepted(row);
}

TEST_P(RecordRules, DecisionsBelongToTheDecided) {
  Row row = open_row();
  for (const char* column : {"decision", "decision_reason", "no_verdict_reason"}) {
    Row with = row;
    with[column] = std::string("keep");
    expect_refused(with, "belong to the state decided");
  }
  Row with = row;
  with["verdict_link"] = insert("record_link", link());
  expect_refused(with, "belong to the state decided");
  with = row;
  with["correction"] = std::string("x");
  expect_refused(with, "belong to the state decided");
  Row first = draft('W');
  first["correction"] = std::string("x");
  expect_refused(first, "belong to the state decided");
}

TEST_P(RecordRules, DecisionsRestOnAVerdictOrAReason) {
  Row row = decided_row();
  row["decision"] = kNull;
  expect_refused(row, "what is decided has a decision");
  row["decision"] = std::string("perhaps");
  EXPECT_NE(refusal(table(), row), "");
  row["decision"] = std::string("keep");
  for (const Value& nothing : {kNull, Value{std::string()}, Value{std::string(" ")}}) {
    row["no_verdict_reason"] = nothing;
    expect_refused(row, "rests on a verdict");
  }
  row["no_verdict_reason"] = kNull;
  row["verdict_link"] = int64_t{55};
  expect_refused(row, "no link from this " + table() + " to a verdict");
  row["verdict_link"] = insert("record_link", link('1', "run"));
  expect_refused(row, "no link from this " + table() + " to a verdict");
  Row foreign = link('2');
  foreign["record_id"] = ulid('Y');
  row["verdict_link"] = insert("record_link", foreign);
  expect_refused(row, "no link from this " + table() + " to a verdict");
  foreign["link_id"] = ulid('3');
  foreign["record_id"] = ulid('A');
  foreign["record_kind"] =
      std::string(GetParam() == RecordKind::kExperiment ? "brief" : "experiment");
  row["verdict_link"] = insert("record_link", foreign);
  expect_refused(row, "no link from this " + table() + " to a verdict");
  row["verdict_link"] = insert("record_link", link('4'));
  expect_accepted(row);
}

TEST_P(RecordRules, RetractedVerdictsCarryNoLaterDecision) {
  Row row = decided_row();
  row["no_verdict_reason"] = kNull;
  const int64_t verdict = insert("record_link", link());
  // At the same time: before it.
  const int64_t retraction_row = insert("record_link", retraction(verdict, 'R', 3));
  row["verdict_link"] = verdict;
  expect_refused(row, "retracted before the decision");
  row["verdict_link"] = retraction_row;
  expect_refused(row, "no link from this " + table() + " to a verdict");
  // Rows arrive in any order when ledgers are merged: a later retraction is no obstacle.
  const int64_t second = insert("record_link", link('2'));
  insert("record_link", retraction(second, 'S', 4));
  row["verdict_link"] = second;
  expect_accepted(row);
}

TEST_P(RecordRules, OnlyWhatIsDecidedIsCorrected) {
  Row row = decided_row();
  row["correction"] = std::string("x");
  expect_refused(row, "only what is decided can be corrected");
}

TEST_P(RecordRules, Corrections) {
  Row row = correction_row();
  Row silent = row;
  for (const Value& nothing : {kNull, Value{std::string()}, Value{std::string("  ")}}) {
    silent["correction"] = nothing;
    silent["decision"] = std::string("reject");
    expect_refused(silent, "changes only by a correction");
  }
  const int64_t corrected = insert(table(), row);
  row = after(row, corrected, 'E', "decided", 5);
  row["decision"] = std::string("reject");
  expect_refused(row, "say in correction, anew, why");
  row["correction"] = std::string("another reason");
  expect_accepted(row);
}

TEST_P(RecordRules, ANumberIsNoCorrection) {
  Row row = correction_row();
  row["correction"] = kNull;
  row["number"] = int64_t{4};
  Row more = row;
  more["title"] = std::string("another title");
  expect_refused(more, "changes only by a correction");
  for (const RecordField& f : record_form(GetParam()).fields) {
    if (f.hypothesis) continue;
    more = row;
    more[std::string(f.column)] = std::string("more");
    expect_refused(more, "changes only by a correction");
  }
  for (const char* column : {"slug", "decision_reason", "no_verdict_reason"}) {
    more = row;
    more[column] = std::string("more");
    expect_refused(more, "changes only by a correction");
  }
  more = row;
  more["decision"] = std::string("reject");
  expect_refused(more, "changes only by a correction");
  const int64_t numbered = insert(table(), row);
  row = after(row, numbered, 'E', "decided", 5);
  row["number"] = int64_t{5};
  expect_refused(row, "changes only by a correction");
}

TEST_P(RecordRules, Values) {
  const auto bad = [&](const std::string& column, const Value& value) {
    Row row = draft();
    row[column] = value;
    EXPECT_NE(refusal(table(), row), "") << column;
  };
  bad("state", std::string("closed"));
  bad("slug", std::string("Slug"));
  bad("slug", std::string("1slug"));
  bad("slug", std::string("a/b"));
  bad("slug", std::string());
  bad("number", int64_t{0});
  bad("title", std::string());
  bad("recorded_utc", std::string("2026-01-01T00:00:00Z"));
  bad("recorded_utc", std::string("yesterday"));
  bad("revision_id", std::string("short"));
  bad("title", kNull);
}

TEST_P(RecordRules, Links) {
  const auto bad = [&](const std::string& column, const Value& value) {
    Row row = link();
    row[column] = value;
    EXPECT_NE(refusal("record_link", row), "") << column;
  };
  bad("record_kind", std::string("run"));
  bad("role", std::string("proof"));
  bad("target_kind", std::string("product"));
  bad("target_id", std::string("abc"));
  bad("link_id", std::string("abc"));
  bad("record_id", std::string("abc"));
  bad("note", std::string());
  bad("recorded_utc", std::string("now"));
}

TEST_P(RecordRules, Retractions) {
  const int64_t first = insert("record_link", link());
  const auto refused = [&](const Row& row, const std::string& words) {
    const std::string message = refusal("record_link", row);
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  refused(retraction(99, 'R', 3), "missing or a retraction itself");
  for (const auto& [column, value] :
       Row{{"record_kind",
            std::string(GetParam() == RecordKind::kExperiment ? "brief" : "experiment")},
           {"record_id", ulid('Y')},
           {"role", std::string("supports")},
           {"target_kind", std::string("run")},
           {"target_id", std::string(64, 'b')}}) {
    Row row = retraction(first, 'R', 3);
    row[column] = value;
    refused(row, "repeats what it retracts");
  }
  EXPECT_EQ(database_.query_integer("SELECT count(*) FROM current_link"), 1);
  const int64_t second = insert("record_link", retraction(first, 'R', 3));
  EXPECT_EQ(database_.query_integer("SELECT count(*) FROM current_link"), 0);
  refused(retraction(first, 'S', 4), "retracted already");
  refused(retraction(second, 'S', 4), "missing or a retraction itself");
}

TEST_P(ExperimentRules, Views) {
  insert(table(), open_row());
  insert("record_link", link('1'));
  const int64_t retracted = insert("record_link", link('2'));
  insert("record_link", retraction(retracted, 'R', 3));
  Row support = link('3', "run");
  support["role"] = std::string("supports");
  insert("record_link", support);
  Row other = link('4', "brief");
  other["role"] = std::string("contradicts");
  other["target_id"] = ulid('Y');
  insert("record_link", other);
  insert(table(), draft('Y'));
  Statement board = database_.prepare(
      "SELECT state, runs, captures, verdicts, calibrations, plans, artifacts, records FROM "
      "experiment_board WHERE experiment_id = ?1");
  board.bind(1, std::string_view(ulid('A')));
  ASSERT_TRUE(board.step());
  EXPECT_EQ(board.string(0), "open");
  const int64_t expected[] = {1, 0, 1, 0, 0, 0, 1};
  for (int i = 0; i < 7; ++i) EXPECT_EQ(board.integer(i + 1), expected[i]) << i;
  EXPECT_EQ(database_.query_integer("SELECT count(*) FROM experiment_board"), 2);
  Statement open = database_.prepare(
      "SELECT experiment_id, opened_utc, supporting, contradicting FROM open_hypotheses");
  ASSERT_TRUE(open.step());
  EXPECT_EQ(open.string(0), ulid('A'));
  EXPECT_EQ(open.string(1), time_at(2));
  EXPECT_EQ(open.integer(2), 1);
  EXPECT_EQ(open.integer(3), 1);
  EXPECT_FALSE(open.step());
}

INSTANTIATE_BOTH_KINDS(RecordRules);

}  // namespace
}  // namespace ledger

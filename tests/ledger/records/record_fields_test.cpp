#include "ledger/records/record_fields.hpp"

#include <gtest/gtest.h>

#include <set>

#include "ledger/db/database.hpp"
#include "ledger/schema/ledger_schema.hpp"
#include "tests/ledger/records/records_fixture.hpp"

namespace ledger {
namespace {

std::vector<std::string> headings(RecordKind kind) {
  std::vector<std::string> out;
  for (const RecordField& f : record_form(kind).fields) out.emplace_back(f.heading);
  return out;
}

TEST(RecordFields, AskWhatEveryHypothesisStates) {
  // The eleventh, the decision, has a section of its own.
  EXPECT_EQ(
      headings(RecordKind::kExperiment),
      (std::vector<std::string>{"program and shape", "binary/module/toolchain/device identities",
                                "verified-request and device-stage baseline", "dominant mechanism",
                                "predicted launches/passes/bytes/counter movement", "code change",
                                "exact parity gates", "instrumented diagnostic result",
                                "uninstrumented ABBA result", "peak memory and fallback delta"}));
  EXPECT_EQ(
      headings(RecordKind::kBrief),
      (std::vector<std::string>{
          "program families and target GPUs", "correctness and final oracle",
          "measurement boundary and current profile", "ProofProgram nodes and transcript barriers",
          "resource lifetime/alias table", "accounted peak and in-flight multiplier",
          "module and plan cache identity", "stream/event dependency graph",
          "graph-capture regions and parameter updates", "global-memory passes and bytes by stage",
          "host/device transfer and synchronization plan", "failure/unwind ownership",
          "predicted structural-class effects", "validation and ABBA plan"}));
}

TEST(RecordFields, AreColumnsOfTheSchema) {
  Database database(":memory:", OpenMode::kCreate);
  for (const EmbeddedSql& file : ledger_schema_files()) database.execute(file.text);
  for (const RecordKind kind : {RecordKind::kExperiment, RecordKind::kBrief}) {
    const RecordForm& form = record_form(kind);
    std::set<std::string> columns;
    Statement select = database.prepare("SELECT name FROM pragma_table_info(?1)");
    select.bind(1, form.table);
    while (select.step()) columns.insert(select.string(0));
    EXPECT_TRUE(columns.contains(std::string(form.id_column)));
    std::set<std::string> known = {
        "row",        "revision_id",  "supersedes",        "state",          "slug",
        "number",     "title",        "recorded_utc",      "decision",       "decision_reason",
        "correction", "verdict_link", "no_verdict_reason", "prediction_json"};
    known.insert(std::string(form.id_column));
    for (const RecordField& f : form.fields) {
      EXPECT_TRUE(columns.contains(std::string(f.column))) << f.column;
      known.insert(std::string(f.column));
    }
    for (const std::string& c : columns) EXPECT_TRUE(known.contains(c)) << c;
  }
}

TEST(RecordFields, FoundByHeadingOrColumn) {
  const RecordKind e = RecordKind::kExperiment;
  EXPECT_EQ(require_field(e, "program and shape").column, "program_and_shape");
  EXPECT_EQ(require_field(e, "program_and_shape").column, "program_and_shape");
  EXPECT_EQ(require_field(e, "Uninstrumented abba result").column, "abba_result");
  EXPECT_EQ(require_field(RecordKind::kBrief, "stream/event dependency graph").column,
            "stream_event_graph");
  std::string message;
  EXPECT_EQ(code_of([&] { require_field(e, "shape"); }, &message), "RECORD_FIELD");
  EXPECT_NE(message.find("'peak memory and fallback delta'"), std::string::npos);
  EXPECT_EQ(code_of([&] { require_field(e, "stream_event_graph"); }), "RECORD_FIELD");
  EXPECT_EQ(code_of([&] { require_field(e, "decision"); }, &message), "RECORD_FIELD");
  EXPECT_NE(message.find("decide the experiment"), std::string::npos) << message;
  EXPECT_EQ(code_of([&] { require_field(e, "predicted_movement"); }, &message), "RECORD_FIELD");
  EXPECT_NE(message.find("list of predictions"), std::string::npos) << message;
}

}  // namespace
}  // namespace ledger

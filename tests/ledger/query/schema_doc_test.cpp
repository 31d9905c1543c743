// The description of the schema, and docs/ledger-schema.md.

#include "ledger/query/schema_doc.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "ledger/query/saved_queries.hpp"
#include "tests/support/errors.hpp"

namespace ledger {
namespace {

using nlohmann::json;
using stwo::test::code_of;
using Strings = std::vector<std::string>;

constexpr EmbeddedSql kSmall[] = {
    {"0001_small.sql",
     "-- A remark about the file.\n"
     "\n"
     "-- table: Things. They\n"
     "-- have parts.\n"
     "CREATE TABLE thing (\n"
     "  row INTEGER PRIMARY KEY,  -- order of appending\n"
     "  id TEXT NOT NULL UNIQUE CHECK (length(id) = 64),  -- its -- id\n"
     "  kind TEXT CHECK (kind IN ('a', 'b, (c)')),  -- a or b; NULL: neither\n"
     "  flag INTEGER NOT NULL CHECK (flag IN (0, 1)),  -- 1: yes\n"
     "  share REAL CHECK (share BETWEEN 0 AND 1),  -- of it\n"
     "  size INTEGER CHECK (size >= 0),  -- bytes\n"
     "  note TEXT CHECK (note <> ''),  -- one line\n"
     "  body TEXT CHECK (json_valid(body)),  -- JSON\n"
     "  odd INTEGER CHECK (odd % 2 = 1)  -- not even\n"
     ") STRICT;\n"
     "CREATE INDEX thing_kind ON thing (kind, flag);\n"
     "CREATE TRIGGER thing_odd BEFORE INSERT ON thing BEGIN SELECT 1; END;\n"},
    {"0002_more.sql",
     "-- table: Parts.\n"
     "CREATE TABLE part (\n"
     "  row INTEGER PRIMARY KEY,  -- order\n"
     "  thing INTEGER NOT NULL REFERENCES thing (row),  -- whose\n"
     "  ordinal INTEGER NOT NULL,  -- which\n"
     "  UNIQUE (thing, ordinal),\n"
     "  CHECK (ordinal < 5\n"
     "         OR thing > 1)\n"
     ") STRICT;\n"
     "-- view: Counts.\n"
     "CREATE VIEW counts AS\n"
     "SELECT\n"
     "  t.id AS id,  -- whose\n"
     "  count(*) AS parts  -- how many\n"
     "FROM thing AS t JOIN part AS p ON p.thing = t.row\n"
     "GROUP BY t.id;\n"}};

const ColumnDoc& column(const ObjectDoc& o, const std::string& name) {
  return *std::find_if(o.columns.begin(), o.columns.end(),
                       [&](const ColumnDoc& c) { return c.name == name; });
}

TEST(DescribeSchema, ReadsTextsAndConstraints) {
  const auto doc = describe_schema(kSmall);
  ASSERT_EQ(doc.size(), 3u);
  const ObjectDoc& thing = doc[0];
  EXPECT_EQ(thing.name, "thing");
  EXPECT_EQ(thing.text, "Things. They have parts.");
  EXPECT_EQ(column(thing, "row").constraints, Strings{"primary key"});
  EXPECT_FALSE(column(thing, "row").may_be_null);
  EXPECT_EQ(column(thing, "id").text, "its -- id");
  EXPECT_EQ(column(thing, "id").constraints, (Strings{"unique", "64 characters"}));
  EXPECT_EQ(column(thing, "kind").constraints, Strings{"a, b, (c)"});
  EXPECT_TRUE(column(thing, "kind").may_be_null);
  EXPECT_EQ(column(thing, "flag").constraints, Strings{"0, 1"});
  EXPECT_EQ(column(thing, "share").constraints, Strings{"0 to 1"});
  EXPECT_EQ(column(thing, "size").constraints, Strings{"at least 0"});
  EXPECT_EQ(column(thing, "note").constraints, Strings{"not empty"});
  EXPECT_EQ(column(thing, "body").constraints, Strings{"JSON"});
  EXPECT_EQ(column(thing, "odd").constraints, Strings{"`odd % 2 = 1`"});
  EXPECT_EQ(thing.indexes, Strings{"thing_kind (kind, flag)"});
  const ObjectDoc& part = doc[1];
  EXPECT_EQ(column(part, "thing").references, "thing");
  EXPECT_EQ(part.constraints,
            (Strings{"unique together: thing, ordinal", "`ordinal < 5 OR thing > 1`"}));
  const ObjectDoc& counts = doc[2];
  EXPECT_TRUE(counts.is_view);
  EXPECT_EQ(counts.text, "Counts.");
  EXPECT_EQ(column(counts, "parts").text, "how many");
}

TEST(LedgerSchemaDoc, ExplainsEverything) {
  EXPECT_GT(ledger_schema_doc().size(), 30u);
  for (const ObjectDoc& o : ledger_schema_doc()) {
    EXPECT_FALSE(o.text.empty()) << o.name;
    for (const ColumnDoc& c : o.columns) EXPECT_FALSE(c.text.empty()) << o.name << "." << c.name;
  }
}

TEST(TraceSchemaDoc, ExplainsEveryTableAndView) {
  EXPECT_GT(trace_schema_doc().size(), 20u);
  for (const ObjectDoc& o : trace_schema_doc()) {
    EXPECT_FALSE(o.text.empty()) << o.name;
    // Columns of views have the names of another program's export.
    if (o.is_view) continue;
    for (const ColumnDoc& c : o.columns) EXPECT_FALSE(c.text.empty()) << o.name << "." << c.name;
  }
}

TEST(RequireSchemaObject, FindsBothSchemas) {
  EXPECT_EQ(require_schema_object("run").name, "run");
  EXPECT_EQ(require_schema_object("trace.meta").columns.size(), 2u);
  EXPECT_EQ(require_schema_object("meta").columns.size(), 3u);
  for (const std::string name : {"", "gpu_op", "trace.run", "RUN", "trace."}) {
    EXPECT_EQ(code_of([&] { require_schema_object(name); }), "SCHEMA_UNKNOWN") << name;
  }
}

TEST(SchemaJson, HasEverythingOrOneObject) {
  const json all = json::parse(schema_json(nullptr));
  EXPECT_EQ(all["schema"], "stwo_ledger_schema_v1");
  EXPECT_EQ(all["objects"].size(), ledger_schema_doc().size());
  EXPECT_EQ(all["trace_objects"].size(), trace_schema_doc().size());
  EXPECT_EQ(all["saved_queries"].size(), saved_queries().size());
  EXPECT_EQ(all["entry_kinds"].size(), entry_kinds().size());
  const json one = json::parse(schema_json(&require_schema_object("run")));
  ASSERT_EQ(one["objects"].size(), 1u);
  EXPECT_EQ(one["trace_objects"].size(), 0u);
  const json& run = one["objects"][0];
  EXPECT_EQ(run["columns"][0]["name"], "row");
  EXPECT_EQ(run["columns"][1]["constraints"], json::array({"unique", "64 characters"}));
}

TEST(SchemaMarkdown, IsDocsLedgerSchema) {
  std::ifstream file(STWO_TEST_LEDGER_SCHEMA_MD, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  const std::string made = schema_markdown();
  EXPECT_TRUE(text.str() == made)
      << "docs/ledger-schema.md is not what `ledger schema --markdown` prints; write it again";
  for (const SavedQuery& q : saved_queries()) {
    EXPECT_NE(made.find("`" + q.name + "`"), std::string::npos) << q.name;
  }
  // A table in a Markdown table would break it.
  std::istringstream lines(made);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    EXPECT_TRUE(line.ends_with(" |")) << line;
  }
}

}  // namespace
}  // namespace ledger

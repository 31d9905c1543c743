// Tables as text, JSON and CSV.

#include "ledger/query/result_table.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "tests/support/errors.hpp"

namespace ledger {
namespace {

using nlohmann::json;
using stwo::test::code_of;

const std::string kDigest = std::string(60, 'a') + "0123";

ResultTable one_row(const std::string& column, Value value) {
  ResultTable t;
  t.question = "q";
  t.columns = {column};
  t.rows = {{std::move(value)}};
  return t;
}

/// "header|cell", without the blanks that align them.
std::string shown(const std::string& column, Value value) {
  std::string out;
  for (const char c : table_text(one_row(column, std::move(value)))) {
    const bool first = out.empty() || out.back() == '|';
    if (c == ' ' && first) continue;
    out += c == '\n' ? '|' : c;
  }
  out.pop_back();
  return out;
}

TEST(TableText, ShowsUnitsByTheColumnsName) {
  EXPECT_EQ(shown("verified_request_ns", int64_t{1'234'567}), "verified_request ms|1.235");
  EXPECT_EQ(shown("ns", int64_t{1000}), "ms|0.001");
  EXPECT_EQ(shown("gap_ns", int64_t{-1'000'000}), "gap ms|-1.000");
  EXPECT_EQ(shown("peak_bytes", int64_t{3 << 20}), "peak|3.0 MiB");
  EXPECT_EQ(shown("bytes", int64_t{-2048}), "bytes|-2.0 KiB");
  EXPECT_EQ(shown("ratio", 0.123456), "ratio|0.1235");
  EXPECT_EQ(shown("dram_ratio", int64_t{2}), "dram_ratio|2.0000");
  EXPECT_EQ(shown("mean_share", 0.5), "mean_share|50.0%");
  EXPECT_EQ(shown("d", 0.000012345678), "d|1.23457e-05");
  // Not every name that ends like a unit is one.
  EXPECT_EQ(shown("columns", int64_t{5}), "columns|5");
  EXPECT_EQ(shown("operations", int64_t{1'000'000}), "operations|1000000");
}

TEST(TableText, ShortensDigestsAndKeepsOtherTexts) {
  EXPECT_EQ(shown("run_id", kDigest), "run_id|aaaaaaaaaaaa");
  EXPECT_EQ(shown("anything", kDigest), "anything|aaaaaaaaaaaa");
  EXPECT_EQ(shown("source_commit", std::string(40, 'b')), "source_commit|bbbbbbbbbbbb");
  // ULIDs begin with the time: their beginnings do not tell them apart.
  EXPECT_EQ(shown("experiment_id", std::string("01M8QGRRHT91PGB3XGYXS3398Z")),
            "experiment_id|01M8QGRRHT91PGB3XGYXS3398Z");
  EXPECT_EQ(shown("text", std::string("two\nlines\t.")), "text|two lines .");
  EXPECT_EQ(shown("none", std::monostate{}), "none|-");
  EXPECT_EQ(shown("blob", Blob(5, 1)), "blob|(5 bytes)");
}

TEST(TableText, SaysWhatItIsAboutAndWhatToKnow) {
  ResultTable t;
  t.columns = {"a"};
  EXPECT_EQ(table_text(t), "no rows\n");
  t.about = {{"run_id", kDigest}, {"total_ns", int64_t{5'000'000}}};
  t.notes = {"one", "two\nlines"};
  EXPECT_EQ(table_text(t),
            "run_id    aaaaaaaaaaaa\ntotal ms  5.000\n\nno rows\nnote: one\nnote: two lines\n");
}

TEST(TableText, ShowsOnlyTheColumnsForPeople) {
  ResultTable t;
  t.columns = {"a", "b", "c"};
  t.rows = {{int64_t{1}, int64_t{2}, int64_t{3}}};
  t.in_text = {"c", "a"};
  EXPECT_EQ(table_text(t), "a  c\n1  3\n");
  EXPECT_EQ(json::parse(table_json(t))["rows"][0]["b"], 2);
  EXPECT_EQ(table_csv(t), "a,b,c\r\n1,2,3\r\n");
}

TEST(TableText, TakesTheUnitFromTheRowWhereThereIsOne) {
  ResultTable t;
  t.columns = {"item", "unit", "a", "delta"};
  t.in_text = {"item", "a", "delta"};
  t.rows = {{std::string("time"), std::string("ns"), int64_t{2'000'000}, int64_t{-1'000'000}},
            {std::string("size"), std::string("bytes"), int64_t{2048}, std::monostate{}},
            {std::string("launches"), std::string("count"), int64_t{31}, int64_t{0}},
            {std::string("id"), std::monostate{}, kDigest, std::monostate{}}};
  EXPECT_EQ(table_text(t),
            "item                 a      delta\n"
            "time          2.000 ms  -1.000 ms\n"
            "size           2.0 KiB          -\n"
            "launches            31          0\n"
            "id        aaaaaaaaaaaa          -\n");
}

TEST(TableJson, HasFullValuesAndTheirTypes) {
  ResultTable t;
  t.question = "q";
  t.columns = {"run_id", "ns", "ratio", "none", "blob", "far", "bad"};
  t.rows = {{kDigest, std::numeric_limits<int64_t>::max(), 0.1, std::monostate{}, Blob{0xab, 0x01},
             -std::numeric_limits<double>::infinity(), std::string("\xff")}};
  t.truncated = true;
  t.notes = {"n"};
  t.about = {{"run_id", kDigest}, {"n_steady", int64_t{5}}};
  const std::string text = table_json(t);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const json j = json::parse(text);
  EXPECT_EQ(j["schema"], "stwo_ledger_table_v1");
  EXPECT_EQ(j["question"], "q");
  EXPECT_EQ(j["about"], (json{{"run_id", kDigest}, {"n_steady", 5}}));
  EXPECT_EQ(j["columns"].size(), 7u);
  EXPECT_EQ(j["rows"].size(), 1u);
  const json& row = j["rows"][0];
  EXPECT_EQ(row["run_id"], kDigest);
  EXPECT_TRUE(row["ns"].is_number_integer());
  EXPECT_EQ(row["ns"], std::numeric_limits<int64_t>::max());
  EXPECT_EQ(row["ratio"], 0.1);
  EXPECT_TRUE(row["none"].is_null());
  EXPECT_EQ(row["blob"], "ab01");
  EXPECT_EQ(row["far"], "-Infinity");
  EXPECT_EQ(row["bad"], "\xef\xbf\xbd");
  EXPECT_EQ(j["truncated"], true);
  EXPECT_EQ(j["notes"], json::array({"n"}));
}

TEST(TableCsv, FollowsRfc4180) {
  ResultTable t;
  t.columns = {"plain", "with,comma"};
  t.rows = {{std::string("a\"b"), std::string("x,y")},
            {std::string("two\r\nlines"), std::monostate{}},
            {std::string("=1+2"), std::string("@-+")},
            {std::string(), 0.25},
            {int64_t{-1}, Blob{0x0f}}};
  EXPECT_EQ(table_csv(t),
            "plain,\"with,comma\"\r\n"
            "\"a\"\"b\",\"x,y\"\r\n"
            "\"two\r\nlines\",\r\n"
            "=1+2,@-+\r\n"
            "\"\",0.25\r\n"
            "-1,0f\r\n");
}

TEST(ReadTable, LimitsRowsAndNamesColumnsApart) {
  Database database(":memory:", OpenMode::kCreate);
  Reader reader(database);
  const std::string sql =
      "WITH n (i) AS (VALUES (1), (2), (3)) SELECT i, i * 2 AS i, i AS i_2 FROM n";
  const ResultTable all = reader.table("q", sql, {}, 3);
  EXPECT_EQ(all.columns, (std::vector<std::string>{"i", "i_2", "i_2_2"}));
  EXPECT_EQ(all.rows.size(), 3u);
  EXPECT_FALSE(all.truncated);
  const ResultTable some = reader.table("q", sql, {}, 2);
  EXPECT_EQ(some.rows.size(), 2u);
  EXPECT_TRUE(some.truncated);
}

TEST(ReadTable, BindsEveryParameterOrFails) {
  Database database(":memory:", OpenMode::kCreate);
  Reader reader(database);
  std::vector<std::string> seen;
  reader.on_statement = [&](std::string_view sql, const Parameters&) { seen.emplace_back(sql); };
  const ResultTable t =
      reader.table("q", "SELECT :a AS a, :b AS b, :a AS c", {{"b", 1.5}, {"a", int64_t{2}}}, 1);
  EXPECT_EQ(t.rows[0], (std::vector<Value>{int64_t{2}, 1.5, int64_t{2}}));
  EXPECT_EQ(seen.size(), 1u);
  EXPECT_EQ(code_of([&] {
              reader.table("q", "SELECT :a, :b", {{"a", int64_t{2}}}, 1);
            }),
            "CONTRACT");
  EXPECT_EQ(code_of([&] { reader.table("q", "SELECT 1", {{"a", int64_t{2}}}, 1); }), "CONTRACT");
}

}  // namespace
}  // namespace ledger

#include "prof/ncu/csv.hpp"

#include "tests/prof/ncu/support.hpp"

namespace prof::test {
namespace {

using Cells = std::vector<std::string>;

TEST(Csv, QuotedCellsHoldAnything) {
  const CsvTable table =
      parse_csv("t", "\"ID\",\"a,b\"\n\"0\",\"one \"\"two\"\"\r\nthree\"\n1,bare\n", "ID");
  EXPECT_EQ(table.header, (Cells{"ID", "a,b"}));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].cells, (Cells{"0", "one \"two\"\r\nthree"}));
  EXPECT_EQ(table.rows[0].line, 2U);
  EXPECT_EQ(table.rows[1].cells, (Cells{"1", "bare"}));
  EXPECT_EQ(table.rows[1].line, 4U);
  EXPECT_EQ(table.column("a,b"), 1U);
  EXPECT_FALSE(table.column("b").has_value());
}

TEST(Csv, LinesOfOthersAreLeftOut) {
  // A mark of byte order, log lines with an odd quote above; log and empty lines below.
  const CsvTable table = parse_csv(
      "t", "\xef\xbb\xbf==PROF== x\nsaid \"hello, ID\n\"ID\",\"v\"\n==WARNING== y, z\n\n0,1\n\r\n",
      "ID");
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0].cells, (Cells{"0", "1"}));
  EXPECT_EQ(table.rows[0].line, 6U);
}

TEST(Csv, LineEndsAndSeparators) {
  EXPECT_EQ(parse_csv("t", "ID,v\r\n0,\r\n", "ID").rows.at(0).cells, (Cells{"0", ""}));
  EXPECT_EQ(parse_csv("t", "ID;v\n0;1,5\n", "ID").rows.at(0).cells, (Cells{"0", "1,5"}));
  EXPECT_EQ(parse_csv("t", "ID\tv\n0\t1,5\n", "ID").rows.at(0).cells, (Cells{"0", "1,5"}));
  EXPECT_TRUE(parse_csv("t", "ID,v\n", "ID").rows.empty());
}

TEST(Csv, Faults) {
  std::string message;
  EXPECT_EQ(thrown([] { parse_csv("t", "", "ID"); }), "NCU_CSV_HEADER 3");
  EXPECT_EQ(thrown([] { parse_csv("t", "==ERROR== none\nid,v\n", "ID"); }, &message),
            "NCU_CSV_HEADER 3");
  EXPECT_NE(message.find("--page raw"), std::string::npos) << message;
  EXPECT_EQ(thrown([] { parse_csv("t", "ID,v\n0,1\n0,1,2\n", "ID"); }, &message), "NCU_CSV_ROW 3");
  EXPECT_NE(message.find("line 3: expected 2 cells as in the header, found 3"), std::string::npos)
      << message;
  EXPECT_EQ(thrown([] { parse_csv("t", "ID,v\n0,\"1\n", "ID"); }), "NCU_CSV_TRUNCATED 3");
  EXPECT_EQ(thrown([] { parse_csv("t", "ID,v\n0,1", "ID"); }), "NCU_CSV_TRUNCATED 3");
  EXPECT_EQ(thrown([] { parse_csv("t", "ID,v", "ID"); }), "NCU_CSV_TRUNCATED 3");
}

}  // namespace
}  // namespace prof::test

#include "prof/ncu/number.hpp"

#include <vector>

#include "tests/prof/ncu/support.hpp"

namespace prof::test {
namespace {

std::optional<double> point(std::string_view cell) {
  return parse_number(cell, NumberStyle::kPoint).value;
}
std::optional<double> comma(std::string_view cell) {
  return parse_number(cell, NumberStyle::kComma).value;
}

TEST(Number, PointDividesTheFraction) {
  EXPECT_EQ(point("0"), 0);
  EXPECT_EQ(point("-12.5"), -12.5);
  EXPECT_EQ(point("+3"), 3);
  EXPECT_EQ(point(" 7 "), 7);
  EXPECT_EQ(point("1,234,567.25"), 1234567.25);
  EXPECT_EQ(point("1'234.5"), 1234.5);
  EXPECT_EQ(point("12 345"), 12345);
  EXPECT_EQ(point("1.5e+3"), 1500);
  EXPECT_EQ(point(".5"), 0.5);
}

TEST(Number, CommaDividesTheFraction) {
  EXPECT_EQ(comma("1.234.567,25"), 1234567.25);
  EXPECT_EQ(comma("0,42"), 0.42);
  EXPECT_EQ(comma("1\xc2\xa0"
                  "234,5"),
            1234.5);
  EXPECT_EQ(comma("1\xe2\x80\xaf"
                  "234"),
            1234);
}

TEST(Number, GroupsHaveThreeDigits) {
  for (const char* cell :
       {"1,5", "12,34", "1,234,56", "1234,567", ",123", "1,,234", "1,234'567", "1,234.", "1.2.3"}) {
    EXPECT_EQ(point(cell).has_value(), std::string(cell) == "1,234.") << cell;
  }
}

TEST(Number, NoValueHasAReason) {
  for (const char* cell : {"", "  ", "n/a", "N/A", "nan", "-nan", "inf", "-Inf", "infinity", "abc",
                           "1 (2; 3)", "0x10", "1e999", "--1", "-", "e5", "(256, 1, 1)"}) {
    for (const auto style : {NumberStyle::kPoint, NumberStyle::kComma, NumberStyle::kUnknown}) {
      const Number number = parse_number(cell, style);
      EXPECT_FALSE(number.value.has_value()) << cell;
      EXPECT_FALSE(number.reason.empty()) << cell;
    }
  }
  EXPECT_EQ(parse_number("", NumberStyle::kPoint).reason, "empty in the report");
  EXPECT_EQ(parse_number("n/a", NumberStyle::kPoint).reason, "\"n/a\" in the report");
  EXPECT_EQ(parse_number("x\ny", NumberStyle::kPoint).reason, "\"x y\" in the report is no number");
}

TEST(Number, UnknownStyleTakesWhatIsClear) {
  const auto unknown = [](std::string_view cell) {
    return parse_number(cell, NumberStyle::kUnknown).value;
  };
  EXPECT_EQ(unknown("123"), 123);
  EXPECT_EQ(unknown("1,234.5"), 1234.5);
  EXPECT_EQ(unknown("1.234,5"), 1234.5);
  EXPECT_EQ(unknown("0,5"), 0.5);
  EXPECT_FALSE(unknown("1,234").has_value());
  EXPECT_FALSE(unknown("1.234").has_value());
}

TEST(Number, StyleOfAFile) {
  const auto style = [](const std::vector<std::string_view>& cells) { return infer_style(cells); };
  EXPECT_EQ(style({"1,234", "0.5", "n/a"}), NumberStyle::kPoint);
  EXPECT_EQ(style({"1,234", "0,5"}), NumberStyle::kComma);
  EXPECT_EQ(style({"1.234.567", "7"}), NumberStyle::kComma);
  EXPECT_EQ(style({"1,234", "17"}), NumberStyle::kUnknown);
  EXPECT_EQ(style({"0,5", "0.5"}), NumberStyle::kUnknown);
  EXPECT_EQ(style({}), NumberStyle::kUnknown);
}

}  // namespace
}  // namespace prof::test

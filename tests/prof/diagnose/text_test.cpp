#include "prof/diagnose/text.hpp"

#include <limits>

#include "tests/prof/diagnose/samples.hpp"

namespace prof::test {
namespace {

TEST(Text, FourSignificantDigits) {
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(0.25), "0.25");
  EXPECT_EQ(number_text(66.56), "66.56");
  EXPECT_EQ(number_text(66.5678), "66.57");
  EXPECT_EQ(number_text(1234567), "1235000");
  EXPECT_EQ(number_text(-3.5), "-3.5");
  EXPECT_EQ(number_text(100), "100");
  EXPECT_EQ(number_text(2.5e16), "2.500e+16");
  EXPECT_EQ(number_text(std::numeric_limits<double>::infinity()), "unknown");
}

TEST(Text, UnitsWithPrefixes) {
  EXPECT_EQ(quantity_text(66560, "ns"), "66.56 us");
  EXPECT_EQ(quantity_text(2.5e9, "ns"), "2.5 s");
  EXPECT_EQ(quantity_text(999, "byte"), "999 B");
  EXPECT_EQ(quantity_text(1.5e9, "byte"), "1.5 GB");
  EXPECT_EQ(quantity_text(4.8e12, "byte/s"), "4.8 TB/s");
  EXPECT_EQ(quantity_text(81, "%"), "81 %");
  EXPECT_EQ(quantity_text(7, "count"), "7");
  EXPECT_EQ(percent_text(0.35), "35 %");
}

}  // namespace
}  // namespace prof::test

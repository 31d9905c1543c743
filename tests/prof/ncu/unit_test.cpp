#include "prof/ncu/unit.hpp"

#include "tests/prof/ncu/support.hpp"

namespace prof::test {
namespace {

TEST(Unit, NamesOfAllVersions) {
  EXPECT_EQ(unit_factor("nsecond", "ns"), 1);
  EXPECT_EQ(unit_factor("ns", "ns"), 1);
  EXPECT_EQ(unit_factor("us", "ns"), 1e3);
  EXPECT_EQ(unit_factor("msecond", "ns"), 1e6);
  EXPECT_EQ(unit_factor("second", "ns"), 1e9);
  EXPECT_EQ(unit_factor("byte", "byte"), 1);
  EXPECT_EQ(unit_factor("Gbyte", "byte"), 1e9);
  EXPECT_EQ(unit_factor("Kbyte/block", "byte"), 1e3);
  EXPECT_EQ(unit_factor("byte/second", "byte/s"), 1);
  EXPECT_EQ(unit_factor("Tbyte/s", "byte/s"), 1e12);
  EXPECT_EQ(unit_factor("byte/nsecond", "byte/s"), 1e9);
  EXPECT_EQ(unit_factor("%", "%"), 1);
  EXPECT_EQ(unit_factor("", "count"), 1);
  EXPECT_EQ(unit_factor("inst", "count"), 1);
  EXPECT_EQ(unit_factor("Msector", "count"), 1e6);
  EXPECT_EQ(unit_factor("register/thread", "count"), 1);
}

TEST(Unit, OthersAreRefused) {
  EXPECT_FALSE(unit_factor("byte", "ns").has_value());
  EXPECT_FALSE(unit_factor("", "ns").has_value());
  EXPECT_FALSE(unit_factor("", "byte").has_value());
  EXPECT_FALSE(unit_factor("byte", "byte/s").has_value());
  EXPECT_FALSE(unit_factor("byte/cycle", "byte/s").has_value());
  EXPECT_FALSE(unit_factor("byte/s", "byte").has_value());
  EXPECT_FALSE(unit_factor("", "%").has_value());
  EXPECT_FALSE(unit_factor("byte", "count").has_value());
  EXPECT_FALSE(unit_factor("%", "count").has_value());
  EXPECT_FALSE(unit_factor("K", "count").has_value());
}

}  // namespace
}  // namespace prof::test

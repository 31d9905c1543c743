#include "prof/diagnose/evidence.hpp"

#include "tests/prof/diagnose/samples.hpp"

namespace prof::test {
namespace {

TEST(Evidence, BothSidesOfAThreshold) {
  EXPECT_TRUE(holds(at_least("v", 60, 60, "%")));
  EXPECT_FALSE(holds(at_least("v", 59.99, 60, "%")));
  EXPECT_FALSE(holds(below("v", 60, 60, "%")));
  EXPECT_TRUE(holds(below("v", 59.99, 60, "%")));
  EXPECT_TRUE(holds(at_most("v", 60, 60, "%")));
  EXPECT_FALSE(holds(at_most("v", 60.01, 60, "%")));
  EXPECT_TRUE(holds(shown("v", std::nullopt, "")));
  Evidence lost = at_least("v", 1, 0, "");
  lost.value.reset();
  EXPECT_FALSE(holds(lost));
}

TEST(Evidence, MarginIsAFractionOfTheThreshold) {
  EXPECT_DOUBLE_EQ(margin_of(at_least("v", 75, 60, "")), 0.25);
  EXPECT_DOUBLE_EQ(margin_of(below("v", 45, 60, "")), 0.25);
  EXPECT_DOUBLE_EQ(margin_of(at_most("v", 60, 60, "")), 0);
  EXPECT_DOUBLE_EQ(margin_of(at_least("v", 1e12, 1, "")), kMaxMargin);
  EXPECT_DOUBLE_EQ(margin_of(at_least("v", 5, 0, "")), kMaxMargin);
  EXPECT_DOUBLE_EQ(margin_of(at_least("v", 0, 0, "")), 0);
}

TEST(Evidence, MatchTakesTheClearestAlternative) {
  const Evidence common = below("c", 0.5, 1, "");
  const auto found = match(
      {common},
      {{at_least("a", 66, 60, "")}, {at_least("b", 72, 60, "")}, {at_least("d", 50, 60, "")}});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->alternative, 1U);
  EXPECT_DOUBLE_EQ(found->margin, 0.2);
  ASSERT_EQ(found->evidence.size(), 2U);
  EXPECT_EQ(found->evidence[1].name, "b");
  EXPECT_FALSE(match({below("c", 1, 1, "")}, {{at_least("a", 66, 60, "")}}).has_value());
  EXPECT_FALSE(match({common}, {}).has_value());
  // A fact has to hold, and its distance says nothing.
  EXPECT_DOUBLE_EQ(match({common}, {{fact(at_least("n", 2, 2, ""))}})->margin, 0.5);
  EXPECT_FALSE(match({common}, {{fact(at_least("n", 1, 2, ""))}}).has_value());
}

}  // namespace
}  // namespace prof::test

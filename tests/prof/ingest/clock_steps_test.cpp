#include "prof/ingest/clock_steps.hpp"

#include <gtest/gtest.h>

#include <random>

namespace prof {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kStart = 1'700'000'000 * kSecond;

/// Pairs a second apart; the wall clock gains `gain` each time.
std::vector<ledger::ClockPairRow> steady(int n, int64_t gain = 0) {
  std::vector<ledger::ClockPairRow> out;
  for (int i = 0; i < n; ++i) out.push_back({kStart + i * (kSecond + gain), i * kSecond});
  return out;
}

TEST(ClockSteps, SteadyClocksHaveNone) {
  EXPECT_TRUE(find_clock_steps({}).empty());
  EXPECT_TRUE(find_clock_steps(steady(1)).empty());
  EXPECT_TRUE(find_clock_steps(steady(10)).empty());
}

TEST(ClockSteps, FiftyMicrosecondsAreTheLimit) {
  for (const int64_t sign : {-1, 1}) {
    auto pairs = steady(10);
    for (size_t i = 5; i < pairs.size(); ++i) pairs[i].realtime_ns += sign * 50'000;
    EXPECT_TRUE(find_clock_steps(pairs).empty());
    for (size_t i = 5; i < pairs.size(); ++i) pairs[i].realtime_ns += sign;
    const std::vector<ClockStep> expected = {
        {kStart + 4 * kSecond, kStart + 5 * kSecond + sign * 50'001, sign * 50'001}};
    EXPECT_EQ(find_clock_steps(pairs), expected);
    std::shuffle(pairs.begin(), pairs.end(), std::mt19937(3));
    EXPECT_EQ(find_clock_steps(pairs), expected);
  }
}

TEST(ClockSteps, DriftIsNoStepUpToItsLimit) {
  EXPECT_TRUE(find_clock_steps(steady(10, 90'000)).empty());
  // 160 us a second: 100 are drift, 60 are too much, each time.
  EXPECT_EQ(find_clock_steps(steady(10, 160'000)).size(), 9U);
  // With two intervals nobody knows what is drift.
  EXPECT_EQ(find_clock_steps(steady(3, 90'000)).size(), 2U);
}

TEST(ClockSteps, AStepOnTopOfDriftIsFound) {
  auto pairs = steady(10, 40'000);
  for (size_t i = 7; i < pairs.size(); ++i) pairs[i].realtime_ns -= 3600 * kSecond;
  const auto steps = find_clock_steps(pairs);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].jump_ns, 40'000 - 3600 * kSecond);
  EXPECT_LT(steps[0].after_ns, steps[0].before_ns);
}

TEST(ClockSteps, ImpossibleTimesDoNotOverflow) {
  const auto steps = find_clock_steps({{1, INT64_MIN}, {INT64_MAX, INT64_MAX}});
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_LT(steps[0].jump_ns, -8'999'999'999'999'999'999);
}

TEST(ClockSteps, CrossingIsTouching) {
  const ClockStep back{100, 50, -60};
  EXPECT_FALSE(crosses(back, 0, 49));
  EXPECT_TRUE(crosses(back, 0, 50));
  EXPECT_TRUE(crosses(back, 70, 80));
  EXPECT_TRUE(crosses(back, 100, 200));
  EXPECT_FALSE(crosses(back, 101, 200));
}

}  // namespace
}  // namespace prof

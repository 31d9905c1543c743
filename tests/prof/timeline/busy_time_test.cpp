// Idle time against counting every nanosecond.
#include "prof/timeline/busy_time.hpp"

#include <gtest/gtest.h>

#include <random>

namespace prof {
namespace {

TEST(BusyTime, SmallCases) {
  BusyTime busy;
  EXPECT_EQ(busy.idle_ns(3, 10), 7);
  busy.add({10, 20});
  busy.add({15, 18});
  busy.add({30, 40});
  EXPECT_EQ(busy.covered_ns(), 20);
  EXPECT_EQ(busy.idle_ns(0, 50), 30);
  EXPECT_EQ(busy.idle_ns(12, 19), 0);
  EXPECT_EQ(busy.idle_ns(19, 31), 10);
  EXPECT_EQ(busy.idle_ns(35, 35), 0);
  EXPECT_EQ(busy.idle_ns(40, 30), 0);
}

TEST(BusyTime, AgreesWithCounting) {
  std::mt19937_64 rng(17);
  for (int round = 0; round < 200; ++round) {
    std::vector<ledger::Interval> all(rng() % 12);
    std::vector<bool> works(100, false);
    for (auto& i : all) {
      i.start_ns = static_cast<int64_t>(rng() % 80);
      i.end_ns = i.start_ns + static_cast<int64_t>(rng() % 15);
      for (int64_t t = i.start_ns; t < i.end_ns; ++t) works[static_cast<size_t>(t)] = true;
    }
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    BusyTime busy;
    for (const auto& i : all) busy.add(i);
    for (int64_t from = 0; from < 100; from += 3) {
      int64_t idle = 0;
      for (int64_t to = from; to < 100; ++to) {
        ASSERT_EQ(busy.idle_ns(from, to), idle) << from << " to " << to;
        if (!works[static_cast<size_t>(to)]) ++idle;
      }
    }
  }
}

}  // namespace
}  // namespace prof

#include "prof/export/lanes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace prof {
namespace {

TEST(DisjointLanes, TouchingSlicesShareALane) {
  DisjointLanes lanes;
  EXPECT_EQ(lanes.place(0, 10), 0U);
  EXPECT_EQ(lanes.place(5, 8), 1U);  // inside the first, and still apart
  EXPECT_EQ(lanes.place(6, 7), 2U);
  EXPECT_EQ(lanes.place(8, 9), 1U);  // 1 and 2 are free: the least
  EXPECT_EQ(lanes.place(10, 10), 0U);
  EXPECT_EQ(lanes.place(10, 12), 0U);
  EXPECT_EQ(lanes.count(), 3U);
}

TEST(DisjointLanes, AsManyAsRunAtOneTime) {
  std::mt19937 random(7);
  std::vector<std::pair<int64_t, int64_t>> slices;
  for (int i = 0; i < 500; ++i) {
    const auto start = static_cast<int64_t>(random() % 1000);
    slices.emplace_back(start, start + 1 + static_cast<int64_t>(random() % 30));
  }
  std::sort(slices.begin(), slices.end());
  DisjointLanes lanes;
  std::vector<int64_t> reached(slices.size(), 0);
  for (const auto& [start, end] : slices) {
    const size_t lane = lanes.place(start, end);
    EXPECT_LE(reached[lane], start);
    reached[lane] = end;
  }
  size_t most = 0;
  for (int64_t t = 0; t < 1040; ++t) {
    const auto running = std::count_if(slices.begin(), slices.end(),
                                       [&](const auto& s) { return s.first <= t && t < s.second; });
    most = std::max(most, static_cast<size_t>(running));
  }
  EXPECT_EQ(lanes.count(), most);
}

TEST(NestedLanes, InsideOrApart) {
  NestedLanes lanes;
  EXPECT_EQ(lanes.place(0, 100), 0U);
  EXPECT_EQ(lanes.place(10, 20), 0U);
  EXPECT_EQ(lanes.place(15, 20), 0U);   // ends with the one around it
  EXPECT_EQ(lanes.place(20, 110), 1U);  // leaves the first one
  EXPECT_EQ(lanes.place(30, 40), 0U);
  EXPECT_EQ(lanes.place(100, 105), 0U);
  EXPECT_EQ(lanes.place(104, 106), 1U);
  EXPECT_EQ(lanes.count(), 2U);
}

}  // namespace
}  // namespace prof

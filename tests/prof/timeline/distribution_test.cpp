// Percentiles are measured values at nearest ranks.
#include "prof/timeline/distribution.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <random>

namespace prof {
namespace {

TEST(Distribution, OfNothing) {
  const Distribution d = distribution_of({});
  EXPECT_EQ(d.n, 0);
  EXPECT_EQ(d.sum_ns, 0);
  EXPECT_FALSE(d.p50_ns || d.p90_ns || d.p99_ns || d.max_ns);
  EXPECT_FALSE(lower_median({}));
}

TEST(Distribution, OfOneToOneHundred) {
  std::vector<int64_t> values(100);
  std::iota(values.rbegin(), values.rend(), 1);
  const Distribution d = distribution_of(values);
  EXPECT_EQ(d.n, 100);
  EXPECT_EQ(d.sum_ns, 5050);
  EXPECT_EQ(d.p50_ns, 50);
  EXPECT_EQ(d.p90_ns, 90);
  EXPECT_EQ(d.p99_ns, 99);
  EXPECT_EQ(d.max_ns, 100);
  EXPECT_EQ(lower_median(values), 50);
}

TEST(Distribution, FewValues) {
  EXPECT_EQ(distribution_of({7}).p99_ns, 7);
  EXPECT_EQ(distribution_of({1, 9}).p50_ns, 1);
  EXPECT_EQ(distribution_of({1, 9}).p90_ns, 9);
  EXPECT_EQ(distribution_of({3, 1, 2}).p50_ns, 2);
}

TEST(KeepFirst, KeepsWhatSortingWould) {
  std::mt19937_64 rng(5);
  for (int round = 0; round < 100; ++round) {
    std::vector<int> all(rng() % 30);
    std::vector<int> kept;
    for (int& v : all) {
      v = static_cast<int>(rng() % 20);
      keep_first(&kept, v, 10, std::greater<>());
    }
    std::sort(all.begin(), all.end(), std::greater<>());
    all.resize(std::min<size_t>(all.size(), 10));
    EXPECT_EQ(kept, all);
  }
}

}  // namespace
}  // namespace prof

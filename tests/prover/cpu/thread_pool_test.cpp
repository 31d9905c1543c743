#include "prover/cpu/thread_pool.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <stdexcept>

namespace stwo::cpu {
namespace {

TEST(ThreadPool, RunsEveryIndexOnce) {
  for (const uint32_t threads : {1u, 2u, 7u}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (const uint64_t n : {0u, 1u, 2u, 100u, 5000u}) {
      std::vector<std::atomic<int>> seen(n);
      pool.parallel_for(n, [&](uint64_t i, uint32_t thread) {
        ASSERT_LT(thread, threads);
        seen[i].fetch_add(1);
      });
      for (const auto& s : seen) ASSERT_EQ(s.load(), 1);
    }
  }
}

TEST(ThreadPool, ManySmallJobsInARow) {
  ThreadPool pool(3);
  std::atomic<uint64_t> sum{0};
  for (int round = 0; round < 2000; ++round) {
    pool.parallel_for(5, [&](uint64_t i, uint32_t) { sum.fetch_add(i); });
  }
  EXPECT_EQ(sum.load(), 2000u * 10u);
}

TEST(ThreadPool, RangesCoverWithoutOverlap) {
  ThreadPool pool(4);
  for (const uint64_t n : {1u, 255u, 256u, 257u, 100000u}) {
    std::mutex mutex;
    std::set<uint64_t> begins;
    uint64_t covered = 0;
    pool.parallel_ranges(n, 256, [&](uint64_t begin, uint64_t end, uint32_t) {
      const std::lock_guard lock(mutex);
      EXPECT_EQ(begin % 256, 0u);
      EXPECT_LT(begin, end);
      EXPECT_TRUE(begins.insert(begin).second);
      covered += end - begin;
    });
    EXPECT_EQ(covered, n);
  }
}

TEST(ThreadPool, RethrowsAndStaysUsable) {
  ThreadPool pool(3);
  EXPECT_THROW(pool.parallel_for(100,
                                 [](uint64_t i, uint32_t) {
                                   if (i == 42) throw std::runtime_error("42");
                                 }),
               std::runtime_error);
  std::atomic<int> n{0};
  pool.parallel_for(10, [&](uint64_t, uint32_t) { n.fetch_add(1); });
  EXPECT_EQ(n.load(), 10);
}

}  // namespace
}  // namespace stwo::cpu

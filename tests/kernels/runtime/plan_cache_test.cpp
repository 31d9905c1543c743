#include "kernels/runtime/plan_cache.hpp"

#include <gtest/gtest.h>

namespace stwo::gpu {
namespace {

/// Counts how many of it live.
struct Plan {
  explicit Plan(int* counter) : live(counter) { ++*live; }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() { --*live; }
  int* live;
};

class PlanCacheTest : public ::testing::Test {
 protected:
  std::shared_ptr<Plan> plan() { return std::make_shared<Plan>(&live); }
  int live = 0;
};

TEST_F(PlanCacheTest, FindsByKeyAndType) {
  PlanCache cache(2, 100);
  cache.insert("a", plan(), 10);
  EXPECT_NE(cache.find<Plan>("a"), nullptr);
  EXPECT_EQ(cache.find<Plan>("b"), nullptr);
  EXPECT_EQ(cache.find<int>("a"), nullptr);
  EXPECT_EQ(cache.status().hits, 1u);
  EXPECT_EQ(cache.status().misses, 2u);
  EXPECT_EQ(cache.status().bytes, 10u);
}

TEST_F(PlanCacheTest, EvictsTheLeastRecentlyUsed) {
  PlanCache cache(2, 100);
  cache.insert("a", plan(), 10);
  cache.insert("b", plan(), 10);
  cache.find<Plan>("a");
  cache.insert("c", plan(), 10);
  EXPECT_EQ(cache.find<Plan>("b"), nullptr);
  EXPECT_NE(cache.find<Plan>("a"), nullptr);
  EXPECT_EQ(live, 2);
  EXPECT_EQ(cache.status().evictions, 1u);
}

TEST_F(PlanCacheTest, IsBoundedByBytes) {
  PlanCache cache(10, 100);
  cache.insert("a", plan(), 60);
  cache.insert("b", plan(), 40);
  EXPECT_EQ(live, 2);
  cache.insert("c", plan(), 41);
  EXPECT_EQ(cache.find<Plan>("a"), nullptr);
  EXPECT_EQ(cache.status().bytes, 81u);
  EXPECT_FALSE(cache.insert("d", plan(), 101));
  EXPECT_EQ(cache.status().entries, 2u);  // a plan that can't fit evicts nobody
  EXPECT_EQ(cache.status().refusals, 1u);
}

TEST_F(PlanCacheTest, NeverEvictsAnEntryInUse) {
  PlanCache cache(2, 100);
  auto a = plan();
  cache.insert("a", a, 10);
  cache.insert("b", plan(), 10);
  cache.insert("c", plan(), 10);  // a is oldest, but held: b goes
  EXPECT_EQ(cache.find<Plan>("b"), nullptr);
  EXPECT_EQ(cache.find<Plan>("a"), a);
  auto c = cache.find<Plan>("c");
  EXPECT_FALSE(cache.insert("d", plan(), 10));  // both are held
  EXPECT_EQ(live, 2);
  EXPECT_EQ(cache.evict_idle(), 0u);
  a.reset();
  EXPECT_EQ(cache.evict_idle(), 1u);
  EXPECT_EQ(live, 1);
  cache.clear();
  EXPECT_EQ(live, 1);  // c lives on with its holder
  c.reset();
  EXPECT_EQ(live, 0);
}

TEST_F(PlanCacheTest, ReplacesTheSameKey) {
  PlanCache cache(2, 100);
  cache.insert("a", plan(), 90);
  EXPECT_TRUE(cache.insert("a", plan(), 95));
  EXPECT_EQ(live, 1);
  EXPECT_EQ(cache.status().entries, 1u);
}

}  // namespace
}  // namespace stwo::gpu

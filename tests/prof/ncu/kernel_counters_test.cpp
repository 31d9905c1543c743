#include "prof/ncu/kernel_counters.hpp"

#include "tests/prof/ncu/support.hpp"

namespace prof::test {
namespace {

TEST(KernelCounters, LowerMediansOverLaunches) {
  const CounterSet set = parse_ncu_csv("t", data_file("ncu_2025_3_c.csv"), {true, true});
  const auto kernels = kernel_counters(set);
  ASSERT_EQ(kernels.size(), 1U);
  const KernelCounters& k = kernels[0];
  EXPECT_EQ(k.kernel, "copy_columns(const unsigned int *, unsigned int *)");
  EXPECT_EQ(k.launches, 3);
  EXPECT_EQ(k.value("dram_read"), 150000000);     // of 150, 100 and 200 million
  EXPECT_EQ(k.value("replay_duration"), 102400);  // of 102400, 101376 and 103424
  EXPECT_EQ(k.dram_bytes(), 250000000);
  ASSERT_EQ(k.shapes.size(), 1U);
  EXPECT_EQ(k.shapes[0].launches, 3);
  // One launch of three has no hit rate: the median of the others is not that of all.
  EXPECT_FALSE(k.value("l2_hit_pct").has_value());
  EXPECT_EQ(k.at("l2_hit_pct").reason, "no value in 1 of 3 launches: \"nan\" in the report");
  EXPECT_EQ(k.at("pipe_xu").reason, "\"n/a\" in the report");
  EXPECT_EQ(thrown([&] { (void)k.at("nothing"); }), "CONTRACT 70");
}

TEST(KernelCounters, GroupsByNameAndShape) {
  CounterSet set = parse_ncu_csv("t", data_file("ncu_2022_4_groups.csv"), {true, true});
  set.launches.push_back(set.launches[0]);
  set.launches[2].grid = {8, 1, 1};
  set.launches[2].values.at("dram_read").value = 7;
  const auto kernels = kernel_counters(set);
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].launches, 2);
  EXPECT_EQ(kernels[0].value("dram_read"), 7);  // the lower of two
  ASSERT_EQ(kernels[0].shapes.size(), 2U);
  EXPECT_EQ(kernels[0].shapes[1].grid, (std::array<int64_t, 3>{8, 1, 1}));
  EXPECT_EQ(kernels[1].launches, 1);
  EXPECT_TRUE(kernel_counters({}).empty());
}

TEST(KernelCounters, NoneAtAll) {
  const KernelCounters k = no_counters("k", "counters are denied");
  EXPECT_EQ(k.launches, 0);
  EXPECT_EQ(k.values.size(), metric_table().metrics.size());
  EXPECT_EQ(k.at("sm_pct").reason, "counters are denied");
  EXPECT_FALSE(k.dram_bytes().has_value());
}

}  // namespace
}  // namespace prof::test

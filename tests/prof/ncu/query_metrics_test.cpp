#include "prof/ncu/query_metrics.hpp"

#include <algorithm>

#include "tests/prof/ncu/support.hpp"

namespace prof::test {
namespace {

std::vector<std::string> keys(const std::vector<MetricAvailability>& list) {
  std::vector<std::string> out;
  for (const MetricAvailability& m : list) out.push_back(m.key);
  return out;
}

bool has(const std::vector<std::string>& list, const std::string& key) {
  return std::find(list.begin(), list.end(), key) != list.end();
}

TEST(QueryMetrics, BaseNamesStandForTheirRollUps) {
  const TableCheck check = check_metric_table(data_file("query_metrics_2025_3.txt"));
  EXPECT_EQ(check.listed, 11U);
  EXPECT_EQ(keys(check.found),
            (std::vector<std::string>{"replay_duration", "dram_read", "dram_write", "dram_rate",
                                      "dram_pct", "l2_hit_pct", "l2_pct", "memory_pct", "sm_pct",
                                      "issue_active", "stall_barrier"}));
  EXPECT_EQ(check.found[4].name, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed");
  EXPECT_TRUE(has(keys(check.missing), "stall_long_scoreboard"));
  EXPECT_TRUE(has(keys(check.missing), "l1_hit_pct"));
  EXPECT_FALSE(check.ok());
  // Nothing of these collections is listed, so that nothing is known about them.
  EXPECT_TRUE(has(check.unlisted, "waves"));
  EXPECT_TRUE(has(check.unlisted, "spills"));
  EXPECT_FALSE(has(keys(check.missing), "waves"));
  EXPECT_EQ(check.found.size() + check.missing.size() + check.unlisted.size(),
            metric_table().metrics.size());
  const std::string text = to_text(check);
  EXPECT_NE(text.find("missing: stall_long_scoreboard (a rule needs it)\n"), std::string::npos);
  EXPECT_NE(text.find("missing: l1_hit_pct\n"), std::string::npos);
}

TEST(QueryMetrics, AllNamesAndFullNames) {
  std::string full;
  for (const MetricSpec& m : metric_table().metrics) full += "  " + m.names.back() + "  Counter\n";
  const TableCheck check = check_metric_table(full);
  EXPECT_TRUE(check.ok());
  EXPECT_TRUE(check.missing.empty());
  EXPECT_TRUE(check.unlisted.empty());
  EXPECT_EQ(check.found.size(), metric_table().metrics.size());
}

TEST(QueryMetrics, ACollectionThatIsListedLacksItsMetric) {
  const TableCheck check = check_metric_table("launch__grid_size Counter\n");
  EXPECT_EQ(keys(check.found), std::vector<std::string>{"grid_size"});
  EXPECT_TRUE(has(keys(check.missing), "waves"));
}

TEST(QueryMetrics, ANameThatOnlyStartsAlikeIsAnother) {
  const TableCheck check = check_metric_table("dram__bytes_read_extra Counter\n");
  EXPECT_TRUE(has(keys(check.missing), "dram_read"));
}

TEST(QueryMetrics, NoListIsAnError) {
  EXPECT_EQ(thrown([] { check_metric_table("==ERROR== no device\n"); }), "NCU_QUERY 3");
}

}  // namespace
}  // namespace prof::test

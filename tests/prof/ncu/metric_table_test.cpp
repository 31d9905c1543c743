#include "prof/ncu/metric_table.hpp"

#include <algorithm>
#include <set>

#include "tests/prof/ncu/support.hpp"

namespace prof::test {
namespace {

constexpr const char* kOne =
    R"({"questions": ["memory"], "metrics": [{"key": "a", "question": "memory", "unit": "byte",
        "extra": false, "names": ["x.sum", "y.sum"], "meaning": "", "rules": []}]})";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kOne;
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(MetricTable, TheProgramsTable) {
  const MetricTable& table = metric_table();
  EXPECT_EQ(table.questions,
            (std::vector<std::string>{"identity", "duration", "memory", "arithmetic", "occupancy",
                                      "registers", "stalls"}));
  EXPECT_EQ(table.at("dram_read").names.front(), "dram__bytes_read.sum");
  EXPECT_EQ(table.at("dram_pct").names.size(), 2U);
  for (const std::string& question : table.questions) {
    EXPECT_TRUE(std::any_of(table.metrics.begin(), table.metrics.end(), [&](const MetricSpec& m) {
      return m.question == question;
    })) << question;
  }
  const std::set<std::string> known = {"bandwidth", "compute", "occupancy", "latency",
                                       "dependency_serialization"};
  std::set<std::string> used;
  for (const MetricSpec& m : table.metrics) {
    EXPECT_FALSE(m.meaning.empty()) << m.key;
    // What a rule needs must come with the sections that are always asked for.
    EXPECT_TRUE(m.rules.empty() || !m.extra) << m.key;
    used.insert(m.rules.begin(), m.rules.end());
  }
  EXPECT_EQ(used, known);
}

TEST(MetricTable, ExtraMetricsAreNamed) {
  EXPECT_EQ(
      metric_table().extra_names(),
      (std::vector<std::string>{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                                "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                                "sm__inst_executed_pipe_fmaheavy.avg.pct_of_peak_sustained_active",
                                "smsp__sass_thread_inst_executed_op_integer_pred_on.sum",
                                "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
                                "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"}));
}

TEST(MetricTable, FaultsAreOurs) {
  EXPECT_EQ(thrown([] { parse_metric_table(kOne); }), "nothing");
  EXPECT_EQ(thrown([] { parse_metric_table("{"); }), "CONTRACT 70");
  EXPECT_EQ(thrown([] { parse_metric_table(with("\"byte\"", "\"kelvin\"")); }), "CONTRACT 70");
  EXPECT_EQ(thrown([] { parse_metric_table(with("y.sum", "x.sum")); }), "CONTRACT 70");
  EXPECT_EQ(thrown([] { parse_metric_table(with("[\"memory\"]", "[]")); }), "CONTRACT 70");
  EXPECT_EQ(thrown([] { parse_metric_table(with("\"x.sum\", \"y.sum\"", "")); }), "CONTRACT 70");
  EXPECT_EQ(thrown([] { metric_table().at("no such key"); }), "CONTRACT 70");
}

}  // namespace
}  // namespace prof::test

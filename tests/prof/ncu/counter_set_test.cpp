// Exports of several versions and locales.
#include "prof/ncu/counter_set.hpp"

#include "prover/hash/sha256.hpp"
#include "tests/prof/ncu/support.hpp"

namespace prof::test {
namespace {

constexpr NcuCsvOptions kForeign{};
constexpr NcuCsvOptions kOurs{true, true};

CounterSet read(const std::string& file, const NcuCsvOptions& options = kForeign) {
  return parse_ncu_csv(file, data_file(file), options);
}

std::optional<double> value(const LaunchCounters& launch, const char* key) {
  return launch.values.at(key).value;
}

TEST(CounterSet, LongUnitNamesAndGroups) {
  const CounterSet set = read("ncu_2022_4_groups.csv");
  ASSERT_EQ(set.launches.size(), 2U);
  const LaunchCounters& first = set.launches[0];
  EXPECT_EQ(first.id, 0);
  EXPECT_EQ(first.kernel, "void fold<M31, 4>(const unsigned int *, \"q\")");
  EXPECT_EQ(first.grid, (std::array<int64_t, 3>{1024, 2, 1}));
  EXPECT_EQ(first.block, (std::array<int64_t, 3>{256, 1, 1}));
  EXPECT_EQ(first.device, "");
  EXPECT_EQ(value(first, "dram_read"), 1073741824);
  EXPECT_EQ(value(first, "dram_write"), 536870912);
  EXPECT_EQ(value(first, "dram_pct"), 72.5);
  EXPECT_EQ(first.values.at("dram_pct").metric,
            "dram__throughput.avg.pct_of_peak_sustained_elapsed");
  EXPECT_EQ(value(first, "replay_duration"), 1234567);
  EXPECT_EQ(value(first, "shared_dynamic"), 17408);
  EXPECT_EQ(value(first, "stall_long_scoreboard"), 12.5);
  EXPECT_EQ(value(set.launches[1], "dram_write"), 0);
  EXPECT_EQ(value(set.launches[1], "waves"), 0.12);
  const CounterValue& absent = first.values.at("sm_pct");
  EXPECT_TRUE(absent.absent);
  EXPECT_EQ(absent.reason, "not in the report");
  EXPECT_EQ(first.values.size(), metric_table().metrics.size());
  EXPECT_EQ(set.csv_sha256, stwo::sha256_hex(data_file("ncu_2022_4_groups.csv")));
}

TEST(CounterSet, AutomaticUnitsAreBroughtToOurs) {
  const CounterSet set = read("ncu_2023_3_auto_units.csv");
  ASSERT_EQ(set.launches.size(), 1U);
  const LaunchCounters& launch = set.launches[0];
  EXPECT_EQ(value(launch, "dram_read"), 4.5e9);
  EXPECT_EQ(value(launch, "dram_write"), 2.5e8);
  EXPECT_EQ(value(launch, "dram_rate"), 2.25e12);
  EXPECT_DOUBLE_EQ(*value(launch, "replay_duration"), 2111100);
  EXPECT_DOUBLE_EQ(*value(launch, "shared_dynamic"), 16380);
  EXPECT_EQ(value(launch, "instructions"), 1e6);
  EXPECT_EQ(launch.device, "0");
  EXPECT_EQ(launch.compute_capability, "9.0");
  EXPECT_EQ(launch.values.at("dram_pct").metric,
            "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed");
}

TEST(CounterSet, AForeignLocale) {
  const CounterSet set = read("ncu_2024_3_de.csv");
  const LaunchCounters& launch = set.launches.at(0);
  EXPECT_EQ(value(launch, "dram_read"), 4.5e9);
  EXPECT_EQ(value(launch, "dram_write"), 250000);
  EXPECT_EQ(value(launch, "dram_pct"), 67.52);
  EXPECT_EQ(value(launch, "replay_duration"), 2111);
  EXPECT_EQ(value(launch, "waves"), 1.5);
  // Read as if it were ours, it has no numbers where they would be wrong.
  const CounterSet ours = read("ncu_2024_3_de.csv", kOurs);
  EXPECT_FALSE(value(ours.launches.at(0), "dram_read").has_value());
  EXPECT_FALSE(value(ours.launches.at(0), "waves").has_value());
}

TEST(CounterSet, AnUnclearLocaleGivesNoNumber) {
  const LaunchCounters launch = read("ncu_2024_3_de_unclear.csv").launches.at(0);
  EXPECT_FALSE(value(launch, "dram_read").has_value());
  EXPECT_EQ(launch.values.at("dram_read").reason,
            "\"4.500\" in the report has two readings: export with LC_ALL=C");
  EXPECT_EQ(value(launch, "dram_write"), 250);
  EXPECT_EQ(value(launch, "waves"), 1);
}

TEST(CounterSet, CellsWithoutANumberHaveAReason) {
  const CounterSet set = read("ncu_2025_3_c.csv", kOurs);
  ASSERT_EQ(set.launches.size(), 3U);
  EXPECT_EQ(set.launches[0].values.at("pipe_xu").reason, "\"n/a\" in the report");
  EXPECT_EQ(set.launches[1].values.at("l2_hit_pct").reason, "\"nan\" in the report");
  EXPECT_EQ(value(set.launches[2], "l2_hit_pct"), 45);
  EXPECT_EQ(set.launches[0].values.at("warp_latency").reason, "\"inf\" in the report");
  EXPECT_EQ(set.launches[0].values.at("ipc").reason, "empty in the report");
  EXPECT_FALSE(set.launches[0].values.at("ipc").absent);
  EXPECT_EQ(value(set.launches[0], "spills"), 0);
}

TEST(CounterSet, WithoutUnitsOnlyOursAreKnown) {
  const CounterSet ours = read("ncu_2025_3_no_units.csv", kOurs);
  ASSERT_EQ(ours.launches.size(), 3U);
  EXPECT_EQ(value(ours.launches[0], "dram_read"), 150000000);
  EXPECT_EQ(value(ours.launches[0], "sm_pct"), 30);
  EXPECT_EQ(ours.launches[0].values.at("replay_duration").reason, "its unit is not in the report");
  const CounterSet foreign = read("ncu_2025_3_no_units.csv", {true, false});
  EXPECT_EQ(foreign.launches[0].values.at("dram_read").reason, "its unit is not in the report");
  EXPECT_EQ(value(foreign.launches[0], "sm_pct"), 30);
  EXPECT_EQ(value(foreign.launches[0], "waves"), 3.88);
}

TEST(CounterSet, DimensionsFromMetrics) {
  const std::string text =
      "ID,Kernel Name,launch__grid_dim_x,launch__grid_dim_y,launch__grid_dim_z,"
      "launch__block_dim_x,launch__block_dim_y,launch__block_dim_z\n"
      "0,k,7,1,1,32,4,1\n";
  const CounterSet set = parse_ncu_csv("t", text, kOurs);
  EXPECT_EQ(set.launches.at(0).grid, (std::array<int64_t, 3>{7, 1, 1}));
  EXPECT_EQ(set.launches.at(0).block, (std::array<int64_t, 3>{32, 4, 1}));
}

std::string one(const std::string& row, const std::string& more = "") {
  return "ID,Kernel Name,Grid Size,Block Size" + more + "\n" + row + "\n";
}

TEST(CounterSet, Faults) {
  const auto code = [](const std::string& text) {
    return thrown([&] { parse_ncu_csv("t", text, kOurs); });
  };
  EXPECT_EQ(code(one("0,k,\"(1, 1, 1)\",\"(1, 1, 1)\"")), "nothing");
  EXPECT_EQ(code("ID,Grid Size,Block Size\n0,1 1 1,1 1 1\n"), "NCU_CSV_COLUMN 3");
  EXPECT_EQ(code("ID,Kernel Name\n0,k\n"), "NCU_CSV_COLUMN 3");
  EXPECT_EQ(code(one("0,k,1 1 1,1 1 1,0", ",Grid Size")), "NCU_CSV_COLUMN 3");
  EXPECT_EQ(code(one("0,k,1 1,1 1 1")), "NCU_CSV_VALUE 3");
  EXPECT_EQ(code(one("0,k,0 1 1,1 1 1")), "NCU_CSV_VALUE 3");
  EXPECT_EQ(code(one("0,k,99999999999 1 1,1 1 1")), "NCU_CSV_VALUE 3");
  EXPECT_EQ(code(one("x,k,1 1 1,1 1 1")), "NCU_CSV_VALUE 3");
  EXPECT_EQ(code(one("0,,1 1 1,1 1 1")), "NCU_CSV_VALUE 3");
  EXPECT_EQ(code("ID,Kernel Name,Metric Name,Metric Value\n0,k,a,1\n"), "NCU_CSV_PAGE 3");
  EXPECT_EQ(code(std::string(kMaxNcuCsvBytes + 1, ' ')), "NCU_CSV_SIZE 3");
}

TEST(CounterSet, NumbersNoCounterHas) {
  const auto reason = [](const std::string& cell) {
    const CounterSet set =
        parse_ncu_csv("t", one("0,k,1 1 1,1 1 1," + cell, ",smsp__inst_executed.sum"), kOurs);
    return set.launches.at(0).values.at("instructions").reason;
  };
  EXPECT_EQ(reason("1e18"), "");
  EXPECT_EQ(reason("1.1e18"), "out of range in the report");
  EXPECT_EQ(reason("-1"), "out of range in the report");
}

TEST(CounterSet, AnotherUnitIsNoValue) {
  const CounterSet set = parse_ncu_csv(
      "t",
      "ID,Kernel Name,Grid Size,Block Size,dram__bytes_read.sum\n,,,,sector\n0,k,1 1 1,1 1 1,5\n",
      kOurs);
  EXPECT_EQ(set.launches.at(0).values.at("dram_read").reason,
            "unit \"sector\" in the report is not byte");
}

TEST(CounterSet, EveryCutOfAFileIsReadOrRefused) {
  const std::string text = data_file("ncu_2025_3_c.csv");
  for (size_t n = 0; n <= text.size(); ++n) {
    const bool at_row_end = n > 0 && text[n - 1] == '\n';
    const std::string code = thrown([&] { parse_ncu_csv("t", text.substr(0, n), kOurs); });
    EXPECT_EQ(code == "nothing", at_row_end) << n << ' ' << code;
    EXPECT_TRUE(at_row_end || code.substr(0, 8) == "NCU_CSV_") << n << ' ' << code;
  }
}

}  // namespace
}  // namespace prof::test

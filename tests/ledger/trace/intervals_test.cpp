// Unions of intervals: small cases by hand, properties of random ones, and the same answer from
// view busy_island.
#include "ledger/trace/intervals.hpp"

#include <map>
#include <random>

#include "tests/ledger/trace/trace_files.hpp"

namespace ledger {
namespace {

using test::at;

std::vector<Interval> random_intervals(std::mt19937_64& rng, size_t count, int64_t range,
                                       int64_t longest) {
  std::vector<Interval> out(count);
  for (Interval& x : out) {
    x.start_ns = 1 + static_cast<int64_t>(rng() % static_cast<uint64_t>(range));
    x.end_ns = x.start_ns + static_cast<int64_t>(rng() % static_cast<uint64_t>(longest + 1));
  }
  return out;
}

int64_t sum_of_lengths(const std::vector<Interval>& intervals) {
  int64_t sum = 0;
  for (const Interval& x : intervals) sum += x.end_ns - x.start_ns;
  return sum;
}

TEST(Intervals, SmallCases) {
  EXPECT_TRUE(islands_of({}).empty());
  EXPECT_EQ(union_ns({}), 0);
  const std::vector<Interval> one = {{5, 9}};
  EXPECT_EQ(islands_of(one), one);
  EXPECT_EQ(union_ns(one), 4);
  // Touching intervals are one island, a gap of 1 ns makes two.
  EXPECT_EQ(islands_of(std::vector<Interval>{{1, 3}, {3, 5}}), (std::vector<Interval>{{1, 5}}));
  EXPECT_EQ(islands_of(std::vector<Interval>{{1, 3}, {4, 5}}),
            (std::vector<Interval>{{1, 3}, {4, 5}}));
  // The maximum end so far counts, not the previous one.
  EXPECT_EQ(islands_of(std::vector<Interval>{{1, 10}, {2, 3}, {5, 6}, {11, 12}}),
            (std::vector<Interval>{{1, 10}, {11, 12}}));
  // Intervals of length 0 are islands of length 0.
  EXPECT_EQ(islands_of(std::vector<Interval>{{4, 4}}), (std::vector<Interval>{{4, 4}}));
  EXPECT_EQ(union_ns(std::vector<Interval>{{4, 4}, {1, 2}}), 1);
}

TEST(Intervals, StreamRefusesWhatIsOutOfOrder) {
  UnionOfIntervals all;
  all.add({5, 9});
  EXPECT_THROW(all.add({4, 6}), stwo::ContractError);
  EXPECT_THROW(all.add({9, 8}), stwo::ContractError);
}

TEST(Intervals, PropertiesOfRandomOnes) {
  std::mt19937_64 rng(20260131);
  for (int round = 0; round < 500; ++round) {
    std::vector<Interval> intervals = random_intervals(
        rng, rng() % 40, 1 + static_cast<int64_t>(rng() % 300), static_cast<int64_t>(rng() % 20));
    const std::vector<Interval> islands = islands_of(intervals);
    const int64_t covered = union_ns(intervals);
    EXPECT_LE(covered, sum_of_lengths(intervals));
    EXPECT_EQ(covered, sum_of_lengths(islands));
    if (intervals.empty()) continue;
    // Gaps and union make up the span.
    int64_t gaps = 0;
    for (size_t i = 1; i < islands.size(); ++i) {
      ASSERT_GT(islands[i].start_ns, islands[i - 1].end_ns);
      gaps += islands[i].start_ns - islands[i - 1].end_ns;
    }
    EXPECT_EQ(gaps + covered, islands.back().end_ns - islands.front().start_ns);
    // A nanosecond is covered exactly if an interval covers it.
    const auto covers = [](const std::vector<Interval>& of, int64_t ns) {
      return std::any_of(of.begin(), of.end(),
                         [&](const Interval& x) { return x.start_ns <= ns && ns < x.end_ns; });
    };
    for (int64_t ns = 0; ns < 330; ++ns) {
      ASSERT_EQ(covers(intervals, ns), covers(islands, ns)) << ns;
    }
    // Order and repetition don't matter, and islands are their own islands.
    std::shuffle(intervals.begin(), intervals.end(), rng);
    intervals.push_back(intervals.front());
    EXPECT_EQ(islands_of(intervals), islands);
    EXPECT_EQ(islands_of(islands), islands);
  }
}

TEST(Intervals, ViewFindsTheSameIslands) {
  std::mt19937_64 rng(7);
  for (int round = 0; round < 20; ++round) {
    const test::TemporaryFolder folder;
    std::map<int64_t, std::vector<Interval>> per_device;
    test::write_trace(folder.file("t.sptrace"), [&](TraceWriter& writer) {
      for (int64_t device = 0; device < 3; ++device) {
        for (const Interval& x : random_intervals(rng, rng() % 60, 400, 15)) {
          test::write_kernel(writer, "k", 1, test::span(x.start_ns, x.end_ns), 1, device);
          per_device[device].push_back({at(x.start_ns), at(x.end_ns)});
        }
        // Operations without times are in no island.
        test::write_kernel(writer, "k", 1, {}, 1, device);
      }
    });
    const auto trace = open_trace(folder.file("t.sptrace"));
    test::Rows expected;
    for (const auto& [device, intervals] : per_device) {
      const std::vector<Interval> islands = islands_of(intervals);
      for (size_t i = 0; i < islands.size(); ++i) {
        const auto inside = std::count_if(intervals.begin(), intervals.end(), [&](const auto& x) {
          return islands[i].start_ns <= x.start_ns && x.end_ns <= islands[i].end_ns;
        });
        expected.push_back(std::to_string(device) + "|" + std::to_string(i + 1) + "|" +
                           std::to_string(islands[i].start_ns) + "|" +
                           std::to_string(islands[i].end_ns) + "|" + std::to_string(inside));
      }
    }
    EXPECT_EQ(test::rows_of(*trace,
                            "SELECT device_id, island, start_ns, end_ns, operations FROM "
                            "busy_island ORDER BY device_id, island"),
              expected);
  }
}

}  // namespace
}  // namespace ledger

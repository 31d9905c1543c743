// Stages of threads, and of ranges that belong to no thread.
#include "prof/timeline/stage_lookup.hpp"

#include <limits>
#include <random>

#include "tests/prof/timeline/captures.hpp"

namespace prof::test {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

TEST(FreeRanges, NestedRangesHaveAnInnermostOne) {
  const FreeRanges ranges({{30, 40, 3}, {10, 100, 1}, {20, 50, 2}});
  EXPECT_EQ(ranges.at(9).name, 0);
  EXPECT_EQ(ranges.at(10).name, 1);
  EXPECT_EQ(ranges.at(25).name, 2);
  EXPECT_EQ(ranges.at(30).name, 3);
  EXPECT_EQ(ranges.at(40).name, 2);
  EXPECT_EQ(ranges.at(50).name, 1);
  EXPECT_EQ(ranges.at(100).name, 0);
  EXPECT_FALSE(ranges.at(30).ambiguous);
}

TEST(FreeRanges, OverlapWithoutNestingIsAmbiguous) {
  const FreeRanges ranges({{10, 30, 1}, {20, 40, 2}});
  EXPECT_EQ(ranges.at(15).name, 1);
  EXPECT_TRUE(ranges.at(20).ambiguous);
  EXPECT_EQ(ranges.at(25).name, 0);
  EXPECT_FALSE(ranges.at(30).ambiguous);
  EXPECT_EQ(ranges.at(30).name, 2);
}

TEST(FreeRanges, AgreeWithASearchThroughAllRanges) {
  std::mt19937_64 rng(31);
  for (int round = 0; round < 300; ++round) {
    std::vector<ledger::StageRange> ranges(rng() % 8);
    for (size_t i = 0; i < ranges.size(); ++i) {
      ranges[i].start_ns = static_cast<int64_t>(rng() % 30);
      ranges[i].end_ns =
          rng() % 6 == 0 ? kNever : ranges[i].start_ns + static_cast<int64_t>(rng() % 15);
      ranges[i].name = static_cast<ledger::StrId>(i) + 1;
    }
    const FreeRanges lookup(ranges);
    for (int64_t ns = -1; ns < 50; ++ns) {
      bool ambiguous = false;
      bool any = false;
      int64_t best_start = 0;
      int64_t best_end = 0;
      for (const auto& a : ranges) {
        if (a.start_ns > ns || ns >= a.end_ns) continue;
        for (const auto& b : ranges) {
          if (b.start_ns > ns || ns >= b.end_ns) continue;
          ambiguous = ambiguous || (a.start_ns < b.start_ns && a.end_ns < b.end_ns);
        }
        if (!any || a.start_ns > best_start || (a.start_ns == best_start && a.end_ns < best_end)) {
          best_start = a.start_ns;
          best_end = a.end_ns;
        }
        any = true;
      }
      const FreeRanges::Found found = lookup.at(ns);
      ASSERT_EQ(found.ambiguous, ambiguous) << ns;
      ASSERT_EQ(found.name != 0, any && !ambiguous) << ns;
      if (found.name == 0) continue;
      const auto& range = ranges[static_cast<size_t>(found.name) - 1];
      ASSERT_EQ(range.start_ns, best_start);
      ASSERT_EQ(range.end_ns, best_end);
    }
  }
}

TEST(StageLookup, ThreadsComeBeforeFreeRanges) {
  Capture capture([](TraceWriter& w) {
    stage(w, "quotient", 1000, 2000, 70);
    stage(w, "fri_commit", 1200, std::nullopt, 70);
    ledger::test::write_range(w, "free", 99, 1500, 5000, 2, "stwo.prover",
                              ledger::NvtxType::kStartEnd);
    ledger::test::write_range(w, "pass", 70, 1000, 9000, 3);
    ledger::test::write_range(w, "other domain", 70, 1000, 9000, 2, "other");
  });
  const StageLookup stages(capture.trace());
  Names names(capture.trace());
  const auto name = [&](int64_t tid, int64_t ns) {
    const auto found = stages.at(7, tid, at(ns));
    return found.name == 0 ? std::string() : names.of(found.name);
  };
  EXPECT_TRUE(stages.has_stages());
  EXPECT_EQ(stages.unclosed(), 1);
  EXPECT_EQ(name(70, 1100), "quotient");
  EXPECT_EQ(name(70, 1300), "fri_commit");
  EXPECT_EQ(name(70, 8000), "fri_commit");
  EXPECT_EQ(name(71, 1100), "");
  EXPECT_EQ(name(71, 1600), "free");
  EXPECT_EQ(stages.at(8, 70, at(1100)).name, 0);
}

}  // namespace
}  // namespace prof::test

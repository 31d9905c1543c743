// The innermost stage at a time, by hand and against a search through all ranges.
#include "ledger/trace/stage_ranges.hpp"

#include <limits>
#include <random>

#include "tests/ledger/trace/trace_files.hpp"

namespace ledger {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

TEST(StageTimeline, SmallCases) {
  EXPECT_EQ(StageTimeline({}).at(5), 0);
  const StageTimeline nested({{10, 100, 1}, {20, 30, 2}, {30, 40, 3}, {35, 40, 4}});
  EXPECT_EQ(nested.at(9), 0);
  EXPECT_EQ(nested.at(10), 1);
  EXPECT_EQ(nested.at(19), 1);
  EXPECT_EQ(nested.at(20), 2);
  EXPECT_EQ(nested.at(29), 2);
  EXPECT_EQ(nested.at(30), 3);  // the end does not belong to a range
  EXPECT_EQ(nested.at(35), 4);
  EXPECT_EQ(nested.at(40), 1);
  EXPECT_EQ(nested.at(99), 1);
  EXPECT_EQ(nested.at(100), 0);
}

TEST(StageTimeline, RangesThatWereNeverClosed) {
  const StageTimeline timeline({{10, kNever, 1}, {20, 30, 2}});
  EXPECT_EQ(timeline.at(25), 2);
  EXPECT_EQ(timeline.at(30), 1);
  EXPECT_EQ(timeline.at(kNever - 1), 1);
}

TEST(StageTimeline, EqualStartsAndEmptyRanges) {
  // The shorter of two with the same start is inside, whatever their order; a range of length 0
  // contains nothing.
  for (const bool swapped : {false, true}) {
    std::vector<StageRange> ranges = {{10, 50, 1}, {10, 20, 2}, {15, 15, 3}};
    if (swapped) std::swap(ranges[0], ranges[1]);
    const StageTimeline timeline(ranges);
    EXPECT_EQ(timeline.at(10), 2);
    EXPECT_EQ(timeline.at(15), 2);
    EXPECT_EQ(timeline.at(20), 1);
  }
  EXPECT_EQ(StageTimeline({{10, 20, 1}, {10, 20, 2}}).at(12), 2);
}

TEST(StageTimeline, AgreesWithASearchThroughAllRanges) {
  std::mt19937_64 rng(11);
  for (int round = 0; round < 500; ++round) {
    std::vector<StageRange> ranges(rng() % 12);
    for (size_t i = 0; i < ranges.size(); ++i) {
      ranges[i].start_ns = static_cast<int64_t>(rng() % 40);
      ranges[i].end_ns =
          rng() % 8 == 0 ? kNever : ranges[i].start_ns + static_cast<int64_t>(rng() % 20);
      ranges[i].name = static_cast<StrId>(i) + 1;
    }
    const StageTimeline timeline(ranges);
    for (int64_t ns = -1; ns < 70; ++ns) {
      const StageRange* best = nullptr;
      for (const StageRange& r : ranges) {
        if (r.start_ns > ns || ns >= r.end_ns) continue;
        const bool inside = best == nullptr || r.start_ns > best->start_ns ||
                            (r.start_ns == best->start_ns && r.end_ns <= best->end_ns);
        if (inside) best = &r;
      }
      ASSERT_EQ(timeline.at(ns), best == nullptr ? 0 : best->name) << ns;
    }
  }
}

/// Lookups in any order of processes and correlation ids.
TEST(StageFinder, FindsCallsInAnyOrder) {
  const test::TemporaryFolder folder;
  std::map<std::pair<int64_t, int64_t>, std::string> expected;
  std::mt19937_64 rng(3);
  test::write_trace(folder.file("t.sptrace"), [&](TraceWriter& w) {
    for (int64_t pid : {1, 2, 3}) {
      for (int64_t i = 0; i < 50; ++i) {
        NvtxRow range;
        range.pid = pid;
        range.domain = w.intern("stwo.prover");
        range.name = w.intern("stage " + std::to_string(pid) + "." + std::to_string(i));
        range.tid = 10 + pid;
        range.start_ns = 1000 * (i + 1);
        range.end_ns = 1000 * (i + 1) + 500;
        range.category = 2;
        w.nvtx(range);
      }
      for (int i = 0; i < 300; ++i) {
        ApiRow call;
        call.pid = pid;
        call.tid = 10 + pid;
        call.name = w.intern("cuLaunchKernel");
        call.corr = static_cast<int64_t>(rng() % 1'000'000);
        if (expected.contains({pid, call.corr})) continue;
        const auto start = 1000 + static_cast<int64_t>(rng() % 50'000);
        call.time = {start, start + 1};
        w.api(call);
        const bool inside = start % 1000 < 500;
        expected[{pid, call.corr}] =
            inside ? "stage " + std::to_string(pid) + "." + std::to_string(start / 1000 - 1) : "";
      }
    }
  });
  const auto trace = open_trace(folder.file("t.sptrace"));
  StageFinder finder(*trace);
  ASSERT_TRUE(finder.has_stages());
  const auto name = [&](StrId id) {
    return id == 0 ? std::string()
                   : trace->query_text("SELECT value FROM str WHERE id = " + std::to_string(id));
  };
  for (const auto& [key, stage] : expected) {
    EXPECT_EQ(name(finder.stage_of(key.first, key.second)), stage);
  }
  std::vector<std::pair<int64_t, int64_t>> keys;
  for (const auto& [key, stage] : expected) keys.push_back(key);
  for (int i = 0; i < 2000; ++i) {
    const auto& key = keys[rng() % keys.size()];
    EXPECT_EQ(name(finder.stage_of(key.first, key.second)), expected[key]);
    EXPECT_EQ(finder.stage_of(key.first, 1'000'000 + i), 0);
    EXPECT_EQ(finder.stage_of(9, key.second), 0);
  }
}

}  // namespace
}  // namespace ledger

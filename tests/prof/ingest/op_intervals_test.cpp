#include "prof/ingest/op_intervals.hpp"

#include <algorithm>
#include <random>

#include "tests/ledger/trace/trace_files.hpp"

namespace prof {
namespace {

OpInterval op(uint64_t ordinal, int64_t start, int64_t end, uint32_t corr = 0,
              uint32_t stream = 13) {
  OpInterval out;
  out.pid = 7;
  out.context = 1;
  out.stream = stream;
  out.corr = corr == 0 ? static_cast<uint32_t>(ordinal) + 1 : corr;
  out.start_ns = start;
  out.end_ns = end;
  out.digest = ordinal + 100;
  out.ordinal = ordinal;
  return out;
}

std::vector<uint64_t> corrupt_of(std::vector<OpInterval> ops) {
  std::vector<uint64_t> expected;
  for (int round = 0; round < 4; ++round) {
    const ledger::test::TemporaryFolder folder;
    ExternalSorter<OpInterval> sorter(folder.file(""), 3 * sizeof(OpInterval));
    for (const OpInterval& o : ops) sorter.add(o);
    std::vector<uint64_t> out;
    find_corrupt_durations(sorter, [&](uint64_t ordinal) { out.push_back(ordinal); });
    std::sort(out.begin(), out.end());
    if (round == 0) expected = out;
    EXPECT_EQ(out, expected) << "the order of records matters";
    std::shuffle(ops.begin(), ops.end(), std::mt19937(static_cast<unsigned>(round)));
  }
  return expected;
}

using Ordinals = std::vector<uint64_t>;

TEST(OpIntervals, AMicrosecondIsTheLimit) {
  EXPECT_EQ(corrupt_of({op(0, 1000, 5000), op(1, 4000, 6000)}), Ordinals{});
  EXPECT_EQ(corrupt_of({op(0, 1000, 5000), op(1, 3999, 6000)}), Ordinals{0});
}

TEST(OpIntervals, TheEarlierOneIsWrongAndOnce) {
  EXPECT_EQ(corrupt_of({op(0, 1000, 90'000), op(1, 2000, 3000), op(2, 4000, 5000),
                        op(3, 6000, 50'000), op(4, 7000, 8000)}),
            (Ordinals{0, 3}));
}

TEST(OpIntervals, OtherStreamsAndNodesOfOneGraphRunSideBySide) {
  EXPECT_EQ(corrupt_of({op(0, 1000, 9000), op(1, 2000, 8000, 0, 14)}), Ordinals{});
  EXPECT_EQ(corrupt_of({op(0, 1000, 9000, 5), op(1, 2000, 8000, 5), op(2, 2500, 7000, 5)}),
            Ordinals{});
  // The next launch must not begin before the nodes of this one have ended.
  EXPECT_EQ(corrupt_of({op(0, 1000, 9000, 5), op(1, 2000, 8000, 5), op(2, 3000, 3500, 6)}),
            (Ordinals{0, 1}));
}

TEST(OpIntervals, ADuplicateOverlapsNothing) {
  OpInterval copy = op(0, 1000, 5000);
  copy.ordinal = 9;
  EXPECT_EQ(corrupt_of({op(0, 1000, 5000), copy, op(1, 5000, 6000)}), Ordinals{});
}

TEST(OpIntervals, ExtremeTimesDoNotOverflow) {
  EXPECT_EQ(corrupt_of({op(0, INT64_MIN, INT64_MAX), op(1, INT64_MIN + 1, INT64_MAX)}),
            Ordinals{0});
}

}  // namespace
}  // namespace prof

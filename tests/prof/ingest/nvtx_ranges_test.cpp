#include "prof/ingest/nvtx_ranges.hpp"

#include <algorithm>
#include <random>

#include "tests/ledger/trace/trace_files.hpp"

namespace prof {
namespace {

using ledger::NvtxType;
using P = MarkerPart;

P part(int32_t kind, int64_t id, int64_t ts, int64_t tid = 8) {
  P out;
  out.part = kind;
  out.pid = 7;
  out.id = id;
  out.ts_ns = ts;
  out.tid = tid;
  out.name = id + 100;
  return out;
}

struct Assembled {
  std::vector<MarkerRange> rows;
  std::vector<std::string> refused;
  const MarkerRange& of(int64_t id) const {
    const auto it = std::find_if(rows.begin(), rows.end(),
                                 [&](const MarkerRange& r) { return r.name == id + 100; });
    EXPECT_NE(it, rows.end()) << id;
    return *it;
  }
  NvtxType type(int64_t id) const { return of(id).type; }
};

Assembled assemble(std::vector<P> parts) {
  Assembled first;
  for (int round = 0; round < 4; ++round) {
    const ledger::test::TemporaryFolder folder;
    ExternalSorter<P> sorter(folder.file(""), 2 * sizeof(P));
    ExternalSorter<MarkerRange> ranges(folder.file(""), 2 * sizeof(MarkerRange));
    for (size_t i = 0; i < parts.size(); ++i) sorter.add(parts[i]);
    Assembled out;
    assemble_ranges(sorter, ranges,
                    {[&](const MarkerRange& r) { out.rows.push_back(r); },
                     [&](const P&, const char* why) { out.refused.emplace_back(why); }});
    if (round == 0) first = out;
    EXPECT_EQ(out.rows.size(), first.rows.size());
    for (size_t i = 0; i < std::min(out.rows.size(), first.rows.size()); ++i) {
      EXPECT_EQ(out.rows[i].key(), first.rows[i].key()) << "the order of records matters";
    }
    EXPECT_EQ(out.refused, first.refused);
    std::shuffle(parts.begin(), parts.end(), std::mt19937(static_cast<unsigned>(round)));
  }
  return first;
}

TEST(NvtxRanges, PartsOfOneIdAreOneRange) {
  P data = part(P::kData, 1, 0);
  data.category = 2;
  data.has_payload = true;
  data.payload = 0;
  const auto out = assemble({part(P::kStart, 1, 10), data, part(P::kEnd, 1, 20)});
  ASSERT_EQ(out.rows.size(), 1U);
  const MarkerRange& r = out.of(1);
  EXPECT_EQ(r.type, NvtxType::kPushPop);
  EXPECT_EQ(r.start_ns, 10);
  EXPECT_EQ(r.end_ns, 20);
  EXPECT_EQ(r.end_tid, 0);
  EXPECT_EQ(r.category, 2);
  EXPECT_TRUE(r.has_payload);
  EXPECT_TRUE(out.refused.empty());
}

TEST(NvtxRanges, MarksAndUnclosedRangesHaveNoEnd) {
  const auto out = assemble({part(P::kInstant, 1, 10), part(P::kStart, 2, 11)});
  EXPECT_EQ(out.type(1), NvtxType::kMark);
  EXPECT_EQ(out.of(1).end_ns, 0);
  EXPECT_EQ(out.type(2), NvtxType::kPushPop);
  EXPECT_EQ(out.of(2).end_ns, 0);
}

TEST(NvtxRanges, NestedRangesArePushAndPop) {
  const auto out = assemble({part(P::kStart, 1, 10), part(P::kStart, 2, 10), part(P::kEnd, 2, 15),
                             part(P::kStart, 3, 15), part(P::kEnd, 3, 20), part(P::kEnd, 1, 20)});
  for (const int64_t id : {1, 2, 3}) EXPECT_EQ(out.type(id), NvtxType::kPushPop) << id;
}

TEST(NvtxRanges, CrossingRangesAreStartAndEnd) {
  const auto out = assemble({part(P::kStart, 1, 10), part(P::kStart, 2, 15), part(P::kEnd, 1, 20),
                             part(P::kEnd, 2, 30), part(P::kStart, 3, 40), part(P::kEnd, 3, 50)});
  EXPECT_EQ(out.type(1), NvtxType::kStartEnd);
  EXPECT_EQ(out.type(2), NvtxType::kStartEnd);
  EXPECT_EQ(out.type(3), NvtxType::kPushPop);
}

TEST(NvtxRanges, OtherThreadsAndDomainsCrossFreely) {
  P other_thread_start = part(P::kStart, 2, 15, 9);
  P other_thread_end = part(P::kEnd, 2, 30, 9);
  P other_domain_start = part(P::kStart, 3, 15);
  other_domain_start.domain = 5;
  const auto out = assemble({part(P::kStart, 1, 10), part(P::kEnd, 1, 20), other_thread_start,
                             other_thread_end, other_domain_start, part(P::kEnd, 3, 30)});
  for (const int64_t id : {1, 2, 3}) EXPECT_EQ(out.type(id), NvtxType::kPushPop) << id;
}

TEST(NvtxRanges, ARangeThatEndsOnAnotherThreadIsStartAndEnd) {
  const auto out = assemble({part(P::kStart, 1, 10, 8), part(P::kEnd, 1, 20, 9)});
  EXPECT_EQ(out.type(1), NvtxType::kStartEnd);
  EXPECT_EQ(out.of(1).end_tid, 9);
}

TEST(NvtxRanges, AnUnclosedRangeInsideAClosedOneIsNoStage) {
  const auto out = assemble({part(P::kStart, 1, 10), part(P::kStart, 2, 15), part(P::kEnd, 1, 20)});
  EXPECT_EQ(out.type(1), NvtxType::kPushPop);
  EXPECT_EQ(out.type(2), NvtxType::kStartEnd);
}

TEST(NvtxRanges, PartsThatBelongToNothingAreRefused) {
  const auto out = assemble({part(P::kEnd, 1, 20), part(P::kData, 2, 0), part(P::kStart, 3, 0),
                             part(P::kStart, 4, 10), part(P::kEnd, 4, 5), part(P::kStart, 5, 10),
                             part(P::kStart, 5, 11), part(P::kEnd, 5, 12), part(P::kEnd, 5, 13)});
  EXPECT_EQ(out.refused,
            (std::vector<std::string>{"NVTX_UNMATCHED: the end of a range without its start",
                                      "NVTX_UNMATCHED: data of a range without its start",
                                      "NVTX_UNTIMED: a range or mark without a time",
                                      "NVTX_ORDER: the end of a range lies before its start",
                                      "NVTX_TWICE: a second start of one range",
                                      "NVTX_TWICE: a second end of one range"}));
  ASSERT_EQ(out.rows.size(), 2U);
  // Its end is not known.
  EXPECT_EQ(out.of(4).end_ns, 0);
  EXPECT_EQ(out.of(5).start_ns, 10);
  EXPECT_EQ(out.of(5).end_ns, 12);
}

}  // namespace
}  // namespace prof

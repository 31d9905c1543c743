// Exports read again as a viewer does: every slice is there, none is lost to a partial overlap,
// every arrow has two ends in slices.
#include "prof/export/perfetto.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "tests/ledger/trace/trace_files.hpp"

namespace prof {
namespace {

using ledger::test::at;
using ledger::test::span;
using ledger::test::write_call;
using ledger::test::write_kernel;
using ledger::test::write_range;
using Json = nlohmann::json;
using Fill = std::function<void(ledger::TraceWriter&)>;

struct Slice {
  int64_t start;
  int64_t end;
  std::string name;
  std::string category;
};

/// Nanoseconds of a number of microseconds, from its text: no rounding.
int64_t ns(const Json& us) {
  const std::string text = us.dump();
  const double value = us.get<double>() * 1000;
  EXPECT_NEAR(value, std::round(value), 1e-3) << text;
  return std::llround(value);
}

/// The export of a capture, taken apart.
struct Read {
  PerfettoCounts counts;
  std::string text;
  Json other;
  std::map<int64_t, std::string> processes;
  std::map<std::pair<int64_t, int64_t>, std::string> tracks;
  std::map<std::pair<int64_t, int64_t>, std::vector<Slice>> slices;
  std::map<int64_t, std::vector<Json>> flows;
  std::vector<Json> marks;
  std::vector<Json> counters;

  size_t of(const std::string& category) const {
    size_t n = 0;
    for (const auto& [track, all] : slices) {
      n += static_cast<size_t>(std::count_if(
          all.begin(), all.end(), [&](const Slice& s) { return s.category == category; }));
    }
    return n;
  }
  const std::vector<Slice>& on(const std::string& track_name) const {
    for (const auto& [track, name] : tracks) {
      if (name == track_name) return slices.at(track);
    }
    throw std::out_of_range(track_name);
  }
};

Read read_export(const Fill& fill) {
  const ledger::test::TemporaryFolder folder;
  ledger::test::write_trace(folder.file("t.sptrace"), fill);
  const auto trace = ledger::open_trace(folder.file("t.sptrace"));
  Read out;
  out.counts = export_perfetto(*trace, [&](std::string_view piece) { out.text += piece; });
  const Json root = Json::parse(out.text);
  EXPECT_EQ(root.at("displayTimeUnit"), "ns");
  out.other = root.at("otherData");
  for (const Json& e : root.at("traceEvents")) {
    const std::string phase = e.at("ph");
    const std::pair<int64_t, int64_t> track(e.at("pid"), e.at("tid"));
    if (phase == "M" && e.at("name") == "process_name") {
      EXPECT_TRUE(out.processes.emplace(track.first, e.at("args").at("name")).second);
    } else if (phase == "M" && e.at("name") == "thread_name") {
      EXPECT_TRUE(out.tracks.emplace(track, e.at("args").at("name")).second);
    } else if (phase == "X") {
      const int64_t start = ns(e.at("ts"));
      out.slices[track].push_back({start, start + ns(e.at("dur")), e.at("name"), e.at("cat")});
    } else if (phase == "s" || phase == "f") {
      out.flows[e.at("id").get<int64_t>()].push_back(e);
    } else if (phase == "i") {
      out.marks.push_back(e);
    } else if (phase == "C") {
      out.counters.push_back(e);
    } else {
      EXPECT_EQ(phase, "M");
    }
  }
  return out;
}

void expect_slices_nest(const Read& read) {
  std::set<int64_t> numbers;
  for (const auto& [track, name] : read.tracks) {
    EXPECT_TRUE(numbers.insert(track.second).second) << "track number used twice: " << name;
  }
  for (const auto& [track, unsorted] : read.slices) {
    ASSERT_EQ(read.tracks.count(track), 1U);
    ASSERT_EQ(read.processes.count(track.first), 1U);
    std::vector<Slice> slices = unsorted;
    std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
      return a.start != b.start ? a.start < b.start : a.end > b.end;
    });
    std::vector<int64_t> open;
    for (const Slice& slice : slices) {
      EXPECT_GE(slice.start, 0);
      EXPECT_GE(slice.end, slice.start);
      while (!open.empty() && open.back() <= slice.start) open.pop_back();
      if (!open.empty()) {
        EXPECT_LE(slice.end, open.back()) << read.tracks.at(track) << " " << slice.name;
      }
      open.push_back(slice.end);
    }
  }
}

/// Is there a slice of that start on the track?
bool starts_at(const Read& read, const Json& event) {
  const auto track = read.slices.find({event.at("pid"), event.at("tid")});
  if (track == read.slices.end()) return false;
  const int64_t time = ns(event.at("ts"));
  return std::any_of(track->second.begin(), track->second.end(),
                     [&](const Slice& s) { return s.start == time; });
}

void expect_flows_complete(const Read& read) {
  for (const auto& [id, ends] : read.flows) {
    ASSERT_EQ(ends.size(), 2U) << id;
    EXPECT_EQ(ends[0].at("ph"), "s");
    EXPECT_EQ(ends[1].at("ph"), "f");
    EXPECT_EQ(ends[1].at("bp"), "e");
    EXPECT_TRUE(starts_at(read, ends[0])) << id;
    EXPECT_TRUE(starts_at(read, ends[1])) << id;
  }
}

TEST(Perfetto, EmptyCapture) {
  const Read read = read_export([](ledger::TraceWriter&) {});
  EXPECT_TRUE(read.slices.empty());
  EXPECT_EQ(read.other.at("operations"), 0);
  EXPECT_EQ(read.other.at("schema"), "stwo_prof_perfetto_v1");
}

TEST(Perfetto, CallsKernelsAndArrows) {
  const Read read = read_export([](ledger::TraceWriter& w) {
    w.meta("process_name.7", "stwo");
    w.device({.id = 0, .uuid = "GPU-1", .name = "NVIDIA H200"});
    write_call(w, 8, 1, span(1000, 2000));
    write_call(w, 8, 2, span(1500, 1800), "inner");
    write_call(w, 8, 3, span(1900, 3001), "crossing");
    write_call(w, 8, 4, {}, "untimed");
    write_kernel(w, "first", 1, span(2500, 4000));
    write_kernel(w, "second", 3, span(3500, 5000));  // overlaps the first on its stream
    write_kernel(w, "third", 3, span(5000, 5007));   // two kernels of one call
    write_kernel(w, "orphan", 99, span(6000, 6001));
    write_kernel(w, "untimed", 1, {});
  });
  expect_slices_nest(read);
  expect_flows_complete(read);
  EXPECT_EQ(read.counts.calls, 3);
  EXPECT_EQ(read.counts.operations, 4);
  EXPECT_EQ(read.counts.untimed, 2);
  EXPECT_EQ(read.other.at("untimed_left_out"), 2);
  EXPECT_EQ(read.of("api"), 3U);
  EXPECT_EQ(read.of("kernel"), 4U);
  EXPECT_EQ(read.processes.at(7), "process 7 stwo");
  EXPECT_EQ(read.processes.at(1'000'000'000), "GPU 0 NVIDIA H200, process 7 stwo");
  EXPECT_EQ(read.on("thread 8: CUDA calls").size(), 2U);
  EXPECT_EQ(read.on("thread 8: CUDA calls (lane 2)").at(0).name, "crossing");
  EXPECT_EQ(read.on("context 1, stream 13").size(), 3U);
  EXPECT_EQ(read.on("context 1, stream 13 (lane 2)").at(0).name, "second");
  // Calls 1 and 3 launched one and two kernels; the third kernel's call is not in the capture.
  EXPECT_EQ(read.flows.size(), 3U);
  EXPECT_EQ(read.flows.at(2).at(0).at("tid"), read.flows.at(3).at(0).at("tid"));
  EXPECT_NE(read.flows.at(1).at(0).at("tid"), read.flows.at(2).at(0).at("tid"));
  // Nanoseconds are the third decimal.
  EXPECT_NE(read.text.find("\"ts\":5.000,\"dur\":0.007"), std::string::npos);
}

TEST(Perfetto, RangesMarksAndTheirTracks) {
  const Read read = read_export([](ledger::TraceWriter& w) {
    write_range(w, "request", 8, 100, 900, 1);
    write_range(w, "oods", 8, 200, 400);
    write_range(w, "open", 8, 500, std::nullopt);
    write_range(w, "other", 8, 300, 600, 0, "library");
    write_range(w, "a", 8, 100, 300, 0, "stwo.prover", ledger::NvtxType::kStartEnd);
    write_range(w, "b", 8, 200, 400, 0, "stwo.prover", ledger::NvtxType::kStartEnd);
    write_range(w, "mark", 8, 250, std::nullopt, 0, "stwo.prover", ledger::NvtxType::kMark);
  });
  expect_slices_nest(read);
  EXPECT_EQ(read.counts.ranges, 6);
  EXPECT_EQ(read.counts.unclosed, 1);
  EXPECT_EQ(read.counts.marks, 1);
  EXPECT_EQ(read.marks.size(), 1U);
  EXPECT_EQ(read.of("nvtx"), 6U);
  // The unclosed one ends with the trace (900), inside the request.
  const std::vector<Slice>& prover = read.on("thread 8: ranges of stwo.prover");
  ASSERT_EQ(prover.size(), 3U);
  EXPECT_EQ(prover.at(2).name, "open");
  EXPECT_EQ(prover.at(2).end, 900);
  EXPECT_NE(read.text.find("\"unclosed\":true"), std::string::npos);
  EXPECT_EQ(read.on("thread 8: ranges of library").size(), 1U);
  EXPECT_EQ(read.on("thread 8: ranges of stwo.prover, start and end").at(0).name, "a");
  EXPECT_EQ(read.on("thread 8: ranges of stwo.prover, start and end (lane 2)").at(0).name, "b");
}

TEST(Perfetto, NothingLiesBeforeTheBegin) {
  const Read read = read_export([](ledger::TraceWriter& w) {
    write_call(w, 8, 1, span(-500, -400));
    write_kernel(w, "k", 1, span(-300, 100));
  });
  expect_slices_nest(read);
  EXPECT_EQ(read.on("thread 8: CUDA calls").at(0).start, 0);
  EXPECT_EQ(read.on("context 1, stream 13").at(0).start, 200);
}

TEST(Perfetto, LiveMemory) {
  const auto event = [](ledger::TraceWriter& w, ledger::MemOp op, uint64_t address, int64_t bytes,
                        std::optional<int64_t> when, int64_t kind = 3) {
    ledger::MemEventRow row;
    row.pid = 7;
    row.op = op;
    row.mem_kind = kind;
    row.address = address;
    row.bytes = bytes;
    row.ts_ns = when;
    w.mem_event(row);
  };
  const auto kGet = ledger::MemOp::kAllocation;
  const auto kGive = ledger::MemOp::kRelease;
  const Read read = read_export([&](ledger::TraceWriter& w) {
    event(w, kGet, 1, 100, at(10));
    event(w, kGet, 2, 50, at(20));
    event(w, kGive, 9, 1000, at(25));  // was allocated before the capture
    event(w, kGive, 1, 100, at(30));
    event(w, kGet, 2, 70, at(40));  // its release has no record
    event(w, kGet, 3, 5, at(50), 2);
    event(w, kGet, 4, 1, std::nullopt);
  });
  std::vector<std::pair<std::string, int64_t>> values;
  for (const Json& c : read.counters) values.emplace_back(c.at("name"), c.at("args").at("bytes"));
  const std::vector<std::pair<std::string, int64_t>> expected = {
      {"device memory", 100}, {"device memory", 150}, {"device memory", 50},
      {"device memory", 0},   {"device memory", 70},  {"pinned memory", 5}};
  EXPECT_EQ(values, expected);
  EXPECT_EQ(read.counters.back().at("pid"), 7);
  EXPECT_EQ(read.counts.unmatched_releases, 1);
  EXPECT_EQ(read.counts.untimed, 1);
}

TEST(Perfetto, NamesOfAnyBytesStayJson) {
  const Read read = read_export(
      [](ledger::TraceWriter& w) { write_kernel(w, "k\"\\\n\xff<int>", 1, span(1, 2)); });
  EXPECT_EQ(read.on("context 1, stream 13").at(0).name, "k\"\\\n\xef\xbf\xbd<int>");
}

TEST(Perfetto, RandomCapturesLoseNothing) {
  std::mt19937 random(20260131);
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  for (int round = 0; round < 5; ++round) {
    int64_t timed_calls = 0;
    int64_t timed_kernels = 0;
    int64_t ranges = 0;
    const Read read = read_export([&](ledger::TraceWriter& w) {
      for (int64_t i = 0; i < 400; ++i) {
        const int64_t start = below(20'000);
        const bool timed = below(10) > 0;
        write_call(w, 8 + below(3), i,
                   timed ? span(start, start + below(300)) : ledger::TimeSpan{});
        timed_calls += timed ? 1 : 0;
      }
      for (int64_t i = 0; i < 400; ++i) {
        const int64_t start = below(20'000);
        const bool timed = below(10) > 0;
        write_kernel(w, "k" + std::to_string(below(5)), below(500),
                     timed ? span(start, start + below(300)) : ledger::TimeSpan{}, 1, below(2));
        timed_kernels += timed ? 1 : 0;
      }
      for (int64_t i = 0; i < 200; ++i, ++ranges) {
        const int64_t start = below(20'000);
        write_range(w, "r", 8 + below(3), start,
                    below(10) > 0 ? std::optional(start + below(900)) : std::nullopt, 2,
                    below(2) > 0 ? "a" : "b",
                    below(2) > 0 ? ledger::NvtxType::kPushPop : ledger::NvtxType::kStartEnd);
      }
    });
    expect_slices_nest(read);
    expect_flows_complete(read);
    EXPECT_EQ(read.of("api"), static_cast<size_t>(timed_calls));
    EXPECT_EQ(read.of("kernel"), static_cast<size_t>(timed_kernels));
    EXPECT_EQ(read.of("nvtx"), static_cast<size_t>(ranges));
    EXPECT_EQ(read.counts.calls, timed_calls);
    EXPECT_EQ(static_cast<size_t>(read.counts.flows), read.flows.size());
    EXPECT_FALSE(read.flows.empty());
  }
}

}  // namespace
}  // namespace prof

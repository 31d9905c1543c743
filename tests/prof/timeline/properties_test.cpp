// What must hold for every capture.
#include <algorithm>
#include <map>
#include <random>

#include "prof/timeline/busy_time.hpp"
#include "tests/prof/timeline/captures.hpp"

namespace prof::test {
namespace {

/// A record of a random capture: writes itself.
using Record = std::function<void(TraceWriter&)>;

std::vector<Record> random_records(std::mt19937_64& rng) {
  const auto below = [&](uint64_t n) { return static_cast<int64_t>(rng() % n); };
  std::vector<Record> out;
  for (int64_t corr = 1; corr <= 60; ++corr) {
    const int64_t called = 1000 + below(8000);
    const int64_t start = called + below(500);
    const int64_t end = start + below(300);
    const Place place{corr, 13 + below(3), below(2), std::nullopt, std::nullopt};
    const std::string name = "k" + std::to_string(below(4));
    out.push_back([=](TraceWriter& w) {
      call(w, "cuLaunchKernel", corr, called, called + 5, 70 + corr % 2);
    });
    const int64_t kind = below(10);
    const ledger::TimeSpan time = kind == 9 ? ledger::TimeSpan{} : span(start, end);
    if (kind == 0) {
      out.push_back([=](TraceWriter& w) { copy(w, 1 + corr % 2, corr, place, time); });
    } else if (kind == 1) {
      out.push_back([=](TraceWriter& w) { fill(w, corr, place, time); });
    } else if (kind == 2) {
      const Place node{1000, place.stream, place.device, 5, static_cast<uint64_t>(corr)};
      out.push_back([=](TraceWriter& w) { kernel(w, name, node, time); });
    } else {
      out.push_back([=](TraceWriter& w) { kernel(w, name, place, time); });
    }
  }
  out.push_back([](TraceWriter& w) { call(w, "cuGraphLaunch", 1000, 1500, 1510); });
  for (int64_t i = 0; i < 8; ++i) {
    const int64_t from = 1000 + below(8000);
    const int64_t to = from + below(2000);
    out.push_back(
        [=](TraceWriter& w) { stage(w, "stage" + std::to_string(i % 4), from, to, 70 + i % 2); });
    out.push_back([=](TraceWriter& w) { sync(w, 1 + 2 * (i % 2), 500 + i, span(from, to), 13); });
    out.push_back([=](TraceWriter& w) {
      memory(w, i % 3 == 0 ? ledger::MemOp::kRelease : ledger::MemOp::kAllocation,
             static_cast<uint64_t>(i % 3), 10 * i, from, 2000 + i);
    });
    out.push_back([=](TraceWriter& w) { overhead(w, i % 3 << 16, span(from, to)); });
  }
  return out;
}

void write_records(TraceWriter& w, const std::vector<Record>& records) {
  one_window(w, 2000, 7000);
  for (const Record& record : records) record(w);
}

TEST(Properties, TheOrderOfRecordsDoesNotMatter) {
  std::mt19937_64 rng(41);
  for (int round = 0; round < 10; ++round) {
    std::vector<Record> records = random_records(rng);
    std::string first;
    for (int order = 0; order < 3; ++order) {
      Capture capture([&](TraceWriter& w) { write_records(w, records); });
      const Timeline t = capture.analyze();
      const std::string text = to_json(t) + to_text(t);
      if (order == 0) first = text;
      EXPECT_EQ(text, first);
      std::shuffle(records.begin(), records.end(), rng);
    }
  }
}

TEST(Properties, SumsAreWhole) {
  std::mt19937_64 rng(43);
  for (int round = 0; round < 30; ++round) {
    const std::vector<Record> records = random_records(rng);
    Capture capture([&](TraceWriter& w) { write_records(w, records); });
    const Timeline t = capture.analyze();
    int64_t busy_sum = 0;
    for (const DeviceGaps& d : t.launch_gaps->devices) {
      EXPECT_LE(d.busy_ns, d.span_ns);
      EXPECT_EQ(d.busy_ns + d.gaps.sum_ns, d.span_ns);
      EXPECT_EQ(d.before_ns + d.span_ns + d.after_ns, t.window.length_ns());
      EXPECT_EQ(d.host_late_ns + d.launch_latency_ns + d.dependency_ns + d.unknown_ns,
                d.gaps.sum_ns);
      int64_t in_histogram = 0;
      for (const int64_t n : d.histogram) in_histogram += n;
      EXPECT_EQ(in_histogram, d.gaps.n);
      busy_sum += d.busy_ns;
    }
    EXPECT_EQ(t.stages->whole.busy_ns, busy_sum);
    EXPECT_EQ(t.stages->whole.facts.gaps_ns, t.launch_gaps->gap_ns);
    EXPECT_LE(t.activity->busy_ns, busy_sum);
    EXPECT_GE(2 * t.activity->busy_ns, busy_sum);
    for (const StageRow& row : t.stages->stages) {
      EXPECT_LE(row.busy_ns + row.facts.gaps_ns, row.facts.span_ns);
      EXPECT_GE(row.facts.concurrency, 1.0);
    }
    const StageTable& s = *t.stages;
    EXPECT_EQ(s.attributed_ns + s.ambiguous_ns + s.uncalled_ns + s.outside_ns, s.kernel_ns);
    int64_t kernel_ns = 0;
    for (const KernelFacts& k : *t.kernels) kernel_ns += k.total_ns;
    EXPECT_EQ(kernel_ns, s.kernel_ns);
    const SubmitThread& thread = *t.submit_thread;
    EXPECT_EQ(thread.before_ns + thread.in_api_ns + thread.gaps.sum_ns + thread.after_ns,
              t.window.length_ns());
    EXPECT_LE(thread.starved_ns, thread.gaps.sum_ns);
  }
}

TEST(Properties, TheViewOfIslandsAgreesWithTheUnion) {
  std::mt19937_64 rng(47);
  for (int round = 0; round < 10; ++round) {
    const std::vector<Record> records = random_records(rng);
    Capture capture([&](TraceWriter& w) {
      for (const Record& record : records) record(w);
    });
    const Timeline t = capture.analyze();
    ASSERT_EQ(t.window.source, WindowSource::kCapture);
    ledger::Statement rows = capture.trace().prepare(
        "SELECT device_id, SUM(end_ns - start_ns), SUM(operations) FROM busy_island "
        "GROUP BY device_id ORDER BY device_id");
    for (const DeviceActive& d : t.activity->devices) {
      ASSERT_TRUE(rows.step());
      EXPECT_EQ(rows.integer(0), d.device_id);
      EXPECT_EQ(rows.integer(1), d.busy_ns);
      EXPECT_EQ(rows.integer(2), d.operations);
    }
    EXPECT_FALSE(rows.step());
  }
}

TEST(Properties, ConcurrencyAgreesWithCounting) {
  std::mt19937_64 rng(53);
  for (int round = 0; round < 10; ++round) {
    const std::vector<Record> records = random_records(rng);
    Capture capture([&](TraceWriter& w) { write_records(w, records); });
    const Timeline t = capture.analyze();
    // Device, then kernels open in each nanosecond of the window.
    std::map<int64_t, std::vector<int64_t>> open;
    ledger::Statement rows = capture.trace().prepare(
        "SELECT device_id, start_ns, end_ns FROM gpu_op WHERE kind = 1 AND start_ns IS NOT NULL");
    while (rows.step()) {
      auto& of_device = open[rows.integer(0)];
      of_device.resize(5000);
      for (int64_t ns = std::max(rows.integer(1), t.window.begin_ns);
           ns < std::min(rows.integer(2), t.window.end_ns); ++ns) {
        ++of_device[static_cast<size_t>(ns - t.window.begin_ns)];
      }
    }
    for (const DeviceConcurrency& d : t.concurrency->devices) {
      const auto& levels = open[d.device_id];
      for (int64_t k = 1; k <= d.most_at_once + 1; ++k) {
        const auto expected =
            std::count_if(levels.begin(), levels.end(), [&](int64_t n) { return n >= k; });
        const auto i = static_cast<size_t>(k) - 1;
        EXPECT_EQ(i < d.at_least_ns.size() ? d.at_least_ns[i] : 0, expected);
      }
    }
  }
}

}  // namespace
}  // namespace prof::test

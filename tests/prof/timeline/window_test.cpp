// Which part of a capture the questions are about.
#include "prof/timeline/window.hpp"

#include "tests/prof/timeline/captures.hpp"

namespace prof::test {
namespace {

using ledger::WindowRole;

void request_range(TraceWriter& w, int64_t from, std::optional<int64_t> to,
                   std::optional<uint64_t> payload) {
  ledger::NvtxRow row;
  row.pid = 7;
  row.domain = w.intern("stwo.prover");
  row.name = w.intern("request");
  row.tid = 70;
  row.start_ns = at(from);
  if (to) row.end_ns = at(*to);
  row.payload = payload;
  row.category = 1;
  w.nvtx(row);
}

TEST(Window, TakesTheMedianSteadyRequest) {
  Capture capture(write_example);
  const Window w = choose_window(capture.trace());
  EXPECT_EQ(w.source, WindowSource::kReport);
  EXPECT_EQ(w.request, 2);
  EXPECT_EQ(w.role, "steady");
  EXPECT_EQ(w.begin_ns, at(10000));
  EXPECT_EQ(w.end_ns, at(20000));
  EXPECT_EQ(w.request_begin_ns, at(9900));
  EXPECT_EQ(w.request_end_ns, at(21000));
  EXPECT_EQ(w.choice, "request 2 of the product report, the median of 3 steady requests");
}

TEST(Window, TakesTheRequestAskedFor) {
  Capture capture(write_example);
  EXPECT_EQ(choose_window(capture.trace(), 0).begin_ns, at(1000));
  EXPECT_EQ(choose_window(capture.trace(), 0).role, "first");
  const auto failure = failure_of([&] { choose_window(capture.trace(), 4); });
  EXPECT_EQ(failure.code, "TIMELINE_REQUEST");
  EXPECT_NE(failure.message.find("has no request 4 (it has 0 to 3)"), std::string::npos)
      << failure.message;
}

TEST(Window, EvenCountsTakeTheShorterOfTheMiddleTwo) {
  Capture capture([](TraceWriter& w) {
    window(w, 0, WindowRole::kWarmup, 100, 100, 101, 101);
    window(w, 1, WindowRole::kSteady, 1000, 1000, 1040, 1040);
    window(w, 2, WindowRole::kSteady, 2000, 2000, 2010, 2010);
    window(w, 3, WindowRole::kSteady, 3000, 3000, 3030, 3030);
    window(w, 4, WindowRole::kSteady, 4000, 4000, 4020, 4020);
  });
  EXPECT_EQ(choose_window(capture.trace()).request, 4);
}

TEST(Window, WithoutSteadyRequestsWarmupsThenTheFirst) {
  Capture warm([](TraceWriter& w) {
    window(w, 0, WindowRole::kFirst, 1000, 1000, 2000, 2000);
    window(w, 1, WindowRole::kWarmup, 3000, 3000, 3100, 3100);
  });
  EXPECT_EQ(choose_window(warm.trace()).request, 1);
  Capture first([](TraceWriter& w) { window(w, 0, WindowRole::kFirst, 1000, 1000, 2000, 2000); });
  EXPECT_EQ(choose_window(first.trace()).choice,
            "request 0 of the product report, the median of 1 first request");
}

TEST(Window, RangesNameRequestsWithoutAReport) {
  Capture capture([](TraceWriter& w) {
    request_range(w, 1000, 9000, 0);
    request_range(w, 10000, 10500, 1);
    request_range(w, 11000, 11700, 2);
    request_range(w, 12000, 12600, 3);
    request_range(w, 13000, std::nullopt, 4);
  });
  const Window w = choose_window(capture.trace());
  EXPECT_EQ(w.source, WindowSource::kNvtx);
  EXPECT_EQ(w.request, 3);  // of 500, 700 and 600 ns; the first is cold, the last never ended
  EXPECT_EQ(w.begin_ns, at(12000));
  EXPECT_FALSE(w.role);
  EXPECT_EQ(choose_window(capture.trace(), 2).begin_ns, at(11000));
  EXPECT_EQ(code_of([&] { choose_window(capture.trace(), 4); }), "TIMELINE_REQUEST");
}

TEST(Window, RangesWithoutDistinctPayloadsAreNumbered) {
  for (const std::optional<uint64_t> payload : {std::optional<uint64_t>(), {5}}) {
    Capture capture([&](TraceWriter& w) {
      request_range(w, 5000, 5100, payload);
      request_range(w, 1000, 1500, payload);
    });
    EXPECT_EQ(choose_window(capture.trace(), 0).begin_ns, at(1000));
    EXPECT_EQ(choose_window(capture.trace()).begin_ns, at(5000));
  }
}

TEST(Window, OtherProgramsAreTakenAsAWhole) {
  Capture capture([](TraceWriter& w) {
    call(w, "cuInit", 1, 100, 200);
    kernel(w, "k", {2}, span(300, 900));
    kernel(w, "k", {3}, span(500, 600));
  });
  const Window w = choose_window(capture.trace());
  EXPECT_EQ(w.source, WindowSource::kCapture);
  EXPECT_EQ(w.begin_ns, at(100));
  EXPECT_EQ(w.end_ns, at(900));
  EXPECT_FALSE(w.request);
  EXPECT_EQ(code_of([&] { choose_window(capture.trace(), 0); }), "TIMELINE_REQUEST");
}

TEST(Window, LastStartIsInside) {
  Capture capture([](TraceWriter& w) {
    kernel(w, "k", {1}, span(300, 400));
    kernel(w, "k", {2}, span(400, 400));
  });
  EXPECT_EQ(choose_window(capture.trace()).end_ns, at(401));
}

TEST(Window, NothingToLookAt) {
  Capture empty([](TraceWriter& w) { kernel(w, "k", {1}, {}); });
  EXPECT_EQ(code_of([&] { choose_window(empty.trace()); }), "TIMELINE_EMPTY");
  Capture flat([](TraceWriter& w) { one_window(w, 1000, 1000); });
  EXPECT_EQ(code_of([&] { choose_window(flat.trace()); }), "TIMELINE_WINDOW");
}

/// Pairs of both clocks, `offsets` apart from 1000 s, a second from each other.
void clock_pairs(TraceWriter& w, const std::vector<int64_t>& offsets) {
  for (size_t i = 0; i < offsets.size(); ++i) {
    const auto raw = static_cast<int64_t>(i) * 1'000'000'000;
    w.clock_pair({at(raw + offsets[i]), raw + 5});
  }
}

TEST(Window, AClockThatWasSetMakesItWorthless) {
  const auto with = [](const std::vector<int64_t>& offsets, int64_t from, int64_t to) {
    Capture capture([&](TraceWriter& w) {
      one_window(w, from, to);
      clock_pairs(w, offsets);
    });
    return code_of([&] { choose_window(capture.trace()); });
  };
  const int64_t second = 1'000'000'000;
  EXPECT_EQ(with({0, 0, 50'000, 50'000}, second / 2, 3 * second), "");
  EXPECT_EQ(with({0, 0, 51'000, 51'000}, second / 2, 3 * second), "TIMELINE_CLOCK_STEP");
  EXPECT_EQ(with({0, 0, -51'000, -51'000}, second / 2, 3 * second), "TIMELINE_CLOCK_STEP");
  // A step before or after the window harms nothing.
  EXPECT_EQ(with({0, 900'000, 900'000, 900'000}, 2 * second, 3 * second), "");
  EXPECT_EQ(with({0, 0, 0, 900'000}, second / 2, second), "");
  // A slewed clock drifts evenly: 80 us in every second.
  EXPECT_EQ(with({0, 80'000, 160'000, 240'000, 320'000}, second / 2, 3 * second), "");
  EXPECT_EQ(with({0, 80'000, 160'000, 300'000, 380'000}, second / 2, 3 * second),
            "TIMELINE_CLOCK_STEP");
}

TEST(Window, ClipsAndCounts) {
  Window w;
  w.begin_ns = 10;
  w.end_ns = 20;
  EXPECT_TRUE(w.starts_inside(10));
  EXPECT_FALSE(w.starts_inside(20));
  EXPECT_TRUE(w.touches(5, 11));
  EXPECT_FALSE(w.touches(5, 10));
  EXPECT_TRUE(w.touches(10, 10));
  EXPECT_EQ(w.clip(5, 30), (ledger::Interval{10, 20}));
  EXPECT_EQ(w.inside_ns(15, 30), 5);
  EXPECT_EQ(w.inside_ns(30, 40), 0);
}

}  // namespace
}  // namespace prof::test

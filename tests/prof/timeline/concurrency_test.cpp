// Levels of concurrency against counting every nanosecond, and the example by hand.
#include "prof/timeline/concurrency.hpp"

#include <random>

#include "tests/prof/timeline/captures.hpp"

namespace prof::test {
namespace {

TEST(LevelSweep, AgreesWithCounting) {
  std::mt19937_64 rng(23);
  for (int round = 0; round < 500; ++round) {
    std::vector<ledger::Interval> all(rng() % 14);
    std::vector<size_t> open(140, 0);
    for (auto& i : all) {
      i.start_ns = 20 + static_cast<int64_t>(rng() % 80);
      i.end_ns = i.start_ns + static_cast<int64_t>(rng() % 30);
      for (int64_t t = i.start_ns; t < i.end_ns; ++t) ++open[static_cast<size_t>(t)];
    }
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    LevelSweep sweep;
    for (const auto& i : all) sweep.add(i);
    std::vector<int64_t> expected(all.size() + 1, 0);
    for (const size_t n : open) ++expected[n];
    expected[0] = 0;
    std::vector<int64_t> found = sweep.exact();
    ASSERT_LE(found.size(), expected.size() + 1);
    found.resize(expected.size(), 0);
    ASSERT_EQ(found, expected);
  }
}

TEST(Concurrency, OfTheExample) {
  Capture capture(write_example);
  const Timeline t = capture.analyze();
  const Concurrency& v = *t.concurrency;
  EXPECT_EQ(v.stream_count, 3);
  ASSERT_EQ(v.streams.size(), 3U);
  EXPECT_EQ(v.streams[0].stream_id, 13);
  EXPECT_EQ(v.streams[0].operations, 4);
  EXPECT_EQ(v.streams[0].sum_ns, 5000);
  ASSERT_EQ(v.devices.size(), 1U);
  const DeviceConcurrency& d = v.devices[0];
  EXPECT_EQ(d.kernel_sum_ns, 6000);
  EXPECT_EQ(d.at_least_ns, (std::vector<int64_t>{5000, 1000}));
  EXPECT_EQ(d.most_at_once, 2);
  EXPECT_EQ(d.overlap_ns, 1000);
  EXPECT_DOUBLE_EQ(*d.concurrency, 1.2);
  EXPECT_EQ(d.copy_ns, 2000);
  EXPECT_EQ(d.copy_compute_overlap_ns, 500);  // 15500 to 16000
  EXPECT_EQ(v.waits->waits, 0);
}

TEST(Concurrency, StreamsAloneAreNoConcurrency) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 2000);
    for (int64_t i = 0; i < 5; ++i) {
      kernel(w, "k", {i, 20 + i}, span(1000 + 100 * i, 1100 + 100 * i));
    }
  });
  const Concurrency v = *capture.analyze().concurrency;
  EXPECT_EQ(v.stream_count, 5);
  EXPECT_EQ(v.devices.at(0).overlap_ns, 0);
  EXPECT_EQ(v.devices.at(0).most_at_once, 1);
  EXPECT_DOUBLE_EQ(*v.devices.at(0).concurrency, 1.0);
}

TEST(Concurrency, KernelsOfTwoDevicesAreNotConcurrent) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 2000);
    kernel(w, "k", {1, 13, 0}, span(1000, 1500));
    kernel(w, "k", {2, 13, 1}, span(1000, 1500));
    copy(w, 8, 10, {3, 13, 0}, span(1600, 1700));
  });
  const Concurrency v = *capture.analyze().concurrency;
  ASSERT_EQ(v.devices.size(), 2U);
  EXPECT_EQ(v.devices[0].overlap_ns, 0);
  EXPECT_EQ(v.devices[1].overlap_ns, 0);
  EXPECT_EQ(v.devices[0].copy_ns, 100);
  EXPECT_EQ(v.devices[0].copy_compute_overlap_ns, 0);
}

TEST(Concurrency, WithoutKernelTime) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 2000);
    kernel(w, "k", {1}, span(1100, 1100));
  });
  const DeviceConcurrency d = capture.analyze().concurrency->devices.at(0);
  EXPECT_TRUE(d.at_least_ns.empty());
  EXPECT_FALSE(d.concurrency);
}

}  // namespace
}  // namespace prof::test

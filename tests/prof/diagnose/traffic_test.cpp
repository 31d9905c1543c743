#include "prof/diagnose/traffic.hpp"

#include "tests/prof/diagnose/samples.hpp"

namespace prof::test {
namespace {

TEST(Traffic, MeasuredAgainstPredicted) {
  // 1.5e9 bytes are measured; rereads begin above 1.25 times the prediction.
  const Case c;
  const auto traffic = [&](std::optional<int64_t> ledger) {
    return compare_traffic(c.counters, ledger, c.thresholds);
  };
  EXPECT_EQ(traffic(1'000'000'000).verdict, TrafficVerdict::kRereads);
  EXPECT_DOUBLE_EQ(*traffic(1'000'000'000).ratio, 1.5);
  EXPECT_EQ(traffic(1'199'000'000).verdict, TrafficVerdict::kRereads);
  EXPECT_EQ(traffic(1'200'000'000).verdict, TrafficVerdict::kNear);
  EXPECT_EQ(traffic(1'500'000'000).verdict, TrafficVerdict::kNear);
  EXPECT_EQ(traffic(1'501'000'000).verdict, TrafficVerdict::kBelow);
  EXPECT_EQ(to_text(traffic(1'000'000'000)),
            "measured 1.5 GB, pass ledger 1 GB: 1.5 times as much (rereads)");
  EXPECT_EQ(to_text(traffic(3'000'000'000)),
            "measured 1.5 GB, pass ledger 3 GB: 0.5 times as much (caches serve the rest)");
}

TEST(Traffic, WhatIsNotKnownHasAReason) {
  Case c;
  Traffic t = compare_traffic(c.counters, std::nullopt, c.thresholds);
  EXPECT_EQ(t.verdict, TrafficVerdict::kUnknown);
  EXPECT_EQ(to_text(t),
            "measured 1.5 GB, pass ledger unknown: no plan tells the bytes of this kernel");
  EXPECT_EQ(compare_traffic(c.counters, 0, c.thresholds).reason,
            "the pass ledger predicts no bytes");
  c.drop("dram_write");
  t = compare_traffic(c.counters, 10, c.thresholds);
  EXPECT_FALSE(t.ratio.has_value());
  EXPECT_EQ(t.reason, "dram__bytes_write.sum: \"n/a\" in the report");
}

}  // namespace
}  // namespace prof::test

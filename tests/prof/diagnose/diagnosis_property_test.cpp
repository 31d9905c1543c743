// Any values: no exception, and what a diagnosis rests on holds.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "ledger/documents/document.hpp"
#include "tests/prof/diagnose/samples.hpp"

namespace prof::test {
namespace {

constexpr int kCases = 30000;

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  double counter() {
    constexpr std::array<double, 8> kSpecial = {0, 0.5, 1, 60, 70, 100, 1e18, 5e-324};
    const uint32_t kind = below(10);
    if (kind == 0) return kSpecial[below(kSpecial.size())];
    const double unit = static_cast<double>(random_()) / 4294967296.0;
    return kind < 6 ? unit * 100 : kind < 9 ? unit * 2 : unit * 1e12;
  }

  int64_t time() {
    constexpr std::array<int64_t, 5> kSpecial = {0, 1, INT64_MAX, -1, INT64_MIN};
    return below(20) == 0 ? kSpecial[below(kSpecial.size())]
                          : static_cast<int64_t>(below(2'000'000));
  }

  double real() {
    constexpr std::array<double, 4> kSpecial = {std::numeric_limits<double>::quiet_NaN(),
                                                std::numeric_limits<double>::infinity(), -1, 0};
    return below(20) == 0 ? kSpecial[below(kSpecial.size())]
                          : static_cast<double>(below(3000)) / 1000;
  }

 private:
  std::mt19937 random_;
};

Case random_case(Generator* g) {
  Case c;
  for (auto& [key, v] : c.counters.values) v.value = g->counter();
  for (uint32_t n = g->below(8) == 0 ? 1 + g->below(4) : 0; n > 0; --n) {
    c.drop(metric_table().metrics[g->below(static_cast<uint32_t>(c.counters.values.size()))].key);
  }
  c.counters.launches = g->below(20) == 0 ? 2 : 3;
  c.has_timeline = g->below(2) == 0;
  KernelFacts& t = c.timeline;
  t.launches = g->time();
  t.total_ns = g->time();
  t.share_of_device = g->real();
  t.median_ns = g->time();
  if (g->below(3) == 0) t.median_gap_ns = g->time();
  StageFacts& s = t.stage;
  for (int64_t* field : {&s.span_ns, &s.kernels, &s.median_kernel_ns, &s.gaps_ns, &s.host_late_ns,
                         &s.launch_latency_ns, &s.dependency_ns, &s.wait_ns}) {
    *field = g->time();
  }
  s.concurrency = g->real();
  s.streams = g->below(4);
  if (g->below(2) == 0) c.plan.ledger_bytes = g->time();
  if (g->below(2) == 0) c.plan.parallel_branches = g->below(2) == 0;
  if (g->below(2) == 0) c.plan.transcript_barriers = g->below(3);
  return c;
}

void check(const Diagnosis& d, const Thresholds& t, bool has_timeline) {
  const bool determined = d.mechanism != Mechanism::kUndetermined;
  ASSERT_EQ(d.prediction.has_value(), determined);
  ASSERT_EQ(d.margin.has_value(), determined);
  ASSERT_FALSE(d.summary.empty());
  if (!determined) {
    ASSERT_FALSE(d.high_confidence);
    return;
  }
  ASSERT_GE(*d.margin, 0);
  ASSERT_LE(*d.margin, kMaxMargin);
  ASSERT_TRUE(!d.high_confidence || (*d.margin >= t.high_margin && has_timeline));
  double smallest = kMaxMargin;
  size_t counted = 0;
  for (const Evidence& e : d.evidence) {
    ASSERT_TRUE(holds(e)) << to_text(d);
    if (!e.has_margin) continue;
    ++counted;
    ASSERT_TRUE(e.value.has_value() && e.threshold.has_value()) << e.name;
    smallest = std::min(smallest, margin_of(e));
  }
  ASSERT_GT(counted, 0U) << to_text(d);
  ASSERT_EQ(*d.margin, smallest) << to_text(d);
  ASSERT_NE(d.prediction->find("refute"), std::string::npos) << *d.prediction;
  ASSERT_EQ(d.prediction->find("unknown"), std::string::npos) << *d.prediction;
}

TEST(DiagnosisProperty, WhatItRestsOnHolds) {
  Generator g(20260304);
  std::map<Mechanism, int> seen;
  for (int i = 0; i < kCases; ++i) {
    const Case c = random_case(&g);
    const Diagnosis d = c.result();
    ++seen[d.mechanism];
    check(d, c.thresholds, c.has_timeline);
    if (HasFatalFailure()) return;
    if (i % 50 == 0) {
      EXPECT_EQ(to_text(d), to_text(c.result()));
    }
  }
  // The cases reach every rule.
  EXPECT_EQ(seen.size(), 7U);
  for (const auto& [mechanism, n] : seen) EXPECT_GT(n, 20) << mechanism_name(mechanism);
}

TEST(DiagnosisProperty, TheLedgerTakesEveryResult) {
  Generator g(7);
  const CounterSet set = parse_ncu_csv("t", data_file("ncu_2025_3_c.csv"), {true, true});
  DocumentFacts facts;
  facts.tool_version = "0.1.0";
  facts.created_utc = "2026-03-04T05:06:07Z";
  facts.product_binary_sha256 = std::string(64, 'b');
  facts.device_uuid = "GPU-1";
  facts.device_name = "Synthetic device";
  facts.sm = 90;
  facts.driver_version = "580";
  facts.ncu_version = "2025.3.1.0";
  for (int i = 0; i < 300; ++i) {
    Case c = random_case(&g);
    c.counters.kernel = set.launches.at(0).kernel;
    EXPECT_NO_THROW(counters_document(facts, set, {to_document(c.result())}))
        << to_text(c.result());
  }
}

}  // namespace
}  // namespace prof::test

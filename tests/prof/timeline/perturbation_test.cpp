// What the recorder cost, by hand.
#include "prof/timeline/perturbation.hpp"

#include "tests/prof/timeline/captures.hpp"

namespace prof::test {
namespace {

TEST(Perturbation, OfTheExample) {
  Capture capture(write_example);
  TimelineOptions options;
  options.uninstrumented_ns = 9500;
  const Timeline t = capture.analyze(options);
  const Perturbation& v = t.perturbation;
  EXPECT_EQ(*v.overhead_ns, 150);  // 100, and the last 50 of what began before the window
  EXPECT_EQ(v.profiler_ns, 150);
  ASSERT_EQ(v.rows.size(), 2U);
  EXPECT_EQ(v.rows[0].name, "buffer flush");
  EXPECT_EQ(v.rows[0].ns, 50);
  EXPECT_EQ(v.rows[1].name, "instrumentation");
  EXPECT_DOUBLE_EQ(*v.inflation, 10000.0 / 9500);
  EXPECT_FALSE(v.perturbed());
  EXPECT_EQ(t.evidence, TimelineEvidence::kComplete);
}

TEST(Perturbation, AboveATenthDurationsSayNothing) {
  Capture capture(write_example);
  for (const auto& [baseline, perturbed] : {std::pair(9091, false), std::pair(9090, true)}) {
    TimelineOptions options;
    options.uninstrumented_ns = baseline;
    const Timeline t = capture.analyze(options);
    EXPECT_EQ(t.perturbation.perturbed(), perturbed) << baseline;
    EXPECT_EQ(t.evidence, perturbed ? TimelineEvidence::kPerturbed : TimelineEvidence::kComplete);
  }
}

TEST(Perturbation, TheDriversOwnTimeIsNotTheRecorders) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 2000);
    overhead(w, 1, span(1100, 1110));
    overhead(w, int64_t{6} << 16, span(1200, 1203));
    overhead(w, int64_t{7} << 16, span(1300, 1305));
    overhead(w, int64_t{99} << 16, span(1400, 1401));
    overhead(w, int64_t{2} << 16, {});
  });
  const Perturbation v = capture.analyze().perturbation;
  EXPECT_EQ(*v.overhead_ns, 19);
  EXPECT_EQ(v.profiler_ns, 6);
  EXPECT_EQ(v.untimed, 1);
  EXPECT_EQ(v.rows.back().name, "kind " + std::to_string(99 << 16));
}

TEST(Perturbation, UnknownWithoutABaseline) {
  Capture capture(write_example);
  EXPECT_FALSE(capture.analyze().perturbation.inflation);
  TimelineOptions options;
  options.uninstrumented_ns = 0;
  EXPECT_EQ(code_of([&] { capture.analyze(options); }), "TIMELINE_BASELINE");
  Capture whole([](TraceWriter& w) {
    kernel(w, "k", {1}, span(1100, 1200));
    w.meta("missing_kinds", "OVERHEAD");
  });
  options.uninstrumented_ns = 50;
  const Perturbation v = whole.analyze(options).perturbation;
  EXPECT_FALSE(v.inflation);
  EXPECT_FALSE(v.overhead_ns);
}

}  // namespace
}  // namespace prof::test

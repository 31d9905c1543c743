// The grade of the evidence, what is missing, and programs that are not ours.
#include "prof/timeline/timeline.hpp"

#include "tests/prof/timeline/captures.hpp"

namespace prof::test {
namespace {

bool says(const std::vector<std::string>& lines, const std::string& text) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

TEST(Timeline, ActiveFractionOfTheExample) {
  Capture capture(write_example);
  const Timeline t = capture.analyze();
  const Activity& v = *t.activity;
  EXPECT_EQ(v.window_ns, 10000);
  EXPECT_EQ(v.busy_ns, 6500);
  EXPECT_DOUBLE_EQ(v.active, 0.65);
  EXPECT_EQ(v.kernel_busy_ns, 5000);
  EXPECT_DOUBLE_EQ(v.kernel_active, 0.5);
  EXPECT_FALSE(v.lower_bound);
  ASSERT_EQ(v.devices.size(), 1U);
  EXPECT_EQ(v.devices[0].operations, 6);
  EXPECT_EQ(t.evidence, TimelineEvidence::kComplete);
  EXPECT_TRUE(t.reasons.empty());
  EXPECT_EQ(t.tool, "stwo-prof");
  EXPECT_EQ(t.devices.at(0).name, "Example GPU");
}

TEST(Timeline, TwoDevicesTogetherAndApart) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 2000);
    kernel(w, "k", {1, 13, 0}, span(1000, 1400));
    kernel(w, "k", {2, 13, 1}, span(1200, 1600));
    copy(w, 1, 8, {3, 13, 1}, span(1700, 1800));
  });
  const Activity v = *capture.analyze().activity;
  EXPECT_EQ(v.busy_ns, 700);
  EXPECT_EQ(v.kernel_busy_ns, 600);
  ASSERT_EQ(v.devices.size(), 2U);
  EXPECT_EQ(v.devices[0].busy_ns, 400);
  EXPECT_EQ(v.devices[1].busy_ns, 500);
}

TEST(Timeline, UntimedOperationsAreNamedAndLeftOut) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 2000);
    kernel(w, "k", {1}, span(1000, 1400));
    call(w, "cuLaunchKernel", 2, 1100, 1110);
    kernel(w, "k", {2}, {});
    call(w, "cuLaunchKernel", 3, 5100, 5110);
    kernel(w, "k", {3}, {});  // of another time
    fill(w, 8, {4}, {});      // of nobody knows when
  });
  const Timeline t = capture.analyze();
  EXPECT_EQ(t.activity->untimed.kernels, 1);
  EXPECT_EQ(t.activity->untimed.unknown, 1);
  EXPECT_EQ(t.activity->untimed.total(), 2);
  EXPECT_TRUE(t.activity->lower_bound);
  EXPECT_EQ(t.activity->busy_ns, 400);
  EXPECT_EQ(t.evidence, TimelineEvidence::kDegraded);
  EXPECT_TRUE(says(t.reasons, "without times: 2 device operations"));
  EXPECT_EQ(*t.counts.at(0).value, 2);
}

TEST(Timeline, Losses) {
  Capture capture([](TraceWriter& w) {
    write_example(w);
    w.loss({"CUPTI buffers", 12});
    w.quarantine({"unknown kind", {1, 2, 3}});
  });
  const Timeline t = capture.analyze();
  EXPECT_EQ(t.evidence, TimelineEvidence::kDegraded);
  EXPECT_TRUE(t.activity->lower_bound);
  EXPECT_TRUE(says(t.reasons, "lost: CUPTI buffers, 12 records"));
  EXPECT_TRUE(says(t.reasons, "not understood: 1 records"));
}

TEST(Timeline, ACaptureWithoutItsEnd) {
  ledger::test::TemporaryFolder folder;
  {
    TraceWriter w(folder.file("t.sptrace"));
    w.meta("tool", "stwo-prof");
    w.meta("tool_version", "0.1.0");
    w.meta("created_utc", "2026-01-31T12:00:00.123Z");
    w.meta("session_start_ns", std::to_string(ledger::test::kSessionStart));
    write_example(w);
    w.finalize();
  }
  const auto trace = ledger::open_trace(folder.file("t.sptrace"));
  TimelineOptions options;
  options.uninstrumented_ns = 1;
  const Timeline t = analyze_timeline(*trace, options);
  EXPECT_EQ(t.evidence, TimelineEvidence::kTruncated);
  EXPECT_TRUE(t.activity->lower_bound);
  EXPECT_TRUE(says(t.reasons, "no trailer"));
  EXPECT_TRUE(says(t.reasons, "do not quote durations"));
}

TEST(Timeline, AMissingKindMakesItsQuestionsUnknown) {
  const auto missing = [](const std::string& kinds) {
    Capture capture([&](TraceWriter& w) {
      write_example(w);
      w.meta("missing_kinds", kinds);
    });
    return capture.analyze();
  };
  Timeline t = missing("MEMCPY");
  EXPECT_FALSE(t.transfers);
  EXPECT_TRUE(t.launch_gaps && t.activity && t.kernels);
  EXPECT_TRUE(t.activity->lower_bound);
  EXPECT_TRUE(says(t.missing, "transfers: the capture has no records of kind MEMCPY"));
  EXPECT_TRUE(says(t.reasons, "not recorded: MEMCPY"));
  t = missing("CUPTI_ACTIVITY_KIND_KERNEL");
  EXPECT_FALSE(t.kernels || t.stages || t.concurrency || t.launch_gaps->kernels);
  EXPECT_TRUE(t.transfers && t.activity);
  t = missing("CONCURRENT_KERNEL MEMCPY MEMSET");
  EXPECT_FALSE(t.launch_gaps || t.activity);
  EXPECT_EQ(t.activity.reason,
            "the capture has no records of kind CONCURRENT_KERNEL, MEMCPY, MEMSET");
  t = missing("RUNTIME DRIVER");
  EXPECT_FALSE(t.graphs || t.submit_thread || t.launch_gaps->launch_latency);
  EXPECT_TRUE(t.synchronisation);
  EXPECT_EQ(t.evidence, TimelineEvidence::kDegraded);
}

TEST(Timeline, AnyCudaProgram) {
  Capture capture([](TraceWriter& w) {
    call(w, "cudaMalloc_v3020", 1, 1000, 1100);
    call(w, "cudaLaunchKernel_v7000", 2, 1200, 1210);
    kernel(w, "void saxpy<float>(int, float)", {2, 7}, span(1300, 1500));
    call(w, "cudaMemcpy_v3020", 3, 1400, 1800);
    copy(w, 2, 32, {3, 7}, span(1600, 1700), 1, false);
  });
  const Timeline t = capture.analyze();
  EXPECT_EQ(t.window.source, WindowSource::kCapture);
  EXPECT_EQ(t.window.length_ns(), 800);
  EXPECT_EQ(t.activity->busy_ns, 300);
  EXPECT_EQ(t.synchronisation->blocking_copies.calls, 1);
  EXPECT_FALSE(t.transfers->one_terminal_d2h);
  EXPECT_FALSE(t.allocation->nothing_allocated);
  EXPECT_EQ(t.kernels->at(0).kernel, "void saxpy<float>(int, float)");
  EXPECT_EQ(t.evidence, TimelineEvidence::kComplete);
  EXPECT_TRUE(says(t.missing, "stages.attributed"));
}

TEST(Timeline, StagesThatNeverEnded) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 2000);
    stage(w, "oods", 1000, std::nullopt);
    call(w, "cuLaunchKernel", 1, 1100, 1110);
    kernel(w, "k", {1}, span(1200, 1300));
  });
  const Timeline t = capture.analyze();
  EXPECT_EQ(t.stages->unclosed_ranges, 1);
  EXPECT_EQ(t.stages->attributed_ns, 100);
  EXPECT_EQ(t.evidence, TimelineEvidence::kDegraded);
}

TEST(Timeline, AWindowWithoutOperations) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 2000);
    kernel(w, "k", {1}, span(5000, 5100));
  });
  const Timeline t = capture.analyze();
  EXPECT_EQ(t.activity->busy_ns, 0);
  EXPECT_TRUE(t.launch_gaps->devices.empty());
  EXPECT_TRUE(t.kernels->empty());
  EXPECT_NE(to_text(t).find("No device operation runs in it."), std::string::npos);
}

}  // namespace
}  // namespace prof::test

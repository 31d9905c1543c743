// Numbers of small captures, computed by hand.
#include "ledger/trace/trace_summary.hpp"

#include "tests/ledger/trace/trace_files.hpp"

namespace ledger {
namespace {

using test::at;
using test::kSessionStart;
using test::span;
using test::write_call;
using test::write_kernel;
using test::write_range;

class Summary : public testing::Test {
 protected:
  TraceSummary of(const std::function<void(TraceWriter&)>& fill) {
    const std::string path = folder_.file(std::to_string(++count_) + ".sptrace");
    test::write_trace(path, fill);
    return summarize_trace(*open_trace(path));
  }
  /// The only kernel's stage, "-" without one.
  std::string stage_of(const std::function<void(TraceWriter&)>& fill) {
    const TraceSummary summary = of(fill);
    EXPECT_EQ(summary.kernels.size(), 1U);
    return summary.kernels.at(0).stage.value_or("-");
  }

 private:
  test::TemporaryFolder folder_;
  int count_ = 0;
};

TEST_F(Summary, EmptyCapture) {
  const TraceSummary s = of([](TraceWriter&) {});
  EXPECT_EQ(s.tool, "stwo-prof");
  EXPECT_EQ(s.tool_version, "0.1.0");
  EXPECT_EQ(s.created_utc, "2026-01-31T12:00:00.123Z");
  EXPECT_EQ(s.meta.at("session_start_ns"), std::to_string(kSessionStart));
  EXPECT_EQ(s.evidence, TraceEvidence::kComplete);
  EXPECT_TRUE(s.reasons.empty());
  EXPECT_EQ(s.lost(), 0);
  EXPECT_EQ(s.counts.size(), 13U);
  for (const KindCount& count : s.counts) EXPECT_EQ(count.rows, 0) << count.kind;
  EXPECT_FALSE(s.first_ns || s.last_ns || s.span_ns);
  EXPECT_EQ(s.busy_ns, 0);
  EXPECT_TRUE(s.devices.empty());
  EXPECT_TRUE(s.kernels.empty());
  EXPECT_TRUE(s.windows.empty());
  EXPECT_THROW(s.count("kernels"), stwo::ContractError);
}

TEST_F(Summary, CountsAndUntimedRows) {
  const TraceSummary s = of([](TraceWriter& w) {
    for (int i = 0; i < 3; ++i) write_call(w, 8, i, span(i, i + 1));
    write_call(w, 8, 9, {});
    write_kernel(w, "a", 0, span(1, 2));
    write_kernel(w, "a", 0, {});
    const GpuOpRow op{.pid = 7,
                      .device_id = 0,
                      .context_id = 1,
                      .stream_id = 1,
                      .time = {},
                      .corr = 1,
                      .graph_id = 1,
                      .graph_node_id = {}};
    w.copy(op, {});
    w.fill(op, {});
    w.graph(op);
    w.sync({.pid = 7});
    w.cuda_event({.pid = 7, .device_ts_ns = at(1)});
    w.mem_event({.pid = 7});
    w.mem_event({.pid = 7, .ts_ns = at(1)});
    w.pool_event({.pid = 7});
    w.res_event({.pid = 7, .ts_ns = at(1)});
    w.jit({.pid = 7});
    w.overhead({.pid = 7});
    write_range(w, "x", 8, 1, 2);
  });
  const auto counts = [&](std::string_view kind) {
    return std::pair(s.count(kind).rows, s.count(kind).untimed);
  };
  EXPECT_EQ(counts("api"), std::pair(int64_t{4}, int64_t{1}));
  EXPECT_EQ(counts("kernel"), std::pair(int64_t{2}, int64_t{1}));
  EXPECT_EQ(counts("copy"), std::pair(int64_t{1}, int64_t{1}));
  EXPECT_EQ(counts("fill"), std::pair(int64_t{1}, int64_t{1}));
  EXPECT_EQ(counts("graph"), std::pair(int64_t{1}, int64_t{1}));
  EXPECT_EQ(counts("sync"), std::pair(int64_t{1}, int64_t{1}));
  EXPECT_EQ(counts("cuda_event"), std::pair(int64_t{1}, int64_t{0}));
  EXPECT_EQ(counts("mem_event"), std::pair(int64_t{2}, int64_t{1}));
  EXPECT_EQ(counts("pool_event"), std::pair(int64_t{1}, int64_t{1}));
  EXPECT_EQ(counts("res_event"), std::pair(int64_t{1}, int64_t{0}));
  EXPECT_EQ(counts("jit"), std::pair(int64_t{1}, int64_t{1}));
  EXPECT_EQ(counts("overhead"), std::pair(int64_t{1}, int64_t{1}));
  EXPECT_EQ(counts("nvtx"), std::pair(int64_t{1}, int64_t{0}));
  // What is not timed does not make a capture incomplete.
  EXPECT_EQ(s.evidence, TraceEvidence::kComplete);
}

TEST_F(Summary, GradeOfTheEvidence) {
  TraceSummary s = of([](TraceWriter& w) { w.loss({.kind = "dropped", .count = 12}); });
  EXPECT_EQ(s.evidence, TraceEvidence::kIncomplete);
  EXPECT_EQ(s.reasons, (std::vector<std::string>{"lost: dropped, 12 records"}));
  EXPECT_EQ(s.losses, (std::vector<LossRow>{{"dropped", 12}}));
  EXPECT_EQ(s.lost(), 12);
  s = of([](TraceWriter& w) {
    w.quarantine({.reason = "odd", .bytes = {1}});
    w.loss({.kind = "b", .count = 1});
    w.loss({.kind = "a", .count = 2});
  });
  EXPECT_EQ(s.evidence, TraceEvidence::kIncomplete);
  EXPECT_EQ(s.quarantined, 1);
  EXPECT_EQ(s.lost(), 4);
  EXPECT_EQ(s.reasons, (std::vector<std::string>{"lost: a, 2 records", "lost: b, 1 records",
                                                 "not understood: 1 records"}));
  s = of([](TraceWriter& w) { w.meta("missing_kinds", "MEMCPY SYNCHRONIZATION"); });
  EXPECT_EQ(s.evidence, TraceEvidence::kIncomplete);
  EXPECT_EQ(s.reasons,
            (std::vector<std::string>{"required, but not recorded: MEMCPY SYNCHRONIZATION"}));
  s = of([](TraceWriter& w) { w.meta("missing_kinds", ""); });
  EXPECT_EQ(s.evidence, TraceEvidence::kComplete);
  EXPECT_EQ(evidence_name(TraceEvidence::kComplete), "complete");
  EXPECT_EQ(evidence_name(TraceEvidence::kIncomplete), "incomplete");
  EXPECT_EQ(evidence_name(TraceEvidence::kTruncated), "truncated");
}

TEST_F(Summary, WithoutTrailerTruncated) {
  const test::TemporaryFolder folder;
  for (const bool with_loss : {false, true}) {
    const std::string path = folder.file(with_loss ? "a" : "b");
    TraceWriter w(path);
    w.meta("tool", "stwo-prof");
    w.meta("tool_version", "0.1.0");
    w.meta("created_utc", "2026-01-31T12:00:00.123Z");
    w.meta("session_start_ns", "1");
    w.meta("trailer", "0");
    if (with_loss) w.loss({.kind = "dropped", .count = 1});
    w.finalize();
    const TraceSummary s = summarize_trace(*open_trace(path));
    EXPECT_EQ(s.evidence, TraceEvidence::kTruncated);
    EXPECT_EQ(s.reasons.size(), with_loss ? 2U : 1U);
  }
}

TEST_F(Summary, Windows) {
  const std::vector<WindowRow> windows = {{0, WindowRole::kFirst, at(1), at(2), at(3), at(4)},
                                          {1, WindowRole::kWarmup, at(5), at(5), at(5), at(5)},
                                          {2, WindowRole::kSteady, at(7), at(8), at(9), at(10)}};
  const TraceSummary s = of([&](TraceWriter& w) {
    for (size_t i : {2, 0, 1}) w.window(windows[i]);
  });
  EXPECT_EQ(s.windows, windows);
}

TEST_F(Summary, BusyTimeOfOneDevice) {
  const TraceSummary s = of([](TraceWriter& w) {
    // Islands [10, 40] and [50, 60]; rows in no order.
    write_kernel(w, "a", 1, span(50, 60));
    write_kernel(w, "a", 2, span(10, 40));
    write_kernel(w, "b", 3, span(15, 20));
    write_kernel(w, "b", 4, {});
    write_kernel(w, "b", 5, span(40, 40));
    // Calls are no operations of a device.
    write_call(w, 8, 1, span(1, 1000));
  });
  EXPECT_EQ(s.first_ns, at(10));
  EXPECT_EQ(s.last_ns, at(60));
  EXPECT_EQ(s.span_ns, 50);
  EXPECT_EQ(s.busy_ns, 40);
  ASSERT_EQ(s.devices.size(), 1U);
  EXPECT_EQ(s.devices[0].device_id, 0);
  EXPECT_EQ(s.devices[0].operations, 4);
  EXPECT_EQ(s.devices[0].islands, 2);
  EXPECT_EQ(s.devices[0].busy_ns, 40);
  EXPECT_EQ(s.devices[0].first_ns, at(10));
  EXPECT_EQ(s.devices[0].last_ns, at(60));
}

TEST_F(Summary, BusyTimeOfSeveralDevices) {
  const TraceSummary s = of([](TraceWriter& w) {
    write_kernel(w, "a", 1, span(10, 20), 1, 0);
    write_kernel(w, "a", 1, span(100, 110), 1, 0);
    write_kernel(w, "a", 1, span(15, 30), 1, 1);
    write_kernel(w, "a", 1, span(105, 106), 1, 1);
    write_kernel(w, "a", 1, span(50, 60), 1, 2);
    write_kernel(w, "a", 1, {}, 1, 3);
  });
  // [10, 30], [50, 60], [100, 110].
  EXPECT_EQ(s.busy_ns, 40);
  EXPECT_EQ(s.span_ns, 100);
  ASSERT_EQ(s.devices.size(), 3U);
  EXPECT_EQ(s.devices[0].busy_ns, 20);
  EXPECT_EQ(s.devices[1].busy_ns, 16);
  EXPECT_EQ(s.devices[2].busy_ns, 10);
}

TEST_F(Summary, KernelStatistics) {
  const TraceSummary s = of([](TraceWriter& w) {
    write_kernel(w, "lde", 1, span(10, 20), 8);
    write_kernel(w, "lde", 2, span(30, 70), 4);
    write_kernel(w, "lde", 3, span(80, 100), 8);
    write_kernel(w, "lde", 4, span(110, 140), 4);
    write_kernel(w, "lde", 5, {}, 8);
    write_kernel(w, "fold", 6, span(150, 151), 2);
    write_kernel(w, "fold", 7, span(160, 161), 1);
    write_kernel(w, "tail", 8, {}, 1);
    write_kernel(w, "zero", 9, {}, 1);
  });
  ASSERT_EQ(s.kernels.size(), 4U);
  const KernelStat& lde = s.kernels[0];
  EXPECT_EQ(lde.kernel, "lde");
  EXPECT_FALSE(lde.stage);
  EXPECT_EQ(lde.launches, 5);
  EXPECT_EQ(lde.untimed, 1);
  EXPECT_EQ(lde.total_ns, 100);
  EXPECT_EQ(lde.min_ns, 10);
  EXPECT_EQ(lde.median_ns, 20);  // the lower of 20 and 30
  EXPECT_EQ(lde.max_ns, 40);
  EXPECT_EQ(lde.shape.grid, (std::array<int64_t, 3>{8, 1, 1}));
  EXPECT_EQ(lde.shape.block, (std::array<int64_t, 3>{256, 1, 1}));
  EXPECT_EQ(lde.shape.dynamic_shared_bytes, 1024);
  EXPECT_EQ(lde.shape.registers, 40);
  EXPECT_EQ(lde.shape_launches, 3);
  // Among equally frequent shapes the least.
  EXPECT_EQ(s.kernels[1].kernel, "fold");
  EXPECT_EQ(s.kernels[1].median_ns, 1);
  EXPECT_EQ(s.kernels[1].shape.grid[0], 1);
  // Never timed: no durations. Equal totals are sorted by name.
  EXPECT_EQ(s.kernels[2].kernel, "tail");
  EXPECT_EQ(s.kernels[2].launches, 1);
  EXPECT_EQ(s.kernels[2].untimed, 1);
  EXPECT_EQ(s.kernels[2].total_ns, 0);
  EXPECT_FALSE(s.kernels[2].min_ns || s.kernels[2].median_ns || s.kernels[2].max_ns);
  EXPECT_EQ(s.kernels[3].kernel, "zero");
}

TEST_F(Summary, OneKernelInSeveralStages) {
  const TraceSummary s = of([](TraceWriter& w) {
    write_range(w, "trace_commit", 8, 100, 200);
    write_range(w, "quotient", 8, 200, 300);
    write_call(w, 8, 1, span(110, 120));
    write_call(w, 8, 2, span(210, 220));
    write_call(w, 8, 3, span(290, 320));  // ends after the range: its start counts
    write_call(w, 8, 4, span(310, 320));
    for (int64_t corr = 1; corr <= 4; ++corr) {
      write_kernel(w, "leaf", corr, span(1000 * corr, 1000 * corr + 10 * corr));
    }
    write_kernel(w, "leaf", 99, span(9000, 9005));  // its call is not in the capture
  });
  ASSERT_EQ(s.kernels.size(), 3U);
  EXPECT_FALSE(s.kernels[1].stage);
  EXPECT_EQ(s.kernels[1].total_ns, 45);
  EXPECT_EQ(s.kernels[1].launches, 2);
  EXPECT_EQ(s.kernels[0].stage, "quotient");
  EXPECT_EQ(s.kernels[0].total_ns, 50);
  EXPECT_EQ(s.kernels[0].launches, 2);
  EXPECT_EQ(s.kernels[2].stage, "trace_commit");
  EXPECT_EQ(s.kernels[2].total_ns, 10);
}

TEST_F(Summary, StageIsTheInnermostRangeOfTheRightKind) {
  const auto launch_at = [](TraceWriter& w, int64_t ns) {
    write_call(w, 8, 1, span(ns, ns + 1));
    write_kernel(w, "k", 1, span(5000, 5001));
  };
  // Inside a request, around a pass: the stage.
  EXPECT_EQ(stage_of([&](TraceWriter& w) {
              write_range(w, "request", 8, 10, 1000, 1);
              write_range(w, "fri_commit", 8, 20, 900, 2);
              write_range(w, "fold", 8, 30, 100, 3);
              launch_at(w, 50);
            }),
            "fri_commit");
  // A stage in a stage.
  EXPECT_EQ(stage_of([&](TraceWriter& w) {
              write_range(w, "fri_commit", 8, 20, 900);
              write_range(w, "pow", 8, 30, 100);
              launch_at(w, 50);
            }),
            "pow");
  EXPECT_EQ(stage_of([&](TraceWriter& w) {
              write_range(w, "fri_commit", 8, 20, 900);
              write_range(w, "pow", 8, 30, 100);
              launch_at(w, 100);
            }),
            "fri_commit");
  // Another thread's, another process', another domain's, start/end ranges: none of them.
  EXPECT_EQ(stage_of([&](TraceWriter& w) {
              write_range(w, "oods", 9, 10, 1000);
              write_range(w, "oods", 8, 10, 1000, 2, "another.domain");
              write_range(w, "oods", 8, 10, 1000, 2, "stwo.prover", NvtxType::kStartEnd);
              write_range(w, "oods", 8, 60, 1000);
              NvtxRow other;
              other.pid = 6;
              other.tid = 8;
              other.domain = w.intern("stwo.prover");
              other.name = w.intern("oods");
              other.start_ns = at(10);
              other.end_ns = at(1000);
              other.category = 2;
              w.nvtx(other);
              launch_at(w, 50);
            }),
            "-");
  // Never closed: open until the end.
  EXPECT_EQ(stage_of([&](TraceWriter& w) {
              write_range(w, "decommit", 8, 10, {});
              launch_at(w, 4000);
            }),
            "decommit");
  // A range in which a launch ends but does not begin.
  EXPECT_EQ(stage_of([&](TraceWriter& w) {
              write_range(w, "oods", 8, 51, 1000);
              launch_at(w, 50);
            }),
            "-");
  // A call without times says nothing.
  EXPECT_EQ(stage_of([&](TraceWriter& w) {
              write_range(w, "oods", 8, 10, 1000);
              write_call(w, 8, 1, {});
              write_kernel(w, "k", 1, span(50, 60));
            }),
            "-");
}

TEST_F(Summary, CallsWithTheSameCorrelationId) {
  // A runtime call in one stage, the driver call inside it after the stage's end: the first counts,
  // in whichever order they were stored.
  for (const bool swapped : {false, true}) {
    EXPECT_EQ(stage_of([&](TraceWriter& w) {
                write_range(w, "oods", 8, 10, 55);
                write_range(w, "quotient", 8, 55, 100);
                if (!swapped) write_call(w, 8, 1, span(50, 70), "cudaLaunchKernel");
                write_call(w, 8, 1, span(60, 65), "cuLaunchKernel");
                if (swapped) write_call(w, 8, 1, span(50, 70), "cudaLaunchKernel");
                write_kernel(w, "k", 1, span(80, 90));
              }),
              "oods");
  }
}

TEST_F(Summary, KernelsOfOneGraphLaunchShareItsStage) {
  const TraceSummary s = of([](TraceWriter& w) {
    write_range(w, "oods", 8, 10, 100);
    write_call(w, 8, 1, span(50, 60), "cuGraphLaunch");
    for (int i = 0; i < 5; ++i) write_kernel(w, "k", 1, span(100 + 10 * i, 105 + 10 * i));
  });
  ASSERT_EQ(s.kernels.size(), 1U);
  EXPECT_EQ(s.kernels[0].stage, "oods");
  EXPECT_EQ(s.kernels[0].launches, 5);
}

}  // namespace
}  // namespace ledger

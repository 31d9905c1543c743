// Contexts, modules and compilation relative to the request, by hand.
#include "prof/timeline/loading.hpp"

#include "tests/prof/timeline/captures.hpp"

namespace prof::test {
namespace {

using ledger::ResKind;

void jit(TraceWriter& w, int64_t operation, uint64_t operation_corr, ledger::TimeSpan time) {
  ledger::JitRow row;
  row.pid = 7;
  row.tid = 70;
  row.entry_type = 1;
  row.operation = operation;
  row.operation_corr = operation_corr;
  row.time = time;
  w.jit(row);
}

TEST(Loading, OfTheExample) {
  Capture capture(write_example);
  const Timeline t = capture.analyze();
  const Loading& v = *t.loading;
  EXPECT_EQ(v.contexts, 1);
  EXPECT_EQ(v.modules, 1);
  EXPECT_EQ(*v.contexts_in_request, 0);
  EXPECT_EQ(*v.modules_in_request, 0);
  EXPECT_EQ(v.modules_in_window, 0);
  ASSERT_EQ(v.rows.size(), 2U);
  EXPECT_EQ(v.rows[0].what, "context");
  EXPECT_EQ(v.rows[0].call, "cuDevicePrimaryCtxRetain");
  EXPECT_EQ(*v.rows[0].phase, "setup");
  EXPECT_EQ(v.rows[1].what, "module");
  EXPECT_EQ(v.rows[1].call, "cuModuleLoadData");
  EXPECT_EQ(v.rows[1].bytes, 1234);
  EXPECT_EQ(v.rows[1].sha256, std::string(64, 'a'));
  EXPECT_FALSE(*v.rows[1].in_request);
  EXPECT_EQ(*v.jit_steps, 0);
  EXPECT_EQ(v.lazy->modules, 0);
}

TEST(Loading, PhasesOfTheRun) {
  Capture capture([](TraceWriter& w) {
    write_example(w);
    resource(w, ResKind::kModuleLoaded, 1500, 1);   // request 0
    resource(w, ResKind::kModuleLoaded, 5700, 2);   // between 0 and 1
    resource(w, ResKind::kModuleLoaded, 9950, 3);   // request 2, before its window
    resource(w, ResKind::kModuleLoaded, 15000, 4);  // in the window
    resource(w, ResKind::kModuleLoaded, 50000, 5);  // after all
    resource(w, ResKind::kModuleUnloaded, 15001);
    resource(w, ResKind::kStreamCreated, 15002);
  });
  const Loading v = *capture.analyze().loading;
  EXPECT_EQ(v.modules, 6);
  EXPECT_EQ(*v.modules_in_request, 2);
  EXPECT_EQ(v.modules_in_window, 1);
  std::vector<std::string> phases;
  for (const LoadRow& row : v.rows) phases.push_back(*row.phase);
  EXPECT_EQ(phases, (std::vector<std::string>{"request 2", "request 2", "setup", "setup",
                                              "request 0", "between", "after"}));
  EXPECT_TRUE(*v.rows[0].in_request);
  EXPECT_EQ(v.rows[0].bytes, 3);
  EXPECT_FALSE(v.rows[0].call);  // no call was open then
}

TEST(Loading, TheCallIsTheOneThatLoads) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 9000);
    call(w, "cuStreamSynchronize", 1, 1000, 5000, 71);  // another thread waits
    call(w, "cudaLaunchKernel_v7000", 2, 2000, 2500, 70);
    resource(w, ResKind::kModuleLoaded, 2100, 1);  // loaded at first use
    call(w, "cudaLibraryLoadData_v12080", 3, 3000, 3500, 70);
    call(w, "cuDeviceGetAttribute", 4, 3050, 3200, 70);
    resource(w, ResKind::kModuleLoaded, 3100, 2);
  });
  const Loading v = *capture.analyze().loading;
  ASSERT_EQ(v.rows.size(), 2U);
  EXPECT_EQ(v.rows[0].call, "cudaLaunchKernel");
  EXPECT_EQ(v.rows[1].call, "cudaLibraryLoadData");
}

TEST(Loading, EveryStepOfACompilationCounts) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 9000);
    jit(w, 1, 5, span(500, 600));    // before
    jit(w, 3, 6, span(900, 1100));   // reaches into the window
    jit(w, 2, 6, span(1100, 1150));  // the same compilation
    jit(w, 1, 7, span(2000, 2010));
    overhead(w, int64_t{4} << 16, span(900, 1030));
    overhead(w, int64_t{5} << 16, span(1500, 1507));
    overhead(w, int64_t{5} << 16, span(1600, 1601));
    overhead(w, int64_t{5} << 16, span(9500, 9601));
  });
  const Loading v = *capture.analyze().loading;
  EXPECT_EQ(*v.jit_steps, 4);
  EXPECT_EQ(*v.jit_in_request, 3);
  EXPECT_EQ(*v.jit_in_window, 2);
  ASSERT_EQ(v.jit.size(), 4U);
  EXPECT_EQ(v.jit[0].step, "compilation");
  EXPECT_EQ(v.jit[0].source, "PTX");
  EXPECT_EQ(v.jit[0].ns, 200);
  EXPECT_EQ(v.jit[3].step, "cache load");
  EXPECT_EQ(*v.jit[3].phase, "setup");
  EXPECT_EQ(v.lazy->modules, 1);
  EXPECT_EQ(v.lazy->module_ns, 30);
  EXPECT_EQ(v.lazy->functions, 2);
  EXPECT_EQ(v.lazy->function_ns, 8);
}

TEST(Loading, ACompilationWithoutTimesIsUnknownNotAbsent) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 9000);
    jit(w, 3, 6, {});
  });
  const Loading v = *capture.analyze().loading;
  EXPECT_EQ(*v.jit_steps, 1);
  EXPECT_FALSE(v.jit_in_request);
  EXPECT_FALSE(v.jit_in_window);
  EXPECT_FALSE(v.jit.at(0).phase);
}

TEST(Loading, WithoutRequestsThereAreNoPhases) {
  Capture capture([](TraceWriter& w) {
    call(w, "cuInit", 1, 100, 200);
    resource(w, ResKind::kModuleLoaded, 150, 1);
  });
  const Loading v = *capture.analyze().loading;
  EXPECT_EQ(v.modules, 1);
  EXPECT_FALSE(v.modules_in_request);
  EXPECT_FALSE(v.rows.at(0).phase);
}

TEST(Loading, RowsAreLimitedButCounted) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 9000);
    for (int64_t i = 0; i < 150; ++i) resource(w, ResKind::kModuleLoaded, 10 + i, i);
    resource(w, ResKind::kModuleLoaded, 2000, 999);
  });
  const Loading v = *capture.analyze().loading;
  EXPECT_EQ(v.modules, 151);
  ASSERT_EQ(v.rows.size(), kMaxLoadRows);
  EXPECT_EQ(v.rows[0].bytes, 999);
  EXPECT_EQ(v.rows[1].bytes, 0);
}

TEST(Loading, MissingKinds) {
  Capture capture([](TraceWriter& w) {
    write_example(w);
    w.meta("missing_kinds", "MODULE");
  });
  const Timeline t = capture.analyze();
  EXPECT_EQ(t.loading.reason, "the capture has no records of kind MODULE");
  Capture no_jit([](TraceWriter& w) {
    write_example(w);
    w.meta("missing_kinds", "JIT OVERHEAD");
  });
  const Timeline u = no_jit.analyze();
  EXPECT_FALSE(u.loading->jit_steps);
  EXPECT_FALSE(u.loading->lazy);
}

}  // namespace
}  // namespace prof::test

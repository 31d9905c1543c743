// How the submitting thread spent the window, by hand.
#include "prof/timeline/submit_thread.hpp"

#include "tests/prof/timeline/captures.hpp"

namespace prof::test {
namespace {

TEST(SubmitThread, OfTheExample) {
  Capture capture(write_example);
  const Timeline t = capture.analyze();
  const SubmitThread& v = *t.submit_thread;
  EXPECT_EQ(v.pid, 7);
  EXPECT_EQ(v.tid, 70);
  EXPECT_EQ(v.threads, 1);
  EXPECT_EQ(v.calls, 7);
  EXPECT_EQ(v.launches, 4);
  EXPECT_EQ(v.before_ns, 100);
  EXPECT_EQ(v.in_api_ns, 50 + 40 + 50 + 50 + 50 + 100 + 1800);
  EXPECT_EQ(v.blocked_ns, 1800);
  EXPECT_EQ(v.after_ns, 1000);
  EXPECT_EQ(v.gaps.n, 6);
  EXPECT_EQ(v.gaps.sum_ns, 10 + 2600 + 50 + 50 + 3950 + 100);
  EXPECT_EQ(v.before_ns + v.in_api_ns + v.gaps.sum_ns + v.after_ns, 10000);
  // The device works from 10300 to 12300 and from 13000 to 16500.
  EXPECT_EQ(v.starved_ns, 10 + 600 + 50 + 50 + 500 + 100);
  ASSERT_EQ(v.top.size(), 6U);
  EXPECT_EQ(v.top[0].starved_ns, 600);
  EXPECT_EQ(v.top[0].ns, 2600);
  EXPECT_EQ(v.top[0].before, "cuLaunchKernel");
  EXPECT_EQ(v.top[0].stage, "trace_commit");
  EXPECT_EQ(v.top[1].starved_ns, 500);
  EXPECT_EQ(v.top[1].before, "cuMemcpyHtoDAsync");
  EXPECT_EQ(v.top[1].after, "cuMemcpyDtoHAsync");
  EXPECT_EQ(v.top[1].stage, "fri_commit");
}

TEST(SubmitThread, IsTheOneThatLaunchesMost) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 2000);
    call(w, "cuLaunchKernel", 1, 1100, 1110, 70);
    call(w, "cuStreamSynchronize", 2, 1200, 1300, 70);
    call(w, "cuStreamSynchronize", 3, 1310, 1320, 70);
    call(w, "cuLaunchKernel", 4, 1100, 1110, 71);
    call(w, "cuLaunchKernel", 5, 1150, 1160, 71);
    call(w, "cuLaunchKernel", 6, 500, 510, 70);
    call(w, "cuLaunchKernel", 7, 520, 530, 70);
  });
  const SubmitThread v = *capture.analyze().submit_thread;
  EXPECT_EQ(v.tid, 71);
  EXPECT_EQ(v.threads, 2);
  EXPECT_EQ(v.gaps.sum_ns, 40);
}

TEST(SubmitThread, CallsInsideCallsAreNotCountedTwice) {
  Capture capture([](TraceWriter& w) {
    one_window(w, 1000, 2000);
    call(w, "cudaLaunchKernel_v7000", 1, 1100, 1200);
    call(w, "cuLaunchKernel", 1, 1110, 1190);
    call(w, "cudaLaunchKernel_v7000", 2, 1200, 1250);
    call(w, "cudaDeviceSynchronize_v3020", 3, 1900, 2100);
  });
  const SubmitThread v = *capture.analyze().submit_thread;
  EXPECT_EQ(v.launches, 2);
  EXPECT_EQ(v.in_api_ns, 100 + 50 + 100);
  EXPECT_EQ(v.blocked_ns, 100);
  EXPECT_EQ(v.gaps.sum_ns, 650);
  EXPECT_EQ(v.after_ns, 0);
}

TEST(SubmitThread, UnknownWithoutLaunchesOrCalls) {
  Capture quiet([](TraceWriter& w) {
    one_window(w, 1000, 2000);
    call(w, "cuInit", 1, 1100, 1110);
  });
  EXPECT_EQ(quiet.analyze().submit_thread.reason,
            "no call of the window launches a kernel or a graph");
  Capture blind([](TraceWriter& w) {
    write_example(w);
    w.meta("missing_kinds", "RUNTIME DRIVER");
  });
  EXPECT_FALSE(blind.analyze().submit_thread);
}

}  // namespace
}  // namespace prof::test

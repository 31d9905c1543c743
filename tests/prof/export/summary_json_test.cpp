#include "prof/export/summary_json.hpp"

#include "tests/ledger/trace/trace_files.hpp"

namespace prof {
namespace {

using ledger::Json;
using ledger::test::span;
using ledger::test::write_call;
using ledger::test::write_kernel;
using ledger::test::write_range;

Json summary_of(const std::function<void(ledger::TraceWriter&)>& fill) {
  const ledger::test::TemporaryFolder folder;
  ledger::test::write_trace(folder.file("t.sptrace"), fill);
  return summary_json(*ledger::open_trace(folder.file("t.sptrace")), "t.sptrace");
}

TEST(SummaryJson, EmptyCapture) {
  const Json s = summary_of([](ledger::TraceWriter&) {});
  EXPECT_EQ(s.at("schema"), "stwo_prof_summary_v1");
  EXPECT_EQ(s.at("capture"), "t.sptrace");
  EXPECT_TRUE(s.at("span_ns").is_null());
  EXPECT_EQ(s.at("evidence").at("grade"), "complete");
  EXPECT_TRUE(s.at("kernels").empty());
  EXPECT_EQ(s.at("meta").at("tool"), "stwo-prof");
}

TEST(SummaryJson, StagesKernelsDevicesAndEvidence) {
  const Json s = summary_of([](ledger::TraceWriter& w) {
    w.device({.id = 0, .uuid = "GPU-1", .name = "NVIDIA H200", .sm_major = 9, .sm_minor = 0});
    w.device({.id = 1, .uuid = "GPU-2", .name = "idle", .sm_major = 9, .sm_minor = 0});
    write_range(w, "oods", 8, 0, 100);
    write_call(w, 8, 1, span(10, 20));
    write_kernel(w, "k", 1, span(50, 80));
    write_kernel(w, "out\xff", 2, span(80, 90));
    write_kernel(w, "never timed", 3, {});
    w.loss({.kind = "dropped", .count = 3});
    w.window({1, ledger::WindowRole::kSteady, 1, 2, 3, 4});
  });
  EXPECT_EQ(s.at("busy_ns"), 40);
  EXPECT_EQ(s.at("evidence").at("grade"), "incomplete");
  EXPECT_EQ(s.at("evidence").at("losses").at("dropped"), 3);
  EXPECT_EQ(s.at("stages"), Json::parse(R"([{"stage":"oods","launches":1,"total_ns":30,
                                             "share":0.75}])"));
  const Json& k = s.at("kernels");
  ASSERT_EQ(k.size(), 3U);
  EXPECT_EQ(k[0].at("share"), 0.75);
  EXPECT_EQ(k[0].at("grid"), Json::parse("[4,1,1]"));
  EXPECT_EQ(k[1].at("kernel"), "out\xef\xbf\xbd");
  EXPECT_TRUE(k[1].at("stage").is_null());
  EXPECT_TRUE(k[2].at("total_ns").is_null());
  EXPECT_TRUE(k[2].at("share").is_null());
  EXPECT_EQ(s.at("counts").at("kernel"), Json::parse(R"({"rows":3,"untimed":1})"));
  EXPECT_EQ(s.at("devices").at(0).at("activity").at("operations"), 2);
  EXPECT_TRUE(s.at("devices").at(1).at("activity").is_null());
  EXPECT_EQ(s.at("requests").at(0).at("role"), "steady");
}

}  // namespace
}  // namespace prof

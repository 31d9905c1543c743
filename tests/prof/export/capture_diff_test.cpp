#include "prof/export/diff.hpp"
#include "tests/ledger/trace/trace_files.hpp"

namespace prof {
namespace {

using ledger::Json;
using ledger::test::span;
using ledger::test::write_call;
using ledger::test::write_kernel;
using ledger::test::write_range;

class CapturesSideBySide : public testing::Test {
 protected:
  std::string make(const std::string& name, const std::string& uuid,
                   const std::function<void(ledger::TraceWriter&)>& fill) {
    const std::string path = folder_.file(name);
    ledger::test::write_trace(path, [&](ledger::TraceWriter& w) {
      w.device({.id = 0, .uuid = uuid, .name = "H200"});
      for (const char* key : {"driver_version", "workload_id", "config", "statement_sha256"}) {
        w.meta(key, "1");
      }
      write_range(w, "oods", 8, 0, 100);
      write_call(w, 8, 1, span(10, 20));
      fill(w);
    });
    return path;
  }
  CaptureDiff diff(const std::string& a, const std::string& b) {
    const auto left = ledger::open_trace(a);
    const auto right = ledger::open_trace(b);
    return diff_captures({*left, "a", capture_identity(*left)},
                         {*right, "b", capture_identity(*right)});
  }
  /// Baseline: oods 30 + 10, "gone" outside 20. Candidate: oods 10, "new" 5, "gone" missing.
  CaptureDiff example(const std::string& uuid = "GPU-1") {
    const std::string a = make("a" + uuid, "GPU-1", [](ledger::TraceWriter& w) {
      write_kernel(w, "k", 1, span(100, 130));
      write_kernel(w, "k", 1, span(130, 140));
      write_kernel(w, "gone, really", 2, span(140, 160));
    });
    const std::string b = make("b" + uuid, uuid, [](ledger::TraceWriter& w) {
      write_kernel(w, "k", 1, span(100, 110));
      write_kernel(w, "new", 1, span(110, 115));
    });
    return diff(a, b);
  }

 private:
  ledger::test::TemporaryFolder folder_;
};

TEST_F(CapturesSideBySide, KernelsByChange) {
  const CaptureDiff d = example();
  EXPECT_EQ(d.identity.comparability, Comparability::kComparable);
  EXPECT_EQ(d.baseline_busy_ns, 60);
  EXPECT_EQ(d.candidate_busy_ns, 15);
  ASSERT_EQ(d.kernels.size(), 3U);
  EXPECT_EQ(d.kernels[0].kernel, "k");
  EXPECT_EQ(d.kernels[0].total_delta_ns(), -30);
  EXPECT_EQ(d.kernels[0].baseline->launches, 2);
  EXPECT_EQ(d.kernels[0].baseline->median_ns, 10);  // the lower one of 10 and 30
  EXPECT_EQ(d.kernels[1].kernel, "gone, really");
  EXPECT_FALSE(d.kernels[1].candidate.has_value());
  EXPECT_EQ(d.kernels[1].total_delta_ns(), -20);
  EXPECT_EQ(d.kernels[2].kernel, "new");
  EXPECT_EQ(d.kernels[2].total_delta_ns(), 5);
  ASSERT_EQ(d.stages.size(), 2U);
  EXPECT_EQ(d.stages[0].stage, "oods");
  EXPECT_EQ(d.stages[0].total_delta_ns(), 15 - 40);
  EXPECT_FALSE(d.stages[1].stage.has_value());
}

TEST_F(CapturesSideBySide, JsonHasEverything) {
  const Json json = diff_json(example());
  EXPECT_EQ(json.at("schema"), "stwo_prof_diff_v1");
  EXPECT_EQ(json.at("kind"), "captures");
  EXPECT_EQ(json.at("diagnostic"), true);
  EXPECT_EQ(json.at("comparability"), "comparable");
  EXPECT_EQ(json.at("busy_ns").at("ratio"), 0.25);
  const Json& k = json.at("kernels");
  EXPECT_EQ(k[0].at("status"), "both");
  EXPECT_EQ(k[0].at("delta"), Json::parse(R"({"launches":-1,"total_ns":-30,"total_ratio":0.25,
                                              "median_ns":0,"share":0.0})"));
  EXPECT_EQ(k[1].at("status"), "vanished");
  EXPECT_TRUE(k[1].at("candidate").is_null());
  EXPECT_TRUE(k[1].at("delta").at("total_ratio").is_null());
  EXPECT_EQ(k[2].at("status"), "new");
  EXPECT_EQ(k[2].at("delta").at("launches"), 1);
  EXPECT_EQ(json.at("identity").at(0).at("field"), "device");
  EXPECT_EQ(json.at("identity").at(0).at("agreement"), "same");
}

TEST_F(CapturesSideBySide, CsvNamesComparabilityInEachLine) {
  EXPECT_EQ(diff_csv(example()),
            "comparability,kernel,stage,baseline_launches,baseline_total_ns,baseline_median_ns,"
            "baseline_share,candidate_launches,candidate_total_ns,candidate_median_ns,"
            "candidate_share,delta_total_ns\n"
            "comparable,k,oods,2,40,10,0.6666666666666666,1,10,10,0.6666666666666666,-30\n"
            "comparable,\"gone, really\",,1,20,20,0.3333333333333333,0,,,,-20\n"
            "comparable,new,oods,0,,,,1,5,5,0.3333333333333333,5\n");
}

TEST_F(CapturesSideBySide, TextBeginsWithDrift) {
  const std::string text = diff_text(example("GPU-2"), 2);
  const size_t flag = text.find("NOT COMPARABLE: differs in device");
  ASSERT_NE(flag, std::string::npos) << text;
  EXPECT_LT(flag, text.find("kernel"));
  EXPECT_NE(text.find("measured on different devices"), std::string::npos);
  EXPECT_NE(text.find("vanished"), std::string::npos);
  EXPECT_NE(text.find("1 more kernels with smaller changes are not shown"), std::string::npos);
  EXPECT_NE(text.find("-75.0 %"), std::string::npos);
  EXPECT_EQ(diff_text(example("GPU-3"), 0).find("not shown"), std::string::npos);
  EXPECT_EQ(diff_json(example("GPU-4")).at("comparability"), "not_comparable");
}

TEST_F(CapturesSideBySide, TimesThatAreNotKnownComeFirst) {
  const std::string a = make("a", "GPU-1", [](ledger::TraceWriter& w) {
    write_kernel(w, "timed", 1, span(100, 200));
    write_kernel(w, "untimed", 1, {});
  });
  const std::string b = make("b", "GPU-1", [](ledger::TraceWriter& w) {
    write_kernel(w, "timed", 1, span(100, 110));
    write_kernel(w, "untimed", 1, span(110, 120));
  });
  const CaptureDiff d = diff(a, b);
  EXPECT_EQ(d.kernels[0].kernel, "untimed");
  EXPECT_FALSE(d.kernels[0].total_delta_ns().has_value());
  EXPECT_TRUE(diff_json(d).at("kernels").at(0).at("baseline").at("total_ns").is_null());
  EXPECT_NE(diff_csv(d).find("untimed,oods,1,,,,1,10,10,0.5,\n"), std::string::npos);
}

}  // namespace
}  // namespace prof

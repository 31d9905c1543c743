// The page: numbers, words, JSON and HTML.
#include "prof/report/report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "prover/errors.hpp"
#include "tests/prof/html/page_checks.hpp"
#include "tests/prof/report/sample_reports.hpp"

namespace prof {
namespace {

using test::analysis_of;
using test::Json;

/// Bars are drawn for this locale; the first one drawn decides.
const bool kPlainLocale = ::setenv("LC_ALL", "C", 1) == 0;

constexpr uint64_t kPeak = 4'000'000'000'000;

ReportAnalysis sample_analysis() {
  ReportFile file = read_report(test::sample_path("cuda_report.json"));
  file.name = "cuda_report.json";
  return analyse_report(run_facts(std::move(file)), std::nullopt, PeakBandwidth{kPeak, "a test"});
}

bool has_step(const ReportAnalysis& analysis, const std::string& code) {
  return std::any_of(analysis.next.begin(), analysis.next.end(),
                     [&](const NextStep& s) { return s.code == code; });
}
std::string step_text(const ReportAnalysis& analysis, const std::string& code) {
  for (const NextStep& s : analysis.next) {
    if (s.code == code) return s.message + "|" + s.command;
  }
  return "";
}

TEST(Report, NumbersAreThoseOfASecondComputation) {
  const std::string name = ::testing::TempDir() + "prof_report_analysis.json";
  std::ofstream(name, std::ios::binary) << report_json(sample_analysis());
  const std::string command = std::string("'") + PROF_TEST_PYTHON + "' '" +
                              PROF_TEST_CHECK_NUMBERS + "' '" +
                              test::sample_path("cuda_report.json") + "' " + std::to_string(kPeak) +
                              " < '" + name + "' 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string out;
  char buffer[1024];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) out.append(buffer, n);
  EXPECT_EQ(::pclose(pipe), 0);
  EXPECT_EQ(out, "");
  std::remove(name.c_str());
}

TEST(Report, GoldenText) {
  ASSERT_TRUE(kPlainLocale);
  EXPECT_EQ(report_text(sample_analysis()), test::file_text(PROF_TEST_GOLDEN_TEXT));
}

TEST(Report, SameInputSameBytes) {
  EXPECT_EQ(report_json(sample_analysis()), report_json(sample_analysis()));
  EXPECT_EQ(report_html(sample_analysis(), "c", "t"), report_html(sample_analysis(), "c", "t"));
}

/// Every null, as a path.
void nulls_of(const Json& value, const std::string& path, std::vector<std::string>& out) {
  if (value.is_null()) out.push_back(path);
  if (!value.is_structured()) return;
  size_t i = 0;
  for (const auto& item : value.items()) {
    nulls_of(item.value(), path + "/" + (value.is_array() ? std::to_string(i++) : item.key()), out);
  }
}

TEST(Report, JsonExplainsItsNulls) {
  Json without_steady = test::cuda_json();
  test::drop_steady(without_steady);
  for (const std::string& text :
       {report_json(sample_analysis()), report_json(analysis_of(test::cpu_json())),
        report_json(analysis_of(without_steady)),
        report_json(test::comparison_of(test::cpu_json(), test::cuda_json()))}) {
    EXPECT_EQ(text.back(), '\n');
    const Json json = Json::parse(text);
    EXPECT_EQ(json.at("schema"), "stwo_prof_report_v1");
    std::vector<std::string> nulls;
    nulls_of(json, "", nulls);
    EXPECT_FALSE(nulls.empty());
    std::vector<std::string> explained;
    for (const auto& item : json.at("missing").items()) {
      EXPECT_NE(item.value().get<std::string>(), "") << item.key();
      explained.push_back(item.key());
    }
    std::sort(nulls.begin(), nulls.end());
    std::sort(explained.begin(), explained.end());
    EXPECT_EQ(nulls, explained);
  }
}

TEST(Report, HtmlIsWellFormed) {
  const std::string page =
      report_html(sample_analysis(), "stwo-prof cuda report r.json", "stwo-prof 1");
  EXPECT_EQ(test::page_faults(page), "");
  EXPECT_NE(page.find("<pre>stwo-prof cuda report r.json</pre>"), std::string::npos);
  EXPECT_NE(page.find("<h2 id=\"s1\">Gates</h2>"), std::string::npos);
  // All 28 passes, of which the terminal shows 12.
  EXPECT_NE(page.find(">open_trees<"), std::string::npos);
  const std::string two =
      report_html(test::comparison_of(test::cuda_json(), test::cpu_json()), "c", "t");
  EXPECT_EQ(test::page_faults(two), "");
  EXPECT_NE(two.find("<h2 id=\"s1\">Identity drift</h2>"), std::string::npos);
}

TEST(Report, HostileNamesStayText) {
  Json report = test::cuda_json();
  const std::string evil = "<script>alert(1)</script>\x1b[31m\n";
  report["product"] = evil;
  report["pass_ledger"][0]["pass"] = evil;
  report["pass_ledger"][0]["kernel"] = evil;
  const ReportAnalysis analysis =
      analyse_report(test::facts_of(report, evil), test::facts_of(report, evil), std::nullopt);
  EXPECT_EQ(test::page_faults(report_html(analysis, evil, evil)), "");
  EXPECT_EQ(report_text(analysis).find('\x1b'), std::string::npos);
}

TEST(Report, RunWithoutDevice) {
  const ReportAnalysis analysis = analysis_of(test::cpu_json());
  const std::string text = report_text(analysis);
  EXPECT_NE(text.find("Host gap\n--------\nunknown: the backend has no device\n"),
            std::string::npos);
  EXPECT_NE(text.find("Pass ledger\n-----------\nunknown: the CPU backend has no device\n"),
            std::string::npos);
  EXPECT_NE(text.find("\nfri_commit "), std::string::npos);  // stages by host time
  EXPECT_EQ(analysis.run.stage_clock, "host");
  EXPECT_TRUE(has_step(analysis, "NEXT_DEVICE"));
  EXPECT_FALSE(has_step(analysis, "NEXT_KERNEL"));
  EXPECT_EQ(analysis.peak.reason, "the CPU backend has no device");
}

TEST(Report, RunWithoutSteadyRequests) {
  Json report = test::cuda_json();
  test::drop_steady(report);
  const ReportAnalysis analysis = analysis_of(report);
  EXPECT_FALSE(analysis.run.stages_are_steady);
  // The first request's times are the sample's, longest first.
  EXPECT_EQ(analysis.run.stages.front().stage, "proof_assembly");
  EXPECT_EQ(analysis.run.stages.front().ranked, 105600U);
  EXPECT_EQ(analysis.run.stage_total, 660000U);
  EXPECT_EQ(analysis.run.host_gap.median.reason, "the run has no steady request");
  EXPECT_TRUE(has_step(analysis, "NEXT_STEADY"));
  EXPECT_FALSE(has_step(analysis, "NEXT_FIRST_REQUEST"));
  EXPECT_NE(report_text(analysis).find("ranked by the first request: none was steady"),
            std::string::npos);
}

TEST(Report, StartThatContradictsTheTotalIsUnknown) {
  // The kernel's clock for it ticks every 10 ms.
  Json report = test::cuda_json();
  report["lifecycle_ns"]["process_start_to_main"] = 20000000;
  const RunFacts run = test::facts_of(report);
  EXPECT_EQ(run.lifecycle.back().name, "other");
  EXPECT_EQ(run.lifecycle.back().ns.reason, "the parts exceed the total");
}

TEST(Report, BytesThatDoNotFit) {
  Json report = test::cuda_json();
  report["pass_ledger"][3]["input_bytes"] = INT64_MAX;
  report["pass_ledger"][3]["output_bytes"] = INT64_MAX;
  report["pass_ledger"][3]["reread_bytes"] = 2;
  try {
    test::facts_of(report);
    FAIL();
  } catch (const stwo::FormatError& e) {
    EXPECT_EQ(e.code(), "REPORT_OVERFLOW");
    EXPECT_NE(std::string(e.what()).find("/pass_ledger/3"), std::string::npos);
  }
  report["pass_ledger"][3]["reread_bytes"] = 1;  // 2^64 - 1 of them fit, their stage's sum does not
  const ReportAnalysis analysis =
      analyse_report(test::facts_of(report), std::nullopt, PeakBandwidth{kPeak, "a test"});
  EXPECT_EQ(analysis.floor_ns("trace_commit").reason, "the bytes of this stage do not fit 64 bits");
}

TEST(PeakBandwidth, TableAndGivenNumber) {
  EXPECT_EQ(peak_bandwidth("NVIDIA H200", 90).value->bytes_per_s, 4'800'000'000'000U);
  EXPECT_EQ(peak_bandwidth("NVIDIA H200", 90).value->source, "NVIDIA's data sheet of the H200");
  EXPECT_FALSE(peak_bandwidth("NVIDIA H200", 80).has_value());
  EXPECT_FALSE(peak_bandwidth("Synthetic device", 90).has_value());
  EXPECT_EQ(traffic_floor_ns(4'800'000, *peak_bandwidth("NVIDIA H200", 90).value), 1000U);
  EXPECT_EQ(traffic_floor_ns(3, {2'000'000'000, ""}), 2U);  // 1.5 ns
  const ReportAnalysis analysis = analysis_of(test::cuda_json());
  EXPECT_FALSE(analysis.peak.has_value());
  EXPECT_NE(report_text(analysis).find("floors are unknown: no data sheet of this device"),
            std::string::npos);
  EXPECT_THROW(analyse_report(test::facts_of(test::cuda_json()), std::nullopt, PeakBandwidth{}),
               stwo::ContractError);
}

// -- what to look at next --

/// A device that works nearly all the time, one stage with most of it, long launches.
Json busy_report() {
  Json report = test::cuda_json();
  for (Json& r : report["requests"]) {
    const uint64_t more = 10'000'000;
    for (const char* key : {"resident_prove", "verified_request", "device_elapsed"}) {
      r[key] = r[key].get<uint64_t>() + more;
    }
  }
  for (const char* statistic : {"first", "last", "min", "median"}) {
    for (const char* key : {"trace_commit", "total"}) {
      Json& value = report["device_stage_ns"][statistic][key];
      value = value.get<uint64_t>() + 10'000'000;
    }
  }
  report["lifecycle_ns"]["first_request"] = report["requests"][0]["verified_request"];
  report["lifecycle_ns"]["total_before_publication"] = 281388700;
  return report;
}

TEST(NextSteps, BusyDevice) {
  const ReportAnalysis analysis =
      analyse_report(test::facts_of(busy_report()), std::nullopt, PeakBandwidth{kPeak, "a test"});
  std::vector<std::string> codes;
  for (const NextStep& s : analysis.next) codes.push_back(s.code);
  EXPECT_EQ(codes, (std::vector<std::string>{"NEXT_STAGE", "NEXT_TIMELINE", "NEXT_KERNEL",
                                             "NEXT_VERDICT"}));
  // 10 005 611 of 10 083 610 ns; the stage moves 126 192 bytes, 32 ns at 4 TB/s.
  EXPECT_EQ(step_text(analysis, "NEXT_STAGE"),
            "trace_commit takes 10.006 ms, 99.2% of device time, 312675.34 times the floor of its "
            "traffic: look there first|");
  EXPECT_EQ(step_text(analysis, "NEXT_TIMELINE"),
            "nothing here points at the host; a timeline shows whether kernels overlap and what "
            "separates them|stwo-prof cuda systems --output proof.sptrace -- CMD");
  EXPECT_EQ(step_text(analysis, "NEXT_KERNEL"),
            "of the kernels of trace_commit, hash_leaves_uniform moves most bytes; count it once "
            "the timeline shows that it is on the critical path|stwo-prof cuda compute --output "
            "trace_commit.ncu-rep --kernel hash_leaves_uniform -- CMD");
}

TEST(NextSteps, NearTheFloor) {
  // At 12.6 MB/s the stage's 126 192 bytes need 10.015 ms.
  const ReportAnalysis analysis = analyse_report(test::facts_of(busy_report()), std::nullopt,
                                                 PeakBandwidth{12'600'000, "a test"});
  EXPECT_NE(step_text(analysis, "NEXT_STAGE")
                .find("1.00 times the floor of its traffic: only a pass less, or fewer bytes"),
            std::string::npos);
}

TEST(NextSteps, HostSuspicions) {
  Json report = busy_report();
  for (int i = 0; i < 5; ++i) {
    report["counters"]["sync_calls"][i] = 3;
    report["counters"]["frees"][i] = 2;
  }
  EXPECT_EQ(step_text(analysis_of(report), "NEXT_TIMELINE")
                .rfind("sync_calls is 3; frees is 2: a timeline shows where|", 0),
            0U);
  // The sample itself: gap 43 000 of 126 610 ns, 28 launches in 83 610 ns; the first request takes
  // 920 500 ns, a steady one 347 110 ns, of which proving is 126 610 ns.
  const ReportAnalysis sample = sample_analysis();
  EXPECT_EQ(step_text(sample, "NEXT_TIMELINE")
                .rfind("the device is not in use for 34.0% of proving; a launch takes 3.0 us", 0),
            0U);
  EXPECT_NE(step_text(sample, "NEXT_FIRST_REQUEST").find("2.7 times"), std::string::npos);
  EXPECT_NE(step_text(sample, "NEXT_HOST_PART").find("36.5%"), std::string::npos);
}

}  // namespace
}  // namespace prof

#include "prof/ingest/report_windows.hpp"

#include <nlohmann/json.hpp>

#include "tests/prof/ingest/log_builder.hpp"

namespace prof {
namespace {

using test::failure_of;
using test::TemporaryFolder;

const std::string kReport = std::string(TEST_DATA) + "/ledger/documents/cuda_report.json";

/// Of sha256sum.
constexpr const char* kReportSha256 =
    "8a9f54e0cc15cb8bda73df09d8ab8580d104875bd450d1f4ff4a5dcb68d037ee";

/// First and last moment of the sample's requests.
struct Times {
  int64_t begin;
  int64_t end;
};
Times times_of_report() {
  const auto report = nlohmann::json::parse(test::read_file(kReport));
  return {report["requests"].front()["begin_ns"].get<int64_t>(),
          report["requests"].back()["end_ns"].get<int64_t>()};
}

/// A log that begins `lead` before the report's first request and ends as long after its last.
std::string log_around(const TemporaryFolder& folder, int64_t lead, int64_t jump = 0) {
  const Times times = times_of_report();
  LogHeader header = test::sample_header();
  header.start = {times.begin - lead, 1000};
  LogWriter w;
  EXPECT_TRUE(w.open(folder.file(""), header));
  w.write(ledger::ContextRow{7, 1, 0, 7, {}, false});
  const int64_t span = times.end - times.begin;
  w.write(ledger::ClockPairRow{times.begin + span + lead + jump, 1000 + lead + span + lead});
  w.finish(0);
  return w.path();
}

TEST(ReportWindows, RequestsAndIdentity) {
  const ReportFacts facts = read_report_facts(kReport);
  const auto report = nlohmann::json::parse(test::read_file(kReport));
  ASSERT_EQ(facts.windows.size(), report["requests"].size());
  EXPECT_EQ(facts.windows.front().role, ledger::WindowRole::kFirst);
  EXPECT_EQ(facts.windows.back().role, ledger::WindowRole::kSteady);
  for (size_t i = 0; i < facts.windows.size(); ++i) {
    const auto& r = report["requests"][i];
    EXPECT_EQ(facts.windows[i].request, static_cast<int64_t>(i));
    EXPECT_EQ(facts.windows[i].begin_ns, r["begin_ns"].get<int64_t>());
    EXPECT_EQ(facts.windows[i].resident_begin_ns, r["resident_begin_ns"].get<int64_t>());
    EXPECT_EQ(facts.windows[i].resident_end_ns, r["resident_end_ns"].get<int64_t>());
    EXPECT_EQ(facts.windows[i].end_ns, r["end_ns"].get<int64_t>());
  }
  std::map<std::string, std::string> meta(facts.meta.begin(), facts.meta.end());
  EXPECT_EQ(meta.at("report_sha256"), kReportSha256);
  EXPECT_EQ(meta.at("product_identity_sha256"),
            report["identity"]["identity_sha256"].get<std::string>());
  EXPECT_EQ(meta.at("workload_id"), report["statement"]["workload_id"].get<std::string>());
}

TEST(ReportWindows, FilesThatAreNoReport) {
  const TemporaryFolder folder;
  EXPECT_EQ(failure_of([&] { read_report_facts(folder.file("none")); }).code, "REPORT_OPEN");
  EXPECT_EQ(failure_of([&] { read_report_facts(folder.file("")); }).code, "REPORT_OPEN");
  test::write_file(folder.file("r"), "{\"schema\":\"other\"}");
  const auto failure = failure_of([&] { read_report_facts(folder.file("r")); });
  EXPECT_EQ(failure.code, "REPORT_INVALID");
  EXPECT_NE(failure.message.find("REPORT_SCHEMA at /schema"), std::string::npos) << failure.message;
}

TEST(ReportWindows, ACaptureTakesTheWindowsOfItsReport) {
  const TemporaryFolder folder;
  auto options = test::options_for(folder, {log_around(folder, 1'000'000)});
  options.report_path = kReport;
  const auto out = test::ingest(options, folder.file("x.sptrace"));
  EXPECT_EQ(out.result.windows, static_cast<int64_t>(out.summary.windows.size()));
  EXPECT_EQ(out.summary.windows, read_report_facts(kReport).windows);
  EXPECT_EQ(out.summary.meta.at("report_sha256"), kReportSha256);
}

TEST(ReportWindows, AReportOfAnotherRunIsRefused) {
  const TemporaryFolder folder;
  auto options = test::options_for(folder, {log_around(folder, -1)});
  options.report_path = kReport;
  const auto failure = failure_of([&] {
    Ingest in(options);
    in.write(folder.file("x.sptrace"));
  });
  EXPECT_EQ(failure.code, "REPORT_OTHER_RUN");
  EXPECT_NE(failure.message.find(kReport), std::string::npos);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"7.stwolog"});
}

TEST(ReportWindows, WindowsThatCrossAStepAreRefused) {
  const TemporaryFolder folder;
  auto options = test::options_for(folder, {log_around(folder, 1'000'000, 60'000)});
  options.report_path = kReport;
  const auto out = test::ingest(options, folder.file("x.sptrace"));
  EXPECT_EQ(out.result.windows, 0);
  EXPECT_EQ(out.result.windows_refused.size(), read_report_facts(kReport).windows.size());
  EXPECT_EQ(out.summary.meta.at("windows_refused").rfind("0", 0), 0U);
  EXPECT_EQ(out.result.evidence, ledger::TraceEvidence::kIncomplete);
}

}  // namespace
}  // namespace prof

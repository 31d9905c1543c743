// Reading: what is a report, and what is said of everything else.
#include "prof/report/report_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "prover/errors.hpp"
#include "tests/prof/report/sample_reports.hpp"

namespace prof {
namespace {

using test::Json;

template <class Action>
stwo::Error error_of(const Action& action) {
  try {
    action();
  } catch (const stwo::Error& e) {
    return e;
  }
  return {stwo::ExitCode::kDone, "NO_ERROR", ""};
}
stwo::Error parse_error(const std::string& text) {
  return error_of([&] { parse_report("r.json", text); });
}

TEST(ReportFile, Samples) {
  const ReportFile file = read_report(test::sample_path("cuda_report.json"));
  EXPECT_EQ(file.json.at("backend"), "cuda");
  EXPECT_EQ(file.sha256, stwo::sha256_hex(test::file_text(test::sample_path("cuda_report.json"))));
  EXPECT_EQ(read_report(test::sample_path("cpu_report.json")).json.at("backend"), "cpu");
}

TEST(ReportFile, BrokenRulesAreNamed) {
  Json report = test::cuda_json();
  report["requests"][1]["canonical_sha256"] = std::string(64, '0');
  stwo::Error error = parse_error(report.dump());
  EXPECT_EQ(error.code(), "REPORT_DIGESTS");
  EXPECT_EQ(error.exit_code(), stwo::ExitCode::kInvalidEvidence);
  EXPECT_NE(std::string(error.what()).find("report r.json: /requests/1/canonical_sha256: "),
            std::string::npos)
      << error.what();
  EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  report["total"] = 1;
  error = parse_error(report.dump());
  EXPECT_EQ(error.code(), "REPORT_UNKNOWN_KEY");
  EXPECT_EQ(parse_error("").code(), "REPORT_JSON");
  EXPECT_EQ(parse_error("{\"schema\":\"stwo_prof_caps_v1\"}").code(), "REPORT_SCHEMA");
  EXPECT_EQ(parse_error(std::string(100000, '[')).code(), "REPORT_JSON");
  EXPECT_EQ(parse_error("{\"schema_version\":2,\"schema_version\":2}").code(),
            "REPORT_DUPLICATE_KEY");
}

TEST(ReportFile, ReportsOfStwoZigAreRecognised) {
  for (const char* version : {"2", "3", "4", "5", "6"}) {
    const stwo::Error error =
        parse_error(std::string("{\"schema_version\":") + version + ",\"anything\":[1,2]}");
    EXPECT_EQ(error.code(), "REPORT_ZIG") << version;
    EXPECT_EQ(error.exit_code(), stwo::ExitCode::kInvalidEvidence);
    EXPECT_EQ(std::string(error.what()),
              std::string("report r.json is a report of stwo-zig (schema_version ") + version +
                  "), whose fields are not known here (expected schema "
                  "stwo_cuda_product_report_v1); make a report with stwo prove --report-out");
  }
  for (const char* other :
       {"{\"schema_version\":1}", "{\"schema_version\":7}", "{\"schema_version\":2.0}",
        "{\"schema_version\":\"2\"}", "{\"schema_version\":true}", "{\"schema_version\":-2}",
        "{\"schema_version\":18446744073709551615}", "{\"schema_version\":1e30}", "[2]",
        "{\"schema\":\"x\",\"schema_version\":2}"}) {
    EXPECT_NE(parse_error(other).code(), "REPORT_ZIG") << other;
    EXPECT_NE(parse_error(other).code(), "NO_ERROR") << other;
  }
}

TEST(ReportFile, FilesThatCannotBeRead) {
  const stwo::Error missing = error_of([] { read_report("/no/such/report.json"); });
  EXPECT_EQ(missing.code(), "REPORT_READ");
  EXPECT_EQ(missing.exit_code(), stwo::ExitCode::kUsage);
  EXPECT_STREQ(missing.what(),
               "report /no/such/report.json: No such file or directory; give the file that "
               "--report-out wrote");
  EXPECT_EQ(error_of([] { read_report("/dev/null"); }).code(), "REPORT_READ");
  EXPECT_EQ(error_of([] { read_report(PROF_TEST_REPORTS); }).code(), "REPORT_READ");
  const std::string large = (std::filesystem::temp_directory_path() / "prof_large_report").string();
  std::ofstream(large) << "x";
  std::filesystem::resize_file(large, uint64_t{1} << 40);  // sparse
  const stwo::Error too_large = error_of([&] { read_report(large); });
  std::filesystem::remove(large);
  EXPECT_EQ(too_large.code(), "REPORT_TOO_LARGE");
}

}  // namespace
}  // namespace prof

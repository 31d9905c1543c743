// From a command to its capture. The program loads the recorder itself, as the driver would.
#include "prof/ingest/capture.hpp"

#include "tests/prof/ingest/log_builder.hpp"

namespace prof {
namespace {

using test::failure_of;
using test::Rows;
using test::TemporaryFolder;

CaptureOptions options_for_host(const TemporaryFolder& folder, const std::string& how) {
  CaptureOptions o;
  o.command = {TEST_INJECT_HOST, TEST_RECORDER, TEST_FAKE_CUPTI, how};
  o.output = folder.file("x.sptrace");
  o.tool_version = "0.1.0";
  o.recorder_path = TEST_RECORDER;
  o.cupti.file = TEST_FAKE_CUPTI;
  o.timeout_s = 60;
  return o;
}

TEST(Capture, AProgramBecomesACapture) {
  const TemporaryFolder folder;
  const CaptureResult result = capture_timeline(options_for_host(folder, "exit"));
  EXPECT_EQ(result.target.exit_status, 0);
  EXPECT_EQ(result.ingest.evidence, ledger::TraceEvidence::kComplete);
  EXPECT_EQ(result.ingest.pids, std::vector<int64_t>{result.target.pid});
  EXPECT_EQ(folder.names(), Rows{"x.sptrace"});
  const auto trace = ledger::open_trace(folder.file("x.sptrace"));
  EXPECT_EQ(test::rows_of(*trace, "SELECT corr FROM gpu_op ORDER BY 1"), (Rows{"1", "2"}));
  EXPECT_EQ(test::rows_of(*trace, "SELECT value FROM meta WHERE key = 'target_exit_status'"),
            Rows{"0"});
}

TEST(Capture, AProgramThatLeavesThroughTheBackDoorIsTruncated) {
  const TemporaryFolder folder;
  const CaptureResult result = capture_timeline(options_for_host(folder, "_exit"));
  EXPECT_EQ(result.ingest.evidence, ledger::TraceEvidence::kTruncated);
}

TEST(Capture, ASecondSubscriberIsAnError) {
  const TemporaryFolder folder;
  auto options = options_for_host(folder, "calls");
  options.environment = {{"FAKE_CUPTI", "subscribe=39"}};
  const auto failure = failure_of([&] { capture_timeline(options); });
  EXPECT_EQ(failure.code, "CUPTI_SLOT_TAKEN");
  EXPECT_NE(failure.message.find("Nsight Systems"), std::string::npos);
  EXPECT_TRUE(folder.names().empty());
}

TEST(Capture, AProgramWithoutCudaIsAnError) {
  const TemporaryFolder folder;
  auto options = options_for_host(folder, "");
  options.command = {"true"};
  EXPECT_EQ(failure_of([&] { capture_timeline(options); }).code, "CAPTURE_NO_CUDA");
  options.command = {"false"};
  EXPECT_EQ(failure_of([&] { capture_timeline(options); }).code, "TARGET_FAILED");
  EXPECT_TRUE(folder.names().empty());
}

TEST(Capture, TheOutputIsCheckedBeforeAnythingRuns) {
  const TemporaryFolder folder;
  auto options = options_for_host(folder, "exit");
  options.command = {"/no/such/program"};
  test::write_file(options.output, "mine");
  EXPECT_EQ(failure_of([&] { capture_timeline(options); }).code, "OUTPUT_EXISTS");
  EXPECT_EQ(test::read_file(options.output), "mine");
}

}  // namespace
}  // namespace prof

// The recorder as a whole, in a process of its own and with a CUPTI that is not one.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "prof/cupti/recorder_settings.hpp"
#include "prof/log/log_fields.hpp"
#include "tests/prof/log/sample_logs.hpp"

namespace prof {
namespace {

using test::TemporaryFolder;

struct Recorded {
  int exit_status = -1;
  std::string output;
  std::vector<std::string> files;
  // Of the only log.
  LogHeader header;
  LogStatus status;
  std::vector<int64_t> kernels;  ///< correlation ids
  std::vector<LogProblem> problems;
  std::vector<ledger::ResEventRow> resources;
  std::vector<ledger::ClockPairRow> clocks;
};

/// Runs the host with the recorder and reads its log.
Recorded record(const std::string& how, const std::string& fails = "",
                const std::string& variables = "", const std::string& cupti = TEST_FAKE_CUPTI) {
  const TemporaryFolder folder;
  const std::string command = std::string("env ") + kLogFolderVariable + "=" + folder.file("") +
                              " " + kCuptiVariable + "=" + cupti + " FAKE_CUPTI='" + fails + "' " +
                              variables +
                              " " TEST_INJECT_HOST " " TEST_RECORDER " " TEST_FAKE_CUPTI " " + how;
  Recorded out;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return out;
  std::array<char, 4096> text{};
  while (std::fgets(text.data(), text.size(), pipe) != nullptr) out.output += text.data();
  out.exit_status = WEXITSTATUS(::pclose(pipe));
  out.files = folder.names();
  if (out.files.size() != 1) return out;
  LogReader reader(folder.file(out.files[0]));
  out.header = reader.header();
  while (const auto item = reader.next()) {
    if (item->kind == FrameKind::kKernel) {
      out.kernels.push_back(decode<KernelOp>(item->payload)->op.corr);
    } else if (item->kind == FrameKind::kProblem) {
      out.problems.push_back(*decode<LogProblem>(item->payload));
    } else if (item->kind == FrameKind::kResEvent) {
      out.resources.push_back(*decode<ledger::ResEventRow>(item->payload));
    } else if (item->kind == FrameKind::kClock) {
      out.clocks.push_back(*decode<ledger::ClockPairRow>(item->payload));
    }
  }
  out.status = reader.status();
  return out;
}

TEST(Recorder, AProcessThatReturnsLeavesACompleteLog) {
  const Recorded r = record("exit");
  ASSERT_EQ(r.exit_status, 0);
  ASSERT_EQ(r.files.size(), 1U);
  EXPECT_EQ(r.status.end, LogEnd::kComplete) << r.status.reason;
  EXPECT_EQ(r.kernels, (std::vector<int64_t>{1, 2}));
  EXPECT_TRUE(r.problems.empty());
  EXPECT_EQ(r.header.process_name, "inject_host");
  EXPECT_NE(r.header.command.find("inject_host"), std::string::npos);
  EXPECT_EQ(r.header.cupti_version, r.header.cupti_header_version);
  // One pair at the begin, one at the end; both clocks go forward.
  ASSERT_GE(r.clocks.size(), 2U);
  EXPECT_GE(r.clocks.back().monotonic_raw_ns, r.clocks.front().monotonic_raw_ns);
  ASSERT_EQ(r.resources.size(), 2U);
}

TEST(Recorder, AModuleHasItsDigest) {
  const Recorded r = record("exit");
  std::vector<ledger::ResEventRow> modules;
  for (const auto& row : r.resources) {
    if (row.kind == ledger::ResKind::kModuleLoaded) modules.push_back(row);
  }
  ASSERT_EQ(modules.size(), 1U);
  EXPECT_EQ(modules[0].object, 7);
  EXPECT_EQ(modules[0].bytes, 3);
  EXPECT_EQ(modules[0].context_id, 1);
  // FIPS 180-4's example: SHA-256 of "abc".
  EXPECT_EQ(modules[0].sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Recorder, SetUpComesInItsOrder) {
  const Recorded r = record("calls");
  ASSERT_EQ(r.exit_status, 0);
  const auto at = [&](const std::string& call) {
    const size_t found = (" " + r.output).find(" " + call);
    EXPECT_NE(found, std::string::npos) << call << " in " << r.output;
    return found;
  };
  EXPECT_EQ(at("thread_id.1"), 0U);
  EXPECT_LT(at("thread_id.1"), at("subscribe"));
  EXPECT_LT(at("subscribe"), at("attribute.0"));
  EXPECT_LT(at("attribute.9"), at("register"));
  EXPECT_LT(at("register"), at("enable.10"));
  EXPECT_LT(at("enable.10"), at("callback.3.1"));
  EXPECT_LT(at("period.500"), at("callback.3.1"));
  // KERNEL would serialise the program's kernels; whole graphs and latency were not asked for.
  EXPECT_EQ((" " + r.output + " ").find(" enable.3 "), std::string::npos);
  EXPECT_EQ(r.output.find("enable.51"), std::string::npos);
  EXPECT_EQ(r.output.find("latency"), std::string::npos);
  // The second call of InitializeInjection does nothing.
  EXPECT_EQ(r.output.find("subscribe"), r.output.rfind("subscribe"));
}

TEST(Recorder, LatencyAndWholeGraphsAreOptions) {
  const Recorded r =
      record("calls", "", std::string(kLatencyVariable) + "=1 " + kWholeGraphsVariable + "=1");
  EXPECT_LT(r.output.find("latency"), r.output.find("enable.10"));
  EXPECT_NE(r.output.find("enable.51"), std::string::npos);
  EXPECT_TRUE(r.header.latency);
  EXPECT_TRUE(r.header.whole_graphs);
}

TEST(Recorder, AProcessThatDiesLeavesWhatWasFlushed) {
  const Recorded r = record("_exit");
  ASSERT_EQ(r.exit_status, 0);
  EXPECT_EQ(r.status.end, LogEnd::kTruncated);
  EXPECT_EQ(r.kernels, std::vector<int64_t>{1});
}

TEST(Recorder, AForkedChildAddsNothing) {
  const Recorded r = record("fork");
  ASSERT_EQ(r.exit_status, 0);
  ASSERT_EQ(r.files.size(), 1U);
  EXPECT_EQ(r.status.end, LogEnd::kComplete) << r.status.reason;
  EXPECT_EQ(r.kernels, (std::vector<int64_t>{1, 2}));
}

TEST(Recorder, WorkAfterTheEndIsRecordedToo) {
  const Recorded r = record("late");
  ASSERT_EQ(r.exit_status, 0);
  EXPECT_EQ(r.status.end, LogEnd::kComplete) << r.status.reason;
  EXPECT_EQ(r.kernels, (std::vector<int64_t>{1, 2, 99}));
}

TEST(Recorder, ASecondSubscriberIsNamedAndTheProgramRuns) {
  const Recorded r = record("calls", "subscribe=39");
  ASSERT_EQ(r.exit_status, 0);
  EXPECT_EQ(r.status.end, LogEnd::kComplete);
  ASSERT_EQ(r.problems.size(), 1U);
  EXPECT_EQ(r.problems[0], (LogProblem{LogProblem::Kind::kSubscribe, "subscriber",
                                       kCuptiMultipleSubscribers, "Nsight Systems", true}));
  // Nothing was enabled.
  EXPECT_EQ(r.output, "thread_id.1 subscribe\n");
}

TEST(Recorder, KindsThatFailAreListed) {
  const Recorded r = record("calls", "enable.10=35 enable.11=35 callback.3.6=15");
  ASSERT_EQ(r.problems.size(), 3U);
  EXPECT_EQ(r.problems[0], (LogProblem{LogProblem::Kind::kEnable, "concurrent_kernel",
                                       kCuptiInsufficientPrivileges,
                                       "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", true}));
  EXPECT_EQ(r.problems[1].subject, "name");
  EXPECT_FALSE(r.problems[1].required);
  EXPECT_EQ(r.problems[2].subject, "module_loaded");
  EXPECT_EQ(r.problems[2].kind, LogProblem::Kind::kCallback);
}

TEST(Recorder, DroppedRecordsAreInTheTrailer) {
  const Recorded r = record("exit", "drop=5");
  ASSERT_TRUE(r.status.trailer);
  EXPECT_EQ(r.status.trailer->dropped, 5);
}

TEST(Recorder, AnotherVersionIsNotUsed) {
  const Recorded r = record("calls", "version=120600");
  ASSERT_EQ(r.problems.size(), 1U);
  EXPECT_EQ(r.problems[0].kind, LogProblem::Kind::kVersion);
  EXPECT_EQ(r.problems[0].text, "version 12.6.0");
  EXPECT_EQ(r.output, "\n");
}

TEST(Recorder, WithoutCuptiTheLogSaysSo) {
  const Recorded r = record("calls", "", "", "/nowhere/libcupti.so.13");
  ASSERT_EQ(r.exit_status, 0);
  ASSERT_EQ(r.problems.size(), 1U);
  EXPECT_EQ(r.problems[0].kind, LogProblem::Kind::kLoad);
  EXPECT_EQ(r.problems[0].subject, "/nowhere/libcupti.so.13");
  EXPECT_EQ(r.header.cupti_version, 0);
}

TEST(Recorder, WithoutAFolderItDoesNothing) {
  const Recorded r = record("calls", "", std::string(kLogFolderVariable) + "=");
  EXPECT_EQ(r.exit_status, 0);
  EXPECT_EQ(r.output, "\n");
  EXPECT_TRUE(r.files.empty());
}

}  // namespace
}  // namespace prof

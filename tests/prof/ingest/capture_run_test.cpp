// What a finished run amounts to, from the logs it left.
#include "prof/ingest/capture_run.hpp"

#include "prof/cupti/recorder_settings.hpp"
#include "tests/prof/ingest/log_builder.hpp"

namespace prof {
namespace {

using Existing = ledger::TraceWriter::Existing;
using test::Rows;
using test::sample_kernel;
using test::TemporaryFolder;

/// A run whose logs are what `fill` writes.
class FinishedRun {
 public:
  FinishedRun() : output_(folder_.file("x.sptrace")), logs_(std::make_unique<RunFolder>(output_)) {}

  void log(const std::function<void(LogWriter&)>& fill, int64_t pid = 7) {
    LogWriter w;
    ASSERT_TRUE(w.open(logs_->path(), test::sample_header(pid)));
    fill(w);
    w.finish(0);
  }
  /// Code and message of the end; empty: a capture was made.
  ledger::test::Failure conclude(bool failed = false, const std::string& report = "") {
    RunEnd end;
    if (failed) {
      end.failure = stwo::Error(stwo::ExitCode::kTargetFailed, "TARGET_FAILED", "it exited with 3");
    }
    IngestOptions options;
    options.tool_version = "0.1.0";
    options.scratch_folder = logs_->path();
    options.report_path = report;
    auto failure = test::failure_of(
        [&] { result_ = conclude_run(options, *logs_, output_, Existing::kRefuse, end); });
    logs_.reset();
    return failure;
  }
  Rows files() const { return folder_.names(); }
  const IngestResult& result() const { return result_; }
  std::string kept(const std::string& name) const { return folder_.file(name); }

 private:
  TemporaryFolder folder_;
  std::string output_;
  std::unique_ptr<RunFolder> logs_;
  IngestResult result_;
};

void some_work(LogWriter& w) { w.write(sample_kernel(w.intern("k"), 10, 20, 1)); }

TEST(CaptureRun, AGoodRunIsACaptureAndNothingElse) {
  FinishedRun run;
  run.log(some_work);
  EXPECT_EQ(run.conclude().code, "");
  EXPECT_EQ(run.files(), Rows{"x.sptrace"});
  EXPECT_EQ(run.result().evidence, ledger::TraceEvidence::kComplete);
}

TEST(CaptureRun, AFailedProgramKeepsWhatWasRecorded) {
  FinishedRun run;
  run.log(some_work);
  const auto failure = run.conclude(true, "/no/report");
  EXPECT_EQ(failure.code, "TARGET_FAILED");
  EXPECT_NE(failure.message.find("it exited with 3; what was recorded is kept in " +
                                 run.kept("x.failed.sptrace")),
            std::string::npos)
      << failure.message;
  EXPECT_EQ(run.files(), Rows{"x.failed.sptrace"});
}

TEST(CaptureRun, AFailedProgramWithoutLogs) {
  FinishedRun run;
  const auto failure = run.conclude(true);
  EXPECT_EQ(failure.code, "TARGET_FAILED");
  EXPECT_NE(failure.message.find("nothing was recorded"), std::string::npos);
  EXPECT_TRUE(run.files().empty());
}

TEST(CaptureRun, AProgramWithoutCuda) {
  FinishedRun run;
  EXPECT_EQ(run.conclude().code, "CAPTURE_NO_CUDA");
  EXPECT_TRUE(run.files().empty());
}

TEST(CaptureRun, AProgramWithoutAContext) {
  FinishedRun run;
  run.log([](LogWriter& w) { w.write(test::sample_call(w.intern("cuInit"), 1, 2, 1)); });
  EXPECT_EQ(run.conclude().code, "CAPTURE_NO_CONTEXT");
  EXPECT_TRUE(run.files().empty());
}

TEST(CaptureRun, RefusalsOfCuptiAreErrorsOfTheirOwn) {
  using Kind = LogProblem::Kind;
  struct Case {
    LogProblem problem;
    const char* code;
    const char* words;
  };
  const Case cases[] = {
      {{Kind::kSubscribe, "subscriber", 39, "Nsight Systems", true},
       "CUPTI_SLOT_TAKEN",
       "in use by Nsight Systems"},
      {{Kind::kSubscribe, "subscriber", 39, "", true},
       "CUPTI_SLOT_TAKEN",
       "in use by another tool"},
      {{Kind::kSubscribe, "subscriber", 35, "", true}, "CUPTI_PERMISSION", "administrators"},
      {{Kind::kEnable, "concurrent_kernel", 40, "", true}, "CUPTI_PERMISSION", "concurrent_kernel"},
      {{Kind::kLoad, "/x/libcupti.so.13", 0, "no such file", true},
       "CUPTI_MISSING",
       "/x/libcupti.so.13"},
      {{Kind::kVersion, "/x", 120600, "version 12.6.0", true}, "CUPTI_VERSION", "12.6.0"},
      {{Kind::kAttribute, "buffer_callbacks", 15, "NOT_INITIALIZED", true},
       "CUPTI_FAILED",
       "buffer_callbacks: CUPTI error 15"},
  };
  for (const Case& c : cases) {
    FinishedRun run;
    run.log([&](LogWriter& w) { w.write(c.problem); });
    const auto failure = run.conclude();
    EXPECT_EQ(failure.code, c.code);
    EXPECT_NE(failure.message.find(c.words), std::string::npos) << failure.message;
    EXPECT_EQ(failure.message.rfind("process 7: ", 0), 0U) << failure.message;
    EXPECT_TRUE(run.files().empty());
  }
}

TEST(CaptureRun, AProblemBesidesWorkIsAnIncompleteCapture) {
  FinishedRun run;
  run.log(some_work);
  run.log(
      [](LogWriter& w) {
        w.write(LogProblem{LogProblem::Kind::kSubscribe, "subscriber", 39, "x", true});
      },
      9);
  EXPECT_EQ(run.conclude().code, "");
  EXPECT_EQ(run.result().evidence, ledger::TraceEvidence::kIncomplete);
  EXPECT_EQ(run.result().missing_kinds, std::vector<std::string>{"subscriber"});
}

TEST(CaptureRun, AReportThatDoesNotFitLeavesTheCaptureWithoutIt) {
  for (const std::string& report :
       {std::string("/no/report"), std::string(TEST_DATA) + "/ledger/documents/cpu_report.json"}) {
    FinishedRun run;
    run.log(some_work);
    const auto failure = run.conclude(false, report);
    EXPECT_EQ(failure.code.rfind("REPORT_", 0), 0U) << failure.code;
    EXPECT_NE(failure.message.find(run.kept("x.failed.sptrace")), std::string::npos)
        << failure.message;
    EXPECT_EQ(run.files(), Rows{"x.failed.sptrace"});
  }
}

TEST(CaptureRun, LogsThatCannotBeReadStay) {
  FinishedRun run;
  run.log(some_work);
  run.log(some_work);  // the same process id: a program that replaced itself
  const auto failure = run.conclude();
  EXPECT_EQ(failure.code, "INGEST_PID_TWICE");
  EXPECT_NE(failure.message.find("the record logs are kept in " + run.kept("x.sptrace.logs.")),
            std::string::npos)
      << failure.message;
  ASSERT_EQ(run.files().size(), 1U);
}

TEST(CaptureRun, KeptNamesAreFree) {
  const TemporaryFolder folder;
  const std::string output = folder.file("a.b.sptrace");
  EXPECT_EQ(kept_name(output), folder.file("a.b.failed.sptrace"));
  test::write_file(folder.file("a.b.failed.sptrace"), "");
  EXPECT_EQ(kept_name(output), folder.file("a.b.failed.2.sptrace"));
  test::write_file(folder.file("a.b.failed.2.sptrace.partial"), "");
  EXPECT_EQ(kept_name(output), folder.file("a.b.failed.3.sptrace"));
}

TEST(CaptureRun, TheRecorderIsGivenOrBesideTheProgram) {
  const TemporaryFolder folder;
  const auto failure = test::failure_of([&] { find_recorder(folder.file("none.so")); });
  EXPECT_EQ(failure.code, "RECORDER_MISSING");
  EXPECT_NE(failure.message.find(folder.file("none.so")), std::string::npos);
  test::write_file(folder.file("r.so"), "x");
  EXPECT_EQ(find_recorder(folder.file("r.so")), folder.file("r.so"));
}

TEST(CaptureRun, TheEnvironmentSaysEverything) {
  const auto variables =
      recorder_environment("/r.so", {"/c/libcupti.so.13", 130001, {}}, "/logs", true, false);
  const std::map<std::string, std::string> map(variables.begin(), variables.end());
  EXPECT_EQ(map, (std::map<std::string, std::string>{{"CUDA_INJECTION64_PATH", "/r.so"},
                                                     {"NVTX_INJECTION64_PATH", "/c/libcupti.so.13"},
                                                     {kCuptiVariable, "/c/libcupti.so.13"},
                                                     {kLogFolderVariable, "/logs"},
                                                     {kLatencyVariable, "1"},
                                                     {kWholeGraphsVariable, "0"}}));
}

TEST(CaptureRun, AFolderThatCannotBeMadeIsAnError) {
  EXPECT_EQ(test::code_of([] { RunFolder folder("/nowhere/at/all/x.sptrace"); }), "SCRATCH");
}

}  // namespace
}  // namespace prof

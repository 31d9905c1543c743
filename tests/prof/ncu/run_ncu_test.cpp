// The capturing run, with a program in ncu's place.
#include "prof/ncu/run_ncu.hpp"

#include <filesystem>

#include "prof/target/scratch_folder.hpp"
#include "tests/prof/ncu/support.hpp"

namespace prof::test {
namespace {

using Command = std::vector<std::string>;

/// What the fake profiler does.
struct Script {
  std::string log;
  std::string report = "report bytes";  ///< empty: none is written
  std::string csv;
  TargetResult run;
  TargetResult import;
};

std::string after(const Command& command, const std::string& option) {
  for (size_t i = 0; i + 1 < command.size(); ++i) {
    if (command[i] == option) return command[i + 1];
  }
  return "";
}

class Run : public ::testing::Test {
 protected:
  Run() {
    script_.run.exit_status = 0;
    script_.import.exit_status = 0;
    script_.csv = data_file("ncu_2025_3_c.csv");
    options_.tool = {"/opt/ncu", "2025.3.1.0", true, ""};
    options_.command = {"prove", "--log", "14"};
    options_.output = folder_.file("x.ncu-rep");
    options_.kernel_regex = "copy";
  }

  TargetResult act(const TargetOptions& run) {
    runs_.push_back(run);
    const std::string report = after(run.command, "--export");
    if (report.empty()) {
      std::ofstream(run.stdout_path) << script_.csv;
      return script_.import;
    }
    std::ofstream(after(run.command, "--log-file")) << script_.log;
    if (!script_.report.empty()) std::ofstream(report) << script_.report;
    return script_.run;
  }
  NcuCapture capture() {
    return run_ncu(options_, [this](const TargetOptions& run) { return act(run); });
  }
  std::string error(std::string* message = nullptr) {
    return thrown([this] { capture(); }, message);
  }
  /// Names left in the folder.
  std::vector<std::string> left() const {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      out.push_back(entry.path().filename().string());
    }
    return out;
  }

  const ScratchFolder folder_;
  Script script_;
  NcuOptions options_;
  std::vector<TargetOptions> runs_;
};

TEST_F(Run, TheCommand) {
  options_.metrics = {"a__b.sum", "c__d.ratio"};
  options_.launch_skip = 4;
  const Command expected = {"/opt/ncu",
                            "--config-file",
                            "off",
                            "--target-processes",
                            "all",
                            "--kernel-name-base",
                            "demangled",
                            "--kernel-name",
                            "regex:copy",
                            "--launch-skip",
                            "4",
                            "--launch-count",
                            "8",
                            "--replay-mode",
                            "kernel",
                            "--cache-control",
                            "all",
                            "--clock-control",
                            "none",
                            "--set",
                            "detailed",
                            "--section",
                            "WarpStateStats",
                            "--section",
                            "SchedulerStats",
                            "--section",
                            "InstructionStats",
                            "--metrics",
                            "a__b.sum,c__d.ratio",
                            "--log-file",
                            "/t/50%%.log",
                            "--export",
                            "/t/r.ncu-rep",
                            "prove",
                            "--log",
                            "14"};
  EXPECT_EQ(ncu_command(options_, "/t/r.ncu-rep", "/t/50%.log"), expected);
  EXPECT_EQ(ncu_import_command(options_.tool, "r.ncu-rep"),
            (Command{"/opt/ncu", "--config-file", "off", "--import", "r.ncu-rep", "--page", "raw",
                     "--csv", "--print-units", "base", "--print-kernel-base", "mangled"}));
}

TEST_F(Run, CapturesExportsAndParses) {
  script_.run.wall_ns = 77;
  const NcuCapture result = capture();
  EXPECT_EQ(result.counters.launches.size(), 3U);
  EXPECT_EQ(result.wall_ns, 77);
  // sha256sum of the fake report.
  EXPECT_EQ(result.report_sha256,
            "2138e20f2c6de32409659c519601a485e21fe056a5e3d6c019f075e4203ce608");
  EXPECT_EQ(left(), std::vector<std::string>{"x.ncu-rep"});
  EXPECT_EQ(read_text(options_.output), "report bytes");
  ASSERT_EQ(runs_.size(), 2U);
  for (const TargetOptions& run : runs_) {
    EXPECT_EQ(run.environment.at(0), (std::pair<std::string, std::string>{"LC_ALL", "C"}));
    EXPECT_GT(run.timeout_s, 0);
    EXPECT_FALSE(run.stdout_path.empty());
  }
}

TEST_F(Run, NeverOverwritesUnasked) {
  std::ofstream(options_.output) << "mine";
  EXPECT_EQ(error(), "OUTPUT_EXISTS 5");
  EXPECT_TRUE(runs_.empty());
  EXPECT_EQ(read_text(options_.output), "mine");
  options_.force = true;
  EXPECT_EQ(error(), "nothing");
  EXPECT_EQ(read_text(options_.output), "report bytes");
}

TEST_F(Run, OptionsAreCheckedFirst) {
  const auto with = [this](const std::function<void(NcuOptions*)>& change) {
    const NcuOptions saved = options_;
    change(&options_);
    const std::string code = error();
    options_ = saved;
    return code;
  };
  EXPECT_EQ(with([](NcuOptions* o) { o->command.clear(); }), "NCU_OPTION 2");
  EXPECT_EQ(with([](NcuOptions* o) { o->kernel_regex = ""; }), "NCU_OPTION 2");
  EXPECT_EQ(with([](NcuOptions* o) { o->kernel_regex = "fold("; }), "NCU_OPTION 2");
  EXPECT_EQ(with([](NcuOptions* o) { o->kernel_regex = "a\nb"; }), "NCU_OPTION 2");
  EXPECT_EQ(with([](NcuOptions* o) { o->set = "full --force"; }), "NCU_OPTION 2");
  EXPECT_EQ(with([](NcuOptions* o) { o->metrics = {"a,b"}; }), "NCU_OPTION 2");
  EXPECT_EQ(with([](NcuOptions* o) { o->launch_count = 0; }), "NCU_OPTION 2");
  EXPECT_EQ(with([](NcuOptions* o) { o->launch_skip = -1; }), "NCU_OPTION 2");
  EXPECT_EQ(with([](NcuOptions* o) { o->timeout_s = 0; }), "NCU_OPTION 2");
  EXPECT_EQ(with([](NcuOptions* o) { o->import_timeout_s = 1e300; }), "NCU_OPTION 2");
  EXPECT_EQ(with([](NcuOptions* o) { o->output = "x.csv"; }), "NCU_OPTION 2");
  EXPECT_EQ(with([](NcuOptions* o) { o->output = "/no/such/dir/x.ncu-rep"; }),
            "OUTPUT_DIRECTORY 2");
  EXPECT_EQ(with([](NcuOptions* o) {
              o->tool = {"", "", false, "no program ncu"};
            }),
            "NCU_MISSING 4");
  EXPECT_EQ(with([](NcuOptions* o) { o->tool.usable = false; }), "NCU_UNUSABLE 4");
  EXPECT_TRUE(runs_.empty());
}

TEST_F(Run, CountersDenied) {
  script_.log =
      "==ERROR== ERR_NVGPUCTRPERM - no permission\n==WARNING== No kernels were profiled.\n";
  script_.report = "";
  std::string message;
  EXPECT_EQ(error(&message), "NCU_DENIED 4");
  EXPECT_NE(message.find("NVreg_RestrictProfilingToAdminUsers=0"), std::string::npos);
  EXPECT_TRUE(left().empty());
}

TEST_F(Run, NoKernelMatches) {
  script_.log = "==WARNING== No kernels were profiled.\nAvailable Kernels:\n1. fold\n2. hash\n";
  script_.report = "";
  std::string message;
  EXPECT_EQ(error(&message), "NCU_NO_KERNEL 2");
  EXPECT_NE(message.find("\"copy\""), std::string::npos) << message;
  EXPECT_NE(message.find("fold, hash"), std::string::npos) << message;
  EXPECT_TRUE(left().empty());
}

TEST_F(Run, AReportWithoutLaunches) {
  script_.csv = script_.csv.substr(0, script_.csv.find("\"0\",\"4242\""));
  EXPECT_EQ(error(), "NCU_NO_KERNEL 2");
}

TEST_F(Run, NoReport) {
  script_.log = "==PROF== Disconnected from process 1\n";
  script_.report = "";
  std::string message;
  EXPECT_EQ(error(&message), "NCU_NO_REPORT 6");
  ASSERT_EQ(left().size(), 1U);
  EXPECT_NE(message.find(left()[0]), std::string::npos) << message;
}

TEST_F(Run, TheProgramFails) {
  script_.log = "==ERROR== The application returned an error code (3).\n";
  script_.run.exit_status = 3;
  script_.run.stderr_tail = "first\nbad argument\n";
  std::string message;
  // Even with a report: counters of a run that failed are no evidence.
  EXPECT_EQ(error(&message), "NCU_TARGET 6");
  EXPECT_NE(message.find("bad argument"), std::string::npos) << message;
  EXPECT_FALSE(std::filesystem::exists(options_.output));
  script_.log = "";
  script_.run.exit_status.reset();
  script_.run.signal = 11;
  std::filesystem::remove_all(folder_.file(left().at(0)));
  EXPECT_EQ(error(&message), "NCU_TARGET 6");
  EXPECT_NE(message.find("signal 11"), std::string::npos) << message;
}

TEST_F(Run, OtherEnds) {
  const auto fresh = [this] {
    for (const std::string& name : left()) std::filesystem::remove_all(folder_.file(name));
    return error();
  };
  script_.run.timed_out = true;
  EXPECT_EQ(fresh(), "NCU_TIMEOUT 6");
  script_.run.interrupted = true;
  EXPECT_EQ(fresh(), "NCU_INTERRUPTED 6");
  script_.run = {};
  script_.run.exit_status = 1;
  script_.log = "==ERROR== unrecognised option '--config-file'\n";
  EXPECT_EQ(fresh(), "NCU_FAILED 6");
  script_.log = "==ERROR== Profiling failed because a driver resource was unavailable.\n";
  EXPECT_EQ(fresh(), "NCU_BUSY 4");
  script_.log = "==ERROR== Profiling is not supported on device 0.\n";
  EXPECT_EQ(fresh(), "NCU_DEVICE 4");
  script_.log = "";
  script_.run.exit_status = 0;
  script_.import.exit_status = 2;
  EXPECT_EQ(fresh(), "NCU_IMPORT 6");
  script_.import.exit_status = 0;
  script_.csv = "==ERROR== cannot open\n";
  EXPECT_EQ(fresh(), "NCU_CSV_HEADER 3");
}

}  // namespace
}  // namespace prof::test

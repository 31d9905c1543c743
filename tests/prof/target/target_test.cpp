// Running a program: what it may do to us, and what is left of it.
#include "prof/target/target.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "prover/errors.hpp"

namespace prof {
namespace {

class Target : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "prof_target_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::string text(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  TargetOptions shell(const std::string& script) const {
    TargetOptions options;
    options.command = {"/bin/sh", "-c", script};
    options.stdout_path = file("out");
    options.stderr_path = file("err");
    return options;
  }
  /// The process whose number the program wrote.
  int written_pid() const { return std::stoi(text("out")); }

  std::filesystem::path folder_;
};

bool is_gone(int pid) { return ::kill(pid, 0) != 0 && errno == ESRCH; }

template <class Action>
stwo::Error error_of(const Action& action) {
  try {
    action();
  } catch (const stwo::Error& e) {
    return e;
  }
  return {stwo::ExitCode::kDone, "NO_ERROR", ""};
}

TEST_F(Target, TellsHowItEnded) {
  TargetOptions options = shell("echo result; echo remark >&2; exit 0");
  const TargetResult good = run_target(options);
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(good.exit_status, 0);
  EXPECT_FALSE(good.signal.has_value());
  EXPECT_GT(good.pid, 0);
  EXPECT_GT(good.wall_ns, 0);
  EXPECT_EQ(text("out"), "result\n");
  EXPECT_EQ(text("err"), "remark\n");
  EXPECT_EQ(good.stdout_bytes, 7U);
  EXPECT_EQ(good.stderr_bytes, 7U);
  EXPECT_EQ(good.stderr_tail, "remark\n");
  EXPECT_NO_THROW(require_success(options, good));

  options = shell("echo first >&2; echo 'no device' >&2; exit 7");
  const TargetResult bad = run_target(options);
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.exit_status, 7);
  const stwo::Error error = error_of([&] { require_success(options, bad); });
  EXPECT_EQ(error.code(), "TARGET_FAILED");
  EXPECT_EQ(error.exit_code(), stwo::ExitCode::kTargetFailed);
  EXPECT_STREQ(
      error.what(),
      "program /bin/sh: exit status 7 (its last words: no device); run it alone to see why");

  options = shell("kill -SEGV $$");
  const TargetResult crashed = run_target(options);
  EXPECT_FALSE(crashed.exit_status.has_value());
  EXPECT_EQ(crashed.signal, SIGSEGV);
  const stwo::Error crash = error_of([&] { require_success(options, crashed); });
  EXPECT_STREQ(crash.what(),
               "program /bin/sh: ended by signal 11 (it wrote nothing to stderr); run it alone to "
               "see why");
}

TEST_F(Target, EnvironmentStdinAndSignalsAreClean) {
  ASSERT_EQ(::setenv("PROF_TEST_KEPT", "kept", 1), 0);
  ASSERT_EQ(::setenv("PROF_TEST_GONE", "there", 1), 0);
  ASSERT_EQ(::setenv("PROF_TEST_CHANGED", "before", 1), 0);
  TargetOptions options = shell(
      "echo \"$PROF_TEST_KEPT,${PROF_TEST_GONE-unset},$PROF_TEST_CHANGED,$PROF_TEST_NEW\"; "
      "cat | wc -c; kill -PIPE $$; echo SIGPIPE is ignored");
  options.environment = {{"PROF_TEST_CHANGED", "after"}, {"PROF_TEST_NEW", "a=b"}};
  options.unset = {"PROF_TEST_GONE"};
  const TargetResult result = run_target(options);
  EXPECT_EQ(result.signal, SIGPIPE);
  EXPECT_EQ(text("out"), "kept,unset,after,a=b\n0\n");
}

TEST_F(Target, ArgumentsReachNoShell) {
  TargetOptions options = shell("");
  options.command = {"printf", "%s|", "$HOME; exit 3", "", "a b"};
  EXPECT_TRUE(run_target(options).ok());
  EXPECT_EQ(text("out"), "$HOME; exit 3||a b|");
}

TEST_F(Target, WhatCannotBeRun) {
  std::ofstream(file("data")) << "text";
  std::ofstream(file("script")) << "exit 0\n";
  ASSERT_EQ(::chmod(file("script").c_str(), 0755), 0);
  const std::vector<std::vector<std::string>> commands = {{},
                                                          {""},
                                                          {"prof-no-such-program"},
                                                          {file("missing")},
                                                          {file("data")},
                                                          {folder_.string()},
                                                          {file("script")},
                                                          {"/bin/sh", std::string("a\0b", 3)}};
  for (const auto& command : commands) {
    TargetOptions options = shell("");
    options.command = command;
    const stwo::Error error = error_of([&] { run_target(options); });
    EXPECT_EQ(error.code(), "TARGET_COMMAND") << error.what();
    EXPECT_EQ(error.exit_code(), stwo::ExitCode::kUsage);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
  TargetOptions options = shell("");
  options.command = {"prof-no-such-program"};
  EXPECT_STREQ(error_of([&] { run_target(options); }).what(),
               "program prof-no-such-program: not found in PATH; give its path or install it");
  // The program is looked up where it will run.
  options.command = {"script"};
  options.environment = {{"PATH", folder_.string()}};
  std::ofstream(file("script")) << "#!/bin/sh\nexit 0\n";
  EXPECT_TRUE(run_target(options).ok());
  options = shell("exit 0");
  options.stderr_path = file("no/such/folder");
  EXPECT_EQ(error_of([&] { run_target(options); }).code(), "TARGET_OUTPUT");
}

TEST_F(Target, HangIsEnded) {
  TargetOptions options = shell("echo $$; exec sleep 1000");
  options.timeout_s = 0.2;
  const TargetResult result = run_target(options);
  EXPECT_TRUE(result.timed_out);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.signal, SIGTERM);
  EXPECT_TRUE(is_gone(written_pid()));
  const stwo::Error error = error_of([&] { require_success(options, result); });
  EXPECT_EQ(error.code(), "TARGET_TIMEOUT");
  EXPECT_STREQ(error.what(),
               "program /bin/sh was ended after its limit of 0.2 s (it wrote nothing to stderr); "
               "give it more time with --timeout");
  // A limit that is not reached changes nothing.
  options = shell("exit 0");
  options.timeout_s = 1000;
  EXPECT_TRUE(run_target(options).ok());
}

TEST_F(Target, HangThatIgnoresTermIsKilled) {
  TargetOptions options = shell("trap '' TERM; echo $$; while :; do sleep 0.05; done");
  options.timeout_s = 0.2;
  const TargetResult result = run_target(options);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_TRUE(is_gone(written_pid()));
}

TEST_F(Target, StoppedProgramIsEnded) {
  TargetOptions options = shell("echo $$; kill -STOP $$; sleep 1000");
  options.timeout_s = 0.2;
  EXPECT_TRUE(run_target(options).timed_out);
  EXPECT_TRUE(is_gone(written_pid()));
}

TEST_F(Target, ChildrenDoNotOutliveIt) {
  // The child keeps both pipes open and ignores TERM.
  const TargetResult result =
      run_target(shell("(trap '' TERM HUP; while :; do sleep 0.05; done) & echo $!; exit 3"));
  EXPECT_EQ(result.exit_status, 3);
  EXPECT_TRUE(is_gone(written_pid()));
}

TEST_F(Target, ChildrenMayFinishWhenTimeIsOver) {
  // The shell dies from TERM at once, its child needs a moment.
  TargetOptions options =
      shell("(trap 'sleep 0.1; echo flushed; exit 0' TERM; while :; do sleep 0.02; done) & wait");
  options.timeout_s = 0.3;
  EXPECT_TRUE(run_target(options).timed_out);
  EXPECT_EQ(text("out"), "flushed\n");
}

TEST_F(Target, EscapedProcessThatHoldsThePipesDoesNotHoldUs) {
  const TargetResult result = run_target(shell("setsid sleep 1000 & echo $!; exit 0"));
  EXPECT_TRUE(result.ok());
  // Another session is not our group: it lives, and is ours to end here.
  const int pid = written_pid();
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

TEST_F(Target, ClosedStreamsAreNotTheEnd) {
  const TargetResult result =
      run_target(shell("exec >&- 2>&-; sleep 0.2; echo late > " + file("late")));
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(text("late"), "late\n");
  EXPECT_EQ(result.stdout_bytes, 0U);
}

TEST_F(Target, FloodIsCountedAndCut) {
  TargetOptions options = shell("head -c 3000000 /dev/zero; echo end >&2");
  options.output_limit_bytes = 1000;
  const TargetResult result = run_target(options);
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.stdout_bytes, 3000000U);
  EXPECT_EQ(std::filesystem::file_size(file("out")), 1000U);
  EXPECT_EQ(text("err"), "end\n");
}

TEST_F(Target, TailIsTheLastPart) {
  const TargetResult result = run_target(shell("head -c 5000 /dev/zero >&2; printf end >&2"));
  EXPECT_EQ(result.stderr_tail, std::string(2045, '\0') + "end");
  EXPECT_EQ(result.stderr_bytes, 5003U);
}

TEST_F(Target, OutputWithoutFileGoesToOurStderr) {
  TargetOptions options = shell("echo result; echo remark >&2");
  options.stdout_path.clear();
  options.stderr_path.clear();
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(run_target(options).ok());
  const std::string seen = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(seen.find("result\n"), std::string::npos);
  EXPECT_NE(seen.find("remark\n"), std::string::npos);
}

TEST_F(Target, FullDiskEndsTheProgram) {
  TargetOptions options = shell("echo $$ > " + file("pid") + "; while :; do echo line; done");
  options.stdout_path = "/dev/full";
  const stwo::Error error = error_of([&] { run_target(options); });
  EXPECT_EQ(error.code(), "TARGET_OUTPUT");
  EXPECT_EQ(error.exit_code(), stwo::ExitCode::kEnvironment);
  EXPECT_TRUE(is_gone(std::stoi(text("pid"))));
}

TEST_F(Target, SignalsAreForwardedAndHandlersRestored) {
  struct sigaction before {};
  ASSERT_EQ(::sigaction(SIGINT, nullptr, &before), 0);
  TargetOptions options = shell("trap 'echo asked; exit 9' INT; while :; do sleep 0.02; done");
  options.tick = [](double elapsed_s) {
    EXPECT_GT(elapsed_s, 0);
    ::raise(SIGINT);
  };
  const TargetResult result = run_target(options);
  EXPECT_TRUE(result.interrupted);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.exit_status, 9);
  EXPECT_EQ(text("out"), "asked\n");
  EXPECT_EQ(error_of([&] { require_success(options, result); }).code(), "TARGET_INTERRUPTED");
  struct sigaction after {};
  ASSERT_EQ(::sigaction(SIGINT, nullptr, &after), 0);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

TEST_F(Target, SecondSignalKills) {
  TargetOptions options = shell("trap '' TERM INT; while :; do sleep 0.02; done");
  options.tick = [](double) { ::raise(SIGTERM); };
  const TargetResult result = run_target(options);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.signal, SIGKILL);
}

TEST_F(Target, IgnoredSignalStaysIgnored) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  TargetOptions options = shell("sleep 0.7");
  int ticks = 0;
  options.tick = [&](double) {
    ++ticks;
    ::raise(SIGHUP);
  };
  const TargetResult result = run_target(options);
  (void)std::signal(SIGHUP, before);
  EXPECT_TRUE(result.ok());
  EXPECT_GE(ticks, 1);
}

TEST_F(Target, ThrowingTickEndsTheProgram) {
  TargetOptions options = shell("echo $$; exec sleep 1000");
  options.tick = [](double) { throw std::runtime_error("stop"); };
  EXPECT_THROW(run_target(options), std::runtime_error);
  // Everything was put back: the next run works.
  EXPECT_TRUE(run_target(shell("exit 0")).ok());
}

TEST_F(Target, RunsInsideAProcessWithClosedStreams) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (int fd = 0; fd < 3; ++fd) ::close(fd);
    int status = 1;
    try {
      status = run_target(shell("echo out; echo err >&2; cat")).ok() ? 0 : 2;
    } catch (...) {
      status = 3;
    }
    ::_exit(status);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(text("out"), "out\n");
  EXPECT_EQ(text("err"), "err\n");
}

}  // namespace
}  // namespace prof

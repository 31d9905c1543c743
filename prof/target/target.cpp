#include "prof/target/target.hpp"

#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>

#include "prof/target/output_stream.hpp"
#include "prof/target/process_group.hpp"
#include "prof/target/programs.hpp"
#include "prof/target/signal_relay.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

constexpr int64_t kNever = INT64_MAX;
constexpr int64_t kGraceNs = 5'000'000'000;
constexpr int64_t kTickNs = 500'000'000;

void check_options(const TargetOptions& options) {
  if (options.command.empty() || options.command.front().empty()) {
    throw stwo::UsageError("TARGET_COMMAND", "no program to run; give it after --");
  }
  for (const std::string& word : options.command) {
    if (word.find('\0') != std::string::npos) {
      throw stwo::UsageError("TARGET_COMMAND", "an argument of " +
                                                   stwo::one_line(options.command.front()) +
                                                   " has a zero byte; leave it out");
    }
  }
  STWO_CHECK(std::isfinite(options.timeout_s) && options.timeout_s >= 0,
             "a time limit is negative or not finite");
  STWO_CHECK(options.stdout_path.empty() || options.stdout_path != options.stderr_path,
             "both streams of a program go to one file");
}

int64_t limit_ns(double seconds) {
  // Above 30 years there is no limit.
  return seconds == 0 || seconds > 1e9 ? kNever : static_cast<int64_t>(seconds * 1e9);
}

/// One run, from its start to the end of the program.
class Run {
 public:
  explicit Run(const TargetOptions& options)
      : options_(options),
        out_(options.stdout_path, options.output_limit_bytes),
        err_(options.stderr_path, options.output_limit_bytes) {}

  TargetResult execute() {
    const std::vector<std::string> environment =
        target_environment(options_.environment, options_.unset);
    const std::string program = find_program(options_.command.front(), environment);
    begin_ns_ = monotonic_ns();
    ProcessGroup group(program, options_.command, environment, out_.program_end().get(),
                       err_.program_end().get());
    out_.program_end().close();
    err_.program_end().close();
    result_.pid = group.pid();
    const int64_t limit = limit_ns(options_.timeout_s);
    term_at_ = limit == kNever ? kNever : begin_ns_ + limit;
    next_tick_ = begin_ns_ + kTickNs;
    while (!step(group)) {
    }
    result_.wall_ns = group.end_ns() - begin_ns_;
    // Who was asked to end may use the time it was given; what a finished program left behind not.
    const int64_t deadline = kill_at_ == kNever ? 0 : kill_at_;
    const int status = group.finish(deadline, [&] { take_output(); });
    out_.finish();
    err_.finish();
    if (WIFSIGNALED(status)) {
      result_.signal = WTERMSIG(status);
    } else {
      result_.exit_status = WEXITSTATUS(status);
    }
    result_.stdout_bytes = out_.bytes();
    result_.stderr_bytes = err_.bytes();
    result_.stderr_tail = err_.tail();
    return result_;
  }

 private:
  /// Waits for the next thing to happen and reacts; true once the program has ended.
  bool step(ProcessGroup& group) {
    pollfd fds[] = {{group.ended_fd(), POLLIN, 0},
                    {relay_.fd(), POLLIN, 0},
                    {out_.fd(), POLLIN, 0},
                    {err_.fd(), POLLIN, 0}};
    const int64_t next = std::min({term_at_, kill_at_, next_tick_});
    const int64_t wait_ms = std::max<int64_t>(0, (next - monotonic_ns()) / 1'000'000 + 1);
    ::poll(fds, 4, static_cast<int>(std::min<int64_t>(wait_ms, 1000)));
    if (fds[0].revents != 0) return true;
    take_output();
    while (const auto signal = relay_.take()) interrupt(group, *signal);
    react_to_time(group);
    return false;
  }

  void take_output() {
    // A few buffers each, so that a flood does not keep us from looking at the clock.
    for (OutputStream* stream : {&out_, &err_}) {
      for (int i = 0; i < 16 && stream->take(UINT64_MAX); ++i) {
      }
    }
  }

  void interrupt(ProcessGroup& group, int signal) {
    // Who asks twice does not want to wait.
    group.signal(result_.interrupted ? SIGKILL : signal);
    result_.interrupted = true;
    kill_at_ = std::min(kill_at_, monotonic_ns() + kGraceNs);
    term_at_ = kNever;
  }

  void react_to_time(ProcessGroup& group) {
    const int64_t now = monotonic_ns();
    if (now >= term_at_) {
      result_.timed_out = true;
      group.signal(SIGTERM);
      term_at_ = kNever;
      kill_at_ = now + kGraceNs;
    }
    if (now >= kill_at_) {
      group.signal(SIGKILL);
      kill_at_ = now + kGraceNs;
    }
    if (now >= next_tick_) {
      next_tick_ = now + kTickNs;
      if (options_.tick) options_.tick(static_cast<double>(now - begin_ns_) / 1e9);
    }
  }

  const TargetOptions& options_;
  SignalRelay relay_;
  OutputStream out_;
  OutputStream err_;
  TargetResult result_;
  int64_t begin_ns_ = 0;
  int64_t term_at_ = kNever;
  int64_t kill_at_ = kNever;
  int64_t next_tick_ = kNever;
};

}  // namespace

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.pop_back();
  }
  const size_t newline = text.rfind('\n');
  if (newline != std::string::npos) text.erase(0, newline + 1);
  if (text.size() > 300) text = "..." + text.substr(text.size() - 297);
  return stwo::one_line(text);
}

TargetResult run_target(const TargetOptions& options) {
  check_options(options);
  return Run(options).execute();
}

void require_success(const TargetOptions& options, const TargetResult& result) {
  if (result.ok()) return;
  const std::string program = "program " + stwo::one_line(options.command.front());
  const std::string last = last_line(result.stderr_tail);
  const std::string said = last.empty() ? "it wrote nothing to stderr" : "its last words: " + last;
  const auto fail = [](const char* code, const std::string& message) {
    throw stwo::Error(stwo::ExitCode::kTargetFailed, code, message);
  };
  if (result.timed_out) {
    char limit[32];
    std::snprintf(limit, sizeof limit, "%g s", options.timeout_s);
    fail("TARGET_TIMEOUT", program + " was ended after its limit of " + limit + " (" + said +
                               "); give it more time with --timeout");
  }
  if (result.interrupted) {
    fail("TARGET_INTERRUPTED", program + " was ended because we were asked to stop; run it again");
  }
  const std::string how = result.signal ? "ended by signal " + std::to_string(*result.signal)
                                        : "exit status " + std::to_string(*result.exit_status);
  fail("TARGET_FAILED", program + ": " + how + " (" + said + "); run it alone to see why");
}

}  // namespace prof

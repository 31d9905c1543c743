// Runs the program that is to be measured: without a shell, in its own process group, with a limit
// on time and on stored output.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace prof {

struct TargetOptions {
  /// Program (looked up in PATH if it has no slash) and its arguments; not empty.
  std::vector<std::string> command;
  /// Variables set, and removed, on top of our own environment.
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> unset;
  /// Seconds until the group is sent TERM and, 5 s later, KILL; finite. 0: no limit.
  double timeout_s = 0;
  /// Files that take what the program writes, replaced if they exist; empty: it is passed on to our
  /// stderr, all of it.
  std::string stdout_path;
  std::string stderr_path;
  /// Bytes stored of each stream; what comes after is counted and dropped.
  uint64_t output_limit_bytes = uint64_t{64} << 20;
  /// Called about twice a second while the program runs, for progress; may be empty.
  std::function<void(double elapsed_s)> tick;
};

struct TargetResult {
  int pid = 0;
  std::optional<int> exit_status;  ///< absent if a signal ended it
  std::optional<int> signal;
  bool timed_out = false;
  bool interrupted = false;  ///< we were asked to stop (SIGINT, SIGTERM) and ended it
  int64_t wall_ns = 0;
  uint64_t stdout_bytes = 0;  ///< written by the program, stored or not
  uint64_t stderr_bytes = 0;
  std::string stderr_tail;  ///< last 2 KiB at most
  bool ok() const { return exit_status == 0 && !timed_out && !interrupted; }
};

/// The last line with something on it, at most 300 bytes: the last words of a program.
std::string last_line(std::string text);

/// Runs to the end, whatever that is: stdin is empty, SIGINT, SIGTERM and SIGHUP sent to us go to
/// the group (a second one ends it at once), and what the program left running is ended when it
/// ends. When it returns, or throws, no process of the group is left. One run at a time in a
/// process. Throws UsageError TARGET_COMMAND (empty, not found, not executable), EnvironmentError
/// TARGET_START and TARGET_OUTPUT (a file of its output cannot be written).
TargetResult run_target(const TargetOptions& options);

/// Throws stwo::Error with exit code 6, code TARGET_FAILED, TARGET_TIMEOUT or TARGET_INTERRUPTED,
/// and one line with the program, how it ended and the last line it wrote to stderr; returns if the
/// result is ok.
void require_success(const TargetOptions& options, const TargetResult& result);

}  // namespace prof

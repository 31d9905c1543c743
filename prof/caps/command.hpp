// Runs a tool to learn what it can do.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace prof {

struct CommandResult {
  bool started = false;
  std::optional<int> exit_status;  ///< absent: not started, ended by a signal or by its time limit
  std::string output;              ///< stdout, then stderr; at most 1 MiB
  std::string failure;             ///< how it failed, one line; empty: exit status 0
  bool ok() const { return exit_status == 0; }
};
using CommandRunner =
    std::function<CommandResult(const std::vector<std::string>& command, double timeout_s)>;

/// By run_target. Failures are results; throws what run_target throws besides TARGET_COMMAND.
CommandResult run_command(const std::vector<std::string>& command, double timeout_s);

}  // namespace prof

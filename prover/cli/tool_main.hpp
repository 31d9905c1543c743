// What the main function of every tool does: parses the command line, runs one subcommand, turns
// every failure into one line (or one JSON object) and an exit code.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace stwo {

struct ToolProgram {
  std::string name;  ///< how it is called: "stwo"
  std::string about;
  std::string footer;         ///< exit codes and examples
  std::string version_about;  ///< of --version
  /// Adds options and subcommands; the chosen one sets `run`, which returns the exit code.
  std::function<void(CLI::App& app, std::function<int()>* run)> add_commands;
  std::function<std::string(bool json)> list_codes;
  std::function<std::string(bool json)> version;
};

/// Adds --list-codes, --version and --json, which belongs behind a command if there is one. Never
/// throws. A full disk or a file size limit ends in an error line too.
int run_tool(const ToolProgram& program, int argc, char** argv);

}  // namespace stwo

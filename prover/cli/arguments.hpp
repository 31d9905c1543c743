// Command line pieces that several subcommands share.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "prover/air/statement.hpp"
#include "prover/pcs/config.hpp"
#include "prover/proof/proof_file.hpp"

namespace stwo {

/// Set by the subcommand that was chosen; run after parsing, returns the exit code.
using CommandRun = std::function<int()>;

/// --air, --channel, --mix-config and one option per parameter of any registered AIR.
class StatementArguments {
 public:
  void add_to(CLI::App& command, bool air_required);
  bool given() const { return !air_.empty(); }
  /// Complete statement. Throws UsageError; parameters are named by their options.
  Statement statement() const;

 private:
  std::string air_;
  std::string channel_ = "blake2s";
  bool mix_config_ = false;
  /// Parameter name -> text given for it. Sorted, so that help is stable.
  std::map<std::string, std::string> parameters_;
  std::map<std::string, CLI::Option*> options_;
};

/// A decimal number in [min, max]; no sign, no prefix, no leading space. `name` is the option.
uint64_t parse_number(const std::string& name, const std::string& text, uint64_t min, uint64_t max);

/// Number of a device (--device).
uint32_t parse_device(const std::string& text);
/// Compute capability as a number, 90 for 9.0 (--sm).
uint32_t parse_sm(const std::string& text);

/// Checks that the file's statement is complete and one this program knows, with its parameters in
/// declared order. Throws FormatError: the file is at fault, not the command line.
void check_file_statement(const std::string& path, const Statement& statement);

void add_prove_command(CLI::App& app, CommandRun* run);
void add_verify_command(CLI::App& app, CommandRun* run);
void add_inspect_command(CLI::App& app, CommandRun* run);
void add_airs_command(CLI::App& app, CommandRun* run);
void add_research_command(CLI::App& app, CommandRun* run);

/// Clock readings at the start of main().
struct ProcessStart {
  uint64_t main_ns = 0;  ///< monotonic
  std::optional<uint64_t> process_start_to_main;
};
ProcessStart& process_start();
/// Monotonic clock in nanoseconds.
uint64_t steady_ns();

}  // namespace stwo

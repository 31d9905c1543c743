// What the subcommands of stwo-prof share.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/cli/arguments.hpp"
#include "ledger/ingest/add_file.hpp"

namespace prof {

using ledger::CommandRun;
using ledger::SharedLedger;

/// "stwo-prof 0.1.0".
std::string program_name();
std::string program_version();
/// The whole command line, quoted so that a shell reads it back: what pages say made them.
std::string command_line(int argc, char** argv);

/// The program behind "--" and its arguments. Throws UsageError TARGET_COMMAND if there is none.
class TargetArguments {
 public:
  void add_to(CLI::App& command);
  const std::vector<std::string>& command() const;
  /// Seconds; 0: no limit.
  double timeout_s() const { return timeout_s_; }
  /// The product report that the program will write: --report, else what follows --report-out in
  /// its own arguments; empty: none.
  std::string report_path() const;

 private:
  std::vector<std::string> words_;
  double timeout_s_ = 600;
  std::string report_;
};

/// Files a result in the ledger that the ledger's own options name, if it exists.
class LedgerFiling {
 public:
  void add_to(CLI::App& command);
  /// Throws UsageError USAGE, and what opening a named ledger throws; call it before the work whose
  /// result is to be filed.
  void require_ready() const;
  /// The ledger, to append; null: there is none, or it is not wanted.
  std::unique_ptr<ledger::Ledger> open() const;
  /// One line about what became of it. `paths`: the product report, if any, before what was
  /// captured. `filed`, if given, takes the results. Throws what ledger::add_file throws.
  std::string file(const std::vector<std::string>& paths,
                   std::vector<ledger::AddResult>* filed = nullptr) const;

 private:
  ledger::LedgerArguments arguments_;
  bool none_ = false;
};

/// Does the path end in `ending`, with a name before it?
bool has_ending(std::string_view path, std::string_view ending);

struct ProgramContext {
  std::string command_line;
};

void add_caps_command(CLI::App& cuda, CommandRun* run);
void add_report_command(CLI::App& cuda, CommandRun* run, const ProgramContext& context);
void add_systems_commands(CLI::App& cuda, CommandRun* run);
void add_compute_commands(CLI::App& cuda, CommandRun* run, const ProgramContext& context);
void add_attribute_command(CLI::App& cuda, CommandRun* run, const ProgramContext& context);
void add_export_commands(CLI::App& cuda, CommandRun* run);
/// Launches one kernel and ends: the program on which permission for counters is tried. Not shown.
void add_one_kernel_command(CLI::App& app, CommandRun* run);

}  // namespace prof

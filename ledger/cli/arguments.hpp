// Command line pieces that several subcommands share.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ledger/query/result_table.hpp"
#include "ledger/records/record_fields.hpp"
#include "ledger/store/ledger.hpp"

namespace ledger {

/// Set by the subcommand that was chosen; run after parsing, returns the exit code.
using CommandRun = std::function<int()>;

/// Which ledger, and how long to wait for another writer: --ledger and --wait, before the command
/// or behind it.
class LedgerArguments {
 public:
  /// Options of the program itself.
  void add_to_program(CLI::App& app);
  /// The same options behind a command.
  void add_to(CLI::App& command);

  /// --ledger, else $STWO_LEDGER, else ledger.db. Throws UsageError if it is given twice.
  std::string path() const;
  bool given() const { return before_.ledger || behind_.ledger; }
  /// Tells on stderr when a wait has lasted a second, and when the ledger is newer than the
  /// program.
  LedgerOptions options() const;
  /// Opened to read; throws what Ledger's constructor throws, and UsageError.
  std::unique_ptr<Ledger> open_to_read() const;
  std::unique_ptr<Ledger> open_to_append() const;

 private:
  struct Given {
    std::optional<std::string> ledger;
    std::optional<std::string> wait;
  };
  static void add(CLI::App& app, Given* given);
  std::string text(std::optional<std::string> Given::*option, const std::string& name,
                   const std::string& fallback) const;

  Given before_;
  Given behind_;
};

/// How a table is printed: --json, --csv.
class TableArguments {
 public:
  void add_to(CLI::App& command);
  bool json() const { return json_; }
  /// To stdout; as CSV, notes go to stderr.
  void print(const ResultTable& table) const;

 private:
  bool json_ = false;
  bool csv_ = false;
};

/// A decimal number in [min, max]; no sign, no leading space. `name` is the option. Throws
/// UsageError NUMBER.
uint64_t parse_number(const std::string& name, const std::string& text, uint64_t min, uint64_t max);

/// An option that may be given several times, with one value each.
CLI::Option* add_repeatable(CLI::App& command, const std::string& name,
                            std::vector<std::string>& values, const std::string& description);

using SharedLedger = std::shared_ptr<LedgerArguments>;
void add_store_commands(CLI::App& app, CommandRun* run, const SharedLedger& ledger);
void add_copy_commands(CLI::App& app, CommandRun* run, const SharedLedger& ledger);
void add_add_command(CLI::App& app, CommandRun* run, const SharedLedger& ledger);
void add_question_commands(CLI::App& app, CommandRun* run, const SharedLedger& ledger);
void add_query_command(CLI::App& app, CommandRun* run, const SharedLedger& ledger);
void add_schema_command(CLI::App& app, CommandRun* run);
void add_record_commands(CLI::App& app, CommandRun* run, const SharedLedger& ledger,
                         RecordKind kind);

}  // namespace ledger

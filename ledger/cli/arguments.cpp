#include "ledger/cli/arguments.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"

namespace ledger {
namespace {

constexpr const char* kDefaultLedger = "ledger.db";
constexpr const char* kDefaultWait = "5";
constexpr uint64_t kLongestWait = 86'400;

void tell(const std::string& text) {
  std::fprintf(stderr, "ledger: %s\n", stwo::one_line(text).c_str());
}

}  // namespace

void LedgerArguments::add(CLI::App& app, Given* given) {
  app.add_option("--ledger", given->ledger, "the ledger; default $STWO_LEDGER, then ./ledger.db")
      ->option_text("FILE")
      ->group("Ledger");
  app.add_option("--wait", given->wait, "seconds to wait for another writer, default 5")
      ->option_text("SECONDS")
      ->group("Ledger");
}

void LedgerArguments::add_to_program(CLI::App& app) { add(app, &before_); }
void LedgerArguments::add_to(CLI::App& command) { add(command, &behind_); }

std::string LedgerArguments::text(std::optional<std::string> Given::*option,
                                  const std::string& name, const std::string& fallback) const {
  const auto& before = before_.*option;
  const auto& behind = behind_.*option;
  if (before && behind) {
    throw stwo::UsageError("USAGE", name + " is given twice; give it once");
  }
  return before ? *before : behind.value_or(fallback);
}

std::string LedgerArguments::path() const {
  const char* from_environment = std::getenv("STWO_LEDGER");
  const bool usable = from_environment != nullptr && *from_environment != '\0';
  return text(&Given::ledger, "--ledger", usable ? from_environment : kDefaultLedger);
}

LedgerOptions LedgerArguments::options() const {
  LedgerOptions options;
  options.wait = std::chrono::seconds(
      parse_number("--wait", text(&Given::wait, "--wait", kDefaultWait), 0, kLongestWait));
  options.on_wait = [path = path()] { tell("waiting for another writer of " + path); };
  options.on_note = tell;
  return options;
}

std::unique_ptr<Ledger> LedgerArguments::open_to_read() const {
  return std::make_unique<Ledger>(path(), Access::kRead, options());
}
std::unique_ptr<Ledger> LedgerArguments::open_to_append() const {
  return std::make_unique<Ledger>(path(), Access::kAppend, options());
}

void TableArguments::add_to(CLI::App& command) {
  CLI::Option* json = command.add_flag("--json", json_, "one JSON object instead of text");
  command.add_flag("--csv", csv_, "comma-separated values instead of text")->excludes(json);
}

void TableArguments::print(const ResultTable& table) const {
  if (json_) {
    stwo::print(table_json(table));
  } else if (csv_) {
    stwo::print(table_csv(table));
    for (const std::string& note : table.notes) tell(note);
  } else {
    stwo::print(table_text(table));
  }
}

uint64_t parse_number(const std::string& name, const std::string& text, uint64_t min,
                      uint64_t max) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || value < min || value > max) {
    throw stwo::UsageError("NUMBER", name + " is '" + text + "'; give a whole number from " +
                                         std::to_string(min) + " to " + std::to_string(max));
  }
  return value;
}

CLI::Option* add_repeatable(CLI::App& command, const std::string& name,
                            std::vector<std::string>& values, const std::string& description) {
  return command.add_option(name, values, description)->allow_extra_args(false);
}

}  // namespace ledger

#include "prof/cli/arguments.hpp"

#include <sys/stat.h>

#include "prof/target/command_line.hpp"
#include "prover/errors.hpp"

namespace prof {

std::string program_version() { return STWO_VERSION; }
std::string program_name() { return "stwo-prof " + program_version(); }

std::string command_line(int argc, char** argv) {
  std::vector<std::string> words(argv, argv + argc);
  if (!words.empty()) words[0] = "stwo-prof";
  return shell_line(words);
}

void TargetArguments::add_to(CLI::App& command) {
  command.add_option("CMD", words_, "the program to measure and its arguments, behind --")
      ->option_text("...");
  command
      .add_option("--timeout", timeout_s_,
                  "seconds until the program and its children are ended; 0: no limit")
      ->option_text("S [600]")
      ->check(CLI::Range(0.0, 1e7));
  command.add_option("--report", report_,
                     "product report that the program writes; default: its own --report-out");
}

const std::vector<std::string>& TargetArguments::command() const {
  if (words_.empty()) {
    throw stwo::UsageError("TARGET_COMMAND",
                           "no program to measure; put it behind --, e.g. -- ./prover --fast");
  }
  return words_;
}

std::string TargetArguments::report_path() const {
  if (!report_.empty()) return report_;
  constexpr std::string_view kOption = "--report-out";
  for (size_t i = 1; i < words_.size(); ++i) {
    if (words_[i] == kOption && i + 1 < words_.size()) return words_[i + 1];
    if (words_[i].starts_with(std::string(kOption) + "=")) {
      return words_[i].substr(kOption.size() + 1);
    }
  }
  return "";
}

void LedgerFiling::add_to(CLI::App& command) {
  arguments_.add_to(command);
  command.add_flag("--no-ledger", none_, "do not file the result")->group("Ledger");
}

void LedgerFiling::require_ready() const {
  if (none_ && arguments_.given()) {
    throw stwo::UsageError("USAGE", "--ledger and --no-ledger contradict each other; give one");
  }
  if (arguments_.given()) arguments_.open_to_read();
}

std::unique_ptr<ledger::Ledger> LedgerFiling::open() const {
  struct stat info {};
  if (none_ || ::stat(arguments_.path().c_str(), &info) != 0) return nullptr;
  return arguments_.open_to_append();
}

std::string LedgerFiling::file(const std::vector<std::string>& paths,
                               std::vector<ledger::AddResult>* filed) const {
  if (none_) return "not filed: --no-ledger";
  const std::string ledger_path = arguments_.path();
  const auto ledger = open();
  if (!ledger) return "not filed: there is no ledger " + ledger_path + "; `ledger init` makes one";
  std::string out;
  for (const std::string& file : paths) {
    const ledger::AddResult result = ledger::add_file(*ledger, file);
    constexpr size_t kShownDigest = 12;
    out += (out.empty() ? "in ledger " + ledger_path + ": " : ", ") + result.kind + " " +
           result.id.substr(0, kShownDigest) + (result.added ? "" : " (already there)");
    if (filed != nullptr) filed->push_back(result);
  }
  return out;
}

bool has_ending(std::string_view path, std::string_view ending) {
  return path.size() > ending.size() && path.ends_with(ending) &&
         path[path.size() - ending.size() - 1] != '/';
}

}  // namespace prof

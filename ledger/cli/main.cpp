// The `ledger` program: parses the command line, runs one subcommand, turns every failure into one
// line (or one JSON object) and an exit code.

#include <csignal>
#include <cstdio>
#include <new>
#include <nlohmann/json.hpp>
#include <string_view>

#include "ledger/cli/arguments.hpp"
#include "ledger/cli/error_codes.hpp"
#include "ledger/cli/version.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"

namespace ledger {
namespace {

using Json = nlohmann::ordered_json;

/// Was JSON asked for? Found before parsing, because parsing itself may fail.
bool wants_json(int argc, char** argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    if (std::string_view(argv[i]) == "--json") return true;
  }
  return false;
}

int report_error(bool json, const std::string& command, stwo::ExitCode exit_code,
                 const std::string& code, const std::string& message) {
  const std::string line = stwo::one_line(message);
  if (json) {
    const Json out = {
        {"schema", "stwo_error_v1"},
        {"code", code},
        {"message", line},
        {"context", {{"command", command}, {"exit_code", static_cast<int>(exit_code)}}}};
    const std::string text = out.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  } else {
    std::fprintf(stderr, "ledger: %s: %s\n", code.c_str(), line.c_str());
  }
  return static_cast<int>(exit_code);
}

std::string command_of(const CLI::App& app) {
  std::string out;
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    out += (out.empty() ? "" : " ") + at->get_name();
  }
  return out;
}

int run_program(int argc, char** argv, bool json, std::string* command) {
  CLI::App app(
      "Remembers what was run, measured, believed and decided, and answers questions about it",
      "ledger");
  app.require_subcommand(0, 1);
  app.failure_message(CLI::FailureMessage::simple);
  bool list = false;
  bool version = false;
  bool json_flag = false;
  const auto ledger = std::make_shared<LedgerArguments>();
  ledger->add_to_program(app);
  app.add_flag("--list-codes", list, "list all error codes");
  app.add_flag("--version", version, "versions of program, SQLite and schema");
  app.add_flag("--json", json_flag, "one JSON object instead of text");
  app.footer(
      "Exit codes: 0 done, 2 usage, 3 invalid file or ledger, 4 environment, 5 refused (output\n"
      "exists, another writer, limit of a query, newer schema), 70 our bug.\n"
      "Examples:\n"
      "  ledger init\n"
      "  ledger add report.json\n"
      "  ledger stages last\n"
      "  ledger history --workload wide_fibonacci_log20x100\n"
      "  ledger check");
  CommandRun run;
  add_store_commands(app, &run, ledger);
  add_add_command(app, &run, ledger);
  add_question_commands(app, &run, ledger);
  add_query_command(app, &run, ledger);
  add_schema_command(app, &run);
  add_record_commands(app, &run, ledger, RecordKind::kExperiment);
  add_record_commands(app, &run, ledger, RecordKind::kBrief);
  add_copy_commands(app, &run, ledger);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success&) {
    // --help; CLI11 shows the chosen subcommand's.
    *command = command_of(app);
    stwo::print(app.help());
    return 0;
  } catch (const CLI::ParseError& e) {
    *command = command_of(app);
    const std::string help = command->empty() ? "ledger --help" : "ledger " + *command + " --help";
    throw stwo::UsageError("USAGE", std::string(e.what()) + "; see " + help);
  }
  *command = command_of(app);
  if (json_flag && run) {
    throw stwo::UsageError(
        "USAGE", "--json belongs behind the command; write ledger " + *command + " --json");
  }
  if (list) {
    stwo::print(list_codes(json));
    return 0;
  }
  if (version) {
    stwo::print(version_text(json));
    return 0;
  }
  if (!run) throw stwo::UsageError("USAGE", "no command was given; see ledger --help");
  return run();
}

}  // namespace
}  // namespace ledger

int main(int argc, char** argv) {
  using namespace ledger;
  // A file size limit must end in an error line, like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  set_tool_version(program_name());
  const bool json = wants_json(argc, argv);
  std::string command;
  try {
    return run_program(argc, argv, json, &command);
  } catch (const stwo::Error& e) {
    return report_error(json, command, e.exit_code(), e.code(), e.what());
  } catch (const std::bad_alloc&) {
    return report_error(json, command, stwo::ExitCode::kEnvironment, "OUT_OF_MEMORY",
                        "the system has no more memory for this; free some or ask for less");
  } catch (const std::exception& e) {
    return report_error(json, command, stwo::ExitCode::kBug, "INTERNAL",
                        std::string("unexpected failure: ") + e.what() +
                            "; please report it with the command line");
  } catch (...) {
    return report_error(json, command, stwo::ExitCode::kBug, "INTERNAL",
                        "unexpected failure; please report it with the command line");
  }
}

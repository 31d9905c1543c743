// The `stwo-prof` program: parses the command line, runs one subcommand, turns every failure into
// one line (or one JSON object) and an exit code.

#include <csignal>
#include <cstdio>
#include <new>
#include <nlohmann/json.hpp>
#include <string_view>

#include "ledger/store/ledger.hpp"
#include "prof/cli/arguments.hpp"
#include "prof/cli/error_codes.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"

namespace prof {
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
    std::fprintf(stderr, "stwo-prof: %s: %s\n", code.c_str(), line.c_str());
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
  CLI::App app("Where does the time of a CUDA program go, and what would prove the answer wrong?",
               "stwo-prof");
  app.require_subcommand(0, 1);
  app.failure_message(CLI::FailureMessage::simple);
  bool list = false;
  bool version = false;
  bool json_flag = false;
  app.add_flag("--list-codes", list, "list all error codes");
  app.add_flag("--version", version, "version of the program");
  app.add_flag("--json", json_flag, "one JSON object instead of text");
  app.footer(
      "Exit codes: 0 done, 1 a gate of a report fails, 2 usage, 3 invalid file or evidence,\n"
      "4 environment, 5 refused (output exists, newer schema), 6 the program failed, 70 our bug.\n"
      "Examples:\n"
      "  stwo-prof cuda caps\n"
      "  stwo-prof cuda report report.json\n"
      "  stwo-prof cuda systems --output proof.sptrace -- ./prover --fast");
  CommandRun run;
  const ProgramContext context{command_line(argc, argv)};
  CLI::App* cuda = app.add_subcommand("cuda", "Profile CUDA programs");
  cuda->require_subcommand(0, 1);
  add_caps_command(*cuda, &run);
  add_report_command(*cuda, &run, context);
  add_systems_commands(*cuda, &run);
  add_compute_commands(*cuda, &run, context);
  add_attribute_command(*cuda, &run, context);
  add_export_commands(*cuda, &run);
  add_one_kernel_command(app, &run);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success&) {
    // --help; CLI11 shows the chosen subcommand's.
    *command = command_of(app);
    stwo::print(app.help());
    return 0;
  } catch (const CLI::ParseError& e) {
    *command = command_of(app);
    const std::string help =
        command->empty() ? "stwo-prof --help" : "stwo-prof " + *command + " --help";
    throw stwo::UsageError("USAGE", std::string(e.what()) + "; see " + help);
  }
  *command = command_of(app);
  if (json_flag && run) {
    throw stwo::UsageError(
        "USAGE", "--json belongs behind the command; write stwo-prof " + *command + " --json");
  }
  if (list) {
    stwo::print(list_codes(json));
    return 0;
  }
  if (version) {
    stwo::print(
        json
            ? Json{{"schema", "stwo_prof_version_v1"}, {"version", program_version()}}.dump() + "\n"
            : program_name() + "\n");
    return 0;
  }
  if (!run) {
    throw stwo::UsageError(
        "USAGE", "no command was given; see " +
                     std::string(command->empty() ? "stwo-prof --help" : "stwo-prof cuda --help"));
  }
  return run();
}

}  // namespace
}  // namespace prof

int main(int argc, char** argv) {
  using namespace prof;
  // A file size limit must end in an error line, like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  ledger::set_tool_version(program_name());
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

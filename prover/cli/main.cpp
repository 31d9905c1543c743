// The `stwo` program: parses the command line, runs one subcommand, turns every failure into one
// line (or one JSON object) and an exit code.

#include <csignal>
#include <cstdio>
#include <new>
#include <nlohmann/json.hpp>
#include <string_view>

#include "prover/cli/arguments.hpp"
#include "prover/cli/build_info.hpp"
#include "prover/cli/error_codes.hpp"
#include "prover/cli/system_info.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"

namespace stwo {
namespace {

using Json = nlohmann::ordered_json;

/// Was JSON asked for? Found before parsing, because parsing itself may fail.
bool wants_json(int argc, char** argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    if (std::string_view(argv[i]) == "--json") return true;
  }
  return false;
}

int report_error(bool json, const std::string& command, ExitCode exit_code, const std::string& code,
                 const std::string& message) {
  const std::string line = one_line(message);
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
    std::fprintf(stderr, "stwo: %s: %s\n", code.c_str(), line.c_str());
  }
  return static_cast<int>(exit_code);
}

std::string version_text(bool json) {
  const BuildIdentity b = build_identity();
  if (json) {
    const auto value = [](const auto& v) { return v ? Json(*v) : Json(nullptr); };
    return Json{{"schema", "stwo_version_v1"},     {"version", b.product_version},
                {"protocol", kProtocolCrate},      {"source_commit", value(b.source_commit)},
                {"dirty", value(b.dirty)},         {"build_type", b.build_type},
                {"host_compiler", b.host_compiler}}
               .dump() +
           "\n";
  }
  std::string out =
      "stwo " + b.product_version + ", proofs of " + std::string(kProtocolCrate) + "\n";
  out += "source " + b.source_commit.value_or("unknown");
  if (b.dirty.value_or(false)) out += " with changes";
  return out + "\nbuilt " + b.build_type + " with " + b.host_compiler + "\n";
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
  CLI::App app("Circle-STARK prover and verifier; proofs are byte-identical with the stwo crate's",
               "stwo");
  app.require_subcommand(0, 1);
  app.failure_message(CLI::FailureMessage::simple);
  bool list = false;
  bool version = false;
  bool json_flag = false;
  app.add_flag("--list-codes", list, "list all error codes");
  app.add_flag("--version", version, "version, source revision and compiler");
  app.add_flag("--json", json_flag, "one JSON object instead of text");
  app.footer(
      "Exit codes: 0 done, 1 valid negative result, 2 usage, 3 invalid file, 4 environment,\n"
      "5 refused (output exists), 70 our bug.\n"
      "Examples:\n"
      "  stwo prove --air wide_fibonacci --log-n-rows 10 --sequence-len 100 --output proof.json\n"
      "  stwo verify proof.json\n"
      "  stwo inspect proof proof.json\n"
      "  stwo airs");
  CommandRun run;
  add_prove_command(app, &run);
  add_verify_command(app, &run);
  add_inspect_command(app, &run);
  add_airs_command(app, &run);
  add_research_command(app, &run);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success&) {
    // --help; CLI11 shows the chosen subcommand's.
    *command = command_of(app);
    print(app.help());
    return 0;
  } catch (const CLI::ParseError& e) {
    *command = command_of(app);
    const std::string help = command->empty() ? "stwo --help" : "stwo " + *command + " --help";
    throw UsageError("USAGE", std::string(e.what()) + "; see " + help);
  }
  *command = command_of(app);
  if (json_flag && run) {
    throw UsageError("USAGE",
                     "--json belongs behind the command; write stwo " + *command + " --json");
  }
  if (list) {
    print(list_codes(json));
    return 0;
  }
  if (version) {
    print(version_text(json));
    return 0;
  }
  if (!run) throw UsageError("USAGE", "no command was given; see stwo --help");
  return run();
}

}  // namespace
}  // namespace stwo

int main(int argc, char** argv) {
  using namespace stwo;
  process_start() = {steady_ns(), ns_since_process_start()};
  // A file size limit must end in an error line, like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  const bool json = wants_json(argc, argv);
  std::string command;
  try {
    return run_program(argc, argv, json, &command);
  } catch (const Error& e) {
    return report_error(json, command, e.exit_code(), e.code(), e.what());
  } catch (const std::bad_alloc&) {
    return report_error(json, command, ExitCode::kEnvironment, "OUT_OF_MEMORY",
                        "the system has no more memory for this; free some or use smaller sizes");
  } catch (const std::exception& e) {
    return report_error(json, command, ExitCode::kBug, "INTERNAL",
                        std::string("unexpected failure: ") + e.what() +
                            "; please report it with the command line");
  } catch (...) {
    return report_error(json, command, ExitCode::kBug, "INTERNAL",
                        "unexpected failure; please report it with the command line");
  }
}

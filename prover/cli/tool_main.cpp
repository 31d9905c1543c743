#include "prover/cli/tool_main.hpp"

#include <csignal>
#include <cstdio>
#include <new>
#include <nlohmann/json.hpp>
#include <string_view>

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

std::string command_of(const CLI::App& app) {
  std::string out;
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    out += (out.empty() ? "" : " ") + at->get_name();
  }
  return out;
}

class Tool {
 public:
  Tool(const ToolProgram& program, int argc, char** argv)
      : program_(program), argc_(argc), argv_(argv), json_(wants_json(argc, argv)) {}

  int run() {
    CLI::App app(program_.about, program_.name);
    app.require_subcommand(0, 1);
    app.failure_message(CLI::FailureMessage::simple);
    bool list = false;
    bool version = false;
    bool json_flag = false;
    app.add_flag("--list-codes", list, "list all error codes");
    app.add_flag("--version", version, program_.version_about);
    app.add_flag("--json", json_flag, "one JSON object instead of text");
    app.footer(program_.footer);
    std::function<int()> command;
    program_.add_commands(app, &command);
    try {
      app.parse(argc_, argv_);
    } catch (const CLI::Success&) {
      // --help; CLI11 shows the chosen subcommand's.
      command_ = command_of(app);
      print(app.help());
      return 0;
    } catch (const CLI::ParseError& e) {
      command_ = command_of(app);
      throw UsageError("USAGE", std::string(e.what()) + "; see " + called() + " --help");
    }
    command_ = command_of(app);
    if (json_flag && command) {
      throw UsageError("USAGE", "--json belongs behind the command; write " + called() + " --json");
    }
    if (list) {
      print(program_.list_codes(json_));
      return 0;
    }
    if (version) {
      print(program_.version(json_));
      return 0;
    }
    if (!command) throw UsageError("USAGE", "no command was given; see " + called() + " --help");
    return command();
  }

  int report(ExitCode exit_code, const std::string& code, const std::string& message) const {
    const std::string line = one_line(message);
    if (json_) {
      const Json out = {
          {"schema", "stwo_error_v1"},
          {"code", code},
          {"message", line},
          {"context", {{"command", command_}, {"exit_code", static_cast<int>(exit_code)}}}};
      const std::string text = out.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
      std::fwrite(text.data(), 1, text.size(), stdout);
      std::fflush(stdout);
    } else {
      std::fprintf(stderr, "%s: %s: %s\n", program_.name.c_str(), code.c_str(), line.c_str());
    }
    return static_cast<int>(exit_code);
  }

 private:
  std::string called() const { return program_.name + (command_.empty() ? "" : " " + command_); }

  const ToolProgram& program_;
  int argc_;
  char** argv_;
  bool json_;
  std::string command_;
};

}  // namespace

int run_tool(const ToolProgram& program, int argc, char** argv) {
  // A file size limit must end in an error line, like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  Tool tool(program, argc, argv);
  try {
    return tool.run();
  } catch (const Error& e) {
    return tool.report(e.exit_code(), e.code(), e.what());
  } catch (const std::bad_alloc&) {
    return tool.report(ExitCode::kEnvironment, "OUT_OF_MEMORY",
                       "the system has no more memory for this; free some or ask for less");
  } catch (const std::exception& e) {
    return tool.report(ExitCode::kBug, "INTERNAL",
                       std::string("unexpected failure: ") + e.what() +
                           "; please report it with the command line");
  } catch (...) {
    return tool.report(ExitCode::kBug, "INTERNAL",
                       "unexpected failure; please report it with the command line");
  }
}

}  // namespace stwo

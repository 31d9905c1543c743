// The `stwo-prof` program.

#include <nlohmann/json.hpp>

#include "ledger/store/ledger.hpp"
#include "prof/cli/arguments.hpp"
#include "prof/cli/error_codes.hpp"
#include "prover/cli/tool_main.hpp"

namespace prof {
namespace {

std::string version_text(bool json) {
  if (!json) return program_name() + "\n";
  return nlohmann::ordered_json{{"schema", "stwo_prof_version_v1"}, {"version", program_version()}}
             .dump() +
         "\n";
}

void add_commands(CLI::App& app, CommandRun* run, const ProgramContext& context) {
  CLI::App* cuda = app.add_subcommand("cuda", "Profile CUDA programs");
  cuda->require_subcommand(0, 1);
  add_caps_command(*cuda, run);
  add_report_command(*cuda, run, context);
  add_systems_commands(*cuda, run);
  add_compute_commands(*cuda, run, context);
  add_attribute_command(*cuda, run, context);
  add_export_commands(*cuda, run);
  add_one_kernel_command(app, run);
}

}  // namespace
}  // namespace prof

int main(int argc, char** argv) {
  using namespace prof;
  ledger::set_tool_version(program_name());
  const ProgramContext context{command_line(argc, argv)};
  return stwo::run_tool(
      {"stwo-prof",
       "Where does the time of a CUDA program go, and what would prove the answer wrong?",
       "Exit codes: 0 done, 1 a gate of a report fails, 2 usage, 3 invalid file or evidence,\n"
       "4 environment, 5 refused (output exists, newer schema), 6 the program failed, 70 our bug.\n"
       "Examples:\n"
       "  stwo-prof cuda caps\n"
       "  stwo-prof cuda report report.json\n"
       "  stwo-prof cuda systems --output proof.sptrace -- ./prover --fast",
       "version of the program",
       [&](CLI::App& app, CommandRun* run) { add_commands(app, run, context); }, list_codes,
       version_text},
      argc, argv);
}

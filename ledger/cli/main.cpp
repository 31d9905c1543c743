// The `ledger` program.

#include "ledger/cli/arguments.hpp"
#include "ledger/cli/error_codes.hpp"
#include "ledger/cli/version.hpp"
#include "prover/cli/tool_main.hpp"

namespace ledger {
namespace {

void add_commands(CLI::App& app, CommandRun* run) {
  const auto ledger = std::make_shared<LedgerArguments>();
  ledger->add_to_program(app);
  add_store_commands(app, run, ledger);
  add_add_command(app, run, ledger);
  add_question_commands(app, run, ledger);
  add_query_command(app, run, ledger);
  add_schema_command(app, run);
  add_record_commands(app, run, ledger, RecordKind::kExperiment);
  add_record_commands(app, run, ledger, RecordKind::kBrief);
  add_copy_commands(app, run, ledger);
}

}  // namespace
}  // namespace ledger

int main(int argc, char** argv) {
  using namespace ledger;
  set_tool_version(program_name());
  return stwo::run_tool(
      {"ledger",
       "Remembers what was run, measured, believed and decided, and answers questions about it",
       "Exit codes: 0 done, 2 usage, 3 invalid file or ledger, 4 environment, 5 refused (output\n"
       "exists, another writer, limit of a query, newer schema), 70 our bug.\n"
       "Examples:\n"
       "  ledger init\n"
       "  ledger add report.json\n"
       "  ledger stages last\n"
       "  ledger history --workload wide_fibonacci_log20x100\n"
       "  ledger check",
       "versions of program, SQLite and schema", add_commands,
       [](bool json) { return list_codes(json); }, version_text},
      argc, argv);
}

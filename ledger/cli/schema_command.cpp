// schema: what the tables and columns mean.

#include "ledger/cli/arguments.hpp"
#include "ledger/query/schema_doc.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"

namespace ledger {
namespace {

struct SchemaArguments {
  std::optional<std::string> table;
  bool markdown = false;
  bool json = false;
};

int run_schema(const SchemaArguments& a) {
  if (a.markdown && (a.table || a.json)) {
    throw stwo::UsageError("USAGE", "--markdown describes everything; leave the rest out");
  }
  if (a.markdown) {
    stwo::print(schema_markdown());
    return 0;
  }
  const ObjectDoc* object = a.table ? &require_schema_object(*a.table) : nullptr;
  if (a.json) {
    stwo::print(schema_json(object));
  } else {
    stwo::print(object == nullptr ? schema_overview_text() : schema_object_text(*object));
  }
  return 0;
}

}  // namespace

void add_schema_command(CLI::App& app, CommandRun* run) {
  auto a = std::make_shared<SchemaArguments>();
  CLI::App* command = app.add_subcommand("schema", "What the tables and columns mean");
  command->add_option("TABLE", a->table, "a table or view; of captures: trace.NAME")
      ->option_text(" ");
  command->add_flag("--markdown", a->markdown, "everything, as in docs/ledger-schema.md");
  command->add_flag("--json", a->json, "one JSON object instead of text");
  command->footer(
      "Needs no ledger: it describes those that this program makes.\n"
      "Examples:\n"
      "  ledger schema\n"
      "  ledger schema run\n"
      "  ledger schema trace.gpu_op --json");
  command->callback([=] { *run = [=] { return run_schema(*a); }; });
}

}  // namespace ledger

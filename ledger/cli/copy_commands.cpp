// backup, export, merge: whole ledgers in and out.

#include <nlohmann/json.hpp>

#include "ledger/cli/arguments.hpp"
#include "ledger/cli/progress.hpp"
#include "ledger/store/copy.hpp"
#include "prover/cli/terminal.hpp"

namespace ledger {
namespace {

using Json = nlohmann::ordered_json;

int run_copy(const LedgerArguments& arguments, const std::string& command, const std::string& path,
             bool json) {
  const auto ledger = arguments.open_to_read();
  CopyResult result;
  {
    Progress progress;
    const auto copy = command == "backup" ? backup_ledger : export_bundle;
    result = copy(*ledger, path, [&](const std::string& what, int64_t done, int64_t total) {
      progress.show("copying " + what, done, total);
    });
  }
  if (json) {
    stwo::print(Json{{"schema", "stwo_ledger_copy_v1"},
                     {"command", command},
                     {"path", path},
                     {"head", result.head},
                     {"entries", result.entries},
                     {"artifacts", result.artifacts},
                     {"artifact_bytes", result.artifact_bytes}}
                    .dump() +
                "\n");
  } else {
    stwo::print((command == "backup" ? "copied to " : "bundle ") + path + ": " +
                stwo::format_count(static_cast<uint64_t>(result.entries)) + " entries, " +
                stwo::format_count(static_cast<uint64_t>(result.artifacts)) + " artifacts (" +
                stwo::format_bytes(result.artifact_bytes) + ")\nhead " + result.head + "\n");
  }
  return 0;
}

int run_merge(const LedgerArguments& arguments, const std::string& source, bool skip_conflicts,
              bool json) {
  const auto ledger = arguments.open_to_append();
  MergeResult result;
  {
    Progress progress;
    result = merge_ledger(*ledger, source, skip_conflicts,
                          [&](const std::string& what, int64_t done, int64_t total) {
                            progress.show("merging: " + what, done, total);
                          });
  }
  if (json) {
    Json added = Json::object();
    for (const auto& [table, rows] : result.added) added[table] = rows;
    stwo::print(Json{{"schema", "stwo_ledger_merge_v1"},
                     {"source", source},
                     {"source_ledger_id", result.bundle_id},
                     {"source_head", result.bundle_head},
                     {"added", std::move(added)},
                     {"artifacts", result.artifacts},
                     {"conflicts", result.conflicts},
                     {"head", ledger->head()}}
                    .dump(-1, ' ', false, Json::error_handler_t::replace) +
                "\n");
    return 0;
  }
  std::string out = "from ledger " + result.bundle_id + ": ";
  if (result.added.empty()) {
    out += "everything was here already";
  } else {
    std::string list;
    for (const auto& [table, rows] : result.added) {
      list += (list.empty() ? "" : ", ") + std::to_string(rows) + " " + table;
    }
    out += "added " + list;
  }
  out += "\n";
  for (const std::string& c : result.conflicts) out += "left out: " + c + "\n";
  stwo::print(out);
  return 0;
}

}  // namespace

void add_copy_commands(CLI::App& app, CommandRun* run, const SharedLedger& ledger) {
  struct Arguments {
    std::string path;
    bool skip_conflicts = false;
    bool json = false;
  };
  {
    auto a = std::make_shared<Arguments>();
    CLI::App* command =
        app.add_subcommand("backup", "Copy the ledger to a new one while others use it");
    command->add_option("FILE", a->path, "the copy; nothing that exists is replaced")
        ->required()
        ->option_text(" ");
    command->add_flag("--json", a->json, "one JSON object instead of text");
    ledger->add_to(*command);
    command->footer(
        "Every artifact is hashed again on the way.\n"
        "Examples:\n"
        "  ledger backup /mnt/backup/history.db");
    command->callback(
        [=] { *run = [=] { return run_copy(*ledger, "backup", a->path, a->json); }; });
  }
  {
    auto a = std::make_shared<Arguments>();
    CLI::App* command =
        app.add_subcommand("export", "Write a bundle that can be merged into another ledger");
    command->add_option("DIR", a->path, "the bundle's folder; must not exist")
        ->required()
        ->option_text(" ");
    command->add_flag("--json", a->json, "one JSON object instead of text");
    ledger->add_to(*command);
    command->footer(
        "Examples:\n"
        "  ledger export bundle\n"
        "  ledger --ledger elsewhere.db merge bundle");
    command->callback(
        [=] { *run = [=] { return run_copy(*ledger, "export", a->path, a->json); }; });
  }
  {
    auto a = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("merge", "Bring in the history of another ledger");
    command->add_option("BUNDLE", a->path, "folder of a bundle, or another ledger's file")
        ->required()
        ->option_text(" ");
    command->add_flag("--skip-conflicts", a->skip_conflicts,
                      "leave out corrections of rows that were corrected here as well");
    command->add_flag("--json", a->json, "one JSON object instead of text");
    ledger->add_to(*command);
    command->footer(
        "The source is checked first, all of it. Merging twice changes nothing.\n"
        "Examples:\n"
        "  ledger merge bundle\n"
        "  ledger merge /mnt/other/history.db --skip-conflicts");
    command->callback(
        [=] { *run = [=] { return run_merge(*ledger, a->path, a->skip_conflicts, a->json); }; });
  }
}

}  // namespace ledger

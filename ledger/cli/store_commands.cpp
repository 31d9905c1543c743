// init, check, migrate: the ledger itself.

#include <nlohmann/json.hpp>

#include "ledger/cli/arguments.hpp"
#include "ledger/cli/progress.hpp"
#include "ledger/store/check.hpp"
#include "ledger/store/schema.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"

namespace ledger {
namespace {

using Json = nlohmann::ordered_json;

int run_init(const LedgerArguments& arguments, const std::optional<std::string>& file, bool json) {
  if (file && arguments.given()) {
    throw stwo::UsageError("USAGE", "the new ledger is named twice; give FILE or --ledger");
  }
  const std::string path = file.value_or(arguments.path());
  Ledger::init(path);
  Ledger ledger(path, Access::kRead);
  if (json) {
    stwo::print(Json{{"schema", "stwo_ledger_init_v1"},
                     {"ledger", path},
                     {"ledger_id", ledger.id()},
                     {"schema_version", ledger.schema_version()},
                     {"head", ledger.head()}}
                    .dump() +
                "\n");
  } else {
    stwo::print("made ledger " + path + " (" + ledger.id() + ", schema version " +
                std::to_string(ledger.schema_version()) + ")\n");
  }
  return 0;
}

std::string require_digest(const std::string& name, const std::string& text) {
  constexpr size_t kDigestLength = 64;
  if (text.size() != kDigestLength ||
      text.find_first_not_of("0123456789abcdef") != std::string::npos) {
    throw stwo::UsageError("ID_FORMAT", name + " is '" + text +
                                            "'; give the 64 hexadecimal digits that an earlier "
                                            "`ledger check` has printed");
  }
  return text;
}

std::string check_json(const CheckResult& r) {
  Json findings = Json::array();
  for (const Finding& f : r.findings) {
    findings.push_back({{"code", f.code},
                        {"table", f.table.empty() ? Json(nullptr) : Json(f.table)},
                        {"row", f.row == 0 ? Json(nullptr) : Json(f.row)},
                        {"message", f.message}});
  }
  return Json{{"schema", "stwo_ledger_check_v1"},
              {"sound", r.findings.empty()},
              {"head", r.head},
              {"entries", r.entries},
              {"rows", r.rows},
              {"artifacts", r.artifacts},
              {"artifact_bytes", r.artifact_bytes},
              {"findings", std::move(findings)},
              {"more_findings", r.more}}
             .dump(-1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

std::string check_text(const CheckResult& r) {
  std::string out;
  for (const Finding& f : r.findings) out += f.code + ": " + stwo::one_line(f.message) + "\n";
  if (r.more) out += "and more\n";
  out += r.findings.empty() ? "sound: " : "not sound: ";
  out += stwo::format_count(static_cast<uint64_t>(r.entries)) + " entries, " +
         stwo::format_count(static_cast<uint64_t>(r.rows)) + " rows, " +
         stwo::format_count(static_cast<uint64_t>(r.artifacts)) + " artifacts (" +
         stwo::format_bytes(r.artifact_bytes) + ")\n";
  return out + "head " + r.head + "\n";
}

int run_check(const LedgerArguments& arguments, const std::optional<std::string>& head,
              size_t max_findings, bool json) {
  CheckOptions options;
  if (head) options.head = require_digest("--head", *head);
  options.max_findings = max_findings;
  const auto ledger = arguments.open_to_read();
  CheckResult result;
  {
    Progress progress;
    options.on_progress = [&](const std::string& what, int64_t done, int64_t total) {
      progress.show("checking " + what, done, total);
    };
    result = check_ledger(*ledger, options);
  }
  stwo::print(json ? check_json(result) : check_text(result));
  return static_cast<int>(result.findings.empty() ? stwo::ExitCode::kDone
                                                  : stwo::ExitCode::kInvalidEvidence);
}

int run_migrate(const LedgerArguments& arguments, bool json) {
  MigrationResult result;
  const std::string path = arguments.path();
  {
    Progress progress;
    result = migrate_ledger(path, arguments.options(), [&](const std::string& step) {
      progress.show("migrating: " + step, 0, 0);
    });
  }
  if (json) {
    stwo::print(
        Json{{"schema", "stwo_ledger_migration_v1"},
             {"ledger", path},
             {"from", result.from},
             {"to", result.to},
             {"backup", result.backup_path.empty() ? Json(nullptr) : Json(result.backup_path)}}
            .dump() +
        "\n");
  } else if (result.from == result.to) {
    stwo::print("ledger " + path + " has schema version " + std::to_string(result.to) +
                " already\n");
  } else {
    stwo::print("migrated " + path + " from schema version " + std::to_string(result.from) +
                " to " + std::to_string(result.to) +
                "; the database as it was: " + result.backup_path + "\n");
  }
  return 0;
}

}  // namespace

void add_store_commands(CLI::App& app, CommandRun* run, const SharedLedger& ledger) {
  {
    struct Arguments {
      std::optional<std::string> file;
      bool json = false;
    };
    auto a = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("init", "Make an empty ledger");
    command->add_option("FILE", a->file, "the new ledger; default as for --ledger")
        ->option_text(" ");
    command->add_flag("--json", a->json, "one JSON object instead of text");
    ledger->add_to(*command);
    command->footer(
        "Nothing that exists is replaced. Keep ledgers on a local file system.\n"
        "Examples:\n"
        "  ledger init\n"
        "  ledger init history.db");
    command->callback([=] { *run = [=] { return run_init(*ledger, a->file, a->json); }; });
  }
  {
    struct Arguments {
      std::optional<std::string> head;
      std::string max_findings = "100";
      bool json = false;
    };
    auto a = std::make_shared<Arguments>();
    CLI::App* command =
        app.add_subcommand("check", "Find out whether the ledger is what was written");
    command
        ->add_option("--head", a->head,
                     "digest of the last entry as an earlier check printed it; it must still be in "
                     "the chain")
        ->option_text("SHA256");
    command->add_option("--max-findings", a->max_findings, "findings to list, default 100")
        ->option_text("N");
    command->add_flag("--json", a->json, "one JSON object instead of text");
    ledger->add_to(*command);
    command->footer(
        "Runs SQLite's own checks, compares the schema, recomputes the hash chain over every row\n"
        "and hashes every artifact. Exit code 0: sound; 3: not, the first finding comes first.\n"
        "Examples:\n"
        "  ledger check\n"
        "  ledger check --head \"$(cat head-of-last-week)\" --json");
    command->callback([=] {
      *run = [=] {
        constexpr uint64_t kMost = 1'000'000;
        return run_check(*ledger, a->head,
                         parse_number("--max-findings", a->max_findings, 1, kMost), a->json);
      };
    });
  }
  {
    auto json = std::make_shared<bool>(false);
    CLI::App* command =
        app.add_subcommand("migrate", "Bring an older ledger to this program's schema");
    command->add_flag("--json", *json, "one JSON object instead of text");
    ledger->add_to(*command);
    command->footer(
        "The database is copied first; all steps and SQLite's checks run in one transaction.\n"
        "Examples:\n"
        "  ledger migrate --ledger history.db");
    command->callback([=] { *run = [=] { return run_migrate(*ledger, *json); }; });
  }
}

}  // namespace ledger

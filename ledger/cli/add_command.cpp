// add: files reports, captures, verdicts, one append each.

#include <cstdio>
#include <nlohmann/json.hpp>

#include "ledger/cli/arguments.hpp"
#include "ledger/ingest/add_file.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"

namespace ledger {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kShownDigest = 12;

/// Is the file at fault, so that the next one may well be right?
bool concerns_the_file(const stwo::Error& e) {
  return dynamic_cast<const DatabaseError*>(&e) == nullptr &&
         (e.exit_code() == stwo::ExitCode::kUsage ||
          e.exit_code() == stwo::ExitCode::kInvalidEvidence);
}

Json to_json(const AddResult& r) {
  return {{"file", r.file}, {"kind", r.kind},   {"id", r.id},      {"added", r.added},
          {"rows", r.rows}, {"notes", r.notes}, {"error", nullptr}};
}

Json to_json(const std::string& file, const stwo::Error& e) {
  return {{"file", file},
          {"kind", nullptr},
          {"id", nullptr},
          {"added", false},
          {"rows", 0},
          {"notes", Json::array()},
          {"error",
           {{"code", e.code()},
            {"message", stwo::one_line(e.what())},
            {"exit_code", static_cast<int>(e.exit_code())}}}};
}

std::string to_text(const AddResult& r) {
  std::string out = r.added ? "added          " : "already there  ";
  out += r.kind + "  " + r.id.substr(0, kShownDigest) + "  " + stwo::one_line(r.file) + "\n";
  for (const std::string& note : r.notes) out += "  note: " + stwo::one_line(note) + "\n";
  return out;
}

int run_add(const LedgerArguments& arguments, const std::vector<std::string>& files, bool json) {
  const auto ledger = arguments.open_to_append();
  Json list = Json::array();
  size_t added = 0;
  size_t failed = 0;
  int exit_code = 0;
  const auto print_list = [&] {
    if (json) stwo::print(list.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  };
  const auto fail = [&](const std::string& file, const stwo::Error& e) {
    if (failed++ == 0) exit_code = static_cast<int>(e.exit_code());
    if (json) {
      list.push_back(to_json(file, e));
    } else {
      std::fprintf(stderr, "ledger: %s: %s\n", e.code().c_str(), stwo::one_line(e.what()).c_str());
    }
  };
  for (const std::string& file : files) {
    try {
      const AddResult result = add_file(*ledger, file);
      added += result.added ? 1 : 0;
      if (json) {
        list.push_back(to_json(result));
      } else {
        stwo::print(to_text(result));
      }
    } catch (const stwo::Error& e) {
      fail(file, e);
      // The ledger or the machine is at fault: the next file would meet the same.
      if (!concerns_the_file(e)) break;
    }
  }
  print_list();
  if (!json && (files.size() > 1 || failed != 0)) {
    stwo::print(std::to_string(added) + " of " + std::to_string(files.size()) + " files added" +
                (failed == 0 ? "" : ", " + std::to_string(failed) + " failed") + "\n");
  }
  return exit_code;
}

}  // namespace

void add_add_command(CLI::App& app, CommandRun* run, const SharedLedger& ledger) {
  struct Arguments {
    std::vector<std::string> files;
    bool json = false;
  };
  auto a = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("add", "File reports, plans, captures, counters, verdicts, calibrations");
  command->add_option("FILES", a->files, "the files; what each of them is, they say themselves")
      ->required()
      ->option_text("...");
  command->add_flag("--json", a->json, "a JSON array with one object per file");
  ledger->add_to(*command);
  command->footer(
      "Each file is checked and appended by itself: all of it or nothing. A bad file does not "
      "keep\n"
      "the others out; the exit code is that of the first failure. A file that is there already\n"
      "changes nothing.\n"
      "Examples:\n"
      "  ledger add report.json\n"
      "  ledger add session-*/report.json verdict.json --json");
  command->callback([=] { *run = [=] { return run_add(*ledger, a->files, a->json); }; });
}

}  // namespace ledger

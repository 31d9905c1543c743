// export: a capture in other programs' formats; diff: two captures, or two sets of counters.

#include <cstdio>
#include <fstream>
#include <sstream>

#include "ledger/cli/progress.hpp"
#include "ledger/documents/document.hpp"
#include "ledger/trace/trace_reader.hpp"
#include "prof/cli/arguments.hpp"
#include "prof/export/diff.hpp"
#include "prof/export/export_file.hpp"
#include "prof/export/perfetto.hpp"
#include "prof/export/summary_json.hpp"
#include "prof/export/tables.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

struct ExportArguments {
  std::string capture;
  std::string format = "perfetto";
  std::string table = "kernels";
  std::string output;
  bool force = false;
};

int run_export(const ExportArguments& a) {
  const auto trace = ledger::open_trace(a.capture);
  ExportFile file(a.output, a.force);
  ledger::Progress progress("stwo-prof");
  const TextSink sink = [&](std::string_view text) { file.write(text); };
  std::string what;
  if (a.format == "perfetto") {
    const PerfettoCounts counts =
        export_perfetto(*trace, sink, [&](const std::string& name, int64_t done, int64_t total) {
          progress.show("writing " + name, done, total);
        });
    what = std::to_string(counts.operations) + " operations, " + std::to_string(counts.calls) +
           " calls, " + std::to_string(counts.ranges) + " ranges";
    if (counts.untimed != 0) {
      what += ", " + std::to_string(counts.untimed) + " without times left out";
    }
  } else if (a.format == "csv") {
    what = std::to_string(export_csv(*trace, a.table, sink)) + " rows";
  } else {
    sink(summary_json(*trace, a.capture).dump(1) + "\n");
    what = "summary";
  }
  file.finish();
  std::fprintf(stderr, "written %s: %s\n", a.output.c_str(), what.c_str());
  return 0;
}

struct DiffArguments {
  std::string baseline;
  std::string candidate;
  bool json = false;
  bool csv = false;
};

ledger::Document read_counters(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) {
    throw stwo::UsageError("DIFF_READ", "file " + path + " can't be read; name a readable file");
  }
  return ledger::read_document(path, text.str());
}

template <class Diff>
int print_diff(const DiffArguments& a, const Diff& diff) {
  if (a.json) {
    stwo::print(diff_json(diff).dump(1) + "\n");
  } else if (a.csv) {
    stwo::print(diff_csv(diff));
  } else {
    stwo::print(diff_text(diff));
  }
  return 0;
}

int run_diff(const DiffArguments& a) {
  const bool traces = has_ending(a.baseline, ".sptrace");
  if (traces != has_ending(a.candidate, ".sptrace")) {
    throw stwo::UsageError("DIFF_KIND", a.baseline + " and " + a.candidate +
                                            " are of different kinds; name two captures "
                                            "(.sptrace) or two counter documents");
  }
  if (!traces) {
    return print_diff(a, diff_counters(read_counters(a.baseline), a.baseline,
                                       read_counters(a.candidate), a.candidate));
  }
  const auto baseline = ledger::open_trace(a.baseline);
  const auto candidate = ledger::open_trace(a.candidate);
  return print_diff(a, diff_captures({*baseline, a.baseline, capture_identity(*baseline)},
                                     {*candidate, a.candidate, capture_identity(*candidate)}));
}

}  // namespace

void add_export_commands(CLI::App& cuda, CommandRun* run) {
  auto e = std::make_shared<ExportArguments>();
  CLI::App* command = cuda.add_subcommand("export", "Write a capture in another format");
  command->add_option("CAPTURE", e->capture, "an .sptrace file")->required();
  command
      ->add_option("--format", e->format,
                   "Chrome trace JSON for ui.perfetto.dev, a table, a summary")
      ->option_text("perfetto|csv|json [perfetto]")
      ->check(CLI::IsMember({"perfetto", "csv", "json"}));
  std::string tables;
  for (const ExportTable& table : export_tables()) {
    tables += (tables.empty() ? "" : ", ") + std::string(table.name);
  }
  command->add_option("--table", e->table, "with --format csv: " + tables)
      ->option_text("NAME [kernels]");
  command->add_option("--output", e->output, "the file to write")->required();
  command->add_flag("--force", e->force, "replace the output if it exists");
  command->footer(
      "Examples:\n"
      "  stwo-prof cuda export proof.sptrace --output proof.json\n"
      "  stwo-prof cuda export proof.sptrace --format csv --table stages --output stages.csv");
  command->callback([=] { *run = [=] { return run_export(*e); }; });

  auto d = std::make_shared<DiffArguments>();
  CLI::App* diff =
      cuda.add_subcommand("diff", "Compare two captures, or two counter documents, by kernel");
  diff->add_option("BASELINE", d->baseline, "an .sptrace file, or counters as JSON")->required();
  diff->add_option("CANDIDATE", d->candidate, "another of the same kind")->required();
  CLI::Option* json = diff->add_flag("--json", d->json, "one JSON object, stwo_prof_diff_v1");
  diff->add_flag("--csv", d->csv, "a line per kernel, or per metric")->excludes(json);
  diff->footer(
      "Both were taken under a profiler: the differences explain, they are no verdict.\n"
      "Examples:\n"
      "  stwo-prof cuda diff before.sptrace after.sptrace\n"
      "  stwo-prof cuda diff before.counters.json after.counters.json --csv");
  diff->callback([=] { *run = [=] { return run_diff(*d); }; });
}

}  // namespace prof

// query: SQL, written by hand or saved, on a connection that can only read.

#include <sys/stat.h>

#include "ledger/cli/arguments.hpp"
#include "ledger/cli/progress.hpp"
#include "ledger/query/lookup.hpp"
#include "ledger/query/saved_queries.hpp"
#include "ledger/trace/trace_reader.hpp"
#include "prover/errors.hpp"

namespace ledger {
namespace {

struct QueryArguments {
  std::optional<std::string> sql;
  std::optional<std::string> name;
  bool list = false;
  std::vector<std::string> parameters;
  std::string timeout = "10";
  std::string max_rows = "10000";
  std::optional<std::string> trace;
  TableArguments table;
};

constexpr uint64_t kLongestTimeout = 86'400;
constexpr uint64_t kMostRows = 10'000'000;
constexpr auto kQuietTime = std::chrono::seconds(2);

ResultTable list_queries() {
  ResultTable table;
  table.question = "queries";
  table.columns = {"name", "parameters", "answers", "sql"};
  table.in_text = {"name", "parameters", "answers"};
  for (const SavedQuery& q : saved_queries()) {
    std::string parameters;
    for (const QueryParameter& p : q.parameters) {
      parameters += parameters.empty() ? "" : " ";
      parameters += p.name + (p.default_text ? "=" + *p.default_text : "");
    }
    table.rows.push_back({q.name, parameters, q.description, std::string(q.sql)});
  }
  return table;
}

/// The capture's file: `what` is a path, or the id of a capture in the ledger.
std::string trace_path(Ledger& ledger, const std::string& what) {
  struct stat info {};
  Reader reader(ledger.database());
  const bool is_file = ::stat(what.c_str(), &info) == 0;
  const bool could_be_id = !is_file && what.find_first_of("./") == std::string::npos;
  if (!could_be_id) {
    // Checks every byte: nobody has done that since the file was written.
    open_trace(what, TraceCheck::kContent);
    return what;
  }
  const FoundId capture = require_id(reader, IdKind::kCapture, what);
  std::string kind;
  reader.for_each("SELECT kind FROM capture WHERE row = :row", {{"row", capture.row}},
                  [&](const Statement& s) { kind = s.string(0); });
  if (kind != "timeline") {
    throw stwo::UsageError("CAPTURE_KIND", "capture " + capture.id + " holds " + kind +
                                               " and no timeline; name another one");
  }
  std::string path = ledger.artifact_path(capture.id);
  open_trace(path, TraceCheck::kIdentity);
  return path;
}

int run_query(const LedgerArguments& arguments, const QueryArguments& a) {
  const int questions = (a.sql ? 1 : 0) + (a.name ? 1 : 0) + (a.list ? 1 : 0);
  if (questions != 1) {
    throw stwo::UsageError("USAGE", "give one of SQL, --name and --list; see ledger query --help");
  }
  if (a.list) {
    a.table.print(list_queries());
    return 0;
  }
  const SavedQuery* saved = a.name ? &require_saved_query(*a.name) : nullptr;
  std::vector<std::pair<std::string, std::string>> given;
  for (const std::string& p : a.parameters) given.push_back(parse_parameter(p));
  QueryLimits limits;
  limits.timeout = std::chrono::seconds(parse_number("--timeout", a.timeout, 1, kLongestTimeout));
  const uint64_t max_rows = parse_number("--max-rows", a.max_rows, 1, kMostRows);

  const auto ledger = arguments.open_to_read();
  Database& database = ledger->database();
  if (a.trace) database.attach_read_only(trace_path(*ledger, *a.trace), "trace");
  ResultTable table;
  {
    Progress progress(kQuietTime);
    database.restrict_to_queries(limits, [&] { progress.show("asking", 0, 0); });
    Statement statement = database.prepare_only(saved != nullptr ? saved->sql : *a.sql);
    bind_given_parameters(
        statement, saved != nullptr ? saved->parameters : std::vector<QueryParameter>{}, given);
    table = read_table(saved != nullptr ? saved->name : "query", statement, max_rows);
  }
  if (table.truncated) {
    table.notes.push_back("these are the first " + std::to_string(max_rows) +
                          " rows; --max-rows shows more");
  }
  a.table.print(table);
  return 0;
}

}  // namespace

void add_query_command(CLI::App& app, CommandRun* run, const SharedLedger& ledger) {
  auto a = std::make_shared<QueryArguments>();
  CLI::App* command = app.add_subcommand("query", "Ask in SQL, or by a saved query");
  command->add_option("SQL", a->sql, "one SELECT, WITH or EXPLAIN statement")->option_text(" ");
  command->add_option("--name", a->name, "run this saved query")->option_text("NAME");
  command->add_flag("--list", a->list, "list the saved queries");
  add_repeatable(*command, "--param", a->parameters,
                 "value of a parameter :NAME of the statement; may be repeated")
      ->option_text("NAME=VALUE");
  command
      ->add_option("--timeout", a->timeout, "seconds after which the statement stops, default 10")
      ->option_text("SECONDS");
  command->add_option("--max-rows", a->max_rows, "rows to read, default 10000")->option_text("N");
  command
      ->add_option("--trace", a->trace,
                   "show a timeline capture as schema `trace`: a file, or the id of one that was "
                   "added")
      ->option_text("FILE|ID");
  a->table.add_to(*command);
  ledger->add_to(*command);
  command->footer(
      "Statements can only read: writing, ATTACH, changing PRAGMAs and extensions are refused.\n"
      "`ledger schema` lists tables and columns.\n"
      "Examples:\n"
      "  ledger query \"SELECT stage, ns FROM stage_time WHERE run = 1 AND statistic = 'median'\"\n"
      "  ledger query --list\n"
      "  ledger query --name slowest_stages --param clock=host --csv\n"
      "  ledger query --trace proof.sptrace \"SELECT kind, count(*) FROM trace.gpu_op GROUP BY "
      "kind\"");
  command->callback([=] { *run = [=] { return run_query(*ledger, *a); }; });
}

}  // namespace ledger

// runs, stages, compare, history, passes, hypotheses, gaps, verdicts, show: questions without SQL.

#include "ledger/cli/arguments.hpp"
#include "ledger/query/questions.hpp"
#include "prover/errors.hpp"

namespace ledger {
namespace {

constexpr uint64_t kMostRows = 100'000;

/// What every question takes; each uses a part of it.
struct QuestionArguments {
  TableArguments table;
  RunFilter filter;
  VerdictFilter verdicts;
  std::string limit;
  std::optional<std::string> run;
  std::string other;
  bool open = false;
};
using Shared = std::shared_ptr<QuestionArguments>;
using Ask = ResultTable (*)(Reader&, const QuestionArguments&);

int answer(const LedgerArguments& ledger_arguments, const QuestionArguments& arguments, Ask ask) {
  const auto ledger = ledger_arguments.open_to_read();
  Reader reader(ledger->database());
  arguments.table.print(ask(reader, arguments));
  return 0;
}

size_t limit_of(const QuestionArguments& a) {
  return parse_number("--limit", a.limit, 1, kMostRows);
}

RunFilter run_filter(const QuestionArguments& a) {
  RunFilter filter = a.filter;
  filter.limit = limit_of(a);
  return filter;
}

ResultTable stages(Reader& reader, const QuestionArguments& a) {
  const bool filters = !a.filter.config.empty() || !a.filter.backend.empty() ||
                       !a.filter.environment.empty() || a.limit != "5";
  if (a.run && !a.filter.workload.empty()) {
    throw stwo::UsageError("USAGE", "a run has one workload; give RUN or --workload");
  }
  if (!a.filter.workload.empty()) return ask_stages_of_workload(reader, run_filter(a));
  if (filters) {
    throw stwo::UsageError("USAGE",
                           "--config, --backend, --environment and --limit choose runs of a "
                           "--workload; give one");
  }
  return ask_stages(reader, a.run.value_or("last"));
}

class Commands {
 public:
  Commands(CLI::App& app, CommandRun* run, SharedLedger ledger)
      : app_(app), run_(run), ledger_(std::move(ledger)) {}

  void add_all() {
    runs();
    stage_times();
    compare();
    history();
    passes();
    hypotheses();
    gaps();
    verdicts();
    show();
  }

 private:
  CLI::App* add(const Shared& a, const std::string& name, const std::string& description,
                const std::string& footer, Ask ask) {
    CLI::App* command = app_.add_subcommand(name, description);
    a->table.add_to(*command);
    ledger_->add_to(*command);
    command->footer(footer);
    command->callback([run = run_, ledger = ledger_, a, ask] {
      *run = [=] { return answer(*ledger, *a, ask); };
    });
    return command;
  }

  static void add_limit(CLI::App* command, const Shared& a, const std::string& what,
                        const std::string& number) {
    a->limit = number;
    command->add_option("--limit", a->limit, what + ", default " + number)->option_text("N");
  }

  static void add_run_filters(CLI::App* command, const Shared& a) {
    command->add_option("--config", a->filter.config, "protocol configuration")
        ->option_text("CONFIG");
    command->add_option("--backend", a->filter.backend, "cpu or cuda")
        ->check(CLI::IsMember({"cpu", "cuda"}))
        ->option_text("NAME");
    command->add_option("--environment", a->filter.environment, "id of the environment")
        ->option_text("ID");
  }

  static CLI::Option* add_workload(CLI::App* command, const Shared& a) {
    return command->add_option("--workload", a->filter.workload, "name of the workload")
        ->option_text("NAME");
  }

  void runs() {
    auto a = std::make_shared<QuestionArguments>();
    CLI::App* command =
        add(a, "runs", "Runs, newest first",
            "Examples:\n"
            "  ledger runs\n"
            "  ledger runs --workload wide_fibonacci_log20x100 --backend cuda --limit 50 --csv",
            [](Reader& r, const QuestionArguments& q) { return ask_runs(r, run_filter(q)); });
    add_workload(command, a);
    add_run_filters(command, a);
    command->add_option("--product", a->filter.product, "id of the product")->option_text("ID");
    add_limit(command, a, "rows", "20");
  }

  void stage_times() {
    auto a = std::make_shared<QuestionArguments>();
    CLI::App* command = add(a, "stages", "Where the time of a run, or of a workload's runs, goes",
                            "For a workload: means over the newest runs of each environment, never "
                            "across them.\n"
                            "Examples:\n"
                            "  ledger stages last\n"
                            "  ledger stages --workload wide_fibonacci_log20x100 --limit 10",
                            stages);
    command->add_option("RUN", a->run, "id of the run, default `last`")->option_text(" ");
    add_workload(command, a);
    add_run_filters(command, a);
    add_limit(command, a, "newest runs per environment", "5");
  }

  void compare() {
    auto a = std::make_shared<QuestionArguments>();
    CLI::App* command = add(
        a, "compare", "Two runs side by side",
        "What differs in identity comes first. Ratios are B / A; times of different environments "
        "have\n"
        "none. Two runs are no verdict: the judge decides.\n"
        "Examples:\n"
        "  ledger compare 3f2a91 last",
        [](Reader& r, const QuestionArguments& q) {
          return ask_compare(r, q.run.value_or(""), q.other);
        });
    command->add_option("A", a->run, "id of a run")->required()->option_text(" ");
    command->add_option("B", a->other, "id of the other")->required()->option_text(" ");
  }

  void history() {
    auto a = std::make_shared<QuestionArguments>();
    CLI::App* command =
        add(a, "history", "How a workload's time has changed, per environment",
            "Oldest first; the ratio is to the run before in the same environment, configuration, "
            "backend\n"
            "and mode.\n"
            "Examples:\n"
            "  ledger history --workload wide_fibonacci_log20x100\n"
            "  ledger history --workload wide_fibonacci_log20x100 --backend cuda --csv",
            [](Reader& r, const QuestionArguments& q) { return ask_history(r, run_filter(q)); });
    add_workload(command, a)->required();
    add_run_filters(command, a);
    add_limit(command, a, "newest runs per environment", "50");
  }

  void passes() {
    auto a = std::make_shared<QuestionArguments>();
    CLI::App* command = add(
        a, "passes", "Bytes, launches and barriers per pass: predicted and measured",
        "Measured launches come from a timeline capture, DRAM bytes from kernel counters, of the "
        "run\n"
        "or of its workload and environment. A run stands for its plan.\n"
        "Examples:\n"
        "  ledger passes last\n"
        "  ledger passes 3f2a91 --against last",
        [](Reader& r, const QuestionArguments& q) {
          const std::string id = q.run.value_or("last");
          return q.other.empty() ? ask_passes(r, id) : ask_passes_against(r, id, q.other);
        });
    command->add_option("ID", a->run, "id of a run or plan, default `last`")->option_text(" ");
    command
        ->add_option("--against", a->other,
                     "id of the run or plan afterwards: before, after and difference, pass by pass")
        ->option_text("ID");
  }

  void hypotheses() {
    auto a = std::make_shared<QuestionArguments>();
    CLI::App* command =
        add(a, "hypotheses", "Experiments and what they predict",
            "Examples:\n"
            "  ledger hypotheses\n"
            "  ledger hypotheses --open --json",
            [](Reader& r, const QuestionArguments& q) { return ask_hypotheses(r, q.open); });
    command->add_flag("--open", a->open, "only those that are open: stated and not yet decided");
  }

  void gaps() {
    auto a = std::make_shared<QuestionArguments>();
    add(a, "gaps", "What is missing before a speed may be quoted, class by class",
        "Examples:\n"
        "  ledger gaps",
        [](Reader& r, const QuestionArguments&) { return ask_gaps(r); });
  }

  void verdicts() {
    auto a = std::make_shared<QuestionArguments>();
    CLI::App* command = add(a, "verdicts", "Verdicts of the judge, newest first",
                            "Examples:\n"
                            "  ledger verdicts\n"
                            "  ledger verdicts --all --outcome keep",
                            [](Reader& r, const QuestionArguments& q) {
                              VerdictFilter filter = q.verdicts;
                              filter.limit = limit_of(q);
                              return ask_verdicts(r, filter);
                            });
    command->add_flag("--all", a->verdicts.all, "also those that a later one corrects");
    command
        ->add_option("--outcome", a->verdicts.outcome,
                     "keep, rejected, inconclusive, invalid or screen")
        ->check(CLI::IsMember({"keep", "rejected", "inconclusive", "invalid", "screen"}))
        ->option_text("NAME");
    command->add_option("--product", a->verdicts.product, "id of the product, in either arm")
        ->option_text("ID");
    command->add_option("--environment", a->verdicts.environment, "id of the environment")
        ->option_text("ID");
    add_limit(command, a, "rows", "20");
  }

  void show() {
    auto a = std::make_shared<QuestionArguments>();
    CLI::App* command =
        add(a, "show", "What an id names, and the main facts about it",
            "Takes ids of runs, plans, products, environments, captures, verdicts, calibrations,\n"
            "experiments, briefs, entries and artifacts, or their first six characters and more.\n"
            "Examples:\n"
            "  ledger show 3f2a91\n"
            "  ledger show last --json",
            [](Reader& r, const QuestionArguments& q) { return show_id(r, q.run.value_or("")); });
    command->add_option("ID", a->run, "an id, or `last` for the newest run")
        ->required()
        ->option_text(" ");
  }

  CLI::App& app_;
  CommandRun* run_;
  SharedLedger ledger_;
};

}  // namespace

void add_question_commands(CLI::App& app, CommandRun* run, const SharedLedger& ledger) {
  Commands(app, run, ledger).add_all();
}

}  // namespace ledger

// experiment and brief: drafts, hypotheses, evidence, decisions.

#include <nlohmann/json.hpp>
#include <sstream>

#include "ledger/cli/arguments.hpp"
#include "ledger/cli/record_options.hpp"
#include "ledger/query/lookup.hpp"
#include "ledger/records/record_files.hpp"
#include "ledger/records/record_store.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"

namespace ledger {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& j) {
  return j.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void print_record_state(const Record& record, bool json) {
  stwo::print(json ? dump(record_json(record)) : record_summary(record));
}

struct RecordArguments {
  std::string reference;
  RecordOptions content;
  bool json = false;
  // link, unlink
  std::string role;
  std::vector<std::pair<std::string, std::optional<std::string>>> targets;  ///< by kind
  std::string link;
  std::string note;
  // decide
  std::optional<std::string> decision;
  std::optional<std::string> reason;
  std::optional<std::string> no_verdict;
  std::optional<std::string> correct;
  // list, export, import
  std::optional<std::string> state;
  bool all = false;
  bool force = false;
  bool revisions = false;
  std::string directory = "experiments";
  std::vector<std::string> paths;
  TableArguments table;
};
using Shared = std::shared_ptr<RecordArguments>;

ResultTable records_table(const std::string& question, const std::vector<Record>& records) {
  ResultTable table;
  table.question = question;
  table.columns = {"id",    "number",       "slug",     "state", "decision",
                   "links", "recorded_utc", "revision", "title", "correction"};
  table.in_text = {"id", "number", "slug", "state", "decision", "links", "title"};
  for (const Record& r : records) {
    const auto text = [](const std::string& t) { return t.empty() ? Value{} : Value{t}; };
    table.rows.push_back({r.id, value_or_null(r.number), r.slug,
                          std::string(record_state_word(r.state)), text(r.decision),
                          static_cast<int64_t>(r.links.size()), r.recorded_utc, r.revision, r.title,
                          text(r.correction)});
  }
  return table;
}

/// The commands of one kind of record.
class RecordCommands {
 public:
  RecordCommands(CLI::App& app, CommandRun* run, SharedLedger ledger, RecordKind kind)
      : run_(run), ledger_(std::move(ledger)), kind_(kind) {
    const bool experiment = kind == RecordKind::kExperiment;
    word_ = experiment ? "experiment" : "brief";
    group_ = app.add_subcommand(word_, experiment ? "Hypotheses: predict, measure, decide"
                                                  : "Design briefs: plan before building");
    group_->require_subcommand(1);
    group_->footer(std::string("Fields: ") + field_list() +
                   ".\n"
                   "Records are named by id, slug, number or folder.\n"
                   "Examples:\n"
                   "  ledger " +
                   word_ + " list\n  ledger " + word_ + " new --help");
  }

  void add_all() {
    create();
    change("edit-draft", "Change a draft", edit_draft, "draft");
    open();
    change("update", "Add results to one that is open", update_open, "open");
    link();
    unlink();
    decide();
    show();
    list();
    export_files();
    import_files();
  }

 private:
  using Action = std::function<int(Ledger&, const RecordArguments&)>;
  enum class Output : uint8_t { kJson, kTable };

  std::string field_list() const {
    std::string out;
    for (const RecordField& f : record_form(kind_).fields) {
      if (!f.prediction) out += (out.empty() ? "" : ", ") + std::string(f.heading);
    }
    return out;
  }

  CLI::App* add(const Shared& a, const std::string& name, const std::string& description,
                const std::string& examples, Access access, const Action& action,
                Output output = Output::kJson) {
    CLI::App* command = group_->add_subcommand(name, description);
    if (output == Output::kJson) {
      command->add_flag("--json", a->json, "one JSON object instead of text");
    } else {
      a->table.add_to(*command);
    }
    ledger_->add_to(*command);
    std::string footer = "Examples:\n";
    std::istringstream lines(examples);
    for (std::string line; std::getline(lines, line);) {
      footer += "  ledger " + word_ + " " + name + (line.empty() ? "" : " ") + line + "\n";
    }
    footer.pop_back();
    command->footer(footer);
    command->callback([run = run_, ledger = ledger_, a, access, action] {
      *run = [=] {
        const auto opened =
            access == Access::kRead ? ledger->open_to_read() : ledger->open_to_append();
        return action(*opened, *a);
      };
    });
    return command;
  }

  void add_reference(CLI::App* command, const Shared& a) const {
    command->add_option("ID", a->reference, "id, slug, number or folder of the " + word_)
        ->required()
        ->option_text(" ");
  }

  void create() {
    auto a = std::make_shared<RecordArguments>();
    const bool experiment = kind_ == RecordKind::kExperiment;
    CLI::App* command =
        add(a, "new", "Begin a draft",
            experiment ? "--title \"Hash leaves inside the last FFT pass\" --slug leaf-fusion "
                         "--predict \"bytes: trace_commit.input_bytes <= 0.75 ratio of baseline\""
                       : "--title \"Fused commitment\" --slug fused-commitment --set "
                         "\"accounted peak and in-flight multiplier=3.1 GiB, 1\"",
            Access::kAppend, [kind = kind_](Ledger& ledger, const RecordArguments& r) {
              NewRecord record;
              record.kind = kind;
              record.title = r.content.title.value_or("");
              record.slug = r.content.slug.value_or("");
              record.number = r.content.number_value();
              record.fields = r.content.fields(kind);
              record.prediction = r.content.prediction().value_or(Prediction{});
              print_record_state(create_record(ledger, record), r.json);
              return 0;
            });
    a->content.add_to(*command, kind_);
    command->get_option("--title")->required();
    command->get_option("--slug")->required();
  }

  void change(const std::string& name, const std::string& description,
              Record (*apply)(Ledger&, RecordKind, std::string_view, const RecordChanges&),
              const std::string& state) {
    auto a = std::make_shared<RecordArguments>();
    CLI::App* command =
        add(a, name, description,
            kind_ == RecordKind::kBrief ? "fused-commitment --set \"graph-capture regions and "
                                          "parameter updates=one graph per request\""
            : state == "draft"
                ? "leaf-fusion --set \"dominant mechanism=the extension is read again to be "
                  "hashed\"\nleaf-fusion --file baseline=baseline.md"
                : "leaf-fusion --set \"instrumented diagnostic result=DRAM bytes 0.71 of the "
                  "baseline\"",
            Access::kAppend, [kind = kind_, apply](Ledger& ledger, const RecordArguments& r) {
              print_record_state(apply(ledger, kind, r.reference, r.content.changes(kind)), r.json);
              return 0;
            });
    add_reference(command, a);
    a->content.add_to(*command, kind_);
  }

  void open() {
    auto a = std::make_shared<RecordArguments>();
    CLI::App* command =
        add(a, "open", "Make a draft a hypothesis, which does not change any more", example_name(),
            Access::kAppend, [kind = kind_](Ledger& ledger, const RecordArguments& r) {
              print_record_state(open_record(ledger, kind, r.reference), r.json);
              return 0;
            });
    add_reference(command, a);
  }

  void link() {
    auto a = std::make_shared<RecordArguments>();
    CLI::App* command = add(
        a, "link", "Link evidence: a run, a capture, a verdict, ...",
        example_name() + " --role baseline --run last\n" + example_name() +
            " --role abba --verdict 3f2a91",
        Access::kAppend, [kind = kind_](Ledger& ledger, const RecordArguments& r) {
          LinkRequest request;
          request.role = r.role;
          request.note = r.note;
          for (const auto& [target_kind, id] : r.targets) {
            if (!id) continue;
            if (!request.target_kind.empty()) {
              throw stwo::UsageError("USAGE", "--" + request.target_kind + " and --" + target_kind +
                                                  " are two targets; make two links");
            }
            request.target_kind = target_kind;
            request.target = *id;
          }
          if (request.target_kind.empty()) {
            throw stwo::UsageError("USAGE",
                                   "nothing to link; give one of --run, --capture, --verdict, "
                                   "--calibration, --plan, --artifact, --experiment, --brief");
          }
          if (request.target_kind == "run" && request.target == "last") {
            Reader reader(ledger.database());
            request.target = require_id(reader, IdKind::kRun, request.target).id;
          }
          print_record_state(link_record(ledger, kind, r.reference, request), r.json);
          return 0;
        });
    add_reference(command, a);
    command->add_option("--role", a->role, "baseline, instrumented, abba, supports or contradicts")
        ->required()
        ->option_text("ROLE");
    for (const char* target :
         {"run", "capture", "verdict", "calibration", "plan", "artifact", "experiment", "brief"}) {
      a->targets.emplace_back(target, std::nullopt);
    }
    for (auto& [target, id] : a->targets) {
      command->add_option("--" + target, id, "id of the " + target)->option_text("ID");
    }
    command->add_option("--note", a->note, "one line")->option_text("TEXT");
  }

  void unlink() {
    auto a = std::make_shared<RecordArguments>();
    CLI::App* command =
        add(a, "unlink", "Take a link back", example_name() + " 3f2a91 --note \"wrong shape\"",
            Access::kAppend, [kind = kind_](Ledger& ledger, const RecordArguments& r) {
              print_record_state(retract_link(ledger, kind, r.reference, r.link, r.note), r.json);
              return 0;
            });
    add_reference(command, a);
    command->add_option("LINK", a->link, "id of the link, or of what it leads to")
        ->required()
        ->option_text(" ");
    command->add_option("--note", a->note, "one line")->option_text("TEXT");
  }

  void decide() {
    auto a = std::make_shared<RecordArguments>();
    CLI::App* command = add(
        a, "decide", "Decide one that is open, or correct a decision",
        example_name() + " --decision keep --reason \"1.42 times faster in eight rounds\"\n" +
            example_name() +
            " --decision reject --reason \"no fewer bytes\" --no-verdict \"counters refute it\"\n" +
            example_name() + " --correct \"wrong verdict linked\" --decision investigate",
        Access::kAppend, [kind = kind_](Ledger& ledger, const RecordArguments& r) {
          if (r.correct) {
            Correction correction;
            correction.why = *r.correct;
            correction.changes.fields = r.content.fields(kind);
            correction.decision = r.decision;
            correction.reason = r.reason;
            correction.no_verdict_reason = r.no_verdict;
            print_record_state(correct_record(ledger, kind, r.reference, correction), r.json);
            return 0;
          }
          if (!r.content.set.empty() || !r.content.file.empty()) {
            throw stwo::UsageError("USAGE",
                                   "--set and --file belong to --correct; use update before the "
                                   "decision");
          }
          if (!r.decision) {
            throw stwo::UsageError("USAGE",
                                   "no decision is given; give --decision keep, reject or "
                                   "investigate");
          }
          const Decision decision{*r.decision, r.reason.value_or(""), r.no_verdict.value_or("")};
          print_record_state(decide_record(ledger, kind, r.reference, decision), r.json);
          return 0;
        });
    add_reference(command, a);
    command->add_option("--decision", a->decision, "keep, reject or investigate")
        ->option_text("NAME");
    command->add_option("--reason", a->reason, "why")->option_text("TEXT");
    command
        ->add_option("--no-verdict", a->no_verdict,
                     "why no verdict is linked that it could rest on")
        ->option_text("REASON");
    command
        ->add_option("--correct", a->correct,
                     "correct what was decided, and why; what is not given stays")
        ->option_text("REASON");
    a->content.add_fields(*command);
  }

  void show() {
    auto a = std::make_shared<RecordArguments>();
    CLI::App* command =
        add(a, "show", "The whole record", example_name() + "\n" + example_name() + " --revisions",
            Access::kRead, [kind = kind_, word = word_](Ledger& ledger, const RecordArguments& r) {
              if (r.revisions) {
                ResultTable table =
                    records_table(word + " revisions", load_revisions(ledger, kind, r.reference));
                table.in_text = {"revision", "recorded_utc", "state",
                                 "decision", "title",        "correction"};
                stwo::print(r.json ? table_json(table) : table_text(table));
                return 0;
              }
              const Record record = load_record(ledger, kind, r.reference);
              stwo::print(r.json ? dump(record_json(record)) : print_record(record));
              return 0;
            });
    add_reference(command, a);
    command->add_flag("--revisions", a->revisions, "all its revisions, oldest first");
  }

  void list() {
    auto a = std::make_shared<RecordArguments>();
    CLI::App* command = add(
        a, "list", "All of them", "\n--state open", Access::kRead,
        [kind = kind_, word = word_](Ledger& ledger, const RecordArguments& r) {
          std::optional<RecordState> state;
          if (r.state) state = record_state_of(*r.state);
          r.table.print(records_table(word + "s", list_records(ledger, kind, state)));
          return 0;
        },
        Output::kTable);
    command->add_option("--state", a->state, "draft, open or decided")
        ->check(CLI::IsMember({"draft", "open", "decided"}))
        ->option_text("NAME");
  }

  void export_files() {
    auto a = std::make_shared<RecordArguments>();
    CLI::App* command =
        add(a, "export", "Write NNNN-slug/record.md", example_name() + "\n--all --dir experiments",
            Access::kAppend, [kind = kind_](Ledger& ledger, const RecordArguments& r) {
              if (r.all == !r.reference.empty()) {
                throw stwo::UsageError("USAGE", "give a record or --all, one of them");
              }
              std::vector<std::string> ids = {r.reference};
              if (r.all) {
                ids.clear();
                for (const Record& record : list_records(ledger, kind)) ids.push_back(record.id);
              }
              Json written = Json::array();
              for (const std::string& id : ids) {
                const ExportResult e = export_record(ledger, kind, id, r.directory, r.force);
                if (r.json) {
                  written.push_back({{"id", e.id}, {"path", e.path}, {"written", e.written}});
                } else {
                  stwo::print((e.written ? "wrote      " : "unchanged  ") + e.path + "\n");
                }
              }
              if (r.json) stwo::print(dump(written));
              return 0;
            });
    command->add_option("ID", a->reference, "id, slug, number or folder of the " + word_)
        ->option_text(" ");
    command->add_flag("--all", a->all, "all of them");
    command->add_option("--dir", a->directory, "folder of the records, default experiments")
        ->option_text("DIR");
    command->add_flag("--force", a->force,
                      "write over changes that were not imported, and over another record");
  }

  void import_files() {
    auto a = std::make_shared<RecordArguments>();
    CLI::App* command =
        add(a, "import", "Take record.md files into the ledger",
            "experiments/0004-leaf-fusion\nexperiments/*/record.md", Access::kAppend,
            [](Ledger& ledger, const RecordArguments& r) {
              static constexpr const char* kWords[] = {"added", "revised", "unchanged"};
              Json taken = Json::array();
              for (const std::string& path : r.paths) {
                const ImportResult i = import_record(ledger, path);
                const std::string outcome = kWords[static_cast<size_t>(i.outcome)];
                if (r.json) {
                  taken.push_back({{"path", i.path},
                                   {"outcome", outcome},
                                   {"kind", record_form(i.kind).table},
                                   {"id", i.id},
                                   {"revisions", i.revisions},
                                   {"links", i.links},
                                   {"notes", i.notes}});
                  continue;
                }
                std::string line = outcome;
                line.resize(std::string_view("unchanged  ").size(), ' ');
                line += std::string(record_form(i.kind).table) + " " + i.id + "  " + i.path + "\n";
                for (const std::string& note : i.notes) line += "  note: " + note + "\n";
                stwo::print(line);
              }
              if (r.json) stwo::print(dump(taken));
              return 0;
            });
    command->add_option("PATHS", a->paths, "record.md, or the folder it lies in")
        ->required()
        ->option_text("...");
  }

  std::string example_name() const {
    return kind_ == RecordKind::kExperiment ? "leaf-fusion" : "fused-commitment";
  }

  CommandRun* run_;
  SharedLedger ledger_;
  RecordKind kind_;
  std::string word_;
  CLI::App* group_ = nullptr;
};

}  // namespace

void add_record_commands(CLI::App& app, CommandRun* run, const SharedLedger& ledger,
                         RecordKind kind) {
  RecordCommands(app, run, ledger, kind).add_all();
}

}  // namespace ledger

#include "ledger/records/record_store.hpp"

#include "ledger/records/record_rows.hpp"
#include "ledger/store/check.hpp"
#include "tests/ledger/records/records_fixture.hpp"

namespace ledger {
namespace {

using Store = BothKindsTest;
INSTANTIATE_BOTH_KINDS(Store);

TEST_P(Store, CreatesDrafts) {
  NewRecord record;
  record.kind = kind();
  record.title = "  A title ";
  record.slug = "a-slug";
  record.fields[result_field()] = "\nsome text\r\n\n";
  record.fields[hypothesis_field()] = " ";
  const Record r = create_record(ledger(), record);
  EXPECT_TRUE(is_ulid(r.id));
  EXPECT_EQ(r.revision, r.id);
  EXPECT_EQ(r.state, RecordState::kDraft);
  EXPECT_EQ(r.title, "A title");
  EXPECT_FALSE(r.number);
  EXPECT_EQ(r.fields.size(), 1u);
  EXPECT_EQ(r.field(result_field()), "some text");
  EXPECT_EQ(last_entry(), table() + ".new " + r.id);
  EXPECT_TRUE(load_record(ledger(), kind(), "a-slug").same_content(r));
  Statement row = database().prepare("SELECT " + hypothesis_field() + " FROM " + table());
  ASSERT_TRUE(row.step());
  EXPECT_TRUE(row.is_null(0)) << "what is not stated is NULL";
}

TEST_P(Store, CreateRefuses) {
  const auto code = [&](auto change) {
    NewRecord record = complete_record(kind(), "good");
    change(record);
    return code_of([&] { create_record(ledger(), record); });
  };
  EXPECT_EQ(code([](NewRecord& r) { r.title = ""; }), "RECORD_TITLE");
  EXPECT_EQ(code([](NewRecord& r) { r.title = "a\nb"; }), "RECORD_TEXT");
  EXPECT_EQ(code([](NewRecord& r) { r.slug = "Bad"; }), "RECORD_SLUG");
  EXPECT_EQ(code([](NewRecord& r) { r.number = 0; }), "RECORD_NUMBER");
  EXPECT_EQ(code([](NewRecord& r) { r.fields["no such field"] = "x"; }), "RECORD_FIELD");
  EXPECT_EQ(code([](NewRecord& r) { r.fields["decision"] = "keep"; }), "RECORD_FIELD");
  EXPECT_EQ(code([&](NewRecord& r) { r.fields[result_field()] = "```\n"; }), "RECORD_TEXT");
  EXPECT_EQ(code([](NewRecord& r) { r.prediction = some_prediction(); }),
            kind() == RecordKind::kBrief ? "RECORD_FIELD" : "");
  EXPECT_EQ(count(table()), kind() == RecordKind::kBrief ? 0 : 1);
}

TEST_P(Store, NamesBelongToOne) {
  NewRecord first = complete_record(kind(), "first");
  first.number = 4;
  create_record(ledger(), first);
  std::string message;
  EXPECT_EQ(code_of([&] { create_record(ledger(), first); }, &message), "RECORD_TAKEN");
  EXPECT_NE(message.find("slug 'first' belongs to"), std::string::npos) << message;
  NewRecord second = complete_record(kind(), "second");
  second.number = 4;
  EXPECT_EQ(code_of([&] { create_record(ledger(), second); }, &message), "RECORD_TAKEN");
  EXPECT_NE(message.find("number 0004 belongs to"), std::string::npos) << message;
  // Briefs and experiments share the numbers, not the slugs.
  second.kind = kind() == RecordKind::kBrief ? RecordKind::kExperiment : RecordKind::kBrief;
  second.fields.clear();
  second.prediction.clear();
  EXPECT_EQ(code_of([&] { create_record(ledger(), second); }), "RECORD_TAKEN");
  second.number = 5;
  second.slug = "first";
  EXPECT_EQ(code_of([&] { create_record(ledger(), second); }), "");
  // A slug that is left becomes free.
  edit_draft(ledger(), kind(), "first", {.slug = "renamed"});
  create_record(ledger(), complete_record(kind(), "first"));
  EXPECT_EQ(code_of([&] { edit_draft(ledger(), kind(), "renamed", {.slug = "first"}); }),
            "RECORD_TAKEN");
}

TEST_P(Store, EditsDrafts) {
  const Record made = create_record(ledger(), complete_record(kind(), "a"));
  RecordChanges changes;
  changes.title = "Another";
  changes.number = 9;
  changes.fields[std::string(require_field(kind(), result_field()).heading)] = "new";
  changes.fields[hypothesis_field()] = "";
  const Record r = edit_draft(ledger(), kind(), "a", changes);
  EXPECT_EQ(last_entry(), table() + ".edit " + made.id);
  EXPECT_NE(r.revision, made.revision);
  EXPECT_GT(r.recorded_utc, made.recorded_utc);
  EXPECT_EQ(r.title, "Another");
  EXPECT_EQ(r.number, 9);
  EXPECT_EQ(r.field(result_field()), "new");
  EXPECT_EQ(r.field(hypothesis_field()), "");
  if (kind() == RecordKind::kExperiment) {
    EXPECT_TRUE(edit_draft(ledger(), kind(), "a", {.prediction = Prediction{}}).prediction.empty());
  }
  const int64_t rows = count(table());
  const int64_t entries = count("entry");
  edit_draft(ledger(), kind(), "a", changes);
  EXPECT_EQ(count(table()), rows) << "nothing new appends nothing";
  EXPECT_EQ(count("entry"), entries);
  EXPECT_EQ(static_cast<int64_t>(load_revisions(ledger(), kind(), "a").size()), rows);
}

TEST_P(Store, OpensWhatIsComplete) {
  create_record(ledger(), complete_record(kind(), "a"));
  const Record r = open_record(ledger(), kind(), "a");
  EXPECT_EQ(r.state, RecordState::kOpen);
  EXPECT_EQ(last_entry(), table() + ".open " + r.id);
  EXPECT_EQ(code_of([&] { open_record(ledger(), kind(), "a"); }), "RECORD_STATE");
  for (const RecordField& f : record_form(kind()).fields) {
    if (f.prediction) continue;
    NewRecord part = complete_record(kind(), "part");
    part.fields.erase(std::string(f.column));
    TemporaryFolder folder;
    Ledger::init(folder / "b.db");
    Ledger other(folder / "b.db", Access::kAppend);
    create_record(other, part);
    std::string message;
    EXPECT_EQ(code_of([&] { open_record(other, kind(), "part"); }, &message),
              f.needed_to_open ? "RECORD_INCOMPLETE" : "");
    if (f.needed_to_open) {
      EXPECT_NE(message.find("'" + std::string(f.heading) + "' says"), std::string::npos)
          << message;
    }
  }
}

TEST_P(Store, OpeningListsAllThatIsMissing) {
  NewRecord bare;
  bare.kind = kind();
  bare.title = "bare";
  bare.slug = "bare";
  if (kind() == RecordKind::kExperiment) bare.prediction = some_prediction();
  create_record(ledger(), bare);
  std::string message;
  EXPECT_EQ(code_of([&] { open_record(ledger(), kind(), "bare"); }, &message), "RECORD_INCOMPLETE");
  for (const RecordField& f : record_form(kind()).fields) {
    EXPECT_EQ(message.find("'" + std::string(f.heading) + "'") != std::string::npos,
              f.needed_to_open && !f.prediction)
        << message;
  }
}

TEST_F(RecordsTest, OpeningNeedsAPrediction) {
  NewRecord record = complete_record(RecordKind::kExperiment, "a");
  record.prediction.clear();
  create_record(ledger(), record);
  EXPECT_EQ(code_of([&] { open_record(ledger(), RecordKind::kExperiment, "a"); }),
            "RECORD_NO_PREDICTION");
}

TEST_P(Store, ResultsAreAddedTheHypothesisStays) {
  opened(kind(), "a");
  std::string message;
  for (const RecordField& f : record_form(kind()).fields) {
    if (f.prediction) continue;
    RecordChanges change;
    change.fields[std::string(f.column)] = "changed";
    EXPECT_EQ(code_of([&] { update_open(ledger(), kind(), "a", change); }, &message),
              f.hypothesis ? "RECORD_FROZEN" : "");
    if (f.hypothesis) {
      EXPECT_NE(message.find(f.heading), std::string::npos) << message;
    }
  }
  EXPECT_EQ(last_entry().substr(0, table().size() + 8), table() + ".update ");
  if (kind() == RecordKind::kExperiment) {
    EXPECT_EQ(code_of([&] {
                update_open(ledger(), kind(), "a",
                            {.prediction = parse_prediction("time: a < 1 ms")});
              }),
              "RECORD_FROZEN");
  }
  // Names are no claims.
  const Record r =
      update_open(ledger(), kind(), "a", {.title = "Better words", .slug = "b", .number = 12});
  EXPECT_EQ(record_folder(r), "0012-b");
  EXPECT_EQ(code_of([&] { edit_draft(ledger(), kind(), "b", {.title = "x"}); }, &message),
            "RECORD_STATE");
  EXPECT_NE(message.find("is open, not draft; add results to it, or decide it"), std::string::npos)
      << message;
}

TEST_P(Store, UpdatesOnlyWhatIsOpen) {
  create_record(ledger(), complete_record(kind(), "a"));
  EXPECT_EQ(code_of([&] { update_open(ledger(), kind(), "a", {.title = "x"}); }), "RECORD_STATE");
  EXPECT_EQ(code_of([&] {
              decide_record(ledger(), kind(), "a", {"keep", "", "none"});
            }),
            "RECORD_STATE");
  EXPECT_EQ(code_of([&] {
              correct_record(ledger(), kind(), "a", {"why", {}, {}, {}, {}});
            }),
            "RECORD_STATE");
}

TEST_P(Store, DecidesForAReason) {
  opened(kind(), "a");
  EXPECT_EQ(code_of([&] {
              decide_record(ledger(), kind(), "a", {"maybe", "", "x"});
            }),
            "RECORD_DECISION");
  EXPECT_EQ(code_of([&] {
              decide_record(ledger(), kind(), "a", {"keep", "because", ""});
            }),
            "RECORD_NO_VERDICT");
  EXPECT_EQ(code_of([&] {
              decide_record(ledger(), kind(), "a", {"keep", "because", " \n"});
            }),
            "RECORD_NO_VERDICT");
  const Record r = decide_record(ledger(), kind(), "a", {"reject", "slower", "no judge"});
  EXPECT_EQ(r.state, RecordState::kDecided);
  EXPECT_EQ(r.decision, "reject");
  EXPECT_EQ(r.decision_reason, "slower");
  EXPECT_EQ(r.no_verdict_reason, "no judge");
  EXPECT_EQ(last_entry(), table() + ".decide " + r.id);
  EXPECT_EQ(code_of([&] {
              decide_record(ledger(), kind(), "a", {"keep", "", "x"});
            }),
            "RECORD_STATE");
  EXPECT_EQ(code_of([&] { update_open(ledger(), kind(), "a", {.title = "x"}); }), "RECORD_STATE");
}

TEST_P(Store, DecidesOnTheNewestVerdict) {
  opened(kind(), "a");
  const std::string first = add_target(ledger(), "verdict", "1");
  const std::string second = add_target(ledger(), "verdict", "2");
  const std::string run = add_target(ledger(), "run", "1");
  link_record(ledger(), kind(), "a", {"baseline", "run", run, ""});
  EXPECT_EQ(code_of([&] {
              decide_record(ledger(), kind(), "a", {"keep", "", ""});
            }),
            "RECORD_NO_VERDICT");
  link_record(ledger(), kind(), "a", {"abba", "verdict", first, ""});
  link_record(ledger(), kind(), "a", {"abba", "verdict", second, ""});
  retract_link(ledger(), kind(), "a", second, "another machine");
  decide_record(ledger(), kind(), "a", {"keep", "", ""});
  EXPECT_EQ(database().query_text("SELECT l.target_id FROM " + table() +
                                  "_tip AS t JOIN record_link AS l ON l.row = t.verdict_link"),
            first);
  std::string message;
  EXPECT_EQ(code_of([&] { retract_link(ledger(), kind(), "a", first, ""); }, &message),
            "LINK_IN_USE");
  // Another verdict, then the first can go.
  link_record(ledger(), kind(), "a", {"abba", "verdict", second, ""});
  Correction correction;
  correction.why = "measured again";
  correct_record(ledger(), kind(), "a", correction);
  EXPECT_EQ(last_entry().substr(0, table().size() + 9), table() + ".correct ");
  retract_link(ledger(), kind(), "a", first, "");
  EXPECT_EQ(code_of([&] { retract_link(ledger(), kind(), "a", second, ""); }), "LINK_IN_USE");
}

TEST_P(Store, AReasonForNoVerdictStandsBesideLinks) {
  opened(kind(), "a");
  const std::string verdict = add_target(ledger(), "verdict", "1");
  link_record(ledger(), kind(), "a", {"contradicts", "verdict", verdict, ""});
  decide_record(ledger(), kind(), "a", {"investigate", "", "the verdict is of another shape"});
  EXPECT_EQ(database().query_integer("SELECT verdict_link IS NULL FROM " + table() + "_tip"), 1);
  EXPECT_EQ(code_of([&] { retract_link(ledger(), kind(), "a", verdict, ""); }), "");
}

TEST_P(Store, CorrectsWithAReason) {
  decided(kind(), "a");
  Correction correction;
  correction.decision = "reject";
  EXPECT_EQ(code_of([&] { correct_record(ledger(), kind(), "a", correction); }),
            "RECORD_CORRECTION");
  correction.why = "the other column was read";
  correction.reason = "slower";
  correction.changes.fields[result_field()] = "what it was";
  const Record r = correct_record(ledger(), kind(), "a", correction);
  EXPECT_EQ(r.decision, "reject");
  EXPECT_EQ(r.decision_reason, "slower");
  EXPECT_EQ(r.no_verdict_reason, "no judge here");
  EXPECT_EQ(r.correction, "the other column was read");
  EXPECT_EQ(r.field(result_field()), "what it was");
  EXPECT_EQ(code_of([&] { correct_record(ledger(), kind(), "a", correction); }),
            "RECORD_CORRECTION");
  Correction frozen;
  frozen.why = "better words";
  frozen.changes.fields[hypothesis_field()] = "what I meant";
  EXPECT_EQ(code_of([&] { correct_record(ledger(), kind(), "a", frozen); }), "RECORD_FROZEN");
  Correction no_reason;
  no_reason.why = "no";
  no_reason.no_verdict_reason = "";
  EXPECT_EQ(code_of([&] { correct_record(ledger(), kind(), "a", no_reason); }),
            "RECORD_NO_VERDICT");
  Correction bad;
  bad.why = "no";
  bad.decision = "no";
  EXPECT_EQ(code_of([&] { correct_record(ledger(), kind(), "a", bad); }), "RECORD_DECISION");
}

TEST_P(Store, LinksEveryKindOfEvidence) {
  const Record r = create_record(ledger(), complete_record(kind(), "a"));
  for (const char* target : {"run", "capture", "verdict", "calibration", "plan", "artifact"}) {
    const std::string id = add_target(ledger(), target, "1");
    std::string shouted = id.substr(0, 12);
    for (char& c : shouted) c = static_cast<char>(std::toupper(c));
    const Record linked =
        link_record(ledger(), kind(), "a", {"supports", target, shouted, " a note "});
    EXPECT_EQ(last_entry(), table() + ".link " + r.id);
    EXPECT_EQ(linked.links.back().target_id, id) << "the full id is stored";
    EXPECT_EQ(linked.links.back().note, "a note");
    EXPECT_TRUE(is_ulid(linked.links.back().link_id));
    std::string message;
    EXPECT_EQ(
        code_of(
            [&] {
              link_record(ledger(), kind(), "a", {"supports", target, std::string(64, '0'), ""});
            },
            &message),
        "LINK_TARGET_MISSING");
    EXPECT_NE(message.find(target), std::string::npos) << message;
  }
  const Record experiment =
      create_record(ledger(), complete_record(RecordKind::kExperiment, "other"));
  const Record brief = create_record(ledger(), complete_record(RecordKind::kBrief, "other"));
  link_record(ledger(), kind(), "a", {"contradicts", "experiment", "other", ""});
  const Record all =
      link_record(ledger(), kind(), "a", {"contradicts", "brief", brief.id.substr(0, 20), ""});
  EXPECT_EQ(all.links.size(), 8u);
  EXPECT_EQ(all.links[6].target_id, experiment.id);
  EXPECT_EQ(all.links[7].target_id, brief.id);
}

TEST_P(Store, LinkRefuses) {
  const Record r = create_record(ledger(), complete_record(kind(), "a"));
  const std::string id = add_target(ledger(), "run", "1");
  const auto code = [&](const LinkRequest& request) {
    return code_of([&] { link_record(ledger(), kind(), "a", request); });
  };
  EXPECT_EQ(code({"proof", "run", id, ""}), "LINK_ROLE");
  EXPECT_EQ(code({"baseline", "product", id, ""}), "LINK_KIND");
  EXPECT_EQ(code({"baseline", "run", id.substr(0, 5), ""}), "LINK_TARGET");
  EXPECT_EQ(code({"baseline", "run", id + "0", ""}), "LINK_TARGET");
  EXPECT_EQ(code({"baseline", "run", "not hexadecimal", ""}), "LINK_TARGET");
  EXPECT_EQ(code({"baseline", "run", "", ""}), "LINK_TARGET");
  EXPECT_EQ(code({"baseline", "verdict", id, ""}), "LINK_TARGET_MISSING");
  EXPECT_EQ(code({"baseline", table(), "a", ""}), "LINK_TARGET");
  EXPECT_EQ(code({"baseline", "experiment", "nobody", ""}), "RECORD_NOT_FOUND");
  EXPECT_EQ(code({"baseline", "run", id, "two\nlines"}), "RECORD_TEXT");
  EXPECT_EQ(count("record_link"), 0);
  EXPECT_EQ(code_of([&] {
              link_record(ledger(), kind(), "nobody", {"baseline", "run", id, ""});
            }),
            "RECORD_NOT_FOUND");
}

TEST_P(Store, PrefixesMustBeUnique) {
  create_record(ledger(), complete_record(kind(), "a"));
  {
    Append append(ledger(), "test", "test");
    for (const char last : {'1', '2'}) {
      append.insert("artifact", {{"sha256", "abcdef" + std::string(57, '0') + last},
                                 {"kind", std::string("other")},
                                 {"bytes", int64_t{0}},
                                 {"relpath", std::string("x") + last},
                                 {"file_name", std::string("x")},
                                 {"added_utc", utc_now()}});
    }
    append.commit();
  }
  std::string message;
  EXPECT_EQ(code_of(
                [&] {
                  link_record(ledger(), kind(), "a", {"supports", "artifact", "abcdef", ""});
                },
                &message),
            "LINK_TARGET_AMBIGUOUS");
  EXPECT_NE(message.find("01, abcdef"), std::string::npos) << message;
}

TEST_P(Store, LinksAreRetractedNotRemoved) {
  const Record r = create_record(ledger(), complete_record(kind(), "a"));
  const std::string run = add_target(ledger(), "run", "1");
  const LinkRequest request{"baseline", "run", run, ""};
  const Record linked = link_record(ledger(), kind(), "a", request);
  const int64_t entries = count("entry");
  link_record(ledger(), kind(), "a", request);
  EXPECT_EQ(count("entry"), entries) << "once is enough";
  for (const char* bad : {"", "01J", "zzzzzz", "0000000"}) {
    EXPECT_EQ(code_of([&] { retract_link(ledger(), kind(), "a", bad, ""); }), "LINK_NOT_FOUND");
  }
  link_record(ledger(), kind(), "a", {"supports", "run", run, ""});
  EXPECT_EQ(code_of([&] { retract_link(ledger(), kind(), "a", run, ""); }), "LINK_AMBIGUOUS");
  EXPECT_EQ(
      code_of([&] { retract_link(ledger(), kind(), "a", linked.links[0].link_id, "two\nlines"); }),
      "RECORD_TEXT");
  std::string small = linked.links[0].link_id;
  for (char& c : small) c = static_cast<char>(std::tolower(c));
  const Record less = retract_link(ledger(), kind(), "a", small, "wrong card");
  EXPECT_EQ(last_entry(), table() + ".unlink " + r.id);
  ASSERT_EQ(less.links.size(), 1u);
  EXPECT_EQ(less.links[0].role, "supports");
  EXPECT_EQ(count("record_link"), 3);
  EXPECT_EQ(code_of([&] { retract_link(ledger(), kind(), "a", small, ""); }), "LINK_NOT_FOUND");
  // It may come back, as another link.
  const Record again = link_record(ledger(), kind(), "a", request);
  ASSERT_EQ(again.links.size(), 2u);
  EXPECT_NE(again.links[0].link_id, linked.links[0].link_id);
  retract_link(ledger(), kind(), "a", again.links[0].link_id, "");
}

TEST_P(Store, LinksAreAllowedInEveryState) {
  decided(kind(), "a");
  const std::string run = add_target(ledger(), "run", "1");
  EXPECT_EQ(link_record(ledger(), kind(), "a", {"abba", "run", run, ""}).links.size(), 1u);
}

TEST_P(Store, FindsByAnyName) {
  NewRecord record = complete_record(kind(), "leaf-fusion");
  record.number = 14;
  const std::string id = create_record(ledger(), record).id;
  std::string small = id;
  for (char& c : small) c = static_cast<char>(std::tolower(c));
  for (const std::string& name :
       {id, small, id.substr(0, 6), id.substr(0, 25), std::string("leaf-fusion"), std::string("14"),
        std::string("0014"), std::string("0014-leaf-fusion"), std::string("14-leaf-fusion")}) {
    EXPECT_EQ(find_record(ledger(), kind(), name), id) << name;
  }
  for (const std::string& name :
       {std::string(), id.substr(0, 5), std::string("leaf"), std::string("15"), std::string("0"),
        std::string("-14"), std::string("0014-other"), std::string("15-leaf-fusion"), id + "0",
        std::string("zzzzzzzz"), std::string("%"), std::string("14 ")}) {
    EXPECT_EQ(code_of([&] { find_record(ledger(), kind(), name); }), "RECORD_NOT_FOUND") << name;
  }
  const RecordKind other =
      kind() == RecordKind::kBrief ? RecordKind::kExperiment : RecordKind::kBrief;
  EXPECT_EQ(code_of([&] { find_record(ledger(), other, id); }), "RECORD_NOT_FOUND");
  create_record(ledger(), complete_record(kind(), "second"));
  std::string message;
  EXPECT_EQ(code_of([&] { find_record(ledger(), kind(), id.substr(0, 6)); }, &message),
            "RECORD_AMBIGUOUS");
  EXPECT_NE(message.find(id), std::string::npos) << message;
}

TEST_P(Store, ListsByNumberThenAge) {
  const auto make = [&](const std::string& slug, std::optional<int64_t> number) {
    NewRecord r = complete_record(kind(), slug);
    r.number = number;
    create_record(ledger(), r);
  };
  make("c", std::nullopt);
  make("b", 7);
  make("d", std::nullopt);
  make("a", 2);
  open_record(ledger(), kind(), "d");
  const auto slugs = [&](std::optional<RecordState> state) {
    std::string out;
    for (const Record& r : list_records(ledger(), kind(), state)) out += r.slug;
    return out;
  };
  EXPECT_EQ(slugs(std::nullopt), "abcd");
  EXPECT_EQ(slugs(RecordState::kOpen), "d");
  EXPECT_EQ(slugs(RecordState::kDecided), "");
}

TEST_P(Store, TimesGrowWhateverTheClockSays) {
  Record r = create_record(ledger(), complete_record(kind(), "a"));
  for (int i = 0; i < 20; ++i) {
    const Record next = edit_draft(ledger(), kind(), "a", {.title = "t" + std::to_string(i)});
    EXPECT_GT(next.recorded_utc, r.recorded_utc);
    r = next;
  }
}

TEST_P(Store, ALedgerWithRecordsIsSound) {
  decided(kind(), "a");
  const std::string run = add_target(ledger(), "run", "1");
  link_record(ledger(), kind(), "a", {"baseline", "run", run, ""});
  retract_link(ledger(), kind(), "a", run, "");
  const CheckResult check = check_ledger(ledger(), {});
  EXPECT_TRUE(check.findings.empty()) << check.findings.front().message;
}

TEST_P(Store, NothingIsWrittenWhenRefused) {
  decided(kind(), "a");
  const int64_t entries = count("entry");
  const std::string head = ledger().head();
  EXPECT_NE(code_of([&] { open_record(ledger(), kind(), "a"); }), "");
  EXPECT_NE(code_of([&] { create_record(ledger(), complete_record(kind(), "a")); }), "");
  EXPECT_EQ(count("entry"), entries);
  EXPECT_EQ(ledger().head(), head);
}

TEST_P(Store, ReadsFromALedgerOpenToRead) {
  const Record r = opened(kind(), "a");
  Ledger reader(folder_ / "a.db", Access::kRead);
  EXPECT_EQ(find_record(reader, kind(), "a"), r.id);
  EXPECT_TRUE(load_record(reader, kind(), "a").same_content(r));
  EXPECT_EQ(load_revisions(reader, kind(), "a").size(), 2u);
  EXPECT_EQ(list_records(reader, kind()).size(), 1u);
}

// The database has the last word: a row that got around the functions' own checks.
TEST_F(RecordsTest, TriggersStopWhatChecksMiss) {
  const Record r = opened(RecordKind::kExperiment, "a");
  Append append(ledger(), "test", r.id);
  const Revision tip = require_tip(database(), RecordKind::kExperiment, r.id);
  EXPECT_EQ(code_of([&] {
              append.insert("experiment", {{"revision_id", new_ulid()},
                                           {"experiment_id", r.id},
                                           {"supersedes", tip.row},
                                           {"state", std::string("draft")},
                                           {"slug", std::string("a")},
                                           {"title", std::string("a")},
                                           {"recorded_utc", utc_now()}});
            }),
            "LEDGER_CONSTRAINT");
}

}  // namespace
}  // namespace ledger

#include "ledger/records/record_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <memory>

#include "ledger/records/record_rows.hpp"
#include "ledger/store/check.hpp"
#include "ledger/store/copy.hpp"
#include "tests/ledger/records/records_fixture.hpp"

namespace ledger {
namespace {

using Outcome = ImportResult::Outcome;

class Files : public BothKindsTest {
 protected:
  Files() { test::fs::create_directory(directory_); }

  ExportResult export_as(const std::string& reference, bool force = false) {
    return export_record(ledger(), kind(), reference, directory_, force);
  }
  std::string file(const std::string& folder) const {
    return directory_ + "/" + folder + "/record.md";
  }
  void edit(const std::string& path, const std::string& from, const std::string& to) {
    std::string text = read_file(path);
    replace(text, from, to);
    write_file(path, text);
  }
  std::string heading(const std::string& column) const {
    return "## " + std::string(require_field(kind(), column).heading) + "\n";
  }
  /// Replaces the text of a field in the file.
  void edit_field(const std::string& path, const std::string& column, const std::string& text) {
    const std::string words = "text of " + std::string(require_field(kind(), column).heading);
    edit(path, heading(column) + "\n" + words, heading(column) + "\n" + text);
  }
  std::unique_ptr<Ledger> another(const std::string& name) {
    Ledger::init(folder_ / name);
    return std::make_unique<Ledger>(folder_ / name, Access::kAppend);
  }
  static Record newest(Ledger& l, RecordKind kind, const std::string& reference) {
    return load_record(l, kind, reference);
  }

  std::string directory_ = folder_ / "experiments";
};
INSTANTIATE_BOTH_KINDS(Files);

TEST_P(Files, ExportGivesANumberAndAFolder) {
  const Record r = create_record(ledger(), complete_record(kind(), "leaf-fusion"));
  const ExportResult e = export_as("leaf-fusion");
  EXPECT_TRUE(e.written);
  EXPECT_EQ(e.id, r.id);
  EXPECT_EQ(e.path, file("0001-leaf-fusion"));
  EXPECT_EQ(last_entry(), table() + ".number " + r.id);
  const Record after = newest(ledger(), kind(), "1");
  EXPECT_EQ(read_file(e.path), print_record(after));
  EXPECT_FALSE(export_as("leaf-fusion").written) << "it says the same already";
  // The next one is free in the folder and in the ledger.
  test::fs::create_directory(directory_ + "/0007-from-elsewhere");
  test::fs::create_directory(directory_ + "/8000");
  write_file(directory_ + "/0009-a-file", "");
  create_record(ledger(), complete_record(kind(), "b"));
  EXPECT_EQ(export_as("b").path, file("0008-b"));
  NewRecord c = complete_record(
      kind() == RecordKind::kBrief ? RecordKind::kExperiment : RecordKind::kBrief, "c");
  c.number = 20;
  create_record(ledger(), c);
  create_record(ledger(), complete_record(kind(), "d"));
  EXPECT_EQ(export_as("d").path, file("0021-d"));
}

TEST_P(Files, ExportNumbersWhatIsDecided) {
  const Record r = decided(kind(), "a");
  export_as("a");
  const Record after = newest(ledger(), kind(), "a");
  EXPECT_EQ(after.number, 1);
  EXPECT_EQ(after.correction, "");
  EXPECT_NE(after.revision, r.revision);
}

TEST_P(Files, ExportFromALedgerOpenToRead) {
  NewRecord record = complete_record(kind(), "a");
  record.number = 3;
  create_record(ledger(), record);
  create_record(ledger(), complete_record(kind(), "b"));
  Ledger reader(folder_ / "a.db", Access::kRead);
  EXPECT_TRUE(export_record(reader, kind(), "a", directory_, false).written);
  EXPECT_NE(code_of([&] { export_record(reader, kind(), "b", directory_, false); }), "");
}

TEST_P(Files, ExportRefuses) {
  const Record a = create_record(ledger(), complete_record(kind(), "a"));
  const std::string path = export_as("a").path;
  std::string message;
  const auto code = [&](const std::string& reference) {
    return code_of([&] { export_as(reference); }, &message);
  };
  EXPECT_EQ(code("nobody"), "RECORD_NOT_FOUND");
  EXPECT_EQ(code_of([&] { export_record(ledger(), kind(), "a", folder_ / "none", false); }),
            "OUTPUT_DIRECTORY");
  // Changes that the ledger does not know.
  const std::string exported = read_file(path);
  edit_field(path, result_field(), "by hand");
  EXPECT_EQ(code("a"), "EXPORT_UNIMPORTED");
  EXPECT_NE(message.find("import it first"), std::string::npos) << message;
  write_file(path, exported + "- supports: run " + std::string(64, 'a') + "\n");
  EXPECT_EQ(code("a"), "EXPORT_UNIMPORTED");
  write_file(path, "no record");
  EXPECT_EQ(code("a"), "EXPORT_UNIMPORTED");
  EXPECT_EQ(read_file(path), "no record");
  EXPECT_TRUE(export_as("a", true).written);
  EXPECT_EQ(read_file(path), exported);
  // Another record's file.
  std::string other = exported;
  replace(other, a.id, a.id.substr(0, 25) + (a.id.back() == '0' ? "1" : "0"));
  write_file(path, other);
  EXPECT_EQ(code("a"), "EXPORT_OTHER_RECORD");
  EXPECT_TRUE(export_as("a", true).written);
  // A folder under another name with the same number, be it its own.
  edit_draft(ledger(), kind(), "a", {.slug = "b"});
  EXPECT_EQ(code("b"), "EXPORT_NUMBER_TAKEN");
  EXPECT_NE(message.find("0001-a"), std::string::npos) << message;
  EXPECT_EQ(code_of([&] { export_as("b", true); }), "EXPORT_NUMBER_TAKEN");
  test::fs::rename(directory_ + "/0001-a", directory_ + "/0001-b");
  EXPECT_TRUE(export_as("b").written) << "the old text is a revision the ledger knows";
}

TEST_P(Files, ExportKeepsAwayFromWhatIsNoFile) {
  NewRecord record = complete_record(kind(), "a");
  record.number = 1;
  create_record(ledger(), record);
  test::fs::create_directories(file("0001-a"));
  EXPECT_EQ(code_of([&] { export_as("a"); }), "RECORD_SOURCE");
  EXPECT_EQ(code_of([&] { export_as("a", true); }), "RECORD_SOURCE");
  test::fs::remove(file("0001-a"));
  test::fs::remove(directory_ + "/0001-a");
  write_file(directory_ + "/0001-a", "a file");
  EXPECT_EQ(code_of([&] { export_as("a"); }), "OUTPUT_DIRECTORY");
  if (::geteuid() != 0) {
    ::chmod(directory_.c_str(), 0555);
    EXPECT_EQ(code_of([&] { export_as("a"); }), "OUTPUT_PERMISSION");
    ::chmod(directory_.c_str(), 0755);
  }
}

TEST_P(Files, ExportReplacesEveryTextTheLedgerKnows) {
  opened(kind(), "a");
  const std::string path = export_as("a").path;
  const std::string run = add_target(ledger(), "run", "1");
  link_record(ledger(), kind(), "a", {"baseline", "run", run, ""});
  EXPECT_TRUE(export_as("a").written);
  EXPECT_NE(read_file(path).find("- baseline: run " + run), std::string::npos);
  retract_link(ledger(), kind(), "a", run, "");
  decide_record(ledger(), kind(), "a", {"keep", "", "no judge"});
  EXPECT_TRUE(export_as("a").written);
  EXPECT_EQ(read_file(path).find(run), std::string::npos);
  // Formatting alone is nothing to protect.
  write_file(path, read_file(path) + "\n\n\n");
  EXPECT_TRUE(export_as("a").written);
}

TEST_P(Files, ImportsEveryState) {
  for (const char* state : {"draft", "open", "decided", "corrected"}) {
    SCOPED_TRACE(state);
    const std::string slug = state;
    const std::string s = state;
    Record r = create_record(ledger(), complete_record(kind(), slug));
    if (s != "draft") open_record(ledger(), kind(), slug);
    if (s == "decided" || s == "corrected") {
      decide_record(ledger(), kind(), slug, {"keep", "why", "no judge"});
    }
    if (s == "corrected") correct_record(ledger(), kind(), slug, {"better", {}, "reject", {}, {}});
    const std::string path = export_as(slug).path;
    auto other = another(slug + ".db");
    const ImportResult i = import_record(*other, path);
    EXPECT_EQ(i.outcome, Outcome::kAdded);
    EXPECT_EQ(i.id, r.id);
    EXPECT_EQ(i.kind, kind());
    EXPECT_EQ(i.revisions, s == "draft" ? 1 : s == "open" ? 2 : s == "decided" ? 3 : 4);
    EXPECT_TRUE(i.notes.empty());
    const Record here = newest(ledger(), kind(), slug);
    const Record there = newest(*other, kind(), slug);
    EXPECT_TRUE(there.same_content(here));
    EXPECT_EQ(print_record(there), read_file(path)) << "exporting it again changes nothing";
    EXPECT_EQ(other->database().query_text("SELECT kind FROM entry ORDER BY seq DESC"),
              table() + ".import");
    EXPECT_EQ(other->database().query_integer("SELECT count(*) FROM entry"), 2) << "one append";
    const int64_t entries = other->database().query_integer("SELECT count(*) FROM entry");
    EXPECT_EQ(import_record(*other, path).outcome, Outcome::kUnchanged);
    EXPECT_EQ(import_record(ledger(), path).outcome, Outcome::kUnchanged);
    EXPECT_EQ(other->database().query_integer("SELECT count(*) FROM entry"), entries);
    EXPECT_TRUE(check_ledger(*other, {}).findings.empty());
  }
}

TEST_P(Files, ImportTakesAFolderOrAFile) {
  create_record(ledger(), complete_record(kind(), "a"));
  const std::string path = export_as("a").path;
  EXPECT_EQ(import_record(ledger(), directory_ + "/0001-a").path, path);
  EXPECT_EQ(import_record(ledger(), directory_ + "/0001-a/").outcome, Outcome::kUnchanged);
  write_file(folder_ / "elsewhere.md", read_file(path));
  EXPECT_EQ(import_record(ledger(), folder_ / "elsewhere.md").outcome, Outcome::kUnchanged);
}

TEST_P(Files, ImportRefusesSources) {
  create_record(ledger(), complete_record(kind(), "a"));
  const std::string path = export_as("a").path;
  const auto code = [&](const std::string& p) {
    return code_of([&] { import_record(ledger(), p); });
  };
  EXPECT_EQ(code(folder_ / "none.md"), "RECORD_SOURCE");
  EXPECT_EQ(code(directory_), "RECORD_SOURCE");
  write_file(folder_ / "words.md", "words");
  EXPECT_EQ(code(folder_ / "words.md"), "RECORD_TITLE");
  test::fs::copy(directory_ + "/0001-a", directory_ + "/0002-a");
  EXPECT_EQ(code(directory_ + "/0002-a"), "RECORD_FOLDER");
  edit(path, "- slug: a\n", "- slug: b\n");
  EXPECT_EQ(code(path), "RECORD_FOLDER");
  edit(path, "- slug: b\n", "- slug: a\n");
  edit(path, "# 0001: ", "# unnumbered: ");
  EXPECT_EQ(code(path), "RECORD_FOLDER");
}

TEST_P(Files, ImportRefusesIdsOfTheOtherKind) {
  const RecordKind other =
      kind() == RecordKind::kBrief ? RecordKind::kExperiment : RecordKind::kBrief;
  Record foreign = create_record(ledger(), complete_record(other, "a"));
  foreign.kind = kind();
  foreign.prediction.clear();
  foreign.fields.clear();
  write_file(folder_ / "x.md", print_record(foreign));
  EXPECT_EQ(code_of([&] { import_record(ledger(), folder_ / "x.md"); }), "RECORD_KIND");
}

TEST_P(Files, EditsOfAFileBecomeRevisions) {
  opened(kind(), "a");
  const std::string path = export_as("a").path;
  edit_field(path, result_field(), "by hand\n\n### with *style*");
  edit(path, "Title of a", "A better title");
  const ImportResult i = import_record(ledger(), path);
  EXPECT_EQ(i.outcome, Outcome::kRevised);
  EXPECT_EQ(i.revisions, 1);
  const Record r = newest(ledger(), kind(), "a");
  EXPECT_EQ(r.field(result_field()), "by hand\n\n### with *style*");
  EXPECT_EQ(r.title, "A better title");
  EXPECT_EQ(import_record(ledger(), path).outcome, Outcome::kUnchanged);
  // The file's next export only brings the time up to date.
  EXPECT_TRUE(export_as("a").written);
  EXPECT_EQ(import_record(ledger(), path).outcome, Outcome::kUnchanged);
}

TEST_P(Files, AFileMayGoOnByItself) {
  create_record(ledger(), complete_record(kind(), "a"));
  const std::string path = export_as("a").path;
  // From draft to decided in an editor.
  edit(path, "- state: draft", "- state: decided");
  edit(path, "## decision\n", "## decision\n\nkeep\n\nfaster\n\n## no verdict\n\nno judge\n");
  EXPECT_EQ(import_record(ledger(), path).revisions, 2);
  Record r = newest(ledger(), kind(), "a");
  EXPECT_EQ(r.state, RecordState::kDecided);
  EXPECT_EQ(r.decision_reason, "faster");
  export_as("a");
  // And corrected.
  edit(path, "\nkeep\n", "\nreject\n");
  EXPECT_EQ(code_of([&] { import_record(ledger(), path); }), "RECORD_CORRECTION");
  edit(path, "\n## links", "\n## correction\n\nread again\n\n## links");
  EXPECT_EQ(import_record(ledger(), path).revisions, 1);
  r = newest(ledger(), kind(), "a");
  EXPECT_EQ(r.decision, "reject");
  EXPECT_EQ(r.correction, "read again");
  // Decided and corrected at once.
  opened(kind(), "b");
  const std::string second = export_as("b").path;
  edit(second, "- state: open", "- state: decided");
  edit(second, "## decision\n",
       "## decision\n\nkeep\n\n## no verdict\n\nno judge\n\n## correction\n\nagain\n");
  EXPECT_EQ(import_record(ledger(), second).revisions, 2);
}

TEST_P(Files, ImportFollowsTheRules) {
  opened(kind(), "a");
  const std::string path = export_as("a").path;
  const std::string exported = read_file(path);
  const auto code = [&](auto change) {
    write_file(path, exported);
    change();
    std::string message;
    const int64_t entries = count("entry");
    std::string result = code_of([&] { import_record(ledger(), path); }, &message);
    EXPECT_EQ(count("entry"), entries) << "all of it or nothing";
    return result;
  };
  EXPECT_EQ(code([&] { edit_field(path, hypothesis_field(), "another claim"); }), "RECORD_FROZEN");
  EXPECT_EQ(code([&] { edit(path, "- state: open", "- state: draft"); }), "RECORD_STATE");
  EXPECT_EQ(code([&] { edit(path, "- state: open", "- state: decided"); }), "RECORD_INCOMPLETE");
  EXPECT_EQ(code([&] { edit(path, "## decision\n", "## decision\n\nkeep\n"); }), "RECORD_STATE");
  EXPECT_EQ(code([&] { edit(path, "\n## links", "\n## no verdict\n\nx\n\n## links"); }),
            "RECORD_STATE");
  EXPECT_EQ(code([&] { edit(path, "\n## links", "\n## correction\n\nx\n\n## links"); }),
            "RECORD_STATE");
  EXPECT_EQ(code([&] {
              edit(path, "- state: open", "- state: decided");
              edit(path, "## decision\n", "## decision\n\nkeep\n");
            }),
            "RECORD_NO_VERDICT");
  if (kind() == RecordKind::kExperiment) {
    EXPECT_EQ(code([&] { edit(path, "<= 0.75", "<= 0.8"); }), "RECORD_FROZEN");
  }
  // New records too.
  write_file(path, exported);
  edit(path,
       heading(hypothesis_field()) + "\n" + "text of " +
           std::string(require_field(kind(), hypothesis_field()).heading),
       heading(hypothesis_field()));
  auto other = another("b.db");
  EXPECT_EQ(code_of([&] { import_record(*other, path); }), "RECORD_INCOMPLETE");
  EXPECT_EQ(other->database().query_integer("SELECT count(*) FROM " + table()), 0);
  write_file(path, exported);
  create_record(*other, complete_record(kind(), "a"));
  EXPECT_EQ(code_of([&] { import_record(*other, path); }), "RECORD_TAKEN");
}

TEST_P(Files, AStaleFileDoesNotUndoWhatCameAfter) {
  opened(kind(), "a");
  const std::string path = export_as("a").path;
  RecordChanges result;
  result.fields[result_field()] = "measured";
  update_open(ledger(), kind(), "a", result);
  // Not edited: nothing to say.
  const ImportResult old = import_record(ledger(), path);
  EXPECT_EQ(old.outcome, Outcome::kUnchanged);
  ASSERT_EQ(old.notes.size(), 1u);
  EXPECT_NE(old.notes[0].find("has gone on"), std::string::npos);
  // Edited: it would take the result back.
  edit(path, "Title of a", "A better title");
  std::string message;
  EXPECT_EQ(code_of([&] { import_record(ledger(), path); }, &message), "RECORD_STALE");
  EXPECT_EQ(newest(ledger(), kind(), "a").field(result_field()), "measured");
}

TEST_P(Files, AnEditedFileMayBeImportedAgainAndAgain) {
  opened(kind(), "a");
  const std::string path = export_as("a").path;
  edit(path, "Title of a", "A better title");
  import_record(ledger(), path);
  RecordChanges result;
  result.fields[result_field()] = "measured";
  update_open(ledger(), kind(), "a", result);
  EXPECT_EQ(import_record(ledger(), path).outcome, Outcome::kUnchanged);
  EXPECT_EQ(newest(ledger(), kind(), "a").field(result_field()), "measured");
}

TEST_P(Files, EditingBackIsAnEdit) {
  opened(kind(), "a");
  const std::string path = export_as("a").path;
  const std::string first = read_file(path);
  edit(path, "Title of a", "A better title");
  import_record(ledger(), path);
  export_as("a");
  edit(path, "A better title", "Title of a");
  EXPECT_EQ(import_record(ledger(), path).outcome, Outcome::kRevised);
  EXPECT_EQ(newest(ledger(), kind(), "a").title, "Title of a");
}

TEST_P(Files, NewerFilesOfAnotherLedgerAreTaken) {
  opened(kind(), "a");
  const std::string path = export_as("a").path;
  auto other = another("b.db");
  import_record(*other, path);
  update_open(ledger(), kind(), "a", {.title = "From the first ledger"});
  export_as("a");
  EXPECT_EQ(import_record(*other, path).outcome, Outcome::kRevised);
  EXPECT_EQ(newest(*other, kind(), "a").title, "From the first ledger");
  EXPECT_EQ(print_record(newest(*other, kind(), "a")), read_file(path));
  // Older than what is here, and from elsewhere.
  const std::string foreign = read_file(path);
  update_open(*other, kind(), "a", {.title = "From the second"});
  std::string older = foreign;
  replace(older, "From the first ledger", "From a third");
  const size_t at = older.find("- recorded: ");
  older.replace(at + 12, 4, "2020");
  write_file(path, older);
  EXPECT_EQ(code_of([&] { import_record(*other, path); }), "RECORD_STALE");
}

TEST_P(Files, AFileWithoutANumberTakesNoneAway) {
  create_record(ledger(), complete_record(kind(), "a"));
  export_as("a");
  Record r = newest(ledger(), kind(), "a");
  r.number.reset();
  write_file(folder_ / "x.md", print_record(r));
  EXPECT_EQ(import_record(ledger(), folder_ / "x.md").outcome, Outcome::kUnchanged);
  EXPECT_EQ(newest(ledger(), kind(), "a").number, 1);
}

TEST_P(Files, LinksTravel) {
  opened(kind(), "a");
  const std::string run = add_target(ledger(), "run", "1");
  const std::string plan = add_target(ledger(), "plan", "1");
  link_record(ledger(), kind(), "a", {"baseline", "run", run, "the card next door"});
  link_record(ledger(), kind(), "a", {"supports", "plan", plan, ""});
  const std::string path = export_as("a").path;
  auto other = another("b.db");
  add_target(*other, "run", "1");
  const ImportResult i = import_record(*other, path);
  EXPECT_EQ(i.links, 2);
  ASSERT_EQ(i.notes.size(), 1u) << "the plan is not there";
  EXPECT_NE(i.notes[0].find(plan), std::string::npos);
  const Record there = newest(*other, kind(), "a");
  const Record here = newest(ledger(), kind(), "a");
  ASSERT_EQ(there.links.size(), 2u);
  for (size_t l = 0; l < 2; ++l) {
    EXPECT_EQ(there.links[l].link_id, here.links[l].link_id) << "the same on every host";
  }
  EXPECT_EQ(there.links[0].note, "the card next door");
  // A line left out retracts nothing, a line added is a link.
  const std::string third = add_target(*other, "artifact", "1");
  edit(path, "- supports: plan " + plan + "\n", "- abba: artifact " + third + "\n");
  const ImportResult more = import_record(*other, path);
  EXPECT_EQ(more.outcome, Outcome::kRevised);
  EXPECT_EQ(more.revisions, 0);
  EXPECT_EQ(more.links, 1);
  EXPECT_EQ(newest(*other, kind(), "a").links.size(), 3u);
  // What was retracted does not come back with an old file.
  retract_link(*other, kind(), "a", third, "");
  const ImportResult again = import_record(*other, path);
  EXPECT_EQ(again.outcome, Outcome::kUnchanged);
  ASSERT_EQ(again.notes.size(), 1u);
  EXPECT_NE(again.notes[0].find("was retracted"), std::string::npos);
  EXPECT_EQ(newest(*other, kind(), "a").links.size(), 2u);
  // Itself.
  edit(path, "- abba: artifact " + third, "- abba: " + table() + " " + here.id);
  EXPECT_EQ(code_of([&] { import_record(*other, path); }), "LINK_TARGET");
}

TEST_P(Files, DecisionsTravelWithTheirVerdict) {
  opened(kind(), "a");
  const std::string verdict = add_target(ledger(), "verdict", "1");
  link_record(ledger(), kind(), "a", {"abba", "verdict", verdict, ""});
  decide_record(ledger(), kind(), "a", {"keep", "", ""});
  const std::string path = export_as("a").path;
  auto other = another("b.db");
  std::string message;
  EXPECT_EQ(code_of([&] { import_record(*other, path); }, &message), "LINK_TARGET_MISSING");
  EXPECT_NE(message.find(verdict), std::string::npos) << message;
  EXPECT_EQ(other->database().query_integer("SELECT count(*) FROM record_link"), 0);
  add_target(*other, "verdict", "1");
  EXPECT_EQ(import_record(*other, path).outcome, Outcome::kAdded);
  EXPECT_EQ(print_record(newest(*other, kind(), "a")), read_file(path));
}

// --- Merging

TEST_P(Files, LedgersThatImportTheSameFilesMerge) {
  decided(kind(), "a");
  const std::string path = export_as("a").path;
  auto first = another("b.db");
  auto second = another("c.db");
  import_record(*first, path);
  import_record(*second, path);
  // The same edit, imported on both.
  edit(path, "\n## links", "\n## correction\n\nread again\n\n## links");
  import_record(*first, path);
  import_record(*second, path);
  const std::string run = add_target(*first, "run", "1");
  add_target(*second, "run", "1");
  for (Ledger* l : {first.get(), second.get()}) {
    link_record(*l, kind(), "a", {"supports", "run", run, ""});
    retract_link(*l, kind(), "a", run, "");
  }
  const MergeResult merged = merge_ledger(*first, folder_ / "c.db", false);
  for (const auto& [name, added] : merged.added) {
    EXPECT_TRUE(name != table() && name != "record_link") << name << " " << added;
  }
  EXPECT_TRUE(merged.conflicts.empty());
}

TEST_P(Files, AWholeHistoryMerges) {
  // Every rule in its order: verdicts retracted after a decision, corrections, links of all kinds.
  opened(kind(), "a");
  const std::string first = add_target(ledger(), "verdict", "1");
  const std::string second = add_target(ledger(), "verdict", "2");
  link_record(ledger(), kind(), "a", {"abba", "verdict", first, ""});
  decide_record(ledger(), kind(), "a", {"keep", "", ""});
  link_record(ledger(), kind(), "a", {"abba", "verdict", second, ""});
  correct_record(ledger(), kind(), "a", {"measured again", {}, {}, {}, {}});
  retract_link(ledger(), kind(), "a", first, "too few rounds");
  export_as("a");
  create_record(ledger(), complete_record(kind(), "b"));
  auto other = another("b.db");
  merge_ledger(*other, folder_ / "a.db", false);
  EXPECT_TRUE(newest(*other, kind(), "a").same_content(newest(ledger(), kind(), "a")));
  EXPECT_EQ(newest(*other, kind(), "a").links.size(), 1u);
  EXPECT_EQ(list_records(*other, kind()).size(), 2u);
  EXPECT_TRUE(check_ledger(*other, {}).findings.empty());
  EXPECT_TRUE(merge_ledger(*other, folder_ / "a.db", false).added.empty());
  // It can go on there and come back.
  correct_record(*other, kind(), "a", {"once more", {}, "reject", {}, {}});
  merge_ledger(ledger(), folder_ / "b.db", false);
  EXPECT_EQ(newest(ledger(), kind(), "a").decision, "reject");
}

TEST_P(Files, ADecisionDoesNotArriveWhereItsVerdictWasRetractedBefore) {
  opened(kind(), "a");
  const std::string verdict = add_target(ledger(), "verdict", "1");
  link_record(ledger(), kind(), "a", {"abba", "verdict", verdict, ""});
  auto other = another("b.db");
  merge_ledger(*other, folder_ / "a.db", false);
  retract_link(ledger(), kind(), "a", verdict, "another machine");
  usleep(2000);
  decide_record(*other, kind(), "a", {"keep", "", ""});
  std::string message;
  EXPECT_EQ(code_of([&] { merge_ledger(ledger(), folder_ / "b.db", false); }, &message),
            "MERGE_CONFLICT");
  EXPECT_NE(message.find(newest(*other, kind(), "a").revision), std::string::npos) << message;
  const MergeResult result = merge_ledger(ledger(), folder_ / "b.db", true);
  ASSERT_EQ(result.conflicts.size(), 1u);
  EXPECT_NE(result.conflicts[0].find("contradicts"), std::string::npos) << result.conflicts[0];
  EXPECT_EQ(newest(ledger(), kind(), "a").state, RecordState::kOpen);
  EXPECT_TRUE(check_ledger(ledger(), {}).findings.empty());
  // The other way round both are known, and the board shows a decision without a standing verdict.
  merge_ledger(*other, folder_ / "a.db", false);
  EXPECT_TRUE(newest(*other, kind(), "a").links.empty());
}

TEST_P(Files, TwoRevisionsOfOneAreAConflict) {
  opened(kind(), "a");
  auto other = another("b.db");
  merge_ledger(*other, folder_ / "a.db", false);
  update_open(*other, kind(), "a", {.title = "there"});
  update_open(ledger(), kind(), "a", {.title = "here"});
  EXPECT_EQ(code_of([&] { merge_ledger(ledger(), folder_ / "b.db", false); }), "MERGE_CONFLICT");
  EXPECT_EQ(merge_ledger(ledger(), folder_ / "b.db", true).conflicts.size(), 1u);
  EXPECT_EQ(newest(ledger(), kind(), "a").title, "here");
}

TEST_P(Files, RecordsThatMeetUnderOneNameGoOn) {
  NewRecord record = complete_record(kind(), "same");
  record.number = 1;
  const Record here = create_record(ledger(), record);
  auto other = another("b.db");
  create_record(*other, record);
  merge_ledger(ledger(), folder_ / "b.db", false);
  EXPECT_EQ(code_of([&] { load_record(ledger(), kind(), "same"); }), "RECORD_AMBIGUOUS");
  EXPECT_EQ(code_of([&] { load_record(ledger(), kind(), "1"); }), "RECORD_AMBIGUOUS");
  EXPECT_EQ(code_of([&] { open_record(ledger(), kind(), here.id); }), "");
  EXPECT_EQ(
      code_of([&] { update_open(ledger(), kind(), here.id, {.slug = "other", .number = 2}); }), "");
  EXPECT_EQ(code_of([&] { load_record(ledger(), kind(), "same"); }), "");
}

}  // namespace
}  // namespace ledger

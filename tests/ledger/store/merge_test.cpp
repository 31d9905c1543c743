// Another host's history comes in.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <map>
#include <nlohmann/json.hpp>

#include "ledger/store/check.hpp"
#include "ledger/store/copy.hpp"
#include "ledger/store/schema.hpp"
#include "tests/ledger/support/child.hpp"
#include "tests/ledger/support/full_ledger.hpp"
#include "tests/ledger/support/temporary_folder.hpp"
#include "tests/support/errors.hpp"

namespace ledger::test {
namespace {

using stwo::test::code_of;

class MergeTest : public ::testing::Test {
 protected:
  MergeTest() {
    for (const std::string& path : {path_a_, path_b_}) Ledger::init(path);
    a_.emplace(path_a_, Access::kAppend);
    b_.emplace(path_b_, Access::kAppend);
  }
  Ledger& a() { return *a_; }
  Ledger& b() { return *b_; }

  static std::set<std::string> ids(Ledger& ledger) { return content_ids(ledger.database()); }
  static int64_t count(Ledger& ledger, const std::string& table) {
    return count_rows(ledger.database(), table);
  }
  /// Everything but what each ledger keeps for itself.
  static std::map<std::string, int64_t> counts(Ledger& ledger) {
    std::map<std::string, int64_t> out;
    for (const std::string& table : tables_of(ledger.database())) {
      if (table != "meta" && table != "migration" && !table.starts_with("entry")) {
        out[table] = count(ledger, table);
      }
    }
    return out;
  }
  static int64_t add_verdict_to(Ledger& ledger, const std::string& seed, int64_t supersedes = 0) {
    Append append(ledger, "verdict", seed);
    const int64_t row = add_verdict(append, seed, supersedes);
    append.commit();
    return row;
  }

  TemporaryFolder folder_;
  const std::string path_a_ = folder_ / "a.db";
  const std::string path_b_ = folder_ / "b.db";
  std::optional<Ledger> a_;
  std::optional<Ledger> b_;
};

TEST_F(MergeTest, BothWaysGiveTheSameHistory) {
  for (const std::string seed : {"a", "shared"}) fill_every_table(a(), seed);
  for (const std::string seed : {"shared", "b"}) fill_every_table(b(), seed);
  const std::set<std::string> of_a = ids(a());
  std::set<std::string> both = ids(b());
  both.insert(of_a.begin(), of_a.end());

  const MergeResult into_a = merge_ledger(a(), path_b_, false);
  EXPECT_EQ(into_a.bundle_id, b().id());
  EXPECT_EQ(into_a.bundle_head, b().head());
  EXPECT_TRUE(into_a.conflicts.empty());
  EXPECT_GT(into_a.artifacts, 0);
  EXPECT_EQ(ids(a()), both);
  EXPECT_EQ(findings_of(a()), "");

  merge_ledger(b(), path_a_, false);
  EXPECT_EQ(ids(b()), both);
  EXPECT_EQ(counts(b()), counts(a()));
  EXPECT_EQ(findings_of(b()), "");
}

TEST_F(MergeTest, ComesInAsOneAppendWithItsFiles) {
  fill_every_table(b());
  const int64_t entries = count(a(), "entry");
  std::set<std::string> told;
  const MergeResult result = merge_ledger(
      a(), path_b_, false, [&](const std::string& what, int64_t, int64_t) { told.insert(what); });
  EXPECT_TRUE(told.contains("artifacts"));
  EXPECT_EQ(count(a(), "entry"), entries + 1);
  EXPECT_EQ(a().database().query_text(
                "SELECT kind || ' ' || subject FROM entry ORDER BY seq DESC LIMIT 1"),
            "merge " + b().id() + "@" + b().head());
  EXPECT_EQ(counts(a()), counts(b()));
  std::map<std::string, int64_t> added(result.added.begin(), result.added.end());
  EXPECT_EQ(added, counts(b()));
  EXPECT_EQ(result.artifacts, count(b(), "artifact"));
  Statement select = b().database().prepare("SELECT sha256 FROM artifact");
  while (select.step()) {
    EXPECT_EQ(a().read_artifact(select.string(0)), b().read_artifact(select.string(0)));
  }
  EXPECT_FALSE(a().artifacts().has_incoming());
}

TEST_F(MergeTest, TwiceChangesNothing) {
  fill_every_table(a());
  fill_every_table(b(), "b");
  export_bundle(b(), folder_ / "bundle");
  EXPECT_FALSE(merge_ledger(a(), folder_ / "bundle", false).added.empty());
  const auto before = dump(a().database());
  for (const std::string& source : {folder_ / "bundle", folder_ / "bundle/ledger.db", path_b_}) {
    const MergeResult again = merge_ledger(a(), source, false);
    EXPECT_TRUE(again.added.empty()) << source;
    EXPECT_EQ(again.artifacts, 0);
  }
  // Nor does a ledger gain by merging itself.
  EXPECT_TRUE(merge_ledger(a(), path_a_, false).added.empty());
  EXPECT_EQ(dump(a().database()), before);
  EXPECT_EQ(findings_of(a()), "");
}

TEST_F(MergeTest, GoesAroundInACircle) {
  // What came from there comes back as nothing new; a third host gets all from the second.
  Ledger::init(folder_ / "c.db");
  Ledger c(folder_ / "c.db", Access::kAppend);
  fill_every_table(a(), "a");
  fill_every_table(b(), "b");
  merge_ledger(b(), path_a_, false);
  merge_ledger(c, path_b_, false);
  EXPECT_EQ(ids(c), ids(b()));
  merge_ledger(a(), folder_ / "c.db", false);
  EXPECT_EQ(ids(a()), ids(b()));
  EXPECT_EQ(counts(a()), counts(b()));
  EXPECT_EQ(findings_of(c), "");
  EXPECT_EQ(findings_of(a()), "");
}

TEST_F(MergeTest, LaterRowsComeWithALaterMerge) {
  fill_every_table(b(), "b");
  merge_ledger(a(), path_b_, false);
  fill_every_table(a(), "a");
  const int64_t tip = b().database().query_integer("SELECT max(row) FROM verdict");
  add_verdict_to(b(), "later correction", tip);
  const MergeResult result = merge_ledger(a(), path_b_, false);
  std::map<std::string, int64_t> added(result.added.begin(), result.added.end());
  EXPECT_EQ(added, (std::map<std::string, int64_t>{{"artifact", 1},
                                                   {"estimate", 1},
                                                   {"judge_round", 1},
                                                   {"sample", 2},
                                                   {"session", 2},
                                                   {"telemetry", 2},
                                                   {"verdict", 1},
                                                   {"verdict_reason", 1}}))
      << ::testing::PrintToString(added);
  EXPECT_EQ(findings_of(a()), "");
}

TEST_F(MergeTest, SessionsOfAKnownVerdictStayThoughTheirRunsAreNew) {
  // Both hosts have the verdict; only one has the report that its sessions name.
  fill_every_table(b(), "b");
  const std::string verdict = "a verdict that both have";
  add_verdict_to(b(), verdict);
  EXPECT_GT(b().database().query_integer("SELECT count(*) FROM session WHERE run IS NOT NULL"), 0);
  add_verdict_to(a(), verdict);
  const int64_t sessions = count(a(), "session");
  EXPECT_EQ(a().database().query_integer("SELECT count(*) FROM session WHERE run IS NOT NULL"), 0);
  merge_ledger(a(), path_b_, false);
  EXPECT_EQ(count(a(), "run"), 1);
  EXPECT_EQ(count(a(), "verdict"), count(b(), "verdict"));
  EXPECT_EQ(count(a(), "session"), count(b(), "session"));
  EXPECT_GT(count(a(), "session"), sessions);
  EXPECT_EQ(findings_of(a()), "");
}

TEST_F(MergeTest, WorkloadsKnownByNameOnlyAreRecognised) {
  for (Ledger* ledger : {&a(), &b()}) {
    Append append(*ledger, "test", "name");
    append.insert("workload", {{"workload_id", "known by name"}, {"config", "fast"}});
    append.commit();
  }
  EXPECT_TRUE(merge_ledger(a(), path_b_, false).added.empty());
}

TEST_F(MergeTest, ManyFilesNeedFewDescriptors) {
  {
    Append append(b(), "test", "many");
    for (int i = 0; i < 150; ++i) append.add_artifact("other", "a", std::to_string(i));
    append.commit();
  }
  EXPECT_EQ(in_child([&] {
              const rlimit limit{64, 64};
              ::setrlimit(RLIMIT_NOFILE, &limit);
              Ledger ledger(path_a_, Access::kAppend);
              return std::to_string(merge_ledger(ledger, path_b_, false).artifacts);
            }),
            "150");
  EXPECT_EQ(findings_of(a()), "");
}

// --- conflicts

class MergeConflictTest : public MergeTest {
 protected:
  /// Both have corrected the same verdict, and the other side its correction once more.
  MergeConflictTest() {
    add_verdict_to(a(), "first");
    merge_ledger(b(), path_a_, false);
    add_verdict_to(a(), "correction of a", 1);
    const int64_t corrected = add_verdict_to(b(), "correction of b", 1);
    add_verdict_to(b(), "second correction of b", corrected);
    fill_every_table(b(), "b");
  }
  static std::string id(const std::string& seed) { return digest_of("verdict " + seed); }
};

TEST_F(MergeConflictTest, IsRefused) {
  const auto before = dump(a().database());
  const auto files = files_under(a().artifacts().root());
  try {
    merge_ledger(a(), path_b_, false);
    ADD_FAILURE() << "history has forked";
  } catch (const stwo::RefusedError& e) {
    EXPECT_EQ(e.code(), "MERGE_CONFLICT");
    for (const char* seed : {"correction of a", "correction of b"}) {
      EXPECT_NE(std::string(e.what()).find(id(seed)), std::string::npos) << e.what();
    }
    EXPECT_NE(std::string(e.what()).find("--skip-conflicts"), std::string::npos);
  }
  EXPECT_EQ(dump(a().database()), before);
  EXPECT_EQ(files_under(a().artifacts().root()), files);
  EXPECT_EQ(findings_of(a()), "");
}

TEST_F(MergeConflictTest, IsLeftOutAndListedOnRequest) {
  const MergeResult result = merge_ledger(a(), path_b_, true);
  EXPECT_EQ(result.conflicts,
            (std::vector<std::string>{
                "verdict " + id("correction of b") + " and the local " + id("correction of a") +
                    " correct the same row",
                "verdict " + id("second correction of b") + " rests on a row that is left out"}));
  EXPECT_EQ(count(a(), "verdict"), 2 + 2) << "the two of the filler came along";
  EXPECT_EQ(a().database().query_integer("SELECT count(*) FROM current_verdict"), 2);
  EXPECT_EQ(count(a(), "experiment"), count(b(), "experiment"));
  EXPECT_EQ(findings_of(a()), "");
  // Still a conflict the next time, and nothing else.
  const MergeResult again = merge_ledger(a(), path_b_, true);
  EXPECT_EQ(again.conflicts, result.conflicts);
  EXPECT_TRUE(again.added.empty());
}

TEST_F(MergeConflictTest, ConcernsRecordsToo) {
  fill_every_table(a(), "b");
  // Both sides correct the decided experiment.
  for (Ledger* ledger : {&a(), &b()}) {
    const std::string tip = ledger->database().query_text("SELECT max(row) FROM experiment");
    Append append(*ledger, "experiment.correct", "x");
    std::vector<Column> columns;
    std::vector<std::string> names = columns_of(ledger->database(), "experiment");
    Statement old = ledger->database().prepare("SELECT * FROM experiment WHERE row = " + tip);
    ASSERT_TRUE(old.step());
    for (size_t c = 1; c < names.size(); ++c) {
      columns.push_back({names[c], old.value(static_cast<int>(c))});
      if (names[c] == "revision_id") columns.back().value = ulid_of(ledger->path());
      if (names[c] == "supersedes") columns.back().value = std::stoll(tip);
      if (names[c] == "correction") columns.back().value = "by " + ledger->path();
    }
    append.insert("experiment", columns);
    append.commit();
  }
  EXPECT_EQ(code_of([&] { merge_ledger(a(), path_b_, false); }), "MERGE_CONFLICT");
  const MergeResult result = merge_ledger(a(), path_b_, true);
  EXPECT_EQ(result.conflicts.size(), 3u) << ::testing::PrintToString(result.conflicts);
  EXPECT_EQ(result.conflicts.front(), "experiment " + ulid_of(path_b_) + " and the local " +
                                          ulid_of(path_a_) + " correct the same row");
  EXPECT_EQ(findings_of(a()), "");
}

// --- sources

class MergeSourceTest : public MergeTest {
 protected:
  MergeSourceTest() {
    fill_every_table(a());
    fill_every_table(b(), "b");
    export_bundle(b(), bundle_);
    before_ = dump(a().database());
    files_ = files_under(a().artifacts().root());
  }
  /// Merging is refused, names what is wrong, and stores nothing.
  void expect_refused(const std::string& source, const std::string& wrong) {
    std::string message;
    EXPECT_EQ(code_of([&] { merge_ledger(a(), source, true); }, &message), "MERGE_SOURCE")
        << message;
    EXPECT_NE(message.find(wrong), std::string::npos) << message;
    EXPECT_EQ(dump(a().database()), before_);
    EXPECT_EQ(files_under(a().artifacts().root()), files_);
  }
  /// Makes the manifest fit to a changed database.
  void sign() {
    auto manifest = nlohmann::json::parse(read_file(bundle_ + "/manifest.json"));
    manifest["database_sha256"] = file_sha256(bundle_ + "/ledger.db");
    write_file(bundle_ + "/manifest.json", manifest.dump());
  }
  std::string artifact() {
    return bundle_ + "/ledger.artifacts/" +
           b().database().query_text("SELECT relpath FROM artifact WHERE row = 3");
  }

  const std::string bundle_ = folder_ / "bundle";
  std::map<std::string, std::vector<std::string>> before_;
  std::vector<std::string> files_;
};

TEST_F(MergeSourceTest, AChangedBundleIsRefused) {
  const std::string sound = read_file(bundle_ + "/ledger.db");
  std::string changed = sound;
  changed[changed.size() / 2] = static_cast<char>(changed[changed.size() / 2] ^ 1);
  write_file(bundle_ + "/ledger.db", changed);
  expect_refused(bundle_, "ledger.db is not the one it was made with");
  write_file(bundle_ + "/ledger.db", sound.substr(0, sound.size() - 4096));
  expect_refused(bundle_, "ledger.db is not the one it was made with");
  fs::remove(bundle_ + "/ledger.db");
  expect_refused(bundle_, "has no ledger.db");
}

TEST_F(MergeSourceTest, AChangedRowIsRefusedThoughTheManifestFits) {
  Database(bundle_ + "/ledger.db", OpenMode::kReadWrite)
      .execute("DROP TRIGGER run_no_update; UPDATE run SET verified_request_ns = 1");
  sign();
  expect_refused(bundle_, "run_no_update");
  Database(bundle_ + "/ledger.db", OpenMode::kReadWrite)
      .execute(
          "CREATE TRIGGER run_no_update BEFORE update ON run BEGIN SELECT RAISE(ABORT, 'run "
          "is append-only; append a row that supersedes the old one'); END");
  sign();
  expect_refused(bundle_, "table run row 1 is not as entry");
}

TEST_F(MergeSourceTest, AChangedOrMissingFileIsRefused) {
  const std::string file = artifact();
  const std::string content = read_file(file);
  write_file(file, content + "x");
  expect_refused(bundle_, "has been changed");
  fs::remove(file);
  expect_refused(bundle_, "is gone");
}

TEST_F(MergeSourceTest, AManifestThatIsNoneIsRefused) {
  for (const char* text :
       {"", "{", "[]", "null", "7", "\"stwo_ledger_bundle_v1\"", "{\"schema\":7}",
        "{\"schema\":null,\"database_sha256\":\"\"}", "{\"schema\":\"stwo_ledger_bundle_v2\"}"}) {
    write_file(bundle_ + "/manifest.json", text);
    expect_refused(bundle_, "is no bundle");
  }
  write_file(bundle_ + "/manifest.json",
             "{\"schema\":\"stwo_ledger_bundle_v1\",\"database_sha256\":[]}");
  expect_refused(bundle_, "is not the one it was made with");
  fs::remove(bundle_ + "/manifest.json");
  expect_refused(bundle_, "is no bundle");
}

TEST_F(MergeSourceTest, ABundleOnAReadOnlyPlaceIsMerged) {
  ::chmod((bundle_ + "/ledger.db").c_str(), 0444);
  ::chmod(bundle_.c_str(), 0555);
  EXPECT_FALSE(merge_ledger(a(), bundle_, false).added.empty());
  ::chmod(bundle_.c_str(), 0755);
  EXPECT_EQ(findings_of(a()), "");
}

TEST_F(MergeSourceTest, OtherVersionsAndOtherThingsAreRefused) {
  const auto code = [&](const std::string& source) {
    return code_of([&] { merge_ledger(a(), source, false); });
  };
  init_ledger(folder_ / "old.db", newest_schema_version() - 1);
  EXPECT_EQ(code(folder_ / "old.db"), "LEDGER_OLD");
  b_.reset();
  Database(path_b_, OpenMode::kReadWrite)
      .execute("PRAGMA user_version=" + std::to_string(newest_schema_version() + 1));
  expect_refused(path_b_, "schema version");
  EXPECT_EQ(code(folder_ / "missing"), "LEDGER_MISSING");
  write_file(folder_ / "text", std::string(1000, 'x'));
  EXPECT_EQ(code(folder_ / "text"), "LEDGER_CORRUPT");
  EXPECT_EQ(dump(a().database()), before_);
}

TEST_F(MergeSourceTest, ASourceMayGrowMeanwhile) {
  int told = 0;
  const auto before = ids(b());
  merge_ledger(a(), path_b_, false, [&](const std::string&, int64_t, int64_t) {
    Append append(b(), "test", std::to_string(told));
    const int64_t file = append.add_artifact("other", "a", "later " + std::to_string(told));
    append.insert("plan", {{"plan_id", digest_of("plan " + std::to_string(told++))},
                           {"cache_key_sha256", digest_of("k")},
                           {"program_sha256", digest_of("p")},
                           {"semantic_sha256", digest_of("s")},
                           {"schedule_version", 1},
                           {"transcript_barriers", 1},
                           {"launches", 1},
                           {"artifact", file}});
    append.commit();
  });
  EXPECT_GT(told, 3);
  const auto merged = ids(a());
  EXPECT_TRUE(std::includes(merged.begin(), merged.end(), before.begin(), before.end()));
  EXPECT_EQ(findings_of(a()), "");
  merge_ledger(a(), path_b_, false);
  const auto now = ids(a());
  const auto of_b = ids(b());
  EXPECT_TRUE(std::includes(now.begin(), now.end(), of_b.begin(), of_b.end()));
}

TEST_F(MergeSourceTest, AKilledMergeHasNotHappened) {
  for (int step = 0; step < 12; ++step) {
    {
      Child child([&](int) {
        int at = 0;
        Ledger ledger(path_a_, Access::kAppend);
        merge_ledger(ledger, bundle_, false, [&](const std::string&, int64_t, int64_t) {
          if (at++ == step) ::raise(SIGKILL);
        });
      });
      child.wait();
    }
    // Opening sweeps.
    Ledger ledger(path_a_, Access::kAppend);
    ASSERT_EQ(findings_of(ledger), "");
    ASSERT_FALSE(ledger.artifacts().has_incoming());
    ASSERT_EQ(dump(ledger.database()), before_);
    ASSERT_EQ(files_under(ledger.artifacts().root()), files_);
  }
  EXPECT_FALSE(merge_ledger(a(), bundle_, false).added.empty());
}

}  // namespace
}  // namespace ledger::test

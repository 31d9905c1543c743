// What was acknowledged stays, whatever is killed when and whatever fills up.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <random>
#include <thread>

#include "ledger/schema/ledger_schema.hpp"
#include "ledger/store/check.hpp"
#include "ledger/store/copy.hpp"
#include "ledger/store/schema.hpp"
#include "tests/ledger/support/child.hpp"
#include "tests/ledger/support/full_ledger.hpp"
#include "tests/ledger/support/temporary_folder.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/random.hpp"

namespace ledger::test {
namespace {

using std::chrono::microseconds;
using stwo::test::code_of;

/// Appends number `n`: a row, and for some a file of a size that depends on `n`.
void append_numbered(Ledger& ledger, int n) {
  Append append(ledger, "test", std::to_string(n));
  append.insert("workload", {{"workload_id", std::to_string(n)}, {"config", "fast"}});
  constexpr size_t kSizes[] = {0, 1, 100, 5000, 40'000};
  if (n % 3 == 0) {
    std::string content = "file " + std::to_string(n) + " ";
    content.resize(content.size() + kSizes[static_cast<size_t>(n / 3) % std::size(kSizes)], 'x');
    append.add_artifact("other", "file", content);
  }
  // Sometimes one entry has many rows.
  for (int i = 0; n % 10 == 0 && i < 40; ++i) {
    append.insert("workload",
                  {{"workload_id", std::to_string(n)}, {"config", "of " + std::to_string(i)}});
  }
  append.commit();
}

/// Are appends 0 to `n` - 1 there, each of them whole, and nothing else?
::testing::AssertionResult holds(Ledger& ledger, int n) {
  Database& database = ledger.database();
  const int64_t entries = database.query_integer("SELECT count(*) FROM entry WHERE kind = 'test'");
  const int64_t numbers =
      database.query_integer("SELECT count(DISTINCT workload_id) FROM workload");
  const int64_t files = count_rows(database, "artifact");
  if (entries != n || numbers != n || files != (n + 2) / 3) {
    return ::testing::AssertionFailure() << entries << " entries, " << numbers << " numbers and "
                                         << files << " files after " << n << " appends";
  }
  if (ledger.artifacts().has_incoming()) {
    return ::testing::AssertionFailure() << "something lies under incoming/";
  }
  // Finds files without rows and rows without files, too.
  const std::string findings = findings_of(ledger);
  if (!findings.empty()) return ::testing::AssertionFailure() << findings;
  return ::testing::AssertionSuccess();
}

TEST(Durability, AcknowledgedAppendsSurviveAKill) {
  STWO_TRACE_SEED();
  std::mt19937_64 random(stwo::test::run_seed());
  TemporaryFolder folder;
  const std::string path = folder / "a.db";
  Ledger::init(path);
  constexpr int kAppends = 1000;
  int done = 0;  // appends that are in the ledger
  int kills = 0;
  while (done < kAppends) {
    int acknowledged = done;
    {
      Child child([&, first = done](int output) {
        Ledger ledger(path, Access::kAppend);
        for (int n = first; n < kAppends; ++n) {
          append_numbered(ledger, n);
          write_all(output, "!");
        }
      });
      // Somewhere inside an append, somewhere after it, sometimes before the first one.
      const size_t appends = random() % 60;
      acknowledged += static_cast<int>(child.read_some(appends, 20'000).size());
      std::this_thread::sleep_for(microseconds(random() % 1500));
      child.kill();
      ++kills;
      child.wait();
      acknowledged += static_cast<int>(child.read_all().size());
    }
    Ledger ledger(path, Access::kAppend);
    const auto there = static_cast<int>(
        ledger.database().query_integer("SELECT count(*) FROM entry WHERE kind = 'test'"));
    // The last one may have been committed and not yet acknowledged.
    ASSERT_GE(there, acknowledged) << "after kill " << kills;
    ASSERT_LE(there, acknowledged + 1) << "after kill " << kills;
    ASSERT_TRUE(holds(ledger, there)) << "after kill " << kills;
    done = there;
  }
  EXPECT_GE(kills, 16);
  RecordProperty("kills", kills);
}

TEST(Durability, AKilledInitLeavesALedgerOrNothing) {
  STWO_TRACE_SEED();
  std::mt19937_64 random(stwo::test::run_seed());
  for (int i = 0; i < 25; ++i) {
    TemporaryFolder folder;
    const std::string path = folder / "a.db";
    Child child([&](int) { Ledger::init(path); });
    std::this_thread::sleep_for(microseconds(random() % 15'000));
    child.kill();
    child.wait();
    if (!fs::exists(path)) Ledger::init(path);
    EXPECT_EQ(findings_of(path), "");
  }
}

class KilledMigrationTest : public ::testing::TestWithParam<int64_t> {
 protected:
  KilledMigrationTest() {
    init_ledger(old_, version());
    Ledger ledger(Ledger::AnyVersion{}, old_, {});
    fill_every_table(ledger);
    rows_ = dump(ledger.database());
  }
  static int64_t version() { return GetParam(); }

  /// The ledger after a killed migration is whole, at the old version or at the new one; and can be
  /// brought to the new one. Returns whether it was at the new one.
  bool expect_whole(const std::string& path) {
    bool migrated = false;
    for (const char* time : {"after the kill", "after another migration"}) {
      Ledger ledger(Ledger::AnyVersion{}, path, {});
      const int64_t found = ledger.schema_version();
      EXPECT_TRUE(found == version() || found == newest_schema_version()) << found;
      EXPECT_EQ(findings_of(ledger), "") << time;
      auto rows = dump(ledger.database());
      for (const auto& [table, old] : rows_) {
        std::vector<std::string>& now = rows[table];
        if (found == version()) {
          EXPECT_EQ(now, old) << table << " " << time;
        }
        now.resize(std::min(old.size(), now.size()));
        EXPECT_EQ(now, old) << table << " " << time;
      }
      if (time == std::string("after the kill")) {
        migrated = found == newest_schema_version();
        EXPECT_EQ(migrate_ledger(path, {}).to, newest_schema_version());
      } else {
        EXPECT_EQ(found, newest_schema_version());
      }
    }
    return migrated;
  }

  /// Backups that a migration has named are complete.
  static void expect_sound_backups(const std::string& folder) {
    for (const std::string& file : files_under(folder)) {
      if (!file.ends_with(".backup")) continue;
      Database backup(folder + "/" + file, OpenMode::kReadOnly);
      EXPECT_EQ(backup.query_integer("PRAGMA user_version"), version()) << file;
      EXPECT_EQ(backup.query_text("PRAGMA integrity_check"), "ok") << file;
    }
  }

  TemporaryFolder folder_;
  const std::string old_ = folder_ / "old.db";
  std::map<std::string, std::vector<std::string>> rows_;
};

TEST_P(KilledMigrationTest, AtEveryStep) {
  // backup, one per file, check, commit, done.
  const auto steps = static_cast<int>(newest_schema_version() - version()) + 4;
  for (int step = 0; step < steps; ++step) {
    SCOPED_TRACE("killed at step " + std::to_string(step));
    TemporaryFolder folder;
    const std::string path = folder / "a.db";
    copy_files(old_, path);
    Child child([&](int output) {
      int at = 0;
      migrate_ledger(path, {}, [&](const std::string&) {
        if (at++ == step) ::raise(SIGKILL);
      });
      write_all(output, "not killed");
    });
    EXPECT_EQ(child.read_all(), "");
    EXPECT_FALSE(child.wait());
    expect_sound_backups(folder.path());
    EXPECT_EQ(expect_whole(path), step == steps - 1);
  }
}

TEST_P(KilledMigrationTest, AtRandomTimes) {
  STWO_TRACE_SEED();
  std::mt19937_64 random(stwo::test::run_seed());
  for (int i = 0; i < 3; ++i) {
    TemporaryFolder folder;
    const std::string path = folder / "a.db";
    copy_files(old_, path);
    Child child([&](int) { migrate_ledger(path, {}); });
    std::this_thread::sleep_for(microseconds(random() % 20'000));
    child.kill();
    child.wait();
    expect_sound_backups(folder.path());
    expect_whole(path);
  }
}

INSTANTIATE_TEST_SUITE_P(Version, KilledMigrationTest,
                         ::testing::Range(int64_t{1}, newest_schema_version()),
                         [](const auto& version) { return std::to_string(version.param); });

// --- no space, no permission

/// Is this one of the codes of a full disk or one that fails?
bool is_full(const std::string& text) {
  return text.starts_with("LEDGER_FULL ") || text.starts_with("LEDGER_IO ");
}

/// An append whose file and whose rows are large.
std::string append_much(const std::string& path, size_t file_bytes, int rows) {
  Ledger ledger(path, Access::kAppend);
  Append append(ledger, "test", "much");
  append.add_artifact("other", "large", std::string(file_bytes, 'y'));
  for (int i = 0; i < rows; ++i) {
    append.insert("workload", {{"workload_id", std::string(1000, 'w')},
                               {"config", "much " + std::to_string(i)}});
  }
  append.commit();
  return "stored";
}

TEST(FullDisk, ALimitOnFilesStoresAllOrNothing) {
  TemporaryFolder folder;
  const std::string sample = folder / "sample.db";
  Ledger::init(sample);
  {
    Ledger ledger(sample, Access::kAppend);
    fill_every_table(ledger);
  }
  const auto database_bytes = fs::file_size(sample);
  struct Case {
    uint64_t limit;
    size_t file_bytes;
    int rows;
  };
  int failed = 0;
  int stored = 0;
  int number = 0;
  std::set<std::string> failures;
  // From a limit that nothing can be done under to one that is never met. First the file is what
  // grows, then the write-ahead log, then both.
  for (const uint64_t limit : {uint64_t{0}, uint64_t{1000}, uint64_t{40 << 10}, uint64_t{100 << 10},
                               database_bytes + 4096, uint64_t{1 << 20}, uint64_t{8 << 20}}) {
    for (const Case& c : {Case{limit, 300'000, 1}, Case{limit, 10, 600}, Case{limit, 50'000, 50},
                          Case{limit, 0, 1}}) {
      SCOPED_TRACE("limit " + std::to_string(c.limit) + ", file " + std::to_string(c.file_bytes) +
                   ", rows " + std::to_string(c.rows));
      const std::string path = folder / (std::to_string(number++) + ".db");
      copy_files(sample, path);
      const auto before = dump(Ledger(path, Access::kRead).database());
      const auto files_before = files_under(artifact_folder(path));
      const std::string result = in_child([&] {
        // Without this the limit is a signal.
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit files{c.limit, c.limit};
        ::setrlimit(RLIMIT_FSIZE, &files);
        return append_much(path, c.file_bytes, c.rows);
      });
      if (result == "stored") {
        ++stored;
      } else {
        ++failed;
        failures.insert(result.substr(0, result.find(' ')));
        EXPECT_TRUE(is_full(result)) << result;
        // Its own process has cleaned up.
        EXPECT_EQ(files_under(artifact_folder(path)), files_before);
        EXPECT_EQ(dump(Ledger(path, Access::kRead).database()), before);
      }
      Ledger ledger(path, Access::kAppend);
      EXPECT_EQ(findings_of(ledger), "");
      append_numbered(ledger, 0);
      EXPECT_EQ(findings_of(ledger), "");
      EXPECT_FALSE(ledger.artifacts().has_incoming());
    }
  }
  EXPECT_GE(failed, 10);
  EXPECT_GE(stored, 6);
  EXPECT_EQ(failures, (std::set<std::string>{"LEDGER_FULL", "LEDGER_IO"}))
      << "files as well as databases should have met the limit";
}

/// Runs `work` where it may mount; "skip ..." if it may not.
std::string with_mounts(const std::function<std::string()>& work) {
  return in_child([&]() -> std::string {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
      return std::string("skip: no mounts of our own: ") + std::strerror(errno);
    }
    return work();
  });
}

TEST(FullDisk, ADiskThatIsReallyFullStoresAllOrNothing) {
  TemporaryFolder folder;
  const std::string result = with_mounts([&]() -> std::string {
    if (::mount("none", folder.path().c_str(), "tmpfs", 0, "size=4m") != 0) {
      return std::string("skip: no tmpfs: ") + std::strerror(errno);
    }
    const std::string path = folder / "a.db";
    Ledger::init(path);
    {
      Ledger ledger(path, Access::kAppend);
      fill_every_table(ledger);
    }
    int full = 0;
    // First what is stored does not fit, then the disk leaves ever less room.
    for (int round = 0; round < 12; ++round) {
      const auto space = fs::space(folder.path()).available;
      const uint64_t room = uint64_t{600'000} >> round;
      if (round != 0 && space > room) {
        std::ofstream(folder / ("filler" + std::to_string(round)))
            << std::string(space - room, 'f') << std::flush;
      }
      std::map<std::string, std::vector<std::string>> before;
      const auto files = files_under(artifact_folder(path));
      try {
        before = dump(Ledger(path, Access::kRead).database());
      } catch (const stwo::Error& e) {
        // Reading needs some room for the index of the log.
        if (!is_full(e.code() + " ")) return std::string("reading: ") + e.what();
        continue;
      }
      try {
        append_much(path, round % 2 == 0 ? 5'000'000 : 1000, round % 2 == 0 ? 1 : 800);
      } catch (const stwo::Error& e) {
        if (!is_full(e.code() + " ")) return e.code() + ": " + e.what();
        ++full;
        if (files_under(artifact_folder(path)) != files) return "files were left behind";
        if (dump(Ledger(path, Access::kRead).database()) != before) return "something was stored";
      }
    }
    for (int round = 1; round < 12; ++round) {
      fs::remove(folder / ("filler" + std::to_string(round)));
    }
    Ledger ledger(path, Access::kAppend);
    append_numbered(ledger, 0);
    if (const std::string findings = findings_of(ledger); !findings.empty()) return findings;
    if (ledger.artifacts().has_incoming()) return "something lies under incoming/";
    return full >= 6 ? "well" : "the disk was full only " + std::to_string(full) + " times";
  });
  if (result.starts_with("skip")) GTEST_SKIP() << result;
  EXPECT_EQ(result, "well");
}

/// Reads all, and is refused when it appends.
std::string read_only_results(const std::string& path, size_t runs) {
  Ledger reader(path, Access::kRead);
  if (dump(reader.database()).at("run").size() != runs) return "rows are missing";
  if (const std::string findings = findings_of(reader); !findings.empty()) return findings;
  for (const auto& append :
       {std::function<void()>([&] { Ledger(path, Access::kAppend); }),
        std::function<void()>([&] { Append(reader, "t", "t").add_artifact("other", "a", "new"); }),
        std::function<void()>([&] { migrate_ledger(path, {}); })}) {
    std::string message;
    const std::string code = code_of(append, &message);
    if (code != "LEDGER_READ_ONLY") return code + ": " + message;
  }
  return "well";
}

class ReadOnlyTest : public ::testing::Test {
 protected:
  ReadOnlyTest() {
    Ledger::init(path_);
    Ledger ledger(path_, Access::kAppend);
    fill_every_table(ledger);
  }
  TemporaryFolder folder_;
  const std::string path_ = folder_ / "a.db";
};

TEST_F(ReadOnlyTest, AFileSystemThatCannotBeWritten) {
  const std::string result = with_mounts([&]() -> std::string {
    const char* at = folder_.path().c_str();
    if (::mount(at, at, nullptr, MS_BIND, nullptr) != 0 ||
        ::mount(at, at, nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0) {
      return std::string("skip: no read-only mount: ") + std::strerror(errno);
    }
    return read_only_results(path_, 1);
  });
  if (result.starts_with("skip")) GTEST_SKIP() << result;
  EXPECT_EQ(result, "well");
  EXPECT_EQ(findings_of(path_), "");
}

TEST_F(ReadOnlyTest, AFolderThatCannotBeWritten) {
  const std::string result = in_child([&]() -> std::string {
    // The superuser may write everywhere: become nobody.
    if (::geteuid() == 0) {
      ::chmod(folder_.path().c_str(), 0755);
      if (::setgid(65534) != 0 || ::setuid(65534) != 0) return "skip: cannot become nobody";
    } else {
      ::chmod(folder_.path().c_str(), 0555);
    }
    return read_only_results(path_, 1);
  });
  ::chmod(folder_.path().c_str(), 0755);
  if (result.starts_with("skip")) GTEST_SKIP() << result;
  EXPECT_EQ(result, "well");
}

TEST_F(ReadOnlyTest, WithALogThatNobodyHasClosed) {
  // A killed writer leaves its log behind. It holds acknowledged rows, and only who may write can
  // bring them in: an answer without them would be wrong.
  {
    Child child([&](int output) {
      Ledger ledger(path_, Access::kAppend);
      append_numbered(ledger, 0);
      write_all(output, "!");
      ::pause();
    });
    ASSERT_EQ(child.read_some(1, 10'000), "!");
  }
  ASSERT_TRUE(fs::exists(path_ + "-wal"));
  fs::remove(path_ + "-shm");
  const std::string result = with_mounts([&]() -> std::string {
    const char* at = folder_.path().c_str();
    if (::mount(at, at, nullptr, MS_BIND, nullptr) != 0 ||
        ::mount(at, at, nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0) {
      return std::string("skip: no read-only mount: ") + std::strerror(errno);
    }
    std::string message;
    const std::string code =
        code_of([&] { count_rows(Ledger(path_, Access::kRead).database(), "workload"); }, &message);
    return code == "LEDGER_OPEN" || code == "LEDGER_READ_ONLY" ? "refused" : code + ": " + message;
  });
  Ledger ledger(path_, Access::kRead);
  EXPECT_EQ(ledger.database().query_integer("SELECT count(*) FROM entry WHERE kind = 'test'"), 1);
  EXPECT_EQ(findings_of(ledger), "");
  if (result.starts_with("skip")) GTEST_SKIP() << result;
  EXPECT_EQ(result, "refused");
}

}  // namespace
}  // namespace ledger::test

// Backups and bundles.
#include "ledger/store/copy.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "ledger/store/check.hpp"
#include "tests/ledger/support/child.hpp"
#include "tests/ledger/support/full_ledger.hpp"
#include "tests/ledger/support/temporary_folder.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/random.hpp"

namespace ledger::test {
namespace {

using stwo::test::code_of;

struct Stopped {};

class CopyTest : public ::testing::Test {
 protected:
  CopyTest() {
    Ledger::init(path_);
    ledger_.emplace(path_, Access::kAppend);
    fill_every_table(*ledger_);
  }
  Ledger& ledger() { return *ledger_; }
  /// Names in the folder, without those of the ledger itself.
  std::vector<std::string> others() const {
    std::vector<std::string> out;
    for (const auto& item : fs::directory_iterator(folder_.path())) {
      const std::string name = item.path().filename();
      if (!name.starts_with("a.")) out.push_back(name);
    }
    std::sort(out.begin(), out.end());
    return out;
  }
  int64_t artifacts() { return count_rows(ledger().database(), "artifact"); }
  std::string some_artifact() {
    return ledger().artifact_path(
        ledger().database().query_text("SELECT sha256 FROM artifact WHERE row = 3"));
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / "a.db";
  std::optional<Ledger> ledger_;
};

TEST_F(CopyTest, ABackupIsALedgerOfItsOwn) {
  const std::string path = folder_ / "b.db";
  std::set<std::string> told;
  const CopyResult result =
      backup_ledger(ledger(), path, [&](const std::string& what, int64_t done, int64_t total) {
        told.insert(what);
        EXPECT_LE(done, total);
      });
  EXPECT_EQ(told, (std::set<std::string>{"artifacts", "database"}));
  EXPECT_EQ(result.head, ledger().head());
  EXPECT_EQ(result.entries, count_rows(ledger().database(), "entry"));
  EXPECT_EQ(result.artifacts, artifacts());
  EXPECT_EQ(
      result.artifact_bytes,
      static_cast<uint64_t>(ledger().database().query_integer("SELECT sum(bytes) FROM artifact")));
  EXPECT_EQ(others(), (std::vector<std::string>{"b.artifacts", "b.db"}));
  {
    Ledger copy(path, Access::kAppend);
    EXPECT_EQ(findings_of(copy), "");
    EXPECT_EQ(dump(copy.database()), dump(ledger().database()));
    EXPECT_EQ(copy.id(), ledger().id());
    // It goes on for itself.
    fill_every_table(copy, "b");
    EXPECT_EQ(findings_of(copy), "");
  }
  EXPECT_EQ(findings_of(ledger()), "");
}

TEST_F(CopyTest, ALedgerWithoutFilesHasABackupWithoutFiles) {
  Ledger::init(folder_ / "empty.db");
  Ledger empty(folder_ / "empty.db", Access::kRead);
  backup_ledger(empty, folder_ / "b.db");
  EXPECT_EQ(findings_of(folder_ / "b.db"), "");
  export_bundle(empty, folder_ / "bundle");
  EXPECT_EQ(findings_of(folder_ / "bundle/ledger.db"), "");
}

TEST_F(CopyTest, ABundleIsAFolderWithEverything) {
  const std::string path = folder_ / "bundle";
  const CopyResult result = export_bundle(ledger(), path + "/");
  EXPECT_EQ(others(), std::vector<std::string>{"bundle"});
  std::set<std::string> parts;
  for (const auto& item : fs::directory_iterator(path)) parts.insert(item.path().filename());
  EXPECT_EQ(parts, (std::set<std::string>{"ledger.artifacts", "ledger.db", "manifest.json"}));
  const auto manifest = nlohmann::json::parse(read_file(path + "/manifest.json"));
  EXPECT_EQ(manifest.at("schema"), kBundleSchema);
  EXPECT_EQ(manifest.at("ledger_id"), ledger().id());
  EXPECT_EQ(manifest.at("schema_version"), ledger().schema_version());
  EXPECT_EQ(manifest.at("head_sha256"), ledger().head());
  EXPECT_EQ(manifest.at("entries"), result.entries);
  EXPECT_EQ(manifest.at("artifacts"), artifacts());
  EXPECT_EQ(manifest.at("artifact_bytes"), result.artifact_bytes);
  EXPECT_EQ(manifest.at("database_sha256"), file_sha256(path + "/ledger.db"));
  EXPECT_EQ(manifest.at("tool_version"), tool_version());
  Ledger copy(path + "/ledger.db", Access::kRead);
  EXPECT_EQ(findings_of(copy), "");
  EXPECT_EQ(dump(copy.database()), dump(ledger().database()));
  // Reading leaves a bundle as it is: no log, no index.
  EXPECT_EQ(manifest.at("database_sha256"), file_sha256(path + "/ledger.db"));
  EXPECT_EQ(fs::exists(path + "/ledger.db-wal"), false);
}

TEST_F(CopyTest, NothingIsReplaced) {
  write_file(folder_ / "file.db", "content");
  fs::create_directories(folder_ / "folder");
  fs::create_directories(folder_ / "c.artifacts");
  fs::create_symlink(folder_ / "nowhere", folder_ / "link.db");
  const auto before = others();
  const auto backup = [&](const std::string& name) {
    return code_of([&] { backup_ledger(ledger(), folder_ / name); });
  };
  const auto bundle = [&](const std::string& name) {
    return code_of([&] { export_bundle(ledger(), folder_ / name); });
  };
  for (const std::string name : {"file.db", "folder", "link.db", "a.db"}) {
    EXPECT_EQ(backup(name), "OUTPUT_EXISTS") << name;
    EXPECT_EQ(bundle(name), "OUTPUT_EXISTS") << name;
  }
  EXPECT_EQ(backup("c.db"), "OUTPUT_EXISTS") << "its folder of artifacts is there";
  EXPECT_EQ(backup("missing/b.db"), "OUTPUT_DIRECTORY");
  EXPECT_EQ(bundle("missing/b"), "OUTPUT_DIRECTORY");
  EXPECT_EQ(code_of([&] { backup_ledger(ledger(), ""); }), "OUTPUT_NAME");
  EXPECT_EQ(code_of([&] { export_bundle(ledger(), ""); }), "OUTPUT_NAME");
  EXPECT_EQ(others(), before);
  EXPECT_EQ(read_file(folder_ / "file.db"), "content");
}

TEST_F(CopyTest, OfTwoAtOnceOneIsMade) {
  for (const bool as_bundle : {false, true}) {
    const std::string path = folder_ / (as_bundle ? "bundle" : "b.db");
    const auto work = [&](int output) {
      Ledger reader(path_, Access::kRead);
      as_bundle ? export_bundle(reader, path) : backup_ledger(reader, path);
      write_all(output, "made");
    };
    int made = 0;
    {
      Child one(work);
      Child two(work);
      for (Child* child : {&one, &two}) {
        const std::string out = child->read_all();
        if (out == "made") {
          ++made;
        } else {
          // The folder that a bundle is built in is taken, too, while it is.
          EXPECT_TRUE(out.starts_with("OUTPUT_EXISTS") || out.starts_with("LEDGER_IO")) << out;
        }
      }
    }
    EXPECT_EQ(made, 1);
    EXPECT_EQ(findings_of(as_bundle ? path + "/ledger.db" : path), "");
  }
}

TEST_F(CopyTest, ABrokenArtifactStopsTheCopyAndLeavesNothing) {
  const std::string file = some_artifact();
  const std::string content = read_file(file);
  const auto copies = [&] {
    return code_of([&] { backup_ledger(ledger(), folder_ / "b.db"); }) + " " +
           code_of([&] { export_bundle(ledger(), folder_ / "bundle"); });
  };
  write_file(file, content + "x");
  EXPECT_EQ(copies(), "ARTIFACT_CHANGED ARTIFACT_CHANGED");
  fs::remove(file);
  EXPECT_EQ(copies(), "ARTIFACT_MISSING ARTIFACT_MISSING");
  EXPECT_TRUE(others().empty());
}

TEST_F(CopyTest, WhatIsStoppedLeavesNothing) {
  for (const std::string stop : {"database", "artifacts"}) {
    const CopyObserver observe = [&](const std::string& what, int64_t done, int64_t total) {
      if (what == stop && (stop == "database" || done > total / 2)) throw Stopped();
    };
    EXPECT_THROW(backup_ledger(ledger(), folder_ / "b.db", observe), Stopped);
    EXPECT_THROW(export_bundle(ledger(), folder_ / "bundle", observe), Stopped);
    EXPECT_TRUE(others().empty());
  }
  EXPECT_FALSE(ledger().database().in_transaction());
}

TEST_F(CopyTest, WhatIsKilledLeavesNoCopyThatLooksWhole) {
  STWO_TRACE_SEED();
  std::mt19937_64 random(stwo::test::run_seed());
  for (int i = 0; i < 20; ++i) {
    const bool as_bundle = i % 2 == 1;
    const std::string path = folder_ / (as_bundle ? "bundle" : "b.db");
    {
      Child child([&](int) {
        Ledger reader(path_, Access::kRead);
        as_bundle ? export_bundle(reader, path) : backup_ledger(reader, path);
      });
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 12'000));
    }
    if (fs::exists(path)) {
      EXPECT_EQ(findings_of(as_bundle ? path + "/ledger.db" : path), "");
    }
    for (const std::string& name : others()) {
      EXPECT_TRUE(name.starts_with("bundle") || name.starts_with("b.")) << name;
      fs::remove_all(folder_ / name);
    }
  }
}

TEST_F(CopyTest, AnInterruptedBundleIsNamedPartialAndInTheWay) {
  {
    Child child([&](int) {
      Ledger reader(path_, Access::kRead);
      export_bundle(reader, folder_ / "bundle", [](const std::string& what, int64_t, int64_t) {
        if (what == "artifacts") ::raise(SIGKILL);
      });
    });
    child.wait();
  }
  EXPECT_EQ(others(), std::vector<std::string>{"bundle.partial"});
  std::string message;
  EXPECT_EQ(code_of([&] { export_bundle(ledger(), folder_ / "bundle"); }, &message),
            "OUTPUT_EXISTS");
  EXPECT_NE(message.find("bundle.partial"), std::string::npos) << message;
  fs::remove_all(folder_ / "bundle.partial");
  export_bundle(ledger(), folder_ / "bundle");
  EXPECT_EQ(findings_of(folder_ / "bundle/ledger.db"), "");
}

TEST_F(CopyTest, WritersGoOnMeanwhile) {
  int told = 0;
  Ledger writer(path_, Access::kAppend);
  const int64_t entries = count_rows(writer.database(), "entry");
  const CopyResult result =
      backup_ledger(ledger(), folder_ / "b.db", [&](const std::string&, int64_t, int64_t) {
        Append append(writer, "test", std::to_string(told));
        append.add_artifact("other", "a", "while copying " + std::to_string(told++));
        append.commit();
      });
  EXPECT_EQ(result.entries, entries);
  EXPECT_GT(told, 3);
  EXPECT_EQ(count_rows(writer.database(), "entry"), entries + told);
  EXPECT_EQ(findings_of(folder_ / "b.db"), "");
  EXPECT_EQ(findings_of(ledger()), "");
}

}  // namespace
}  // namespace ledger::test

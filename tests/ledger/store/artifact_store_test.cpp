#include "ledger/store/artifact_store.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <vector>

#include "ledger/store/ledger.hpp"
#include "prover/hash/sha256.hpp"
#include "tests/ledger/support/child.hpp"
#include "tests/ledger/support/full_ledger.hpp"
#include "tests/ledger/support/temporary_folder.hpp"
#include "tests/support/errors.hpp"

namespace ledger::test {
namespace {

using stwo::test::code_of;

class ArtifactStoreTest : public ::testing::Test {
 protected:
  std::string place(const std::string& content) const {
    return store_.path(stwo::sha256_hex(content));
  }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    store_.for_each([&](const std::string& name) { out.push_back(name); });
    return out;
  }

  TemporaryFolder folder_;
  ArtifactStore store_{folder_ / "a.artifacts"};
};

TEST_F(ArtifactStoreTest, KeepsWhatIsPublishedAndKept) {
  for (const std::string& content : {std::string(), std::string("text"), std::string("a\0b", 3),
                                     std::string((size_t{3} << 20) + 1, 'x')}) {
    auto incoming = store_.receive(content);
    EXPECT_EQ(incoming.sha256(), stwo::sha256_hex(content));
    EXPECT_EQ(incoming.bytes(), content.size());
    EXPECT_EQ(read_file(incoming.path()), content);
    EXPECT_FALSE(fs::exists(place(content)));
    incoming.publish();
    incoming.keep();
    EXPECT_EQ(read_file(place(content)), content);
    struct stat info {};
    ASSERT_EQ(::stat(place(content).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0444u);
  }
  EXPECT_FALSE(store_.has_incoming());
  EXPECT_EQ(names().size(), 4u);
}

TEST_F(ArtifactStoreTest, PlacesFilesByTheirDigest) {
  const std::string digest = stwo::sha256_hex("text");
  EXPECT_EQ(artifact_relpath(digest), digest.substr(0, 2) + "/" + digest.substr(2));
  EXPECT_EQ(store_.path(digest), store_.root() + "/" + artifact_relpath(digest));
  // Never a path out of the store.
  for (const std::string& text :
       {std::string(), std::string("a"), "../" + digest.substr(3), digest.substr(1), digest + "0",
        std::string(64, 'A'), std::string(63, 'a') + "/"}) {
    EXPECT_FALSE(is_digest(text)) << text;
    EXPECT_EQ(code_of([&] { store_.path(text); }), "LEDGER_CORRUPT") << text;
  }
}

TEST_F(ArtifactStoreTest, WhatIsNotKeptDisappears) {
  { const auto incoming = store_.receive("never published"); }
  {
    auto incoming = store_.receive("published, and the append fails");
    incoming.publish();
    EXPECT_TRUE(fs::exists(place("published, and the append fails")));
  }
  {
    auto incoming = store_.receive("moved");
    std::vector<ArtifactStore::Incoming> files;
    files.push_back(std::move(incoming));
    files.back().publish();
  }
  EXPECT_FALSE(store_.has_incoming());
  EXPECT_TRUE(names().empty());
}

TEST_F(ArtifactStoreTest, AnotherAppendsFileSurvivesAFailedOne) {
  // The failed append gives up its lock before its files; another one may be there already.
  auto failed = std::make_optional(store_.receive("same content"));
  failed->publish();
  {
    auto other = store_.receive("same content");
    other.publish();
    other.keep();
  }
  failed.reset();
  EXPECT_EQ(read_file(place("same content")), "same content");
  EXPECT_FALSE(store_.has_incoming());
}

TEST_F(ArtifactStoreTest, ReceivesFilesAndRefusesWhatCannotBeRead) {
  write_file(folder_ / "source", std::string(3'000'000, 'y'));
  {
    auto incoming = store_.receive_file(folder_ / "source");
    EXPECT_EQ(incoming.bytes(), 3'000'000u);
    EXPECT_EQ(incoming.sha256(), file_sha256(folder_ / "source"));
  }
  std::string message;
  EXPECT_EQ(code_of([&] { store_.receive_file(folder_ / "missing"); }, &message),
            "ARTIFACT_SOURCE");
  EXPECT_NE(message.find(folder_ / "missing"), std::string::npos);
  EXPECT_EQ(code_of([&] { store_.receive_file(folder_.path()); }, &message), "ARTIFACT_SOURCE");
  EXPECT_NE(message.find(folder_.path() + ":"), std::string::npos) << message;
  EXPECT_FALSE(store_.has_incoming());
  EXPECT_EQ(code_of([&] { file_sha256(folder_ / "missing"); }), "ARTIFACT_MISSING");
}

TEST_F(ArtifactStoreTest, ManyFilesAtOnceNeedFewDescriptors) {
  const std::string result = in_child([&] {
    const rlimit limit{32, 32};
    ::setrlimit(RLIMIT_NOFILE, &limit);
    std::vector<ArtifactStore::Incoming> files;
    for (int i = 0; i < 100; ++i) files.push_back(store_.receive(std::to_string(i)));
    for (auto& file : files) file.publish();
    for (auto& file : files) file.keep();
    return std::string("done");
  });
  EXPECT_EQ(result, "done");
  EXPECT_EQ(names().size(), 100u);
}

TEST_F(ArtifactStoreTest, SweepsWhatKilledAppendsHaveLeft) {
  Child child([&](int output) {
    auto received = store_.receive("received");
    auto published = store_.receive("published");
    published.publish();
    auto committed = store_.receive("committed");
    committed.publish();
    write_file(store_.root() + "/incoming/new.1.1", "half");
    write_all(output, "k");
    ::pause();
  });
  ASSERT_EQ(child.read_some(1, 10'000), "k");
  const auto has_row = [](const std::string& sha256) {
    return sha256 == stwo::sha256_hex("committed");
  };
  // Its lock keeps sweepers away as long as it lives.
  EXPECT_FALSE(store_.sweep(has_row));
  EXPECT_TRUE(store_.has_incoming());
  EXPECT_TRUE(store_.is_incoming(stwo::sha256_hex("received")));
  EXPECT_FALSE(store_.is_incoming(stwo::sha256_hex("other")));
  child.kill();
  child.wait();
  EXPECT_TRUE(store_.sweep(has_row));
  EXPECT_FALSE(store_.has_incoming());
  EXPECT_EQ(names(), std::vector<std::string>{stwo::sha256_hex("committed")});
}

TEST_F(ArtifactStoreTest, AFileWithoutARowGivesWayToANewOne) {
  // Left behind where it should be, without its name under incoming/.
  fs::create_directories(fs::path(place("text")).parent_path());
  write_file(place("text"), "something else");
  auto incoming = store_.receive("text");
  incoming.publish();
  incoming.keep();
  EXPECT_EQ(read_file(place("text")), "text");
}

TEST_F(ArtifactStoreTest, TheNameOfAnotherProcessIsLeftAlone) {
  // A process of another container may have our number, and be writing.
  const std::string prefix = store_.root() + "/incoming/new." + std::to_string(::getpid()) + ".";
  { const auto incoming = store_.receive("makes the folders"); }
  for (int i = 0; i < 300; ++i) write_file(prefix + std::to_string(i), "of another");
  { const auto incoming = store_.receive("mine"); }
  EXPECT_EQ(files_under(store_.root() + "/incoming").size(), 300u);
}

TEST_F(ArtifactStoreTest, NothingToSweepIsNoError) {
  EXPECT_TRUE(store_.sweep([](const std::string&) { return false; }));
  EXPECT_FALSE(store_.has_incoming());
  EXPECT_FALSE(fs::exists(store_.root())) << "looking makes no folders";
  EXPECT_TRUE(names().empty());
}

TEST_F(ArtifactStoreTest, ListsWhatDoesNotBelong) {
  {
    auto incoming = store_.receive("text");
    incoming.publish();
    incoming.keep();
  }
  write_file(store_.root() + "/stray", "x");
  write_file(store_.root() + "/" + stwo::sha256_hex("text").substr(0, 2) + "/stray", "x");
  std::vector<std::string> found = names();
  std::sort(found.begin(), found.end());
  std::vector<std::string> expected = {"stray", stwo::sha256_hex("text").substr(0, 2) + "/stray",
                                       stwo::sha256_hex("text")};
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(found, expected);
}

TEST(ArtifactFolder, LiesBesideTheDatabase) {
  EXPECT_EQ(artifact_folder("a/history.db"), "a/history.artifacts");
  EXPECT_EQ(artifact_folder("a/history"), "a/history.artifacts");
  EXPECT_EQ(artifact_folder("a.db/.db"), "a.db/.artifacts");
  EXPECT_EQ(artifact_folder("x.sqlite"), "x.sqlite.artifacts");
}

}  // namespace
}  // namespace ledger::test

#include "prof/ingest/external_sorter.hpp"

#include <random>

#include "tests/ledger/trace/trace_files.hpp"

namespace prof {
namespace {

using ledger::test::TemporaryFolder;

struct Numbered {
  uint32_t key;
  uint32_t ordinal;
  bool operator<(const Numbered& o) const { return key < o.key; }
};

TEST(ExternalSorter, SortsInMemoryAndOnDiskAlike) {
  const TemporaryFolder folder;
  std::mt19937 random(7);
  for (const size_t memory : {size_t{1} << 20, size_t{800}, size_t{1}}) {
    ExternalSorter<Numbered> sorter(folder.file(""), memory);
    std::vector<Numbered> expected;
    for (uint32_t i = 0; i < 1000; ++i) {
      expected.push_back({static_cast<uint32_t>(random() % 50), i});
      sorter.add(expected.back());
    }
    EXPECT_EQ(sorter.count(), 1000U);
    std::stable_sort(expected.begin(), expected.end());
    Numbered value{};
    for (const Numbered& e : expected) {
      ASSERT_TRUE(sorter.next(value));
      EXPECT_EQ(value.key, e.key);
      EXPECT_EQ(value.ordinal, e.ordinal);
    }
    EXPECT_FALSE(sorter.next(value));
    EXPECT_FALSE(sorter.next(value));
  }
  // Scratch files have no name.
  EXPECT_TRUE(folder.names().empty());
}

TEST(ExternalSorter, NothingIsNothing) {
  const TemporaryFolder folder;
  ExternalSorter<uint64_t> sorter(folder.file(""), 64);
  uint64_t value = 0;
  EXPECT_FALSE(sorter.next(value));
}

TEST(ExternalSorter, AFolderThatIsNotThereIsAnError) {
  ExternalSorter<uint64_t> sorter("/nowhere/at/all", sizeof(uint64_t));
  sorter.add(1);
  const auto failure = ledger::test::failure_of([&] { sorter.add(2); });
  EXPECT_EQ(failure.code, "SCRATCH");
  EXPECT_NE(failure.message.find("/nowhere/at/all"), std::string::npos);
}

TEST(ExternalSorter, TakesNothingAfterTheFirstWasRead) {
  const TemporaryFolder folder;
  ExternalSorter<uint64_t> sorter(folder.file(""), 64);
  uint64_t value = 0;
  sorter.next(value);
  EXPECT_EQ(ledger::test::code_of([&] { sorter.add(1); }), "CONTRACT");
}

}  // namespace
}  // namespace prof

// The records of this repository: readable, canonical, and a ledger takes them.

#include <algorithm>
#include <set>

#include "ledger/records/record_files.hpp"
#include "tests/ledger/records/records_fixture.hpp"

namespace ledger {
namespace {

std::vector<std::string> experiment_folders() {
  std::vector<std::string> out;
  for (const auto& entry : test::fs::directory_iterator(STWO_TEST_SOURCE_DIR "/experiments")) {
    if (entry.is_directory()) out.push_back(entry.path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(Experiments, EveryFolderHasItsRecord) {
  const std::vector<std::string> folders = experiment_folders();
  ASSERT_FALSE(folders.empty());
  std::set<std::string> ids;
  std::set<std::string> slugs;
  for (const std::string& folder : folders) {
    SCOPED_TRACE(folder);
    const std::string path = folder + "/record.md";
    ASSERT_TRUE(test::fs::exists(path));
    const std::string text = read_file(path);
    const Record record = parse_record(text, path);
    EXPECT_EQ(record_folder(record), test::fs::path(folder).filename().string());
    EXPECT_EQ(print_record(record), text) << "not as `ledger experiment export` would write it";
    EXPECT_TRUE(ids.insert(record.id).second);
    EXPECT_TRUE(slugs.insert(record.slug).second);
  }
}

TEST_F(RecordsTest, TakesTheExperimentsOfTheRepository) {
  size_t n = 0;
  for (const std::string& folder : experiment_folders()) {
    SCOPED_TRACE(folder);
    const ImportResult result = import_record(ledger(), folder);
    EXPECT_EQ(result.outcome, ImportResult::Outcome::kAdded);
    EXPECT_EQ(import_record(ledger(), folder).outcome, ImportResult::Outcome::kUnchanged);
    EXPECT_EQ(print_record(load_record(ledger(), result.kind, result.id)),
              read_file(folder + "/record.md"));
    ++n;
  }
  EXPECT_EQ(list_records(ledger(), RecordKind::kExperiment).size() +
                list_records(ledger(), RecordKind::kBrief).size(),
            n);
}

TEST_F(RecordsTest, TheRetainedHypothesisIsOpen) {
  import_record(ledger(), STWO_TEST_SOURCE_DIR "/experiments/0001-trace-commitment-share");
  const Record r = load_record(ledger(), RecordKind::kExperiment, "1");
  EXPECT_EQ(r.state, RecordState::kOpen);
  ASSERT_FALSE(r.prediction.empty());
  EXPECT_EQ(print_item(r.prediction[0]),
            "share: trace_commit.device_time@log20x100 >= 0.75 fraction");
  EXPECT_FALSE(refuted(r.prediction[0], 0.83)) << "the profile it comes from";
  EXPECT_EQ(database().query_integer("SELECT count(*) FROM open_hypotheses"), 1);
}

}  // namespace
}  // namespace ledger

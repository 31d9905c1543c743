// A ledger in a folder of its own, with evidence to link, and errors by their codes.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "ledger/records/record_store.hpp"
#include "ledger/store/ledger.hpp"
#include "tests/ledger/support/temporary_folder.hpp"

namespace ledger {

/// Code of the stwo::Error that `action` throws, "" if none; its message in `message`.
template <class Action>
std::string code_of(Action action, std::string* message = nullptr) {
  try {
    action();
  } catch (const stwo::Error& e) {
    if (message != nullptr) *message = e.what();
    // What people read is one line and says what to do.
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
    if (e.exit_code() != stwo::ExitCode::kBug) {
      EXPECT_NE(std::string(e.what()).find(';'), std::string::npos) << e.what();
    }
    return e.code();
  }
  return "";
}

using test::read_file;
using test::TemporaryFolder;

/// Makes the folders above it.
void write_file(const std::string& path, const std::string& text);
void replace(std::string& text, const std::string& from, const std::string& to);

/// Adds a row that can be linked, of any kind of target but records, and what it needs. The id
/// depends on `seed` only.
std::string add_target(Ledger& ledger, const std::string& target_kind, const std::string& seed);

/// Texts for all fields of a kind of record.
FieldTexts all_fields(RecordKind kind);
Prediction some_prediction();
NewRecord complete_record(RecordKind kind, const std::string& slug);

class RecordsTest : public ::testing::Test {
 protected:
  RecordsTest() {
    Ledger::init(folder_ / "a.db");
    ledger_.emplace(folder_ / "a.db", Access::kAppend);
  }
  Ledger& ledger() { return *ledger_; }
  Database& database() { return ledger_->database(); }
  int64_t count(const std::string& table) {
    return database().query_integer("SELECT count(*) FROM " + table);
  }
  std::string last_entry() {
    return database().query_text("SELECT kind || ' ' || subject FROM entry ORDER BY seq DESC");
  }
  /// Ids in order of making.
  Record opened(RecordKind kind, const std::string& slug) {
    create_record(ledger(), complete_record(kind, slug));
    return open_record(ledger(), kind, slug);
  }
  Record decided(RecordKind kind, const std::string& slug) {
    opened(kind, slug);
    return decide_record(ledger(), kind, slug, {"keep", "faster", "no judge here"});
  }

  TemporaryFolder folder_;
  std::optional<Ledger> ledger_;
};

/// Both kinds of record, for what they share.
class BothKindsTest : public RecordsTest, public ::testing::WithParamInterface<RecordKind> {
 protected:
  RecordKind kind() const { return GetParam(); }
  std::string table() const { return std::string(record_form(kind()).table); }
  /// A field that results are added to, and one that states the hypothesis.
  std::string result_field() const {
    return kind() == RecordKind::kExperiment ? "code_change" : "graph_regions";
  }
  std::string hypothesis_field() const {
    return kind() == RecordKind::kExperiment ? "baseline" : "validation_plan";
  }
};

inline std::string kind_name(const ::testing::TestParamInfo<RecordKind>& info) {
  return info.param == RecordKind::kExperiment ? "Experiment" : "Brief";
}
#define INSTANTIATE_BOTH_KINDS(suite) \
  INSTANTIATE_TEST_SUITE_P(           \
      , suite, ::testing::Values(RecordKind::kExperiment, RecordKind::kBrief), kind_name)

}  // namespace ledger

// Records and rows. Internal to the folder; nothing here begins a transaction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/records/record.hpp"
#include "ledger/store/ledger.hpp"

namespace ledger {

struct Revision {
  int64_t row = 0;
  Record record;  ///< without links
  std::optional<int64_t> verdict_link;
};

/// A row of record_link that is a link, retracted or not.
struct LinkRow {
  int64_t row = 0;
  RecordLink link;
  bool retracted = false;
};

/// All revisions of a record, oldest first; empty: the ledger does not have it.
std::vector<Revision> revisions_of(Database& database, RecordKind kind, std::string_view id);
std::optional<Revision> find_tip(Database& database, RecordKind kind, std::string_view id);
/// For an id that find_reference gave.
Revision require_tip(Database& database, RecordKind kind, std::string_view id);
/// Newest revisions of all records: by number, then those without one by age.
std::vector<Revision> all_tips(Database& database, RecordKind kind);
/// Links of a record, oldest first.
std::vector<LinkRow> links_of(Database& database, RecordKind kind, std::string_view id);
/// The record with its current links.
Record with_links(Database& database, Revision revision);

/// ULID of the record that `reference` names, see record_store.hpp.
std::string find_reference(Database& database, RecordKind kind, std::string_view reference);

/// Latest time of any row of the record; empty: there is none.
std::string last_time(Database& database, RecordKind kind, std::string_view id);

/// "experiment 0004-leaf-fusion (01JDY2...)", for messages.
std::string record_name(const Record& record);

/// May `next` follow `old` (nullptr: nothing)? Mirrors the triggers; throws their errors as
/// UsageError that name the record and its fields.
void check_revision(const Record* old, const Record& next);
/// Has no other record this slug or number? Throws UsageError RECORD_TAKEN.
void require_free(Database& database, const Record& record);

/// The link a decision rests on: the newest current one to a verdict. Throws UsageError
/// RECORD_NO_VERDICT, LINK_TARGET_MISSING.
int64_t require_verdict_link(Database& database, const Record& record);

/// Is the target in this ledger?
bool has_target(Database& database, std::string_view target_kind, std::string_view target_id);
/// Full id of the target. Throws UsageError LINK_TARGET, LINK_TARGET_MISSING,
/// LINK_TARGET_AMBIGUOUS, and for records RECORD_NOT_FOUND, RECORD_AMBIGUOUS.
std::string require_target(Database& database, std::string_view target_kind,
                           std::string_view target);

/// Appends a revision after `old` (nullptr: the first) and returns it. A decided record gets its
/// verdict_link, unless only the number is set. Checks with check_revision and require_free.
Revision insert_revision(Append& append, const Revision* old, Record next);
/// Appends a link; its id is made from what it links.
void insert_link(Append& append, const Record& record, const RecordLink& link,
                 const std::string& recorded_utc);
/// Appends the row that retracts a link.
void insert_retraction(Append& append, const Record& record, const LinkRow& link,
                       std::string_view note, const std::string& recorded_utc);

}  // namespace ledger

// Records in the ledger: drafts, opened hypotheses, results, evidence, decisions.
//
// A record is a chain of revisions; a change appends one. Its life:
//
//   draft --open--> open --decide--> decided
//     edit            update: results only      correct: says why
//
// The rules are triggers of the database (ledger/schema/ledger/0005_records.sql); the functions
// here check them first, under the writer's lock, so that people read which field of which record
// is wrong. Each function that writes is one append: all of it or nothing.
//
// A record is named by a `reference`: its ULID or a unique prefix of it of at least six characters,
// its slug, its number ("4", "0004") or its folder ("0004-leaf-fusion").
//
// Besides the codes of the single functions, all throw UsageError
//   RECORD_NOT_FOUND, RECORD_AMBIGUOUS  the reference names no record, or several
//   RECORD_STATE       not in this state; the message says what is possible
//   RECORD_FIELD, RECORD_TEXT, RECORD_TITLE, RECORD_SLUG, RECORD_NUMBER  a bad value
//   RECORD_TAKEN       another record has this slug or number
//   RECORD_FROZEN      part of the hypothesis of a record that has been opened
//   RECORD_NO_PREDICTION, RECORD_INCOMPLETE  not ready to be opened
// and DatabaseError.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/records/record.hpp"
#include "ledger/store/ledger.hpp"

namespace ledger {

/// Texts by heading or column, see require_field(); an empty one takes the field's text away.
using FieldTexts = std::map<std::string, std::string, std::less<>>;

struct NewRecord {
  RecordKind kind = RecordKind::kExperiment;
  std::string title;
  std::string slug;
  std::optional<int64_t> number;  ///< nothing: the first export gives one
  FieldTexts fields;
  Prediction prediction;
};

/// What to change; the rest stays.
struct RecordChanges {
  std::optional<std::string> title{};
  std::optional<std::string> slug{};
  std::optional<int64_t> number{};
  FieldTexts fields{};
  std::optional<Prediction> prediction{};
};

struct Decision {
  std::string decision{};           ///< keep, reject or investigate
  std::string reason{};             ///< may be empty
  std::string no_verdict_reason{};  ///< empty: the decision rests on the newest linked verdict
};

/// Of a decided record. What is not given stays.
struct Correction {
  std::string why;  ///< needed, and not the text of the correction before
  RecordChanges changes;
  std::optional<std::string> decision;
  std::optional<std::string> reason;
  std::optional<std::string> no_verdict_reason;
};

struct LinkRequest {
  std::string role;
  std::string target_kind;
  /// An id or a unique prefix of at least six characters; experiments and briefs also by slug and
  /// number.
  std::string target;
  std::string note;
};

// --- Reading. Each function reads one consistent state; not inside another transaction.

/// ULID of the record.
std::string find_record(Ledger& ledger, RecordKind kind, std::string_view reference);
/// Its newest revision.
Record load_record(Ledger& ledger, RecordKind kind, std::string_view reference);
/// All revisions, oldest first, without links.
std::vector<Record> load_revisions(Ledger& ledger, RecordKind kind, std::string_view reference);
/// Newest revisions of all records, or of those in one state: by number, then those without one by
/// age.
std::vector<Record> list_records(Ledger& ledger, RecordKind kind,
                                 std::optional<RecordState> state = std::nullopt);

// --- Writing. Each returns the record as it is afterwards. A call that changes nothing appends
// nothing.

/// Entry kind experiment.new or brief.new.
Record create_record(Ledger& ledger, const NewRecord& record);
/// Entry kind *.edit.
Record edit_draft(Ledger& ledger, RecordKind kind, std::string_view reference,
                  const RecordChanges& changes);
/// A draft becomes a hypothesis. RECORD_NO_PREDICTION, or RECORD_INCOMPLETE with the fields that
/// say nothing yet. Entry kind *.open.
Record open_record(Ledger& ledger, RecordKind kind, std::string_view reference);
/// Adds results to an open record. RECORD_FROZEN. Entry kind *.update.
Record update_open(Ledger& ledger, RecordKind kind, std::string_view reference,
                   const RecordChanges& changes);
/// UsageError RECORD_DECISION, RECORD_NO_VERDICT (neither a linked verdict nor a reason),
/// LINK_TARGET_MISSING (a verdict is linked that this ledger does not have). Entry kind *.decide.
Record decide_record(Ledger& ledger, RecordKind kind, std::string_view reference,
                     const Decision& decision);
/// UsageError RECORD_CORRECTION (no reason, or the one of the correction before) and the codes of
/// decide_record. Entry kind *.correct.
Record correct_record(Ledger& ledger, RecordKind kind, std::string_view reference,
                      const Correction& correction);

/// Links evidence, in any state. A link that is there already stays as it is.
/// UsageError LINK_ROLE, LINK_KIND, LINK_TARGET (no id, too short, the record itself),
/// LINK_TARGET_MISSING, LINK_TARGET_AMBIGUOUS. Entry kind *.link.
Record link_record(Ledger& ledger, RecordKind kind, std::string_view reference,
                   const LinkRequest& request);
/// Takes a link back. `link` is the beginning of its id or of its target's, at least six
/// characters. UsageError LINK_NOT_FOUND, LINK_AMBIGUOUS, LINK_IN_USE (the decision rests on it:
/// correct the decision first). Entry kind *.unlink.
Record retract_link(Ledger& ledger, RecordKind kind, std::string_view reference,
                    std::string_view link, std::string_view note);

}  // namespace ledger

// Experiment records and design briefs, and record.md, the form in which people read, edit and keep
// them in version control.
//
//   # 0004: Hash leaves inside the last FFT pass
//
//   - kind: experiment
//   - id: 01JDY2Q6N8E4C7K5V3M1R9T0XA
//   - state: open
//   - slug: leaf-fusion
//   - recorded: 2026-11-30T12:00:00.000Z
//
//   ## program and shape
//
//   wide_fibonacci, 2^20 rows, 100 columns
//   ...                        one section per field, in order; an empty one says nothing yet
//   ## predicted launches/passes/bytes/counter movement
//
//   - bytes: trace_commit.input_bytes <= 0.75 ratio of baseline
//   ...
//   ## decision
//
//   keep                       or reject, or investigate; then the reason
//
//   ## no verdict              only if the decision rests on none: why
//   ## correction              only if a decided record has been revised: why
//   ## links
//
//   - baseline: run 3f2a...    role, kind and full id of the target, (a note)
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/records/prediction.hpp"
#include "ledger/records/record_fields.hpp"

namespace ledger {

enum class RecordState : uint8_t {
  kDraft,    ///< free to change
  kOpen,     ///< the hypothesis stands; results are added
  kDecided,  ///< only corrections
};

struct RecordLink {
  std::string role;  ///< baseline, instrumented, abba, supports or contradicts
  std::string
      target_kind;        ///< run, capture, verdict, calibration, plan, artifact, experiment, brief
  std::string target_id;  ///< 64 hexadecimal digits, or the ULID of an experiment or brief
  std::string note;       ///< one line; empty: none
  std::string link_id;    ///< of the ledger; not in files
  std::string recorded_utc;  ///< of the ledger; not in files

  /// The same evidence in the same role?
  bool same_as(const RecordLink& other) const {
    return role == other.role && target_kind == other.target_kind && target_id == other.target_id;
  }
};

struct Record {
  RecordKind kind = RecordKind::kExperiment;
  std::string id;                 ///< ULID
  std::string revision;           ///< ULID, of the ledger; not in files
  std::optional<int64_t> number;  ///< of its folder
  std::string slug;
  std::string title;
  RecordState state = RecordState::kDraft;
  std::string recorded_utc;  ///< of this revision
  /// Texts by column, those that say something; see record_fields.hpp. Not the prediction.
  std::map<std::string, std::string, std::less<>> fields;
  Prediction prediction;  ///< experiments only
  std::string decision;   ///< keep, reject or investigate; empty: undecided
  std::string decision_reason;
  std::string no_verdict_reason;
  std::string correction;
  std::vector<RecordLink> links;  ///< those that nobody has retracted, sorted

  /// Text of a field; empty: it says nothing. Not for the prediction.
  const std::string& field(std::string_view column) const;
  /// Does it say the same? Of what it says, revision, recorded_utc and links are no part.
  bool same_content(const Record& other) const;
};

/// Reads record.md. `name` is the file in messages.
/// People may have edited it: any Markdown inside a section is taken as it is, CR LF as LF. What
/// holds the file together is strict. Throws FormatError, naming the line:
///   RECORD_TITLE, RECORD_HEAD (a line of the head is missing, repeated, unknown or has a bad
///   value), RECORD_HEADING (unknown, repeated, missing, out of order), RECORD_DECISION,
///   RECORD_LINK, RECORD_TEXT (no UTF-8, an open code fence, too large), PREDICTION_*.
Record parse_record(std::string_view text, const std::string& name);

/// The canonical text; parse_record gives the record back, and printing that gives the same text.
std::string print_record(const Record& record);

/// Orders links as files do and drops repeated ones.
void sort_links(std::vector<RecordLink>& links);

/// "0004-leaf-fusion". The record must have a number.
std::string record_folder(const Record& record);
/// "0004", or "unnumbered".
std::string record_number_text(const std::optional<int64_t>& number);

std::string_view record_state_word(RecordState state);
/// Nothing: `word` is no state.
std::optional<RecordState> record_state_of(std::string_view word);

/// Checks of single values; each throws UsageError, saying what would be right.
///   RECORD_SLUG: lower-case letters, digits and hyphens, beginning with a letter, at most 60.
///   RECORD_TITLE: one line of 1 to kMaxRecordLine bytes.
///   RECORD_NUMBER: 1 to kMaxRecordNumber.
///   RECORD_DECISION: keep, reject or investigate.
///   LINK_ROLE, LINK_KIND: one of those above. LINK_TARGET: no full id of its kind.
void require_slug(std::string_view slug);
std::string require_title(std::string_view title);
void require_number(int64_t number);
void require_decision(std::string_view decision);
void require_link(const RecordLink& link);
void require_link_role(std::string_view role);
void require_link_kind(std::string_view target_kind);

inline constexpr int64_t kMaxRecordNumber = 999'999;
/// Largest record.md.
inline constexpr size_t kMaxRecordFile = size_t{1} << 20;

}  // namespace ledger

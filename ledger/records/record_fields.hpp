// What an experiment record and a design brief consist of: one table of fields for the readable
// file, the database and the checks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ledger {

enum class RecordKind : uint8_t { kExperiment, kBrief };

/// A decision is a part of both kinds and no field of this table: it has rules of its own.
struct RecordField {
  std::string_view column;      ///< in the database
  std::string_view heading;     ///< in record.md: the words that every record must answer
  bool hypothesis = false;      ///< stays as it was when the record was opened
  bool needed_to_open = false;  ///< without it, a draft stays a draft
  bool prediction = false;      ///< a list of prediction items, not free text
};

struct RecordForm {
  RecordKind kind;
  std::string_view word;       ///< "experiment", "design brief": in files and messages
  std::string_view table;      ///< also the first word of entry kinds: "experiment.new"
  std::string_view id_column;  ///< experiment_id, brief_id
  std::span<const RecordField> fields;
};

const RecordForm& record_form(RecordKind kind);

/// The field called `name`: its heading or its column, in any case. Throws UsageError
/// RECORD_FIELD, which lists the headings; the prediction and the decision are not set as texts and
/// refused with the way that is right for them.
const RecordField& require_field(RecordKind kind, std::string_view name);

}  // namespace ledger

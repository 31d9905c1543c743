// record.md in and out: experiments/NNNN-slug/record.md and the ledger.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/records/record_store.hpp"

namespace ledger {

struct ImportResult {
  enum class Outcome : uint8_t {
    kAdded,      ///< the record is new to this ledger
    kRevised,    ///< a new revision, or new links
    kUnchanged,  ///< the ledger knows all of it
  };
  Outcome outcome = Outcome::kUnchanged;
  RecordKind kind = RecordKind::kExperiment;
  std::string id;
  std::string path;                ///< of the file
  int64_t revisions = 0;           ///< appended
  int64_t links = 0;               ///< appended
  std::vector<std::string> notes;  ///< what a reader should know, one line each
};

/// Takes record.md into the ledger. `path` is the file, or the folder it lies in.
/// A new id adds the record, with a revision for each state it must have gone through. A known id
/// with other content appends revisions under the rules of record_store.hpp; what names an
/// unchanged or an older revision changes nothing. The line `recorded` tells which revision was
/// edited. Links are only ever added: leaving one out of the file retracts nothing.
/// Ids of appended rows are made from the file, so that ledgers that import the same file agree.
/// Throws UsageError RECORD_SOURCE (can't be read) and the codes of record_store.hpp; FormatError
/// like parse_record, RECORD_FOLDER (the folder's name is not that of the record), RECORD_KIND (the
/// id is one of the other kind); RefusedError RECORD_STALE (the file was edited from a revision
/// that the ledger has left behind). Entry kind *.import.
ImportResult import_record(Ledger& ledger, const std::string& path);

struct ExportResult {
  std::string id;
  std::string path;      ///< of the file
  bool written = false;  ///< false: the file says the same already
};

/// Writes the record to `experiments_dir`/NNNN-slug/record.md, making the folder if needed. A
/// record without a number gets the next that is free in the folder and in the ledger, in an append
/// of kind *.number; the ledger must then be open to append. Throws RefusedError
/// EXPORT_OTHER_RECORD (the file there has another id), EXPORT_UNIMPORTED (it has changes that no
/// revision has, or can't be read) unless `force`; EXPORT_NUMBER_TAKEN (another folder has the
/// number); UsageError RECORD_NOT_FOUND, RECORD_AMBIGUOUS, OUTPUT_*.
ExportResult export_record(Ledger& ledger, RecordKind kind, std::string_view reference,
                           const std::string& experiments_dir, bool force);

}  // namespace ledger

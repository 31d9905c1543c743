// `ledger add`: recognises a file, checks it, and files it: the artifact and the rows that make it
// answer questions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ledger/store/ledger.hpp"

namespace ledger {

struct AddResult {
  std::string file;
  std::string kind;    ///< product_report, plan, timeline, counters, verdict, calibration
  std::string id;      ///< SHA-256 of the file
  bool added = false;  ///< false: it was there already, nothing has changed
  int64_t rows = 0;    ///< rows appended, in all tables
  std::vector<std::string> notes;  ///< what a reader should know, one line each
};

/// Files one file in one append: all of it or nothing. Throws UsageError ARTIFACT_SOURCE (can't be
/// read), FormatError with the document's own code and the JSON path, or one of
///   SUPERSEDES_MISSING  a verdict corrects one that this ledger does not have
/// and DatabaseError.
AddResult add_file(Ledger& ledger, const std::string& path);

}  // namespace ledger

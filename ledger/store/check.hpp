// Is the ledger what was written? Replays the hash chain, re-hashes every artifact, runs SQLite's
// own checks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ledger/store/ledger.hpp"

namespace ledger {

/// Something that is not as it was written. Codes:
///   CHECK_DATABASE    integrity_check or foreign_key_check complains
///   CHECK_SCHEMA      a table, view or trigger differs from this version's schema
///   CHECK_ENTRY       an entry is missing, out of order or changed
///   CHECK_ROW_CHANGED, CHECK_ROW_MISSING, CHECK_ROW_UNCHAINED   a row
///   CHECK_SUPERSEDES  a correction of something else than its own predecessor
///   CHECK_ARTIFACT_MISSING, CHECK_ARTIFACT_CHANGED, CHECK_ARTIFACT_UNKNOWN   a file
///   CHECK_HEAD        the given digest is in no entry
struct Finding {
  std::string code;
  std::string table;  ///< empty: none
  int64_t row = 0;    ///< 0: none
  std::string message;
};

struct CheckOptions {
  std::string head;  ///< an entry's digest noted earlier; must still be in the chain. Empty: none
  size_t max_findings = 100;
  /// Told now and then: what is checked, and how far.
  std::function<void(const std::string& what, int64_t done, int64_t total)> on_progress;
};

struct CheckResult {
  std::vector<Finding> findings;  ///< in the order they were met; empty: sound
  bool more = false;              ///< there are more than max_findings
  int64_t entries = 0;
  int64_t rows = 0;
  int64_t artifacts = 0;
  uint64_t artifact_bytes = 0;
  std::string head;
};

/// Reads one consistent state; writers may go on meanwhile.
CheckResult check_ledger(Ledger& ledger, const CheckOptions& options);

}  // namespace ledger

// Whole ledgers in and out: backups, portable bundles, another host's history.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ledger/store/ledger.hpp"

namespace ledger {

/// Told now and then while files are copied.
using CopyObserver = std::function<void(const std::string& what, int64_t done, int64_t total)>;

struct CopyResult {
  std::string head;  ///< digest of the last entry copied
  int64_t entries = 0;
  int64_t artifacts = 0;
  uint64_t artifact_bytes = 0;
};

/// Copies database and artifacts to a new ledger at `path`, a consistent state while writers go
/// on. Throws RefusedError OUTPUT_EXISTS; FormatError if an artifact is missing or changed. Nothing
/// stays behind on failure.
CopyResult backup_ledger(Ledger& ledger, const std::string& path, const CopyObserver& observe = {});

/// Schema of a bundle's manifest.json.
inline constexpr std::string_view kBundleSchema = "stwo_ledger_bundle_v1";

/// Writes a bundle: a folder with ledger.db, ledger.artifacts/ and manifest.json (ledger id, head,
/// schema version, counts, digest of ledger.db). It is built as `path`.partial.
CopyResult export_bundle(Ledger& ledger, const std::string& path, const CopyObserver& observe = {});

struct MergeResult {
  std::string bundle_id;
  std::string bundle_head;
  /// Rows added per table, tables in order of adding; empty: everything was there already.
  std::vector<std::pair<std::string, int64_t>> added;
  int64_t artifacts = 0;
  /// Rows left out because both sides have corrected the same row, and those that rest on them:
  /// "experiment 01H... and the local 01H... correct the same row".
  std::vector<std::string> conflicts;
};

/// Brings the history of another ledger (a bundle, or a ledger's path) in as one append of kind
/// "merge". The source is checked first, all of it. Rows are recognised by their content ids, so
/// that merging twice changes nothing. Throws FormatError MERGE_SOURCE if the source is not sound
/// or has another schema version, RefusedError MERGE_CONFLICT if both sides have corrected the same
/// row and `skip_conflicts` is off; nothing is stored then.
MergeResult merge_ledger(Ledger& ledger, const std::string& source_path, bool skip_conflicts,
                         const CopyObserver& observe = {});

}  // namespace ledger

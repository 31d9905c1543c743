// The hash chain's digests: one definition for who appends and who checks. Internal to the store.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/db/database.hpp"

namespace ledger {

using Digest = std::array<uint8_t, 32>;

/// Digest before the first entry.
inline constexpr std::string_view kNoDigest =
    "0000000000000000000000000000000000000000000000000000000000000000";

/// SHA-256 of the row a `SELECT *` of `table` stands on: the table's name, then name, type and
/// value of every column that is not NULL. A column added later is NULL in old rows and so leaves
/// their digests as they are.
Digest row_digest(std::string_view table, const Statement& row);

/// Rows of one table in an entry.
struct ChainedRows {
  std::string table;
  int64_t first = 0;
  int64_t count = 0;
  Blob digests;  ///< 32 bytes per row
};

struct ChainEntry {
  int64_t sequence = 0;
  std::string previous;
  std::string recorded_utc;
  std::string tool_version;
  std::string kind;
  std::string subject;
  std::vector<ChainedRows> rows;  ///< sorted by table
};

/// SHA-256, as hex, of the entry's canonical JSON (sorted keys, compact): previous, seq,
/// recorded_utc, tool_version, kind, subject, and per table its name, first row, count and the
/// SHA-256 of the row digests. Text that is not UTF-8 is {"hex": ...} there.
std::string entry_digest(const ChainEntry& entry);

}  // namespace ledger

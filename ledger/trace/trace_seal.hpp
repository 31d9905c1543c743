// Digest of a capture inside the capture: table seal holds the SHA-256 of the whole file with '0'
// in place of the digest's own 64 characters. SQLite's own checks find damaged structure; a flipped
// bit of a time stamp is only found here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ledger/db/database.hpp"

namespace ledger {

inline constexpr size_t kSealLength = 64;

/// Where the digest lies in the file. The row is the only one of its table and the text its last
/// column, so it ends with the table's root page.
int64_t seal_offset(Database& database);

/// SHA-256 of a file, in lowercase hex, as if the 64 bytes at `offset` were '0'. Throws
/// EnvironmentError TRACE_READ, FormatError TRACE_CORRUPT if the file is shorter.
std::string sealed_digest(const std::string& path, int64_t offset);

}  // namespace ledger

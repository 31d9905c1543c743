// Opens a trace capture after making sure that it is one, finished and unchanged.
#pragma once

#include <memory>
#include <string>

#include "ledger/db/database.hpp"

namespace ledger {

enum class TraceCheck : uint8_t {
  kContent,   ///< the seal over all bytes, then SQLite's quick_check; reads the whole file
  kIdentity,  ///< only what the file says about itself: for a file that was checked before
};

/// A capture, read-only. Throws UsageError TRACE_OPEN (missing, or not a regular file),
/// EnvironmentError TRACE_READ, and FormatError
///   TRACE_FOREIGN    not a capture: an empty file, another format, another application's database
///   TRACE_NEWER      written by a newer program
///   TRACE_NOT_FINAL  the program that wrote it did not finish
///   TRACE_CORRUPT    damaged since it was finished
std::unique_ptr<Database> open_trace(const std::string& path,
                                     TraceCheck check = TraceCheck::kContent);

}  // namespace ledger

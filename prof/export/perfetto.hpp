// A capture as Chrome trace JSON, for ui.perfetto.dev and chrome://tracing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "ledger/db/database.hpp"
#include "prof/export/text.hpp"

namespace prof {

/// What the file holds; also its otherData.
struct PerfettoCounts {
  int64_t operations = 0;  ///< slices of timed device operations
  int64_t calls = 0;       ///< slices of timed API calls
  int64_t ranges = 0;      ///< slices of NVTX ranges
  int64_t unclosed = 0;    ///< those of them that were never closed: they end with the trace
  int64_t marks = 0;
  int64_t flows = 0;               ///< arrows from a call to an operation
  int64_t memory_changes = 0;      ///< values of the counters of live memory
  int64_t untimed = 0;             ///< calls, operations and memory events without times: left out
  int64_t unmatched_releases = 0;  ///< releases of memory whose allocation is not in the capture
};

/// Rows done and their number, by what is written at the moment.
using ExportProgress = std::function<void(const std::string& what, int64_t done, int64_t total)>;

/// Writes the whole capture (ledger::open_trace). Times are microseconds with three decimals since
/// the session start, or the earliest event if one lies before it.
///
/// Tracks: for each process and thread its API calls, and its NVTX ranges by domain; for each
/// process and device, as a process of its own, the operations of each stream. Operations of a
/// stream that overlap go to further lanes of it. Arrows lead from the first call with an
/// operation's correlation id to the operation. Counters: live bytes by kind of memory.
///
/// Memory does not grow with the number of rows, except by 24 bytes for each call that needs a
/// second lane, and for each allocation that is live.
PerfettoCounts export_perfetto(ledger::Database& trace, const TextSink& sink,
                               const ExportProgress& progress = {});

}  // namespace prof

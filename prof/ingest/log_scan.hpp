// First pass over the logs of a run: what they are, how far they can be trusted, and everything
// that needs to be known about all records before one of them is stored.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "prof/ingest/clock_steps.hpp"
#include "prof/ingest/external_sorter.hpp"
#include "prof/ingest/nvtx_ranges.hpp"
#include "prof/ingest/op_intervals.hpp"
#include "prof/log/log_reader.hpp"

namespace prof {

/// Bytes read so far and in all, over both passes.
using IngestProgress = std::function<void(uint64_t done, uint64_t total)>;

struct ScannedLog {
  std::string path{};
  LogHeader header{};
  LogStatus status{};
  /// Names by their number in this log.
  std::unordered_map<int64_t, std::string> names{};
  std::vector<LogProblem> problems{};
  std::vector<ledger::LossRow> losses{};
  std::vector<ClockStep> steps{};
  int64_t first_clock_ns = 0;  ///< CLOCK_REALTIME
  int64_t last_clock_ns = 0;
  /// Did a context come to life, or any record of one?
  bool has_context = false;
  bool has_calls = false;
};

/// A log that cannot be read at all: cut before its header ended, or with a damaged header.
struct UnreadableLog {
  std::string path;
  std::string reason;
  bool truncated = true;
};

struct LogScan {
  std::vector<ScannedLog> logs;  ///< by pid
  std::vector<UnreadableLog> unreadable;
  /// Facts of all logs; of several values the first in order counts.
  std::map<std::string, std::set<std::string>> facts;
  uint64_t total_bytes = 0;
  uint64_t records = 0;
  /// Numbers of the records that repeat an earlier one, in order.
  std::unique_ptr<ExternalSorter<uint64_t>> duplicates;
  /// Numbers of the operations whose end cannot be right, in order.
  std::unique_ptr<ExternalSorter<uint64_t>> corrupt;
  std::unique_ptr<ExternalSorter<MarkerPart>> markers;
};

/// Reads all logs. `scratch` is a folder for what memory does not hold; each of the few sorters
/// keeps `memory_bytes`. Throws like LogReader for files that are no logs, and FormatError
///   INGEST_NO_LOG     no file was given
///   INGEST_PID_TWICE  two logs of one process id: a program replaced itself by another (exec)
LogScan scan_logs(std::vector<std::string> paths, const std::string& scratch, size_t memory_bytes,
                  const IngestProgress& progress);

/// 128 bits that stand for a record.
struct RecordDigest {
  uint64_t high = 0;
  uint64_t low = 0;
};
RecordDigest digest_of(uint16_t log, const LogItem& item);

}  // namespace prof

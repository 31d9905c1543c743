// Record logs of one run, one per process, become one capture (*.sptrace).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ledger/trace/trace_summary.hpp"
#include "ledger/trace/trace_writer.hpp"
#include "prof/ingest/clock_steps.hpp"
#include "prof/ingest/log_scan.hpp"

namespace prof {

struct IngestOptions {
  std::vector<std::string> logs;
  /// Product report of the recorded process; empty: none.
  std::string report_path;
  std::string tool_version;
  /// Folder for what memory does not hold.
  std::string scratch_folder;
  /// Of each of the six sorters.
  size_t memory_bytes = size_t{16} << 20;
  /// More facts for table meta, e.g. the command.
  std::vector<std::pair<std::string, std::string>> meta;
  IngestProgress progress;
};

struct ProcessProblem {
  int64_t pid = 0;
  LogProblem problem;
};

struct IngestResult {
  std::string path;
  ledger::TraceEvidence evidence = ledger::TraceEvidence::kComplete;
  std::vector<std::string> reasons;  ///< why it is not complete, one sentence each
  std::vector<int64_t> pids;         ///< of the logs, ascending
  std::vector<ledger::LossRow> losses;
  std::vector<std::string> missing_kinds;
  std::vector<ProcessProblem> problems;
  std::vector<ClockStep> clock_steps;
  uint64_t records = 0;  ///< read
  uint64_t duplicates = 0;
  uint64_t corrupt_durations = 0;
  uint64_t quarantined = 0;                ///< all of them, with those two
  std::map<std::string, int64_t> untimed;  ///< rows without times, per table
  int64_t windows = 0;
  std::vector<int64_t> windows_refused;  ///< requests that a clock step falls into
};

/// Reads logs in two passes, in memory that does not grow with their length. The same logs give the
/// same capture; the order of a log's records makes no difference to what is in it.
///
/// Refused records go into table quarantine, each with a reason that begins with its code:
///   RECORD_DAMAGED, RECORD_PAYLOAD  bytes that are no frame, a frame that is no row
///   RECORD_NAME                     a name that the log does not define
///   RECORD_ROW                      a row that contradicts the schema
///   RECORD_KIND                     a kind of record that the recorder does not know
///   DUPLICATE                       a record that is there already
///   DURATION_CORRUPT                an operation that runs into the next one of its stream by more
///                                   than 1 us; it is stored too, without its times
///   NVTX_*                          parts of ranges that do not fit together
///   CLOCK_STEP                      the wall clock jumped by more than 50 us; windows that cross
///                                   the step are left out
///   LOG_STARTED, LOG_HEADER         a log without a readable header
class Ingest {
 public:
  /// Reads the logs once. Throws like scan_logs and read_report_facts.
  explicit Ingest(IngestOptions options);
  Ingest(const Ingest&) = delete;
  Ingest& operator=(const Ingest&) = delete;
  ~Ingest();

  const LogScan& scan() const;
  /// Some process did anything with CUDA that was recorded.
  bool has_activity() const;
  /// Set-up problems of all processes.
  std::vector<ProcessProblem> problems() const;

  /// Reads the logs again and writes the capture; once. Throws like ledger::TraceWriter, and
  /// FormatError
  ///   INGEST_EMPTY       no log has a readable header: there is nothing to write
  ///   REPORT_OTHER_RUN   the report's requests lie outside of what was recorded
  IngestResult write(const std::string& output, ledger::TraceWriter::Existing existing =
                                                    ledger::TraceWriter::Existing::kRefuse);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace prof

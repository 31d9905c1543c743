// An export of Nsight Systems as a capture of ours.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ledger/trace/trace_rows.hpp"
#include "ledger/trace/trace_writer.hpp"

namespace prof {

struct NsysImportOptions {
  /// Name and version of the program that imports, for meta "imported_by".
  std::string importer;
  /// The report was recorded with the options of record_with_nsys(): every kind of record was
  /// asked for, so that the absence of a kind's table means that nothing of it happened. Off: an
  /// absent table means that the kind was not recorded.
  bool recorded_everything = false;
  /// The requests of the product report, if there is one.
  std::vector<ledger::WindowRow> windows;
  /// More rows of meta, e.g. report_sha256, driver_version.
  std::vector<std::pair<std::string, std::string>> facts;
  ledger::TraceWriter::Existing existing = ledger::TraceWriter::Existing::kRefuse;
  /// Table, rows done, and about how many there are; every 100 000 rows. May be empty.
  std::function<void(const std::string& table, int64_t done, int64_t total)> progress;
};

struct NsysImported {
  std::map<std::string, int64_t> rows;     ///< rows taken, by table of the export
  std::vector<std::string> missing_kinds;  ///< meta missing_kinds
  int64_t quarantined = 0;                 ///< rows that could not be taken, with their reasons
  int64_t lost = 0;                        ///< rows and records counted in table loss
};

/// Reads the SQLite file that `nsys export --type sqlite` wrote (schema 3.x) and writes a finished
/// capture. Memory grows with the number of different names and of synchronous copies (8 bytes
/// each) only. The same export gives the same bytes.
///
/// Translation: times plus the session start; pid and tid from the low 48 bits of the global ids;
/// memory kind (nsys + 1) mod 8; allocation and release 0, 1 -> 1, 2. What an export does not say:
///   api.cbid          0, CUPTI's "invalid"
///   copy.async        1 unless the calling function is a copy without "Async" in its name
///   mem_event.async   1 exactly if it names a stream
///   corr              0, which no call has, where the export has none
/// Migrations of unified memory belong to no stream and are counted as loss, not taken as copies.
///
/// A row that contradicts the schema goes to quarantine with its table, number and reason; after
/// 1000 of a table they are only counted, in table loss. Kinds whose table is absent stand in meta
/// missing_kinds (KERNEL and RUNTIME always; MEMCPY, MEMSET, SYNCHRONIZATION, MEMORY unless
/// recorded_everything). Records that no export has are named in meta kinds_not_exported.
///
/// Throws UsageError NSYS_OPEN, FormatError NSYS_FORMAT, and like ledger::TraceWriter. On failure
/// nothing is left at `output`.
NsysImported import_nsys(const std::string& sqlite_path, const std::string& output,
                         const NsysImportOptions& options);

}  // namespace prof

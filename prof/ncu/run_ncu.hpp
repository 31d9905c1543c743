// Captures kernel counters of a program with ncu.
#pragma once

#include <string>
#include <vector>

#include "prof/ncu/counter_set.hpp"
#include "prof/ncu/ncu_log.hpp"
#include "prof/ncu/ncu_tool.hpp"

namespace prof {

struct NcuOptions {
  NcuTool tool;
  std::vector<std::string> command;  ///< the program and its arguments
  std::string output;                ///< NAME.ncu-rep
  bool force = false;                ///< replace an existing output
  std::string kernel_regex;          ///< on demangled names; matches anywhere in them
  std::string set = "detailed";
  /// More metrics, by the profiler's names; each may cost a replay pass.
  std::vector<std::string> metrics;
  int64_t launch_skip = 0;   ///< matching launches left out at the start
  int64_t launch_count = 8;  ///< matching launches captured
  double timeout_s = 600;    ///< of the whole run; more than 0, at most 10^6
  double import_timeout_s = 300;
  std::function<void(double elapsed_s)> tick;
};

struct NcuCapture {
  CounterSet counters;
  std::string report_sha256;         ///< of the output file
  std::vector<std::string> command;  ///< what was run
  int64_t wall_ns = 0;               ///< of the run under the profiler; no production time
};

/// The capturing command: writes `report` and `log`.
std::vector<std::string> ncu_command(const NcuOptions& options, const std::string& report,
                                     const std::string& log);
/// The exporting command: prints the raw page.
std::vector<std::string> ncu_import_command(const NcuTool& tool, const std::string& report);

/// Throws the error that stands for how the capturing run ended; returns if there is a report.
/// `kept` names what is left of the run, for the message.
void require_capture(const NcuOptions& options, const TargetResult& result, const NcuLog& log,
                     bool has_report, const std::string& kept);

/// Captures, exports and parses. The output appears only when all of it worked; after a failure
/// what there is lies in OUTPUT.partial.PROCESS. Kernels are replayed with flushed caches, so that
/// no time in the result is a production time.
/// Throws UsageError NCU_OPTION, NCU_NO_KERNEL, OUTPUT_*; RefusedError OUTPUT_EXISTS;
/// EnvironmentError NCU_MISSING, NCU_UNUSABLE, NCU_DENIED, NCU_BUSY, NCU_DEVICE, SCRATCH_FOLDER;
/// Error with exit code 6 NCU_TIMEOUT, NCU_INTERRUPTED, NCU_TARGET, NCU_FAILED, NCU_NO_REPORT,
/// NCU_IMPORT; FormatError of parse_ncu_csv; what the runner throws.
NcuCapture run_ncu(const NcuOptions& options, const TargetRunner& runner = run_target);

/// Counters of the report `options.output`, by `options.tool`; no other option counts. Throws
/// UsageError NCU_OPEN, and like run_ncu.
CounterSet import_ncu(const NcuOptions& options, const TargetRunner& runner = run_target);

}  // namespace prof

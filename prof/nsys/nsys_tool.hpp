// Nsight Systems as a program: is it here, can it be used, and recording with it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "prof/target/target.hpp"

namespace prof {

struct NsysTool {
  std::string path;
  std::string version;  ///< e.g. "2025.3.2.474-253236389321v0"; empty: it does not say
};

/// What was found. Usable: it recorded a small program and wrote an export of it, just now. An nsys
/// without its importer, as some packages ship it, records but cannot export.
struct NsysState {
  std::optional<NsysTool> tool;  ///< absent: no such program
  bool usable = false;
  std::string reason;  ///< one line why it is not usable; empty if it is
};

struct NsysSearch {
  /// Name or path of the program. A name is looked up in PATH, then in the folders in which NVIDIA
  /// installs it.
  std::string program = "nsys";
  /// Limit of each of the programs that the check starts, in seconds.
  double timeout_s = 60;
};

/// Looks for nsys and tries it out; takes seconds. Throws EnvironmentError SCRATCH_FOLDER only.
NsysState find_nsys(const NsysSearch& search = {});

/// The usable nsys. Throws EnvironmentError NSYS_MISSING (there is none) or NSYS_NO_EXPORT (it
/// cannot export, with the reason); both name the alternative.
NsysTool require_nsys(const NsysSearch& search = {});

struct NsysRecording {
  std::string output;  ///< ends in ".nsys-rep"; must not exist
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
  double timeout_s = 0;       ///< seconds; 0: none
  bool whole_graphs = false;  ///< record graph launches as one operation, not their nodes
  /// Files for what the program writes; empty: our stderr.
  std::string stdout_path;
  std::string stderr_path;
  std::function<void(double elapsed_s)> tick;
};

/// Runs the program under nsys (CUDA, NVTX, memory usage; no sampling) and publishes the report
/// under its name. The report of a program that failed or timed out is kept if nsys wrote one: look
/// at the result. While it runs its files lie in `output` + ".partial", which an interrupted run
/// leaves behind. Throws UsageError NSYS_OUTPUT (another ending) and like stwo::check_output,
/// RefusedError OUTPUT_EXISTS (the report or the folder), TARGET_FAILED or TARGET_TIMEOUT (6) if
/// the program failed and there is no report, EnvironmentError NSYS_NO_REPORT if it did not fail.
TargetResult record_with_nsys(const NsysTool& tool, const NsysRecording& recording);

/// Writes the SQLite form of a report to `sqlite_path`, which must not exist. Throws
/// EnvironmentError NSYS_NO_EXPORT if nsys fails, takes longer than `timeout_s` seconds or writes
/// something else.
void export_report(const NsysTool& tool, const std::string& report, const std::string& sqlite_path,
                   double timeout_s = 1800, const std::function<void(double)>& tick = {});

}  // namespace prof

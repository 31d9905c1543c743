// A timeline capture from start to end: runs a program under the recorder and makes its .sptrace.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "prof/cupti/find_cupti.hpp"
#include "prof/ingest/capture_run.hpp"
#include "prof/ingest/ingest.hpp"
#include "prof/target/target.hpp"

namespace prof {

struct CaptureOptions {
  std::vector<std::string> command;
  std::string output;  ///< NAME.sptrace
  bool force = false;  ///< replace an output that exists
  /// Queued and submitted times of kernels: adds overhead.
  bool latency = false;
  /// A graph launch is one operation (`--graph graph`): questions about its kernels have no answer.
  bool whole_graphs = false;
  double timeout_s = 0;     ///< 0: no limit
  std::string report_path;  ///< product report that the program writes; empty: none
  std::string stdout_path;
  std::string stderr_path;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string tool_version;
  std::string recorder_path;  ///< empty: beside this program
  CuptiPlaces cupti = cupti_places();
  std::function<void(double elapsed_s)> tick;
  IngestProgress progress;
};

struct CaptureResult {
  TargetResult target;
  CuptiLibrary cupti;
  IngestResult ingest;
};

/// Throws what check_output, require_cupti, find_recorder, run_target, require_success and
/// conclude_run throw. The output is checked before anything runs.
CaptureResult capture_timeline(const CaptureOptions& options);

}  // namespace prof

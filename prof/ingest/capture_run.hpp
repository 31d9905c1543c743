// What happens around a recorded run: the folder and the variables that the recorder needs, and
// what its logs, together with how the program ended, amount to.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "prof/cupti/find_cupti.hpp"
#include "prof/ingest/ingest.hpp"

namespace prof {

/// A private folder beside the output, for the record logs. Removed with its owner unless kept.
class RunFolder {
 public:
  /// OUTPUT.logs.XXXXXX. Throws EnvironmentError SCRATCH.
  explicit RunFolder(const std::string& output);
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  ~RunFolder();

  const std::string& path() const { return path_; }
  /// Paths of the logs in it, sorted.
  std::vector<std::string> logs() const;
  void keep() { keep_ = true; }

 private:
  std::string path_;
  bool keep_ = false;
};

/// Path of the recorder: `given`, or kRecorderName beside this program. Throws EnvironmentError
/// RECORDER_MISSING.
std::string find_recorder(const std::string& given);

/// Variables of the target. CUDA loads the recorder, NVTX loads CUPTI.
std::vector<std::pair<std::string, std::string>> recorder_environment(const std::string& recorder,
                                                                      const CuptiLibrary& cupti,
                                                                      const std::string& folder,
                                                                      bool latency,
                                                                      bool whole_graphs);

/// OUTPUT with ".failed" before its extension, or ".failed.2" and so on: a name that is free.
std::string kept_name(const std::string& output);

/// How the recorded program ended.
struct RunEnd {
  /// The error to end with; absent: it ended well.
  std::optional<stwo::Error> failure;
};

/// Makes the capture of a finished run. `options.logs` are the logs of `folder`.
///
/// If the program failed, the capture is kept under kept_name(output), and the failure is thrown
/// with that name added. A report that does not fit is treated alike. Throws besides
///   CAPTURE_NO_CUDA (3)      the program never initialised CUDA
///   CAPTURE_NO_CONTEXT (3)   it did, but made no context
///   CUPTI_SLOT_TAKEN (4)     another tool has CUPTI's only place
///   CUPTI_PERMISSION (4)     the driver lets only administrators record
///   CUPTI_MISSING, CUPTI_VERSION, CUPTI_FAILED (4)   CUPTI did not start in the target
/// and what Ingest throws; then the folder is kept and named.
IngestResult conclude_run(IngestOptions options, RunFolder& folder, const std::string& output,
                          ledger::TraceWriter::Existing existing, const RunEnd& end);

}  // namespace prof

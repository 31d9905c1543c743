#include "prof/cli/error_codes.hpp"

#include <algorithm>
#include <string_view>

namespace prof {
namespace {

using ledger::ErrorCode;
using enum stwo::ExitCode;

// Codes are stable: tools match on them. Sorted.
const std::vector<ErrorCode>& own_codes() {
  static const std::vector<ErrorCode> codes = {
      {"ATTRIBUTE_RUN", kUsage, "outputs of a program that runs several times need {run}"},
      {"CAPTURE_NO_CONTEXT", kInvalidEvidence, "the program made no CUDA context"},
      {"CAPTURE_NO_CUDA", kInvalidEvidence, "the program never initialised CUDA"},
      {"COMPUTE_DEVICE", kEnvironment, "which device ran the kernels is not known"},
      {"COMPUTE_OUTPUT", kUsage, "an output does not end in .ncu-rep"},
      {"COUNTERS_LAUNCH", kInvalidEvidence, "a counted launch lacks its shared memory"},
      {"CUPTI_FAILED", kEnvironment, "CUPTI did not start in the program"},
      {"CUPTI_MISSING", kEnvironment, "there is no CUPTI library"},
      {"CUPTI_PERMISSION", kEnvironment, "the driver lets only administrators record"},
      {"CUPTI_SLOT_TAKEN", kEnvironment, "another profiler is attached to the program"},
      {"CUPTI_VERSION", kEnvironment, "the CUPTI library does not fit the recorder"},
      {"DIFF_KIND", kUsage, "two files to compare are of different or unknown kinds"},
      {"DIFF_READ", kUsage, "a file to compare can't be read"},
      {"DRIVER_CALL", kEnvironment, "the CUDA driver refused a call"},
      {"DRIVER_MISSING", kEnvironment, "there is no CUDA driver"},
      {"EXPORT_TABLE", kUsage, "captures have no table of this name"},
      {"INGEST_EMPTY", kInvalidEvidence, "no record log can be read"},
      {"INGEST_NO_LOG", kInvalidEvidence, "there are no record logs"},
      {"INGEST_PID_TWICE", kInvalidEvidence, "two record logs are of one process"},
      {"LOG_OPEN", kUsage, "a record log can't be opened"},
      {"LOG_READ", kEnvironment, "a record log can't be read"},
      {"NCU_BUSY", kEnvironment, "another profiler uses the counters"},
      {"NCU_CSV_COLUMN", kInvalidEvidence, "exported counters lack a column, or have it twice"},
      {"NCU_CSV_HEADER", kInvalidEvidence, "exported counters have no header"},
      {"NCU_CSV_PAGE", kInvalidEvidence, "exported counters are of another page"},
      {"NCU_CSV_ROW", kInvalidEvidence, "a row of exported counters has the wrong form"},
      {"NCU_CSV_SIZE", kInvalidEvidence, "exported counters are too long"},
      {"NCU_CSV_TRUNCATED", kInvalidEvidence, "exported counters end too early"},
      {"NCU_CSV_VALUE", kInvalidEvidence, "an id or dimension of exported counters is none"},
      {"NCU_DENIED", kEnvironment, "counters need a permission that is not given"},
      {"NCU_DEVICE", kEnvironment, "the profiler finds no device that it knows"},
      {"NCU_FAILED", kTargetFailed, "the counter profiler failed"},
      {"NCU_IMPORT", kTargetFailed, "the counter profiler can't read its own report"},
      {"NCU_INTERRUPTED", kTargetFailed, "the run under the profiler was interrupted"},
      {"NCU_MISSING", kEnvironment, "there is no ncu"},
      {"NCU_NO_KERNEL", kUsage, "no launched kernel matches"},
      {"NCU_NO_REPORT", kTargetFailed, "the counter profiler wrote no report"},
      {"NCU_OPEN", kUsage, "a counter report is missing or empty"},
      {"NCU_OPTION", kUsage, "an option of the counter run is out of range"},
      {"NCU_QUERY", kInvalidEvidence, "a list of metrics names none"},
      {"NCU_TARGET", kTargetFailed, "the program failed under the profiler"},
      {"NCU_TIMEOUT", kTargetFailed, "the run under the profiler took too long"},
      {"NCU_UNUSABLE", kEnvironment, "the ncu that is here can't be used"},
      {"NSYS_FORMAT", kInvalidEvidence, "an export of nsys is damaged or of an unknown schema"},
      {"NSYS_MISSING", kEnvironment, "there is no nsys"},
      {"NSYS_NO_EXPORT", kEnvironment, "nsys can't record or export here"},
      {"NSYS_NO_REPORT", kEnvironment, "nsys ended well without a report"},
      {"NSYS_OPEN", kUsage, "an export of nsys is missing or no file"},
      {"NSYS_OUTPUT", kUsage, "an output does not end in .nsys-rep"},
      {"NVML_MISSING", kEnvironment, "there is no NVML to name the device"},
      {"RECORDER_MISSING", kEnvironment, "the recorder's library is not beside the program"},
      {"REPORT_INVALID", kInvalidEvidence, "a product report breaks a rule"},
      {"REPORT_OPEN", kUsage, "a product report can't be opened"},
      {"REPORT_OTHER_RUN", kInvalidEvidence, "a report is not of the recorded run"},
      {"REPORT_OVERFLOW", kInvalidEvidence, "bytes of a pass do not fit 64 bits"},
      {"REPORT_READ", kUsage, "a product report can't be read"},
      {"REPORT_READ", kEnvironment, "reading a product report failed"},
      {"REPORT_ZIG", kInvalidEvidence, "a report is of the stwo-zig project"},
      {"ROOFLINE_OUTPUT", kUsage, "a drawing ends in neither .html nor .svg"},
      {"SCRATCH", kEnvironment, "no room for temporary files"},
      {"SCRATCH_FOLDER", kEnvironment, "no folder for temporary files"},
      {"SYSTEMS_OUTPUT", kUsage, "a timeline ends in neither .sptrace nor .nsys-rep"},
      {"TARGET_COMMAND", kUsage, "there is no program to run, or it can't be run"},
      {"TARGET_FAILED", kTargetFailed, "the program failed"},
      {"TARGET_INTERRUPTED", kTargetFailed, "the run was interrupted"},
      {"TARGET_OUTPUT", kEnvironment, "what the program writes can't be stored"},
      {"TARGET_START", kEnvironment, "the system can't start the program"},
      {"TARGET_TIMEOUT", kTargetFailed, "the program took too long"},
      {"THRESHOLDS_FILE", kUsage, "a file of thresholds can't be read"},
      {"THRESHOLDS_JSON", kInvalidEvidence, "thresholds are no JSON object"},
      {"THRESHOLDS_KEY", kInvalidEvidence, "a threshold is missing, unknown or given twice"},
      {"THRESHOLDS_RANGE", kInvalidEvidence, "a threshold is out of range"},
      {"THRESHOLDS_SCHEMA", kInvalidEvidence, "thresholds have another schema"},
      {"TIMELINE_BASELINE", kUsage, "a baseline has no time to compare with"},
      {"TIMELINE_CLOCK_STEP", kInvalidEvidence, "the clock was set inside the window"},
      {"TIMELINE_EMPTY", kInvalidEvidence, "a capture has no timed call or operation"},
      {"TIMELINE_KERNELS", kInvalidEvidence, "a capture has no kernel records"},
      {"TIMELINE_REPORT", kInvalidEvidence, "a product report breaks a rule"},
      {"TIMELINE_REPORT_CPU", kInvalidEvidence, "a report is of a run without a device"},
      {"TIMELINE_REPORT_OTHER", kInvalidEvidence, "a report is not the capture's"},
      {"TIMELINE_REQUEST", kUsage, "there is no request of this number"},
      {"TIMELINE_WINDOW", kInvalidEvidence, "a window has no length"},
      {"USAGE", kUsage, "the command line is wrong"},
  };
  return codes;
}

}  // namespace

const std::vector<ErrorCode>& error_codes() {
  static const std::vector<ErrorCode> all = [] {
    std::vector<ErrorCode> codes = own_codes();
    constexpr std::string_view kShared[] = {
        "ARTIFACT_",     "CONTRACT", "COUNTERS_", "DOCUMENT_", "INTERNAL", "LEDGER_", "OUTPUT_",
        "OUT_OF_MEMORY", "PLAN_",    "RANDOM",    "REPORT_",   "STDOUT",   "TRACE_"};
    for (const ErrorCode& c : ledger::error_codes()) {
      const bool shared = std::any_of(std::begin(kShared), std::end(kShared),
                                      [&](std::string_view p) { return c.code.starts_with(p); });
      const bool ours = std::any_of(codes.begin(), codes.end(), [&](const ErrorCode& own) {
        return own.code == c.code && own.exit_code == c.exit_code;
      });
      if (shared && !ours) codes.push_back(c);
    }
    std::stable_sort(codes.begin(), codes.end(),
                     [](const ErrorCode& a, const ErrorCode& b) { return a.code < b.code; });
    return codes;
  }();
  return all;
}

std::string list_codes(bool json) { return ledger::list_codes(error_codes(), json); }

}  // namespace prof

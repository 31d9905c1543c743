#include "prover/cli/error_codes.hpp"

#include <nlohmann/json.hpp>

#include "prover/cli/terminal.hpp"

namespace stwo {
namespace {

using enum ExitCode;

// Codes are stable: tools match on them. Sorted.
constexpr ErrorCode kCodes[] = {
    {"AIR_PARAMETER", kUsage, "an AIR's parameter is unknown, missing, repeated or out of range"},
    {"AIR_UNKNOWN", kUsage, "no AIR has this name"},
    {"BACKEND", kUsage, "no backend has this name"},
    {"BACKEND_UNAVAILABLE", kEnvironment, "this build or machine lacks the backend"},
    {"CHANNEL", kUsage, "no channel has this name"},
    {"COMPONENT", kUsage, "the statement has no component of this name"},
    {"CONFIG", kUsage, "a parameter of the config is unknown or out of range"},
    {"CONSTRAINTS_NOT_SATISFIED", kNegative, "the trace does not satisfy the AIR"},
    {"CONTRACT", kBug, "our bug: parts of the program disagree"},
    {"CUBIN_ALTERED", kEnvironment, "a compiled kernel is not the one this program was built with"},
    {"CUBIN_MISSING", kEnvironment, "a compiled kernel is not where it should be"},
    {"CUDA_ERROR", kEnvironment, "the CUDA driver or the device failed"},
    {"CUDA_RUNTIME_BROKEN", kEnvironment, "an earlier failure left the device unusable"},
    {"DEVICE_UNSUPPORTED", kEnvironment, "the device lacks something the kernels need"},
    {"DRIVER", kEnvironment, "there is no usable CUDA driver"},
    {"FILE_CHANGED", kInvalidEvidence, "a file became shorter while it was read"},
    {"FILE_EMPTY", kInvalidEvidence, "an input file has no content"},
    {"FILE_KIND", kUsage, "an input is a directory, device or pipe"},
    {"FILE_OPEN", kUsage, "an input file is missing or not readable"},
    {"FILE_READ", kEnvironment, "the file system failed while reading"},
    {"FILE_TOO_LARGE", kInvalidEvidence, "an input file exceeds its size limit"},
    {"INTERNAL", kBug, "our bug: an unexpected exception"},
    {"NONDETERMINISTIC", kBug, "our bug: two requests gave different proofs"},
    {"NO_CUDA_DEVICE", kEnvironment, "the driver finds no such device"},
    {"NUMBER", kUsage, "an option's number has the wrong form or range"},
    {"NVRTC", kEnvironment, "the run-time compiler is missing or failed"},
    {"OUTPUT_DIRECTORY", kUsage, "an output's directory is missing"},
    {"OUTPUT_EXISTS", kRefused, "an output exists and --force was not given"},
    {"OUTPUT_KIND", kRefused, "an output exists and is not a regular file"},
    {"OUTPUT_NAME", kUsage, "an output's name can't be used"},
    {"OUTPUT_PERMISSION", kUsage, "an output's directory is not writable"},
    {"OUTPUT_SPACE", kEnvironment, "no space for an output"},
    {"OUTPUT_WRITE", kEnvironment, "the file system failed while writing"},
    {"OUT_OF_DEVICE_MEMORY", kEnvironment, "the device lacks memory for the work"},
    {"OUT_OF_MEMORY", kEnvironment, "the machine lacks memory for the work"},
    {"OUT_OF_PINNED_MEMORY", kEnvironment, "the system can't lock the memory that copies need"},
    {"PROC", kEnvironment, "/proc does not answer"},
    {"PROOF_EMPTY", kInvalidEvidence, "a proof file has no content"},
    {"PROOF_FIELD", kInvalidEvidence, "a proof's key is unknown, missing, repeated or misplaced"},
    {"PROOF_NONCANONICAL", kInvalidEvidence, "a proof is not in its one accepted form"},
    {"PROOF_SCHEMA", kInvalidEvidence, "a proof file has another schema"},
    {"PROOF_STATEMENT", kInvalidEvidence, "a proof file's statement is not one this program knows"},
    {"PROOF_SYNTAX", kInvalidEvidence, "a proof is not the expected JSON"},
    {"PROOF_TRUNCATED", kInvalidEvidence, "a proof's bytes end too early"},
    {"PROOF_VALUE", kInvalidEvidence, "a proof's value has the wrong type or range"},
    {"RECEIPT", kInvalidEvidence, "an oracle receipt has the wrong form"},
    {"RECEIPT_MISMATCH", kInvalidEvidence, "an oracle receipt is about another proof"},
    {"REPORT_INVALID", kInvalidEvidence, "a report breaks one or more REPORT_ rules"},
    {"RESEARCH_PARITY", kBug, "our bug: a kernel compiled at run time differs from the CPU"},
    {"SELF_VERIFY", kBug, "our bug: a fresh proof does not verify"},
    {"SHAPE", kUsage, "the protocol does not allow this statement with this config"},
    {"SM_UNSUPPORTED", kEnvironment, "this build has no kernels for the device"},
    {"STDOUT", kEnvironment, "standard output can't be written"},
    {"USAGE", kUsage, "the command line is wrong"},
};

}  // namespace

std::span<const ErrorCode> error_codes() { return kCodes; }

std::string list_codes(bool json) {
  if (json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const ErrorCode& c : kCodes) {
      list.push_back(
          {{"code", c.code}, {"exit_code", static_cast<int>(c.exit_code)}, {"meaning", c.meaning}});
    }
    return nlohmann::ordered_json{{"schema", "stwo_error_codes_v1"}, {"codes", list}}.dump() + "\n";
  }
  std::vector<std::vector<std::string>> rows;
  for (const ErrorCode& c : kCodes) {
    rows.push_back({std::string(c.code), std::to_string(static_cast<int>(c.exit_code)),
                    std::string(c.meaning)});
  }
  return format_table({"code", ">exit", "meaning"}, rows);
}

}  // namespace stwo

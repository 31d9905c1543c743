// Errors of the prover library. Failures that end the work are exceptions; outcomes that callers
// branch on (a rejected proof, an unavailable backend) are return values.
#pragma once

#include <stdexcept>
#include <string>

namespace stwo {

/// Exit codes shared by every tool.
enum class ExitCode : int {
  kDone = 0,
  kNegative = 1,         ///< a valid negative result: a proof that does not verify
  kUsage = 2,            ///< usage or bad input
  kInvalidEvidence = 3,  ///< proof or report file invalid
  kEnvironment = 4,      ///< the environment lacks something (device, memory, disk)
  kRefused = 5,          ///< refused: output exists
  kTargetFailed = 6,     ///< a started program failed
  kBug = 70,             ///< our bug
};

/// Base of all errors that carry a stable code and an exit code.
class Error : public std::runtime_error {
 public:
  Error(ExitCode exit_code, std::string code, const std::string& message)
      : std::runtime_error(message), exit_code_(exit_code), code_(std::move(code)) {}
  ExitCode exit_code() const { return exit_code_; }
  /// Stable upper-case identifier, listed by `stwo --list-codes`.
  const std::string& code() const { return code_; }

 private:
  ExitCode exit_code_;
  std::string code_;
};

/// Our bug: a contract between parts of the program was broken.
class ContractError : public Error {
 public:
  explicit ContractError(const std::string& message) : Error(ExitCode::kBug, "CONTRACT", message) {}
};

/// What the user asked for is not possible: unknown AIR, size out of range, forbidden config.
class UsageError : public Error {
 public:
  UsageError(std::string code, const std::string& message)
      : Error(ExitCode::kUsage, std::move(code), message) {}
};

/// A file that should be one of ours is not: truncated, non-canonical, wrong schema, too large.
class FormatError : public Error {
 public:
  FormatError(std::string code, const std::string& message)
      : Error(ExitCode::kInvalidEvidence, std::move(code), message) {}
};

/// The machine lacks something: memory, disk space, a device.
class EnvironmentError : public Error {
 public:
  EnvironmentError(std::string code, const std::string& message)
      : Error(ExitCode::kEnvironment, std::move(code), message) {}
};

/// Refused to do what was asked, to protect something that exists.
class RefusedError : public Error {
 public:
  RefusedError(std::string code, const std::string& message)
      : Error(ExitCode::kRefused, std::move(code), message) {}
};

/// The trace handed to the prover does not satisfy the AIR's constraints: found by the prover's own
/// out-of-domain check, before a proof leaves it.
class ConstraintsNotSatisfied : public Error {
 public:
  explicit ConstraintsNotSatisfied(const std::string& message)
      : Error(ExitCode::kNegative, "CONSTRAINTS_NOT_SATISFIED", message) {}
};

[[noreturn]] inline void contract_failure(const char* file, int line, const std::string& message) {
  throw ContractError(std::string(file) + ":" + std::to_string(line) + ": " + message);
}

}  // namespace stwo

/// Always-on contract check, outside hot loops. Never on untrusted bytes.
#define STWO_CHECK(cond, message)                                       \
  do {                                                                  \
    if (!(cond)) ::stwo::contract_failure(__FILE__, __LINE__, message); \
  } while (false)

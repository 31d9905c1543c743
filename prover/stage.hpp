// The stages of a proof and their names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stwo {

/// Stages by their one name: backend method, profiler range, report key, test and doc heading.
enum class Stage : uint8_t {
  kIngress,
  kTraceGeneration,
  kTraceCommit,
  kConstraintEvaluation,
  kOods,
  kQuotient,
  kFriCommit,
  kPow,
  kDecommit,
  kProofAssembly,
};
inline constexpr size_t kStageCount = 10;

/// "ingress", "trace_generation", ...
std::string_view stage_name(Stage stage);

}  // namespace stwo

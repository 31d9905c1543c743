// What limits a kernel: one diagnosis that a measurement can refute.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prof/diagnose/evidence.hpp"
#include "prof/diagnose/thresholds.hpp"
#include "prof/ncu/counters_document.hpp"
#include "prof/ncu/kernel_counters.hpp"
#include "prof/timeline/kernel_facts.hpp"

namespace prof {

enum class Mechanism {
  kBandwidth,
  kLatency,
  kCompute,
  kOccupancy,
  kLaunchFragmentation,
  kDependencySerialization,
  kUndetermined,
};
/// "bandwidth", ..., "undetermined", as in the counters document.
std::string_view mechanism_name(Mechanism mechanism);

/// What a plan says about a kernel; unset: there is no plan, or it does not say.
struct PlanFacts {
  /// Bytes that a launch has to move through global memory, on average: input, output and rereads.
  std::optional<int64_t> ledger_bytes;
  std::optional<bool> parallel_branches;       ///< has the kernel's stage work of equal rank?
  std::optional<int64_t> transcript_barriers;  ///< launches of it that end with transcript work
};

struct DiagnosisInput {
  const KernelCounters* counters = nullptr;  ///< never null; no_counters() if there are none
  const KernelFacts* timeline = nullptr;     ///< null: there is no timeline
  PlanFacts plan;
  const Thresholds* thresholds = nullptr;  ///< never null
};

struct Diagnosis {
  std::string kernel;
  Mechanism mechanism = Mechanism::kUndetermined;
  /// What is behind it, most telling first: a stall, a pipe, a limit. May be empty.
  std::vector<std::string> sub_causes;
  std::vector<Evidence> evidence;
  std::optional<double> margin;  ///< to the nearest threshold; unset exactly if undetermined
  bool high_confidence = false;  ///< margin is large and no rule was left out
  std::string summary;           ///< one sentence; for undetermined: why
  /// A measurement that would refute it; unset exactly if undetermined.
  std::optional<std::string> prediction;
  std::vector<std::string> missing;  ///< what would be needed to say more
  std::string thresholds_sha256;
};

/// The first rule that holds, in this order: too small a share (undetermined); launch
/// fragmentation, and serialization of branches, which need only the timeline; too few launches or
/// a counter without a value (undetermined); serialization of a chain of small launches; bandwidth;
/// compute; occupancy; latency; otherwise undetermined (balanced).
/// Without a timeline the rules that need it are left out, which is listed as missing, and the
/// confidence is low. Pure: no files, no clock; the same input gives the same result. Never throws
/// on any values.
Diagnosis diagnose(const DiagnosisInput& input);

/// For the counters document.
DocumentDiagnosis to_document(const Diagnosis& diagnosis);

/// Several lines for a terminal.
std::string to_text(const Diagnosis& diagnosis);

}  // namespace prof

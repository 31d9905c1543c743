// What a capture holds, in numbers: how far it can be trusted, how much of everything there is, how
// long devices worked, and what each kernel took in each stage of the prover.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/db/database.hpp"
#include "ledger/trace/trace_rows.hpp"

namespace ledger {

enum class TraceEvidence : uint8_t {
  kComplete,
  kIncomplete,  ///< records were lost or not understood, or a required kind was not recorded
  kTruncated,   ///< the recorder did not reach its end; numbers are lower bounds
};
/// "complete", "incomplete", "truncated".
std::string_view evidence_name(TraceEvidence evidence);

struct KindCount {
  std::string kind;  ///< name of the table; "graph" for whole graphs
  int64_t rows = 0;
  int64_t untimed = 0;  ///< rows without times
};

struct DeviceActivity {
  int64_t device_id = 0;
  int64_t operations = 0;  ///< timed ones
  int64_t first_ns = 0;    ///< start of the first
  int64_t last_ns = 0;     ///< end of the last
  int64_t busy_ns = 0;     ///< length of their union
  int64_t islands = 0;     ///< pieces of the union
};

/// How a kernel was launched.
struct LaunchShape {
  std::array<int64_t, 3> grid{};   ///< blocks
  std::array<int64_t, 3> block{};  ///< threads
  int64_t dynamic_shared_bytes = 0;
  int64_t registers = 0;
  auto operator<=>(const LaunchShape&) const = default;
};

/// A kernel in a stage. Durations are of timed launches and absent if there is none.
struct KernelStat {
  std::string kernel;                ///< demangled name
  std::optional<std::string> stage;  ///< absent: launched outside all stages, or unknown from where
  int64_t launches = 0;
  int64_t untimed = 0;  ///< launches without times
  int64_t total_ns = 0;
  std::optional<int64_t> min_ns;
  std::optional<int64_t> median_ns;  ///< lower median
  std::optional<int64_t> max_ns;
  LaunchShape shape;           ///< the most frequent one; among equals the least
  int64_t shape_launches = 0;  ///< how many launches have it
};

struct TraceSummary {
  std::map<std::string, std::string> meta;
  std::string tool;
  std::string tool_version;
  std::string created_utc;

  TraceEvidence evidence = TraceEvidence::kComplete;
  std::vector<std::string> reasons;  ///< why it is not complete, one sentence each
  std::vector<LossRow> losses;
  int64_t quarantined = 0;
  /// Lost and quarantined records.
  int64_t lost() const;

  /// kernel, copy, fill, graph, api, sync, cuda_event, mem_event, pool_event, res_event, jit,
  /// overhead, nvtx.
  std::vector<KindCount> counts;
  /// Throws ContractError for a kind that is not in the list.
  const KindCount& count(std::string_view kind) const;

  std::vector<WindowRow> windows;
  /// From the first start to the last end of timed device operations; absent if there is none.
  std::optional<int64_t> first_ns;
  std::optional<int64_t> last_ns;
  std::optional<int64_t> span_ns;
  /// Time in which at least one device works.
  int64_t busy_ns = 0;
  std::vector<DeviceActivity> devices;  ///< those with timed operations
  /// Longest total first; equal ones by name and stage.
  std::vector<KernelStat> kernels;
};

/// Reads everything about twice, in the order in which it is stored; memory grows with the number
/// of launches (8 bytes each) and, if the prover's stages are in the capture, of API calls (24
/// bytes each).
///
/// The stage of a kernel is the innermost push/pop range of domain stwo.prover, category 2, that
/// was open on the launching thread when the launching API call began: the one with the latest
/// start among those with start <= t < end. A range that was never closed has no end. If several
/// calls have the kernel's correlation id (a runtime call and the driver call inside it), the first
/// one counts.
TraceSummary summarize_trace(Database& trace);

}  // namespace ledger

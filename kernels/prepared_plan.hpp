// A plan with its memory: what every request of a shape reuses.
#pragma once

#include <optional>
#include <vector>

#include "kernels/cuda_backend.hpp"
#include "kernels/tables/twiddle_tables.hpp"

namespace stwo::gpu {

struct BoundLaunch {
  Kernel kernel;
  LaunchGeometry geometry;
  std::vector<uint8_t> args;
  const PlanLaunch* plan = nullptr;
  uint64_t predicted_bytes = 0;
};

/// Launches of one stage in a row.
struct StageSegment {
  Stage stage;
  size_t begin = 0;
  size_t end = 0;
};

struct PreparedPlan {
  /// Allocates, loads kernels, uploads constants and commits the preprocessed tree.
  PreparedPlan(CudaRuntime& runtime, CudaPlan compiled);
  PreparedPlan(const PreparedPlan&) = delete;
  PreparedPlan& operator=(const PreparedPlan&) = delete;

  CudaRuntime& runtime;
  const CudaPlan plan;
  std::shared_ptr<const TwiddleTables> tables;
  DeviceBlock shape_block;
  DeviceBlock constants_block;
  DeviceBlock arena_block;
  DeviceBlock terminal_block;
  PinnedBlock terminal_host;
  std::vector<BoundLaunch> launches;
  std::vector<StageSegment> segments;
  /// Event k lies before segment k; one more after the last and one after the copy to the host.
  std::vector<EventLease> events;

  uint64_t reuse_count = 0;  ///< requests beyond the first
  uint64_t n_requests = 0;
  bool in_use = false;  ///< by a session
  /// What the last finished request did.
  std::optional<Counters> last_counters;
  /// The part of it that proof assembly did.
  Counters last_terminal;

  CUdeviceptr address(BufferRef ref) const;
  /// Device and pinned bytes this object holds, without the tables.
  uint64_t bytes() const;

 private:
  BoundLaunch bind(const PlanLaunch& launch);
  void relocate(std::vector<uint8_t>& bytes, const std::vector<Relocation>& relocations) const;
  void run_preparation();
};

std::unique_ptr<ProofSession> make_cuda_session(std::shared_ptr<PreparedPlan> prepared,
                                                const TranscriptObserver& observer);

/// Reads a proof out of the terminal buffer's words. Throws ContractError for counts beyond their
/// capacity, ConstraintsNotSatisfied for what the device reports.
StarkProof read_terminal(const CudaPlan& plan, const uint32_t* words);

}  // namespace stwo::gpu

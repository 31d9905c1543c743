// One run of `stwo prove`: prepares a shape on a backend, makes and checks its proofs, and keeps
// what summary and report are made of. Knows no particular backend.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "prover/backend.hpp"
#include "prover/report/product_report.hpp"

namespace stwo {

/// A backend by name, and how to get it. Made inside the run, which says how long that took.
struct ProveBackend {
  std::string name;  ///< what the user asked for
  std::function<std::unique_ptr<Backend>()> make;
  uint32_t host_threads = 1;  ///< threads that work on a proof, for the report
};

struct RunOptions {
  uint64_t warmup = 0;  ///< requests between the first and the steady ones
  uint64_t repeat = 0;  ///< steady requests
  bool keep_transcript = false;
  bool progress = false;  ///< show the current stage on stderr once the run gets long
};

/// Everything one run produces.
struct ProveResult {
  std::shared_ptr<const ProofShape> shape;
  std::string backend;      ///< Backend::name()
  std::string description;  ///< Backend::description()
  uint32_t host_threads = 1;
  std::string proof_json;
  std::string transcript;
  LifecycleTimes lifecycle;
  std::vector<RequestRecord> requests;
  MemoryPlan memory;
  /// Set exactly when the backend has a device.
  std::optional<DeviceReport> device;
  std::optional<uint64_t> peak_rss;
};

/// Makes the first, the warm-up and the steady proofs of the statement; each is encoded, decoded
/// and verified, and all must have the same bytes. Throws what backend and prover throw, before the
/// first request if the machine can't do it, and ContractError if the backend is not the one asked
/// for: a proof must never carry another backend's name.
ProveResult run_requests(const ProveBackend& backend, const Statement& statement,
                         const PcsConfig& config, const RunOptions& options);

/// The request whose times are shown: the median steady one, or the first.
const RequestRecord& shown_request(const std::vector<RequestRecord>& requests);

}  // namespace stwo

// The backend interface: one method per stage of a proof. prove() (prover/prove.hpp) calls them in
// order; verify.cpp mirrors them.
//
// The transcript belongs to the session, not to the caller: no stage returns a root or takes a
// challenge. A backend that keeps everything on a device, transcript included, therefore needs no
// host round trip before proof_assembly().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "prover/proof/proof.hpp"
#include "prover/shape.hpp"
#include "prover/stage.hpp"

namespace stwo {

/// One proof in flight. Methods are called once each in the order below, except that
/// trace_generation, trace_commit and the absorbing steps follow the statement's transcript.
/// A session borrows from its PreparedShape and gives everything back when destroyed, also after an
/// exception.
class ProofSession {
 public:
  virtual ~ProofSession() = default;

  /// Takes the request's inputs, resets the transcript.
  virtual void ingress() = 0;
  /// Absorbs the PCS config.
  virtual void mix_config() = 0;
  /// Absorbs a number.
  virtual void mix_u64(uint64_t value) = 0;
  /// Writes the columns of a trace tree on the trace domain, storage order.
  virtual void trace_generation(uint32_t tree) = 0;
  /// Extends the tree's columns, hashes the lifted tree, absorbs the root.
  virtual void trace_commit(uint32_t tree) = 0;
  /// Draws the constraint coefficient, evaluates the composition polynomial, splits it in two,
  /// commits its eight columns as the last tree, absorbs the root.
  virtual void constraint_evaluation() = 0;
  /// Draws the out-of-domain point, evaluates every sampled column at its points, checks the
  /// constraint identity, absorbs the values. Throws ConstraintsNotSatisfied.
  virtual void oods() = 0;
  /// Draws the quotient coefficient, evaluates the quotient on the query domain.
  virtual void quotient() = 0;
  /// Commits and folds layer after layer; absorbs the last layer's coefficients.
  virtual void fri_commit() = 0;
  /// Finds the nonce in the reference order and absorbs it.
  virtual void pow() = 0;
  /// Draws the queries and opens every tree.
  virtual void decommit() = 0;
  /// Hands the finished proof over.
  virtual StarkProof proof_assembly() = 0;
};

/// Memory a prepared shape holds and a session needs, in bytes.
struct MemoryPlan {
  uint64_t tables_bytes = 0;   ///< twiddles and other immutable tables
  uint64_t arena_bytes = 0;    ///< everything a session writes, at its peak
  uint64_t scratch_bytes = 0;  ///< per-thread scratch, all threads
  uint64_t total() const { return tables_bytes + arena_bytes + scratch_bytes; }
};

/// Everything that depends on the shape only: tables, arenas, compiled plans. Reused by every
/// request of that shape; one session at a time.
class PreparedShape {
 public:
  virtual ~PreparedShape() = default;
  virtual const ProofShape& shape() const = 0;
  virtual MemoryPlan memory() const = 0;
  virtual std::unique_ptr<ProofSession> begin(const TranscriptObserver& observer = {}) = 0;
};

/// prover/report/device_report.hpp.
class DeviceTelemetry;

class Backend {
 public:
  virtual ~Backend() = default;
  /// "cpu" or "cuda".
  virtual std::string_view name() const = 0;
  /// Instruction set or device, for reports.
  virtual std::string description() const = 0;
  /// Throws EnvironmentError when the machine cannot hold the shape.
  virtual std::unique_ptr<PreparedShape> prepare(std::shared_ptr<const ProofShape> shape) = 0;
  /// What the device did and holds; null for a backend without a device. Owned by the backend.
  virtual const DeviceTelemetry* telemetry() const { return nullptr; }
};

}  // namespace stwo

// The independent verifier: plain scalar code that shares only field, circle, channel and AIR
// scripts with the prover. It mirrors prove() stage by stage and takes every size from the
// statement and its own config, never from the proof.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "prover/proof/proof.hpp"
#include "prover/shape.hpp"

namespace stwo {

/// Why a proof was rejected. Closed list; names are stable.
enum class RejectReason : uint8_t {
  kAccepted,
  kConfigMismatch,       ///< the proof carries another config than the verifier's
  kTreeCount,            ///< number of commitments, decommitments or value trees
  kSampledValuesShape,   ///< not exactly one value per mask point
  kQueriedValuesShape,   ///< not exactly one value per column and query
  kNonCanonicalValue,    ///< a field element outside [0, P)
  kPreprocessedRoot,     ///< tree 0 is not the statement's
  kDegenerateOodsPoint,  ///< unlucky draw: 1 + t^2 = 0 or a sample point over CM31
  kOodsNotMatching,      ///< composition identity fails at the out-of-domain point
  kFriLayerCount,
  kFriLastLayerDegree,  ///< last layer polynomial of the wrong length
  kProofOfWork,
  kMerkleWitnessTooShort,
  kMerkleWitnessTooLong,
  kMerkleRootMismatch,
  kMerkleDuplicateRows,  ///< one position opened with two different rows
  kFriWitnessTooShort,
  kFriWitnessTooLong,
  kFriLayerWitnessTooShort,  ///< Merkle witness of a FRI layer
  kFriLayerWitnessTooLong,
  kFriLayerRootMismatch,
  kFriLastLayerEvaluation,
};

std::string_view reject_reason_name(RejectReason reason);

struct VerifyResult {
  RejectReason reason = RejectReason::kAccepted;
  /// Where: "tree 1", "FRI layer 3", ... Empty when accepted.
  std::string detail;
  bool accepted() const { return reason == RejectReason::kAccepted; }
};

/// Verifies a proof of shape.statement under shape.config. Never throws on any proof value and
/// never reads out of range; memory is bounded by the shape.
VerifyResult verify(const ProofShape& shape, const StarkProof& proof,
                    const TranscriptObserver& transcript = {});

/// Root of the statement's preprocessed tree, computed from the AIR: what tree 0 must be.
Digest preprocessed_root(const ProofShape& shape);

}  // namespace stwo

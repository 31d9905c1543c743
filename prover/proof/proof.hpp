// The proof as a value: what the prover emits and the verifier reads.
// Shapes follow the crate's CommitmentSchemeProof of 2.3.0. Every M31 in it is canonical.
#pragma once

#include <cstdint>
#include <vector>

#include "prover/field/qm31.hpp"
#include "prover/hash/blake2s.hpp"
#include "prover/pcs/config.hpp"

namespace stwo {

/// Sibling hashes of a Merkle decommitment: layer by layer from the leaves, positions ascending.
struct MerkleDecommitment {
  std::vector<Digest> hash_witness;
  friend bool operator==(const MerkleDecommitment&, const MerkleDecommitment&) = default;
};

struct FriLayerProof {
  /// Layer values the verifier cannot derive: per fold block ascending, per position ascending.
  std::vector<QM31> fri_witness;
  MerkleDecommitment decommitment;
  Digest commitment{};
  friend bool operator==(const FriLayerProof&, const FriLayerProof&) = default;
};

/// Polynomial on a line domain.
struct LinePoly {
  /// 2^log_size coefficients, stored bit reversed: the order that is mixed and serialised.
  std::vector<QM31> coeffs;
  uint32_t log_size = 0;
  friend bool operator==(const LinePoly&, const LinePoly&) = default;
  /// Value at x.
  QM31 evaluate(QM31 x) const;
};

struct FriProof {
  FriLayerProof first_layer;
  std::vector<FriLayerProof> inner_layers;
  LinePoly last_layer_poly;
  friend bool operator==(const FriProof&, const FriProof&) = default;
};

struct StarkProof {
  PcsConfig config;
  /// One root per tree: preprocessed, main trace, (interaction,) composition.
  std::vector<Digest> commitments;
  /// [tree][column][sample]
  std::vector<std::vector<std::vector<QM31>>> sampled_values;
  /// [tree]
  std::vector<MerkleDecommitment> decommitments;
  /// [tree][column][query], columns in commit order
  std::vector<std::vector<std::vector<M31>>> queried_values;
  uint64_t proof_of_work = 0;
  FriProof fri_proof;
  friend bool operator==(const StarkProof&, const StarkProof&) = default;
};

}  // namespace stwo

// The verifier's side of FRI: replays the commit phase on the transcript, then checks the openings
// layer by layer down to the last polynomial.
// Source: protocol.md section 8; the crate's core/fri.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prover/channel/channel.hpp"
#include "prover/proof/proof.hpp"
#include "prover/shape.hpp"
#include "prover/verify.hpp"

namespace stwo {

/// Borrows shape and proof. Calls in order: check_structure, commit, decommit.
class FriVerifier {
 public:
  FriVerifier(const ProofShape& shape, const FriProof& proof) : shape_(shape), proof_(proof) {}

  /// Number of layers and length of the last polynomial; needs no transcript.
  ///
  /// Stricter than the crate, which takes any last polynomial of at most 2^e coefficients and mixes
  /// what is there: exactly 2^e are required, with the matching log_size, as every prover emits.
  VerifyResult check_structure() const;

  /// Absorbs every layer root and draws its folding challenge, then absorbs the last polynomial.
  void commit(Channel& channel, const TranscriptObserver& transcript);

  /// `positions`: sorted distinct query positions on the first layer; `values`: the quotient there.
  VerifyResult decommit(std::vector<uint32_t> positions, std::vector<QM31> values) const;

 private:
  const FriLayerProof& layer(size_t k) const {
    return k == 0 ? proof_.first_layer : proof_.inner_layers[k - 1];
  }
  VerifyResult decommit_layer(size_t k, std::vector<uint32_t>& positions,
                              std::vector<QM31>& values) const;

  const ProofShape& shape_;
  const FriProof& proof_;
  /// Folding challenge of each layer.
  std::vector<QM31> challenges_;
};

}  // namespace stwo

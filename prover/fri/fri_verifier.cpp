#include "prover/fri/fri_verifier.hpp"

#include <array>
#include <string>

#include "prover/circle/domain.hpp"
#include "prover/errors.hpp"
#include "prover/fri/fold.hpp"
#include "prover/merkle/merkle.hpp"

namespace stwo {
namespace {

std::string layer_name(size_t k) { return "FRI layer " + std::to_string(k); }

VerifyResult merkle_result(MerkleVerifyStatus status, const std::string& where) {
  switch (status) {
    case MerkleVerifyStatus::kOk: return {};
    case MerkleVerifyStatus::kWitnessTooShort:
      return {RejectReason::kFriLayerWitnessTooShort, where};
    case MerkleVerifyStatus::kWitnessTooLong: return {RejectReason::kFriLayerWitnessTooLong, where};
    // Blocks are distinct, so two rows for one position can't occur here.
    case MerkleVerifyStatus::kDuplicateRows:
    case MerkleVerifyStatus::kRootMismatch: return {RejectReason::kFriLayerRootMismatch, where};
  }
  throw ContractError("unknown Merkle status");
}

/// Leaves of a layer that cover `values`, the layer's values at whole blocks: values[i] belongs to
/// position block_positions[i / block] * block + i % block. A packed leaf holds four neighbours.
std::vector<MerkleLeaf> block_leaves(HashVariant variant, const FriLayerShape& layer,
                                     std::span<const uint32_t> blocks,
                                     std::span<const QM31> values) {
  const uint32_t per_leaf = layer.packed() ? 4 : 1;
  const uint32_t leaves_per_block = (1u << layer.fold_step) / per_leaf;
  std::vector<MerkleLeaf> leaves;
  leaves.reserve(values.size() / per_leaf);
  std::vector<M31> row(per_leaf * kSecureExtensionDegree);
  size_t next = 0;
  for (const uint32_t block : blocks) {
    for (uint32_t j = 0; j < leaves_per_block; ++j) {
      for (uint32_t i = 0; i < per_leaf; ++i, ++next) {
        for (uint32_t c = 0; c < kSecureExtensionDegree; ++c) {
          row[i * kSecureExtensionDegree + c] = values[next].coordinate(c);
        }
      }
      leaves.push_back({block * leaves_per_block + j, merkle_leaf(variant, row)});
    }
  }
  return leaves;
}

}  // namespace

VerifyResult FriVerifier::check_structure() const {
  if (proof_.inner_layers.size() + 1 != shape_.fri_layers.size()) {
    return {RejectReason::kFriLayerCount,
            "expected " + std::to_string(shape_.fri_layers.size() - 1) + " inner layers, got " +
                std::to_string(proof_.inner_layers.size())};
  }
  const uint32_t e = shape_.config.fri.log_last_layer_degree_bound;
  const LinePoly& last = proof_.last_layer_poly;
  if (last.coeffs.size() != size_t{1} << e || last.log_size != e) {
    return {RejectReason::kFriLastLayerDegree,
            "expected 2^" + std::to_string(e) + " coefficients, got " +
                std::to_string(last.coeffs.size()) + " with log_size " +
                std::to_string(last.log_size)};
  }
  return {};
}

void FriVerifier::commit(Channel& channel, const TranscriptObserver& transcript) {
  challenges_.clear();
  for (size_t k = 0; k < shape_.fri_layers.size(); ++k) {
    channel.mix_root(layer(k).commitment);
    if (transcript) transcript("fri_layer_" + std::to_string(k) + "_root", channel.digest());
    challenges_.push_back(channel.draw_secure_felt());
  }
  channel.mix_felts(proof_.last_layer_poly.coeffs);
  if (transcript) transcript("fri_last_layer", channel.digest());
}

/// Completes the fold blocks that the positions fall into from the witness, checks them against the
/// layer's root, and replaces positions and values by those of the next layer.
VerifyResult FriVerifier::decommit_layer(size_t k, std::vector<uint32_t>& positions,
                                         std::vector<QM31>& values) const {
  const FriLayerShape& shape = shape_.fri_layers[k];
  const FriLayerProof& proof = layer(k);
  const uint32_t block_size = 1u << shape.fold_step;

  std::vector<uint32_t> blocks;
  std::vector<QM31> block_values;
  size_t used = 0;
  for (size_t i = 0; i < positions.size();) {
    const uint32_t block = positions[i] >> shape.fold_step;
    blocks.push_back(block);
    for (uint32_t j = 0; j < block_size; ++j) {
      if (i < positions.size() && positions[i] == block * block_size + j) {
        block_values.push_back(values[i++]);
        continue;
      }
      if (used == proof.fri_witness.size()) {
        return {RejectReason::kFriWitnessTooShort, layer_name(k)};
      }
      block_values.push_back(proof.fri_witness[used++]);
    }
  }
  if (used != proof.fri_witness.size()) return {RejectReason::kFriWitnessTooLong, layer_name(k)};

  const HashVariant variant = shape_.statement.channel;
  const MerkleVerifyStatus status = merkle_verify_leaves(
      variant, proof.commitment, shape.tree_height(),
      block_leaves(variant, shape, blocks, block_values), proof.decommitment.hash_witness);
  if (status != MerkleVerifyStatus::kOk) return merkle_result(status, layer_name(k));

  const FriLayerKind kind = k == 0 ? FriLayerKind::kCircle : FriLayerKind::kLine;
  values.clear();
  for (size_t b = 0; b < blocks.size(); ++b) {
    values.push_back(fold_block(kind, std::span(block_values).subspan(b * block_size, block_size),
                                shape.log_size, blocks[b], challenges_[k]));
  }
  positions = std::move(blocks);
  return {};
}

VerifyResult FriVerifier::decommit(std::vector<uint32_t> positions,
                                   std::vector<QM31> values) const {
  STWO_CHECK(challenges_.size() == shape_.fri_layers.size(), "decommit before commit");
  STWO_CHECK(positions.size() == values.size(), "one value per position");
  for (size_t k = 0; k < shape_.fri_layers.size(); ++k) {
    VerifyResult result = decommit_layer(k, positions, values);
    if (!result.accepted()) return result;
  }
  const LineDomain domain{shape_.last_layer_log_size()};
  for (size_t i = 0; i < positions.size(); ++i) {
    const QM31 x(domain.x_at_storage(positions[i]));
    if (values[i] != proof_.last_layer_poly.evaluate(x)) {
      return {RejectReason::kFriLastLayerEvaluation,
              "position " + std::to_string(positions[i]) + " of the last layer"};
    }
  }
  return {};
}

}  // namespace stwo

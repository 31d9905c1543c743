// The FRI verifier against a plain prover written here from the folds, the reference FFT and the
// reference tree.

#include "prover/fri/fri_verifier.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "prover/circle/domain.hpp"
#include "prover/errors.hpp"
#include "prover/fri/fold.hpp"
#include "prover/merkle/merkle.hpp"
#include "prover/poly/circle_fft.hpp"
#include "tests/support/random.hpp"

namespace stwo {
namespace {

struct CommittedLayer {
  std::vector<QM31> values;
  std::vector<std::vector<Digest>> tree;
};

/// The layer's tree, leaf by leaf: four values a leaf if packed.
std::vector<std::vector<Digest>> layer_tree(HashVariant variant, const std::vector<QM31>& values,
                                            bool packed) {
  const size_t per_leaf = packed ? 4 : 1;
  std::vector<std::vector<Digest>> layers(1);
  for (size_t i = 0; i < values.size(); i += per_leaf) {
    std::vector<M31> row;
    for (size_t j = i; j < i + per_leaf; ++j) {
      for (uint32_t c = 0; c < 4; ++c) row.push_back(values[j].coordinate(c));
    }
    layers[0].push_back(merkle_leaf(variant, row));
  }
  while (layers[0].size() > 1) {
    std::vector<Digest> parents;
    for (size_t i = 0; i < layers[0].size(); i += 2) {
      parents.push_back(blake2s_node(variant, layers[0][i], layers[0][i + 1]));
    }
    layers.insert(layers.begin(), std::move(parents));
  }
  return layers;
}

/// A quotient of degree bound 2^D, its FRI proof and everything a verifier is given.
class Instance {
 public:
  Instance(uint32_t log_n_rows, FriConfig fri, HashVariant variant = HashVariant::kBlake2s) {
    PcsConfig config;
    config.fri = fri;
    Statement statement{"wide_fibonacci", variant, false, {}};
    statement.parameters = {{"log_n_rows", log_n_rows}, {"sequence_len", 3}};
    shape = make_shape(statement, config);
    prove();
  }

  VerifyResult verify() const { return verify(proof); }
  VerifyResult verify(const FriProof& candidate) const {
    FriVerifier verifier(*shape, candidate);
    VerifyResult result = verifier.check_structure();
    if (!result.accepted()) return result;
    Channel channel(shape->statement.channel);
    verifier.commit(channel, {});
    return verifier.decommit(positions, answers);
  }

  std::shared_ptr<const ProofShape> shape;
  FriProof proof;
  std::vector<uint32_t> positions;
  std::vector<QM31> answers;

 private:
  void prove() {
    const HashVariant variant = shape->statement.channel;
    std::vector<QM31> values = rng_.qm31_vector(size_t{1} << shape->max_degree_log_size);
    values.resize(size_t{1} << shape->lifting_log_size);
    evaluate(values);

    Channel channel(variant);
    std::vector<CommittedLayer> layers;
    const std::vector<QM31> quotient = values;
    for (size_t k = 0; k < shape->fri_layers.size(); ++k) {
      const FriLayerShape& layer = shape->fri_layers[k];
      ASSERT_EQ(values.size(), size_t{1} << layer.log_size);
      layers.push_back({values, layer_tree(variant, values, layer.packed())});
      ASSERT_EQ(layers.back().tree.size(), layer.tree_height() + 1);
      channel.mix_root(layers.back().tree[0][0]);
      QM31 beta = channel.draw_secure_felt();
      for (uint32_t i = 0; i < layer.fold_step; ++i, beta = beta * beta) {
        const auto kind = k == 0 && i == 0 ? FriLayerKind::kCircle : FriLayerKind::kLine;
        values = fold_layer(kind, values, layer.log_size - i, beta);
      }
    }
    line_interpolate(values);
    const size_t n = size_t{1} << shape->config.fri.log_last_layer_degree_bound;
    for (size_t j = n; j < values.size(); ++j) ASSERT_TRUE(values[j].is_zero());
    values.resize(n);
    bit_reverse_in_place(values);
    proof.last_layer_poly = {values, shape->config.fri.log_last_layer_degree_bound};
    channel.mix_felts(values);

    positions = draw_queries(channel, shape->lifting_log_size, shape->config.fri.n_queries);
    for (const uint32_t p : positions) answers.push_back(quotient[p]);
    open(layers);
  }

  void open(const std::vector<CommittedLayer>& layers) {
    std::vector<uint32_t> current = positions;
    for (size_t k = 0; k < layers.size(); ++k) {
      const FriLayerShape& shape_k = shape->fri_layers[k];
      FriLayerProof layer;
      layer.commitment = layers[k].tree[0][0];
      std::vector<uint32_t> blocks;
      std::vector<uint32_t> leaves;
      for (const uint32_t p : current) {
        const uint32_t block = p >> shape_k.fold_step;
        if (!blocks.empty() && blocks.back() == block) continue;
        blocks.push_back(block);
        for (uint32_t q = block << shape_k.fold_step; q < (block + 1) << shape_k.fold_step; ++q) {
          if (!std::binary_search(current.begin(), current.end(), q)) {
            layer.fri_witness.push_back(layers[k].values[q]);
          }
          leaves.push_back(shape_k.packed() ? q >> 2 : q);
        }
      }
      layer.decommitment.hash_witness = reference_witness(layers[k].tree, leaves);
      (k == 0 ? proof.first_layer : proof.inner_layers.emplace_back()) = std::move(layer);
      current = std::move(blocks);
    }
  }

  test::Random rng_;
};

FriLayerProof& layer_of(FriProof& proof, size_t k) {
  return k == 0 ? proof.first_layer : proof.inner_layers[k - 1];
}

TEST(FriVerifier, AcceptsHonestProofs) {
  STWO_TRACE_SEED();
  for (uint32_t log = 1; log <= 8; ++log) {
    for (uint32_t blowup = 1; blowup <= 3; ++blowup) {
      for (uint32_t fold = 1; fold <= 5; ++fold) {
        for (uint32_t last = 0; last <= 3; ++last) {
          if (log < fold + last) continue;
          for (const uint32_t queries : {1u, 5u, 40u}) {
            const auto variant = queries == 5 ? HashVariant::kBlake2sM31 : HashVariant::kBlake2s;
            const Instance instance(log, {blowup, last, queries, fold}, variant);
            const VerifyResult r = instance.verify();
            ASSERT_TRUE(r.accepted()) << config_to_string(instance.shape->config) << " log " << log
                                      << ": " << reject_reason_name(r.reason) << " " << r.detail;
          }
        }
      }
    }
  }
}

struct FriTamper : ::testing::TestWithParam<FriConfig> {};
INSTANTIATE_TEST_SUITE_P(Configs, FriTamper,
                         ::testing::Values(FriConfig{1, 0, 3, 1}, FriConfig{2, 1, 4, 3},
                                           FriConfig{1, 2, 8, 2}));

TEST_P(FriTamper, EveryPart) {
  STWO_TRACE_SEED();
  const Instance good(7, GetParam());
  ASSERT_TRUE(good.verify().accepted());
  const size_t n_layers = good.shape->fri_layers.size();
  const auto expect = [&](RejectReason reason, const std::function<void(FriProof&)>& change) {
    FriProof bad = good.proof;
    change(bad);
    const VerifyResult r = good.verify(bad);
    EXPECT_EQ(reject_reason_name(r.reason), reject_reason_name(reason)) << r.detail;
  };
  const QM31 one = QM31::one();
  for (size_t k = 0; k < n_layers; ++k) {
    const FriLayerProof& layer = k == 0 ? good.proof.first_layer : good.proof.inner_layers[k - 1];
    expect(RejectReason::kFriWitnessTooLong,
           [&](FriProof& p) { layer_of(p, k).fri_witness.push_back(one); });
    expect(RejectReason::kFriLayerWitnessTooLong,
           [&](FriProof& p) { layer_of(p, k).decommitment.hash_witness.push_back(Digest{}); });
    if (!layer.fri_witness.empty()) {
      expect(RejectReason::kFriWitnessTooShort,
             [&](FriProof& p) { layer_of(p, k).fri_witness.pop_back(); });
      for (size_t i = 0; i < layer.fri_witness.size(); ++i) {
        expect(RejectReason::kFriLayerRootMismatch,
               [&](FriProof& p) { layer_of(p, k).fri_witness[i] += one; });
      }
    }
    for (size_t i = 0; i < layer.decommitment.hash_witness.size(); ++i) {
      expect(RejectReason::kFriLayerRootMismatch,
             [&](FriProof& p) { layer_of(p, k).decommitment.hash_witness[i][31] ^= 0x80; });
    }
    if (!layer.decommitment.hash_witness.empty()) {
      expect(RejectReason::kFriLayerWitnessTooShort,
             [&](FriProof& p) { layer_of(p, k).decommitment.hash_witness.pop_back(); });
    }
  }
  expect(RejectReason::kFriLayerCount,
         [&](FriProof& p) { p.inner_layers.push_back(p.inner_layers.back()); });
  expect(RejectReason::kFriLayerCount, [&](FriProof& p) { p.inner_layers.pop_back(); });
  expect(RejectReason::kFriLastLayerDegree,
         [&](FriProof& p) { p.last_layer_poly.coeffs.push_back(one); });
  expect(RejectReason::kFriLastLayerDegree,
         [&](FriProof& p) { p.last_layer_poly.coeffs.pop_back(); });
  expect(RejectReason::kFriLastLayerDegree, [&](FriProof& p) { p.last_layer_poly.coeffs.clear(); });
  expect(RejectReason::kFriLastLayerDegree, [&](FriProof& p) { p.last_layer_poly.log_size += 1; });
  for (size_t i = 0; i < good.proof.last_layer_poly.coeffs.size(); ++i) {
    // Queries are fixed here, so the change is seen where the last polynomial is compared.
    expect(RejectReason::kFriLastLayerEvaluation,
           [&](FriProof& p) { p.last_layer_poly.coeffs[i] += one; });
  }
}

TEST_P(FriTamper, WrongAnswers) {
  STWO_TRACE_SEED();
  for (size_t i = 0; i < 3; ++i) {
    Instance bad(6, GetParam());
    if (i >= bad.answers.size()) continue;
    bad.answers[i] += QM31::from_u32(0, 0, 0, 1);
    EXPECT_EQ(bad.verify().reason, RejectReason::kFriLayerRootMismatch);
  }
}

TEST(FriVerifier, DecommitNeedsCommit) {
  const Instance good(3, {1, 0, 3, 1});
  const FriVerifier verifier(*good.shape, good.proof);
  EXPECT_THROW(verifier.decommit(good.positions, good.answers), ContractError);
}

}  // namespace
}  // namespace stwo

// The verifier: proofs it must accept, among them proofs written by the stwo crate, and one proof
// for every reason to reject. Exhaustive single changes are in tamper_test.cpp.

#include "prover/verify.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "prover/merkle/merkle.hpp"
#include "tests/support/proofs.hpp"
#include "tests/support/random.hpp"

namespace stwo {
namespace {

std::string describe(const VerifyResult& r) {
  return std::string(reject_reason_name(r.reason)) + " " + r.detail;
}

class VerifyCases : public ::testing::TestWithParam<test::ProofCase> {};
INSTANTIATE_TEST_SUITE_P(Small, VerifyCases, ::testing::ValuesIn(test::small_cases()),
                         [](const auto& p) { return p.param.name; });

TEST_P(VerifyCases, AcceptsWithTheProversTranscript) {
  const auto shape = make_shape(GetParam().statement, GetParam().config);
  using Steps = std::vector<std::pair<std::string, Digest>>;
  Steps prover;
  Steps verifier;
  const auto record = [](Steps& steps) {
    return [&steps](std::string_view name, const Digest& d) { steps.emplace_back(name, d); };
  };
  const StarkProof proof = test::make_proof(shape, record(prover));
  const VerifyResult r = verify(*shape, proof, record(verifier));
  EXPECT_TRUE(r.accepted()) << describe(r);
  EXPECT_EQ(prover, verifier);
  std::vector<std::string> names;
  for (const auto& [name, digest] : verifier) names.push_back(name);
  std::vector<std::string> expected;
  if (shape->statement.mix_config) expected.push_back("mix_config");
  for (const char* n : {"tree0_root", "tree1_root", "composition_root", "sampled_values"}) {
    expected.push_back(n);
  }
  for (size_t k = 0; k < shape->fri_layers.size(); ++k) {
    expected.push_back("fri_layer_" + std::to_string(k) + "_root");
  }
  expected.push_back("fri_last_layer");
  expected.push_back("pow_nonce");
  EXPECT_EQ(names, expected);
}

TEST_P(VerifyCases, PreprocessedRootIsTreeZero) {
  const auto shape = make_shape(GetParam().statement, GetParam().config);
  EXPECT_EQ(preprocessed_root(*shape), test::make_proof(shape).commitments[0]);
  if (shape->trees[0].column_log_sizes.empty()) {
    EXPECT_EQ(preprocessed_root(*shape), blake2s(shape->statement.channel, {}));
  }
}

TEST_P(VerifyCases, ManyProofsOfManyConfigs) {
  test::Random rng;
  STWO_TRACE_SEED();
  for (int n = 0; n < 25; ++n) {
    PcsConfig c = GetParam().config;
    c.pow_bits = static_cast<uint32_t>(rng.below(6));
    c.fri = {1 + static_cast<uint32_t>(rng.below(4)), static_cast<uint32_t>(rng.below(3)),
             1 + static_cast<uint32_t>(rng.below(20)), 1 + static_cast<uint32_t>(rng.below(5))};
    if (c.lifting_log_size) c.lifting_log_size = 9 + static_cast<uint32_t>(rng.below(3));
    std::shared_ptr<const ProofShape> shape;
    try {
      shape = make_shape(GetParam().statement, c);
    } catch (const UsageError&) {
      continue;  // fold and last too large for the trace
    }
    const VerifyResult r = verify(*shape, test::make_proof(shape));
    EXPECT_TRUE(r.accepted()) << config_to_string(c) << ": " << describe(r);
  }
}

TEST(Verify, AcceptsProofsOfTheCrate) {
  size_t n = 0;
  const auto folder =
      std::filesystem::path(__FILE__).parent_path().parent_path() / "data/crate_proofs";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    const ProofFile file = read_proof_file(entry.path().string()).file;
    const auto shape = make_shape(file.statement, file.config);
    const VerifyResult r = verify(*shape, file.proof);
    EXPECT_TRUE(r.accepted()) << entry.path() << ": " << describe(r);
    // And is what our prover writes.
    EXPECT_EQ(write_proof_file(file),
              write_proof_file({file.statement, file.config, test::make_proof(shape)}))
        << entry.path();
    ++n;
  }
  EXPECT_GE(n, 8u);
}

class Rejects : public ::testing::Test {
 protected:
  void use(size_t which) {
    const test::ProofCase c = test::small_cases()[which];
    shape_ = make_shape(c.statement, c.config);
    good_ = test::make_proof(shape_);
    ASSERT_TRUE(verify(*shape_, good_).accepted());
  }
  void expect(RejectReason reason, const std::string& detail,
              const std::function<void(StarkProof&)>& change) {
    StarkProof bad = good_;
    change(bad);
    const VerifyResult r = verify(*shape_, bad);
    EXPECT_EQ(reject_reason_name(r.reason), reject_reason_name(reason)) << r.detail;
    EXPECT_EQ(r.detail, detail);
    seen_.insert(r.reason);
  }

  std::shared_ptr<const ProofShape> shape_;
  StarkProof good_;
  std::set<RejectReason> seen_;
};

TEST_F(Rejects, EveryReasonAndWhere) {
  use(1);
  const auto one = QM31::one();
  using R = RejectReason;
  expect(R::kConfigMismatch,
         "expected pow=8,blowup=2,queries=4,last=1,fold=3,lift=none, got "
         "pow=7,blowup=2,queries=4,last=1,fold=3,lift=none",
         [](auto& p) { p.config.pow_bits -= 1; });
  expect(R::kTreeCount, "commitments: expected 3, got 2",
         [](auto& p) { p.commitments.pop_back(); });
  expect(R::kTreeCount, "sampled_values: expected 3, got 4",
         [](auto& p) { p.sampled_values.emplace_back(); });
  expect(R::kTreeCount, "decommitments: expected 3, got 0",
         [](auto& p) { p.decommitments.clear(); });
  expect(R::kTreeCount, "queried_values: expected 3, got 2",
         [](auto& p) { p.queried_values.pop_back(); });
  expect(R::kSampledValuesShape, "tree 0 columns: expected 0, got 1",
         [](auto& p) { p.sampled_values[0].emplace_back(); });
  expect(R::kSampledValuesShape, "tree 1 column 3: expected 1, got 2",
         [&](auto& p) { p.sampled_values[1][3].push_back(one); });
  expect(R::kSampledValuesShape, "tree 2 column 7: expected 1, got 0",
         [](auto& p) { p.sampled_values[2][7].clear(); });
  expect(R::kQueriedValuesShape, "tree 2 columns: expected 8, got 7",
         [](auto& p) { p.queried_values[2].pop_back(); });
  expect(R::kQueriedValuesShape, "tree 1 column 0: expected 4, got 5",
         [](auto& p) { p.queried_values[1][0].push_back(M31(1)); });
  expect(R::kNonCanonicalValue, "sampled value of tree 1 column 2",
         [](auto& p) { p.sampled_values[1][2][0].y.b.v = kP; });
  expect(R::kNonCanonicalValue, "queried value of tree 2 column 0",
         [](auto& p) { p.queried_values[2][0][1].v += kP; });
  expect(R::kNonCanonicalValue, "FRI layer 0",
         [](auto& p) { p.fri_proof.first_layer.fri_witness[0].x.a.v = 0xffffffff; });
  expect(R::kNonCanonicalValue, "FRI layer 1",
         [](auto& p) { p.fri_proof.inner_layers[0].fri_witness[0].x.b.v = 0x80000000; });
  expect(R::kNonCanonicalValue, "FRI last layer",
         [](auto& p) { p.fri_proof.last_layer_poly.coeffs[1].x.a.v += kP; });
  expect(R::kPreprocessedRoot, "tree 0", [](auto& p) { p.commitments[0][0] ^= 1; });
  expect(R::kOodsNotMatching, "", [](auto& p) { p.commitments[1][5] ^= 1; });
  expect(R::kOodsNotMatching, "", [&](auto& p) { p.sampled_values[2][4][0] += one; });
  expect(R::kFriLayerCount, "expected 1 inner layers, got 0",
         [](auto& p) { p.fri_proof.inner_layers.clear(); });
  expect(R::kFriLastLayerDegree, "expected 2^1 coefficients, got 1 with log_size 1",
         [](auto& p) { p.fri_proof.last_layer_poly.coeffs.pop_back(); });
  expect(R::kProofOfWork, "8 bits", [&](auto& p) {
    // Some nonce that doesn't solve the puzzle.
    do {
      ++p.proof_of_work;
    } while (verify(*shape_, p).reason != R::kProofOfWork);
  });
  expect(R::kMerkleWitnessTooShort, "tree 1",
         [](auto& p) { p.decommitments[1].hash_witness.pop_back(); });
  expect(R::kMerkleWitnessTooLong, "tree 2",
         [](auto& p) { p.decommitments[2].hash_witness.emplace_back(); });
  expect(R::kMerkleWitnessTooLong, "tree 0",
         [](auto& p) { p.decommitments[0].hash_witness.emplace_back(); });
  expect(R::kMerkleRootMismatch, "tree 1", [](auto& p) { p.queried_values[1][0][0] += M31(1); });
  expect(R::kFriWitnessTooShort, "FRI layer 1",
         [](auto& p) { p.fri_proof.inner_layers[0].fri_witness.pop_back(); });
  expect(R::kFriWitnessTooLong, "FRI layer 0",
         [&](auto& p) { p.fri_proof.first_layer.fri_witness.push_back(one); });
  expect(R::kFriLayerWitnessTooShort, "FRI layer 0",
         [](auto& p) { p.fri_proof.first_layer.decommitment.hash_witness.pop_back(); });
  expect(R::kFriLayerWitnessTooLong, "FRI layer 1",
         [](auto& p) { p.fri_proof.inner_layers[0].decommitment.hash_witness.emplace_back(); });
  expect(R::kFriLayerRootMismatch, "FRI layer 0",
         [&](auto& p) { p.fri_proof.first_layer.fri_witness[0] += one; });
  // Three reasons can't be reached by changing a good proof: a degenerate point needs an unlucky
  // transcript, two rows for one position need a tree 0 smaller than the query domain, and a wrong
  // last evaluation needs a prover that commits to a function of too high a degree (see
  // fri_verifier_test and merkle_test).
  EXPECT_EQ(seen_.size(), static_cast<size_t>(R::kFriLastLayerEvaluation) - 3);
}

TEST_F(Rejects, AnEmptyProof) {
  use(1);
  StarkProof empty;
  EXPECT_EQ(verify(*shape_, empty).reason, RejectReason::kConfigMismatch);
  empty.config = shape_->config;
  EXPECT_EQ(verify(*shape_, empty).reason, RejectReason::kTreeCount);
}

TEST_F(Rejects, ProofsOfOtherStatements) {
  use(0);
  const std::vector<test::ProofCase> cases = test::small_cases();
  for (size_t i = 1; i < cases.size(); ++i) {
    StarkProof other = test::make_proof(make_shape(cases[i].statement, cases[i].config));
    EXPECT_FALSE(verify(*shape_, other).accepted());
    other.config = shape_->config;
    EXPECT_FALSE(verify(*shape_, other).accepted());
  }
}

/// Proof values of any kind in shapes of any kind never throw.
TEST_F(Rejects, RandomValuesInTheRightShape) {
  test::Random rng;
  STWO_TRACE_SEED();
  for (size_t which = 0; which < test::small_cases().size(); ++which) {
    use(which);
    for (int n = 0; n < 50; ++n) {
      StarkProof p = good_;
      for (auto& tree : p.sampled_values) {
        for (auto& column : tree) {
          for (QM31& v : column) v = rng.qm31();
        }
      }
      for (auto& root : p.commitments) root.fill(static_cast<uint8_t>(rng.below(256)));
      if (rng.coin()) p.commitments[0] = good_.commitments[0];
      EXPECT_FALSE(verify(*shape_, p).accepted());
    }
  }
}

/// A property of the protocol, not of this verifier: in a lifted proof nothing binds the size of a
/// component below the largest, as long as the columns keep their hashing order. A trace of 2^n
/// rows repeated is a trace of any larger size, so the claim proven is the same.
TEST(VerifyProperty, SmallerComponentSizesAreNotBound) {
  const test::ProofCase c = test::small_cases()[2];
  ASSERT_EQ(c.name, "pair");
  ProofFile file = test::make_proof_file(c);
  ASSERT_EQ(file.statement.parameters[2].first, "second_log_n_rows");
  for (const uint64_t log : {3, 5}) {
    file.statement.parameters[2].second = log;
    EXPECT_EQ(test::verdict(write_proof_file(file), c.config), "accepted");
  }
}

TEST(RejectReasons, NamesAreDistinct) {
  std::set<std::string_view> names;
  for (uint8_t r = 0; r <= static_cast<uint8_t>(RejectReason::kFriLastLayerEvaluation); ++r) {
    EXPECT_TRUE(names.insert(reject_reason_name(static_cast<RejectReason>(r))).second);
  }
}

}  // namespace
}  // namespace stwo

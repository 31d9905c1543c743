#include "prover/verify.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "prover/circle/domain.hpp"
#include "prover/errors.hpp"
#include "prover/fri/fri_verifier.hpp"
#include "prover/merkle/merkle.hpp"
#include "prover/pcs/quotients.hpp"
#include "prover/poly/circle_fft.hpp"

namespace stwo {
namespace {

std::string tree_name(size_t t) { return "tree " + std::to_string(t); }
std::string column_name(size_t t, size_t c) {
  return tree_name(t) + " column " + std::to_string(c);
}
std::string expected_got(const std::string& what, size_t expected, size_t got) {
  return what + ": expected " + std::to_string(expected) + ", got " + std::to_string(got);
}

bool canonical(M31 v) { return v.v < kP; }
bool canonical(QM31 v) {
  return canonical(v.x.a) && canonical(v.x.b) && canonical(v.y.a) && canonical(v.y.b);
}
template <class F>
bool all_canonical(const std::vector<F>& values) {
  return std::all_of(values.begin(), values.end(), [](F v) { return canonical(v); });
}

/// One verification. Every step returns a result; the first that isn't accepted ends it.
class Verifier {
 public:
  Verifier(const ProofShape& shape, const StarkProof& proof, const TranscriptObserver& transcript)
      : shape_(shape),
        proof_(proof),
        transcript_(transcript),
        channel_(shape.statement.channel),
        fri_(shape, proof.fri_proof) {}

  VerifyResult run();

 private:
  using Step = VerifyResult (Verifier::*)();

  // Structure, before any value is used.
  VerifyResult config();
  VerifyResult tree_count();
  VerifyResult sampled_values_shape();
  VerifyResult queried_columns();
  VerifyResult fri_structure();
  VerifyResult canonical_values();
  // The transcript, mirroring prove().
  VerifyResult trace_commit();
  VerifyResult constraint_evaluation();
  VerifyResult oods();
  VerifyResult quotient();
  VerifyResult fri_commit();
  VerifyResult pow();
  // Openings: no transcript use after the queries.
  VerifyResult queries();
  VerifyResult tree_openings();
  VerifyResult fri_openings();

  void observe(std::string_view step) {
    if (transcript_) transcript_(step, channel_.digest());
  }

  const ProofShape& shape_;
  const StarkProof& proof_;
  const TranscriptObserver& transcript_;
  Channel channel_;
  FriVerifier fri_;

  QM31 constraint_coefficient_;
  CirclePoint<QM31> oods_point_;
  std::vector<QuotientBatch> batches_;
  std::vector<uint32_t> positions_;
  std::vector<uint32_t> preprocessed_positions_;
};

VerifyResult Verifier::config() {
  if (proof_.config == shape_.config) return {};
  return {RejectReason::kConfigMismatch, "expected " + config_to_string(shape_.config) + ", got " +
                                             config_to_string(proof_.config)};
}

VerifyResult Verifier::tree_count() {
  const size_t n = shape_.trees.size();
  const auto check = [&](const char* what, size_t got) -> VerifyResult {
    if (got == n) return {};
    return {RejectReason::kTreeCount, expected_got(what, n, got)};
  };
  for (const VerifyResult& r : {check("commitments", proof_.commitments.size()),
                                check("sampled_values", proof_.sampled_values.size()),
                                check("decommitments", proof_.decommitments.size()),
                                check("queried_values", proof_.queried_values.size())}) {
    if (!r.accepted()) return r;
  }
  return {};
}

VerifyResult Verifier::sampled_values_shape() {
  for (size_t t = 0; t < shape_.trees.size(); ++t) {
    const auto& offsets = shape_.trees[t].mask_offsets;
    const auto& values = proof_.sampled_values[t];
    if (values.size() != offsets.size()) {
      return {RejectReason::kSampledValuesShape,
              expected_got(tree_name(t) + " columns", offsets.size(), values.size())};
    }
    for (size_t c = 0; c < offsets.size(); ++c) {
      if (values[c].size() != offsets[c].size()) {
        return {RejectReason::kSampledValuesShape,
                expected_got(column_name(t, c), offsets[c].size(), values[c].size())};
      }
    }
  }
  return {};
}

VerifyResult Verifier::queried_columns() {
  for (size_t t = 0; t < shape_.trees.size(); ++t) {
    const size_t n = shape_.trees[t].column_log_sizes.size();
    if (proof_.queried_values[t].size() != n) {
      return {RejectReason::kQueriedValuesShape,
              expected_got(tree_name(t) + " columns", n, proof_.queried_values[t].size())};
    }
  }
  return {};
}

VerifyResult Verifier::fri_structure() { return fri_.check_structure(); }

VerifyResult Verifier::canonical_values() {
  const auto bad = [](std::string where) -> VerifyResult {
    return {RejectReason::kNonCanonicalValue, std::move(where)};
  };
  for (size_t t = 0; t < shape_.trees.size(); ++t) {
    for (size_t c = 0; c < proof_.sampled_values[t].size(); ++c) {
      if (!all_canonical(proof_.sampled_values[t][c])) {
        return bad("sampled value of " + column_name(t, c));
      }
      if (!all_canonical(proof_.queried_values[t][c])) {
        return bad("queried value of " + column_name(t, c));
      }
    }
  }
  const FriProof& fri = proof_.fri_proof;
  if (!all_canonical(fri.first_layer.fri_witness)) return bad("FRI layer 0");
  for (size_t k = 0; k < fri.inner_layers.size(); ++k) {
    if (!all_canonical(fri.inner_layers[k].fri_witness)) {
      return bad("FRI layer " + std::to_string(k + 1));
    }
  }
  if (!all_canonical(fri.last_layer_poly.coeffs)) return bad("FRI last layer");
  return {};
}

/// The application's part of the transcript: everything before the first core challenge.
VerifyResult Verifier::trace_commit() {
  uint32_t next_tree = 0;
  for (const TranscriptStep& step : shape_.instance->transcript(shape_.statement)) {
    switch (step.kind) {
      case TranscriptStep::Kind::kMixConfig:
        shape_.config.mix_into(channel_);
        observe("mix_config");
        break;
      case TranscriptStep::Kind::kMixU64:
        channel_.mix_u64(step.value);
        observe("mix_u64");
        break;
      case TranscriptStep::Kind::kCommitTree:
        STWO_CHECK(step.value == next_tree && next_tree < shape_.n_trace_trees(),
                   "a transcript commits every trace tree once, in order");
        if (next_tree == 0 && proof_.commitments[0] != preprocessed_root(shape_)) {
          return {RejectReason::kPreprocessedRoot, tree_name(0)};
        }
        channel_.mix_root(proof_.commitments[next_tree]);
        observe("tree" + std::to_string(next_tree) + "_root");
        ++next_tree;
        break;
    }
  }
  STWO_CHECK(next_tree == shape_.n_trace_trees(), "a transcript commits every trace tree");
  return {};
}

VerifyResult Verifier::constraint_evaluation() {
  constraint_coefficient_ = channel_.draw_secure_felt();
  channel_.mix_root(proof_.commitments.back());
  observe("composition_root");
  return {};
}

VerifyResult Verifier::oods() {
  const QM31 t = channel_.draw_secure_felt();
  if (!secure_point_from_parameter(t, &oods_point_)) {
    return {RejectReason::kDegenerateOodsPoint, "1 + t^2 = 0"};
  }
  // Columns and composition are lifted to degree bound 2^D, so one vanishing value serves all.
  const QM31 vanishing = canonic_vanishing(oods_point_.x, shape_.max_degree_log_size);
  if (vanishing.is_zero()) {
    return {RejectReason::kDegenerateOodsPoint, "the point is on the trace domain"};
  }

  QM31 constraints;
  const auto& components = shape_.instance->components();
  for (size_t i = 0; i < components.size(); ++i) {
    const ComponentMask mask = component_mask(shape_, i, proof_.sampled_values);
    components[i]->evaluate_at_point(mask, constraint_coefficient_, &constraints);
  }

  // Left and right half of the composition polynomial, four coordinate polynomials each.
  std::array<QM31, 2 * kSecureExtensionDegree> halves;
  for (size_t c = 0; c < halves.size(); ++c) halves[c] = proof_.sampled_values.back()[c][0];
  const QM31 composition = QM31::from_partial_evals(&halves[0]) +
                           vanishing * QM31::from_partial_evals(&halves[kSecureExtensionDegree]);
  if (composition * vanishing != constraints) return {RejectReason::kOodsNotMatching, ""};

  std::vector<QM31> flat;
  for (const auto& tree : proof_.sampled_values) {
    for (const auto& column : tree) flat.insert(flat.end(), column.begin(), column.end());
  }
  channel_.mix_felts(flat);
  observe("sampled_values");
  return {};
}

VerifyResult Verifier::quotient() {
  const QM31 coefficient = channel_.draw_secure_felt();
  auto batches = make_quotient_batches(shape_, oods_point_, proof_.sampled_values, coefficient);
  if (!batches) return {RejectReason::kDegenerateOodsPoint, "a sample point is over CM31"};
  batches_ = std::move(*batches);
  return {};
}

VerifyResult Verifier::fri_commit() {
  fri_.commit(channel_, transcript_);
  return {};
}

VerifyResult Verifier::pow() {
  if (!channel_.verify_pow_nonce(shape_.config.pow_bits, proof_.proof_of_work)) {
    return {RejectReason::kProofOfWork, std::to_string(shape_.config.pow_bits) + " bits"};
  }
  channel_.mix_u64(proof_.proof_of_work);
  observe("pow_nonce");
  return {};
}

VerifyResult Verifier::queries() {
  positions_ = draw_queries(channel_, shape_.lifting_log_size, shape_.config.fri.n_queries);
  preprocessed_positions_ =
      preprocessed_query_positions(positions_, shape_.lifting_log_size, shape_.trees[0].height);
  for (size_t t = 0; t < shape_.trees.size(); ++t) {
    const auto& columns = proof_.queried_values[t];
    for (size_t c = 0; c < columns.size(); ++c) {
      if (columns[c].size() != positions_.size()) {
        return {RejectReason::kQueriedValuesShape,
                expected_got(column_name(t, c), positions_.size(), columns[c].size())};
      }
    }
  }
  return {};
}

VerifyResult Verifier::tree_openings() {
  for (size_t t = 0; t < shape_.trees.size(); ++t) {
    const TreeShape& tree = shape_.trees[t];
    const MerkleVerifyStatus status =
        merkle_verify(shape_.statement.channel, proof_.commitments[t], tree.height,
                      t == 0 ? preprocessed_positions_ : positions_, proof_.queried_values[t],
                      tree.column_log_sizes, proof_.decommitments[t].hash_witness);
    switch (status) {
      case MerkleVerifyStatus::kOk: break;
      case MerkleVerifyStatus::kWitnessTooShort:
        return {RejectReason::kMerkleWitnessTooShort, tree_name(t)};
      case MerkleVerifyStatus::kWitnessTooLong:
        return {RejectReason::kMerkleWitnessTooLong, tree_name(t)};
      case MerkleVerifyStatus::kRootMismatch:
        return {RejectReason::kMerkleRootMismatch, tree_name(t)};
      case MerkleVerifyStatus::kDuplicateRows:
        return {RejectReason::kMerkleDuplicateRows, tree_name(t)};
    }
  }
  return {};
}

VerifyResult Verifier::fri_openings() {
  std::vector<QM31> answers;
  answers.reserve(positions_.size());
  std::vector<std::vector<M31>> row(shape_.trees.size());
  for (size_t t = 0; t < row.size(); ++t) row[t].resize(proof_.queried_values[t].size());
  const CanonicCoset domain{shape_.lifting_log_size};
  for (size_t i = 0; i < positions_.size(); ++i) {
    for (size_t t = 0; t < row.size(); ++t) {
      for (size_t c = 0; c < row[t].size(); ++c) row[t][c] = proof_.queried_values[t][c][i];
    }
    answers.push_back(quotient_at_row(batches_, domain.at_storage(positions_[i]), row));
  }
  return fri_.decommit(positions_, std::move(answers));
}

VerifyResult Verifier::run() {
  static constexpr Step kSteps[] = {&Verifier::config,
                                    &Verifier::tree_count,
                                    &Verifier::sampled_values_shape,
                                    &Verifier::queried_columns,
                                    &Verifier::fri_structure,
                                    &Verifier::canonical_values,
                                    &Verifier::trace_commit,
                                    &Verifier::constraint_evaluation,
                                    &Verifier::oods,
                                    &Verifier::quotient,
                                    &Verifier::fri_commit,
                                    &Verifier::pow,
                                    &Verifier::queries,
                                    &Verifier::tree_openings,
                                    &Verifier::fri_openings};
  for (const Step step : kSteps) {
    VerifyResult result = (this->*step)();
    if (!result.accepted()) return result;
  }
  return {};
}

}  // namespace

std::string_view reject_reason_name(RejectReason reason) {
  switch (reason) {
    case RejectReason::kAccepted: return "accepted";
    case RejectReason::kConfigMismatch: return "config_mismatch";
    case RejectReason::kTreeCount: return "tree_count";
    case RejectReason::kSampledValuesShape: return "sampled_values_shape";
    case RejectReason::kQueriedValuesShape: return "queried_values_shape";
    case RejectReason::kNonCanonicalValue: return "non_canonical_value";
    case RejectReason::kPreprocessedRoot: return "preprocessed_root";
    case RejectReason::kDegenerateOodsPoint: return "degenerate_oods_point";
    case RejectReason::kOodsNotMatching: return "oods_not_matching";
    case RejectReason::kFriLayerCount: return "fri_layer_count";
    case RejectReason::kFriLastLayerDegree: return "fri_last_layer_degree";
    case RejectReason::kProofOfWork: return "proof_of_work";
    case RejectReason::kMerkleWitnessTooShort: return "merkle_witness_too_short";
    case RejectReason::kMerkleWitnessTooLong: return "merkle_witness_too_long";
    case RejectReason::kMerkleRootMismatch: return "merkle_root_mismatch";
    case RejectReason::kMerkleDuplicateRows: return "merkle_duplicate_rows";
    case RejectReason::kFriWitnessTooShort: return "fri_witness_too_short";
    case RejectReason::kFriWitnessTooLong: return "fri_witness_too_long";
    case RejectReason::kFriLayerWitnessTooShort: return "fri_layer_witness_too_short";
    case RejectReason::kFriLayerWitnessTooLong: return "fri_layer_witness_too_long";
    case RejectReason::kFriLayerRootMismatch: return "fri_layer_root_mismatch";
    case RejectReason::kFriLastLayerEvaluation: return "fri_last_layer_evaluation";
  }
  throw ContractError("unknown reject reason");
}

VerifyResult verify(const ProofShape& shape, const StarkProof& proof,
                    const TranscriptObserver& transcript) {
  return Verifier(shape, proof, transcript).run();
}

Digest preprocessed_root(const ProofShape& shape) {
  std::vector<std::vector<M31>> columns;
  for (const PreprocessedColumn& column : shape.instance->preprocessed()) {
    std::vector<M31> values(size_t{1} << column.log_size);
    column.fill(values);
    columns.push_back(low_degree_extension(values, shape.log_blowup()));
  }
  return lifted_root(shape.statement.channel, columns, shape.trees[0].height);
}

}  // namespace stwo

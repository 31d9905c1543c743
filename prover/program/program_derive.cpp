#include "prover/program/program_derive.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "prover/circle/domain.hpp"
#include "prover/errors.hpp"
#include "prover/program/program_layout.hpp"
#include "prover/report/product_report.hpp"

namespace stwo::program_layout {
namespace {

/// Large buffers start on a line of the device's memory system.
constexpr uint32_t kLineBytes = 128;
constexpr uint32_t kMinAlignment = 16;
constexpr uint64_t kLargeBytes = 1024;
constexpr uint32_t kPointIndexMask = (uint32_t{1} << kCircleLogOrder) - 1;

class Deriver {
 public:
  explicit Deriver(std::shared_ptr<const ProofShape> shape) : s_(*shape) {
    p_.shape = std::move(shape);
    p_.protocol = std::string(kProtocolCrate);
  }

  ProofProgram run() {
    components();
    samples();
    challenges();
    buffers();
    nodes();
    finish();
    return std::move(p_);
  }

 private:
  struct Sample {
    uint32_t tree;
    uint32_t column;
    uint32_t sample;
    uint32_t value_index;
  };

  void components() {
    uint32_t degree = 0;
    const auto& all = s_.instance->components();
    for (uint32_t i = 0; i < all.size(); ++i) {
      const Component& c = *all[i];
      ProgramComponent out;
      out.name = c.name();
      out.log_size = c.log_size();
      out.enabled = c.enabled();
      out.program = c.record();
      out.first_constraint = s_.spans[i].first_constraint;
      out.n_constraints = static_cast<uint32_t>(c.info().n_constraints());
      out.max_degree = c.info().max_degree();
      if (out.enabled) degree = std::max(degree, out.max_degree);
      p_.components.push_back(std::move(out));
    }
    p_.half_domain_composition = degree <= 2;
    contributing_ = contributing_components(p_);
  }

  // ---- samples ----

  void samples() {
    check_sample_count();
    std::map<std::pair<uint32_t, int>, std::vector<SampleGroup::Ref>> groups;
    for (uint32_t t = 0; t < s_.trees.size(); ++t) {
      const TreeShape& tree = s_.trees[t];
      for (uint32_t c = 0; c < tree.column_log_sizes.size(); ++c) {
        const std::vector<int>& offsets = tree.mask_offsets[c];
        const uint32_t committed = tree.column_log_sizes[c] + s_.log_blowup();
        // The same order and powers as make_quotient_batches: a column opened at [previous,
        // current] first takes a power for its periodicity sample, the current value once more.
        if (offsets.size() == 2) {
          const uint64_t period = uint64_t{CanonicCoset{s_.lifting_log_size}.step_index()}
                                  << committed;
          add_term(shift_of(offsets[1]) + static_cast<uint32_t>(period & kPointIndexMask),
                   {t, c, committed, p_.n_sampled_values + 1, next_power_++});
        }
        for (uint32_t k = 0; k < offsets.size(); ++k) {
          const uint32_t value = p_.n_sampled_values + k;
          add_term(shift_of(offsets[k]), {t, c, committed, value, next_power_++});
          groups[{tree.column_log_sizes[c], offsets[k]}].push_back({t, c, k, value});
        }
        p_.n_sampled_values += static_cast<uint32_t>(offsets.size());
      }
    }
    for (auto& [key, refs] : groups) {
      p_.sample_groups.push_back({key.first, key.second, std::move(refs)});
    }
  }

  /// Values and powers are numbered with 32 bits.
  void check_sample_count() const {
    Size n = 0;
    for (const TreeShape& tree : s_.trees) {
      for (const auto& offsets : tree.mask_offsets) n += Size(offsets.size()) + 1;
    }
    if (n.value() > UINT32_MAX) throw SizeOverflow();
  }

  /// Sample points are Z + offset * step(canonic D).
  uint32_t shift_of(int offset) const {
    const uint32_t step = CanonicCoset{s_.max_degree_log_size}.step_index();
    return static_cast<uint32_t>(static_cast<int64_t>(offset) * step) & kPointIndexMask;
  }

  void add_term(uint32_t shift, const QuotientChunk::Term& term) {
    shift &= kPointIndexMask;
    auto it = std::find_if(p_.quotient_chunks.begin(), p_.quotient_chunks.end(),
                           [&](const QuotientChunk& c) { return c.point_shift == shift; });
    if (it == p_.quotient_chunks.end()) {
      p_.quotient_chunks.push_back({shift, {}});
      it = p_.quotient_chunks.end() - 1;
    }
    it->terms.push_back(term);
  }

  void challenges() {
    for (const char* name : {"constraint_coefficient", "oods_parameter", "quotient_coefficient"}) {
      p_.challenges.push_back({name, 0, {}});
    }
    for (size_t i = 0; i < s_.fri_layers.size(); ++i) {
      p_.challenges.push_back({"fri_beta_" + std::to_string(i), 0, {}});
    }
  }

  // ---- buffers ----

  void buffer(BufferRole role, uint32_t index = 0,
              BufferLifetime lifetime = BufferLifetime::kRequest) {
    ProgramBuffer b;
    b.role = role;
    b.index = index;
    b.bytes = buffer_bytes(p_, role, index);
    b.alignment = b.bytes >= kLargeBytes ? kLineBytes : kMinAlignment;
    b.lifetime = lifetime;
    ids_[{role, index}] = static_cast<uint32_t>(p_.buffers.size());
    p_.buffers.push_back(b);
  }

  void buffers() {
    const auto n_trees = static_cast<uint32_t>(s_.trees.size());
    const auto n_layers = static_cast<uint32_t>(s_.fri_layers.size());
    for (uint32_t t = 0; t < n_trees; ++t) {
      // Tree 0 is committed when the shape is prepared.
      const auto lifetime = t == 0 ? BufferLifetime::kShape : BufferLifetime::kRequest;
      buffer(BufferRole::kTreeColumns, t, lifetime);
      buffer(BufferRole::kTreeHashes, t, lifetime);
    }
    if (!contributing_.empty()) buffer(BufferRole::kConstraintWeights);
    for (const uint32_t c : contributing_) buffer(BufferRole::kComponentQuotient, c);
    if (sums_constraints()) buffer(BufferRole::kComposition);
    for (uint32_t g = 0; g < p_.sample_groups.size(); ++g) buffer(BufferRole::kSampleWeights, g);
    buffer(BufferRole::kSampledValues);
    buffer(BufferRole::kQuotientTerms);
    for (uint32_t i = 0; i <= n_layers; ++i) buffer(BufferRole::kFriValues, i);
    for (uint32_t i = 0; i < n_layers; ++i) buffer(BufferRole::kFriHashes, i);
    buffer(BufferRole::kLastLayer);
    buffer(BufferRole::kTranscript);
    buffer(BufferRole::kChallenges);
    buffer(BufferRole::kNonce);
    buffer(BufferRole::kQueries);
    buffer(BufferRole::kProof, 0, BufferLifetime::kTerminalHost);
  }

  /// One contributing component alone is as large as the composition (make_shape requires it of the
  /// largest), so that its part is the sum.
  bool sums_constraints() const { return contributing_.size() != 1; }

  uint32_t id(BufferRole role, uint32_t index = 0) const { return ids_.at({role, index}); }

  // ---- nodes ----

  ProofNode& node(NodeKind kind, Stage stage, uint32_t index = 0, uint32_t sub_index = 0) {
    ProofNode n;
    n.kind = kind;
    n.stage = stage;
    n.index = index;
    n.sub_index = sub_index;
    n.transcript = touches_transcript(kind);
    if (n.transcript) {
      if (kind != NodeKind::kBegin) n.reads.push_back(id(BufferRole::kTranscript));
      n.writes.push_back(id(BufferRole::kTranscript));
    }
    p_.nodes.push_back(std::move(n));
    return p_.nodes.back();
  }

  void use_challenge(ProofNode& n, uint32_t challenge) const {
    n.challenges.push_back(challenge);
    n.reads.push_back(id(BufferRole::kChallenges));
  }

  void draw(Stage stage, uint32_t challenge) {
    ProofNode& n = node(NodeKind::kDrawChallenge, stage, challenge);
    n.writes.push_back(id(BufferRole::kChallenges));
  }

  void hash_and_absorb(Stage stage, uint32_t tree) {
    ProofNode& hash = node(NodeKind::kHashTree, stage, tree);
    hash.reads = {id(BufferRole::kTreeColumns, tree)};
    hash.writes = {id(BufferRole::kTreeHashes, tree)};
    absorb_root(stage, tree);
  }

  void absorb_root(Stage stage, uint32_t tree) {
    node(NodeKind::kAbsorbRoot, stage, tree).reads.push_back(id(BufferRole::kTreeHashes, tree));
  }

  void nodes() {
    node(NodeKind::kBegin, Stage::kIngress);
    application_part();
    constraint_evaluation();
    oods();
    quotient();
    fri_commit();
    pow();
    decommit();
    assemble();
  }

  void application_part() {
    uint32_t next_tree = 0;
    for (const TranscriptStep& step : s_.instance->transcript(s_.statement)) {
      switch (step.kind) {
        case TranscriptStep::Kind::kMixConfig: node(NodeKind::kMixConfig, Stage::kIngress); break;
        case TranscriptStep::Kind::kMixU64:
          node(NodeKind::kMixU64, Stage::kIngress).value = step.value;
          break;
        case TranscriptStep::Kind::kCommitTree:
          STWO_CHECK(step.value == next_tree, "the transcript does not commit the trees in order");
          commit_trace_tree(next_tree++);
          break;
      }
    }
    STWO_CHECK(next_tree == s_.n_trace_trees(), "the transcript does not commit every tree");
  }

  void commit_trace_tree(uint32_t tree) {
    if (tree == 0) {
      absorb_root(Stage::kTraceCommit, tree);
      return;
    }
    const uint32_t columns = id(BufferRole::kTreeColumns, tree);
    for (const NodeKind kind : {NodeKind::kGenerateTrace, NodeKind::kExtendColumns}) {
      const bool extend = kind == NodeKind::kExtendColumns;
      for (uint32_t i = 0; i < p_.components.size(); ++i) {
        if (columns_of(s_, i, tree) == 0) continue;
        ProofNode& n = node(kind, extend ? Stage::kTraceCommit : Stage::kTraceGeneration, tree, i);
        if (extend) n.reads = {columns};
        n.writes = {columns};
      }
    }
    hash_and_absorb(Stage::kTraceCommit, tree);
  }

  void constraint_evaluation() {
    const Stage stage = Stage::kConstraintEvaluation;
    const uint32_t tree = s_.n_trace_trees();
    draw(stage, kConstraintCoefficient);
    if (!contributing_.empty()) {
      ProofNode& weights = node(NodeKind::kConstraintWeights, stage);
      use_challenge(weights, kConstraintCoefficient);
      weights.writes = {id(BufferRole::kConstraintWeights)};
    }
    std::vector<uint32_t> parts;
    for (const uint32_t c : contributing_) {
      ProofNode& n = node(NodeKind::kEvaluateConstraints, stage, c);
      for (uint32_t t = 0; t < tree; ++t) {
        const bool read = t == 0 ? !s_.spans[c].preprocessed.empty() : columns_of(s_, c, t) > 0;
        if (read) n.reads.push_back(id(BufferRole::kTreeColumns, t));
      }
      n.reads.push_back(id(BufferRole::kConstraintWeights));
      parts.push_back(id(BufferRole::kComponentQuotient, c));
      n.writes = {parts.back()};
    }
    if (sums_constraints()) {
      ProofNode& sum = node(NodeKind::kSumConstraints, stage);
      sum.reads = std::move(parts);
      parts = {id(BufferRole::kComposition)};
      sum.writes = parts;
    }
    ProofNode& extend = node(NodeKind::kExtendComposition, stage, tree);
    extend.reads = std::move(parts);
    extend.writes = {id(BufferRole::kTreeColumns, tree)};
    hash_and_absorb(stage, tree);
  }

  void oods() {
    const Stage stage = Stage::kOods;
    draw(stage, kOodsParameter);
    for (uint32_t g = 0; g < p_.sample_groups.size(); ++g) {
      ProofNode& weights = node(NodeKind::kSampleWeights, stage, g);
      use_challenge(weights, kOodsParameter);
      weights.writes = {id(BufferRole::kSampleWeights, g)};
      ProofNode& sums = node(NodeKind::kSampleColumns, stage, g);
      sums.reads = {id(BufferRole::kSampleWeights, g)};
      for (const SampleGroup::Ref& r : p_.sample_groups[g].refs) {
        sums.reads.push_back(id(BufferRole::kTreeColumns, r.tree));
      }
      sums.writes = {id(BufferRole::kSampledValues)};
    }
    node(NodeKind::kAbsorbSamples, stage).reads.push_back(id(BufferRole::kSampledValues));
  }

  void quotient() {
    const Stage stage = Stage::kQuotient;
    const uint32_t values = id(BufferRole::kFriValues, 0);
    draw(stage, kQuotientCoefficient);
    ProofNode& terms = node(NodeKind::kQuotientTerms, stage);
    use_challenge(terms, kOodsParameter);
    use_challenge(terms, kQuotientCoefficient);
    terms.reads.push_back(id(BufferRole::kSampledValues));
    terms.writes = {id(BufferRole::kQuotientTerms)};
    for (uint32_t c = 0; c < p_.quotient_chunks.size(); ++c) {
      ProofNode& n = node(NodeKind::kQuotientChunk, stage, c);
      n.reads = {id(BufferRole::kQuotientTerms)};
      for (const QuotientChunk::Term& t : p_.quotient_chunks[c].terms) {
        n.reads.push_back(id(BufferRole::kTreeColumns, t.tree));
      }
      if (c > 0) n.reads.push_back(values);
      n.writes = {values};
    }
    ProofNode& extend = node(NodeKind::kExtendQuotient, stage);
    extend.reads = {values};
    extend.writes = {values};
  }

  void fri_commit() {
    const Stage stage = Stage::kFriCommit;
    const auto n_layers = static_cast<uint32_t>(s_.fri_layers.size());
    for (uint32_t i = 0; i < n_layers; ++i) {
      ProofNode& hash = node(NodeKind::kFriHash, stage, i);
      hash.reads = {id(BufferRole::kFriValues, i)};
      hash.writes = {id(BufferRole::kFriHashes, i)};
      node(NodeKind::kFriAbsorb, stage, i).reads.push_back(id(BufferRole::kFriHashes, i));
      draw(stage, kFirstFriBeta + i);
      ProofNode& fold = node(NodeKind::kFriFold, stage, i);
      use_challenge(fold, kFirstFriBeta + i);
      fold.reads.push_back(id(BufferRole::kFriValues, i));
      fold.writes = {id(BufferRole::kFriValues, i + 1)};
    }
    ProofNode& last = node(NodeKind::kLastLayer, stage);
    last.reads = {id(BufferRole::kFriValues, n_layers)};
    last.writes = {id(BufferRole::kLastLayer)};
    node(NodeKind::kAbsorbLastLayer, stage).reads.push_back(id(BufferRole::kLastLayer));
  }

  void pow() {
    ProofNode& grind = node(NodeKind::kGrind, Stage::kPow);
    grind.reads = {id(BufferRole::kTranscript)};
    grind.writes = {id(BufferRole::kNonce)};
    node(NodeKind::kAbsorbNonce, Stage::kPow).reads.push_back(id(BufferRole::kNonce));
  }

  void decommit() {
    const Stage stage = Stage::kDecommit;
    node(NodeKind::kDrawQueries, stage).writes.push_back(id(BufferRole::kQueries));
    const auto open = [&](NodeKind kind, uint32_t index, BufferRole values, BufferRole hashes) {
      ProofNode& n = node(kind, stage, index);
      n.reads = {id(BufferRole::kQueries), id(values, index), id(hashes, index)};
      n.writes = {id(BufferRole::kProof)};
    };
    for (uint32_t t = 0; t < s_.trees.size(); ++t) {
      open(NodeKind::kOpenTree, t, BufferRole::kTreeColumns, BufferRole::kTreeHashes);
    }
    for (uint32_t i = 0; i < s_.fri_layers.size(); ++i) {
      open(NodeKind::kOpenFriLayer, i, BufferRole::kFriValues, BufferRole::kFriHashes);
    }
  }

  void assemble() {
    ProofNode& n = node(NodeKind::kAssemble, Stage::kProofAssembly);
    for (uint32_t t = 0; t < s_.trees.size(); ++t) {
      n.reads.push_back(id(BufferRole::kTreeHashes, t));
    }
    for (uint32_t i = 0; i < s_.fri_layers.size(); ++i) {
      n.reads.push_back(id(BufferRole::kFriHashes, i));
    }
    for (const BufferRole role : {BufferRole::kSampledValues, BufferRole::kLastLayer,
                                  BufferRole::kNonce, BufferRole::kQueries, BufferRole::kProof}) {
      n.reads.push_back(id(role));
    }
    n.writes = {id(BufferRole::kProof)};
  }

  /// What follows from the finished list of nodes.
  void finish() {
    std::vector<uint32_t> writers(p_.buffers.size(), 0);
    std::vector<bool> used(p_.buffers.size(), false);
    for (uint32_t i = 0; i < p_.nodes.size(); ++i) {
      ProofNode& n = p_.nodes[i];
      for (std::vector<uint32_t>* list : {&n.reads, &n.writes, &n.challenges}) {
        std::sort(list->begin(), list->end());
        list->erase(std::unique(list->begin(), list->end()), list->end());
      }
      for (const std::vector<uint32_t>* list : {&n.reads, &n.writes}) {
        for (const uint32_t b : *list) {
          if (!used[b]) p_.buffers[b].first_node = i;
          used[b] = true;
          p_.buffers[b].last_node = i;
        }
      }
      for (const uint32_t b : n.writes) ++writers[b];
      for (const uint32_t c : n.challenges) p_.challenges[c].consumers.push_back(i);
      if (n.kind == NodeKind::kDrawChallenge) p_.challenges[n.index].drawn_by = i;
      n.work = node_work(p_, n);
    }
    for (uint32_t b = 0; b < p_.buffers.size(); ++b) {
      ProgramBuffer& buffer = p_.buffers[b];
      buffer.written_once = writers[b] <= 1;
      if (buffer.lifetime == BufferLifetime::kShape) {
        buffer.first_node = 0;
        buffer.last_node = static_cast<uint32_t>(p_.nodes.size()) - 1;
      }
    }
    const auto dependencies = required_dependencies(p_);
    for (size_t i = 0; i < p_.nodes.size(); ++i) p_.nodes[i].depends_on = dependencies[i];
  }

  static constexpr uint32_t kConstraintCoefficient = 0;
  static constexpr uint32_t kOodsParameter = 1;
  static constexpr uint32_t kQuotientCoefficient = 2;
  static constexpr uint32_t kFirstFriBeta = 3;

  const ProofShape& s_;
  ProofProgram p_;
  std::vector<uint32_t> contributing_;
  std::map<std::pair<BufferRole, uint32_t>, uint32_t> ids_;
  uint32_t next_power_ = 0;
};

}  // namespace

ProofProgram derive_program(std::shared_ptr<const ProofShape> shape) {
  return Deriver(std::move(shape)).run();
}

}  // namespace stwo::program_layout

// One proof on the device: the plan's launches, stage by stage, and one copy to the host.

#include <algorithm>
#include <cstring>

#include "kernels/oods/oods_args.hpp"
#include "kernels/prepared_plan.hpp"
#include "kernels/runtime/nvtx.hpp"
#include "prover/composition_check.hpp"
#include "prover/errors.hpp"

namespace stwo::gpu {
namespace {

class CudaSession final : public ProofSession {
 public:
  CudaSession(std::shared_ptr<PreparedPlan> prepared, const TranscriptObserver& observer)
      : p_(std::move(prepared)),
        runtime_(p_->runtime),
        observer_(observer),
        request_(NvtxCategory::kRequest, "request", p_->n_requests) {
    STWO_CHECK(!p_->in_use, "a prepared shape serves one proof at a time");
    p_->in_use = true;
  }
  ~CudaSession() override { p_->in_use = false; }

  void ingress() override {
    // Should this request fail, the one before must not speak for it.
    p_->last_counters.reset();
    before_ = runtime_.counters();
    run(Stage::kIngress);
  }
  // Absorbed where the plan put them: by the launches around them.
  void mix_config() override { run(Stage::kIngress); }
  void mix_u64(uint64_t) override { run(Stage::kIngress); }
  void trace_generation(uint32_t) override { run(Stage::kTraceGeneration); }
  void trace_commit(uint32_t) override { run(Stage::kTraceCommit); }
  void constraint_evaluation() override { run(Stage::kConstraintEvaluation); }
  void oods() override { run(Stage::kOods); }
  void quotient() override { run(Stage::kQuotient); }
  void fri_commit() override { run(Stage::kFriCommit); }
  void pow() override { run(Stage::kPow); }
  void decommit() override { run(Stage::kDecommit); }

  StarkProof proof_assembly() override {
    constexpr std::string_view stage = "proof_assembly";
    STWO_CHECK(segment_ == p_->segments.size(), "launches of the plan are left");
    const CudaPlan& plan = p_->plan;
    const uint32_t* words = p_->terminal_host.as<uint32_t>();
    {
      const NvtxRange range(NvtxCategory::kStage, stage, plan.terminal_bytes);
      const Counters before_copy = runtime_.counters();
      runtime_.record(p_->events[segment_], stage);
      runtime_.download(p_->terminal_host.data(), p_->terminal_block.address(),
                        4 * plan.terminal.words, stage);
      runtime_.record(p_->events[segment_ + 1], stage);
      runtime_.synchronize(stage);
      const Counters after = runtime_.counters();
      p_->last_counters = after - before_;
      p_->last_terminal = after - before_copy;
    }
    if (p_->n_requests++ > 0) ++p_->reuse_count;
    StarkProof proof = read_terminal(plan, words);
    if (observer_) report_transcript(words);
    return proof;
  }

 private:
  /// Launches the next segment if it is the stage's: a stage without launches of its own is empty.
  void run(Stage stage) {
    if (segment_ == p_->segments.size() || p_->segments[segment_].stage != stage) return;
    const StageSegment& segment = p_->segments[segment_];
    const std::string_view name = stage_name(stage);
    const NvtxRange range(NvtxCategory::kStage, name, p_->n_requests);
    runtime_.record(p_->events[segment_], name);
    for (size_t i = segment.begin; i < segment.end; ++i) {
      const BoundLaunch& l = p_->launches[i];
      const NvtxRange pass(NvtxCategory::kPass, l.plan->pass, l.predicted_bytes);
      runtime_.launch(l.kernel, l.geometry, l.args.data(), l.args.size(), name, l.plan->pass);
    }
    ++segment_;
  }

  void report_transcript(const uint32_t* words) const {
    const TerminalLayout& t = p_->plan.terminal;
    for (size_t i = 0; i < t.log_steps.size(); ++i) {
      Digest digest;
      std::memcpy(digest.data(), words + t.log + 8 * i, digest.size());
      observer_(t.log_steps[i], digest);
    }
  }

  std::shared_ptr<PreparedPlan> p_;
  CudaRuntime& runtime_;
  TranscriptObserver observer_;
  NvtxRange request_;
  Counters before_;
  size_t segment_ = 0;
};

class TerminalReader {
 public:
  TerminalReader(const CudaPlan& plan, const uint32_t* words)
      : s_(*plan.program->shape), t_(plan.terminal), words_(words) {}

  StarkProof read() {
    const uint32_t status = words_[t_.status];
    if ((status & kStatusDegenerateOods) != 0) {
      throw ConstraintsNotSatisfied(
          "the out-of-domain parameter drawn is degenerate; prove again with another transcript");
    }
    if ((status & kStatusDegenerateQuotient) != 0) {
      throw ConstraintsNotSatisfied(
          "the out-of-domain point drawn is degenerate; prove again with another transcript");
    }
    if ((status & kStatusNoNonce) != 0) {
      throw ContractError("no nonce satisfies the proof of work");
    }
    StarkProof proof;
    proof.config = s_.config;
    for (size_t i = 0; i < s_.trees.size(); ++i) {
      proof.commitments.push_back(digest(t_.roots + 8 * i));
    }
    sampled_values(proof);
    const CirclePoint<QM31> point{felt(t_.point), felt(t_.point + 4)};
    check_composition(s_, proof.sampled_values, felt(t_.challenges), point);
    proof.proof_of_work = words_[t_.nonce] | uint64_t{words_[t_.nonce + 1]} << 32;
    openings(proof);
    fri(proof);
    return proof;
  }

 private:
  Digest digest(uint64_t word) const {
    Digest d;
    std::memcpy(d.data(), words_ + word, d.size());
    return d;
  }
  QM31 felt(uint64_t word) const {
    for (uint64_t k = word; k < word + 4; ++k) {
      STWO_CHECK(words_[k] < kP, "the device returned a word that is no field element");
    }
    return QM31::from_u32(words_[word], words_[word + 1], words_[word + 2], words_[word + 3]);
  }

  void sampled_values(StarkProof& proof) const {
    uint64_t at = t_.sampled_values;
    for (const TreeShape& tree : s_.trees) {
      auto& columns = proof.sampled_values.emplace_back();
      for (const auto& offsets : tree.mask_offsets) {
        auto& samples = columns.emplace_back();
        for (size_t k = 0; k < offsets.size(); ++k, at += 4) samples.push_back(felt(at));
      }
    }
  }

  uint64_t count(uint64_t word, uint64_t capacity) const {
    const uint64_t n = words_[word];
    STWO_CHECK(n <= capacity, "the device returned more openings than there can be");
    return n;
  }

  MerkleDecommitment witness(const TerminalLayout::Opening& o) const {
    MerkleDecommitment d;
    const uint64_t n = count(o.n_witness, o.witness_capacity);
    for (uint64_t i = 0; i < n; ++i) d.hash_witness.push_back(digest(o.witness + 8 * i));
    return d;
  }

  void openings(StarkProof& proof) const {
    const uint64_t n = count(t_.n_positions, t_.position_capacity);
    for (size_t t = 0; t < s_.trees.size(); ++t) {
      const size_t n_columns = s_.trees[t].column_log_sizes.size();
      auto& columns = proof.queried_values.emplace_back(n_columns);
      for (size_t c = 0; c < n_columns; ++c) {
        const uint64_t first = t_.queried_values[t] + c * t_.position_capacity;
        for (uint64_t q = 0; q < n; ++q) {
          STWO_CHECK(words_[first + q] < kP, "the device returned a word that is no field element");
          columns[c].push_back(M31(words_[first + q]));
        }
      }
      if (n_columns == 0) {
        proof.decommitments.emplace_back();
      } else {
        proof.decommitments.push_back(witness(t_.trees[t]));
      }
    }
  }

  void fri(StarkProof& proof) const {
    for (size_t i = 0; i < s_.fri_layers.size(); ++i) {
      const TerminalLayout::Opening& o = t_.fri_layers[i];
      FriLayerProof layer;
      layer.commitment = digest(t_.fri_roots + 8 * i);
      const uint64_t n = count(o.n_fri_witness, o.fri_witness_capacity);
      for (uint64_t k = 0; k < n; ++k) layer.fri_witness.push_back(felt(o.fri_witness + 4 * k));
      layer.decommitment = witness(o);
      if (i == 0) {
        proof.fri_proof.first_layer = std::move(layer);
      } else {
        proof.fri_proof.inner_layers.push_back(std::move(layer));
      }
    }
    LinePoly& poly = proof.fri_proof.last_layer_poly;
    poly.log_size = s_.config.fri.log_last_layer_degree_bound;
    for (uint64_t i = 0; i < uint64_t{1} << poly.log_size; ++i) {
      poly.coeffs.push_back(felt(t_.last_layer + 4 * i));
    }
  }

  const ProofShape& s_;
  const TerminalLayout& t_;
  const uint32_t* words_;
};

}  // namespace

std::unique_ptr<ProofSession> make_cuda_session(std::shared_ptr<PreparedPlan> prepared,
                                                const TranscriptObserver& observer) {
  return std::make_unique<CudaSession>(std::move(prepared), observer);
}

StarkProof read_terminal(const CudaPlan& plan, const uint32_t* words) {
  return TerminalReader(plan, words).read();
}

}  // namespace stwo::gpu

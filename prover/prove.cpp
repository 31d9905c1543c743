#include "prover/prove.hpp"

#include "prover/errors.hpp"

namespace stwo {
namespace {

class StageScope {
 public:
  StageScope(StageObserver* observer, Stage stage) : observer_(observer), stage_(stage) {
    if (observer_ != nullptr) observer_->begin(stage_);
  }
  ~StageScope() {
    if (observer_ != nullptr) observer_->end(stage_);
  }
  StageScope(const StageScope&) = delete;
  StageScope& operator=(const StageScope&) = delete;

 private:
  StageObserver* observer_;
  Stage stage_;
};

void run_step(ProofSession& session, const TranscriptStep& step, StageObserver* stages) {
  const auto tree = static_cast<uint32_t>(step.value);
  switch (step.kind) {
    case TranscriptStep::Kind::kMixConfig: session.mix_config(); return;
    case TranscriptStep::Kind::kMixU64: session.mix_u64(step.value); return;
    case TranscriptStep::Kind::kCommitTree: {
      const StageScope scope(stages, Stage::kTraceGeneration);
      session.trace_generation(tree);
    }
      const StageScope scope(stages, Stage::kTraceCommit);
      session.trace_commit(tree);
      return;
  }
  throw ContractError("unknown transcript step");
}

}  // namespace

StarkProof prove(PreparedShape& prepared, StageObserver* stages,
                 const TranscriptObserver& transcript) {
  const ProofShape& shape = prepared.shape();
  std::unique_ptr<ProofSession> session;
  {
    const StageScope scope(stages, Stage::kIngress);
    session = prepared.begin(transcript);
    session->ingress();
  }
  for (const TranscriptStep& step : shape.instance->transcript(shape.statement)) {
    run_step(*session, step, stages);
  }
  const auto stage = [&](Stage s, void (ProofSession::*method)()) {
    const StageScope scope(stages, s);
    (session.get()->*method)();
  };
  stage(Stage::kConstraintEvaluation, &ProofSession::constraint_evaluation);
  stage(Stage::kOods, &ProofSession::oods);
  stage(Stage::kQuotient, &ProofSession::quotient);
  stage(Stage::kFriCommit, &ProofSession::fri_commit);
  stage(Stage::kPow, &ProofSession::pow);
  stage(Stage::kDecommit, &ProofSession::decommit);
  const StageScope scope(stages, Stage::kProofAssembly);
  return session->proof_assembly();
}

}  // namespace stwo

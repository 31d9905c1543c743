// Where everything of a proof lies in the buffer that is copied to the host.

#include <algorithm>

#include "kernels/plan/cuda_plan.hpp"
#include "prover/errors.hpp"

namespace stwo::gpu {
namespace {

constexpr uint64_t kMaxTerminalBytes = uint64_t{1} << 30;

/// Does the node leave a digest in the transcript log?
bool is_logged(NodeKind kind) {
  switch (kind) {
    case NodeKind::kMixConfig:
    case NodeKind::kMixU64:
    case NodeKind::kAbsorbRoot:
    case NodeKind::kAbsorbSamples:
    case NodeKind::kFriAbsorb:
    case NodeKind::kAbsorbLastLayer:
    case NodeKind::kAbsorbNonce: return true;
    default: return false;
  }
}

/// Siblings that can be missing from `level` to the root: one per parent at most.
uint64_t witness_capacity(uint32_t level, uint64_t n_queries) {
  uint64_t sum = 0;
  for (; level > 0; --level) sum += std::min(n_queries, uint64_t{1} << (level - 1));
  return sum;
}

}  // namespace

TerminalLayout make_terminal_layout(const ProofProgram& program) {
  const ProofShape& s = *program.shape;
  const uint64_t q = s.config.fri.n_queries;
  TerminalLayout t;
  t.status = 0;
  t.n_positions = 1;
  t.nonce = 2;
  t.words = 4;
  // Every part starts at a multiple of 16 bytes.
  const auto take = [&](uint64_t n) {
    const uint64_t begin = t.words;
    t.words += (n + 3) / 4 * 4;
    return begin;
  };
  t.position_capacity = q;
  uint64_t count = take(2 * (s.trees.size() + s.fri_layers.size()));
  const auto n_logged = std::count_if(program.nodes.begin(), program.nodes.end(),
                                      [](const ProofNode& n) { return is_logged(n.kind); });
  t.log = take(8 * static_cast<uint64_t>(n_logged));
  t.roots = take(8 * s.trees.size());
  t.fri_roots = take(8 * s.fri_layers.size());
  t.challenges = take(4 * program.challenges.size());
  t.point = take(8);
  t.sampled_values = take(uint64_t{4} * program.n_sampled_values);
  t.last_layer = take(uint64_t{4} << s.config.fri.log_last_layer_degree_bound);
  t.positions = take(q);
  for (const TreeShape& tree : s.trees) {
    t.queried_values.push_back(take(q * tree.column_log_sizes.size()));
  }
  const auto opening = [&](uint64_t witness, uint64_t fri_witness) {
    TerminalLayout::Opening o;
    o.n_witness = count++;
    o.n_fri_witness = count++;
    o.witness_capacity = witness;
    o.witness = take(8 * witness);
    o.fri_witness_capacity = fri_witness;
    o.fri_witness = take(4 * fri_witness);
    return o;
  };
  for (const TreeShape& tree : s.trees) {
    t.trees.push_back(
        opening(tree.column_log_sizes.empty() ? 0 : witness_capacity(tree.height, q), 0));
  }
  for (const FriLayerShape& layer : s.fri_layers) {
    t.fri_layers.push_back(opening(witness_capacity(layer.log_size - layer.fold_step, q),
                                   std::min(q << layer.fold_step, uint64_t{1} << layer.log_size)));
  }
  if (4 * t.words > kMaxTerminalBytes) {
    throw UsageError(
        "SHAPE",
        s.statement.air + ": the openings of " + std::to_string(q) + " queries with fold " +
            std::to_string(s.config.fri.fold_step) + " can take " +
            std::to_string((4 * t.words) >> 20) +
            " MiB, more than the CUDA backend reads back (1024 MiB); lower queries or fold");
  }
  return t;
}

}  // namespace stwo::gpu

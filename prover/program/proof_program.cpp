#include "prover/program/proof_program.hpp"

#include <algorithm>
#include <utility>

#include "prover/errors.hpp"
#include "prover/program/program_derive.hpp"
#include "prover/program/program_layout.hpp"
#include "prover/program/program_shape_check.hpp"

namespace stwo {
namespace {

[[noreturn]] void too_large(const std::string& air) {
  throw UsageError("SHAPE", air +
                                ": the sizes of this proof exceed 64 bits; lower the trace sizes, "
                                "the number of columns or the blowup");
}

std::string num(uint64_t v) { return std::to_string(v); }

/// What a node works on, for people.
std::string subject(const ProofProgram& p, const ProofNode& n) {
  switch (n.kind) {
    case NodeKind::kMixU64: return num(n.value);
    case NodeKind::kGenerateTrace:
    case NodeKind::kExtendColumns:
      return "tree " + num(n.index) + " " + p.components[n.sub_index].name;
    case NodeKind::kHashTree:
    case NodeKind::kAbsorbRoot:
    case NodeKind::kExtendComposition:
    case NodeKind::kOpenTree: return "tree " + num(n.index);
    case NodeKind::kDrawChallenge: return p.challenges[n.index].name;
    case NodeKind::kEvaluateConstraints: return p.components[n.index].name;
    case NodeKind::kSampleWeights:
    case NodeKind::kSampleColumns: {
      const SampleGroup& g = p.sample_groups[n.index];
      return "2^" + num(g.log_size) + " rows at " + std::to_string(g.offset);
    }
    case NodeKind::kQuotientChunk: return "chunk " + num(n.index);
    case NodeKind::kFriHash:
    case NodeKind::kFriAbsorb:
    case NodeKind::kFriFold:
    case NodeKind::kOpenFriLayer: return "layer " + num(n.index);
    default: return "";
  }
}

std::string buffer_list(const ProofProgram& p, const char* title,
                        const std::vector<uint32_t>& buffers) {
  if (buffers.empty()) return "";
  std::string out = std::string("  ") + title;
  for (const uint32_t b : buffers) {
    out += " " + std::string(buffer_role_name(p.buffers[b].role)) + "." + num(p.buffers[b].index);
  }
  return out;
}

std::string padded(std::string text, size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

}  // namespace

std::string_view node_kind_name(NodeKind kind) {
  switch (kind) {
    case NodeKind::kBegin: return "begin";
    case NodeKind::kMixConfig: return "mix_config";
    case NodeKind::kMixU64: return "mix_u64";
    case NodeKind::kGenerateTrace: return "generate_trace";
    case NodeKind::kExtendColumns: return "extend_columns";
    case NodeKind::kHashTree: return "hash_tree";
    case NodeKind::kAbsorbRoot: return "absorb_root";
    case NodeKind::kDrawChallenge: return "draw_challenge";
    case NodeKind::kConstraintWeights: return "constraint_weights";
    case NodeKind::kEvaluateConstraints: return "evaluate_constraints";
    case NodeKind::kSumConstraints: return "sum_constraints";
    case NodeKind::kExtendComposition: return "extend_composition";
    case NodeKind::kSampleWeights: return "sample_weights";
    case NodeKind::kSampleColumns: return "sample_columns";
    case NodeKind::kAbsorbSamples: return "absorb_samples";
    case NodeKind::kQuotientTerms: return "quotient_terms";
    case NodeKind::kQuotientChunk: return "quotient_chunk";
    case NodeKind::kExtendQuotient: return "extend_quotient";
    case NodeKind::kFriHash: return "fri_hash";
    case NodeKind::kFriAbsorb: return "fri_absorb";
    case NodeKind::kFriFold: return "fri_fold";
    case NodeKind::kLastLayer: return "last_layer";
    case NodeKind::kAbsorbLastLayer: return "absorb_last_layer";
    case NodeKind::kGrind: return "grind";
    case NodeKind::kAbsorbNonce: return "absorb_nonce";
    case NodeKind::kDrawQueries: return "draw_queries";
    case NodeKind::kOpenTree: return "open_tree";
    case NodeKind::kOpenFriLayer: return "open_fri_layer";
    case NodeKind::kAssemble: return "assemble";
  }
  return "?";
}

std::string_view buffer_lifetime_name(BufferLifetime lifetime) {
  switch (lifetime) {
    case BufferLifetime::kShape: return "shape";
    case BufferLifetime::kRequest: return "request";
    case BufferLifetime::kTerminalHost: return "terminal_host";
  }
  return "?";
}

std::string_view buffer_role_name(BufferRole role) {
  switch (role) {
    case BufferRole::kTreeColumns: return "tree_columns";
    case BufferRole::kTreeHashes: return "tree_hashes";
    case BufferRole::kConstraintWeights: return "constraint_weights";
    case BufferRole::kComponentQuotient: return "component_quotient";
    case BufferRole::kComposition: return "composition";
    case BufferRole::kSampleWeights: return "sample_weights";
    case BufferRole::kSampledValues: return "sampled_values";
    case BufferRole::kQuotientTerms: return "quotient_terms";
    case BufferRole::kFriValues: return "fri_values";
    case BufferRole::kFriHashes: return "fri_hashes";
    case BufferRole::kLastLayer: return "last_layer";
    case BufferRole::kTranscript: return "transcript";
    case BufferRole::kChallenges: return "challenges";
    case BufferRole::kNonce: return "nonce";
    case BufferRole::kQueries: return "queries";
    case BufferRole::kProof: return "proof";
  }
  return "?";
}

bool operator==(const ProgramComponent& a, const ProgramComponent& b) {
  return a.name == b.name && a.log_size == b.log_size && a.enabled == b.enabled &&
         a.first_constraint == b.first_constraint && a.n_constraints == b.n_constraints &&
         a.max_degree == b.max_degree && a.program.digest() == b.program.digest();
}

uint32_t ProofProgram::buffer(BufferRole role, uint32_t index) const {
  for (uint32_t b = 0; b < buffers.size(); ++b) {
    if (buffers[b].role == role && buffers[b].index == index) return b;
  }
  throw ContractError("the program has no buffer " + std::string(buffer_role_name(role)) + " " +
                      num(index));
}

uint64_t ProofProgram::transcript_barriers() const {
  return static_cast<uint64_t>(std::count_if(nodes.begin(), nodes.end(), [](const ProofNode& n) {
    return n.transcript && n.kind != NodeKind::kBegin;
  }));
}

ProofProgram make_proof_program(std::shared_ptr<const ProofShape> shape) {
  STWO_CHECK(shape != nullptr, "a proof program needs a shape");
  const std::string air = shape->statement.air;
  const auto wrong = program_layout::shape_faults(*shape);
  STWO_CHECK(wrong.empty(), air + ": " + wrong.front());
  ProofProgram program;
  try {
    program = program_layout::derive_program(std::move(shape));
  } catch (const program_layout::SizeOverflow&) {
    too_large(air);
  }
  for (const ProgramFault& f : validate(program)) {
    if (f.code == "OVERFLOW") too_large(air);
    throw ContractError(air + ": proof program: " + f.code + ": " + f.message);
  }
  return program;
}

std::string to_text(const ProofProgram& program) {
  std::string out;
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    const ProofNode& n = program.nodes[i];
    out += padded(num(i), 5) + padded(std::string(stage_name(n.stage)), 22) +
           padded(std::string(node_kind_name(n.kind)), 21) + padded(subject(program, n), 24);
    out += n.transcript ? " T" : "  ";
    out += buffer_list(program, "reads", n.reads) + buffer_list(program, "writes", n.writes);
    for (const uint32_t c : n.challenges) out += "  with " + program.challenges[c].name;
    if (!n.depends_on.empty()) {
      out += "  after";
      for (const uint32_t d : n.depends_on) out += " " + num(d);
    }
    out += "\n";
  }
  return out;
}

}  // namespace stwo

// ProofProgram: a proof written down before it runs. One node per step of the protocol, the buffers
// it reads and writes, the transcript's absorbs and draws, and what depends on what. It follows
// from statement and config alone, names no device and never changes; a backend compiles it
// (kernels/plan) or walks it.
//
// Identities are indices: buffer b is buffers[b], node n is nodes[n], challenge c is challenges[c].
// nodes is a topological order and the order in which a single queue would run them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "prover/air/constraint_program.hpp"
#include "prover/backend.hpp"
#include "prover/shape.hpp"

namespace stwo {

/// What a node does. `index` and `sub_index` say to what; the meaning is given per kind.
enum class NodeKind : uint8_t {
  kBegin,                ///< resets the transcript
  kMixConfig,            ///< absorbs the PCS config
  kMixU64,               ///< absorbs `value`
  kGenerateTrace,        ///< index tree, sub_index component: writes the trace columns
  kExtendColumns,        ///< index tree, sub_index component: values on the extended domain
  kHashTree,             ///< index tree: leaves and nodes
  kAbsorbRoot,           ///< index tree: absorbs its root
  kDrawChallenge,        ///< index challenge
  kConstraintWeights,    ///< powers of the constraint coefficient
  kEvaluateConstraints,  ///< index component: its part of the composition quotient on its own rows
  kSumConstraints,       ///< sums the parts, lifted, where there are several or sizes differ
  kExtendComposition,    ///< index tree (the last): left and right composition columns from the sum
  kSampleWeights,        ///< index sample group: weight of every row
  kSampleColumns,        ///< index sample group: sampled values of its columns
  kAbsorbSamples,        ///< absorbs all sampled values
  kQuotientTerms,        ///< factors of every sample, lines of every point
  kQuotientChunk,        ///< index quotient chunk: adds the chunk's part on the first 2^D rows
  kExtendQuotient,       ///< quotient on the whole query domain
  kFriHash,              ///< index FRI layer: leaves and nodes
  kFriAbsorb,            ///< index FRI layer: absorbs its root
  kFriFold,              ///< index FRI layer: values of the next layer (or of the last one)
  kLastLayer,            ///< coefficients of the last layer
  kAbsorbLastLayer,      ///< absorbs them
  kGrind,                ///< finds the nonce
  kAbsorbNonce,
  kDrawQueries,   ///< positions, sorted, without repeats
  kOpenTree,      ///< index tree
  kOpenFriLayer,  ///< index FRI layer
  kAssemble,      ///< the finished proof leaves
};
/// "generate_trace", ...
std::string_view node_kind_name(NodeKind kind);

enum class BufferLifetime : uint8_t {
  kShape,         ///< written when the shape is prepared, immutable for all its requests
  kRequest,       ///< written and read within one request
  kTerminalHost,  ///< leaves the device at the end of a request
};
std::string_view buffer_lifetime_name(BufferLifetime lifetime);

/// What a buffer holds; with its indices enough to find it by meaning.
enum class BufferRole : uint8_t {
  kTreeColumns,        ///< index tree: all extended columns
  kTreeHashes,         ///< index tree
  kConstraintWeights,  ///< one QM31 per constraint
  /// Index component: four coordinates on its own rows. Half domain: the first 2^n, and the first
  /// row of the second block, from which the constant right half follows. Else 2^(n+1).
  kComponentQuotient,
  kComposition,    ///< their sum, rows likewise; absent where one component is the sum
  kSampleWeights,  ///< index sample group: four coordinates per row
  kSampledValues,  ///< all sampled values, flat, tree by tree, column by column
  kQuotientTerms,  ///< factors and lines
  kFriValues,      ///< index FRI layer; one past the last: the last layer's values
  kFriHashes,      ///< index FRI layer
  kLastLayer,      ///< coefficients
  kTranscript,     ///< digest and draw counter
  kChallenges,     ///< one QM31 per challenge
  kNonce,
  kQueries,  ///< positions and their number
  kProof,    ///< everything the proof consists of, in the terminal buffer; bytes are the most it
             ///< holds
};
std::string_view buffer_role_name(BufferRole role);

struct ProgramBuffer {
  BufferRole role;
  uint32_t index = 0;
  uint64_t bytes = 0;
  uint32_t alignment = 16;  ///< power of two
  BufferLifetime lifetime = BufferLifetime::kRequest;
  /// Is it written by one node only and read afterwards?
  bool written_once = true;
  /// First node that writes it and last node that uses it. kShape: 0 and the last node.
  uint32_t first_node = 0;
  uint32_t last_node = 0;
  friend bool operator==(const ProgramBuffer&, const ProgramBuffer&) = default;
};

/// A value drawn from the transcript.
struct ProgramChallenge {
  std::string
      name;  ///< "constraint_coefficient", "oods_parameter", "quotient_coefficient", "fri_beta_3"
  uint32_t drawn_by = 0;
  std::vector<uint32_t> consumers;  ///< nodes that use it, ascending
  friend bool operator==(const ProgramChallenge&, const ProgramChallenge&) = default;
};

/// Logical work of a node: what a plain implementation that shares nothing with other nodes does.
/// Formulas: program_layout.cpp.
struct LogicalWork {
  uint64_t field_mul = 0;     ///< products of two M31, schoolbook in the extensions
  uint64_t compressions = 0;  ///< Blake2s compressions; of a random search the expected number
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  friend bool operator==(const LogicalWork&, const LogicalWork&) = default;
};

struct ProofNode {
  NodeKind kind;
  Stage stage;
  uint32_t index = 0;
  uint32_t sub_index = 0;
  uint64_t value = 0;
  std::vector<uint32_t> reads;       ///< buffers, ascending
  std::vector<uint32_t> writes;      ///< buffers, ascending
  std::vector<uint32_t> challenges;  ///< consumed, ascending
  /// Nodes that must have finished, ascending, all smaller than this node's index; without those
  /// implied by others: the writers of what it reads, readers and writers of what it overwrites
  /// (of the same part: components have their own columns, challenges their own place), the
  /// predecessor in the transcript, and kBegin for a node that nothing else holds back.
  std::vector<uint32_t> depends_on;
  /// Does the node absorb into, draw from or reset the transcript? Such nodes form a chain. kGrind
  /// only looks at it.
  bool transcript = false;
  LogicalWork work;
  friend bool operator==(const ProofNode&, const ProofNode&) = default;
};

/// A component of the statement.
struct ProgramComponent {
  std::string name;
  uint32_t log_size = 0;
  bool enabled = true;
  ConstraintProgram program;
  uint32_t first_constraint = 0;
  uint32_t n_constraints = 0;
  uint32_t max_degree = 0;
  /// Constraint programs are compared by digest.
  friend bool operator==(const ProgramComponent& a, const ProgramComponent& b);
};

/// Columns of one trace size sampled at one offset: they share their weights.
struct SampleGroup {
  uint32_t log_size = 0;  ///< of the trace (before the blowup)
  int offset = 0;
  struct Ref {
    uint32_t tree, column, sample;
    uint32_t value_index;  ///< position in the flat sampled values
    friend bool operator==(const Ref&, const Ref&) = default;
  };
  std::vector<Ref> refs;
  friend bool operator==(const SampleGroup&, const SampleGroup&) = default;
};

/// Samples that share one point of the DEEP quotient.
struct QuotientChunk {
  /// The point is Z + shift * G, G the circle group's generator.
  uint32_t point_shift = 0;
  struct Term {
    uint32_t tree, column;
    uint32_t committed_log_size;
    uint32_t value_index;  ///< sampled value, position in the flat sampled values
    uint32_t power;        ///< the term weighs coefficient^power
    friend bool operator==(const Term&, const Term&) = default;
  };
  std::vector<Term> terms;
  friend bool operator==(const QuotientChunk&, const QuotientChunk&) = default;
};

struct ProofProgram {
  /// Source of all sizes; the program's own fields follow from it.
  std::shared_ptr<const ProofShape> shape;
  /// "stwo <crate version>" and this implementation's own program version.
  std::string protocol;
  uint32_t version = 1;

  std::vector<ProgramComponent> components;
  std::vector<SampleGroup> sample_groups;
  std::vector<QuotientChunk> quotient_chunks;
  uint32_t n_sampled_values = 0;
  std::vector<ProgramBuffer> buffers;
  std::vector<ProgramChallenge> challenges;
  std::vector<ProofNode> nodes;

  /// Are all constraints of degree 2 at most, so that the right composition columns are constant
  /// and half the domain determines the composition polynomial?
  bool half_domain_composition = false;

  /// Index of the buffer with this role and index. Throws ContractError if there is none.
  uint32_t buffer(BufferRole role, uint32_t index = 0) const;

  /// SHA-256 (hex) over every field that can change meaning or execution.
  std::string digest() const;
  /// SHA-256 (hex) over what is proven only: statement, protocol, constraint programs, geometry,
  /// transcript. Equal for two programs whose proofs must be equal.
  std::string semantic_digest() const;
  /// Absorbs and draws.
  uint64_t transcript_barriers() const;
};

/// Derives the program and validates it. Throws UsageError for sizes beyond 64 bits, ContractError
/// for a shape that make_shape would not have made.
///
/// Tree 0 has no writing node: its buffers are filled when the shape is prepared. A tree without
/// columns has a kTreeColumns buffer of 0 bytes. Without a constraint to evaluate there are no
/// kConstraintWeights; kSumConstraints then writes zeros.
ProofProgram make_proof_program(std::shared_ptr<const ProofShape> shape);

/// What is wrong with a program.
struct ProgramFault {
  std::string code;  ///< DANGLING, LIFETIME, OVERFLOW, CYCLE, CHALLENGE, ORDER, SHAPE, DUPLICATE
  std::string message;
};
/// Faults, empty for a sound program. In this order, and no further than the first of these checks
/// that fails:
///   SHAPE      configurations the protocol forbids, a shape that disagrees with itself
///   DANGLING   identities that do not exist
///   DUPLICATE  a list, a buffer, a challenge or a node's job that repeats (ORDER: lists not
///   ascending) OVERFLOW   sizes that overflow CYCLE      dependencies that do not point back
///   LIFETIME   a buffer used outside its interval, kept longer than it is used, read before it is
///              written, or of a lifetime that its use contradicts
///   CHALLENGE  used before it is drawn, by a node that does not depend on its draw or is not
///   listed ORDER      dependencies that are missing or without reason (DUPLICATE: implied by
///   others), a
///              transcript that is no chain
///   SHAPE      anything that differs from what the shape gives
std::vector<ProgramFault> validate(const ProofProgram& program);

/// One node a line, for people.
std::string to_text(const ProofProgram& program);

}  // namespace stwo

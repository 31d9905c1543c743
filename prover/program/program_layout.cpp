#include "prover/program/program_layout.hpp"

#include <algorithm>
#include <set>

#include "prover/errors.hpp"

namespace stwo::program_layout {
namespace {

constexpr uint64_t kBaseBytes = 4;
constexpr uint64_t kSecureBytes = 16;
constexpr uint64_t kHashBytes = 32;
constexpr uint64_t kBlockBytes = 64;  // one compression of Blake2s
constexpr uint64_t kCountBytes = 4;

// Products of two M31 in one product, schoolbook.
constexpr uint64_t kSecureMul = 16;        // QM31 * QM31
constexpr uint64_t kSecureBaseMul = 4;     // QM31 * M31
constexpr uint64_t kComplexMul = 4;        // CM31 * CM31
constexpr uint64_t kSecureComplexMul = 8;  // QM31 * CM31

Size min(Size a, Size b) { return a.value() < b.value() ? a : b; }
Size blocks_of(Size bytes) { return (bytes.value() + kBlockBytes - 1) / kBlockBytes; }

/// Butterflies of an FFT of 2^n values: one product each.
Size butterflies(uint32_t n) { return n == 0 ? Size(0) : Size(n) * power_of_two(n - 1); }

Size hashes_in_tree(uint32_t height) { return power_of_two(height + 1) - 1; }

/// Siblings that open q positions at most: one a level and position, and a level of 2^l nodes has
/// no more than those.
Size witness_hashes(uint32_t height, Size queries) {
  Size n = 0;
  for (uint32_t level = 1; level <= height; ++level) n += min(queries, power_of_two(level));
  return n;
}

/// Values of a FRI layer that open its blocks at most: all but one of each.
Size fri_witness(const FriLayerShape& layer, Size queries) {
  const Size blocks = min(queries, power_of_two(layer.log_size - layer.fold_step));
  return blocks * (power_of_two(layer.fold_step) - 1);
}

Size tree_opening_bytes(const ProofShape& shape, uint32_t tree) {
  const TreeShape& t = shape.trees[tree];
  const Size queries = shape.config.fri.n_queries;
  if (t.column_log_sizes.empty()) return 0;
  return Size(kBaseBytes) * queries * t.column_log_sizes.size() +
         Size(kHashBytes) * witness_hashes(t.height, queries) + kCountBytes;
}

Size fri_opening_bytes(const FriLayerShape& layer, Size queries) {
  return Size(kSecureBytes) * fri_witness(layer, queries) + kCountBytes +
         Size(kHashBytes) * witness_hashes(layer.tree_height(), queries) + kCountBytes;
}

Size queries_bytes(const ProofShape& shape) {
  return Size(kCountBytes) * shape.config.fri.n_queries + kCountBytes;
}

/// Proof apart from openings: roots, sampled values, last layer, nonce, positions.
Size proof_head_bytes(const ProofProgram& p) {
  const ProofShape& s = *p.shape;
  return Size(kHashBytes) * (s.trees.size() + s.fri_layers.size()) +
         Size(kSecureBytes) * p.n_sampled_values +
         Size(kSecureBytes) * power_of_two(s.config.fri.log_last_layer_degree_bound) + 8 +
         queries_bytes(s);
}

Size proof_bytes(const ProofProgram& p) {
  const ProofShape& s = *p.shape;
  Size bytes = proof_head_bytes(p);
  for (uint32_t t = 0; t < s.trees.size(); ++t) bytes += tree_opening_bytes(s, t);
  for (const FriLayerShape& layer : s.fri_layers) {
    bytes += fri_opening_bytes(layer, s.config.fri.n_queries);
  }
  return bytes;
}

Size tree_column_bytes(const ProofShape& s, uint32_t tree) {
  Size bytes = 0;
  for (const uint32_t log : s.trees[tree].column_log_sizes) {
    bytes += Size(kBaseBytes) * power_of_two(log + s.log_blowup());
  }
  return bytes;
}

uint32_t fri_values_log(const ProofShape& s, uint32_t layer) {
  return layer < s.fri_layers.size() ? s.fri_layers[layer].log_size : s.last_layer_log_size();
}

/// A right composition column that is one constant: neither opening nor quotient touch its rows.
bool is_constant(const ProofProgram& p, uint32_t tree, uint32_t column) {
  return p.half_domain_composition && tree == p.shape->n_trace_trees() &&
         column >= kSecureExtensionDegree;
}

// ---- work, by kind. n is a trace log size, b the blowup, C columns ----

/// Writes C 2^n values. The generator's own arithmetic is not known to the program.
void generate_trace(const ProofProgram& p, const ProofNode& node, LogicalWork& w) {
  const Size columns = columns_of(*p.shape, node.sub_index, node.index);
  w.bytes_written =
      (Size(kBaseBytes) * columns * power_of_two(p.components[node.sub_index].log_size)).value();
}

/// Inverse FFT of 2^n, then 2^b blocks, each an FFT of 2^n: C n 2^(n-1) (1 + 2^b) products
/// (dividing by 2^n is a rotation). Reads C 2^n values, writes C 2^(n+b).
void extend_columns(const ProofProgram& p, const ProofNode& node, LogicalWork& w) {
  const Size columns = columns_of(*p.shape, node.sub_index, node.index);
  const uint32_t n = p.components[node.sub_index].log_size;
  const uint32_t b = p.shape->log_blowup();
  w.field_mul = (columns * butterflies(n) * (power_of_two(b) + 1)).value();
  w.bytes_read = (columns * kBaseBytes * power_of_two(n)).value();
  w.bytes_written = (columns * kBaseBytes * power_of_two(n + b)).value();
}

/// Leaves: columns enter sorted by size, 16 to a compression, and leaves that agree so far share
/// it: a compression whose largest column has 2^m rows happens 2^m times. Nodes: 2^h - 1.
void hash_tree(const ProofProgram& p, const ProofNode& node, LogicalWork& w) {
  const TreeShape& tree = p.shape->trees[node.index];
  std::vector<uint32_t> logs = tree.column_log_sizes;
  std::sort(logs.begin(), logs.end());
  Size compressions = power_of_two(tree.height) - 1;
  constexpr size_t kPerBlock = kBlockBytes / kBaseBytes;
  for (size_t first = 0; first < logs.size(); first += kPerBlock) {
    const uint32_t log = logs[std::min(first + kPerBlock, logs.size()) - 1];
    compressions += power_of_two(log + p.shape->log_blowup());
  }
  w.compressions = compressions.value();
  w.bytes_read = tree_column_bytes(*p.shape, node.index).value();
  w.bytes_written = (Size(kHashBytes) * hashes_in_tree(tree.height)).value();
}

/// Digest and payload, 64 bytes a compression.
void absorb(Size payload, LogicalWork& w) {
  w.compressions = blocks_of(payload + kHashBytes).value();
  w.bytes_read = payload.value();
}

/// Per row: the program's products, one by the weight for each constraint, one of the sum by the
/// inverse vanishing value. Reads every column once, writes four coordinates.
void evaluate_constraints(const ProofProgram& p, const ProofNode& node, LogicalWork& w) {
  const ProgramComponent& c = p.components[node.index];
  const auto& nodes = c.program.nodes;
  Size products = kSecureBaseMul;
  for (const ProgramNode& n : nodes) {
    if (n.op != ProgramOp::kMul) continue;
    const int n_secure = int{nodes[n.a].secure} + int{nodes[n.b].secure};
    products += n_secure == 0 ? 1 : n_secure == 1 ? kSecureBaseMul : kSecureMul;
  }
  for (const uint32_t k : c.program.constraints) {
    products += nodes[k].secure ? kSecureMul : kSecureBaseMul;
  }
  Size columns = c.program.preprocessed_ids.size();
  for (const uint32_t n : c.program.n_columns) columns += n;
  const Size rows = quotient_rows(p, c.log_size);
  w.field_mul = (rows * products).value();
  w.bytes_read = (rows * columns * kBaseBytes + Size(c.n_constraints) * kSecureBytes).value();
  w.bytes_written = (rows * kSecureBytes).value();
}

/// Reads every part, writes the sum.
void sum_constraints(const ProofProgram& p, LogicalWork& w) {
  Size read = 0;
  for (const uint32_t c : contributing_components(p)) {
    read += Size(kSecureBytes) * quotient_rows(p, p.components[c].log_size);
  }
  w.bytes_read = read.value();
  w.bytes_written =
      (Size(kSecureBytes) * quotient_rows(p, p.shape->composition_log_size - 1)).value();
}

/// With n = C - 1. Half domain: four inverse FFTs of 2^n, then the other 2^b - 1 blocks of four
/// columns. Full domain: four inverse FFTs of 2^(n+1), then 2^b blocks of eight columns.
void extend_composition(const ProofProgram& p, LogicalWork& w) {
  const uint32_t n = p.shape->composition_log_size - 1;
  const Size blocks = power_of_two(p.shape->log_blowup());
  w.field_mul = p.half_domain_composition
                    ? (Size(4) * butterflies(n) * blocks).value()
                    : (Size(4) * butterflies(n + 1) + Size(8) * blocks * butterflies(n)).value();
  w.bytes_read = (Size(kSecureBytes) * quotient_rows(p, n)).value();
  w.bytes_written = tree_column_bytes(*p.shape, p.shape->n_trace_trees()).value();
}

/// The basis at the point takes 2^n - 1 QM31 products, its transform four FFTs.
void sample_weights(const ProofProgram& p, const ProofNode& node, LogicalWork& w) {
  const uint32_t n = p.sample_groups[node.index].log_size;
  w.field_mul =
      (Size(kSecureMul) * (power_of_two(n) - 1) + Size(kSecureExtensionDegree) * butterflies(n))
          .value();
  w.bytes_written = (Size(kSecureBytes) * power_of_two(n)).value();
}

/// One QM31 by M31 product per value. Constant columns cost nothing.
void sample_columns(const ProofProgram& p, const ProofNode& node, LogicalWork& w) {
  const SampleGroup& group = p.sample_groups[node.index];
  const Size rows = power_of_two(group.log_size);
  const auto columns = static_cast<uint64_t>(
      std::count_if(group.refs.begin(), group.refs.end(),
                    [&](const SampleGroup::Ref& r) { return !is_constant(p, r.tree, r.column); }));
  w.field_mul = (rows * columns * kSecureBaseMul).value();
  w.bytes_read = (rows * columns * kBaseBytes + rows * kSecureBytes).value();
  w.bytes_written = (Size(group.refs.size()) * kSecureBytes).value();
}

/// Per term: its power, factor, slope and offset (w c, w a, v c, a q.y, w b).
void quotient_terms(const ProofProgram& p, LogicalWork& w) {
  Size terms = 0;
  for (const QuotientChunk& c : p.quotient_chunks) terms += c.terms.size();
  w.field_mul = (terms * kSecureMul * 6).value();
  w.bytes_read = (Size(kSecureBytes) * p.n_sampled_values).value();
  w.bytes_written = buffer_bytes(p, BufferRole::kQuotientTerms, 0);
}

/// Per term one QM31 by M31 product on the rows of its own size that the first 2^D rows lift from.
/// Per row: slope by y, a denominator (two CM31 products), its inverse in a batch (three), and the
/// numerator by it.
void quotient_chunk(const ProofProgram& p, const ProofNode& node, LogicalWork& w) {
  const ProofShape& s = *p.shape;
  const Size rows = power_of_two(s.max_degree_log_size);
  Size products = rows * (kSecureBaseMul + 5 * kComplexMul + kSecureComplexMul);
  Size read = node.index == 0 ? Size(0) : rows * kSecureBytes;
  for (const QuotientChunk::Term& t : p.quotient_chunks[node.index].terms) {
    if (is_constant(p, t.tree, t.column)) continue;
    const Size own_rows = power_of_two(t.committed_log_size - s.log_blowup());
    products += own_rows * kSecureBaseMul;
    read += own_rows * kBaseBytes;
  }
  w.field_mul = products.value();
  w.bytes_read = read.value();
  w.bytes_written = (rows * kSecureBytes).value();
}

/// Four inverse FFTs of 2^D, then the other 2^b - 1 blocks.
void extend_quotient(const ProofProgram& p, LogicalWork& w) {
  const uint32_t d = p.shape->max_degree_log_size;
  const Size blocks = power_of_two(p.shape->log_blowup());
  w.field_mul = (Size(4) * butterflies(d) * blocks).value();
  w.bytes_read = (Size(kSecureBytes) * power_of_two(d)).value();
  w.bytes_written = (Size(kSecureBytes) * power_of_two(d) * (blocks - 1)).value();
}

/// One compression a leaf (one or four values) and a node.
void fri_hash(const ProofProgram& p, const ProofNode& node, LogicalWork& w) {
  const FriLayerShape& layer = p.shape->fri_layers[node.index];
  w.compressions = hashes_in_tree(layer.tree_height()).value();
  w.bytes_read = (Size(kSecureBytes) * power_of_two(layer.log_size)).value();
  w.bytes_written = (Size(kHashBytes) * hashes_in_tree(layer.tree_height())).value();
}

/// Per folded pair a QM31 by M31 and a QM31 product; a square of beta between folds.
void fri_fold(const ProofProgram& p, const ProofNode& node, LogicalWork& w) {
  const FriLayerShape& layer = p.shape->fri_layers[node.index];
  Size products = Size(layer.fold_step - 1) * kSecureMul;
  for (uint32_t step = 1; step <= layer.fold_step; ++step) {
    products += power_of_two(layer.log_size - step) * (kSecureBaseMul + kSecureMul);
  }
  w.field_mul = products.value();
  w.bytes_read = (Size(kSecureBytes) * power_of_two(layer.log_size)).value();
  w.bytes_written = (Size(kSecureBytes) * power_of_two(layer.log_size - layer.fold_step)).value();
}

/// Inverse FFT of four coordinates.
void last_layer(const ProofProgram& p, LogicalWork& w) {
  const uint32_t log = p.shape->last_layer_log_size();
  w.field_mul = (Size(kSecureExtensionDegree) * butterflies(log)).value();
  w.bytes_read = (Size(kSecureBytes) * power_of_two(log)).value();
  w.bytes_written =
      (Size(kSecureBytes) * power_of_two(p.shape->config.fri.log_last_layer_degree_bound)).value();
}

}  // namespace

Size operator+(Size a, Size b) {
  uint64_t r = 0;
  if (__builtin_add_overflow(a.value_, b.value_, &r)) throw SizeOverflow();
  return r;
}
Size operator-(Size a, Size b) {
  uint64_t r = 0;
  if (__builtin_sub_overflow(a.value_, b.value_, &r)) throw SizeOverflow();
  return r;
}
Size operator*(Size a, Size b) {
  uint64_t r = 0;
  if (__builtin_mul_overflow(a.value_, b.value_, &r)) throw SizeOverflow();
  return r;
}
Size power_of_two(uint32_t log) {
  if (log >= 64) throw SizeOverflow();
  return uint64_t{1} << log;
}

uint32_t columns_of(const ProofShape& shape, uint32_t component, uint32_t tree) {
  const auto& masks = shape.instance->components()[component]->info().mask_offsets;
  return tree < masks.size() ? static_cast<uint32_t>(masks[tree].size()) : 0;
}

uint32_t component_of(const ProofShape& shape, uint32_t tree, uint32_t column) {
  // Components follow one another; one without columns starts where its successor does.
  uint32_t owner = 0;
  for (uint32_t i = 0; i < shape.spans.size(); ++i) {
    if (columns_of(shape, i, tree) > 0 && shape.spans[i].first_column[tree] <= column) owner = i;
  }
  return owner;
}

std::vector<uint32_t> contributing_components(const ProofProgram& program) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < program.components.size(); ++i) {
    const ProgramComponent& c = program.components[i];
    if (c.enabled && c.n_constraints > 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return program.components[a].log_size > program.components[b].log_size;
  });
  return order;
}

Size quotient_rows(const ProofProgram& program, uint32_t log_size) {
  // Half domain: the first block, and one row of the second for the constant right half.
  return program.half_domain_composition ? power_of_two(log_size) + 1 : power_of_two(log_size + 1);
}

uint64_t buffer_bytes(const ProofProgram& p, BufferRole role, uint32_t index) {
  const ProofShape& s = *p.shape;
  switch (role) {
    case BufferRole::kTreeColumns: return tree_column_bytes(s, index).value();
    case BufferRole::kTreeHashes:
      return (Size(kHashBytes) * hashes_in_tree(s.trees[index].height)).value();
    case BufferRole::kConstraintWeights: return (Size(kSecureBytes) * s.n_constraints).value();
    case BufferRole::kComponentQuotient:
      return (Size(kSecureBytes) * quotient_rows(p, p.components[index].log_size)).value();
    case BufferRole::kComposition:
      return (Size(kSecureBytes) * quotient_rows(p, s.composition_log_size - 1)).value();
    case BufferRole::kSampleWeights:
      return (Size(kSecureBytes) * power_of_two(p.sample_groups[index].log_size)).value();
    case BufferRole::kSampledValues: return (Size(kSecureBytes) * p.n_sampled_values).value();
    case BufferRole::kQuotientTerms: {
      // A factor per term; a point's two coordinates, slope and offset per chunk.
      Size bytes = 0;
      for (const QuotientChunk& c : p.quotient_chunks) {
        bytes += Size(kSecureBytes) * (Size(c.terms.size()) + 4);
      }
      return bytes.value();
    }
    case BufferRole::kFriValues:
      return (Size(kSecureBytes) * power_of_two(fri_values_log(s, index))).value();
    case BufferRole::kFriHashes:
      return (Size(kHashBytes) * hashes_in_tree(s.fri_layers[index].tree_height())).value();
    case BufferRole::kLastLayer:
      return (Size(kSecureBytes) * power_of_two(s.config.fri.log_last_layer_degree_bound)).value();
    case BufferRole::kTranscript: return kHashBytes + kCountBytes;
    case BufferRole::kChallenges: return (Size(kSecureBytes) * p.challenges.size()).value();
    case BufferRole::kNonce: return 8;
    case BufferRole::kQueries: return queries_bytes(s).value();
    case BufferRole::kProof: return proof_bytes(p).value();
  }
  throw ContractError("unknown buffer role");
}

LogicalWork node_work(const ProofProgram& p, const ProofNode& node) {
  const ProofShape& s = *p.shape;
  LogicalWork w;
  switch (node.kind) {
    case NodeKind::kBegin: w.bytes_written = kHashBytes + kCountBytes; break;
    case NodeKind::kMixConfig: absorb(2 * kSecureBytes, w); break;
    case NodeKind::kMixU64: absorb(8, w); break;
    case NodeKind::kGenerateTrace: generate_trace(p, node, w); break;
    case NodeKind::kExtendColumns: extend_columns(p, node, w); break;
    case NodeKind::kHashTree: hash_tree(p, node, w); break;
    case NodeKind::kAbsorbRoot:
    case NodeKind::kFriAbsorb: absorb(kHashBytes, w); break;
    case NodeKind::kDrawChallenge:
      w.compressions = 1;
      w.bytes_written = kSecureBytes;
      break;
    case NodeKind::kConstraintWeights:
      w.field_mul = (Size(kSecureMul) * (Size(s.n_constraints) - 1)).value();
      w.bytes_written = (Size(kSecureBytes) * s.n_constraints).value();
      break;
    case NodeKind::kEvaluateConstraints: evaluate_constraints(p, node, w); break;
    case NodeKind::kSumConstraints: sum_constraints(p, w); break;
    case NodeKind::kExtendComposition: extend_composition(p, w); break;
    case NodeKind::kSampleWeights: sample_weights(p, node, w); break;
    case NodeKind::kSampleColumns: sample_columns(p, node, w); break;
    case NodeKind::kAbsorbSamples: absorb(Size(kSecureBytes) * p.n_sampled_values, w); break;
    case NodeKind::kQuotientTerms: quotient_terms(p, w); break;
    case NodeKind::kQuotientChunk: quotient_chunk(p, node, w); break;
    case NodeKind::kExtendQuotient: extend_quotient(p, w); break;
    case NodeKind::kFriHash: fri_hash(p, node, w); break;
    case NodeKind::kFriFold: fri_fold(p, node, w); break;
    case NodeKind::kLastLayer: last_layer(p, w); break;
    case NodeKind::kAbsorbLastLayer:
      absorb(Size(kSecureBytes) * power_of_two(s.config.fri.log_last_layer_degree_bound), w);
      break;
    case NodeKind::kGrind:
      // The prefix, and as many nonces as are expected to be tried.
      w.compressions = (power_of_two(s.config.pow_bits) + 1).value();
      w.bytes_written = 8;
      break;
    case NodeKind::kAbsorbNonce: absorb(8, w); break;
    case NodeKind::kDrawQueries:
      w.compressions = (uint64_t{s.config.fri.n_queries} + 7) / 8;  // eight words a draw
      w.bytes_written = queries_bytes(s).value();
      break;
    case NodeKind::kOpenTree:
      // At most; fewer where queries share nodes.
      w.bytes_read = w.bytes_written = tree_opening_bytes(s, node.index).value();
      break;
    case NodeKind::kOpenFriLayer:
      w.bytes_read = w.bytes_written =
          fri_opening_bytes(s.fri_layers[node.index], s.config.fri.n_queries).value();
      break;
    case NodeKind::kAssemble:
      // Openings lie in the proof already.
      w.bytes_read = w.bytes_written = proof_head_bytes(p).value();
      break;
  }
  return w;
}

bool touches_transcript(NodeKind kind) {
  switch (kind) {
    case NodeKind::kBegin:
    case NodeKind::kMixConfig:
    case NodeKind::kMixU64:
    case NodeKind::kAbsorbRoot:
    case NodeKind::kDrawChallenge:
    case NodeKind::kAbsorbSamples:
    case NodeKind::kFriAbsorb:
    case NodeKind::kAbsorbLastLayer:
    case NodeKind::kAbsorbNonce:
    case NodeKind::kDrawQueries: return true;
    default: return false;
  }
}

uint32_t part_count(const ProofProgram& program, const ProgramBuffer& buffer) {
  size_t n = 1;
  switch (buffer.role) {
    case BufferRole::kTreeColumns:
      if (buffer.index > 0 && buffer.index < program.shape->n_trace_trees()) {
        n = program.components.size();
      }
      break;
    case BufferRole::kSampledValues: n = program.sample_groups.size(); break;
    case BufferRole::kChallenges: n = program.challenges.size(); break;
    case BufferRole::kProof:
      // Each opening, and the rest.
      n = program.shape->trees.size() + program.shape->fri_layers.size() + 1;
      break;
    default: break;
  }
  return static_cast<uint32_t>(n);
}

std::vector<uint32_t> parts_touched(const ProofProgram& program, const ProofNode& node,
                                    const ProgramBuffer& buffer) {
  const uint32_t n = part_count(program, buffer);
  const ProofShape& shape = *program.shape;
  const auto owners = [&](const auto& columns) {
    std::set<uint32_t> parts;
    for (const auto& c : columns) {
      if (c.tree == buffer.index) parts.insert(component_of(shape, c.tree, c.column));
    }
    return std::vector<uint32_t>(parts.begin(), parts.end());
  };
  if (n > 1) {
    switch (buffer.role) {
      case BufferRole::kTreeColumns:
        switch (node.kind) {
          case NodeKind::kGenerateTrace:
          case NodeKind::kExtendColumns: return {node.sub_index};
          case NodeKind::kEvaluateConstraints: return {node.index};
          case NodeKind::kSampleColumns: return owners(program.sample_groups[node.index].refs);
          case NodeKind::kQuotientChunk: return owners(program.quotient_chunks[node.index].terms);
          default: break;
        }
        break;
      case BufferRole::kSampledValues:
        if (node.kind == NodeKind::kSampleColumns) return {node.index};
        break;
      case BufferRole::kChallenges:
        if (node.kind == NodeKind::kDrawChallenge) return {node.index};
        return node.challenges;
      case BufferRole::kProof:
        if (node.kind == NodeKind::kOpenTree) return {node.index};
        if (node.kind == NodeKind::kOpenFriLayer) {
          return {static_cast<uint32_t>(shape.trees.size()) + node.index};
        }
        break;
      default: break;
    }
  }
  std::vector<uint32_t> all;
  for (uint32_t part = 0; part < n; ++part) {
    // A component without columns in a tree has no part there.
    const bool empty = buffer.role == BufferRole::kTreeColumns && n > 1 &&
                       columns_of(shape, part, buffer.index) == 0;
    if (!empty) all.push_back(part);
  }
  return all;
}

void Ancestors::add(uint32_t node, uint32_t earlier) {
  for (size_t w = 0; w < words_; ++w) bits_[node * words_ + w] |= bits_[earlier * words_ + w];
  bits_[node * words_ + earlier / 64] |= uint64_t{1} << (earlier % 64);
}

Ancestors ancestors_of(const ProofProgram& program) {
  Ancestors ancestors(program.nodes.size());
  for (uint32_t i = 0; i < program.nodes.size(); ++i) {
    for (const uint32_t d : program.nodes[i].depends_on) ancestors.add(i, d);
  }
  return ancestors;
}

std::vector<std::vector<uint32_t>> required_dependencies(const ProofProgram& program) {
  struct Part {
    bool written = false;
    uint32_t writer = 0;
    std::vector<uint32_t> readers;  ///< since it was written
  };
  std::vector<std::vector<Part>> parts;
  parts.reserve(program.buffers.size());
  for (const ProgramBuffer& b : program.buffers) parts.emplace_back(part_count(program, b));

  Ancestors ancestors(program.nodes.size());
  std::vector<std::vector<uint32_t>> out(program.nodes.size());
  for (uint32_t i = 0; i < program.nodes.size(); ++i) {
    const ProofNode& node = program.nodes[i];
    std::set<uint32_t> needed;
    for (const uint32_t b : node.reads) {
      for (const uint32_t part : parts_touched(program, node, program.buffers[b])) {
        if (parts[b][part].written) needed.insert(parts[b][part].writer);
      }
    }
    for (const uint32_t b : node.writes) {
      for (const uint32_t part : parts_touched(program, node, program.buffers[b])) {
        const Part& p = parts[b][part];
        if (p.written) needed.insert(p.writer);
        needed.insert(p.readers.begin(), p.readers.end());
      }
    }
    if (needed.empty() && i != 0) needed.insert(0);
    for (const uint32_t d : needed) {
      const bool implied = std::any_of(needed.begin(), needed.end(), [&](uint32_t other) {
        return other != d && ancestors.contains(other, d);
      });
      if (!implied) out[i].push_back(d);
    }
    for (const uint32_t d : out[i]) ancestors.add(i, d);

    for (const uint32_t b : node.reads) {
      for (const uint32_t part : parts_touched(program, node, program.buffers[b])) {
        parts[b][part].readers.push_back(i);
      }
    }
    for (const uint32_t b : node.writes) {
      for (const uint32_t part : parts_touched(program, node, program.buffers[b])) {
        parts[b][part] = {true, i, {}};
      }
    }
  }
  return out;
}

}  // namespace stwo::program_layout

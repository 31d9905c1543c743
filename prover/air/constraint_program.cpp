#include "prover/air/constraint_program.hpp"

#include <algorithm>

namespace stwo {
namespace {

constexpr uint32_t kEncodingVersion = 2;

/// The node indices a node refers to, by reference.
template <class Node, class Visit>
void for_each_operand(Node& n, const Visit& visit) {
  switch (n.op) {
    case ProgramOp::kConstant:
    case ProgramOp::kSecureConstant:
    case ProgramOp::kMask:
    case ProgramOp::kPreprocessed: return;
    case ProgramOp::kAdd:
    case ProgramOp::kSub:
    case ProgramOp::kMul:
      visit(n.a);
      visit(n.b);
      return;
    case ProgramOp::kNeg: visit(n.a); return;
    case ProgramOp::kSecureFromCoordinates:
      visit(n.a);
      visit(n.b);
      visit(n.immediate[0]);
      visit(n.immediate[1]);
      return;
  }
}

/// Digest of the expression a node stands for, given those of its operands.
Digest structure_digest(const ProgramNode& node, const std::vector<Digest>& known) {
  Blake2s hasher(HashVariant::kBlake2s);
  ProgramNode own = node;
  for_each_operand(own, [](uint32_t& operand) { operand = 0; });
  const uint32_t words[8] = {static_cast<uint32_t>(own.op),
                             own.secure,
                             own.a,
                             own.b,
                             own.immediate[0],
                             own.immediate[1],
                             own.immediate[2],
                             own.immediate[3]};
  hasher.update_words(words);
  for_each_operand(node, [&](const uint32_t& operand) { hasher.update(known[operand]); });
  return hasher.finalize();
}

/// Gives the program the numbering its invariant asks for.
void canonicalise(ConstraintProgram& program) {
  std::vector<Digest> digests;
  digests.reserve(program.nodes.size());
  for (ProgramNode& n : program.nodes) {
    const bool commutes = n.op == ProgramOp::kAdd || n.op == ProgramOp::kMul;
    if (commutes && digests[n.b] < digests[n.a]) std::swap(n.a, n.b);
    digests.push_back(structure_digest(n, digests));
  }
  constexpr uint32_t kUnnumbered = UINT32_MAX;
  std::vector<uint32_t> number(program.nodes.size(), kUnnumbered);
  std::vector<ProgramNode> ordered;
  ordered.reserve(program.nodes.size());
  std::vector<uint32_t> stack;
  for (uint32_t& constraint : program.constraints) {
    stack.push_back(constraint);
    while (!stack.empty()) {
      const uint32_t at = stack.back();
      if (number[at] != kUnnumbered) {
        stack.pop_back();
        continue;
      }
      ProgramNode node = program.nodes[at];
      std::vector<uint32_t> missing;
      for_each_operand(node, [&](uint32_t& operand) {
        if (number[operand] == kUnnumbered) missing.push_back(operand);
      });
      if (!missing.empty()) {
        stack.insert(stack.end(), missing.rbegin(), missing.rend());
        continue;
      }
      for_each_operand(node, [&](uint32_t& operand) { operand = number[operand]; });
      number[at] = static_cast<uint32_t>(ordered.size());
      ordered.push_back(node);
      stack.pop_back();
    }
    constraint = number[constraint];
  }
  program.nodes = std::move(ordered);
}

}  // namespace

std::string_view program_op_name(ProgramOp op) {
  switch (op) {
    case ProgramOp::kConstant: return "constant";
    case ProgramOp::kSecureConstant: return "secure_constant";
    case ProgramOp::kMask: return "mask";
    case ProgramOp::kPreprocessed: return "preprocessed";
    case ProgramOp::kAdd: return "add";
    case ProgramOp::kSub: return "sub";
    case ProgramOp::kMul: return "mul";
    case ProgramOp::kNeg: return "neg";
    case ProgramOp::kSecureFromCoordinates: return "secure_from_coordinates";
  }
  return "?";
}

Digest ConstraintProgram::digest() const {
  Blake2s hasher(HashVariant::kBlake2s);
  const auto word = [&](uint32_t w) {
    const uint32_t one[1] = {w};
    hasher.update_words(one);
  };
  word(kEncodingVersion);
  word(static_cast<uint32_t>(nodes.size()));
  for (const ProgramNode& n : nodes) {
    word(static_cast<uint32_t>(n.op));
    word(n.secure);
    word(n.a);
    word(n.b);
    hasher.update_words(n.immediate);
  }
  word(static_cast<uint32_t>(preprocessed_ids.size()));
  for (const std::string& id : preprocessed_ids) {
    word(static_cast<uint32_t>(id.size()));
    hasher.update({reinterpret_cast<const uint8_t*>(id.data()), id.size()});
  }
  word(static_cast<uint32_t>(constraints.size()));
  hasher.update_words(constraints);
  word(static_cast<uint32_t>(n_columns.size()));
  hasher.update_words(n_columns);
  return hasher.finalize();
}

std::string ConstraintProgram::to_text() const {
  const auto ref = [](uint32_t i) { return "%" + std::to_string(i); };
  std::string out;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const ProgramNode& n = nodes[i];
    out += ref(static_cast<uint32_t>(i)) + (n.secure ? ": qm31 = " : ": m31 = ");
    out += program_op_name(n.op);
    switch (n.op) {
      case ProgramOp::kConstant: out += " " + std::to_string(n.immediate[0]); break;
      case ProgramOp::kSecureConstant:
        for (const uint32_t c : n.immediate) out += " " + std::to_string(c);
        break;
      case ProgramOp::kMask:
        out += " tree " + std::to_string(n.a) + " column " + std::to_string(n.b) + " offset " +
               std::to_string(static_cast<int32_t>(n.immediate[0]));
        break;
      case ProgramOp::kPreprocessed: out += " " + preprocessed_ids[n.a]; break;
      case ProgramOp::kAdd:
      case ProgramOp::kSub:
      case ProgramOp::kMul: out += " " + ref(n.a) + " " + ref(n.b); break;
      case ProgramOp::kNeg: out += " " + ref(n.a); break;
      case ProgramOp::kSecureFromCoordinates:
        out +=
            " " + ref(n.a) + " " + ref(n.b) + " " + ref(n.immediate[0]) + " " + ref(n.immediate[1]);
        break;
    }
    out += "\n";
  }
  for (size_t k = 0; k < constraints.size(); ++k) {
    out += "constraint " + std::to_string(k) + " = " + ref(constraints[k]) + "\n";
  }
  return out;
}

std::vector<QM31> ConstraintProgram::evaluate(
    const ComponentMask& mask, const std::vector<std::string>& preprocessed_requests) const {
  std::vector<QM31> value(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    const ProgramNode& n = nodes[i];
    switch (n.op) {
      case ProgramOp::kConstant: value[i] = QM31(M31(n.immediate[0])); break;
      case ProgramOp::kSecureConstant:
        value[i] = QM31::from_u32(n.immediate[0], n.immediate[1], n.immediate[2], n.immediate[3]);
        break;
      case ProgramOp::kMask: {
        value[i] = mask.trees[n.a][n.b][n.immediate[1]];
        break;
      }
      case ProgramOp::kPreprocessed: {
        const auto it = std::find(preprocessed_requests.begin(), preprocessed_requests.end(),
                                  preprocessed_ids[n.a]);
        STWO_CHECK(it != preprocessed_requests.end(), "preprocessed id was not requested");
        value[i] = mask.preprocessed[static_cast<size_t>(it - preprocessed_requests.begin())];
        break;
      }
      case ProgramOp::kAdd: value[i] = value[n.a] + value[n.b]; break;
      case ProgramOp::kSub: value[i] = value[n.a] - value[n.b]; break;
      case ProgramOp::kMul: value[i] = value[n.a] * value[n.b]; break;
      case ProgramOp::kNeg: value[i] = -value[n.a]; break;
      case ProgramOp::kSecureFromCoordinates: {
        const QM31 v[4] = {value[n.a], value[n.b], value[n.immediate[0]], value[n.immediate[1]]};
        value[i] = QM31::from_partial_evals(v);
        break;
      }
    }
  }
  std::vector<QM31> out;
  out.reserve(constraints.size());
  for (const uint32_t c : constraints) out.push_back(value[c]);
  return out;
}

void ConstraintProgram::check() const {
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    const ProgramNode& n = nodes[i];
    bool ok = true;
    switch (n.op) {
      case ProgramOp::kConstant: ok = n.immediate[0] < kP && !n.secure; break;
      case ProgramOp::kSecureConstant:
        ok = n.secure &&
             std::all_of(n.immediate.begin(), n.immediate.end(), [](uint32_t c) { return c < kP; });
        break;
      case ProgramOp::kMask:
        ok = n.a < n_columns.size() && n.b < n_columns[n.a] && !n.secure;
        break;
      case ProgramOp::kPreprocessed: ok = n.a < preprocessed_ids.size() && !n.secure; break;
      case ProgramOp::kAdd:
      case ProgramOp::kSub:
      case ProgramOp::kMul:
        ok = n.a < i && n.b < i && n.secure == (nodes[n.a].secure || nodes[n.b].secure);
        break;
      case ProgramOp::kNeg: ok = n.a < i && n.secure == nodes[n.a].secure; break;
      case ProgramOp::kSecureFromCoordinates:
        ok = n.secure && n.a < i && n.b < i && n.immediate[0] < i && n.immediate[1] < i;
        break;
    }
    STWO_CHECK(ok, "constraint program: node " + std::to_string(i) + " is malformed");
  }
  for (const uint32_t c : constraints) {
    STWO_CHECK(c < nodes.size(), "constraint program: constraint names a missing node");
  }
}

ConstraintRecorder::F ConstraintRecorder::add(const ProgramNode& node) {
  const auto [it, inserted] = index_.emplace(node, static_cast<uint32_t>(program_.nodes.size()));
  if (inserted) program_.nodes.push_back(node);
  return {this, it->second};
}

ConstraintRecorder::F ConstraintRecorder::mask(uint32_t tree, uint32_t column, int offset,
                                               uint32_t sample) {
  ProgramNode n{ProgramOp::kMask};
  n.a = tree;
  n.b = column;
  n.immediate[0] = static_cast<uint32_t>(offset);
  n.immediate[1] = sample;
  return add(n);
}

ConstraintRecorder::F ConstraintRecorder::next_extension_mask(uint32_t tree, int offset) {
  F c[4];
  for (F& f : c) f = next_interaction_mask(tree, std::array<int, 1>{offset})[0];
  ProgramNode n{ProgramOp::kSecureFromCoordinates};
  n.secure = true;
  n.a = c[0].node;
  n.b = c[1].node;
  n.immediate[0] = c[2].node;
  n.immediate[1] = c[3].node;
  return add(n);
}

ConstraintRecorder::F ConstraintRecorder::preprocessed_column(std::string_view id) {
  auto& ids = program_.preprocessed_ids;
  auto it = std::find(ids.begin(), ids.end(), id);
  if (it == ids.end()) it = ids.insert(ids.end(), std::string(id));
  ProgramNode n{ProgramOp::kPreprocessed};
  n.a = static_cast<uint32_t>(it - ids.begin());
  return add(n);
}

ConstraintRecorder::F ConstraintRecorder::constant(M31 c) {
  ProgramNode n{ProgramOp::kConstant};
  n.immediate[0] = c.v;
  return add(n);
}

ConstraintRecorder::F ConstraintRecorder::secure_constant(QM31 c) {
  ProgramNode n{ProgramOp::kSecureConstant};
  n.secure = true;
  for (uint32_t k = 0; k < 4; ++k) n.immediate[k] = c.coordinate(k).v;
  return add(n);
}

ConstraintRecorder::F ConstraintRecorder::binary(ProgramOp op, F x, F y) {
  ProgramNode n{op};
  n.secure = program_.nodes[x.node].secure || program_.nodes[y.node].secure;
  n.a = x.node;
  n.b = y.node;
  if (op != ProgramOp::kSub && n.a > n.b) std::swap(n.a, n.b);
  return add(n);
}

ConstraintRecorder::F ConstraintRecorder::unary(ProgramOp op, F x) {
  ProgramNode n{op};
  n.secure = program_.nodes[x.node].secure;
  n.a = x.node;
  return add(n);
}

ConstraintProgram ConstraintRecorder::take() {
  canonicalise(program_);
  program_.check();
  return std::move(program_);
}

}  // namespace stwo

// A recorded AIR: the script's constraints as a small program in static single assignment form.
// The CUDA backend compiles its composition kernel from it; the host interprets it to check parity.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "prover/air/point_evaluator.hpp"
#include "prover/field/qm31.hpp"
#include "prover/hash/blake2s.hpp"

namespace stwo {

/// Operation of a node. Operands a, b are indices of earlier nodes.
enum class ProgramOp : uint8_t {
  kConstant = 0,        ///< immediate[0]
  kSecureConstant = 1,  ///< immediate[0..4]
  kMask = 2,          ///< tree a, component-local column b, offset immediate[0] (two's complement)
  kPreprocessed = 3,  ///< preprocessed id a (index into ids)
  kAdd = 4,
  kSub = 5,
  kMul = 6,
  kNeg = 7,
  kSecureFromCoordinates = 8,  ///< four base nodes: a, b, immediate[0], immediate[1]
};

std::string_view program_op_name(ProgramOp op);

struct ProgramNode {
  ProgramOp op;
  /// Is the value a QM31 (true) or an M31 on the domain (false)?
  bool secure = false;
  uint32_t a = 0;
  uint32_t b = 0;
  std::array<uint32_t, 4> immediate{};
  friend auto operator<=>(const ProgramNode&, const ProgramNode&) = default;
};

/// Invariants: operands precede their node; no two nodes are equal; every constraint index is
/// valid.
struct ConstraintProgram {
  std::vector<ProgramNode> nodes;
  /// Distinct preprocessed ids in order of first request.
  std::vector<std::string> preprocessed_ids;
  /// Node of each constraint, in constraint order.
  std::vector<uint32_t> constraints;
  /// Columns the program reads, per tree.
  std::vector<uint32_t> n_columns;

  /// Blake2s over a canonical encoding of all fields: equal programs have equal digests on every
  /// machine. It changes when an operation, operand, constant, mask or the constraint order
  /// changes.
  Digest digest() const;
  /// One node a line; for people.
  std::string to_text() const;
  /// Values of the constraints for given masks. Preprocessed values are looked up per distinct id.
  std::vector<QM31> evaluate(const ComponentMask& mask,
                             const std::vector<std::string>& preprocessed_requests) const;
  /// Throws ContractError if an invariant is broken.
  void check() const;
};

/// Recording run of an AIR script. Equal sub-expressions are recorded once, also where a sum or
/// product has its operands exchanged.
class ConstraintRecorder {
 public:
  struct F {
    ConstraintRecorder* recorder = nullptr;
    uint32_t node = 0;
    F operator+(F y) const { return recorder->binary(ProgramOp::kAdd, *this, y); }
    F operator-(F y) const { return recorder->binary(ProgramOp::kSub, *this, y); }
    F operator*(F y) const { return recorder->binary(ProgramOp::kMul, *this, y); }
    F operator-() const { return recorder->unary(ProgramOp::kNeg, *this); }
  };
  using EF = F;

  F next_trace_mask() { return next_interaction_mask(1, std::array<int, 1>{0})[0]; }
  template <size_t N>
  std::array<F, N> next_interaction_mask(uint32_t tree, const std::array<int, N>& offsets) {
    if (program_.n_columns.size() <= tree) program_.n_columns.resize(tree + 1);
    const uint32_t column = program_.n_columns[tree]++;
    std::array<F, N> out;
    for (size_t i = 0; i < N; ++i) {
      out[i] = mask(tree, column, offsets[i], static_cast<uint32_t>(i));
    }
    return out;
  }
  EF next_extension_mask(uint32_t tree, int offset);
  F preprocessed_column(std::string_view id);
  F constant(M31 c);
  EF secure_constant(QM31 c);
  void add_constraint(F value) { program_.constraints.push_back(value.node); }

  ConstraintProgram take();

 private:
  F mask(uint32_t tree, uint32_t column, int offset, uint32_t sample);
  F binary(ProgramOp op, F x, F y);
  F unary(ProgramOp op, F x);
  F add(const ProgramNode& node);

  ConstraintProgram program_;
  std::map<ProgramNode, uint32_t> index_;
};

template <class Script>
ConstraintProgram record_constraints(const Script& script) {
  ConstraintRecorder recorder;
  script.evaluate(recorder);
  return recorder.take();
}

}  // namespace stwo

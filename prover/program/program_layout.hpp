// Parts of the proof program's construction that its derivation and its validation share: where
// columns belong, how large buffers are, how much work nodes are, which node touches what.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "prover/program/proof_program.hpp"

namespace stwo::program_layout {

/// Thrown by Size; callers turn it into a usage error or a fault.
struct SizeOverflow : std::overflow_error {
  SizeOverflow() : std::overflow_error("a size exceeds 64 bits") {}
};

/// A count or a number of bytes. Arithmetic that would wrap throws SizeOverflow.
class Size {
 public:
  constexpr Size(uint64_t value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  constexpr uint64_t value() const { return value_; }
  friend Size operator+(Size a, Size b);
  friend Size operator-(Size a, Size b);
  friend Size operator*(Size a, Size b);
  Size& operator+=(Size o) { return *this = *this + o; }

 private:
  uint64_t value_;
};
/// 2^log.
Size power_of_two(uint32_t log);

/// Columns a component has in a trace tree (1 and up).
uint32_t columns_of(const ProofShape& shape, uint32_t component, uint32_t tree);
/// The component that a column of a trace tree (1 and up) belongs to.
uint32_t component_of(const ProofShape& shape, uint32_t tree, uint32_t column);
/// Components whose constraints enter the composition, largest first.
std::vector<uint32_t> contributing_components(const ProofProgram& program);
/// Rows of a component's composition quotient that have to be known, and of their sum.
Size quotient_rows(const ProofProgram& program, uint32_t log_size);

/// Unpadded bytes of a buffer.
uint64_t buffer_bytes(const ProofProgram& program, BufferRole role, uint32_t index);
/// The formulas are in program_layout.cpp.
LogicalWork node_work(const ProofProgram& program, const ProofNode& node);

/// Does this kind of node absorb into, draw from or reset the transcript?
bool touches_transcript(NodeKind kind);

/// Buffers that several nodes fill piecewise are divided into parts, so that work on one part does
/// not wait for another: tree columns by component, sampled values by sample group, challenges by
/// challenge, the proof by opened tree and layer. Every other buffer is one part.
uint32_t part_count(const ProofProgram& program, const ProgramBuffer& buffer);
/// Parts of a buffer that a node touches, ascending.
std::vector<uint32_t> parts_touched(const ProofProgram& program, const ProofNode& node,
                                    const ProgramBuffer& buffer);

/// Sets of earlier nodes, one per node.
class Ancestors {
 public:
  explicit Ancestors(size_t n_nodes) : words_((n_nodes + 63) / 64), bits_(n_nodes * words_) {}
  bool contains(uint32_t node, uint32_t earlier) const {
    return (bits_[node * words_ + earlier / 64] >> (earlier % 64) & 1) != 0;
  }
  /// Makes `earlier` and all its ancestors ancestors of `node`.
  void add(uint32_t node, uint32_t earlier);

 private:
  size_t words_;
  std::vector<uint64_t> bits_;
};
/// From the nodes' own dependency lists, which must point backwards.
Ancestors ancestors_of(const ProofProgram& program);

/// What each node has to wait for, without what others imply: who wrote what it reads, who reads or
/// writes what it overwrites (which makes the transcript a chain), and kBegin where nothing else
/// holds it back.
std::vector<std::vector<uint32_t>> required_dependencies(const ProofProgram& program);

}  // namespace stwo::program_layout

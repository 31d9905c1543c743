// What the CPU backend prepares for one shape: tables and every buffer a proof writes.
//
// Memory, with N = 2^n rows, C columns, blowup 2^b, L the query domain's log (b = 1, one size):
//   columns   4 C 2^b N     trace values are written into the first N cells of each extended column
//                           and extended in place: no separate trace, no coefficients kept
//   hashes    64 * 2^L per tree (trace, composition), FRI trees about 128 * 2^L together
//   secure    32 * 2^L composition columns, 16 * 2^L quotient, about 16 * 2^L FRI layers,
//             16 * 2^C scratch
// All is allocated in prepare() and reused by every request.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "prover/backend.hpp"
#include "prover/cpu/hash_tree.hpp"
#include "prover/cpu/kernels.hpp"
#include "prover/cpu/thread_pool.hpp"
#include "prover/poly/twiddles.hpp"

namespace stwo::cpu {

/// Columns of one commitment tree and its hashes.
struct CommittedTree {
  /// Column c has 2^(column_log_sizes[c] + blowup) values.
  std::vector<M31*> columns;
  Buffer<M31> values;
  HashTree hashes;
};

/// Layout of four equal coordinate columns inside one buffer; columns are kept a cache line apart
/// from a power of two, which would map every row of all columns to the same cache sets.
uint64_t column_stride(uint64_t rows);
SecureColumns secure_columns(M31* base, uint64_t rows);
uint64_t secure_words(uint64_t rows);

class CpuShape final : public PreparedShape {
 public:
  CpuShape(std::shared_ptr<const ProofShape> shape, ThreadPool& pool);

  const ProofShape& shape() const override { return *shape_; }
  MemoryPlan memory() const override { return plan_; }
  std::unique_ptr<ProofSession> begin(const TranscriptObserver& observer) override;

  ThreadPool& pool() const { return pool_; }
  const TwiddleTree& twiddles() const { return *twiddles_; }

  /// Extends column c of a tree: trace values in its first 2^n cells become 2^(n+b) values.
  void extend_column(uint32_t tree, uint32_t column) const;
  /// Hashes a tree's columns.
  void hash_columns(uint32_t tree) const;

  /// Takes the full-domain composition also where degree 2 allows the half-domain one. Same bytes,
  /// more work: for comparing the two.
  bool full_domain_composition = false;

  mutable std::vector<CommittedTree> trees;
  /// Coordinates of the first 2^D storage points of the query domain.
  Buffer<M31> domain_x;
  Buffer<M31> domain_y;
  /// FRI layer values, layer 0 being the quotient, and the values of the last layer.
  std::vector<SecureColumns> fri_values;
  mutable std::vector<HashTree> fri_trees;
  SecureColumns last_layer;
  /// Scratch of four columns; what it holds changes from stage to stage.
  M31* scratch() const { return scratch_.data(); }

 private:
  MemoryPlan plan_memory() const;
  void allocate();
  void commit_preprocessed();

  std::shared_ptr<const ProofShape> shape_;
  ThreadPool& pool_;
  MemoryPlan plan_;
  std::unique_ptr<TwiddleTree> twiddles_;
  std::vector<Buffer<M31>> fri_storage_;
  Buffer<M31> scratch_;
};

std::unique_ptr<ProofSession> make_cpu_session(CpuShape& prepared,
                                               const TranscriptObserver& observer);

}  // namespace stwo::cpu

// The SIMD row run of an AIR script: masks are vectors of committed values, constraints are
// weighted and summed. And the row-local trace generator. Included inside Highway's per-target
// loop.
#if defined(STWO_CPU_ROW_EVALUATOR_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef STWO_CPU_ROW_EVALUATOR_INL_H
#undef STWO_CPU_ROW_EVALUATOR_INL_H
#else
#define STWO_CPU_ROW_EVALUATOR_INL_H
#endif

#include <array>
#include <string_view>
#include <type_traits>

#include "prover/air/component.hpp"
#include "prover/circle/domain.hpp"
#include "prover/cpu/packed-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stwo {
namespace HWY_NAMESPACE {

/// N masks of one column. Not std::array, whose implicit constructor would not be compiled for the
/// target region's instruction set.
template <size_t N>
struct PackedMasks {
  PackedM31 v[N];
  HWY_INLINE PackedMasks() {}
  HWY_INLINE const PackedM31& operator[](size_t i) const { return v[i]; }
};

class RowEvaluator {
 public:
  using F = PackedM31;
  using EF = PackedQM31;

  HWY_INLINE RowEvaluator(const ConstraintRows& rows, uint64_t row)
      : rows_(rows), row_(row), coefficient_(rows.coefficients) {}

  HWY_INLINE F next_trace_mask() {
    const M31* column = rows_.tree_columns[1][next_[1]++];
    // Many columns at one row each are more streams than the hardware prefetcher follows.
    hwy::Prefetch(column + row_ + 2 * kLanes);
    return F(Load(column + row_));
  }
  template <size_t N>
  HWY_INLINE PackedMasks<N> next_interaction_mask(uint32_t tree,
                                                  const std::array<int, N>& offsets) {
    const M31* column = rows_.tree_columns[tree][next_[tree]++];
    PackedMasks<N> out;
    for (size_t i = 0; i < N; ++i) out.v[i] = at_offset(column, offsets[i]);
    return out;
  }
  HWY_INLINE EF next_extension_mask(uint32_t tree, int offset) {
    EF out;
    for (uint32_t k = 0; k < 4; ++k) {
      out.c[k] = at_offset(rows_.tree_columns[tree][next_[tree]++], offset);
    }
    return out;
  }
  HWY_INLINE F preprocessed_column(std::string_view) {
    return F(Load(rows_.preprocessed[next_preprocessed_++] + row_));
  }
  HWY_INLINE F constant(M31 c) { return F(Broadcast(c)); }
  HWY_INLINE EF secure_constant(QM31 c) { return EF::broadcast(c); }
  HWY_INLINE void add_constraint(F value) { base_.add(*coefficient_++, value.v); }
  HWY_INLINE void add_constraint(const EF& value) {
    secure_ = secure_ + value * EF::broadcast(*coefficient_++);
  }

  HWY_INLINE EF sum() const { return base_.reduce() + secure_; }

 private:
  HWY_INLINE F at_offset(const M31* column, int offset) {
    if (offset == 0) return F(Load(column + row_));
    M31 lanes[kLanes];
    for (size_t i = 0; i < kLanes; ++i) {
      lanes[i] = column[offset_storage_index(static_cast<uint32_t>(row_ + i), offset,
                                             rows_.trace_log_size, rows_.domain_log_size)];
    }
    return F(Load(lanes));
  }

  const ConstraintRows& rows_;
  uint64_t row_;
  const QM31* coefficient_;
  uint32_t next_[8] = {};
  uint32_t next_preprocessed_ = 0;
  SecureMac base_;
  EF secure_;
};

/// Sum of weighted constraints over the vanishing polynomial, for storage rows [begin, end).
template <class Script>
void EvaluateRows(const Script& script, const ConstraintRows& rows, uint64_t begin, uint64_t end) {
  for (uint64_t row = begin; row < end; row += kLanes) {
    RowEvaluator eval(rows, row);
    script.evaluate(eval);
    PackedM31 inverse;
    if ((uint64_t{1} << rows.trace_log_size) >= kLanes) {
      inverse = PackedM31(Broadcast(rows.inverse_vanishing[row >> rows.trace_log_size]));
    } else {
      // Traces shorter than a vector: several blocks in one.
      M31 lanes[kLanes];
      for (size_t i = 0; i < kLanes; ++i) {
        const uint64_t block = (row + i) >> rows.trace_log_size;
        lanes[i] = row + i < end ? rows.inverse_vanishing[block] : M31(0);
      }
      inverse = PackedM31(Load(lanes));
    }
    const PackedQM31 value = eval.sum() * inverse;
    for (uint32_t k = 0; k < 4; ++k) Store(value.c[k].v, rows.out[k] + (row - rows.out_first_row));
  }
}

class RowWriter {
 public:
  using F = PackedM31;
  HWY_INLINE RowWriter(const TraceRows& rows, uint64_t row) : rows_(rows), row_(row) {}
  HWY_INLINE F constant(M31 c) { return F(Broadcast(c)); }
  /// Row numbers stay below 2^30 < P.
  HWY_INLINE F row_index() { return F(hn::Iota(D32(), static_cast<uint32_t>(row_))); }
  HWY_INLINE void write(F value) { Store(value.v, rows_.columns[next_++] + row_); }

 private:
  const TraceRows& rows_;
  uint64_t row_;
  uint32_t next_ = 0;
};

template <class Script, class = void>
struct HasGenerate : std::false_type {};
template <class Script>
struct HasGenerate<Script, std::void_t<decltype(std::declval<const Script&>().generate(
                               std::declval<RowWriter&>()))>> : std::true_type {};

/// Main-trace rows [begin, end), storage order.
template <class Script>
void GenerateRows(const Script& script, const TraceRows& rows, uint64_t begin, uint64_t end) {
  if constexpr (HasGenerate<Script>::value) {
    for (uint64_t row = begin; row < end; row += kLanes) {
      RowWriter writer(rows, row);
      script.generate(writer);
    }
  } else {
    contract_failure(__FILE__, __LINE__, "script has no row-local trace generator");
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stwo
HWY_AFTER_NAMESPACE();

#endif  // STWO_CPU_ROW_EVALUATOR_INL_H

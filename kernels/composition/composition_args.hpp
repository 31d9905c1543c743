// Composition polynomial: weights, per-component constraint quotients (kernels/air), their sum and
// the two halves that are committed.
#pragma once

#include <cstdint>

namespace stwo::gpu {

/// Weight of constraint k of n: coefficient^(n-1-k), one QM31 each.
struct ConstraintWeightsArgs {
  const uint32_t* coefficient;
  uint32_t* weights;
  uint32_t n;
  uint32_t pad;
};

/// Four coordinate columns added into four others, lifted: target[i] (+)= source[lifted_row(i,
/// shift)].
struct LiftAddArgs {
  const uint32_t* source;
  uint32_t* target;
  uint64_t source_stride;
  uint64_t target_stride;
  uint64_t rows;
  uint32_t shift;
  uint32_t accumulate;  ///< 0: writes instead of adding
};

/// Sets `rows` words of each of `n_columns` columns.
struct FillArgs {
  uint32_t* base;
  uint64_t stride;
  uint64_t rows;
  uint32_t n_columns;
  uint32_t value;
};

/// The constant c of each coordinate: (r - q) / (2 s), r the extended first-block polynomial and q
/// the composition quotient at the first row of the second block. Writes both words of the four
/// constant columns.
struct CompositionConstantArgs {
  const uint32_t* extended;  ///< r, at that row; coordinates `extended_stride` apart
  const uint32_t* quotient;  ///< q, likewise
  uint64_t extended_stride;
  uint64_t quotient_stride;
  uint32_t* constants;  ///< four columns of two words, `constant_stride` apart
  uint64_t constant_stride;
  uint32_t half_inverse;  ///< 1 / (2 s)
  uint32_t pad;
};

/// left = r - s c on all rows: r of the first `first_rows` rows comes from `first`, of the others
/// from `base`, where all results go.
struct CompositionShiftArgs {
  const uint32_t* first;
  uint64_t first_stride;
  uint64_t first_rows;
  uint32_t* base;
  uint64_t stride;
  uint64_t rows;
  const uint32_t* constants;
  uint64_t constant_stride;
  uint32_t vanishing;  ///< s
  uint32_t pad;
};

}  // namespace stwo::gpu

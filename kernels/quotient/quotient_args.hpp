// DEEP quotient: constants of every sample, then rows.
#pragma once

#include <cstdint>

#include "kernels/hash/hash_args.hpp"

namespace stwo::gpu {

/// Samples that share a point.
struct QuotientChunkRef {
  uint32_t point_shift;  ///< the point is Z + point_shift G
  uint32_t first_term;
  uint32_t n_terms;
  uint32_t pad;
};
struct QuotientTermRef {
  uint32_t value_index;
  uint32_t power;
};
/// The point and the sum of its lines, QM31 each.
struct QuotientLine {
  uint32_t x[4];
  uint32_t y[4];
  uint32_t slope[4];
  uint32_t offset[4];
};

/// One block per chunk.
struct QuotientTermsArgs {
  const uint32_t* point;
  const uint32_t* coefficient;
  const uint32_t* values;
  const QuotientChunkRef* chunks;
  const QuotientTermRef* terms;
  uint32_t* factors;  ///< one QM31 per term
  QuotientLine* lines;
  uint32_t* status;
};

inline constexpr uint32_t kQuotientTermThreads = 128;
/// A slope and an offset per thread.
inline constexpr uint32_t kQuotientTermSharedBytes = kQuotientTermThreads * 2 * 16;

/// Sum over all chunks on the first `rows` rows of the query domain.
struct QuotientRowsArgs {
  const QuotientChunkRef* chunks;
  const QuotientLine* lines;
  const uint32_t* factors;
  const ColumnRef* columns;  ///< one per term
  uint32_t n_chunks;
  uint32_t domain_log;
  uint64_t rows;
  const uint32_t* x;  ///< forward twiddle tables
  const uint32_t* y;
  uint32_t* out;
  uint64_t stride;
};

}  // namespace stwo::gpu

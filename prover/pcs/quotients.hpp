// The DEEP quotient: which column is opened where, with which random weight, and the quotient's
// value at one row. Shared by prover (constants) and verifier (constants and rows).
// Source: protocol.md 6.5; Circle STARKs (ePrint 2024/278), section 4; the crate's
// core/pcs/quotients.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "prover/circle/point.hpp"
#include "prover/shape.hpp"

namespace stwo {

/// One opened column in a batch.
struct QuotientTerm {
  uint32_t tree;
  uint32_t column;
  /// Log size of the committed (extended) column.
  uint32_t committed_log_size;
  /// w * c: factor of the column's value at the row. w is this sample's power of the quotient
  /// coefficient, c = conj(q.y) - q.y.
  QM31 factor;
};

/// All samples taken at one point q. The batch contributes to the row at domain point R
///   (sum_k factor_k * f_k(R) - line_slope * R.y - line_offset) / den_q(R),
/// where the line through (q.y, v) and its conjugate has slope a = conj(v) - v and offset
/// b = v c - a q.y, weighted and summed over the batch.
struct QuotientBatch {
  CirclePoint<QM31> point;
  std::vector<QuotientTerm> terms;
  QM31 line_slope;
  QM31 line_offset;

  /// (Re q.x - R.x) Im q.y - (Re q.y - R.y) Im q.x. Zero at a base-field point only if q itself is
  /// over CM31, which make_quotient_batches refuses.
  CM31 denominator(const CirclePoint<M31>& r) const {
    return (point.x.x - CM31(r.x)) * point.y.y - (point.y.x - CM31(r.y)) * point.x.y;
  }
};

/// Groups all samples by point, in order of first appearance. Every sample takes the next power of
/// `coefficient` in tree, column, sample order; a column with samples [previous, current] first
/// takes one for its periodicity sample. sampled_values must have the shape's mask shape. Returns
/// nullopt when a sample point is degenerate (Im q.y = 0): the prover must not go on and the
/// verifier must reject.
std::optional<std::vector<QuotientBatch>> make_quotient_batches(
    const ProofShape& shape, CirclePoint<QM31> oods_point,
    const std::vector<std::vector<std::vector<QM31>>>& sampled_values, QM31 coefficient);

/// Quotient at domain point r. values[tree][column] is the column's (lifted) value there.
QM31 quotient_at_row(const std::vector<QuotientBatch>& batches, const CirclePoint<M31>& r,
                     const std::vector<std::vector<M31>>& values);

}  // namespace stwo

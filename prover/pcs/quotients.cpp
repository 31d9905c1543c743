#include "prover/pcs/quotients.hpp"

#include <algorithm>

#include "prover/circle/domain.hpp"

namespace stwo {
namespace {

class BatchBuilder {
 public:
  explicit BatchBuilder(QM31 coefficient) : coefficient_(coefficient) {}

  bool add(const CirclePoint<QM31>& q, QM31 value, uint32_t tree, uint32_t column,
           uint32_t committed_log_size) {
    const QM31 weight = power_;
    power_ *= coefficient_;
    if (q.y.y.is_zero()) return false;
    auto it = std::find_if(batches_.begin(), batches_.end(),
                           [&](const QuotientBatch& b) { return b.point == q; });
    if (it == batches_.end()) {
      batches_.push_back({q, {}, {}, {}});
      it = batches_.end() - 1;
    }
    const QM31 c = q.y.conjugate() - q.y;
    const QM31 a = value.conjugate() - value;
    const QM31 b = value * c - a * q.y;
    it->terms.push_back({tree, column, committed_log_size, weight * c});
    it->line_slope += weight * a;
    it->line_offset += weight * b;
    return true;
  }

  std::vector<QuotientBatch> take() { return std::move(batches_); }

 private:
  QM31 coefficient_;
  QM31 power_ = QM31::one();
  std::vector<QuotientBatch> batches_;
};

}  // namespace

std::optional<std::vector<QuotientBatch>> make_quotient_batches(
    const ProofShape& shape, CirclePoint<QM31> oods_point,
    const std::vector<std::vector<std::vector<QM31>>>& sampled_values, QM31 coefficient) {
  BatchBuilder builder(coefficient);
  const uint32_t period_step = CanonicCoset{shape.lifting_log_size}.step_index();
  for (uint32_t t = 0; t < shape.trees.size(); ++t) {
    const TreeShape& tree = shape.trees[t];
    for (uint32_t c = 0; c < tree.column_log_sizes.size(); ++c) {
      const auto points = shape.sample_points(oods_point, tree.mask_offsets[c]);
      const auto& values = sampled_values[t][c];
      // The verifier treats the composition columns as having the full degree bound, and every
      // column's period follows from its committed size; for the composition tree both agree
      // because it is never opened at two points.
      const uint32_t committed = tree.column_log_sizes[c] + shape.log_blowup();
      if (points.size() == 2) {
        // 2^committed steps of the largest canonic coset: the identity for a column of full size,
        // and a shift under which a lifted smaller column repeats.
        const uint32_t period =
            committed >= 31
                ? 0
                : static_cast<uint32_t>((uint64_t{period_step} << committed) & 0x7fffffffu);
        const auto shifted = points[1] + to_secure(point_at_index(period));
        if (!builder.add(shifted, values[1], t, c, committed)) return std::nullopt;
      }
      for (size_t k = 0; k < points.size(); ++k) {
        if (!builder.add(points[k], values[k], t, c, committed)) return std::nullopt;
      }
    }
  }
  return builder.take();
}

QM31 quotient_at_row(const std::vector<QuotientBatch>& batches, const CirclePoint<M31>& r,
                     const std::vector<std::vector<M31>>& values) {
  QM31 row;
  for (const QuotientBatch& batch : batches) {
    QM31 numerator = -(batch.line_slope * r.y + batch.line_offset);
    for (const QuotientTerm& term : batch.terms) {
      numerator += term.factor * values[term.tree][term.column];
    }
    row += numerator * batch.denominator(r).inverse();
  }
  return row;
}

}  // namespace stwo

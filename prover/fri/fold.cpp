#include "prover/fri/fold.hpp"

#include <bit>

#include "prover/circle/domain.hpp"
#include "prover/errors.hpp"

namespace stwo {
namespace {

/// Inverse of the coordinate that a fold of storage position p (even) divides by.
M31 inverse_coordinate(FriLayerKind kind, uint32_t log_size, uint32_t p) {
  const M31 c = kind == FriLayerKind::kCircle ? CanonicCoset{log_size}.at_storage(p).y
                                              : LineDomain{log_size}.x_at_storage(p);
  return c.inverse();
}

/// One fold of the pairs in `values`, which start at storage position `start` of the layer.
std::vector<QM31> fold_pairs(FriLayerKind kind, std::span<const QM31> values, uint32_t log_size,
                             uint32_t start, QM31 beta) {
  std::vector<QM31> out(values.size() / 2);
  for (uint32_t k = 0; k < out.size(); ++k) {
    out[k] = fold_pair(values[2 * k], values[2 * k + 1],
                       inverse_coordinate(kind, log_size, start + 2 * k), beta);
  }
  return out;
}

}  // namespace

QM31 fold_block(FriLayerKind kind, std::span<const QM31> values, uint32_t log_size, uint32_t block,
                QM31 beta) {
  STWO_CHECK(std::has_single_bit(values.size()), "a fold block has 2^k values");
  std::vector<QM31> current(values.begin(), values.end());
  uint64_t start = uint64_t{block} * values.size();
  STWO_CHECK((start + values.size()) >> log_size <= 1, "fold block outside its layer");
  while (current.size() > 1) {
    current = fold_pairs(kind, current, log_size, static_cast<uint32_t>(start), beta);
    kind = FriLayerKind::kLine;
    log_size -= 1;
    start /= 2;
    beta = beta * beta;
  }
  return current[0];
}

std::vector<QM31> fold_layer(FriLayerKind kind, std::span<const QM31> values, uint32_t log_size,
                             QM31 beta) {
  STWO_CHECK(log_size >= 1 && values.size() == size_t{1} << log_size, "layer size mismatch");
  return fold_pairs(kind, values, log_size, 0, beta);
}

}  // namespace stwo

// FRI folds, scalar: one pair, one block of 2^k neighbours, a whole layer.
// The verifier folds blocks; backends are tested against the whole-layer forms.
// Source: protocol.md section 8; Circle STARKs (ePrint 2024/278), section 5.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prover/field/qm31.hpp"

namespace stwo {

/// Folds the values at two points that differ in the sign of one coordinate:
///   (f0 + f1) + beta (f0 - f1) / coordinate,
/// the coordinate (y of a circle point, x of a line point) belonging to f0. With f = g + coordinate
/// h the result is 2 (g + beta h): there is no factor 1/2 anywhere.
constexpr QM31 fold_pair(QM31 f0, QM31 f1, M31 inverse_coordinate, QM31 beta) {
  return (f0 + f1) + beta * ((f0 - f1) * inverse_coordinate);
}

/// What a layer's values are indexed by; decides what its first fold divides by.
enum class FriLayerKind : uint8_t {
  kCircle,  ///< canonic circle domain: the first fold divides by y and leads to the line
  kLine,    ///< line domain: every fold divides by x
};

/// Folds block `block` of a layer of log size `log_size` (storage order) to one value. `values` are
/// the 2^k values at positions block * 2^k ... of the layer; successive folds use beta, beta^2,
/// beta^4, ...
/// Contract: values.size() = 2^k, 0 <= k <= log_size, and (block + 1) 2^k <= 2^log_size.
QM31 fold_block(FriLayerKind kind, std::span<const QM31> values, uint32_t log_size, uint32_t block,
                QM31 beta);

/// Folds every pair of a layer: result[k] from values[2k], values[2k + 1]. values.size() =
/// 2^log_size. From a circle layer of log m the result lives on the line domain of log m - 1.
std::vector<QM31> fold_layer(FriLayerKind kind, std::span<const QM31> values, uint32_t log_size,
                             QM31 beta);

}  // namespace stwo

// Reference circle FFT, scalar: the definition that backends' transforms are tested against, and
// what the verifier extends preprocessed columns with.
// Source: protocol.md section 3; Circle STARKs (ePrint 2024/278), section 4.
//
// Basis on the canonic domain of log n, coefficient index j = b0 + 2 b1 + 4 b2 + ...:
//   basis_j(P) = y^b0 * x^b1 * pi(x)^b2 * pi^2(x)^b3 * ...
// Basis on the line domain of log m: x^b0 * pi(x)^b1 * ...
// Coefficients are in natural order; evaluations are in storage (bit-reversed) order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prover/circle/point.hpp"
#include "prover/field/qm31.hpp"

namespace stwo {

/// Values on the canonic domain (storage order) to coefficients, in place. Length 2^n, 1 <= n
/// <= 30.
void interpolate(std::span<M31> values);
void interpolate(std::span<QM31> values);

/// Coefficients to values on the canonic domain of the same length, in place.
void evaluate(std::span<M31> coeffs);
void evaluate(std::span<QM31> coeffs);

/// Low-degree extension: values on the canonic domain of log n to values on that of log
/// n + log_blowup.
std::vector<M31> low_degree_extension(std::span<const M31> values, uint32_t log_blowup);

/// basis_j(p).
QM31 evaluate_basis_at_point(uint32_t j, const CirclePoint<QM31>& p);

/// sum_j coeffs[j] basis_j(p), for 2^n coefficients, n >= 0.
QM31 eval_at_point(std::span<const M31> coeffs, const CirclePoint<QM31>& p);
QM31 eval_at_point(std::span<const QM31> coeffs, const CirclePoint<QM31>& p);

/// Values on the line domain of log m (storage order) to coefficients in natural (degree) order, in
/// place. Length 2^m, 0 <= m <= 29.
void line_interpolate(std::span<QM31> values);
/// The inverse of line_interpolate.
void line_evaluate(std::span<QM31> coeffs);
/// sum_j coeffs[j] x^b0 pi(x)^b1 ..., coefficients in natural order.
QM31 line_eval_at_point(std::span<const QM31> coeffs, QM31 x);

/// Permutes values[i] to position brev(i): natural to storage order and back. Length 2^n.
void bit_reverse_in_place(std::span<QM31> values);
void bit_reverse_in_place(std::span<M31> values);

}  // namespace stwo

// SIMD kernels of the CPU backend, dispatched at run time to the best instruction set.
// All columns are storage order; buffers carry kBufferPaddingBytes of readable, writable padding.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "prover/field/qm31.hpp"
#include "prover/hash/blake2s.hpp"
#include "prover/poly/twiddles.hpp"

namespace stwo::cpu {

/// Four coordinate columns of QM31 values.
struct SecureColumns {
  M31* c[4] = {};
  QM31 at(uint64_t i) const { return {c[0][i], c[1][i], c[2][i], c[3][i]}; }
  void set(uint64_t i, QM31 v) const {
    for (uint32_t k = 0; k < 4; ++k) c[k][i] = v.coordinate(k);
  }
};

/// A Merkle layer of 2^log nodes as eight word planes: word w of node i is words[(w << log) + i].
/// Children then load as whole vectors.
struct HashLayer {
  uint32_t* words = nullptr;
  uint32_t log_size = 0;
  uint32_t* plane(uint32_t w) const { return words + (uint64_t{w} << log_size); }
  Digest node(uint64_t i) const;
};

/// Column as a leaf reads it: leaf p takes values[((p >> (shift + 1)) << 1) | (p & 1)].
struct LeafColumn {
  const M31* values;
  uint32_t shift;
};

/// Values -> coefficients of a block of 2^log_size storage positions: inverse layers 0..log_size-1
/// with the twiddles of block `block`, then times 2^-log_size. in == out is allowed.
void interpolate(const M31* in, M31* out, uint32_t log_size, const FftLayers& inverse,
                 uint64_t block);
/// Coefficients -> values on block `block` of 2^log_size storage positions. in == out is allowed.
void evaluate(const M31* in, M31* out, uint32_t log_size, const FftLayers& forward, uint64_t block);

/// Leaves [begin, end) of a lifted tree over columns in hash order.
void hash_leaves(HashVariant variant, const LeafColumn* columns, size_t n_columns,
                 const HashLayer& out, uint64_t begin, uint64_t end);
/// Leaves [begin, end) of a FRI layer with four QM31 values a leaf.
void hash_packed_leaves(HashVariant variant, const SecureColumns& values, const HashLayer& out,
                        uint64_t begin, uint64_t end);
/// Nodes [begin, end) of `out` from the layer below.
void hash_nodes(HashVariant variant, const HashLayer& children, const HashLayer& out,
                uint64_t begin, uint64_t end);

/// Smallest nonce index i in [begin, end) whose hash has pow_bits trailing zeros, or end. Index i
/// stands for the nonce (i >> 20) << 32 | (i & (2^20 - 1)).
uint64_t grind(HashVariant variant, const Digest& prefix, uint32_t pow_bits, uint64_t begin,
               uint64_t end);

/// Basis step: out[n + i] = out[i] * factor for i in [begin, end).
void scale_secure(const SecureColumns& values, uint64_t n, QM31 factor, uint64_t begin,
                  uint64_t end);
/// values[i] -= constant for i in [begin, end).
void subtract_constant(M31* values, M31 constant, uint64_t begin, uint64_t end);

/// sum_i weights[i] * columns[j][i] over [begin, end) for each of n columns, added to sums[j].
void weighted_sums(const SecureColumns& weights, const M31* const* columns, size_t n,
                   uint64_t begin, uint64_t end, QM31* sums);

/// out[i] += (or =, if !accumulate) sum_j factors[j] * columns[j][i] for i in [begin, end).
void combine_columns(const M31* const* columns, const QM31* factors, size_t n,
                     const SecureColumns& out, bool accumulate, uint64_t begin, uint64_t end);

/// One point of the quotient, see QuotientBatch.
struct QuotientPoint {
  QM31 x;
  QM31 y;
  QM31 line_slope;
  QM31 line_offset;
};
/// out[i] += (or =) (numerators[i] - slope * y[i] - offset) / den(x[i], y[i]) for i in [begin,
/// end).
void finish_quotient(const QuotientPoint& point, const SecureColumns& numerators,
                     const M31* domain_x, const M31* domain_y, const SecureColumns& out,
                     bool accumulate, uint64_t begin, uint64_t end);

/// out[p] += source[lifted p] for p in [begin, end); source has 2^(log - shift) values.
void lift_add(const SecureColumns& source, uint32_t shift, const SecureColumns& out, uint64_t begin,
              uint64_t end);

/// out[k] = (f0 + f1) + beta (f0 - f1) * inverse[k] for k in [begin, end), f0, f1 = in[2k],
/// in[2k+1]. inverse is 1/y of the circle domain or 1/x of the line domain, doubled (see
/// FftLayers).
void fold(const SecureColumns& in, const uint32_t* inverse, QM31 beta, const SecureColumns& out,
          uint64_t begin, uint64_t end);

/// "avx512", "avx2", ...: the instruction set in use.
std::string instruction_set();

}  // namespace stwo::cpu

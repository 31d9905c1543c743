// DEEP quotient. Source: Circle STARKs (ePrint 2024/278), section 4; protocol.md 6.5. Oracle:
// prover/pcs/quotients.
//
// Ledger, N rows, K terms, B chunks:
//   kernel          reads             writes          field work
//   quotient_terms  16 K              16 K + 64 B     about 40 M31 products a term
//   quotient_rows   4 K N             16 N            4 K N products + 30 N B
// A row's value is the sum over points q of (sum_k factor_k f_k - slope R.y - offset) / den_q(R).

#include "kernels/device/field.cuh"
#include "kernels/oods/oods_args.hpp"
#include "kernels/quotient/quotient_args.hpp"
#include "prover/circle/point.hpp"

namespace stwo::gpu {
namespace {

struct TermMemory {
  uint32_t slope[kQuotientTermThreads][4];
  uint32_t offset[kQuotientTermThreads][4];
};
static_assert(sizeof(TermMemory) == kQuotientTermSharedBytes);

constexpr uint32_t kTermsAtOnce = 3;

/// A column's values at four neighbouring rows.
STWO_DEVICE Word4 lifted_rows(const ColumnRef& column, uint64_t row) {
  if (column.shift == 0) return load4(column.values + row);
  return {column.values[lifted_row(row, column.shift)],
          column.values[lifted_row(row + 1, column.shift)],
          column.values[lifted_row(row + 2, column.shift)],
          column.values[lifted_row(row + 3, column.shift)]};
}

STWO_DEVICE CM31 denominator(const CirclePoint<QM31>& q, M31 x, M31 y) {
  return (q.x.x - CM31(x)) * q.y.y - (q.y.x - CM31(y)) * q.x.y;
}

}  // namespace

STWO_KERNEL(quotient_terms, QuotientTermsArgs, kQuotientTermThreads, 1) {
  const QuotientChunkRef chunk = args.chunks[block_index()];
  CirclePoint<QM31> q{load_secure(args.point), load_secure(args.point + 4)};
  if (chunk.point_shift != 0) q = q + to_secure(point_at_index(chunk.point_shift));
  const QM31 coefficient = load_secure(args.coefficient);
  const QM31 c = q.y.conjugate() - q.y;
  QM31 slope;
  QM31 offset;
  for (uint32_t i = thread_index(); i < chunk.n_terms; i += block_size()) {
    const uint32_t at = chunk.first_term + i;
    const QuotientTermRef term = args.terms[at];
    const QM31 weight = coefficient.pow(term.power);
    const QM31 value = load_secure(args.values + 4 * term.value_index);
    const QM31 a = value.conjugate() - value;
    store_secure(args.factors + 4 * at, weight * c);
    slope += weight * a;
    offset += weight * (value * c - a * q.y);
  }
  auto& memory = shared_memory<TermMemory>();
  store_secure(memory.slope[thread_index()], slope);
  store_secure(memory.offset[thread_index()], offset);
  for (uint32_t half = kQuotientTermThreads / 2; half > 0; half /= 2) {
    sync_block();
    if (thread_index() < half) {
      slope += load_secure(memory.slope[thread_index() + half]);
      offset += load_secure(memory.offset[thread_index() + half]);
      store_secure(memory.slope[thread_index()], slope);
      store_secure(memory.offset[thread_index()], offset);
    }
  }
  if (thread_index() == 0) {
    QuotientLine& line = args.lines[block_index()];
    store_secure(line.x, q.x);
    store_secure(line.y, q.y);
    store_secure(line.slope, slope);
    store_secure(line.offset, offset);
    if (q.y.y.is_zero()) atomic_or(args.status, kStatusDegenerateQuotient);
  }
}

STWO_KERNEL(quotient_rows, QuotientRowsArgs, 256, 2) {
  const uint64_t row = (static_cast<uint64_t>(block_index()) * block_size() + thread_index()) * 4;
  if (row >= args.rows) return;
  // Of four neighbouring storage rows the first has the tables' point; odd rows negate y, the
  // second pair negates x and has the next y.
  const M31 x(load_constant(args.x + (uint64_t{1} << (args.domain_log - 2)) + (row >> 2)) >> 1);
  const uint32_t* ys = args.y + (uint64_t{1} << (args.domain_log - 1)) + (row >> 1);
  const M31 y0(load_constant(ys) >> 1);
  const M31 y1(load_constant(ys + 1) >> 1);
  const M31 point_x[4] = {x, x, -x, -x};
  const M31 point_y[4] = {y0, -y0, y1, -y1};
  QM31 total[4];
  STWO_NO_UNROLL
  for (uint32_t b = 0; b < args.n_chunks; ++b) {
    const QuotientChunkRef chunk = args.chunks[b];
    SecureAccumulator sums[4];
    const ColumnRef* columns = args.columns + chunk.first_term;
    const uint32_t* factors = args.factors + 4 * chunk.first_term;
    // Three terms at a time: their loads are in flight together, and three products fit an
    // accumulator between folds.
    STWO_NO_UNROLL
    for (uint32_t i = 0; i < chunk.n_terms; i += kTermsAtOnce) {
      const uint32_t n = minimum(kTermsAtOnce, chunk.n_terms - i);
      ColumnRef c[kTermsAtOnce];
      STWO_UNROLL
      for (uint32_t k = 0; k < kTermsAtOnce; ++k) c[k] = columns[i + (k < n ? k : 0)];
      Word4 v[kTermsAtOnce];
      STWO_UNROLL
      for (uint32_t k = 0; k < kTermsAtOnce; ++k) v[k] = lifted_rows(c[k], row);
      STWO_UNROLL
      for (uint32_t k = 0; k < kTermsAtOnce; ++k) {
        if (k >= n) break;
        const Word4 w = load4(factors + 4 * (i + k));
        sums[0].add(w.x, w.y, w.z, w.w, v[k].x);
        sums[1].add(w.x, w.y, w.z, w.w, v[k].y);
        sums[2].add(w.x, w.y, w.z, w.w, v[k].z);
        sums[3].add(w.x, w.y, w.z, w.w, v[k].w);
      }
      STWO_UNROLL
      for (uint32_t r = 0; r < 4; ++r) sums[r].fold();
    }
    const QuotientLine& line = args.lines[b];
    const CirclePoint<QM31> q{load_secure(line.x), load_secure(line.y)};
    const QM31 slope = load_secure(line.slope);
    const QM31 offset = load_secure(line.offset);
    // One inversion for four norms.
    CM31 d[4];
    M31 prefix[4];
    M31 product = M31::one();
    STWO_UNROLL
    for (uint32_t r = 0; r < 4; ++r) {
      d[r] = denominator(q, point_x[r], point_y[r]);
      prefix[r] = product;
      product *= d[r].norm();
    }
    M31 inverse = product.inverse();
    STWO_UNROLL
    for (uint32_t r = 4; r-- > 0;) {
      const M31 norm_inverse = inverse * prefix[r];
      inverse *= d[r].norm();
      const QM31 numerator = sums[r].value() - slope * point_y[r] - offset;
      total[r] += numerator * CM31(d[r].a * norm_inverse, -(d[r].b * norm_inverse));
    }
  }
  if (row + 4 <= args.rows) {
    store4(args.out + row, {total[0].x.a.v, total[1].x.a.v, total[2].x.a.v, total[3].x.a.v});
    store4(args.out + args.stride + row,
           {total[0].x.b.v, total[1].x.b.v, total[2].x.b.v, total[3].x.b.v});
    store4(args.out + 2 * args.stride + row,
           {total[0].y.a.v, total[1].y.a.v, total[2].y.a.v, total[3].y.a.v});
    store4(args.out + 3 * args.stride + row,
           {total[0].y.b.v, total[1].y.b.v, total[2].y.b.v, total[3].y.b.v});
  } else {
    for (uint32_t r = 0; r < args.rows - row; ++r) {
      store_coordinates(args.out, args.stride, row + r, total[r]);
    }
  }
}

}  // namespace stwo::gpu

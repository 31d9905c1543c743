// Out-of-domain samples without coefficients: f(P) = b^T F v = (F^T b)^T v, with v the column's
// first 2^n extended values, F the inverse transform on them and b the basis at P. F^T b is made by
// the forward butterflies with inverse twiddles (kernels/fft) from the tensor product b; then every
// column costs one dot product. Source: Circle STARKs (ePrint 2024/278), section 4; oracle:
// prover/cpu/cpu_session.cpp (sample_group).
//
// Ledger, N = 2^n rows, C columns of the group, K = N / chunk_rows:
//   kernel          reads                          writes
//   oods_point      16                             32
//   sample_tables   32                             16 (2^low + 2^(n - low))
//   sample_weights  (tables, cached)               16 N
//   sample_sums     4 C N + 16 N ceil(C / 8)       16 C K
//   sample_finish   16 C K                         16 C

#include "kernels/device/field.cuh"
#include "kernels/oods/oods_args.hpp"
#include "prover/circle/point.hpp"

namespace stwo::gpu {
namespace {

struct TableMemory {
  uint32_t factors[32][4];
};
static_assert(sizeof(TableMemory) == kSampleTableSharedBytes);

struct SumMemory {
  uint32_t words[kSampleColumnsPerBlock * 4][kSampleThreads + 1];
};
static_assert(sizeof(SumMemory) == kSampleSharedBytes);

}  // namespace

STWO_KERNEL(oods_point, OodsPointArgs, 32, 1) {
  if (thread_index() != 0) return;
  CirclePoint<QM31> z;
  const bool usable = secure_point_from_parameter(load_secure(args.parameter), &z);
  *args.status = usable ? 0u : static_cast<uint32_t>(kStatusDegenerateOods);
  store_secure(args.point, z.x);
  store_secure(args.point + 4, z.y);
}

STWO_KERNEL(sample_tables, SampleTablesArgs, 256, 1) {
  auto& memory = shared_memory<TableMemory>();
  if (thread_index() == 0) {
    CirclePoint<QM31> p{load_secure(args.point), load_secure(args.point + 4)};
    if (args.shift != 0) p = p + to_secure(point_at_index(args.shift));
    p = p.repeated_double(args.doublings);
    QM31 factor = p.y;
    for (uint32_t bit = 0; bit < args.log_rows; ++bit) {
      store_secure(memory.factors[bit], factor);
      factor = bit == 0 ? p.x : double_x(factor);
    }
  }
  sync_block();
  const uint32_t i = block_index() * block_size() + thread_index();
  const uint32_t n_low = 1u << args.log_low;
  const uint32_t n_high = 1u << (args.log_rows - args.log_low);
  if (i < n_low) {
    QM31 product(inverse_power_of_two(args.log_rows));
    for (uint32_t bit = 0; bit < args.log_low; ++bit) {
      if ((i >> bit & 1) != 0) product *= load_secure(memory.factors[bit]);
    }
    store_secure(args.low + 4 * i, product);
  }
  if (i < n_high) {
    QM31 product = QM31::one();
    for (uint32_t bit = args.log_low; bit < args.log_rows; ++bit) {
      if ((i >> (bit - args.log_low) & 1) != 0) product *= load_secure(memory.factors[bit]);
    }
    store_secure(args.high + 4 * i, product);
  }
}

STWO_KERNEL(sample_weights, SampleWeightsArgs, 256, 4) {
  const uint32_t i = block_index() * block_size() + thread_index();
  if (i >> args.log_rows != 0) return;
  const QM31 low = load_secure(args.low + 4 * (i & ((1u << args.log_low) - 1)));
  const QM31 high = load_secure(args.high + 4 * (i >> args.log_low));
  store_coordinates(args.weights, args.stride, i, low * high);
}

STWO_KERNEL(sample_sums, SampleSumsArgs, kSampleThreads, 2) {
  const uint32_t first_column = block_index_y() * kSampleColumnsPerBlock;
  const uint32_t* columns[kSampleColumnsPerBlock];
  STWO_UNROLL
  for (uint32_t c = 0; c < kSampleColumnsPerBlock; ++c) {
    // A block beyond the last column repeats it; the sum is not stored.
    columns[c] = args.columns[minimum(first_column + c, args.n_columns - 1)];
  }
  SecureAccumulator sums[kSampleColumnsPerBlock];
  const uint32_t begin = block_index() * args.chunk_rows;
  const uint32_t end = minimum(begin + args.chunk_rows, args.rows);
  uint32_t pending = 0;
  STWO_NO_UNROLL
  for (uint32_t i = begin + thread_index(); i < end; i += kSampleThreads) {
    const uint32_t w0 = args.weights[i];
    const uint32_t w1 = args.weights[i + args.stride];
    const uint32_t w2 = args.weights[i + 2 * args.stride];
    const uint32_t w3 = args.weights[i + 3 * args.stride];
    uint32_t x[kSampleColumnsPerBlock];
    STWO_UNROLL
    for (uint32_t c = 0; c < kSampleColumnsPerBlock; ++c) x[c] = columns[c][i];
    STWO_UNROLL
    for (uint32_t c = 0; c < kSampleColumnsPerBlock; ++c) sums[c].add(w0, w1, w2, w3, x[c]);
    if (++pending == 3) {
      pending = 0;
      STWO_UNROLL
      for (uint32_t c = 0; c < kSampleColumnsPerBlock; ++c) sums[c].fold();
    }
  }
  auto& memory = shared_memory<SumMemory>();
  STWO_UNROLL
  for (uint32_t c = 0; c < kSampleColumnsPerBlock; ++c) {
    STWO_UNROLL
    for (uint32_t k = 0; k < 4; ++k) {
      memory.words[4 * c + k][thread_index()] = m31_reduce(sums[c].v[k]);
    }
  }
  sync_block();
  // 32 sums of 256 values: eight threads each add 32 of one sum, then one of them the eight.
  const uint32_t sum = thread_index() & 31;
  const uint32_t part = thread_index() >> 5;
  uint32_t total = 0;
  STWO_NO_UNROLL
  for (uint32_t i = 0; i < 32; ++i) total = m31_add(total, memory.words[sum][32 * part + i]);
  sync_block();
  memory.words[sum][part] = total;
  sync_block();
  if (part != 0) return;
  total = 0;
  STWO_UNROLL
  for (uint32_t i = 0; i < 8; ++i) total = m31_add(total, memory.words[sum][i]);
  const uint32_t column = first_column + sum / 4;
  if (column < args.n_columns) {
    args.partial[(static_cast<uint64_t>(block_index()) * args.n_columns + column) * 4 + sum % 4] =
        total;
  }
}

STWO_KERNEL(sample_finish, SampleFinishArgs, 32, 8) {
  const SampleTarget target = args.targets[block_index()];
  const uint32_t lane = thread_index();
  QM31 sum;
  if (target.constant != nullptr) {
    if (lane == 0) sum = QM31(M31(target.constant[0]));
  } else {
    for (uint32_t chunk = lane; chunk < args.n_chunks; chunk += 32) {
      sum += load_secure(args.partial +
                         (static_cast<uint64_t>(chunk) * args.n_columns + block_index()) * 4);
    }
  }
  STWO_UNROLL
  for (uint32_t step = 16; step > 0; step /= 2) {
    sum += QM31(M31(shuffle_xor(sum.x.a.v, step)), M31(shuffle_xor(sum.x.b.v, step)),
                M31(shuffle_xor(sum.y.a.v, step)), M31(shuffle_xor(sum.y.b.v, step)));
  }
  if (lane == 0) store_secure(args.values + 4 * target.value_index, sum);
}

}  // namespace stwo::gpu

// FRI commit phase. Source: Circle STARKs (ePrint 2024/278), section 5; protocol.md 8. Oracle:
// prover/fri/fold and prover/cpu/cpu_session.cpp.
//
// Ledger, R output rows, f folds:
//   kernel    reads          writes        field work
//   fri_fold  16 R 2^f       16 R          about 20 (2^f - 1) R products
//   fri_tail  16 (2 S + ..)  layers, trees about 2 S compressions, S = 2^log_size of its first
//   layer
// The tail is a chain of dependent hashes: one block runs it without leaving the multiprocessor.

#include "kernels/device/digest_tile.cuh"
#include "kernels/device/field.cuh"
#include "kernels/device/transcript.cuh"
#include "kernels/fri/fri_args.hpp"

namespace stwo::gpu {
namespace {

/// (f0 + f1) + beta (f0 - f1) t, t a doubled twiddle.
STWO_DEVICE QM31 fold_pair(QM31 f0, QM31 f1, uint32_t twiddle, QM31 beta) {
  const QM31 d = f0 - f1;
  const QM31 scaled(M31(m31_mul_doubled(d.x.a.v, twiddle)), M31(m31_mul_doubled(d.x.b.v, twiddle)),
                    M31(m31_mul_doubled(d.y.a.v, twiddle)), M31(m31_mul_doubled(d.y.b.v, twiddle)));
  return f0 + f1 + beta * scaled;
}

/// Output i of kFolds folds.
template <uint32_t kFolds>
STWO_DEVICE QM31 fold_block(const uint32_t* in, uint64_t stride, uint64_t i, uint32_t log_size,
                            bool circle, QM31 beta, const uint32_t* x_inverse,
                            const uint32_t* y_inverse) {
  QM31 v[1u << kFolds];
  STWO_UNROLL
  for (uint32_t k = 0; k < 1u << kFolds; ++k) {
    v[k] = load_coordinates(in, stride, (i << kFolds) + k);
  }
  STWO_UNROLL
  for (uint32_t fold = 0; fold < kFolds; ++fold) {
    const uint32_t* table = fold == 0 && circle ? y_inverse : x_inverse;
    table += (uint64_t{1} << (log_size - 1 - fold)) + (i << (kFolds - 1 - fold));
    STWO_UNROLL
    for (uint32_t k = 0; k < 1u << (kFolds - 1 - fold); ++k) {
      v[k] = fold_pair(v[2 * k], v[2 * k + 1], load_constant(table + k), beta);
    }
    if (fold + 1 < kFolds) beta *= beta;
  }
  return v[0];
}

struct TailMemory {
  DigestTile tile;
  uint32_t beta[4];
};
static_assert(sizeof(TailMemory) == kFriTailSharedBytes);

/// Folds a layer in place of memory: one fold at a time through `next`, whose columns have room.
STWO_DEVICE void fold_layer(const FriTailLayer& layer, QM31 beta, const uint32_t* x_inverse,
                            const uint32_t* y_inverse) {
  const uint32_t* in = layer.values;
  uint64_t in_stride = layer.stride;
  uint32_t log_size = layer.log_size;
  bool circle = layer.circle != 0;
  uint32_t left = layer.fold_step;
  while (left > 0) {
    const uint32_t folds = minimum(left, 2);
    const uint32_t rows = 1u << (log_size - folds);
    QM31 value;
    const uint32_t i = thread_index();
    if (i < rows) {
      value = folds == 1
                  ? fold_block<1>(in, in_stride, i, log_size, circle, beta, x_inverse, y_inverse)
                  : fold_block<2>(in, in_stride, i, log_size, circle, beta, x_inverse, y_inverse);
    }
    sync_block();
    if (i < rows) store_coordinates(layer.next, layer.next_stride, i, value);
    sync_block();
    in = layer.next;
    in_stride = layer.next_stride;
    circle = false;
    log_size -= folds;
    left -= folds;
    beta *= beta;
    if (folds == 2) beta *= beta;
  }
}

}  // namespace

STWO_KERNEL(fri_fold, FriFoldArgs, 256, 2) {
  const uint64_t i = static_cast<uint64_t>(block_index()) * block_size() + thread_index();
  if (i >= args.out_rows) return;
  QM31 beta = load_secure(args.beta);
  STWO_NO_UNROLL
  for (uint32_t k = 0; k < args.beta_squarings; ++k) beta *= beta;
  const bool circle = args.circle != 0;
  QM31 value;
  switch (args.n_folds) {
    case 1:
      value = fold_block<1>(args.in, args.in_stride, i, args.in_log_size, circle, beta,
                            args.x_inverse, args.y_inverse);
      break;
    case 2:
      value = fold_block<2>(args.in, args.in_stride, i, args.in_log_size, circle, beta,
                            args.x_inverse, args.y_inverse);
      break;
    case 3:
      value = fold_block<3>(args.in, args.in_stride, i, args.in_log_size, circle, beta,
                            args.x_inverse, args.y_inverse);
      break;
    default:
      value = fold_block<4>(args.in, args.in_stride, i, args.in_log_size, circle, beta,
                            args.x_inverse, args.y_inverse);
      break;
  }
  store_coordinates(args.out, args.out_stride, i, value);
}

STWO_KERNEL(fri_tail, FriTailArgs, kFriTailThreads, 1) {
  auto& memory = shared_memory<TailMemory>();
  const bool reduce = args.reduce != 0;
  const uint32_t thread = thread_index();
  DeviceChannel channel(*args.state, reduce);
  STWO_NO_UNROLL
  for (uint32_t l = 0; l < args.n_layers; ++l) {
    const FriTailLayer layer = args.layers[l];
    const uint32_t height = layer.fold_step > 1 ? layer.log_size - 2 : layer.log_size;
    if (thread < 1u << height) {
      const Blake2sState s =
          layer.fold_step > 1 ? hash_packed_leaf<false>(layer.values, layer.stride, thread, reduce)
                              : hash_secure_leaf(layer.values, layer.stride, thread, reduce);
      store_digest(node_at(layer.nodes, height, thread), s);
      put_digest(memory.tile.a, thread, s);
    }
    reduce_tile(memory.tile, height, 0, height, 0, layer.nodes, reduce);
    sync_block();
    if (thread == 0) {
      uint32_t root[8];
      STWO_UNROLL
      for (uint32_t w = 0; w < 8; ++w) {
        root[w] = height % 2 == 0 ? memory.tile.a[w][0] : memory.tile.b[w][0];
        layer.root_out[w] = root[w];
      }
      channel.mix(root, 8);
      STWO_UNROLL
      for (uint32_t w = 0; w < 8; ++w) args.log[8 * layer.log_entry + w] = channel.digest[w];
      const QM31 drawn = channel.draw_felt();
      store_secure(layer.beta, drawn);
      memory.beta[0] = drawn.x.a.v;
      memory.beta[1] = drawn.x.b.v;
      memory.beta[2] = drawn.y.a.v;
      memory.beta[3] = drawn.y.b.v;
    }
    sync_block();
    const QM31 beta(M31(memory.beta[0]), M31(memory.beta[1]), M31(memory.beta[2]),
                    M31(memory.beta[3]));
    fold_layer(layer, beta, args.x_inverse, args.y_inverse);
  }

  // The last layer's polynomial has 2^e coefficients, so that its first 2^e values and the inverse
  // of the e lowest layers determine it.
  sync_block();
  const uint32_t e = args.last_log_degree;
  const uint32_t n = 1u << e;
  QM31* c = reinterpret_cast<QM31*>(&memory.tile);
  if (thread < n) c[thread] = load_coordinates(args.last_values, args.last_stride, thread);
  STWO_NO_UNROLL
  for (uint32_t layer = 0; layer < e; ++layer) {
    sync_block();
    if (thread < n / 2) {
      const uint32_t h = thread >> layer;
      const uint32_t low = (h << (layer + 1)) | (thread & ((1u << layer) - 1));
      const uint32_t high = low | 1u << layer;
      const uint32_t twiddle = args.x_inverse[(1u << (args.last_log_size - 1 - layer)) + h] >> 1;
      const QM31 a = c[low];
      const QM31 b = c[high];
      c[low] = a + b;
      c[high] = (a - b) * M31(twiddle);
    }
  }
  sync_block();
  if (thread < n) {
    store_secure(args.coefficients + 4 * bit_reverse(thread, e),
                 c[thread] * inverse_power_of_two(e));
  }
  sync_block();
  if (thread == 0) {
    channel.mix(args.coefficients, 4 * n);
    STWO_UNROLL
    for (uint32_t w = 0; w < 8; ++w) args.log[8 * args.last_log_entry + w] = channel.digest[w];
    channel.store(*args.state);
    *args.nonce_index = ~uint64_t{0};
  }
}

}  // namespace stwo::gpu

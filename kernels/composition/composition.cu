// Steps of the composition polynomial that do not depend on the AIR. The half-domain identity is
// derived in prover/cpu/cpu_session.cpp (compose_half_domain), which is also the oracle.
//
// Ledger, N rows, 4 coordinates of 4 bytes:
//   kernel                reads            writes
//   constraint_weights    16               16 n
//   lift_add              16 N (+ 16 N)    16 N
//   fill_columns          -                4 n_columns N
//   composition_constant  32               32
//   composition_shift     16 N             16 N

#include "kernels/composition/composition_args.hpp"
#include "kernels/device/field.cuh"

namespace stwo::gpu {

STWO_KERNEL(constraint_weights, ConstraintWeightsArgs, 256, 2) {
  const uint32_t k = block_index() * block_size() + thread_index();
  if (k >= args.n) return;
  store_secure(args.weights + 4 * k, load_secure(args.coefficient).pow(args.n - 1 - k));
}

STWO_KERNEL(lift_add, LiftAddArgs, 256, 4) {
  const uint64_t i = static_cast<uint64_t>(block_index()) * block_size() + thread_index();
  if (i >= args.rows) return;
  const uint64_t from = lifted_row(i, args.shift);
  STWO_UNROLL
  for (uint32_t k = 0; k < 4; ++k) {
    const uint32_t value = args.source[k * args.source_stride + from];
    uint32_t* target = args.target + k * args.target_stride + i;
    *target = args.accumulate != 0 ? m31_add(*target, value) : value;
  }
}

STWO_KERNEL(fill_columns, FillArgs, 256, 4) {
  const uint64_t i = static_cast<uint64_t>(block_index()) * block_size() + thread_index();
  if (i >= args.rows) return;
  STWO_NO_UNROLL
  for (uint32_t c = block_index_y(); c < args.n_columns; c += grid_size_y()) {
    args.base[c * args.stride + i] = args.value;
  }
}

STWO_KERNEL(composition_constant, CompositionConstantArgs, 32, 1) {
  const uint32_t k = thread_index();
  if (k >= 4) return;
  const uint32_t r = args.extended[k * args.extended_stride];
  const uint32_t q = args.quotient[k * args.quotient_stride];
  const uint32_t c = m31_mul(m31_sub(r, q), args.half_inverse);
  uint32_t* out = args.constants + k * args.constant_stride;
  out[0] = c;
  out[1] = c;
}

STWO_KERNEL(composition_shift, CompositionShiftArgs, 256, 4) {
  const uint64_t i = static_cast<uint64_t>(block_index()) * block_size() + thread_index();
  if (i >= args.rows) return;
  const uint32_t k = block_index_y();
  const uint32_t shift = m31_mul(args.vanishing, args.constants[k * args.constant_stride]);
  uint32_t* p = args.base + k * args.stride + i;
  const uint32_t value = i < args.first_rows ? args.first[k * args.first_stride + i] : *p;
  *p = m31_sub(value, shift);
}

}  // namespace stwo::gpu

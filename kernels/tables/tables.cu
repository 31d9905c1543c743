// Twiddle tables. One launch per process and largest domain.
// Ledger, E = 2^log_entries: writes 16 E bytes, reads nothing; about 700 M31 products an entry.
#include "kernels/device/field.cuh"
#include "kernels/tables/tables_args.hpp"
#include "prover/circle/domain.hpp"

namespace stwo::gpu {

STWO_KERNEL(make_tables, MakeTablesArgs, 256, 2) {
  const uint32_t i = block_index() * block_size() + thread_index();
  if (i >> args.log_entries != 0) return;
  if (i == 0) {
    args.x[0] = args.x_inverse[0] = args.y[0] = args.y_inverse[0] = 2;
    return;
  }
  uint32_t k = 0;
  while (i >> (k + 1) != 0) ++k;
  const uint32_t position = bit_reverse(i - (1u << k), k);
  const M31 x = Coset::half_odds(k + 1).at(position).x;
  const M31 y = Coset::half_odds(k).at(position).y;
  args.x[i] = 2 * x.v;
  args.x_inverse[i] = 2 * x.inverse().v;
  args.y[i] = 2 * y.v;
  args.y_inverse[i] = 2 * y.inverse().v;
}

}  // namespace stwo::gpu

// What a generated composition kernel takes and gives. The generated text repeats the struct,
// because it compiles without any header of ours; both sides assert its size.
#pragma once

#include <cstdint>

namespace stwo::gpu {

/// Arguments of one launch. On a device all pointers are device addresses. A grid of
/// ceil(n_rows / threads) blocks of the generator's thread count; one thread per storage row.
struct ResearchKernelArgs {
  /// The program's columns in the order of research_columns(): n_rows values each at least, and
  /// 2^domain_log_size where the program asks for other rows than its own.
  const uint32_t* const* columns;
  const uint32_t* weights;  ///< one QM31 (four words) per constraint
  uint32_t* out[4];         ///< coordinates of the quotient, n_rows words each
  uint64_t n_rows;          ///< at most 2^(trace_log_size + 1)
  /// 1 / vanishing value of each of the first two blocks of 2^trace_log_size rows.
  uint32_t inverse_vanishing[2];
  uint32_t trace_log_size;
  uint32_t domain_log_size;
};
static_assert(sizeof(ResearchKernelArgs) == 72);

}  // namespace stwo::gpu

// Twiddle tables of all canonic domains up to log m: resident for the process, made on the device.
#pragma once

#include <cstdint>

namespace stwo::gpu {

/// Four tables of 2^log_entries words each. Factors are kept doubled (prover/poly/twiddles.hpp).
///   x[2^k + h]  x-coordinate of element brev(h) of the half-odds coset of log k + 1: FFT layer
///               n - 1 - k >= 1 of canonic log n, and the even positions of line domain k + 1
///   y[2^k + h]  y-coordinate of element brev(h) of the half coset of canonic log k + 1: its layer
///   0
/// and the inverses of both. 0 <= h < 2^k, k < log_entries; entry 0 is unused and 2.
struct MakeTablesArgs {
  uint32_t* x;
  uint32_t* x_inverse;
  uint32_t* y;
  uint32_t* y_inverse;
  uint32_t log_entries;
  uint32_t pad;
};

}  // namespace stwo::gpu

// Out-of-domain samples: the point, the weight of every row at it, the weighted sums.
#pragma once

#include <cstdint>

namespace stwo::gpu {

/// What went wrong on the device; read with the proof. Bits of the terminal buffer's status word.
enum DeviceStatus : uint32_t {
  kStatusDegenerateOods = 1,      ///< 1 + t^2 = 0
  kStatusDegenerateQuotient = 2,  ///< a sample point lies over CM31
  kStatusNoNonce = 4,             ///< the search space of the proof of work is exhausted
};

/// Z from the drawn parameter t: four words x, four words y. Also clears the status word.
struct OodsPointArgs {
  const uint32_t* parameter;
  uint32_t* point;
  uint32_t* status;
};

/// Basis values of the sample point (Z + shift G) doubled `doublings` times, for polynomials of 2^n
/// coefficients: low[i] = 2^-n prod of the factors of bits of i (bits below log_low), high[i]
/// likewise without the 2^-n for the bits above.
struct SampleTablesArgs {
  const uint32_t* point;
  uint32_t* low;   ///< 2^log_low QM31
  uint32_t* high;  ///< 2^(n - log_low) QM31
  uint32_t shift;  ///< point index of the offset from Z
  uint32_t doublings;
  uint32_t log_rows;  ///< n
  uint32_t log_low;
};

/// A factor per bit of a row number.
inline constexpr uint32_t kSampleTableSharedBytes = 32 * 16;

/// weights[i] = low[i mod 2^log_low] high[i >> log_low], four coordinate columns.
struct SampleWeightsArgs {
  const uint32_t* low;
  const uint32_t* high;
  uint32_t* weights;
  uint64_t stride;
  uint32_t log_rows;
  uint32_t log_low;
};

inline constexpr uint32_t kSampleColumnsPerBlock = 8;
inline constexpr uint32_t kSampleThreads = 256;
inline constexpr uint32_t kSampleSharedBytes =
    4 * kSampleColumnsPerBlock * 4 * (kSampleThreads + 1);

/// Partial sums over `chunk_rows` rows: partial[chunk * n_columns + column], one QM31.
struct SampleSumsArgs {
  const uint32_t* weights;
  uint64_t stride;
  const uint32_t* const* columns;
  uint32_t n_columns;
  uint32_t rows;
  uint32_t chunk_rows;
  uint32_t pad;
  uint32_t* partial;
};

/// Where a sampled value goes. A constant column is its own value.
struct SampleTarget {
  const uint32_t* constant;  ///< null: sum of partial sums
  uint32_t value_index;
  uint32_t pad;
};

/// One warp per target; the i-th target that is no constant is partial column i, those come first.
struct SampleFinishArgs {
  const uint32_t* partial;
  const SampleTarget* targets;
  uint32_t* values;  ///< flat sampled values
  uint32_t n_targets;
  uint32_t n_columns;
  uint32_t n_chunks;
  uint32_t pad;
};

}  // namespace stwo::gpu

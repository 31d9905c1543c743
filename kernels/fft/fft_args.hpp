// Circle FFT passes. A transform of 2^n rows is split into one contiguous pass (the low layers) and
// strided passes (groups of higher layers); a pass holds a tile of every column in registers.
#pragma once

#include <cstdint>

namespace stwo::gpu {

/// One pass over `n_columns` columns. Columns lie `stride` words apart, storage order.
struct FftArgs {
  const uint32_t* source;  ///< first column's first row of this transform
  uint32_t* target;        ///< may equal source
  uint64_t source_stride;
  uint64_t target_stride;
  uint32_t n_columns;
  uint32_t columns_per_block;  ///< how many columns a thread block works through
  uint32_t log_rows;           ///< rows per column, all blocks of the domain that lie in it
  uint32_t low_layer;          ///< first layer of the pass; 0: contiguous
  uint32_t n_layers;
  uint32_t domain_log;    ///< canonic domain the twiddles belong to
  uint32_t domain_block;  ///< the transform's rows start at domain_block << log_rows of the domain
  uint32_t scale_log;     ///< inverse and extend: multiply by 2^-scale_log at the end
  uint32_t first_tile;    ///< tile of block 0
  uint32_t pad;
  /// extend only: blocks [first_block, end_block) of 2^log_rows rows are written, block j at
  /// target + (j << log_rows), evaluated on block j of forward_domain_log.
  uint32_t first_block;
  uint32_t end_block;
  uint32_t forward_domain_log;
  const uint32_t* x;  ///< twiddle tables (kernels/tables): inverse ones for inverse and extend
  const uint32_t* y;
  const uint32_t* forward_x;  ///< extend only
  const uint32_t* forward_y;
};

/// Rows (times columns, for short transforms) of a tile and threads that hold it, 16 values each.
inline constexpr uint32_t kFftLogTile = 12;
inline constexpr uint32_t kFftLogWideTile = 14;
inline constexpr uint32_t kFftThreads = 256;
inline constexpr uint32_t kFftWideThreads = 1024;
/// Shared memory of a tile: one word of padding per 16.
inline constexpr uint32_t kFftSharedBytes = 4 * ((1u << kFftLogTile) / 16 * 17);
inline constexpr uint32_t kFftWideSharedBytes = 4 * ((1u << kFftLogWideTile) / 16 * 17);
/// Extension keeps the tile's coefficients as well.
inline constexpr uint32_t kFftExtendSharedBytes = kFftSharedBytes + (4u << kFftLogTile);
inline constexpr uint32_t kFftWideExtendSharedBytes = kFftWideSharedBytes + (4u << kFftLogWideTile);

}  // namespace stwo::gpu

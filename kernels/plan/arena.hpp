// Places buffers with known lifetimes in one block of memory: two that live at the same time never
// overlap, others may share bytes.
#pragma once

#include <cstdint>
#include <vector>

namespace stwo::gpu {

struct ArenaRequest {
  uint64_t bytes = 0;
  uint64_t alignment = 256;  ///< power of two
  uint32_t first = 0;        ///< first step that uses it
  uint32_t last = 0;         ///< last step that uses it, at least `first`
};

struct ArenaLayout {
  std::vector<uint64_t> offsets;  ///< one per request
  uint64_t bytes = 0;             ///< size of the block
  /// Largest sum of the aligned sizes of buffers alive at one step. No layout is smaller if all
  /// have one alignment of 256 at most, as in plans.
  uint64_t live_peak = 0;
};

/// Places the requests; same input, same layout. Sizes of 0 get offset 0 and no room.
/// Throws ContractError for first > last or an alignment that is no power of two, UsageError SHAPE
/// when a size, an alignment or the sum of all exceeds 2^62.
ArenaLayout plan_arena(const std::vector<ArenaRequest>& requests);

}  // namespace stwo::gpu

#include "kernels/plan/tree_schedule.hpp"

#include <algorithm>
#include <cstddef>

namespace stwo::gpu {
namespace {

/// Nodes a block of a large tree stops at: below a full warp, idle lanes would cost issue slots.
constexpr uint32_t kWarpStop = 5;
/// Level from which one block makes the rest.
constexpr uint32_t kTopLevel = 8;
static_assert(kTopLevel <= kHashTopLevel);

/// Threads for a tile: one per node, whole warps, at most a block's.
uint32_t threads_for(uint32_t log_tile) { return std::clamp(1u << log_tile, 32u, kHashThreads); }

uint64_t level_bytes(uint32_t level) { return uint64_t{4 * kDigestWords} << level; }

/// Nodes of level `level` a block makes, and to how many it reduces them.
struct Tile {
  uint32_t log_nodes;
  uint32_t log_stop;
};

/// A chain of dependent hashes cannot be shortened, only kept off a single busy multiprocessor:
/// what can reach the top level in one launch does, over as many blocks as that leaves; a larger
/// level is first reduced at full width. (A FRI layer of log 15, `stwo_cuda_passes_bench 14 32 fast
/// 21`, H200, medians of 21: 44 us with tiles of 2^10 throughout, 33 us with these.)
Tile tile_for(uint32_t level) {
  if (level > kTopLevel + kHashLogTile) return {kHashLogTile, kWarpStop};
  if (level > kTopLevel) return {level - kTopLevel, 0};
  const uint32_t all = std::min(level, kWarpStop);
  return {all, all};
}

}  // namespace

void schedule_tree(PlanBuilder& builder, const std::string& kernel, const std::string& pass,
                   LaunchArgs<HashLeavesArgs>& leaves, uint32_t height, bool reduce, uint32_t nodes,
                   std::optional<BufferRef> root_out) {
  const BufferRef all_nodes{nodes, 0};
  Tile tile = tile_for(height);
  uint32_t level = height - (tile.log_nodes - tile.log_stop);
  leaves->height = height;
  leaves->log_tile = tile.log_nodes;
  leaves->log_stop = tile.log_stop;
  leaves->reduce = reduce ? 1 : 0;
  leaves.write(leaves->nodes, all_nodes, 2 * level_bytes(height) - level_bytes(level));
  builder.launch(
      kernel, pass,
      {uint64_t{1} << (height - tile.log_nodes), 1, threads_for(tile.log_nodes), kHashSharedBytes},
      leaves);
  while (level > kTopLevel) {
    tile = tile_for(level - 1);
    const uint32_t reached = level - 1 - (tile.log_nodes - tile.log_stop);
    LaunchArgs<HashNodesArgs> args;
    args->level = level;
    args->log_tile = tile.log_nodes;
    args->log_stop = tile.log_stop;
    args->reduce = reduce ? 1 : 0;
    args.update(args->nodes, all_nodes, level_bytes(level),
                level_bytes(level) - level_bytes(reached));
    builder.launch("hash_nodes", pass,
                   {uint64_t{1} << (level - 1 - tile.log_nodes), 1, threads_for(tile.log_nodes),
                    kHashSharedBytes},
                   args);
    level = reached;
  }
  LaunchArgs<HashTopArgs> top;
  top->level = level;
  top->reduce = reduce ? 1 : 0;
  top.update(top->nodes, all_nodes, level_bytes(level), level_bytes(level));
  if (root_out) top.write(top->root_out, *root_out, 4 * kDigestWords);
  builder.launch("hash_top", pass,
                 {1, 1, threads_for(level == 0 ? 0 : level - 1), kHashSharedBytes}, top);
  builder.open_tail(offsetof(HashTopArgs, transcript));
}

}  // namespace stwo::gpu

#include "prover/cpu/hash_tree.hpp"

#include <algorithm>

namespace stwo::cpu {
namespace {

/// Log of the leaves one task hashes together with the levels above them: 4096 leaves and their
/// nodes are 256 KiB, which stay in the L2 cache.
constexpr uint32_t kTileLog = 12;
/// Tasks stop where a level has this many nodes of theirs, so that no vector store crosses into
/// another task's nodes.
constexpr uint32_t kTileStopLog = 4;
/// Levels above the tiles with at least this many nodes are still worth the threads.
constexpr uint64_t kParallelNodes = 1 << 11;

}  // namespace

HashTree::HashTree(uint32_t height) : height_(height), words_(8 * ((uint64_t{2} << height) - 1)) {}

uint64_t HashTree::bytes_for(uint32_t height) { return 4 * 8 * ((uint64_t{2} << height) - 1); }

void HashTree::build(ThreadPool& pool, HashVariant variant,
                     const std::function<void(const HashLayer&, uint64_t, uint64_t)>& leaves) {
  const uint32_t tile_log = std::min(height_, kTileLog);
  // Small trees are split as far as the tiles allow, so that every thread gets some.
  uint32_t split = tile_log;
  while (split > kTileStopLog + 2 && (uint64_t{1} << (height_ - split)) < 2 * pool.size()) --split;
  const uint32_t levels = split > kTileStopLog ? split - kTileStopLog : 0;
  pool.parallel_for(uint64_t{1} << (height_ - split), [&](uint64_t tile, uint32_t) {
    leaves(layer(height_), tile << split, (tile + 1) << split);
    for (uint32_t j = 1; j <= levels; ++j) {
      hash_nodes(variant, layer(height_ - j + 1), layer(height_ - j), tile << (split - j),
                 (tile + 1) << (split - j));
    }
  });
  for (uint32_t d = height_ - levels; d-- > 0;) {
    const uint64_t n = uint64_t{1} << d;
    if (n >= kParallelNodes) {
      pool.parallel_ranges(n, 256, [&](uint64_t begin, uint64_t end, uint32_t) {
        hash_nodes(variant, layer(d + 1), layer(d), begin, end);
      });
    } else {
      hash_nodes(variant, layer(d + 1), layer(d), 0, n);
    }
  }
}

MerkleDecommitment HashTree::decommit(std::vector<uint32_t> positions) const {
  MerkleDecommitment out;
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  for (uint32_t d = height_; d > 0; --d) {
    const HashLayer nodes = layer(d);
    std::vector<uint32_t> parents;
    for (size_t i = 0; i < positions.size();) {
      const uint32_t p = positions[i];
      size_t run = 1;
      while (i + run < positions.size() && positions[i + run - 1] == (positions[i + run] ^ 1)) {
        ++run;
      }
      if (run == 1) out.hash_witness.push_back(nodes.node(p ^ 1));
      parents.push_back(p >> 1);
      i += run;
    }
    positions = std::move(parents);
  }
  return out;
}

}  // namespace stwo::cpu

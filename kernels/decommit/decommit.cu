// Queries and openings. Source: protocol.md sections 5, 8 and 9. Oracle: prover/channel
// (draw_queries) and prover/cpu/cpu_session.cpp (open_tree, open_fri).
//
// Ledger, Q positions, C columns, height h:
//   kernel        reads                        writes
//   draw_queries  44                           4 Q
//   gather        4 C Q (a sector each)        4 C Q
//   open_trees    32 Q h at most, 16 Q 2^fold  as read
// One block per opened tree walks the levels: the sorted list of known nodes says which siblings
// are missing; a prefix sum gives each its place, so that the witness comes out compact and in
// order.

#include "kernels/decommit/decommit_args.hpp"
#include "kernels/device/block_scan.cuh"
#include "kernels/device/field.cuh"
#include "kernels/device/transcript.cuh"
#include "kernels/oods/oods_args.hpp"

namespace stwo::gpu {
namespace {

struct QueryMemory {
  uint32_t words[kMaxQueries];
  ScanMemory scan;
};

static_assert(sizeof(QueryMemory) <= kQuerySharedBytes);

struct OpenMemory {
  uint32_t positions[kMaxQueries];
  uint32_t a[kMaxQueries];
  uint32_t b[kMaxQueries];
  ScanMemory scan;
};
static_assert(sizeof(OpenMemory) <= kOpenSharedBytes);

STWO_DEVICE uint32_t log_ceil(uint32_t n) {
  uint32_t log = 0;
  while ((1u << log) < n) ++log;
  return log;
}

STWO_DEVICE uint32_t map_position(uint32_t p, uint32_t down, uint32_t up) {
  return ((p >> down) << up) | (p & 1);
}

/// How many of the n ascending words are below `value`.
STWO_DEVICE uint32_t count_below(const uint32_t* words, uint32_t n, uint32_t value) {
  uint32_t low = 0;
  uint32_t high = n;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (words[middle] < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Copies words without repeats, shifted down: `to` from the n ascending words of `from`.
STWO_DEVICE uint32_t shift_unique(ScanMemory& scan, const uint32_t* from, uint32_t n,
                                  uint32_t shift, uint32_t* to) {
  return block_compact(
      scan, n, [&](uint32_t i) { return i == 0 || from[i - 1] >> shift != from[i] >> shift; },
      [&](uint32_t i, uint32_t rank) { to[rank] = from[i] >> shift; });
}

/// Siblings that open the n ascending nodes `list` of level `level`, from there to the root.
STWO_DEVICE uint32_t open_levels(OpenMemory& memory, uint32_t* list, uint32_t* other, uint32_t n,
                                 uint32_t level, const uint32_t* nodes, uint32_t* witness) {
  uint32_t emitted = 0;
  STWO_NO_UNROLL
  for (; level > 0; --level) {
    // Is node i's sibling in the list? It is next to it then.
    const auto paired = [&](uint32_t i) {
      const uint32_t node = list[i];
      return (node & 1) != 0 ? i > 0 && list[i - 1] == node - 1
                             : i + 1 < n && list[i + 1] == node + 1;
    };
    emitted += block_compact(
        memory.scan, n, [&](uint32_t i) { return !paired(i); },
        [&](uint32_t i, uint32_t rank) {
          const uint32_t* from = nodes + kDigestWords * ((uint64_t{1} << level) + (list[i] ^ 1));
          uint32_t* to = witness + kDigestWords * static_cast<uint64_t>(emitted + rank);
          store4(to, load4(from));
          store4(to + 4, load4(from + 4));
        });
    n = block_compact(
        memory.scan, n, [&](uint32_t i) { return (list[i] & 1) == 0 || !paired(i); },
        [&](uint32_t i, uint32_t rank) { other[rank] = list[i] >> 1; });
    uint32_t* swap = list;
    list = other;
    other = swap;
  }
  return emitted;
}

}  // namespace

STWO_KERNEL(draw_queries, DrawQueriesArgs, kQueryThreads, 1) {
  auto& memory = shared_memory<QueryMemory>();
  const bool reduce = args.reduce != 0;
  if (thread_index() == 0) {
    const uint64_t index = *args.nonce_index;
    if (index == ~uint64_t{0}) atomic_or(args.status, kStatusNoNonce);
    const uint32_t nonce[2] = {static_cast<uint32_t>(index) & ((1u << 20) - 1),
                               static_cast<uint32_t>(index >> 20)};
    args.nonce_out[0] = nonce[0];
    args.nonce_out[1] = nonce[1];
    DeviceChannel channel(*args.state, reduce);
    channel.mix(nonce, 2);
    STWO_UNROLL
    for (uint32_t w = 0; w < 8; ++w) args.log[8 * args.log_entry + w] = channel.digest[w];
    channel.store(*args.state);
  }
  sync_block();
  // Draw i hashes the digest and i: all are independent.
  const uint32_t mask = static_cast<uint32_t>((uint64_t{1} << args.log_domain) - 1);
  const uint32_t n_draws = (args.n_queries + 7) / 8;
  const uint32_t log_n = log_ceil(args.n_queries);
  for (uint32_t i = thread_index(); i < 1u << log_n; i += block_size()) {
    memory.words[i] = 0xffffffffu;
  }
  sync_block();
  if (thread_index() < n_draws) {
    DeviceChannel channel(*args.state, reduce);
    channel.n_draws = thread_index();
    uint32_t words[8];
    channel.draw_words(words);
    STWO_UNROLL
    for (uint32_t k = 0; k < 8; ++k) {
      const uint32_t at = 8 * thread_index() + k;
      if (at < args.n_queries) memory.words[at] = words[k] & mask;
    }
  }
  block_sort(memory.words, log_n);
  const uint32_t n = block_compact(
      memory.scan, args.n_queries,
      [&](uint32_t i) { return i == 0 || memory.words[i - 1] != memory.words[i]; },
      [&](uint32_t i, uint32_t rank) { args.positions[rank] = memory.words[i]; });
  if (thread_index() == 0) *args.n_positions = n;
}

STWO_KERNEL(gather, GatherArgs, 256, 4) {
  const uint64_t i = static_cast<uint64_t>(block_index()) * block_size() + thread_index();
  const uint32_t c = static_cast<uint32_t>(i / args.capacity);
  const uint32_t q = static_cast<uint32_t>(i % args.capacity);
  if (c >= args.n_columns || q >= *args.n_positions) return;
  const ColumnRef column = args.columns[c];
  const uint32_t p = map_position(args.positions[q], args.down, args.up);
  args.out[i] = column.values[lifted_row(p, column.shift)];
}

STWO_KERNEL(open_trees, OpenArgs, kOpenThreads, 1) {
  auto& memory = shared_memory<OpenMemory>();
  const OpenRef opening = args.openings[block_index()];
  const uint32_t n_queries = *args.n_positions;
  if (opening.fold_step == 0) {
    const uint32_t log_n = log_ceil(n_queries);
    for (uint32_t i = thread_index(); i < 1u << log_n; i += block_size()) {
      memory.a[i] =
          i < n_queries ? map_position(args.positions[i], opening.down, opening.up) : 0xffffffffu;
    }
    if (opening.sort != 0) block_sort(memory.a, log_n);
    sync_block();
    const uint32_t n = shift_unique(memory.scan, memory.a, n_queries, 0, memory.b);
    const uint32_t emitted =
        open_levels(memory, memory.b, memory.a, n, opening.height, opening.nodes, opening.witness);
    if (thread_index() == 0) *opening.n_witness = emitted;
    return;
  }

  // Positions of this layer, without repeats, then the blocks they lie in.
  for (uint32_t i = thread_index(); i < n_queries; i += block_size())
    memory.a[i] = args.positions[i];
  sync_block();
  const uint32_t n =
      shift_unique(memory.scan, memory.a, n_queries, opening.fold_before, memory.positions);
  const uint32_t n_blocks =
      shift_unique(memory.scan, memory.positions, n, opening.fold_step, memory.a);
  const uint32_t block_mask = (1u << opening.fold_step) - 1;
  const uint64_t n_values = static_cast<uint64_t>(n_blocks) << opening.fold_step;
  for (uint64_t i = thread_index(); i < n_values; i += block_size()) {
    const uint32_t position = (memory.a[i >> opening.fold_step] << opening.fold_step) |
                              (static_cast<uint32_t>(i) & block_mask);
    const uint32_t below = count_below(memory.positions, n, position);
    if (below < n && memory.positions[below] == position) continue;
    store_secure(opening.fri_witness + 4 * (i - below),
                 load_coordinates(opening.values, opening.stride, position));
  }
  if (thread_index() == 0) *opening.n_fri_witness = static_cast<uint32_t>(n_values - n);
  sync_block();
  // Blocks are opened whole: the first missing siblings are those of the blocks' own nodes.
  const uint32_t emitted =
      open_levels(memory, memory.a, memory.b, n_blocks, opening.log_size - opening.fold_step,
                  opening.nodes, opening.witness);
  if (thread_index() == 0) *opening.n_witness = emitted;
}

}  // namespace stwo::gpu

#include "kernels/plan/arena.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

#include "prover/errors.hpp"

namespace stwo::gpu {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 62;

uint64_t round_up(uint64_t bytes, uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

uint64_t live_peak(const std::vector<ArenaRequest>& requests) {
  std::map<uint64_t, int64_t> change;
  for (const ArenaRequest& r : requests) {
    const auto bytes = static_cast<int64_t>(round_up(r.bytes, r.alignment));
    change[r.first] += bytes;
    change[uint64_t{r.last} + 1] -= bytes;
  }
  int64_t live = 0;
  int64_t peak = 0;
  for (const auto& [step, bytes] : change) peak = std::max(peak, live += bytes);
  return static_cast<uint64_t>(peak);
}

}  // namespace

ArenaLayout plan_arena(const std::vector<ArenaRequest>& requests) {
  uint64_t sum = 0;
  for (const ArenaRequest& r : requests) {
    STWO_CHECK(r.first <= r.last, "a buffer's first use is after its last");
    STWO_CHECK(std::has_single_bit(r.alignment), "an alignment is no power of two");
    if (r.bytes > kMaxBytes || r.alignment > kMaxBytes ||
        (sum += round_up(r.bytes, r.alignment)) > kMaxBytes) {
      throw UsageError("SHAPE",
                       "the buffers of this shape exceed the address space; lower the "
                       "trace size or the blowup");
    }
  }
  ArenaLayout layout;
  layout.offsets.resize(requests.size());
  layout.live_peak = live_peak(requests);
  // Largest first, each at the lowest place that is free during its whole life: small buffers fill
  // the gaps between large ones.
  std::vector<size_t> order(requests.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return requests[a].bytes > requests[b].bytes; });
  std::vector<size_t> placed;
  for (const size_t i : order) {
    const ArenaRequest& r = requests[i];
    if (r.bytes == 0) continue;
    std::vector<std::pair<uint64_t, uint64_t>> taken;
    for (const size_t j : placed) {
      const ArenaRequest& other = requests[j];
      if (other.first <= r.last && r.first <= other.last) {
        taken.emplace_back(layout.offsets[j], layout.offsets[j] + other.bytes);
      }
    }
    std::sort(taken.begin(), taken.end());
    uint64_t at = 0;
    for (const auto& [begin, end] : taken) {
      if (begin >= at + r.bytes) break;
      at = std::max(at, round_up(end, r.alignment));
    }
    layout.offsets[i] = at;
    layout.bytes = std::max(layout.bytes, at + r.bytes);
    placed.push_back(i);
  }
  layout.bytes = round_up(layout.bytes, 256);
  return layout;
}

}  // namespace stwo::gpu

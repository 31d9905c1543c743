#include "kernels/plan/arena.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "prover/errors.hpp"

namespace stwo::gpu {
namespace {

using Requests = std::vector<ArenaRequest>;

uint64_t aligned(uint64_t bytes, uint64_t alignment) {
  return (bytes + alignment - 1) & ~(alignment - 1);
}

/// Sum of `size` over the requests alive at a step, at its largest.
template <class SizeOf>
uint64_t peak(const Requests& requests, SizeOf size_of) {
  uint64_t out = 0;
  // The sum only grows where a life begins.
  for (const ArenaRequest& at : requests) {
    uint64_t sum = 0;
    for (const ArenaRequest& r : requests) {
      if (r.first <= at.first && at.first <= r.last) sum += size_of(r);
    }
    out = std::max(out, sum);
  }
  return out;
}

void check_layout(const Requests& requests, const ArenaLayout& layout) {
  ASSERT_EQ(layout.offsets.size(), requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    const ArenaRequest& a = requests[i];
    if (a.bytes == 0) {
      EXPECT_EQ(layout.offsets[i], 0u);
      continue;
    }
    EXPECT_EQ(layout.offsets[i] % a.alignment, 0u) << i;
    EXPECT_LE(layout.offsets[i] + a.bytes, layout.bytes) << i;
    for (size_t k = 0; k < i; ++k) {
      const ArenaRequest& b = requests[k];
      if (b.bytes == 0 || b.last < a.first || a.last < b.first) continue;
      EXPECT_TRUE(layout.offsets[i] + a.bytes <= layout.offsets[k] ||
                  layout.offsets[k] + b.bytes <= layout.offsets[i])
          << i << " and " << k;
    }
  }
  EXPECT_EQ(layout.bytes % 256, 0u);
  EXPECT_EQ(layout.live_peak,
            peak(requests, [](const ArenaRequest& r) { return aligned(r.bytes, r.alignment); }));
  EXPECT_GE(layout.bytes, peak(requests, [](const ArenaRequest& r) { return r.bytes; }));
}

Requests random_requests(std::mt19937_64& random, uint32_t max_alignment_log,
                         uint32_t min_alignment_log) {
  const auto below = [&](uint64_t n) { return random() % n; };
  const uint32_t steps = static_cast<uint32_t>(1 + below(40));
  Requests out(below(60));
  for (ArenaRequest& r : out) {
    // Sizes of all magnitudes, nothing among them.
    r.bytes = below(8) == 0 ? 0 : random() >> (24 + below(40));
    r.alignment =
        uint64_t{1} << (min_alignment_log + below(max_alignment_log - min_alignment_log + 1));
    r.first = static_cast<uint32_t>(below(steps));
    r.last = static_cast<uint32_t>(r.first + below(below(4) == 0 ? steps : 4));
  }
  return out;
}

TEST(Arena, KeepsLiveBuffersApart) {
  std::mt19937_64 random(20260801);
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const Requests requests = random_requests(random, 12, 0);
    check_layout(requests, plan_arena(requests));
    if (testing::Test::HasFailure()) return;
  }
}

/// As plans ask for it: then the peak is a bound for every layout.
TEST(Arena, IsNoSmallerThanTheLivePeak) {
  std::mt19937_64 random(20260802);
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const Requests requests = random_requests(random, 8, 8);
    const ArenaLayout layout = plan_arena(requests);
    check_layout(requests, layout);
    EXPECT_GE(layout.bytes, layout.live_peak);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Arena, IsDeterministic) {
  std::mt19937_64 random(20260803);
  for (int round = 0; round < 50; ++round) {
    // Many equal sizes: their order must not depend on anything but the input.
    Requests requests = random_requests(random, 8, 4);
    for (ArenaRequest& r : requests) r.bytes = r.bytes % 3 * 1000;
    const ArenaLayout a = plan_arena(requests);
    const ArenaLayout b = plan_arena(requests);
    EXPECT_EQ(a.offsets, b.offsets);
    EXPECT_EQ(a.bytes, b.bytes);
    EXPECT_EQ(a.live_peak, b.live_peak);
  }
}

TEST(Arena, SharesBytesOfBuffersThatDoNotMeet) {
  const ArenaLayout layout =
      plan_arena({{1024, 256, 0, 1}, {1024, 256, 2, 3}, {1024, 256, 4, UINT32_MAX}});
  EXPECT_EQ(layout.offsets, (std::vector<uint64_t>{0, 0, 0}));
  EXPECT_EQ(layout.bytes, 1024u);
  EXPECT_EQ(layout.live_peak, 1024u);
}

TEST(Arena, MeetingAtOneStepIsTogether) {
  const ArenaLayout layout = plan_arena({{1024, 256, 0, 2}, {1024, 256, 2, 3}});
  EXPECT_NE(layout.offsets[0], layout.offsets[1]);
  EXPECT_EQ(layout.bytes, 2048u);
}

TEST(Arena, NothingTakesNoRoom) {
  EXPECT_EQ(plan_arena({}).bytes, 0u);
  const ArenaLayout layout = plan_arena({{0, 256, 0, 9}, {100, 256, 0, 9}, {0, 16, 3, 3}});
  EXPECT_EQ(layout.offsets, (std::vector<uint64_t>{0, 0, 0}));
  EXPECT_EQ(layout.bytes, 256u);
  EXPECT_EQ(layout.live_peak, 256u);
}

TEST(Arena, RefusesWhatNoDeviceHolds) {
  const auto code = [](const Requests& requests) -> std::string {
    try {
      plan_arena(requests);
    } catch (const Error& e) {
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
      return e.code();
    }
    return "accepted";
  };
  constexpr uint64_t kLargest = uint64_t{1} << 62;
  EXPECT_EQ(code({{kLargest, 256, 0, 0}}), "accepted");
  EXPECT_EQ(code({{kLargest, 256, 0, 0}, {1, 256, 1, 1}}), "SHAPE");
  EXPECT_EQ(code({{kLargest + 1, 256, 0, 0}}), "SHAPE");
  EXPECT_EQ(code({{UINT64_MAX, 256, 0, 0}}), "SHAPE");
  EXPECT_EQ(code({{1, uint64_t{1} << 63, 0, 0}}), "SHAPE");
  // A sum that wraps, of sizes that are each allowed.
  EXPECT_EQ(code(Requests(8, {kLargest / 2, 256, 0, 0})), "SHAPE");
  EXPECT_EQ(code({{1, 256, 2, 1}}), "CONTRACT");
  EXPECT_EQ(code({{1, 48, 0, 0}}), "CONTRACT");
  EXPECT_EQ(code({{1, 0, 0, 0}}), "CONTRACT");
}

}  // namespace
}  // namespace stwo::gpu

// The nonce search against the CPU prover's: the least index, whatever the grid.
#include "kernels/pow/pow_args.hpp"

#include "prover/cpu/kernels.hpp"
#include "tests/kernels/support/reference.hpp"

namespace stwo::gpu {
namespace {

using namespace stwo::test;

class PowKernel : public KernelTest {
 protected:
  static Channel random_channel(Random& rng, HashVariant variant) {
    Channel channel(variant);
    channel.mix_u32s(random_words(rng, 8));
    return channel;
  }

  /// The index that a launch of `grid` blocks finds among the first `end`; all ones: none.
  uint64_t search(const Channel& channel, uint32_t bits, uint64_t end, uint32_t grid) {
    Words state_words(12, kPoison);
    put(state_words, 0, channel.digest());
    state_words[8] = 0;
    const DeviceWords state = DeviceWords::input(state_words);
    const DeviceWords index = DeviceWords::updated(Words{0xffffffffu, 0xffffffffu});
    GrindArgs args{};
    args.state = reinterpret_cast<const TranscriptState*>(state.at());
    args.nonce_index = reinterpret_cast<uint64_t*>(index.at());
    args.end = end;
    args.pow_bits = bits;
    args.reduce = channel.variant() == HashVariant::kBlake2sM31 ? 1 : 0;
    launch("grind", {grid, 1, kGrindThreads, 32}, args);
    const Words found = index.read();
    return uint64_t{found[1]} << 32 | found[0];
  }
};

STWO_UNDER_ALL_SCHEDULES(PowKernel);

constexpr uint64_t kEnd = uint64_t{kP} << 20;

uint64_t nonce_of(uint64_t index) { return (index >> 20) << 32 | (index & ((1u << 20) - 1)); }

TEST_P(PowKernel, FindsTheLeastNonce) {
  for (const HashVariant variant : {HashVariant::kBlake2s, HashVariant::kBlake2sM31}) {
    for (uint32_t bits = 0; bits <= 12; ++bits) {
      const Channel channel = random_channel(rng, variant);
      const uint64_t expected =
          cpu::grind(variant, channel.pow_prefix_digest(bits), bits, 0, uint64_t{1} << 24);
      ASSERT_TRUE(channel.verify_pow_nonce(bits, nonce_of(expected)));
      for (uint64_t i = 0; i < expected; ++i) {
        ASSERT_FALSE(channel.verify_pow_nonce(bits, nonce_of(i)));
      }
      for (const uint32_t grid : {1u, 2u, 7u, 64u}) {
        ASSERT_EQ(search(channel, bits, kEnd, grid), expected) << bits << " bits, grid " << grid;
      }
      // The search space ends just after the nonce, and just before it.
      EXPECT_EQ(search(channel, bits, expected + 1, 3), expected);
      EXPECT_EQ(search(channel, bits, expected, 3), UINT64_MAX);
    }
  }
}

/// The nonce's high word takes over where its low word has 20 bits.
TEST_P(PowKernel, NonceBeyondTheLowWord) {
  constexpr uint32_t kBits = 19;
  constexpr uint64_t kLow = uint64_t{1} << 20;
  for (;;) {
    const Channel channel = random_channel(rng, HashVariant::kBlake2s);
    const uint64_t expected = cpu::grind(HashVariant::kBlake2s, channel.pow_prefix_digest(kBits),
                                         kBits, 0, kLow + (kLow >> 2));
    // One channel in 32 is of use: a nonce soon after the first 2^20 indices.
    if (expected < kLow || expected == kLow + (kLow >> 2)) continue;
    EXPECT_TRUE(channel.verify_pow_nonce(kBits, nonce_of(expected)));
    EXPECT_EQ(search(channel, kBits, kEnd, 4), expected);
    return;
  }
}

}  // namespace
}  // namespace stwo::gpu

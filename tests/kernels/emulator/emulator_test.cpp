#include "kernels/emulator/emulator.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/kernels/emulator/test_args.hpp"

namespace stwo::gpu {
namespace {

constexpr uint32_t kUnset = 0xffffffff;

class Emulator : public ::testing::Test {
 protected:
  void SetUp() override { emulator::set_schedule(0); }
  // The rest of the program goes on under the schedule of the environment.
  void TearDown() override { emulator::set_schedule(before_); }
  /// Runs a kernel on `size` words.
  static std::vector<uint32_t> run(const char* kernel, uint32_t grid_x, uint32_t grid_y,
                                   uint32_t threads, size_t shared_bytes, uint32_t n = 0) {
    std::vector<uint32_t> out(size_t{grid_x} * grid_y * threads, kUnset);
    const TestArgs args{out.data(), n};
    emulator::launch(kernel, grid_x, grid_y, threads, shared_bytes, &args);
    return out;
  }

 private:
  const uint64_t before_ = emulator::schedule();
};
using EmulatorDeathTest = Emulator;

TEST_F(Emulator, KnowsTheLinkedKernels) {
  const emulator::KernelInfo* kernel = emulator::find_kernel("test_indices");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->args_size, sizeof(TestArgs));
  EXPECT_EQ(kernel->max_threads, 256u);
  EXPECT_EQ(emulator::find_kernel("test_nothing"), nullptr);
  EXPECT_GE(emulator::kernels().size(), 10u);
}

TEST_F(Emulator, RunsEveryThreadOfEveryBlockOnceUnderEverySchedule) {
  for (const uint64_t seed : {0, 1, 2, 77}) {
    emulator::set_schedule(seed);
    const auto out = run("test_indices", 5, 3, 33, 0);
    for (uint32_t y = 0; y < 3; ++y)
      for (uint32_t x = 0; x < 5; ++x)
        for (uint32_t t = 0; t < 33; ++t)
          ASSERT_EQ(out[(y * 5 + x) * 33 + t], y << 24 | x << 16 | t) << "schedule " << seed;
  }
}

TEST_F(Emulator, BarriersOrderSharedMemory) {
  for (const uint64_t seed : {0, 1, 9}) {
    emulator::set_schedule(seed);
    const auto out = run("test_reverse", 3, 1, 256, 1024);
    for (uint32_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], 255 - i % 256);
  }
}

TEST_F(Emulator, SchedulesRevealAMissingBarrier) {
  const auto ascending = run("test_race", 1, 1, 256, 1024);
  emulator::set_schedule(1);
  const auto descending = run("test_race", 1, 1, 256, 1024);
  EXPECT_NE(ascending, descending);
  emulator::set_schedule(5);
  const auto shuffled = run("test_race", 1, 1, 256, 1024);
  EXPECT_NE(ascending, shuffled);
  EXPECT_NE(descending, shuffled);
  EXPECT_EQ(shuffled, run("test_race", 1, 1, 256, 1024));  // a seed is one order
}

TEST_F(Emulator, ShufflesExchangeWithinAWarp) {
  for (const uint64_t seed : {0, 1, 3}) {
    emulator::set_schedule(seed);
    const auto sums = run("test_warp_sum", 1, 1, 128, 0, 4);
    for (uint32_t i = 0; i < 128; ++i) ASSERT_EQ(sums[i], 496 + i / 32 * 1024);
    const auto up = run("test_shuffle_up", 1, 1, 64, 0, 3);
    for (uint32_t i = 0; i < 64; ++i) ASSERT_EQ(up[i], i % 32 < 3 ? i : i - 3);
  }
}

TEST_F(Emulator, SharedMemoryIsPoisonedBeforeEachBlock) {
  for (const uint32_t word : run("test_poison", 4, 1, 256, 1024)) ASSERT_EQ(word, 0xdbdbdbdbu);
}

TEST_F(Emulator, HostThreadsLaunchAtTheSameTime) {
  std::vector<std::thread> threads;
  std::vector<std::vector<uint32_t>> results(4);
  for (auto& result : results)
    threads.emplace_back([&result] { result = run("test_warp_sum", 20, 1, 128, 0, 10); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, results[0]);
}

TEST_F(EmulatorDeathTest, NamesADivergentBlockBarrier) {
  EXPECT_DEATH(run("test_leaves_early", 2, 1, 64, 0, 40),
               "kernel test_leaves_early, block \\(0, 0\\), thread 0: barrier divergence in the "
               "block: it waits in sync_block while thread 40 has finished");
}

TEST_F(EmulatorDeathTest, NamesADivergentWarpBarrier) {
  EXPECT_DEATH(run("test_mixed_barriers", 1, 1, 64, 0, 33),
               "thread 32: barrier divergence in the warp: it waits in sync_warp while thread 33 "
               "waits in sync_block");
}

TEST_F(EmulatorDeathTest, NamesMissingSharedMemory) {
  EXPECT_DEATH(run("test_reverse", 1, 1, 64, 512),
               "uses 1024 bytes of shared memory; the launch gave 512");
}

TEST_F(EmulatorDeathTest, NamesAMisalignedStore) {
  EXPECT_DEATH(run("test_misaligned", 1, 1, 1, 0), "is not a multiple of 16");
}

TEST_F(EmulatorDeathTest, RefusesGeometryOutsideTheBounds) {
  EXPECT_DEATH(run("test_indices", 1, 1, 257, 0), "257 threads per block; the kernel allows 256");
  EXPECT_DEATH(run("test_nothing", 1, 1, 1, 0), "no kernel of this name is linked");
}

}  // namespace
}  // namespace stwo::gpu

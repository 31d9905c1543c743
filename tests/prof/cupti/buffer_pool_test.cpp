#include "prof/cupti/buffer_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

namespace prof {
namespace {

bool all_zero(const uint8_t* buffer) {
  return std::all_of(buffer, buffer + BufferPool::kBytes, [](uint8_t b) { return b == 0; });
}

TEST(BufferPool, BuffersAreAlignedZeroAndDistinct) {
  BufferPool pool;
  std::set<uint8_t*> taken;
  for (size_t i = 0; i < BufferPool::kReady + 2; ++i) {
    if (i == 1) pool.prepare();
    uint8_t* buffer = pool.take();
    ASSERT_NE(buffer, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer) % 8, 0U);
    EXPECT_TRUE(all_zero(buffer));
    EXPECT_TRUE(taken.insert(buffer).second);
    buffer[i] = 1;
  }
  for (uint8_t* buffer : taken) pool.give_back(buffer, BufferPool::kBytes);
}

TEST(BufferPool, AReturnedBufferIsZeroAgainBeforeItIsReady) {
  BufferPool pool;
  uint8_t* buffer = pool.take();
  std::memset(buffer, 0xff, 1000);
  pool.give_back(buffer, 1000);
  EXPECT_EQ(pool.ready(), 0U);
  pool.prepare();
  EXPECT_EQ(pool.ready(), BufferPool::kReady);
  for (size_t i = 0; i < BufferPool::kReady; ++i) {
    uint8_t* again = pool.take();
    EXPECT_TRUE(all_zero(again));
    pool.give_back(again, 0);
  }
}

TEST(BufferPool, KeepsAFewOnly) {
  BufferPool pool;
  std::set<uint8_t*> taken;
  for (size_t i = 0; i < 2 * BufferPool::kKept; ++i) taken.insert(pool.take());
  for (uint8_t* buffer : taken) pool.give_back(buffer, 1);
  pool.prepare();
  EXPECT_EQ(pool.ready(), BufferPool::kKept);
}

}  // namespace
}  // namespace prof

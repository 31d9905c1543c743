#include "prover/cpu/memory.hpp"

#include <gtest/gtest.h>

#include "prover/errors.hpp"

namespace stwo::cpu {
namespace {

TEST(Buffer, IsZeroAndPaddedAndMovable) {
  for (const size_t n : {1u, 1000u, 1u << 20}) {
    Buffer<uint32_t> a(n);
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(a[i], 0u);
    auto* bytes = reinterpret_cast<unsigned char*>(a.data());
    for (size_t i = 0; i < kBufferPaddingBytes; ++i) bytes[4 * n + i] = 1;
    a[0] = 7;
    Buffer<uint32_t> b = std::move(a);
    EXPECT_EQ(b[0], 7u);
    EXPECT_EQ(b.size(), n);
    EXPECT_EQ(b.bytes(), 4 * n);
  }
}

TEST(Buffer, ImpossibleSizeIsAClearError) {
  try {
    RawBuffer buffer(size_t{1} << 62);
    FAIL() << "allocated";
  } catch (const EnvironmentError& e) {
    EXPECT_EQ(e.code(), "OUT_OF_MEMORY");
    EXPECT_EQ(e.exit_code(), ExitCode::kEnvironment);
  }
  EXPECT_THROW(RawBuffer(~size_t{0}), EnvironmentError);
}

TEST(AvailableMemory, IsPlausible) { EXPECT_GT(available_memory_bytes(), uint64_t{1} << 20); }

}  // namespace
}  // namespace stwo::cpu

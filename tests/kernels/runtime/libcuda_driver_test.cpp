#include "kernels/runtime/libcuda_driver.hpp"

#include <gtest/gtest.h>

namespace stwo::gpu {
namespace {

TEST(LibcudaDriver, OpensOrSaysWhyNot) {
  const LibcudaDriver opened = open_libcuda();
  EXPECT_EQ(opened.driver == nullptr, !opened.reason.empty());
  EXPECT_EQ(opened.reason.find('\n'), std::string::npos);
  if (opened.driver == nullptr) GTEST_SKIP() << opened.reason;
  int version = 0;
  ASSERT_EQ(opened.driver->driver_version(&version), CUDA_SUCCESS);
  EXPECT_GE(version, CUDA_VERSION / 1000 * 1000);
  EXPECT_STREQ(opened.driver->error_name(CUDA_ERROR_OUT_OF_MEMORY), "CUDA_ERROR_OUT_OF_MEMORY");
}

}  // namespace
}  // namespace stwo::gpu

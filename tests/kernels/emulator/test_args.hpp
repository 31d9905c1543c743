// Arguments of the test kernels (test_kernels.cpp).
#pragma once

#include <cstdint>

namespace stwo::gpu {

struct TestArgs {
  uint32_t* out;
  uint32_t n;
};

}  // namespace stwo::gpu

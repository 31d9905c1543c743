// The generated kernels of all cases, compiled for the host.
#pragma once

#include <string_view>

#include "tests/kernels/research/research_cases.hpp"

#define STWO_DECLARE_ROWS(name, script)                                                            \
  extern "C" void name##_rows(const void* args, unsigned long long begin, unsigned long long end); \
  extern "C" const char name##_program[65];
STWO_RESEARCH_CASES(STWO_DECLARE_ROWS)
#undef STWO_DECLARE_ROWS

namespace stwo::research_cases {

struct HostKernel {
  gpu::HostRows rows = nullptr;
  std::string_view program;  ///< digest, hex
};

inline HostKernel host_kernel(std::string_view name) {
#define STWO_FIND_ROWS(n, script) \
  if (name == #n) return {n##_rows, n##_program};
  STWO_RESEARCH_CASES(STWO_FIND_ROWS)
#undef STWO_FIND_ROWS
  return {};
}

}  // namespace stwo::research_cases

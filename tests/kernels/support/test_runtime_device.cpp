#include <cstdlib>

#include "kernels/runtime/libcuda_driver.hpp"
#include "prover/errors.hpp"
#include "tests/kernels/support/test_runtime.hpp"

namespace stwo::test {

std::vector<Schedule> schedules() { return {{"device", 0}}; }

void use_schedule(const Schedule&) {}

gpu::CudaRuntime* find_runtime(std::string* why) {
  static std::string reason;
  static const std::unique_ptr<gpu::CudaRuntime> runtime =
      []() -> std::unique_ptr<gpu::CudaRuntime> {
    gpu::LibcudaDriver loaded = gpu::open_libcuda();
    if (loaded.driver == nullptr) {
      reason = loaded.reason;
      return nullptr;
    }
    try {
      gpu::RuntimeOptions options;
      options.cubin_directory = STWO_TEST_CUBIN_DIR;
      if (const char* folder = std::getenv("STWO_CUBIN_DIR")) options.cubin_directory = folder;
      return std::make_unique<gpu::CudaRuntime>(std::move(loaded.driver),
                                                gpu::built_in_cubin_manifest(), options);
    } catch (const EnvironmentError& e) {
      reason = e.what();
      return nullptr;
    }
  }();
  *why = reason;
  return runtime.get();
}

std::vector<std::string> driver_violations() { return {}; }

}  // namespace stwo::test

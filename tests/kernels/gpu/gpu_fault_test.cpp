// Failures on a real device: what tests/kernels/fault_injection_test.cpp checks on the emulated
// one, for every launch of a request and every acquisition of a preparation. Simulated: the call
// returns the error instead of being made, so that the device itself stays well.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "kernels/cuda_backend.hpp"
#include "kernels/runtime/errors.hpp"
#include "kernels/runtime/fault_driver.hpp"
#include "kernels/runtime/libcuda_driver.hpp"
#include "prover/proof/proof_json.hpp"
#include "prover/prove.hpp"
#include "tests/support/statements.hpp"

namespace stwo::gpu {
namespace {

class GpuFault : public testing::Test {
 protected:
  void SetUp() override {
    LibcudaDriver loaded = open_libcuda();
    if (loaded.driver == nullptr) GTEST_SKIP() << "no CUDA device: " << loaded.reason;
    RuntimeOptions options;
    options.cubin_directory = STWO_TEST_CUBIN_DIR;
    if (const char* dir = std::getenv("STWO_CUBIN_DIR")) options.cubin_directory = dir;
    faults = std::make_shared<FaultPlan>();
    try {
      backend = std::make_unique<CudaBackend>(
          std::make_unique<CudaRuntime>(
              std::make_unique<FaultDriver>(std::move(loaded.driver), faults),
              built_in_cubin_manifest(), options),
          "test");
    } catch (const EnvironmentError& e) {
      GTEST_SKIP() << "no CUDA device: " << e.what();
    }
    shape = make_shape(test::fibonacci(4, 3), parse_config("pow=3"));
  }

  std::shared_ptr<FaultPlan> faults;
  std::unique_ptr<CudaBackend> backend;
  std::shared_ptr<const ProofShape> shape;
};

TEST_F(GpuFault, EveryLaunchFailsOnceAndTheNextProofIsRight) {
  const auto prepared = backend->prepare(shape);
  const std::string right = write_proof_json(prove(*prepared));
  const uint64_t n_launches = backend->last_request().counters.kernel_launches;
  const MemoryStatus before = backend->runtime().memory();
  std::set<std::string> stages;
  for (uint64_t i = 1; i <= n_launches; ++i) {
    faults->arm({FaultPoint::kLaunch, i, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, ""});
    try {
      prove(*prepared);
      ADD_FAILURE() << "launch " << i << " did not fail";
    } catch (const CudaError& e) {
      stages.insert(e.stage());
      EXPECT_FALSE(e.kernel().empty()) << i;
    }
    faults->disarm();
    ASSERT_EQ(write_proof_json(prove(*prepared)), right) << i;
  }
  // Every stage but proof assembly, which launches nothing.
  EXPECT_EQ(stages.size(), kStageCount - 1);
  const MemoryStatus after = backend->runtime().memory();
  EXPECT_EQ(after.live_blocks, before.live_blocks);
  EXPECT_EQ(after.live_bytes, before.live_bytes);
}

TEST_F(GpuFault, TheTerminalFenceFailsOnceAndTheNextProofIsRight) {
  const auto prepared = backend->prepare(shape);
  const std::string right = write_proof_json(prove(*prepared));
  faults->arm({FaultPoint::kStreamSynchronize, 1, CUDA_ERROR_NOT_READY, ""});
  try {
    prove(*prepared);
    ADD_FAILURE() << "the fence did not fail";
  } catch (const CudaError& e) {
    EXPECT_EQ(e.stage(), "proof_assembly");
  }
  faults->disarm();
  EXPECT_EQ(write_proof_json(prove(*prepared)), right);
}

TEST_F(GpuFault, EveryAcquisitionFailsOnceAndNothingStays) {
  const MemoryStatus before = backend->runtime().memory();
  uint64_t n = 0;
  for (;; ++n) {
    ASSERT_LT(n, 200u);
    faults->arm({FaultPoint::kAcquisition, n + 1, CUDA_ERROR_OUT_OF_MEMORY, ""});
    try {
      const auto prepared = backend->prepare(shape);
      if (!faults->hit()) {
        faults->disarm();
        EXPECT_FALSE(write_proof_json(prove(*prepared)).empty());
        break;
      }
      ADD_FAILURE() << "acquisition " << n + 1 << " did not fail";
    } catch (const Error& e) {
      EXPECT_TRUE(faults->hit()) << e.what();
    }
    faults->disarm();
    const MemoryStatus after = backend->runtime().memory();
    // The tables stay: they belong to the runtime.
    EXPECT_LE(after.live_blocks, before.live_blocks + 1) << n;
    EXPECT_EQ(after.pinned_blocks, before.pinned_blocks) << n;
  }
  EXPECT_GT(n, 5u);
}

}  // namespace
}  // namespace stwo::gpu

// Whole proofs on a real device against the CPU backend, byte for byte. Without a device every test
// is skipped and says why.
#include <gtest/gtest.h>

#include <cstdlib>

#include "kernels/cuda_backend.hpp"
#include "kernels/runtime/libcuda_driver.hpp"
#include "prover/cpu/cpu_backend.hpp"
#include "prover/errors.hpp"
#include "prover/hash/sha256.hpp"
#include "prover/proof/proof_json.hpp"
#include "prover/prove.hpp"
#include "tests/support/statements.hpp"

namespace stwo::gpu {
namespace {

/// One backend for all tests: modules and tables are loaded once per process.
CudaBackend* device_backend(std::string* why) {
  static std::string reason;
  static const std::unique_ptr<CudaBackend> backend = []() -> std::unique_ptr<CudaBackend> {
    LibcudaDriver loaded = open_libcuda();
    if (loaded.driver == nullptr) {
      reason = loaded.reason;
      return nullptr;
    }
    try {
      RuntimeOptions options;
      options.cubin_directory = STWO_TEST_CUBIN_DIR;
      if (const char* dir = std::getenv("STWO_CUBIN_DIR")) options.cubin_directory = dir;
      options.plan_cache_entries = 2;
      return std::make_unique<CudaBackend>(
          std::make_unique<CudaRuntime>(std::move(loaded.driver), built_in_cubin_manifest(),
                                        options),
          "test");
    } catch (const EnvironmentError& e) {
      reason = e.what();
      return nullptr;
    }
  }();
  *why = reason;
  return backend.get();
}

#define STWO_REQUIRE_DEVICE(backend)                           \
  std::string why_no_device;                                   \
  CudaBackend* const backend = device_backend(&why_no_device); \
  if (backend == nullptr) GTEST_SKIP() << "no CUDA device: " << why_no_device

Backend& cpu_backend() {
  static const auto backend = make_cpu_backend();
  return *backend;
}

/// Text of the CPU's proof.
std::string cpu_proof(const std::shared_ptr<const ProofShape>& shape) {
  return write_proof_json(prove(*cpu_backend().prepare(shape)));
}

/// Largest number of trace cells that the tests prove; another limit comes from the environment: a
/// larger one for the whole grid, a smaller one for a sanitizer.
uint64_t max_cells() {
  const char* text = std::getenv("STWO_GPU_TEST_MAX_LOG_CELLS");
  return uint64_t{1} << (text != nullptr ? std::strtoul(text, nullptr, 10) : 24);
}

class GpuProof : public testing::TestWithParam<const char*> {};

TEST_P(GpuProof, EqualsTheCpuProofOnTheGrid) {
  STWO_REQUIRE_DEVICE(backend);
  const PcsConfig config = parse_config(GetParam());
  size_t compared = 0;
  for (uint64_t log = 4; log <= 22; ++log) {
    for (const uint64_t columns : {1, 3, 15, 16, 17, 31, 32, 33, 37, 64, 73, 100, 128, 257}) {
      if (columns << log > max_cells()) continue;
      std::shared_ptr<const ProofShape> shape;
      try {
        shape = make_shape(test::fibonacci(log, columns), config);
      } catch (const UsageError&) {
        continue;  // too small a trace for the folds
      }
      const auto prepared = backend->prepare(shape);
      const std::string proof = write_proof_json(prove(*prepared));
      ASSERT_EQ(sha256_hex(proof), sha256_hex(cpu_proof(shape))) << log << " x " << columns;
      ++compared;
    }
  }
  RecordProperty("compared", static_cast<int>(compared));
  std::printf("%s: %zu shapes equal\n", GetParam(), compared);
  EXPECT_GT(compared, 0u);
}

INSTANTIATE_TEST_SUITE_P(Configs, GpuProof,
                         testing::Values("fast", "secure", "fold=3,queries=20", "fold=4,queries=20",
                                         "blowup=2,queries=20", "blowup=3,queries=20"),
                         [](const auto& test) {
                           std::string name = test.param;
                           for (char& c : name) {
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           }
                           return name;
                         });

TEST(GpuRequests, HundredRepeatsAreIdenticalAndHoldNothing) {
  STWO_REQUIRE_DEVICE(backend);
  const auto shape = make_shape(test::fibonacci(14, 32), fast_config());
  const auto prepared = backend->prepare(shape);
  const std::string first = write_proof_json(prove(*prepared));
  const MemoryStatus before = backend->runtime().memory();
  const size_t modules = backend->runtime().modules().size();
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(write_proof_json(prove(*prepared)), first) << i;
    const RequestTelemetry t = backend->last_request();
    ASSERT_EQ(t.counters.allocations, 0u);
    ASSERT_EQ(t.counters.frees, 0u);
    ASSERT_EQ(t.counters.module_loads, 0u);
    ASSERT_EQ(t.counters.sync_calls, 1u);
    ASSERT_EQ(t.counters.cpu_fallback_attempts, 0u);
    ASSERT_EQ(t.transfers.h2d_operations, 0u);
    ASSERT_EQ(t.transfers.d2h_operations, 1u);
    ASSERT_EQ(t.transfers.terminal_d2h_operations, 1u);
  }
  const MemoryStatus after = backend->runtime().memory();
  EXPECT_EQ(after.live_blocks, before.live_blocks);
  EXPECT_EQ(after.live_bytes, before.live_bytes);
  EXPECT_EQ(after.pool_reserved, before.pool_reserved);
  EXPECT_EQ(backend->runtime().modules().size(), modules);
}

}  // namespace
}  // namespace stwo::gpu

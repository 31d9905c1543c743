// The runtime on a real device. Skipped without one, and in builds without compiled kernels.
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "kernels/runtime/errors.hpp"
#include "kernels/runtime/libcuda_driver.hpp"
#include "kernels/runtime/runtime.hpp"

namespace stwo::gpu {
namespace {

class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    LibcudaDriver opened = open_libcuda();
    if (opened.driver == nullptr) GTEST_SKIP() << opened.reason;
    RuntimeOptions options;
    options.cubin_directory = STWO_TEST_CUBIN_DIR;
    if (const char* dir = std::getenv("STWO_CUBIN_DIR")) options.cubin_directory = dir;
    try {
      runtime = std::make_unique<CudaRuntime>(std::move(opened.driver), built_in_cubin_manifest(),
                                              options);
    } catch (const EnvironmentError& error) {
      GTEST_SKIP() << error.what();
    }
  }
  std::unique_ptr<CudaRuntime> runtime;
};

TEST_F(OnDevice, CopiesAndAccountsForMemory) {
  constexpr uint64_t kBytes = 1 << 20;
  const DeviceBlock a = runtime->allocate(kBytes, "a"), b = runtime->allocate(kBytes, "b");
  const PinnedBlock in = runtime->allocate_pinned(kBytes, "in");
  const PinnedBlock out = runtime->allocate_pinned(kBytes, "out");
  EXPECT_EQ(a.address() % 256, 0u);
  std::iota(in.as<uint32_t>(), in.as<uint32_t>() + kBytes / 4, 7);
  const EventLease begin = runtime->event(), end = runtime->event();
  runtime->record(begin, "ingress");
  runtime->upload(a.address(), in.data(), kBytes, "ingress");
  runtime->copy(b.address(), a.address(), kBytes, "ingress");
  runtime->fill32(b.address(), 5, 1, "ingress");
  runtime->download(out.data(), b.address(), kBytes, "ingress");
  runtime->record(end, "ingress");
  runtime->synchronize("ingress");
  EXPECT_GT(runtime->elapsed_ns(begin, end, "ingress"), 0u);
  EXPECT_EQ(out.as<uint32_t>()[0], 5u);
  for (uint64_t i = 1; i < kBytes / 4; ++i) ASSERT_EQ(out.as<uint32_t>()[i], i + 7);
  const MemoryStatus memory = runtime->memory();
  EXPECT_EQ(memory.live_bytes, 2 * kBytes);
  EXPECT_GE(memory.pool_used, 2 * kBytes);
  EXPECT_GE(memory.pool_reserved, memory.pool_used);
  EXPECT_GE(memory.device_total, memory.device_free);
  EXPECT_GT(memory.device_total, 0u);
}

TEST_F(OnDevice, IsOutOfMemoryWithoutHarm) {
  EXPECT_THROW(runtime->allocate(runtime->device().global_memory_bytes * 2, "too much"),
               OutOfDeviceMemory);
  EXPECT_TRUE(runtime->allocate(1 << 20, "enough"));
  runtime->synchronize("prepare");
}

TEST_F(OnDevice, LoadsEveryKernelOfTheManifest) {
  const CubinManifest& manifest = runtime->manifest();
  if (manifest.entries.empty()) GTEST_SKIP() << "no kernels in this build";
  uint64_t kernels = 0;
  for (const CubinEntry& entry : manifest.entries) {
    if (entry.kind != ModuleKind::kCubin || entry.sm != runtime->device().sm()) continue;
    for (const std::string& name : entry.kernels) {
      const Kernel kernel = runtime->kernel(name);
      EXPECT_NE(kernel.function, nullptr);
      EXPECT_GT(kernel.max_threads, 0u);
      EXPECT_EQ(kernel.module, entry.module);
      ++kernels;
    }
  }
  if (kernels == 0) GTEST_SKIP() << "no cubins for this device";
  EXPECT_EQ(runtime->counters().module_loads, runtime->modules().size());
  EXPECT_EQ(runtime->counters().jit_compiles, 0u);
}

}  // namespace
}  // namespace stwo::gpu

#include "kernels/runtime/runtime.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "kernels/emulator/emulated_runtime.hpp"
#include "kernels/runtime/errors.hpp"
#include "tests/kernels/emulator/test_args.hpp"
#include "tests/support/errors.hpp"

namespace stwo::gpu {
namespace {

constexpr uint32_t kWords = 1000;

/// A request as a backend makes it: buffers, upload, two launches, download, one wait. Returns the
/// words 1, 2, .. as the device counted them up.
std::vector<uint32_t> request(CudaRuntime& runtime) {
  const DeviceBlock block = runtime.allocate(kWords * 4, "words", "ingress");
  const DeviceBlock copy = runtime.allocate(kWords * 4, "copy", "ingress");
  const PinnedBlock pinned = runtime.allocate_pinned(kWords * 4, "staging", "ingress");
  std::iota(pinned.as<uint32_t>(), pinned.as<uint32_t>() + kWords, 0);
  const EventLease begin = runtime.event(), end = runtime.event();
  const Kernel add = runtime.kernel("test_add");
  runtime.record(begin, "ingress");
  runtime.upload(block.address(), pinned.data(), block.bytes(), "ingress");
  runtime.launch(add, {.grid_x = 4, .threads = 256}, TestArgs{block.as<uint32_t>(), kWords},
                 "trace_generation");
  runtime.copy(copy.address(), block.address(), block.bytes(), "trace_generation");
  runtime.download(pinned.data(), copy.address(), block.bytes(), "proof_assembly");
  runtime.record(end, "proof_assembly");
  runtime.synchronize("proof_assembly");
  EXPECT_GT(runtime.elapsed_ns(begin, end, "proof_assembly"), 0u);
  return {pinned.as<uint32_t>(), pinned.as<uint32_t>() + kWords};
}

std::vector<uint32_t> expected() {
  std::vector<uint32_t> words(kWords);
  std::iota(words.begin(), words.end(), 1);
  return words;
}

using test::code_of;

TEST(Runtime, RunsARequestAndLeavesNothing) {
  EmulatedRuntime e = make_emulated_runtime();
  EXPECT_EQ(request(*e.runtime), expected());
  const MemoryStatus memory = e.runtime->memory();
  EXPECT_EQ(memory.live_blocks, 0u);
  EXPECT_EQ(memory.live_bytes, 0u);
  EXPECT_EQ(memory.pinned_blocks, 0u);
  EXPECT_EQ(memory.pool_used_high, 2 * kWords * 4);
  EXPECT_EQ(memory.pool_reserved, 2 * kWords * 4);  // kept for the next request
  EXPECT_EQ(memory.device_total, e.runtime->device().global_memory_bytes);
  e.runtime.reset();
  EXPECT_EQ(e.device->live(), EmulatedDevice::Live{});
  EXPECT_TRUE(e.device->violations().empty());
}

TEST(Runtime, CountsWhatARequestDoes) {
  EmulatedRuntime e = make_emulated_runtime();
  request(*e.runtime);
  const Counters first = e.runtime->counters();
  request(*e.runtime);
  const Counters second = e.runtime->counters() - first;
  Counters want;
  want.kernel_launches = 1;
  want.sync_calls = 1;
  want.allocations = 3;
  want.frees = 3;
  want.h2d_operations = 1;
  want.h2d_bytes = kWords * 4;
  want.d2h_operations = 1;
  want.d2h_bytes = kWords * 4;
  want.d2d_operations = 1;
  want.d2d_bytes = kWords * 4;
  want.event_records = 2;
  EXPECT_EQ(second, want);
  EXPECT_EQ(first.module_loads, 1u);
  EXPECT_EQ(first.jit_compiles, 0u);

  e.runtime->count(&Counters::cpu_fallback_attempts);
  EXPECT_EQ(e.runtime->counters().cpu_fallback_attempts, 1u);
  const DeviceBlock block = e.runtime->allocate(64, "words");
  e.runtime->fill32(block.address(), 7, 16, "prepare");
  EXPECT_EQ(e.runtime->counters().fill_bytes, 64u);
}

TEST(Runtime, KnowsItsDevice) {
  EmulatedDeviceConfig config;
  config.name = "Emulated H100 MIG 1g.10gb";
  config.sm_major = 12;
  EmulatedRuntime e = make_emulated_runtime(config);
  const DeviceIdentity& device = e.runtime->device();
  EXPECT_EQ(device.uuid, "GPU-5e7a1101-0203-0405-0607-08090a0b0c0d");
  EXPECT_EQ(device.sm(), 120);
  EXPECT_EQ(device.multiprocessors, 132u);
  EXPECT_EQ(device.max_shared_per_block_bytes, 227u * 1024);
  EXPECT_TRUE(device.mig);
  EXPECT_EQ(device.driver_version, 13000);
  EXPECT_EQ(device.toolkit_version, CUDA_VERSION);
}

TEST(Runtime, NamesAMissingDevice) {
  EXPECT_EQ(code_of([] { make_emulated_runtime({.device_count = 0}); }), "NO_CUDA_DEVICE");
  EXPECT_EQ(code_of([] { make_emulated_runtime({}, {.device_ordinal = 1}); }), "NO_CUDA_DEVICE");
  EXPECT_EQ(code_of([] { make_emulated_runtime({.memory_pools = false}); }), "DEVICE_UNSUPPORTED");
}

TEST(Runtime, EveryFailingAcquisitionUnwinds) {
  // Acquisitions of a runtime and one request, counted on a run without faults.
  const auto plan = std::make_shared<FaultPlan>();
  uint64_t total = 0, of_runtime = 0;
  {
    EmulatedRuntime e = make_emulated_runtime({}, {}, plan);
    of_runtime = plan->calls(FaultPoint::kAcquisition);
    request(*e.runtime);
    total = plan->calls(FaultPoint::kAcquisition);
  }
  ASSERT_EQ(of_runtime, 2u);         // pool, stream
  ASSERT_EQ(total, of_runtime + 6);  // two blocks, pinned, two events, module
  for (const CUresult result : {CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_UNKNOWN})
    for (uint64_t n = 1; n <= total; ++n) {
      SCOPED_TRACE(n);
      const auto faults = std::make_shared<FaultPlan>();
      faults->arm({FaultPoint::kAcquisition, n, result, {}});
      EmulatedRuntime e;
      if (n <= of_runtime) {
        EXPECT_ANY_THROW(e = make_emulated_runtime({}, {}, faults));
        EXPECT_TRUE(faults->hit());
        continue;
      }
      e = make_emulated_runtime({}, {}, faults);
      EXPECT_ANY_THROW(request(*e.runtime));
      EXPECT_TRUE(faults->hit());
      EXPECT_EQ(e.runtime->memory().live_blocks, 0u);
      EXPECT_EQ(e.runtime->memory().pinned_blocks, 0u);
      EXPECT_EQ(e.device->live().device_blocks, 0u);
      EXPECT_TRUE(e.runtime->broken().empty());
      EXPECT_EQ(request(*e.runtime), expected());  // as if nothing had happened
      e.runtime.reset();
      EXPECT_EQ(e.device->live(), EmulatedDevice::Live{});
      EXPECT_TRUE(e.device->violations().empty());
    }
}

TEST(Runtime, AFailedConstructionLeavesNothing) {
  for (const FaultPoint point : {FaultPoint::kPoolCreation, FaultPoint::kStreamCreation}) {
    auto device = std::make_shared<EmulatedDevice>();
    auto faults = std::make_shared<FaultPlan>();
    faults->arm({point, 1, CUDA_ERROR_UNKNOWN, {}});
    EXPECT_THROW(
        CudaRuntime(std::make_unique<FaultDriver>(make_emulated_driver(device), faults), {}, {}),
        CudaError);
    EXPECT_EQ(device->live(), EmulatedDevice::Live{});
  }
}

TEST(Runtime, OutOfMemoryNamesTheBuffer) {
  EmulatedRuntime e = make_emulated_runtime({.memory_bytes = 1 << 20});
  try {
    e.runtime->allocate(2 << 20, "arena");
    FAIL();
  } catch (const OutOfDeviceMemory& error) {
    EXPECT_EQ(error.code(), "OUT_OF_DEVICE_MEMORY");
    EXPECT_EQ(error.exit_code(), ExitCode::kEnvironment);
    EXPECT_EQ(error.bytes(), uint64_t{2} << 20);
    EXPECT_NE(std::string(error.what()).find("arena"), std::string::npos);
  }
  EXPECT_EQ(request(*e.runtime), expected());
}

TEST(Runtime, IdlePlansMakeRoom) {
  EmulatedRuntime e = make_emulated_runtime({.memory_bytes = 1 << 20});
  const auto plan = [&](uint64_t bytes) {
    return std::make_shared<DeviceBlock>(e.runtime->allocate(bytes, "plan"));
  };
  e.runtime->plans().insert("idle", plan(700 << 10), 700 << 10);
  const auto held = plan(100 << 10);
  e.runtime->plans().insert("held", held, 100 << 10);
  EXPECT_TRUE(e.runtime->allocate(600 << 10, "arena"));
  EXPECT_EQ(e.runtime->plans().status().entries, 1u);
  EXPECT_EQ(e.runtime->plans().find<DeviceBlock>("held"), held);
  EXPECT_EQ(code_of([&] { e.runtime->allocate(1000 << 10, "arena"); }), "OUT_OF_DEVICE_MEMORY");
}

TEST(Runtime, LaunchErrorsNameStageAndKernel) {
  EmulatedRuntime e = make_emulated_runtime();
  e.faults->arm({FaultPoint::kLaunch, 1, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "test_add"});
  try {
    request(*e.runtime);
    FAIL();
  } catch (const CudaError& error) {
    EXPECT_EQ(error.result(), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    EXPECT_EQ(error.result_name(), "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
    EXPECT_EQ(error.call(), "cuLaunchKernel");
    EXPECT_EQ(error.stage(), "trace_generation");
    EXPECT_EQ(error.kernel(), "test_add");
    EXPECT_EQ(error.exit_code(), ExitCode::kBug);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
  EXPECT_EQ(e.runtime->counters().launch_failures, 1u);
  EXPECT_EQ(request(*e.runtime), expected());
}

TEST(Runtime, AFaultHitsTheKernelItNames) {
  EmulatedRuntime e = make_emulated_runtime();
  e.faults->arm({FaultPoint::kLaunch, 1, CUDA_ERROR_UNKNOWN, "test_reverse"});
  EXPECT_EQ(request(*e.runtime), expected());
  EXPECT_FALSE(e.faults->hit());
}

TEST(Runtime, IsBrokenAfterAStickyError) {
  EmulatedRuntime e = make_emulated_runtime();
  e.faults->arm({FaultPoint::kStreamSynchronize, 1, CUDA_ERROR_ILLEGAL_ADDRESS, {}});
  std::string message;
  EXPECT_EQ(code_of([&] { request(*e.runtime); }, &message), "CUDA_ERROR");
  EXPECT_NE(message.find("cuStreamSynchronize failed in proof_assembly"), std::string::npos)
      << message;
  EXPECT_EQ(e.runtime->broken(), "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(code_of([&] { request(*e.runtime); }, &message), "CUDA_RUNTIME_BROKEN");
  EXPECT_NE(message.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos) << message;
  e.runtime.reset();
  EXPECT_EQ(e.device->live().contexts, 0u);
}

TEST(Runtime, HardwareErrorsAreTheMachines) {
  EmulatedRuntime e = make_emulated_runtime();
  e.faults->arm({FaultPoint::kStreamSynchronize, 1, CUDA_ERROR_ECC_UNCORRECTABLE, {}});
  try {
    e.runtime->synchronize("pow");
    FAIL();
  } catch (const CudaError& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::kEnvironment);
    EXPECT_TRUE(error.sticky());
  }
}

TEST(Runtime, RefusesGeometryTheKernelDoesNotAllow) {
  EmulatedRuntime e = make_emulated_runtime();
  const Kernel add = e.runtime->kernel("test_add");
  const TestArgs args{nullptr, 0};
  const auto launch = [&](LaunchGeometry geometry) {
    return code_of([&] { e.runtime->launch(add, geometry, args, "pow"); });
  };
  EXPECT_EQ(launch({.grid_x = 0, .threads = 32}), "CONTRACT");
  EXPECT_EQ(launch({.grid_x = 1, .grid_y = 65536, .threads = 32}), "CONTRACT");
  EXPECT_EQ(launch({.grid_x = 1, .threads = 257}), "CONTRACT");
  EXPECT_EQ(launch({.grid_x = 1, .threads = 32, .shared_bytes = 49 * 1024}), "CONTRACT");
  const Kernel large = e.runtime->kernel("test_add", 49 * 1024);
  EXPECT_NO_THROW(
      e.runtime->launch(large, {.threads = 32, .shared_bytes = 49 * 1024}, args, "pow"));
}

TEST(Runtime, EventsAreReused) {
  EmulatedRuntime e = make_emulated_runtime();
  for (int i = 0; i < 5; ++i) {
    const EventLease a = e.runtime->event(), b = e.runtime->event();
    EXPECT_NE(a.handle(), b.handle());
  }
  EXPECT_EQ(e.device->live().events, 2u);
}

TEST(Runtime, BlocksMayOutliveIt) {
  EmulatedRuntime e = make_emulated_runtime();
  DeviceBlock block = e.runtime->allocate(100, "words");
  PinnedBlock pinned = e.runtime->allocate_pinned(100, "staging");
  EventLease event = e.runtime->event();
  e.runtime.reset();
  EXPECT_EQ(e.device->live(), EmulatedDevice::Live{});
  block = {};
  pinned = {};
  event = {};
  EXPECT_TRUE(e.device->violations().empty());
}

TEST(Runtime, ThePoolGivesMemoryBackWhenTold) {
  EmulatedRuntime e = make_emulated_runtime();
  request(*e.runtime);
  e.runtime->synchronize("teardown");  // the request's blocks are freed in stream order
  e.runtime->trim_pool();
  EXPECT_EQ(e.runtime->memory().pool_reserved, 0u);
  e.runtime->reset_high_water();
  EXPECT_EQ(e.runtime->memory().pool_used_high, 0u);
}

}  // namespace
}  // namespace stwo::gpu

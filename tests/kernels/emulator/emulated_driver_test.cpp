#include "kernels/emulator/emulated_driver.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/kernels/emulator/test_args.hpp"

namespace stwo::gpu {
namespace {

/// A driver with context, pool and stream.
class EmulatedDriver : public ::testing::Test {
 protected:
  void SetUp() override {
    driver = make_emulated_driver(device);
    ASSERT_EQ(driver->init(), CUDA_SUCCESS);
    ASSERT_EQ(driver->primary_context_retain(&context, 0), CUDA_SUCCESS);
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    ASSERT_EQ(driver->memory_pool_create(&pool, &properties), CUDA_SUCCESS);
    ASSERT_EQ(driver->stream_create(&stream, 0), CUDA_SUCCESS);
  }
  CUdeviceptr allocate(size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_EQ(driver->memory_allocate_from_pool_async(&address, bytes, pool, stream), CUDA_SUCCESS);
    return address;
  }
  std::shared_ptr<EmulatedDevice> device =
      std::make_shared<EmulatedDevice>(EmulatedDeviceConfig{.memory_bytes = 1 << 20});
  std::unique_ptr<DriverApi> driver;
  CUcontext context = nullptr;
  CUmemoryPool pool = nullptr;
  CUstream stream = nullptr;
};

TEST_F(EmulatedDriver, PoisonsFreshMemory) {
  const CUdeviceptr block = allocate(64);
  EXPECT_EQ(block % 256, 0u);
  uint32_t words[16] = {};
  ASSERT_EQ(driver->copy_device_to_host_async(words, block, 64, stream), CUDA_SUCCESS);
  ASSERT_EQ(driver->stream_synchronize(stream), CUDA_SUCCESS);
  for (const uint32_t word : words) EXPECT_EQ(word, 0xd9d9d9d9u);
}

TEST_F(EmulatedDriver, WorkHappensWhenTheHostWaits) {
  const CUdeviceptr block = allocate(4);
  uint32_t source = 1, result = 0;
  ASSERT_EQ(driver->copy_host_to_device_async(block, &source, 4, stream), CUDA_SUCCESS);
  ASSERT_EQ(driver->copy_device_to_host_async(&result, block, 4, stream), CUDA_SUCCESS);
  source = 2;  // too early: the copy has not happened
  EXPECT_EQ(result, 0u);
  ASSERT_EQ(driver->stream_synchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(result, 2u);
}

TEST_F(EmulatedDriver, NoticesWrongFrees) {
  const CUdeviceptr block = allocate(512);
  EXPECT_EQ(driver->memory_free_async(block + 256, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver->memory_free_async(block, stream), CUDA_SUCCESS);
  EXPECT_EQ(driver->memory_free_async(block, stream), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(driver->stream_synchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(driver->memory_free_async(block, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(device->violations().size(), 3u);
  EXPECT_EQ(device->live().device_blocks, 0u);
}

TEST_F(EmulatedDriver, ChecksTheBoundsOfCopies) {
  const CUdeviceptr block = allocate(512);
  char host[1024] = {};
  EXPECT_EQ(driver->copy_host_to_device_async(block + 256, host, 256, stream), CUDA_SUCCESS);
  EXPECT_EQ(driver->copy_host_to_device_async(block + 256, host, 257, stream),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver->copy_device_to_host_async(host, block + 512, 1, stream),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver->fill_d32_async(block, 1, 129, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver->memory_free_async(block, stream), CUDA_SUCCESS);
  EXPECT_EQ(driver->copy_device_to_host_async(host, block, 1, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(device->violations().size(), 4u);
}

TEST_F(EmulatedDriver, IsAsSmallAsConfigured) {
  CUdeviceptr address = 0;
  EXPECT_EQ(driver->memory_allocate_from_pool_async(&address, (1 << 20) + 1, pool, stream),
            CUDA_ERROR_OUT_OF_MEMORY);
  device->set_foreign_bytes(1 << 19);
  EXPECT_EQ(driver->memory_allocate_from_pool_async(&address, (1 << 19) + 1, pool, stream),
            CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_NE(allocate(1 << 19), 0u);
  size_t free_bytes = 1, total = 0;
  ASSERT_EQ(driver->memory_info(&free_bytes, &total), CUDA_SUCCESS);
  EXPECT_EQ(free_bytes, 0u);
  EXPECT_EQ(total, size_t{1} << 20);
}

TEST_F(EmulatedDriver, RefusesArgumentsOfAnotherSize) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  const uint8_t image[] = {1};
  ASSERT_EQ(driver->module_load_data(&module, image), CUDA_SUCCESS);
  EXPECT_EQ(driver->module_get_function(&function, module, "test_nothing"), CUDA_ERROR_NOT_FOUND);
  ASSERT_EQ(driver->module_get_function(&function, module, "test_add"), CUDA_SUCCESS);
  const TestArgs args{};
  EXPECT_EQ(driver->launch_kernel(function, 1, 1, 1, 0, stream, &args, sizeof(args) - 1),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(device->violations().size(), 1u);
  EXPECT_EQ(driver->launch_kernel(function, 1, 1, 257, 0, stream, &args, sizeof(args)),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver->launch_kernel(function, 1, 1, 1, 48 * 1024 + 1, stream, &args, sizeof(args)),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(EmulatedDriver, EventsTellAClockThatGoesForward) {
  CUevent begin = nullptr, end = nullptr;
  ASSERT_EQ(driver->event_create(&begin, 0), CUDA_SUCCESS);
  ASSERT_EQ(driver->event_create(&end, 0), CUDA_SUCCESS);
  float ms = 0;
  ASSERT_EQ(driver->event_record(begin, stream), CUDA_SUCCESS);
  ASSERT_EQ(driver->event_record(end, stream), CUDA_SUCCESS);
  EXPECT_EQ(driver->event_elapsed_ms(&ms, begin, end), CUDA_ERROR_NOT_READY);
  ASSERT_EQ(driver->event_synchronize(end), CUDA_SUCCESS);
  ASSERT_EQ(driver->event_elapsed_ms(&ms, begin, end), CUDA_SUCCESS);
  EXPECT_GT(ms, 0.0f);
}

}  // namespace
}  // namespace stwo::gpu

// The CUDA driver calls that the backend makes, one virtual method each. Everything goes through
// this interface: the real driver is loaded at run time (libcuda_driver.hpp), decorated with
// counters (counting_driver.hpp) and in tests with faults (fault_driver.hpp), or replaced by the
// emulator (kernels/emulator/emulated_driver.hpp).
//
// Methods mean what the CUDA driver API says of the call they name; they return its result and
// never throw. Sizes are bytes unless said otherwise. Only types of cuda.h appear: nothing here
// links against CUDA.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace stwo::gpu {

class DriverApi {
 public:
  virtual ~DriverApi() = default;

  virtual CUresult init() = 0;                        ///< cuInit(0)
  virtual CUresult driver_version(int* version) = 0;  ///< 13000 is CUDA 13.0

  // Devices.
  virtual CUresult device_count(int* count) = 0;
  virtual CUresult device_get(CUdevice* device, int ordinal) = 0;
  /// Writes a zero-terminated name of at most `length` bytes.
  virtual CUresult device_name(char* name, int length, CUdevice device) = 0;
  virtual CUresult device_uuid(CUuuid* uuid, CUdevice device) = 0;
  virtual CUresult device_attribute(int* value, CUdevice_attribute attribute, CUdevice device) = 0;
  virtual CUresult device_total_memory(size_t* bytes, CUdevice device) = 0;

  // Contexts.
  virtual CUresult primary_context_retain(CUcontext* context, CUdevice device) = 0;
  virtual CUresult primary_context_release(CUdevice device) = 0;
  virtual CUresult context_set_current(CUcontext context) = 0;
  virtual CUresult context_synchronize() = 0;
  virtual CUresult memory_info(size_t* free_bytes, size_t* total_bytes) = 0;

  // Modules and functions.
  /// `image` is a cubin, or PTX text that ends in a zero byte. The driver finds the image's length
  /// itself; decorators and the emulator use the span's.
  virtual CUresult module_load_data(CUmodule* module, std::span<const uint8_t> image) = 0;
  virtual CUresult module_unload(CUmodule module) = 0;
  virtual CUresult module_get_function(CUfunction* function, CUmodule module, const char* name) = 0;
  virtual CUresult function_get_attribute(int* value, CUfunction_attribute attribute,
                                          CUfunction function) = 0;
  virtual CUresult function_set_attribute(CUfunction function, CUfunction_attribute attribute,
                                          int value) = 0;

  // Device memory: stream-ordered pools only.
  virtual CUresult memory_pool_create(CUmemoryPool* pool, const CUmemPoolProps* properties) = 0;
  virtual CUresult memory_pool_destroy(CUmemoryPool pool) = 0;
  virtual CUresult memory_pool_set_attribute(CUmemoryPool pool, CUmemPool_attribute attribute,
                                             void* value) = 0;
  virtual CUresult memory_pool_get_attribute(CUmemoryPool pool, CUmemPool_attribute attribute,
                                             void* value) = 0;
  virtual CUresult memory_pool_trim_to(CUmemoryPool pool, size_t bytes_to_keep) = 0;
  virtual CUresult memory_allocate_from_pool_async(CUdeviceptr* address, size_t bytes,
                                                   CUmemoryPool pool, CUstream stream) = 0;
  virtual CUresult memory_free_async(CUdeviceptr address, CUstream stream) = 0;

  // Pinned host memory.
  virtual CUresult host_allocate(void** address, size_t bytes, unsigned flags) = 0;
  virtual CUresult host_free(void* address) = 0;

  // Copies and fills, in stream order.
  virtual CUresult copy_host_to_device_async(CUdeviceptr destination, const void* source,
                                             size_t bytes, CUstream stream) = 0;
  virtual CUresult copy_device_to_host_async(void* destination, CUdeviceptr source, size_t bytes,
                                             CUstream stream) = 0;
  virtual CUresult copy_device_to_device_async(CUdeviceptr destination, CUdeviceptr source,
                                               size_t bytes, CUstream stream) = 0;
  /// Fills `words` 32-bit words.
  virtual CUresult fill_d32_async(CUdeviceptr destination, uint32_t value, size_t words,
                                  CUstream stream) = 0;

  // Streams and events.
  virtual CUresult stream_create(CUstream* stream, unsigned flags) = 0;
  virtual CUresult stream_destroy(CUstream stream) = 0;
  virtual CUresult stream_synchronize(CUstream stream) = 0;
  virtual CUresult stream_wait_event(CUstream stream, CUevent event) = 0;
  virtual CUresult event_create(CUevent* event, unsigned flags) = 0;
  virtual CUresult event_destroy(CUevent event) = 0;
  virtual CUresult event_record(CUevent event, CUstream stream) = 0;
  virtual CUresult event_synchronize(CUevent event) = 0;
  virtual CUresult event_elapsed_ms(float* milliseconds, CUevent begin, CUevent end) = 0;

  /// Launches grid_x * grid_y blocks of `threads` threads. The kernel's single parameter is the
  /// struct of args_size bytes at `args`, copied before the call returns.
  virtual CUresult launch_kernel(CUfunction function, uint32_t grid_x, uint32_t grid_y,
                                 uint32_t threads, uint32_t shared_bytes, CUstream stream,
                                 const void* args, size_t args_size) = 0;

  /// "CUDA_ERROR_OUT_OF_MEMORY"; never null.
  virtual const char* error_name(CUresult result) = 0;
  /// "out of memory"; never null.
  virtual const char* error_text(CUresult result) = 0;
};

}  // namespace stwo::gpu

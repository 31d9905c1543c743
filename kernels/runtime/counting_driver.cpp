#include "kernels/runtime/counting_driver.hpp"

#include <algorithm>

namespace stwo::gpu {
namespace {

constexpr uint64_t Counters::*kAll[] = {
    &Counters::kernel_launches,
    &Counters::launch_failures,
    &Counters::graph_launches,
    &Counters::graph_instantiations,
    &Counters::graph_updates,
    &Counters::graph_cache_hits,
    &Counters::graph_cache_misses,
    &Counters::graph_fallbacks,
    &Counters::sync_calls,
    &Counters::device_synchronizes,
    &Counters::module_loads,
    &Counters::jit_compiles,
    &Counters::allocations,
    &Counters::frees,
    &Counters::h2d_operations,
    &Counters::h2d_bytes,
    &Counters::d2h_operations,
    &Counters::d2h_bytes,
    &Counters::d2d_operations,
    &Counters::d2d_bytes,
    &Counters::fill_operations,
    &Counters::fill_bytes,
    &Counters::event_records,
    &Counters::stream_waits,
    &Counters::cpu_fallback_attempts,
    &Counters::cpu_fallbacks_completed,
};
// A new counter must be subtracted too.
static_assert(sizeof(Counters) == std::size(kAll) * sizeof(uint64_t));

/// A cubin is an ELF file; the driver compiles anything else (PTX text) for the device.
bool is_cubin(std::span<const uint8_t> image) {
  constexpr uint8_t kElf[] = {0x7f, 'E', 'L', 'F'};
  return image.size() >= std::size(kElf) &&
         std::equal(std::begin(kElf), std::end(kElf), image.begin());
}

}  // namespace

Counters Counters::operator-(const Counters& earlier) const {
  Counters out;
  for (const auto counter : kAll) out.*counter = this->*counter - earlier.*counter;
  return out;
}

Counters CountingDriver::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

void CountingDriver::add(uint64_t Counters::*counter, uint64_t n) {
  const std::lock_guard lock(mutex_);
  counters_.*counter += n;
}

CUresult CountingDriver::count(CUresult result, uint64_t Counters::*counter, uint64_t n) {
  if (result == CUDA_SUCCESS) add(counter, n);
  return result;
}

CUresult CountingDriver::count(CUresult result, uint64_t Counters::*operations,
                               uint64_t Counters::*byte_counter, uint64_t bytes) {
  count(result, operations);
  return count(result, byte_counter, bytes);
}

CUresult CountingDriver::context_synchronize() {
  return count(inner().context_synchronize(), &Counters::sync_calls, &Counters::device_synchronizes,
               1);
}

CUresult CountingDriver::module_load_data(CUmodule* module, std::span<const uint8_t> image) {
  return count(inner().module_load_data(module, image), &Counters::module_loads,
               &Counters::jit_compiles, is_cubin(image) ? 0 : 1);
}

CUresult CountingDriver::memory_allocate_from_pool_async(CUdeviceptr* address, size_t bytes,
                                                         CUmemoryPool pool, CUstream stream) {
  return count(inner().memory_allocate_from_pool_async(address, bytes, pool, stream),
               &Counters::allocations);
}

CUresult CountingDriver::memory_free_async(CUdeviceptr address, CUstream stream) {
  return count(inner().memory_free_async(address, stream), &Counters::frees);
}

CUresult CountingDriver::host_allocate(void** address, size_t bytes, unsigned flags) {
  return count(inner().host_allocate(address, bytes, flags), &Counters::allocations);
}

CUresult CountingDriver::host_free(void* address) {
  return count(inner().host_free(address), &Counters::frees);
}

CUresult CountingDriver::copy_host_to_device_async(CUdeviceptr destination, const void* source,
                                                   size_t bytes, CUstream stream) {
  return count(inner().copy_host_to_device_async(destination, source, bytes, stream),
               &Counters::h2d_operations, &Counters::h2d_bytes, bytes);
}

CUresult CountingDriver::copy_device_to_host_async(void* destination, CUdeviceptr source,
                                                   size_t bytes, CUstream stream) {
  return count(inner().copy_device_to_host_async(destination, source, bytes, stream),
               &Counters::d2h_operations, &Counters::d2h_bytes, bytes);
}

CUresult CountingDriver::copy_device_to_device_async(CUdeviceptr destination, CUdeviceptr source,
                                                     size_t bytes, CUstream stream) {
  return count(inner().copy_device_to_device_async(destination, source, bytes, stream),
               &Counters::d2d_operations, &Counters::d2d_bytes, bytes);
}

CUresult CountingDriver::fill_d32_async(CUdeviceptr destination, uint32_t value, size_t words,
                                        CUstream stream) {
  return count(inner().fill_d32_async(destination, value, words, stream),
               &Counters::fill_operations, &Counters::fill_bytes, uint64_t{words} * 4);
}

CUresult CountingDriver::stream_synchronize(CUstream stream) {
  return count(inner().stream_synchronize(stream), &Counters::sync_calls);
}

CUresult CountingDriver::stream_wait_event(CUstream stream, CUevent event) {
  return count(inner().stream_wait_event(stream, event), &Counters::stream_waits);
}

CUresult CountingDriver::event_record(CUevent event, CUstream stream) {
  return count(inner().event_record(event, stream), &Counters::event_records);
}

CUresult CountingDriver::event_synchronize(CUevent event) {
  return count(inner().event_synchronize(event), &Counters::sync_calls);
}

CUresult CountingDriver::launch_kernel(CUfunction function, uint32_t grid_x, uint32_t grid_y,
                                       uint32_t threads, uint32_t shared_bytes, CUstream stream,
                                       const void* args, size_t args_size) {
  const CUresult result = inner().launch_kernel(function, grid_x, grid_y, threads, shared_bytes,
                                                stream, args, args_size);
  add(result == CUDA_SUCCESS ? &Counters::kernel_launches : &Counters::launch_failures);
  return result;
}

}  // namespace stwo::gpu

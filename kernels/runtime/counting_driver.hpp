// Counts every driver call that a report or a test asks about. The runtime sends all its calls
// through one of these.
#pragma once

#include <cstdint>
#include <mutex>

#include "kernels/runtime/forwarding_driver.hpp"
#include "prover/report/device_report.hpp"

namespace stwo::gpu {

/// Totals since the runtime began; the difference of two is what happened between them. Failed
/// calls are not counted, but for launch_failures.
struct Counters : RequestCounters {
  uint64_t launch_failures = 0;
  uint64_t h2d_operations = 0;
  uint64_t h2d_bytes = 0;
  uint64_t d2h_operations = 0;
  uint64_t d2h_bytes = 0;
  uint64_t d2d_operations = 0;
  uint64_t d2d_bytes = 0;
  uint64_t fill_operations = 0;
  uint64_t fill_bytes = 0;
  uint64_t event_records = 0;
  uint64_t stream_waits = 0;

  Counters operator-(const Counters& earlier) const;
  bool operator==(const Counters&) const = default;
};

/// Several threads may call it.
class CountingDriver final : public ForwardingDriver {
 public:
  using ForwardingDriver::ForwardingDriver;

  Counters counters() const;
  /// Adds to one counter that no driver call stands for: graph cache and fallback counters.
  void add(uint64_t Counters::*counter, uint64_t n = 1);

  CUresult context_synchronize() override;
  CUresult module_load_data(CUmodule* module, std::span<const uint8_t> image) override;
  CUresult memory_allocate_from_pool_async(CUdeviceptr* address, size_t bytes, CUmemoryPool pool,
                                           CUstream stream) override;
  CUresult memory_free_async(CUdeviceptr address, CUstream stream) override;
  CUresult host_allocate(void** address, size_t bytes, unsigned flags) override;
  CUresult host_free(void* address) override;
  CUresult copy_host_to_device_async(CUdeviceptr destination, const void* source, size_t bytes,
                                     CUstream stream) override;
  CUresult copy_device_to_host_async(void* destination, CUdeviceptr source, size_t bytes,
                                     CUstream stream) override;
  CUresult copy_device_to_device_async(CUdeviceptr destination, CUdeviceptr source, size_t bytes,
                                       CUstream stream) override;
  CUresult fill_d32_async(CUdeviceptr destination, uint32_t value, size_t words,
                          CUstream stream) override;
  CUresult stream_synchronize(CUstream stream) override;
  CUresult stream_wait_event(CUstream stream, CUevent event) override;
  CUresult event_record(CUevent event, CUstream stream) override;
  CUresult event_synchronize(CUevent event) override;
  CUresult launch_kernel(CUfunction function, uint32_t grid_x, uint32_t grid_y, uint32_t threads,
                         uint32_t shared_bytes, CUstream stream, const void* args,
                         size_t args_size) override;

 private:
  /// Adds n to the counter if the call succeeded; hands the result through.
  CUresult count(CUresult result, uint64_t Counters::*counter, uint64_t n = 1);
  /// Same for an operation with its bytes.
  CUresult count(CUresult result, uint64_t Counters::*operations, uint64_t Counters::*byte_counter,
                 uint64_t bytes);

  mutable std::mutex mutex_;
  Counters counters_;
};

}  // namespace stwo::gpu

// Makes chosen driver calls fail, for tests of what the backend does then. It stands between the
// counters and the driver (real or emulated).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "kernels/runtime/forwarding_driver.hpp"

namespace stwo::gpu {

/// What a fault can hit.
enum class FaultPoint : uint8_t {
  kAcquisition,         ///< any call of the next six kinds, numbered together
  kDeviceAllocation,    ///< from a pool
  kHostAllocation,      ///< pinned memory
  kPoolCreation,        ///< memory pools
  kModuleLoad,          ///< modules
  kStreamCreation,      ///< streams
  kEventCreation,       ///< events
  kLaunch,              ///< kernel launches
  kStreamSynchronize,   ///< the host waits for a stream
  kEventSynchronize,    ///< the host waits for an event
  kCopyHostToDevice,    ///< copies
  kCopyDeviceToHost,    ///< copies
  kCopyDeviceToDevice,  ///< copies
  kFill,                ///< fills
  kEventRecord,         ///< event records
};
inline constexpr size_t kFaultPointCount = 15;

/// The n-th call of a kind returns `result` instead of being made.
struct Fault {
  FaultPoint point = FaultPoint::kLaunch;
  uint64_t ordinal = 1;  ///< 1 is the next matching call
  CUresult result = CUDA_ERROR_UNKNOWN;
  std::string kernel;  ///< kLaunch: count launches of this kernel only; empty: all
};

/// Shared between a test and the driver that it gave away. Several threads may use it.
class FaultPlan {
 public:
  /// Replaces the armed fault and counts its calls from here.
  void arm(Fault fault);
  /// Nothing fails any more, sticky errors included.
  void disarm();
  /// True once the armed fault has hit.
  bool hit() const;
  /// Calls of a kind since the start, failed ones included.
  uint64_t calls(FaultPoint point) const;

 private:
  friend class FaultDriver;
  /// What the call must return instead of being made, if anything.
  std::optional<CUresult> check(FaultPoint point, const std::string* kernel);

  mutable std::mutex mutex_;
  std::optional<Fault> fault_;
  bool hit_ = false;
  std::optional<CUresult> sticky_;
  uint64_t calls_[kFaultPointCount] = {};
};

/// A fault whose result is sticky (is_sticky() of errors.hpp) is returned again by every later call
/// named in FaultPoint, and by frees, as by a device whose context is lost.
class FaultDriver final : public ForwardingDriver {
 public:
  FaultDriver(std::unique_ptr<DriverApi> inner, std::shared_ptr<FaultPlan> plan)
      : ForwardingDriver(std::move(inner)), plan_(std::move(plan)) {}

  CUresult module_load_data(CUmodule* module, std::span<const uint8_t> image) override;
  CUresult module_get_function(CUfunction* function, CUmodule module, const char* name) override;
  CUresult memory_pool_create(CUmemoryPool* pool, const CUmemPoolProps* properties) override;
  CUresult memory_allocate_from_pool_async(CUdeviceptr* address, size_t bytes, CUmemoryPool pool,
                                           CUstream stream) override;
  CUresult memory_free_async(CUdeviceptr address, CUstream stream) override;
  CUresult host_allocate(void** address, size_t bytes, unsigned flags) override;
  CUresult copy_host_to_device_async(CUdeviceptr destination, const void* source, size_t bytes,
                                     CUstream stream) override;
  CUresult copy_device_to_host_async(void* destination, CUdeviceptr source, size_t bytes,
                                     CUstream stream) override;
  CUresult copy_device_to_device_async(CUdeviceptr destination, CUdeviceptr source, size_t bytes,
                                       CUstream stream) override;
  CUresult fill_d32_async(CUdeviceptr destination, uint32_t value, size_t words,
                          CUstream stream) override;
  CUresult stream_create(CUstream* stream, unsigned flags) override;
  CUresult stream_synchronize(CUstream stream) override;
  CUresult event_create(CUevent* event, unsigned flags) override;
  CUresult event_record(CUevent event, CUstream stream) override;
  CUresult event_synchronize(CUevent event) override;
  CUresult launch_kernel(CUfunction function, uint32_t grid_x, uint32_t grid_y, uint32_t threads,
                         uint32_t shared_bytes, CUstream stream, const void* args,
                         size_t args_size) override;

 private:
  std::shared_ptr<FaultPlan> plan_;
  std::mutex mutex_;
  std::map<CUfunction, std::string> kernels_;  // names by handle
};

}  // namespace stwo::gpu

// The only owner of device-global state: context, loaded modules, memory pool, stream, events,
// pinned buffers and the cache of prepared plans. It knows no AIR and no proof; sessions borrow
// from it and give everything back, also when they fail.
//
// One stream carries all work in order. One thread at a time uses a runtime; a thread other than
// the one that made it calls bind_thread() first.
//
// After an error that leaves the context unusable (errors.hpp, is_sticky) the runtime is broken:
// every later call throws EnvironmentError CUDA_RUNTIME_BROKEN at once. After any other error it
// can be used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

#include "kernels/runtime/counting_driver.hpp"
#include "kernels/runtime/device.hpp"
#include "kernels/runtime/driver_api.hpp"
#include "kernels/runtime/modules.hpp"
#include "kernels/runtime/plan_cache.hpp"

namespace stwo::gpu {

class CudaRuntime;

namespace detail {
/// What blocks and events need to go back; outlives the runtime when a holder does, closed by then.
struct Core;
}  // namespace detail

/// Device memory from the runtime's pool, uninitialised. Freed in stream order: work issued before
/// the destructor still sees it.
class DeviceBlock {
 public:
  DeviceBlock() = default;
  DeviceBlock(DeviceBlock&& other) noexcept { swap(other); }
  DeviceBlock& operator=(DeviceBlock&& other) noexcept {
    DeviceBlock(std::move(other)).swap(*this);
    return *this;
  }
  ~DeviceBlock();

  CUdeviceptr address() const { return address_; }  ///< multiple of 256; 0 when empty
  uint64_t bytes() const { return bytes_; }
  /// The block as the kernels' argument structs want it. Not to be read on the host.
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(address_);
  }
  explicit operator bool() const { return address_ != 0; }
  void swap(DeviceBlock& other) noexcept;

 private:
  friend class CudaRuntime;
  std::shared_ptr<detail::Core> core_;
  CUdeviceptr address_ = 0;
  uint64_t bytes_ = 0;
};

/// Page-locked host memory, uninitialised. The destructor waits for copies that use it.
class PinnedBlock {
 public:
  PinnedBlock() = default;
  PinnedBlock(PinnedBlock&& other) noexcept { swap(other); }
  PinnedBlock& operator=(PinnedBlock&& other) noexcept {
    PinnedBlock(std::move(other)).swap(*this);
    return *this;
  }
  ~PinnedBlock();

  void* data() const { return data_; }  ///< aligned to 256 bytes; null when empty
  uint64_t bytes() const { return bytes_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  explicit operator bool() const { return data_ != nullptr; }
  void swap(PinnedBlock& other) noexcept;

 private:
  friend class CudaRuntime;
  std::shared_ptr<detail::Core> core_;
  void* data_ = nullptr;
  uint64_t bytes_ = 0;
};

/// A timing event on loan from the runtime's pool; goes back to it.
class EventLease {
 public:
  EventLease() = default;
  EventLease(EventLease&& other) noexcept { swap(other); }
  EventLease& operator=(EventLease&& other) noexcept {
    EventLease(std::move(other)).swap(*this);
    return *this;
  }
  ~EventLease();
  CUevent handle() const { return event_; }
  explicit operator bool() const { return event_ != nullptr; }
  void swap(EventLease& other) noexcept;

 private:
  friend class CudaRuntime;
  std::shared_ptr<detail::Core> core_;
  CUevent event_ = nullptr;
};

struct LaunchGeometry {
  uint32_t grid_x = 1;        ///< blocks, at least 1
  uint32_t grid_y = 1;        ///< at most 65535
  uint32_t threads = 0;       ///< per block
  uint32_t shared_bytes = 0;  ///< dynamic, per block
};

struct MemoryStatus {
  uint64_t pool_reserved = 0;       ///< bytes the pool holds from the device
  uint64_t pool_used = 0;           ///< of them in blocks
  uint64_t pool_reserved_high = 0;  ///< high-water marks since reset_high_water()
  uint64_t pool_used_high = 0;
  uint64_t live_blocks = 0;  ///< DeviceBlocks
  uint64_t live_bytes = 0;
  uint64_t pinned_blocks = 0;
  uint64_t pinned_bytes = 0;
  uint64_t device_free = 0;  ///< bytes no program has taken, without the idle part of the pool
  uint64_t device_total = 0;
};

struct RuntimeOptions {
  int device_ordinal = 0;
  bool allow_ptx = false;
  std::filesystem::path cubin_directory = default_cubin_directory();
  /// The pool keeps this much when the host waits; the default gives nothing back.
  uint64_t pool_release_threshold = UINT64_MAX;
  uint64_t plan_cache_entries = 8;
  uint64_t plan_cache_bytes = UINT64_MAX;
};

class CudaRuntime {
 public:
  /// Initialises the driver, takes the device's primary context for the calling thread, makes pool
  /// and stream. Loads no module. Throws what identify_device() throws, CudaError,
  /// OutOfDeviceMemory.
  CudaRuntime(std::unique_ptr<DriverApi> driver, CubinManifest manifest, RuntimeOptions options);
  /// Waits for the device, then releases plans, events, modules, stream, pool and context. Blocks
  /// and events that others still hold become empty shells whose release does nothing.
  ~CudaRuntime();
  CudaRuntime(const CudaRuntime&) = delete;
  CudaRuntime& operator=(const CudaRuntime&) = delete;

  const DeviceIdentity& device() const { return device_; }
  const RuntimeOptions& options() const { return options_; }
  /// Makes the context current in the calling thread.
  void bind_thread();
  /// Empty, or why the runtime can't be used any more.
  const std::string& broken() const;

  // ---- memory. `what` names the buffer in errors. bytes > 0.

  /// When the device is full, idle plans are evicted and the allocation is tried once more.
  /// Throws OutOfDeviceMemory.
  DeviceBlock allocate(uint64_t bytes, std::string_view what, std::string_view stage = "prepare");
  /// Throws EnvironmentError OUT_OF_PINNED_MEMORY.
  PinnedBlock allocate_pinned(uint64_t bytes, std::string_view what,
                              std::string_view stage = "prepare");
  /// Throws CudaError when the driver does not tell.
  MemoryStatus memory();
  /// High-water marks start again from what is in use now.
  void reset_high_water();
  /// Gives idle pool memory back to the device, all but `bytes_to_keep`. Blocks whose release the
  /// stream has not reached yet are not idle.
  void trim_pool(uint64_t bytes_to_keep = 0);

  // ---- work, in stream order. Async: nothing here waits. `stage` and `what` are for errors.
  // Host memory of copies is pinned and stays untouched until the stream has passed the copy.

  void upload(CUdeviceptr destination, const void* source, uint64_t bytes, std::string_view stage);
  void download(void* destination, CUdeviceptr source, uint64_t bytes, std::string_view stage);
  void copy(CUdeviceptr destination, CUdeviceptr source, uint64_t bytes, std::string_view stage);
  void fill32(CUdeviceptr destination, uint32_t value, uint64_t words, std::string_view stage);

  /// Looks a kernel up, loading its module at first use: a thing for preparation, not for requests.
  /// Launches may have up to `dynamic_shared_bytes`. Throws what Modules::kernel() throws.
  Kernel kernel(std::string_view name, uint32_t dynamic_shared_bytes = 0,
                std::string_view stage = "prepare");
  /// `args` is the kernel's argument struct, args_size its size; copied before the call returns.
  /// `what` says which launch of the stage it is, or is empty. Throws ContractError for a geometry
  /// that the kernel does not allow, CudaError (with stage and kernel) when the launch fails.
  void launch(const Kernel& kernel, const LaunchGeometry& geometry, const void* args,
              size_t args_size, std::string_view stage, std::string_view what = {});
  template <class Args>
  void launch(const Kernel& kernel, const LaunchGeometry& geometry, const Args& args,
              std::string_view stage, std::string_view what = {}) {
    launch(kernel, geometry, &args, sizeof(Args), stage, what);
  }

  // ---- events and waiting

  EventLease event(std::string_view stage = "prepare");
  void record(const EventLease& event, std::string_view stage);
  /// Device time between two recorded events that the stream has passed.
  uint64_t elapsed_ns(const EventLease& begin, const EventLease& end, std::string_view stage);
  /// Waits for all work issued so far: errors of earlier launches surface here.
  void synchronize(std::string_view stage);
  void synchronize_event(const EventLease& event, std::string_view stage);

  // ---- accounts

  Counters counters() const;
  /// Counts something that no driver call stands for, e.g. &Counters::cpu_fallback_attempts.
  void count(uint64_t Counters::*counter, uint64_t n = 1);
  std::vector<ModuleInfo> modules() const;
  AotStatus aot() const;
  const CubinManifest& manifest() const;
  PlanCache& plans() { return plans_; }

  // ---- immutable objects: tables that stay for the runtime's life, unless a larger one replaces
  // them; holders of the replaced one keep it alive

  /// The object kept under the key with this type, or null.
  template <class T>
  std::shared_ptr<T> immutable(std::string_view key) const {
    const auto it = immutables_.find(key);
    if (it == immutables_.end() || it->second.first != typeid(T)) return nullptr;
    return std::static_pointer_cast<T>(it->second.second);
  }
  template <class T>
  void keep_immutable(std::string key, std::shared_ptr<T> object) {
    immutables_.insert_or_assign(
        std::move(key),
        std::pair(std::type_index(typeid(T)), std::shared_ptr<void>(std::move(object))));
  }

  /// For calls that have no method here.
  CUstream stream() const;
  DriverApi& driver();
  /// Throws CudaError unless the call succeeded; marks the runtime broken when it must.
  void check(CUresult result, std::string_view call, std::string_view stage,
             std::string_view kernel = {});

 private:
  void require_usable() const;
  void release() noexcept;

  RuntimeOptions options_;
  std::shared_ptr<detail::Core> core_;
  DeviceIdentity device_;
  std::optional<Modules> modules_;
  PlanCache plans_;
  std::map<std::string, std::pair<std::type_index, std::shared_ptr<void>>, std::less<>> immutables_;
};

}  // namespace stwo::gpu

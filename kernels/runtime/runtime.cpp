#include "kernels/runtime/runtime.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "kernels/runtime/errors.hpp"

namespace stwo::gpu {

namespace detail {

struct Core {
  explicit Core(std::unique_ptr<DriverApi> api) : driver(std::move(api)) {}

  CountingDriver driver;
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmemoryPool pool = nullptr;
  CUstream stream = nullptr;
  std::vector<CUevent> all_events;
  std::vector<CUevent> idle_events;  // capacity for all of them, so that giving back can't throw
  std::map<CUdeviceptr, uint64_t> blocks;  // bytes of the live blocks
  std::map<void*, uint64_t> pinned;
  std::string broken;
  bool closed = false;
};

}  // namespace detail

// ---- Blocks
// ---------------------------------------------------------------------------------------

DeviceBlock::~DeviceBlock() {
  if (!core_ || core_->closed) return;
  core_->blocks.erase(address_);
  // A failure means a lost context, whose end frees everything.
  core_->driver.memory_free_async(address_, core_->stream);
}

void DeviceBlock::swap(DeviceBlock& other) noexcept {
  std::swap(core_, other.core_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
}

PinnedBlock::~PinnedBlock() {
  if (!core_ || core_->closed) return;
  core_->pinned.erase(data_);
  core_->driver.host_free(data_);
}

void PinnedBlock::swap(PinnedBlock& other) noexcept {
  std::swap(core_, other.core_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
}

EventLease::~EventLease() {
  if (core_ && !core_->closed) core_->idle_events.push_back(event_);
}

void EventLease::swap(EventLease& other) noexcept {
  std::swap(core_, other.core_);
  std::swap(event_, other.event_);
}

// ---- Runtime
// --------------------------------------------------------------------------------------

CudaRuntime::CudaRuntime(std::unique_ptr<DriverApi> driver, CubinManifest manifest,
                         RuntimeOptions options)
    : options_(std::move(options)),
      core_(std::make_shared<detail::Core>(std::move(driver))),
      plans_(options_.plan_cache_entries, options_.plan_cache_bytes) {
  try {
    CountingDriver& api = core_->driver;
    const CUresult initialised = api.init();
    if (initialised == CUDA_ERROR_NO_DEVICE)
      throw EnvironmentError("NO_CUDA_DEVICE",
                             "no CUDA device is visible: check nvidia-smi and "
                             "CUDA_VISIBLE_DEVICES");
    check(initialised, "cuInit", "init");
    device_ = identify_device(api, options_.device_ordinal);
    check(api.device_get(&core_->device, options_.device_ordinal), "cuDeviceGet", "init");
    check(api.primary_context_retain(&core_->context, core_->device), "cuDevicePrimaryCtxRetain",
          "init");
    check(api.context_set_current(core_->context), "cuCtxSetCurrent", "init");

    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = core_->device;
    check(api.memory_pool_create(&core_->pool, &properties), "cuMemPoolCreate", "init");
    cuuint64_t threshold = options_.pool_release_threshold;
    check(api.memory_pool_set_attribute(core_->pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold),
          "cuMemPoolSetAttribute", "init");
    check(api.stream_create(&core_->stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate", "init");
    modules_.emplace(api, std::move(manifest), device_, options_.cubin_directory,
                     options_.allow_ptx);
  } catch (...) {
    release();
    throw;
  }
}

CudaRuntime::~CudaRuntime() { release(); }

void CudaRuntime::release() noexcept {
  detail::Core& core = *core_;
  CountingDriver& api = core.driver;
  if (core.context != nullptr) {
    // Results are not looked at: there is nobody to tell, and the context's end frees what is left.
    api.context_set_current(core.context);
    if (core.stream != nullptr) api.stream_synchronize(core.stream);
    plans_.clear();
    immutables_.clear();
    modules_.reset();
    // A pool outlives its context, so what others still hold is freed here, not by that.
    for (const auto& [address, bytes] : core.blocks) api.memory_free_async(address, core.stream);
    for (const auto& [address, bytes] : core.pinned) api.host_free(address);
    for (CUevent event : core.all_events) api.event_destroy(event);
    if (core.stream != nullptr) {
      // The frees above are work of the stream; the pool must not go before them.
      api.stream_synchronize(core.stream);
      api.stream_destroy(core.stream);
    }
    if (core.pool != nullptr) api.memory_pool_destroy(core.pool);
    api.primary_context_release(core.device);
  }
  core.closed = true;
}

const std::string& CudaRuntime::broken() const { return core_->broken; }

void CudaRuntime::require_usable() const {
  if (!core_->broken.empty())
    throw EnvironmentError("CUDA_RUNTIME_BROKEN",
                           "the device context is lost since an earlier error (" + core_->broken +
                               "): start the program again");
}

void CudaRuntime::check(CUresult result, std::string_view call, std::string_view stage,
                        std::string_view kernel) {
  if (result == CUDA_SUCCESS) return;
  CountingDriver& api = core_->driver;
  const CudaError error(result, api.error_name(result), api.error_text(result),
                        {call, stage, kernel});
  if (error.sticky() && core_->broken.empty()) core_->broken = error.result_name();
  throw error;
}

void CudaRuntime::bind_thread() {
  require_usable();
  check(core_->driver.context_set_current(core_->context), "cuCtxSetCurrent", "init");
}

DeviceBlock CudaRuntime::allocate(uint64_t bytes, std::string_view what, std::string_view stage) {
  require_usable();
  STWO_CHECK(bytes > 0, "allocation of 0 bytes for " + std::string(what));
  CountingDriver& api = core_->driver;
  DeviceBlock block;
  const auto attempt = [&] {
    return api.memory_allocate_from_pool_async(&block.address_, bytes, core_->pool, core_->stream);
  };
  CUresult result = attempt();
  if (result == CUDA_ERROR_OUT_OF_MEMORY && plans_.evict_idle() > 0) {
    // The evicted blocks are free once the stream has passed their release.
    check(api.stream_synchronize(core_->stream), "cuStreamSynchronize", stage);
    check(api.memory_pool_trim_to(core_->pool, 0), "cuMemPoolTrimTo", stage);
    result = attempt();
  }
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    size_t free_bytes = 0, total = 0;
    if (api.memory_info(&free_bytes, &total) != CUDA_SUCCESS) free_bytes = 0;
    throw OutOfDeviceMemory(what, bytes, free_bytes);
  }
  check(result, "cuMemAllocFromPoolAsync", stage);
  block.core_ = core_;
  block.bytes_ = bytes;
  core_->blocks[block.address_] = bytes;
  return block;
}

PinnedBlock CudaRuntime::allocate_pinned(uint64_t bytes, std::string_view what,
                                         std::string_view stage) {
  require_usable();
  STWO_CHECK(bytes > 0, "allocation of 0 bytes for " + std::string(what));
  PinnedBlock block;
  const CUresult result = core_->driver.host_allocate(&block.data_, bytes, 0);
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    throw EnvironmentError("OUT_OF_PINNED_MEMORY",
                           "the system has no room for " + std::string(what) + " (" +
                               std::to_string(bytes) +
                               " bytes of page-locked memory): free memory or raise its limit");
  check(result, "cuMemHostAlloc", stage);
  block.core_ = core_;
  block.bytes_ = bytes;
  core_->pinned[block.data_] = bytes;
  return block;
}

MemoryStatus CudaRuntime::memory() {
  require_usable();
  MemoryStatus out;
  const auto read = [&](CUmemPool_attribute attribute) {
    cuuint64_t value = 0;
    check(core_->driver.memory_pool_get_attribute(core_->pool, attribute, &value),
          "cuMemPoolGetAttribute", {});
    return uint64_t{value};
  };
  out.pool_reserved = read(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
  out.pool_used = read(CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
  out.pool_reserved_high = read(CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH);
  out.pool_used_high = read(CU_MEMPOOL_ATTR_USED_MEM_HIGH);
  out.live_blocks = core_->blocks.size();
  for (const auto& [address, bytes] : core_->blocks) out.live_bytes += bytes;
  out.pinned_blocks = core_->pinned.size();
  for (const auto& [address, bytes] : core_->pinned) out.pinned_bytes += bytes;
  size_t free_bytes = 0, total = 0;
  check(core_->driver.memory_info(&free_bytes, &total), "cuMemGetInfo", {});
  out.device_free = free_bytes;
  out.device_total = total;
  return out;
}

void CudaRuntime::reset_high_water() {
  require_usable();
  for (const auto attribute : {CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, CU_MEMPOOL_ATTR_USED_MEM_HIGH}) {
    cuuint64_t zero = 0;
    check(core_->driver.memory_pool_set_attribute(core_->pool, attribute, &zero),
          "cuMemPoolSetAttribute", {});
  }
}

void CudaRuntime::trim_pool(uint64_t bytes_to_keep) {
  require_usable();
  check(core_->driver.memory_pool_trim_to(core_->pool, bytes_to_keep), "cuMemPoolTrimTo", {});
}

void CudaRuntime::upload(CUdeviceptr destination, const void* source, uint64_t bytes,
                         std::string_view stage) {
  require_usable();
  check(core_->driver.copy_host_to_device_async(destination, source, bytes, core_->stream),
        "cuMemcpyHtoDAsync", stage);
}

void CudaRuntime::download(void* destination, CUdeviceptr source, uint64_t bytes,
                           std::string_view stage) {
  require_usable();
  check(core_->driver.copy_device_to_host_async(destination, source, bytes, core_->stream),
        "cuMemcpyDtoHAsync", stage);
}

void CudaRuntime::copy(CUdeviceptr destination, CUdeviceptr source, uint64_t bytes,
                       std::string_view stage) {
  require_usable();
  check(core_->driver.copy_device_to_device_async(destination, source, bytes, core_->stream),
        "cuMemcpyDtoDAsync", stage);
}

void CudaRuntime::fill32(CUdeviceptr destination, uint32_t value, uint64_t words,
                         std::string_view stage) {
  require_usable();
  check(core_->driver.fill_d32_async(destination, value, words, core_->stream), "cuMemsetD32Async",
        stage);
}

Kernel CudaRuntime::kernel(std::string_view name, uint32_t dynamic_shared_bytes,
                           std::string_view stage) {
  require_usable();
  try {
    return modules_->kernel(name, dynamic_shared_bytes, stage);
  } catch (const CudaError& error) {
    if (error.sticky() && core_->broken.empty()) core_->broken = error.result_name();
    throw;
  }
}

void CudaRuntime::launch(const Kernel& kernel, const LaunchGeometry& geometry, const void* args,
                         size_t args_size, std::string_view stage, std::string_view what) {
  require_usable();
  if (geometry.grid_x == 0 || geometry.grid_x > 0x7fffffffu || geometry.grid_y == 0 ||
      geometry.grid_y > 65535 || geometry.threads == 0 || geometry.threads > kernel.max_threads ||
      geometry.shared_bytes > kernel.max_dynamic_shared_bytes)
    throw ContractError(
        "launch of " + std::string(kernel.name) + " in " + std::string(stage) + " with grid " +
        std::to_string(geometry.grid_x) + " x " + std::to_string(geometry.grid_y) + ", " +
        std::to_string(geometry.threads) + " threads, " + std::to_string(geometry.shared_bytes) +
        " bytes of shared memory; it allows " + std::to_string(kernel.max_threads) +
        " threads and " + std::to_string(kernel.max_dynamic_shared_bytes) + " bytes");
  const CUresult result = core_->driver.launch_kernel(
      kernel.function, geometry.grid_x, geometry.grid_y, geometry.threads, geometry.shared_bytes,
      core_->stream, args, args_size);
  if (result == CUDA_SUCCESS) return;
  std::string name(kernel.name);
  if (!what.empty()) name += " (" + std::string(what) + ")";
  check(result, "cuLaunchKernel", stage, name);
}

EventLease CudaRuntime::event(std::string_view stage) {
  require_usable();
  EventLease lease;
  if (core_->idle_events.empty()) {
    // Room first: an event that exists is always on a list.
    core_->all_events.reserve(core_->all_events.size() + 1);
    core_->idle_events.reserve(core_->all_events.size() + 1);
    CUevent event = nullptr;
    check(core_->driver.event_create(&event, CU_EVENT_DEFAULT), "cuEventCreate", stage);
    core_->all_events.push_back(event);
    lease.event_ = event;
  } else {
    lease.event_ = core_->idle_events.back();
    core_->idle_events.pop_back();
  }
  lease.core_ = core_;
  return lease;
}

void CudaRuntime::record(const EventLease& event, std::string_view stage) {
  require_usable();
  STWO_CHECK(event, "recording an event that is not leased");
  check(core_->driver.event_record(event.handle(), core_->stream), "cuEventRecord", stage);
}

uint64_t CudaRuntime::elapsed_ns(const EventLease& begin, const EventLease& end,
                                 std::string_view stage) {
  require_usable();
  float milliseconds = 0;
  check(core_->driver.event_elapsed_ms(&milliseconds, begin.handle(), end.handle()),
        "cuEventElapsedTime", stage);
  return static_cast<uint64_t>(std::llround(std::max(0.0, double{milliseconds} * 1e6)));
}

void CudaRuntime::synchronize(std::string_view stage) {
  require_usable();
  check(core_->driver.stream_synchronize(core_->stream), "cuStreamSynchronize", stage);
}

void CudaRuntime::synchronize_event(const EventLease& event, std::string_view stage) {
  require_usable();
  STWO_CHECK(event, "waiting for an event that is not leased");
  check(core_->driver.event_synchronize(event.handle()), "cuEventSynchronize", stage);
}

Counters CudaRuntime::counters() const { return core_->driver.counters(); }
void CudaRuntime::count(uint64_t Counters::*counter, uint64_t n) { core_->driver.add(counter, n); }
std::vector<ModuleInfo> CudaRuntime::modules() const { return modules_->loaded(); }
AotStatus CudaRuntime::aot() const { return modules_->status(); }
const CubinManifest& CudaRuntime::manifest() const { return modules_->manifest(); }
CUstream CudaRuntime::stream() const { return core_->stream; }
DriverApi& CudaRuntime::driver() { return core_->driver; }

}  // namespace stwo::gpu

#include "kernels/emulator/emulated_driver.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <new>
#include <set>

#include "kernels/emulator/emulator.hpp"

namespace stwo::gpu {
namespace {

constexpr size_t kAlignment = 256;  // as the real allocator's

struct Block {
  size_t bytes = 0;
  CUmemoryPool pool = nullptr;  // of device memory
  bool freed = false;           // a free is queued
};

struct Pool {
  uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0, release_threshold = 0;
};

struct Event {
  bool recorded = false;
  uint64_t time_ns = 0;
};

struct Function {
  const emulator::KernelInfo* kernel = nullptr;
  CUmodule module = nullptr;
  int max_dynamic_shared = 48 * 1024;
};

}  // namespace

struct EmulatedDevice::State {
  EmulatedDeviceConfig config;
  bool initialised = false;
  uint64_t foreign_bytes = 0;
  uint64_t next_handle = 0x1000;
  uint64_t clock_ns = 1;
  uint64_t contexts = 0;
  std::set<uint64_t> modules, streams;
  std::map<uint64_t, Pool> pools;
  std::map<uint64_t, Event> events;
  std::map<uint64_t, Function> functions;
  std::map<uintptr_t, Block> device_blocks, host_blocks;  // by start address
  std::deque<std::function<void()>> queue;
  std::vector<std::string> violations;

  uint64_t reserved() const {
    uint64_t sum = foreign_bytes;
    for (const auto& [handle, pool] : pools) sum += pool.reserved;
    return sum;
  }
  /// Runs everything queued.
  void drain() {
    while (!queue.empty()) {
      const std::function<void()> work = std::move(queue.front());
      queue.pop_front();
      work();
      clock_ns += 1000;
    }
  }
  void destroy_block(std::map<uintptr_t, Block>::iterator block) {
    if (const auto pool = pools.find(reinterpret_cast<uint64_t>(block->second.pool));
        pool != pools.end())
      pool->second.used -= block->second.bytes;
    void* memory = reinterpret_cast<void*>(block->first);
    std::memset(memory, kDevicePoison, block->second.bytes);
    ::operator delete (memory, std::align_val_t{kAlignment});
    device_blocks.erase(block);
  }
};

EmulatedDevice::EmulatedDevice(EmulatedDeviceConfig config) : state_(std::make_unique<State>()) {
  state_->config = std::move(config);
}

EmulatedDevice::~EmulatedDevice() {
  for (auto& blocks : {state_->device_blocks, state_->host_blocks})
    for (const auto& [address, block] : blocks)
      ::operator delete (reinterpret_cast<void*>(address), std::align_val_t{kAlignment});
}

EmulatedDevice::Live EmulatedDevice::live() const {
  Live live{.contexts = state_->contexts,
            .modules = state_->modules.size(),
            .pools = state_->pools.size(),
            .device_blocks = 0,
            .device_bytes = 0,
            .host_blocks = state_->host_blocks.size(),
            .host_bytes = 0,
            .streams = state_->streams.size(),
            .events = state_->events.size()};
  for (const auto& [address, block] : state_->device_blocks) {
    if (block.freed) continue;
    ++live.device_blocks;
    live.device_bytes += block.bytes;
  }
  for (const auto& [address, block] : state_->host_blocks) live.host_bytes += block.bytes;
  return live;
}

const std::vector<std::string>& EmulatedDevice::violations() const { return state_->violations; }
void EmulatedDevice::set_foreign_bytes(uint64_t bytes) { state_->foreign_bytes = bytes; }

namespace {

template <class Handle>
uint64_t number(Handle handle) {
  return reinterpret_cast<uint64_t>(handle);
}

class EmulatedDriver final : public DriverApi {
 public:
  explicit EmulatedDriver(std::shared_ptr<EmulatedDevice> device)
      : device_(std::move(device)), s_(device_->state()) {}
  // Stream-ordered work of a process that ends is still done.
  ~EmulatedDriver() override { s_.drain(); }

  CUresult init() override {
    s_.initialised = true;
    return CUDA_SUCCESS;
  }
  CUresult driver_version(int* version) override {
    *version = s_.config.driver_version;
    return CUDA_SUCCESS;
  }

  CUresult device_count(int* count) override {
    if (!s_.initialised) return CUDA_ERROR_NOT_INITIALIZED;
    *count = s_.config.device_count;
    return CUDA_SUCCESS;
  }
  CUresult device_get(CUdevice* device, int ordinal) override {
    if (!s_.initialised) return CUDA_ERROR_NOT_INITIALIZED;
    if (ordinal < 0 || ordinal >= s_.config.device_count) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
  }
  CUresult device_name(char* name, int length, CUdevice) override {
    if (length <= 0) return CUDA_ERROR_INVALID_VALUE;
    const size_t n = std::min(s_.config.name.size(), static_cast<size_t>(length) - 1);
    s_.config.name.copy(name, n);
    name[n] = '\0';
    return CUDA_SUCCESS;
  }
  CUresult device_uuid(CUuuid* uuid, CUdevice) override {
    std::memcpy(uuid->bytes, s_.config.uuid, sizeof(uuid->bytes));
    return CUDA_SUCCESS;
  }
  CUresult device_attribute(int* value, CUdevice_attribute attribute, CUdevice) override {
    const EmulatedDeviceConfig& c = s_.config;
    switch (attribute) {
      case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = c.sm_major; break;
      case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = c.sm_minor; break;
      case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = c.multiprocessors; break;
      case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        *value = c.max_shared_per_block_optin;
        break;
      case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: *value = c.l2_bytes; break;
      case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: *value = c.memory_pools; break;
      default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
  }
  CUresult device_total_memory(size_t* bytes, CUdevice) override {
    *bytes = s_.config.memory_bytes;
    return CUDA_SUCCESS;
  }

  CUresult primary_context_retain(CUcontext* context, CUdevice device) override {
    if (!s_.initialised) return CUDA_ERROR_NOT_INITIALIZED;
    ++s_.contexts;
    *context = reinterpret_cast<CUcontext>(uint64_t{0xc0} + static_cast<uint64_t>(device));
    return CUDA_SUCCESS;
  }
  CUresult primary_context_release(CUdevice) override {
    if (s_.contexts == 0) return violation("release of a context that is not retained");
    s_.drain();
    --s_.contexts;
    return CUDA_SUCCESS;
  }
  CUresult context_set_current(CUcontext) override { return usable(); }
  CUresult context_synchronize() override {
    if (const CUresult result = usable(); result != CUDA_SUCCESS) return result;
    return synchronize();
  }
  CUresult memory_info(size_t* free_bytes, size_t* total_bytes) override {
    if (const CUresult result = usable(); result != CUDA_SUCCESS) return result;
    *total_bytes = s_.config.memory_bytes;
    *free_bytes = s_.config.memory_bytes - std::min(s_.config.memory_bytes, s_.reserved());
    return CUDA_SUCCESS;
  }

  CUresult module_load_data(CUmodule* module, std::span<const uint8_t> image) override {
    if (const CUresult result = usable(); result != CUDA_SUCCESS) return result;
    if (image.empty()) return CUDA_ERROR_INVALID_IMAGE;
    const uint64_t handle = make_handle();
    s_.modules.insert(handle);
    *module = reinterpret_cast<CUmodule>(handle);
    return CUDA_SUCCESS;
  }
  CUresult module_unload(CUmodule module) override {
    if (s_.modules.erase(number(module)) == 0) return violation("unload of an unknown module");
    s_.drain();
    std::erase_if(s_.functions, [&](const auto& f) { return f.second.module == module; });
    return CUDA_SUCCESS;
  }
  CUresult module_get_function(CUfunction* function, CUmodule module, const char* name) override {
    if (!s_.modules.contains(number(module))) return violation("function of an unknown module");
    const emulator::KernelInfo* kernel = emulator::find_kernel(name);
    if (kernel == nullptr) return CUDA_ERROR_NOT_FOUND;
    const uint64_t handle = make_handle();
    s_.functions[handle] = {kernel, module};
    *function = reinterpret_cast<CUfunction>(handle);
    return CUDA_SUCCESS;
  }
  CUresult function_get_attribute(int* value, CUfunction_attribute attribute,
                                  CUfunction function) override {
    const auto found = s_.functions.find(number(function));
    if (found == s_.functions.end()) return violation("attribute of an unknown function");
    switch (attribute) {
      case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = static_cast<int>(found->second.kernel->max_threads);
        break;
      case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = found->second.max_dynamic_shared;
        break;
      case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = 32; break;
      case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = 0; break;
      default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
  }
  CUresult function_set_attribute(CUfunction function, CUfunction_attribute attribute,
                                  int value) override {
    const auto found = s_.functions.find(number(function));
    if (found == s_.functions.end()) return violation("attribute of an unknown function");
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
        value > s_.config.max_shared_per_block_optin)
      return CUDA_ERROR_INVALID_VALUE;
    found->second.max_dynamic_shared = value;
    return CUDA_SUCCESS;
  }

  CUresult memory_pool_create(CUmemoryPool* pool, const CUmemPoolProps* properties) override {
    if (const CUresult result = usable(); result != CUDA_SUCCESS) return result;
    if (properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE || !s_.config.memory_pools)
      return CUDA_ERROR_INVALID_VALUE;
    const uint64_t handle = make_handle();
    s_.pools[handle] = {};
    *pool = reinterpret_cast<CUmemoryPool>(handle);
    return CUDA_SUCCESS;
  }
  CUresult memory_pool_destroy(CUmemoryPool pool) override {
    if (!s_.pools.contains(number(pool))) return violation("destroying an unknown pool");
    s_.drain();
    if (s_.pools[number(pool)].used != 0)
      return violation("destroying a pool that still has allocations");
    s_.pools.erase(number(pool));
    return CUDA_SUCCESS;
  }
  CUresult memory_pool_set_attribute(CUmemoryPool pool, CUmemPool_attribute attribute,
                                     void* value) override {
    const auto found = s_.pools.find(number(pool));
    if (found == s_.pools.end()) return violation("attribute of an unknown pool");
    const uint64_t n = *static_cast<const cuuint64_t*>(value);
    switch (attribute) {
      case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: found->second.release_threshold = n; break;
      case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        if (n != 0) return CUDA_ERROR_INVALID_VALUE;
        found->second.reserved_high = found->second.reserved;
        break;
      case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        if (n != 0) return CUDA_ERROR_INVALID_VALUE;
        found->second.used_high = found->second.used;
        break;
      default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
  }
  CUresult memory_pool_get_attribute(CUmemoryPool pool, CUmemPool_attribute attribute,
                                     void* value) override {
    const auto found = s_.pools.find(number(pool));
    if (found == s_.pools.end()) return violation("attribute of an unknown pool");
    auto& out = *static_cast<cuuint64_t*>(value);
    switch (attribute) {
      case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: out = found->second.release_threshold; break;
      case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: out = found->second.reserved; break;
      case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: out = found->second.reserved_high; break;
      case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: out = found->second.used; break;
      case CU_MEMPOOL_ATTR_USED_MEM_HIGH: out = found->second.used_high; break;
      default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
  }
  CUresult memory_pool_trim_to(CUmemoryPool pool, size_t bytes_to_keep) override {
    const auto found = s_.pools.find(number(pool));
    if (found == s_.pools.end()) return violation("trimming an unknown pool");
    found->second.reserved =
        std::max(found->second.used, std::min<uint64_t>(found->second.reserved, bytes_to_keep));
    return CUDA_SUCCESS;
  }
  CUresult memory_allocate_from_pool_async(CUdeviceptr* address, size_t bytes, CUmemoryPool pool,
                                           CUstream stream) override {
    if (const CUresult result = known_stream(stream); result != CUDA_SUCCESS) return result;
    const auto found = s_.pools.find(number(pool));
    if (found == s_.pools.end()) return violation("allocation from an unknown pool");
    if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    Pool& p = found->second;
    const uint64_t idle = p.reserved - p.used;
    const uint64_t room = s_.config.memory_bytes - std::min(s_.config.memory_bytes, s_.reserved());
    if (bytes > idle + room) return CUDA_ERROR_OUT_OF_MEMORY;
    void* memory = ::operator new (bytes, std::align_val_t{kAlignment}, std::nothrow);
    if (memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    std::memset(memory, kDevicePoison, bytes);
    s_.device_blocks[reinterpret_cast<uintptr_t>(memory)] = {bytes, pool, false};
    p.used += bytes;
    p.used_high = std::max(p.used_high, p.used);
    p.reserved = std::max(p.reserved, p.used);
    p.reserved_high = std::max(p.reserved_high, p.reserved);
    *address = reinterpret_cast<CUdeviceptr>(memory);
    return CUDA_SUCCESS;
  }
  CUresult memory_free_async(CUdeviceptr address, CUstream stream) override {
    if (const CUresult result = known_stream(stream); result != CUDA_SUCCESS) return result;
    const auto found = s_.device_blocks.find(address);
    if (found == s_.device_blocks.end())
      return violation("free of an address that no live allocation starts at");
    if (found->second.freed) return violation("second free of an allocation");
    found->second.freed = true;
    s_.queue.push_back([this, found] { s_.destroy_block(found); });
    return CUDA_SUCCESS;
  }

  CUresult host_allocate(void** address, size_t bytes, unsigned) override {
    if (const CUresult result = usable(); result != CUDA_SUCCESS) return result;
    if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    *address = ::operator new (bytes, std::align_val_t{kAlignment}, std::nothrow);
    if (*address == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    std::memset(*address, kDevicePoison, bytes);
    s_.host_blocks[reinterpret_cast<uintptr_t>(*address)] = {bytes};
    return CUDA_SUCCESS;
  }
  CUresult host_free(void* address) override {
    if (s_.host_blocks.erase(reinterpret_cast<uintptr_t>(address)) == 0)
      return violation("free of an address that no pinned allocation starts at");
    // As the driver does, wait for copies that use it.
    s_.drain();
    ::operator delete (address, std::align_val_t{kAlignment});
    return CUDA_SUCCESS;
  }

  CUresult copy_host_to_device_async(CUdeviceptr destination, const void* source, size_t bytes,
                                     CUstream stream) override {
    return copy("copy to the device", destination, reinterpret_cast<CUdeviceptr>(source), bytes,
                stream, true, false);
  }
  CUresult copy_device_to_host_async(void* destination, CUdeviceptr source, size_t bytes,
                                     CUstream stream) override {
    return copy("copy from the device", reinterpret_cast<CUdeviceptr>(destination), source, bytes,
                stream, false, true);
  }
  CUresult copy_device_to_device_async(CUdeviceptr destination, CUdeviceptr source, size_t bytes,
                                       CUstream stream) override {
    return copy("copy on the device", destination, source, bytes, stream, true, true);
  }
  CUresult fill_d32_async(CUdeviceptr destination, uint32_t value, size_t words,
                          CUstream stream) override {
    if (const CUresult result = known_stream(stream); result != CUDA_SUCCESS) return result;
    if (destination % 4 != 0) return CUDA_ERROR_INVALID_VALUE;
    if (words > SIZE_MAX / 4 || !inside(destination, words * 4))
      return violation("fill outside of a live allocation");
    s_.queue.push_back(
        [=] { std::fill_n(reinterpret_cast<uint32_t*>(destination), words, value); });
    return CUDA_SUCCESS;
  }

  CUresult stream_create(CUstream* stream, unsigned) override {
    if (const CUresult result = usable(); result != CUDA_SUCCESS) return result;
    const uint64_t handle = make_handle();
    s_.streams.insert(handle);
    *stream = reinterpret_cast<CUstream>(handle);
    return CUDA_SUCCESS;
  }
  CUresult stream_destroy(CUstream stream) override {
    if (s_.streams.erase(number(stream)) == 0) return violation("destroying an unknown stream");
    return CUDA_SUCCESS;
  }
  CUresult stream_synchronize(CUstream stream) override {
    if (const CUresult result = known_stream(stream); result != CUDA_SUCCESS) return result;
    return synchronize();
  }
  CUresult stream_wait_event(CUstream stream, CUevent event) override {
    if (const CUresult result = known_stream(stream); result != CUDA_SUCCESS) return result;
    if (!s_.events.contains(number(event))) return violation("waiting for an unknown event");
    // The one queue already runs everything in order of issue.
    return CUDA_SUCCESS;
  }
  CUresult event_create(CUevent* event, unsigned) override {
    if (const CUresult result = usable(); result != CUDA_SUCCESS) return result;
    const uint64_t handle = make_handle();
    s_.events[handle] = {};
    *event = reinterpret_cast<CUevent>(handle);
    return CUDA_SUCCESS;
  }
  CUresult event_destroy(CUevent event) override {
    if (s_.events.erase(number(event)) == 0) return violation("destroying an unknown event");
    return CUDA_SUCCESS;
  }
  CUresult event_record(CUevent event, CUstream stream) override {
    if (const CUresult result = known_stream(stream); result != CUDA_SUCCESS) return result;
    const uint64_t handle = number(event);
    if (!s_.events.contains(handle)) return violation("recording an unknown event");
    s_.events[handle].recorded = false;
    s_.queue.push_back([this, handle] {
      const auto found = s_.events.find(handle);
      if (found != s_.events.end()) found->second = {true, s_.clock_ns};
    });
    return CUDA_SUCCESS;
  }
  CUresult event_synchronize(CUevent event) override {
    if (!s_.events.contains(number(event))) return violation("waiting for an unknown event");
    return synchronize();
  }
  CUresult event_elapsed_ms(float* milliseconds, CUevent begin, CUevent end) override {
    const auto b = s_.events.find(number(begin)), e = s_.events.find(number(end));
    if (b == s_.events.end() || e == s_.events.end())
      return violation("time between unknown events");
    if (!b->second.recorded || !e->second.recorded) return CUDA_ERROR_NOT_READY;
    *milliseconds = static_cast<float>(
        (static_cast<double>(e->second.time_ns) - static_cast<double>(b->second.time_ns)) * 1e-6);
    return CUDA_SUCCESS;
  }

  CUresult launch_kernel(CUfunction function, uint32_t grid_x, uint32_t grid_y, uint32_t threads,
                         uint32_t shared_bytes, CUstream stream, const void* args,
                         size_t args_size) override {
    if (const CUresult result = known_stream(stream); result != CUDA_SUCCESS) return result;
    const auto found = s_.functions.find(number(function));
    if (found == s_.functions.end()) return violation("launch of an unknown function");
    const Function& f = found->second;
    if (args_size != f.kernel->args_size)
      return violation("launch of " + f.kernel->name + " with " + std::to_string(args_size) +
                       " bytes of arguments; it takes " + std::to_string(f.kernel->args_size));
    if (grid_x == 0 || grid_x > 0x7fffffffu || grid_y == 0 || grid_y > 65535 || threads == 0 ||
        threads > f.kernel->max_threads ||
        shared_bytes > static_cast<uint32_t>(f.max_dynamic_shared))
      return CUDA_ERROR_INVALID_VALUE;
    // max_align_t is what any argument struct needs.
    auto copy = std::make_shared<std::vector<std::max_align_t>>(
        (args_size + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
    std::memcpy(copy->data(), args, args_size);
    s_.queue.push_back([kernel = f.kernel, grid_x, grid_y, threads, shared_bytes, copy] {
      emulator::launch(kernel->name, grid_x, grid_y, threads, shared_bytes, copy->data());
    });
    return CUDA_SUCCESS;
  }

  const char* error_name(CUresult result) override {
    switch (result) {
      case CUDA_SUCCESS: return "CUDA_SUCCESS";
      case CUDA_ERROR_INVALID_VALUE: return "CUDA_ERROR_INVALID_VALUE";
      case CUDA_ERROR_OUT_OF_MEMORY: return "CUDA_ERROR_OUT_OF_MEMORY";
      case CUDA_ERROR_NOT_INITIALIZED: return "CUDA_ERROR_NOT_INITIALIZED";
      case CUDA_ERROR_NO_DEVICE: return "CUDA_ERROR_NO_DEVICE";
      case CUDA_ERROR_INVALID_DEVICE: return "CUDA_ERROR_INVALID_DEVICE";
      case CUDA_ERROR_INVALID_IMAGE: return "CUDA_ERROR_INVALID_IMAGE";
      case CUDA_ERROR_INVALID_HANDLE: return "CUDA_ERROR_INVALID_HANDLE";
      case CUDA_ERROR_NOT_FOUND: return "CUDA_ERROR_NOT_FOUND";
      case CUDA_ERROR_NOT_READY: return "CUDA_ERROR_NOT_READY";
      case CUDA_ERROR_ILLEGAL_ADDRESS: return "CUDA_ERROR_ILLEGAL_ADDRESS";
      case CUDA_ERROR_LAUNCH_FAILED: return "CUDA_ERROR_LAUNCH_FAILED";
      case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: return "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES";
      case CUDA_ERROR_ECC_UNCORRECTABLE: return "CUDA_ERROR_ECC_UNCORRECTABLE";
      default: return "CUDA_ERROR_UNKNOWN";
    }
  }
  const char* error_text(CUresult result) override {
    return result == CUDA_SUCCESS ? "no error" : "emulated error";
  }

 private:
  uint64_t make_handle() { return s_.next_handle += 16; }
  CUresult usable() const {
    if (!s_.initialised) return CUDA_ERROR_NOT_INITIALIZED;
    return s_.contexts == 0 ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
  }
  CUresult known_stream(CUstream stream) {
    if (const CUresult result = usable(); result != CUDA_SUCCESS) return result;
    // The default stream is not used: it would order the whole device.
    if (!s_.streams.contains(number(stream))) return violation("use of an unknown stream");
    return CUDA_SUCCESS;
  }
  CUresult violation(std::string what) {
    s_.violations.push_back(std::move(what));
    return CUDA_ERROR_INVALID_VALUE;
  }
  CUresult synchronize() {
    s_.drain();
    // Memory above the threshold goes back to the system when the host waits.
    for (auto& [handle, pool] : s_.pools)
      pool.reserved = std::max(pool.used, std::min(pool.reserved, pool.release_threshold));
    return CUDA_SUCCESS;
  }
  /// Is [address, address + bytes) part of one live device allocation?
  bool inside(CUdeviceptr address, size_t bytes) const {
    auto block = s_.device_blocks.upper_bound(address);
    if (block == s_.device_blocks.begin()) return false;
    --block;
    const uint64_t offset = address - block->first;
    return !block->second.freed && offset <= block->second.bytes &&
           bytes <= block->second.bytes - offset;
  }
  CUresult copy(const char* what, CUdeviceptr destination, CUdeviceptr source, size_t bytes,
                CUstream stream, bool destination_on_device, bool source_on_device) {
    if (const CUresult result = known_stream(stream); result != CUDA_SUCCESS) return result;
    if ((destination_on_device && !inside(destination, bytes)) ||
        (source_on_device && !inside(source, bytes)))
      return violation(std::string(what) + " outside of a live allocation");
    s_.queue.push_back([=] {
      std::memmove(reinterpret_cast<void*>(destination), reinterpret_cast<const void*>(source),
                   bytes);
    });
    return CUDA_SUCCESS;
  }

  std::shared_ptr<EmulatedDevice> device_;
  EmulatedDevice::State& s_;
};

}  // namespace

std::unique_ptr<DriverApi> make_emulated_driver(std::shared_ptr<EmulatedDevice> device) {
  return std::make_unique<EmulatedDriver>(std::move(device));
}

}  // namespace stwo::gpu

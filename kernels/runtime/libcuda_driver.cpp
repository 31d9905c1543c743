#include "kernels/runtime/libcuda_driver.hpp"

#include <dlfcn.h>

#include <utility>

namespace stwo::gpu {
namespace {

// Signatures as of CUDA 12.0, which every later driver still serves under these names. Declared
// here because the names in cuda.h are macros for the newest version of each call.
constexpr int kInterfaceVersion = 12000;
using GetProcAddress = CUresult (*)(const char*, void**, int, cuuint64_t,
                                    CUdriverProcAddressQueryResult*);

struct Functions {
  CUresult (*init)(unsigned);
  CUresult (*driver_get_version)(int*);
  CUresult (*device_get_count)(int*);
  CUresult (*device_get)(CUdevice*, int);
  CUresult (*device_get_name)(char*, int, CUdevice);
  CUresult (*device_get_uuid)(CUuuid*, CUdevice);
  CUresult (*device_get_attribute)(int*, CUdevice_attribute, CUdevice);
  CUresult (*device_total_mem)(size_t*, CUdevice);
  CUresult (*primary_ctx_retain)(CUcontext*, CUdevice);
  CUresult (*primary_ctx_release)(CUdevice);
  CUresult (*ctx_set_current)(CUcontext);
  CUresult (*ctx_synchronize)();
  CUresult (*mem_get_info)(size_t*, size_t*);
  CUresult (*module_load_data)(CUmodule*, const void*);
  CUresult (*module_unload)(CUmodule);
  CUresult (*module_get_function)(CUfunction*, CUmodule, const char*);
  CUresult (*func_get_attribute)(int*, CUfunction_attribute, CUfunction);
  CUresult (*func_set_attribute)(CUfunction, CUfunction_attribute, int);
  CUresult (*mem_pool_create)(CUmemoryPool*, const CUmemPoolProps*);
  CUresult (*mem_pool_destroy)(CUmemoryPool);
  CUresult (*mem_pool_set_attribute)(CUmemoryPool, CUmemPool_attribute, void*);
  CUresult (*mem_pool_get_attribute)(CUmemoryPool, CUmemPool_attribute, void*);
  CUresult (*mem_pool_trim_to)(CUmemoryPool, size_t);
  CUresult (*mem_alloc_from_pool_async)(CUdeviceptr*, size_t, CUmemoryPool, CUstream);
  CUresult (*mem_free_async)(CUdeviceptr, CUstream);
  CUresult (*mem_host_alloc)(void**, size_t, unsigned);
  CUresult (*mem_free_host)(void*);
  CUresult (*memcpy_htod_async)(CUdeviceptr, const void*, size_t, CUstream);
  CUresult (*memcpy_dtoh_async)(void*, CUdeviceptr, size_t, CUstream);
  CUresult (*memcpy_dtod_async)(CUdeviceptr, CUdeviceptr, size_t, CUstream);
  CUresult (*memset_d32_async)(CUdeviceptr, unsigned, size_t, CUstream);
  CUresult (*stream_create)(CUstream*, unsigned);
  CUresult (*stream_destroy)(CUstream);
  CUresult (*stream_synchronize)(CUstream);
  CUresult (*stream_wait_event)(CUstream, CUevent, unsigned);
  CUresult (*event_create)(CUevent*, unsigned);
  CUresult (*event_destroy)(CUevent);
  CUresult (*event_record)(CUevent, CUstream);
  CUresult (*event_synchronize)(CUevent);
  CUresult (*event_elapsed_time)(float*, CUevent, CUevent);
  CUresult (*launch_kernel)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                            unsigned, CUstream, void**, void**);
  CUresult (*get_error_name)(CUresult, const char**);
  CUresult (*get_error_string)(CUresult, const char**);
};

struct CloseLibrary {
  void operator()(void* library) const { dlclose(library); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

class Libcuda final : public DriverApi {
 public:
  Libcuda(Library library, const Functions& f) : library_(std::move(library)), f_(f) {}

  CUresult init() override { return f_.init(0); }
  CUresult driver_version(int* version) override { return f_.driver_get_version(version); }
  CUresult device_count(int* count) override { return f_.device_get_count(count); }
  CUresult device_get(CUdevice* device, int ordinal) override {
    return f_.device_get(device, ordinal);
  }
  CUresult device_name(char* name, int length, CUdevice device) override {
    return f_.device_get_name(name, length, device);
  }
  CUresult device_uuid(CUuuid* uuid, CUdevice device) override {
    return f_.device_get_uuid(uuid, device);
  }
  CUresult device_attribute(int* value, CUdevice_attribute attribute, CUdevice device) override {
    return f_.device_get_attribute(value, attribute, device);
  }
  CUresult device_total_memory(size_t* bytes, CUdevice device) override {
    return f_.device_total_mem(bytes, device);
  }
  CUresult primary_context_retain(CUcontext* context, CUdevice device) override {
    return f_.primary_ctx_retain(context, device);
  }
  CUresult primary_context_release(CUdevice device) override {
    return f_.primary_ctx_release(device);
  }
  CUresult context_set_current(CUcontext context) override { return f_.ctx_set_current(context); }
  CUresult context_synchronize() override { return f_.ctx_synchronize(); }
  CUresult memory_info(size_t* free_bytes, size_t* total_bytes) override {
    return f_.mem_get_info(free_bytes, total_bytes);
  }
  CUresult module_load_data(CUmodule* module, std::span<const uint8_t> image) override {
    return f_.module_load_data(module, image.data());
  }
  CUresult module_unload(CUmodule module) override { return f_.module_unload(module); }
  CUresult module_get_function(CUfunction* function, CUmodule module, const char* name) override {
    return f_.module_get_function(function, module, name);
  }
  CUresult function_get_attribute(int* value, CUfunction_attribute attribute,
                                  CUfunction function) override {
    return f_.func_get_attribute(value, attribute, function);
  }
  CUresult function_set_attribute(CUfunction function, CUfunction_attribute attribute,
                                  int value) override {
    return f_.func_set_attribute(function, attribute, value);
  }
  CUresult memory_pool_create(CUmemoryPool* pool, const CUmemPoolProps* properties) override {
    return f_.mem_pool_create(pool, properties);
  }
  CUresult memory_pool_destroy(CUmemoryPool pool) override { return f_.mem_pool_destroy(pool); }
  CUresult memory_pool_set_attribute(CUmemoryPool pool, CUmemPool_attribute attribute,
                                     void* value) override {
    return f_.mem_pool_set_attribute(pool, attribute, value);
  }
  CUresult memory_pool_get_attribute(CUmemoryPool pool, CUmemPool_attribute attribute,
                                     void* value) override {
    return f_.mem_pool_get_attribute(pool, attribute, value);
  }
  CUresult memory_pool_trim_to(CUmemoryPool pool, size_t bytes_to_keep) override {
    return f_.mem_pool_trim_to(pool, bytes_to_keep);
  }
  CUresult memory_allocate_from_pool_async(CUdeviceptr* address, size_t bytes, CUmemoryPool pool,
                                           CUstream stream) override {
    return f_.mem_alloc_from_pool_async(address, bytes, pool, stream);
  }
  CUresult memory_free_async(CUdeviceptr address, CUstream stream) override {
    return f_.mem_free_async(address, stream);
  }
  CUresult host_allocate(void** address, size_t bytes, unsigned flags) override {
    return f_.mem_host_alloc(address, bytes, flags);
  }
  CUresult host_free(void* address) override { return f_.mem_free_host(address); }
  CUresult copy_host_to_device_async(CUdeviceptr destination, const void* source, size_t bytes,
                                     CUstream stream) override {
    return f_.memcpy_htod_async(destination, source, bytes, stream);
  }
  CUresult copy_device_to_host_async(void* destination, CUdeviceptr source, size_t bytes,
                                     CUstream stream) override {
    return f_.memcpy_dtoh_async(destination, source, bytes, stream);
  }
  CUresult copy_device_to_device_async(CUdeviceptr destination, CUdeviceptr source, size_t bytes,
                                       CUstream stream) override {
    return f_.memcpy_dtod_async(destination, source, bytes, stream);
  }
  CUresult fill_d32_async(CUdeviceptr destination, uint32_t value, size_t words,
                          CUstream stream) override {
    return f_.memset_d32_async(destination, value, words, stream);
  }
  CUresult stream_create(CUstream* stream, unsigned flags) override {
    return f_.stream_create(stream, flags);
  }
  CUresult stream_destroy(CUstream stream) override { return f_.stream_destroy(stream); }
  CUresult stream_synchronize(CUstream stream) override { return f_.stream_synchronize(stream); }
  CUresult stream_wait_event(CUstream stream, CUevent event) override {
    return f_.stream_wait_event(stream, event, 0);
  }
  CUresult event_create(CUevent* event, unsigned flags) override {
    return f_.event_create(event, flags);
  }
  CUresult event_destroy(CUevent event) override { return f_.event_destroy(event); }
  CUresult event_record(CUevent event, CUstream stream) override {
    return f_.event_record(event, stream);
  }
  CUresult event_synchronize(CUevent event) override { return f_.event_synchronize(event); }
  CUresult event_elapsed_ms(float* milliseconds, CUevent begin, CUevent end) override {
    return f_.event_elapsed_time(milliseconds, begin, end);
  }
  CUresult launch_kernel(CUfunction function, uint32_t grid_x, uint32_t grid_y, uint32_t threads,
                         uint32_t shared_bytes, CUstream stream, const void* args,
                         size_t /*args_size: the driver knows it from the module*/) override {
    void* parameters[] = {const_cast<void*>(args)};
    return f_.launch_kernel(function, grid_x, grid_y, 1, threads, 1, 1, shared_bytes, stream,
                            parameters, nullptr);
  }
  const char* error_name(CUresult result) override {
    const char* text = nullptr;
    return f_.get_error_name(result, &text) == CUDA_SUCCESS && text ? text : "unknown CUresult";
  }
  const char* error_text(CUresult result) override {
    const char* text = nullptr;
    return f_.get_error_string(result, &text) == CUDA_SUCCESS && text ? text : "unknown error";
  }

 private:
  Library library_;
  Functions f_;
};

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

LibcudaDriver open_libcuda() {
  Library library(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL));
  if (!library) {
    const char* error = dlerror();
    return {nullptr,
            std::string("no NVIDIA driver: ") + (error ? error : "libcuda.so.1 not found")};
  }
  const auto get = reinterpret_cast<GetProcAddress>(dlsym(library.get(), "cuGetProcAddress_v2"));
  if (get == nullptr)
    return {nullptr, "the NVIDIA driver is older than CUDA 12.0; kernels are built with CUDA " +
                         version_text(CUDA_VERSION) + ": install a newer driver"};

  Functions f{};
  std::string missing;
  const auto resolve = [&](auto& function, const char* name) {
    void* address = nullptr;
    CUdriverProcAddressQueryResult status{};
    const CUresult result =
        get(name, &address, kInterfaceVersion, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &status);
    if (result != CUDA_SUCCESS || address == nullptr) {
      if (missing.empty()) missing = name;
      return;
    }
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
  };
  resolve(f.init, "cuInit");
  resolve(f.driver_get_version, "cuDriverGetVersion");
  resolve(f.device_get_count, "cuDeviceGetCount");
  resolve(f.device_get, "cuDeviceGet");
  resolve(f.device_get_name, "cuDeviceGetName");
  resolve(f.device_get_uuid, "cuDeviceGetUuid");
  resolve(f.device_get_attribute, "cuDeviceGetAttribute");
  resolve(f.device_total_mem, "cuDeviceTotalMem");
  resolve(f.primary_ctx_retain, "cuDevicePrimaryCtxRetain");
  resolve(f.primary_ctx_release, "cuDevicePrimaryCtxRelease");
  resolve(f.ctx_set_current, "cuCtxSetCurrent");
  resolve(f.ctx_synchronize, "cuCtxSynchronize");
  resolve(f.mem_get_info, "cuMemGetInfo");
  resolve(f.module_load_data, "cuModuleLoadData");
  resolve(f.module_unload, "cuModuleUnload");
  resolve(f.module_get_function, "cuModuleGetFunction");
  resolve(f.func_get_attribute, "cuFuncGetAttribute");
  resolve(f.func_set_attribute, "cuFuncSetAttribute");
  resolve(f.mem_pool_create, "cuMemPoolCreate");
  resolve(f.mem_pool_destroy, "cuMemPoolDestroy");
  resolve(f.mem_pool_set_attribute, "cuMemPoolSetAttribute");
  resolve(f.mem_pool_get_attribute, "cuMemPoolGetAttribute");
  resolve(f.mem_pool_trim_to, "cuMemPoolTrimTo");
  resolve(f.mem_alloc_from_pool_async, "cuMemAllocFromPoolAsync");
  resolve(f.mem_free_async, "cuMemFreeAsync");
  resolve(f.mem_host_alloc, "cuMemHostAlloc");
  resolve(f.mem_free_host, "cuMemFreeHost");
  resolve(f.memcpy_htod_async, "cuMemcpyHtoDAsync");
  resolve(f.memcpy_dtoh_async, "cuMemcpyDtoHAsync");
  resolve(f.memcpy_dtod_async, "cuMemcpyDtoDAsync");
  resolve(f.memset_d32_async, "cuMemsetD32Async");
  resolve(f.stream_create, "cuStreamCreate");
  resolve(f.stream_destroy, "cuStreamDestroy");
  resolve(f.stream_synchronize, "cuStreamSynchronize");
  resolve(f.stream_wait_event, "cuStreamWaitEvent");
  resolve(f.event_create, "cuEventCreate");
  resolve(f.event_destroy, "cuEventDestroy");
  resolve(f.event_record, "cuEventRecord");
  resolve(f.event_synchronize, "cuEventSynchronize");
  resolve(f.event_elapsed_time, "cuEventElapsedTime");
  resolve(f.launch_kernel, "cuLaunchKernel");
  resolve(f.get_error_name, "cuGetErrorName");
  resolve(f.get_error_string, "cuGetErrorString");
  if (!missing.empty())
    return {nullptr, "the NVIDIA driver has no " + missing + ": install a newer driver"};

  int version = 0;
  if (f.driver_get_version(&version) != CUDA_SUCCESS)
    return {nullptr, "the NVIDIA driver does not tell its version"};
  // Minor versions of one major version load each other's cubins.
  if (version / 1000 < CUDA_VERSION / 1000)
    return {nullptr, "the NVIDIA driver supports CUDA " + version_text(version) +
                         "; kernels are built with CUDA " + version_text(CUDA_VERSION) +
                         ": install a newer driver"};
  return {std::make_unique<Libcuda>(std::move(library), f), {}};
}

}  // namespace stwo::gpu

// Base of the decorators: passes every call on to another driver.
#pragma once

#include <memory>
#include <utility>

#include "kernels/runtime/driver_api.hpp"

namespace stwo::gpu {

class ForwardingDriver : public DriverApi {
 public:
  explicit ForwardingDriver(std::unique_ptr<DriverApi> inner) : inner_(std::move(inner)) {}

  CUresult init() override { return inner_->init(); }
  CUresult driver_version(int* version) override { return inner_->driver_version(version); }
  CUresult device_count(int* count) override { return inner_->device_count(count); }
  CUresult device_get(CUdevice* device, int ordinal) override {
    return inner_->device_get(device, ordinal);
  }
  CUresult device_name(char* name, int length, CUdevice device) override {
    return inner_->device_name(name, length, device);
  }
  CUresult device_uuid(CUuuid* uuid, CUdevice device) override {
    return inner_->device_uuid(uuid, device);
  }
  CUresult device_attribute(int* value, CUdevice_attribute attribute, CUdevice device) override {
    return inner_->device_attribute(value, attribute, device);
  }
  CUresult device_total_memory(size_t* bytes, CUdevice device) override {
    return inner_->device_total_memory(bytes, device);
  }
  CUresult primary_context_retain(CUcontext* context, CUdevice device) override {
    return inner_->primary_context_retain(context, device);
  }
  CUresult primary_context_release(CUdevice device) override {
    return inner_->primary_context_release(device);
  }
  CUresult context_set_current(CUcontext context) override {
    return inner_->context_set_current(context);
  }
  CUresult context_synchronize() override { return inner_->context_synchronize(); }
  CUresult memory_info(size_t* free_bytes, size_t* total_bytes) override {
    return inner_->memory_info(free_bytes, total_bytes);
  }
  CUresult module_load_data(CUmodule* module, std::span<const uint8_t> image) override {
    return inner_->module_load_data(module, image);
  }
  CUresult module_unload(CUmodule module) override { return inner_->module_unload(module); }
  CUresult module_get_function(CUfunction* function, CUmodule module, const char* name) override {
    return inner_->module_get_function(function, module, name);
  }
  CUresult function_get_attribute(int* value, CUfunction_attribute attribute,
                                  CUfunction function) override {
    return inner_->function_get_attribute(value, attribute, function);
  }
  CUresult function_set_attribute(CUfunction function, CUfunction_attribute attribute,
                                  int value) override {
    return inner_->function_set_attribute(function, attribute, value);
  }
  CUresult memory_pool_create(CUmemoryPool* pool, const CUmemPoolProps* properties) override {
    return inner_->memory_pool_create(pool, properties);
  }
  CUresult memory_pool_destroy(CUmemoryPool pool) override {
    return inner_->memory_pool_destroy(pool);
  }
  CUresult memory_pool_set_attribute(CUmemoryPool pool, CUmemPool_attribute attribute,
                                     void* value) override {
    return inner_->memory_pool_set_attribute(pool, attribute, value);
  }
  CUresult memory_pool_get_attribute(CUmemoryPool pool, CUmemPool_attribute attribute,
                                     void* value) override {
    return inner_->memory_pool_get_attribute(pool, attribute, value);
  }
  CUresult memory_pool_trim_to(CUmemoryPool pool, size_t bytes_to_keep) override {
    return inner_->memory_pool_trim_to(pool, bytes_to_keep);
  }
  CUresult memory_allocate_from_pool_async(CUdeviceptr* address, size_t bytes, CUmemoryPool pool,
                                           CUstream stream) override {
    return inner_->memory_allocate_from_pool_async(address, bytes, pool, stream);
  }
  CUresult memory_free_async(CUdeviceptr address, CUstream stream) override {
    return inner_->memory_free_async(address, stream);
  }
  CUresult host_allocate(void** address, size_t bytes, unsigned flags) override {
    return inner_->host_allocate(address, bytes, flags);
  }
  CUresult host_free(void* address) override { return inner_->host_free(address); }
  CUresult copy_host_to_device_async(CUdeviceptr destination, const void* source, size_t bytes,
                                     CUstream stream) override {
    return inner_->copy_host_to_device_async(destination, source, bytes, stream);
  }
  CUresult copy_device_to_host_async(void* destination, CUdeviceptr source, size_t bytes,
                                     CUstream stream) override {
    return inner_->copy_device_to_host_async(destination, source, bytes, stream);
  }
  CUresult copy_device_to_device_async(CUdeviceptr destination, CUdeviceptr source, size_t bytes,
                                       CUstream stream) override {
    return inner_->copy_device_to_device_async(destination, source, bytes, stream);
  }
  CUresult fill_d32_async(CUdeviceptr destination, uint32_t value, size_t words,
                          CUstream stream) override {
    return inner_->fill_d32_async(destination, value, words, stream);
  }
  CUresult stream_create(CUstream* stream, unsigned flags) override {
    return inner_->stream_create(stream, flags);
  }
  CUresult stream_destroy(CUstream stream) override { return inner_->stream_destroy(stream); }
  CUresult stream_synchronize(CUstream stream) override {
    return inner_->stream_synchronize(stream);
  }
  CUresult stream_wait_event(CUstream stream, CUevent event) override {
    return inner_->stream_wait_event(stream, event);
  }
  CUresult event_create(CUevent* event, unsigned flags) override {
    return inner_->event_create(event, flags);
  }
  CUresult event_destroy(CUevent event) override { return inner_->event_destroy(event); }
  CUresult event_record(CUevent event, CUstream stream) override {
    return inner_->event_record(event, stream);
  }
  CUresult event_synchronize(CUevent event) override { return inner_->event_synchronize(event); }
  CUresult event_elapsed_ms(float* milliseconds, CUevent begin, CUevent end) override {
    return inner_->event_elapsed_ms(milliseconds, begin, end);
  }
  CUresult launch_kernel(CUfunction function, uint32_t grid_x, uint32_t grid_y, uint32_t threads,
                         uint32_t shared_bytes, CUstream stream, const void* args,
                         size_t args_size) override {
    return inner_->launch_kernel(function, grid_x, grid_y, threads, shared_bytes, stream, args,
                                 args_size);
  }
  const char* error_name(CUresult result) override { return inner_->error_name(result); }
  const char* error_text(CUresult result) override { return inner_->error_text(result); }

 protected:
  DriverApi& inner() { return *inner_; }

 private:
  std::unique_ptr<DriverApi> inner_;
};

}  // namespace stwo::gpu

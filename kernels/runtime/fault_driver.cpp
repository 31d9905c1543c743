#include "kernels/runtime/fault_driver.hpp"

#include "kernels/runtime/errors.hpp"

namespace stwo::gpu {
namespace {

size_t index_of(FaultPoint point) { return static_cast<size_t>(point); }

bool is_acquisition(FaultPoint point) {
  return point > FaultPoint::kAcquisition && point <= FaultPoint::kEventCreation;
}

}  // namespace

void FaultPlan::arm(Fault fault) {
  const std::lock_guard lock(mutex_);
  fault_ = std::move(fault);
  hit_ = false;
  sticky_.reset();
}

void FaultPlan::disarm() {
  const std::lock_guard lock(mutex_);
  fault_.reset();
  sticky_.reset();
}

bool FaultPlan::hit() const {
  const std::lock_guard lock(mutex_);
  return hit_;
}

uint64_t FaultPlan::calls(FaultPoint point) const {
  const std::lock_guard lock(mutex_);
  return calls_[index_of(point)];
}

std::optional<CUresult> FaultPlan::check(FaultPoint point, const std::string* kernel) {
  const std::lock_guard lock(mutex_);
  ++calls_[index_of(point)];
  if (is_acquisition(point)) ++calls_[index_of(FaultPoint::kAcquisition)];
  if (sticky_) return sticky_;
  if (!fault_ || hit_) return std::nullopt;
  const bool matches = fault_->point == point ||
                       (fault_->point == FaultPoint::kAcquisition && is_acquisition(point));
  if (!matches) return std::nullopt;
  if (!fault_->kernel.empty() && (kernel == nullptr || *kernel != fault_->kernel))
    return std::nullopt;
  if (--fault_->ordinal != 0) return std::nullopt;
  hit_ = true;
  if (is_sticky(fault_->result)) sticky_ = fault_->result;
  return fault_->result;
}

CUresult FaultDriver::module_load_data(CUmodule* module, std::span<const uint8_t> image) {
  if (const auto fault = plan_->check(FaultPoint::kModuleLoad, nullptr)) return *fault;
  return inner().module_load_data(module, image);
}

CUresult FaultDriver::module_get_function(CUfunction* function, CUmodule module, const char* name) {
  const CUresult result = inner().module_get_function(function, module, name);
  if (result == CUDA_SUCCESS) {
    const std::lock_guard lock(mutex_);
    kernels_[*function] = name;
  }
  return result;
}

CUresult FaultDriver::memory_pool_create(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  if (const auto fault = plan_->check(FaultPoint::kPoolCreation, nullptr)) return *fault;
  return inner().memory_pool_create(pool, properties);
}

CUresult FaultDriver::memory_allocate_from_pool_async(CUdeviceptr* address, size_t bytes,
                                                      CUmemoryPool pool, CUstream stream) {
  if (const auto fault = plan_->check(FaultPoint::kDeviceAllocation, nullptr)) return *fault;
  return inner().memory_allocate_from_pool_async(address, bytes, pool, stream);
}

CUresult FaultDriver::memory_free_async(CUdeviceptr address, CUstream stream) {
  {
    const std::lock_guard lock(plan_->mutex_);
    if (plan_->sticky_) return *plan_->sticky_;
  }
  return inner().memory_free_async(address, stream);
}

CUresult FaultDriver::host_allocate(void** address, size_t bytes, unsigned flags) {
  if (const auto fault = plan_->check(FaultPoint::kHostAllocation, nullptr)) return *fault;
  return inner().host_allocate(address, bytes, flags);
}

CUresult FaultDriver::copy_host_to_device_async(CUdeviceptr destination, const void* source,
                                                size_t bytes, CUstream stream) {
  if (const auto fault = plan_->check(FaultPoint::kCopyHostToDevice, nullptr)) return *fault;
  return inner().copy_host_to_device_async(destination, source, bytes, stream);
}

CUresult FaultDriver::copy_device_to_host_async(void* destination, CUdeviceptr source, size_t bytes,
                                                CUstream stream) {
  if (const auto fault = plan_->check(FaultPoint::kCopyDeviceToHost, nullptr)) return *fault;
  return inner().copy_device_to_host_async(destination, source, bytes, stream);
}

CUresult FaultDriver::copy_device_to_device_async(CUdeviceptr destination, CUdeviceptr source,
                                                  size_t bytes, CUstream stream) {
  if (const auto fault = plan_->check(FaultPoint::kCopyDeviceToDevice, nullptr)) return *fault;
  return inner().copy_device_to_device_async(destination, source, bytes, stream);
}

CUresult FaultDriver::fill_d32_async(CUdeviceptr destination, uint32_t value, size_t words,
                                     CUstream stream) {
  if (const auto fault = plan_->check(FaultPoint::kFill, nullptr)) return *fault;
  return inner().fill_d32_async(destination, value, words, stream);
}

CUresult FaultDriver::stream_create(CUstream* stream, unsigned flags) {
  if (const auto fault = plan_->check(FaultPoint::kStreamCreation, nullptr)) return *fault;
  return inner().stream_create(stream, flags);
}

CUresult FaultDriver::stream_synchronize(CUstream stream) {
  if (const auto fault = plan_->check(FaultPoint::kStreamSynchronize, nullptr)) return *fault;
  return inner().stream_synchronize(stream);
}

CUresult FaultDriver::event_create(CUevent* event, unsigned flags) {
  if (const auto fault = plan_->check(FaultPoint::kEventCreation, nullptr)) return *fault;
  return inner().event_create(event, flags);
}

CUresult FaultDriver::event_record(CUevent event, CUstream stream) {
  if (const auto fault = plan_->check(FaultPoint::kEventRecord, nullptr)) return *fault;
  return inner().event_record(event, stream);
}

CUresult FaultDriver::event_synchronize(CUevent event) {
  if (const auto fault = plan_->check(FaultPoint::kEventSynchronize, nullptr)) return *fault;
  return inner().event_synchronize(event);
}

CUresult FaultDriver::launch_kernel(CUfunction function, uint32_t grid_x, uint32_t grid_y,
                                    uint32_t threads, uint32_t shared_bytes, CUstream stream,
                                    const void* args, size_t args_size) {
  std::string kernel;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = kernels_.find(function); found != kernels_.end()) kernel = found->second;
  }
  if (const auto fault = plan_->check(FaultPoint::kLaunch, &kernel)) return *fault;
  return inner().launch_kernel(function, grid_x, grid_y, threads, shared_bytes, stream, args,
                               args_size);
}

}  // namespace stwo::gpu

#include "kernels/runtime/device.hpp"

#include <string_view>

#include "kernels/runtime/errors.hpp"

namespace stwo::gpu {
namespace {

std::string uuid_text(const CUuuid& uuid) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "GPU-";
  for (size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace

DeviceIdentity identify_device(DriverApi& driver, int ordinal) {
  const auto check = [&](CUresult result, std::string_view call) {
    if (result != CUDA_SUCCESS)
      throw CudaError(result, driver.error_name(result), driver.error_text(result),
                      {call, "init", {}});
  };
  int count = 0;
  const CUresult counted = driver.device_count(&count);
  if (counted != CUDA_ERROR_NO_DEVICE) check(counted, "cuDeviceGetCount");
  if (count == 0)
    throw EnvironmentError("NO_CUDA_DEVICE",
                           "no CUDA device is visible: check nvidia-smi and CUDA_VISIBLE_DEVICES");
  if (ordinal < 0 || ordinal >= count)
    throw EnvironmentError("NO_CUDA_DEVICE", "there is no CUDA device " + std::to_string(ordinal) +
                                                 ": choose 0 to " + std::to_string(count - 1));

  CUdevice device = 0;
  check(driver.device_get(&device, ordinal), "cuDeviceGet");
  const auto attribute = [&](CUdevice_attribute which) {
    int value = 0;
    check(driver.device_attribute(&value, which, device), "cuDeviceGetAttribute");
    return value;
  };
  if (attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) == 0)
    throw EnvironmentError("DEVICE_UNSUPPORTED",
                           "the device has no stream-ordered memory pools: use another device or "
                           "--backend cpu");

  DeviceIdentity out;
  out.ordinal = ordinal;
  char name[256] = {};
  check(driver.device_name(name, sizeof(name), device), "cuDeviceGetName");
  out.name = name;
  CUuuid uuid{};
  check(driver.device_uuid(&uuid, device), "cuDeviceGetUuid");
  out.uuid = uuid_text(uuid);
  size_t bytes = 0;
  check(driver.device_total_memory(&bytes, device), "cuDeviceTotalMem");
  out.global_memory_bytes = bytes;
  out.sm_major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  out.sm_minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  out.multiprocessors = static_cast<uint32_t>(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  out.l2_bytes = static_cast<uint64_t>(attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  out.max_shared_per_block_bytes =
      static_cast<uint32_t>(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  check(driver.driver_version(&out.driver_version), "cuDriverGetVersion");
  out.toolkit_version = CUDA_VERSION;
  // The driver API has no query for it; the names of instances carry their profile.
  out.mig = out.name.find(" MIG ") != std::string::npos;
  return out;
}

}  // namespace stwo::gpu

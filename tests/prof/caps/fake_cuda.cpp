// Stands in for libcuda.so.1 and libcudart in tests. FAKE_CUDA_INIT: result of cuInit.
// FAKE_CUDA_COUNT: number of devices. FAKE_CUDA_CLOCK: their memory clock in kHz.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

int variable(const char* name, int otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::atoi(value);
}

EXPORT int cuInit(unsigned) { return variable("FAKE_CUDA_INIT", 0); }
EXPORT int cuGetErrorString(int code, const char** text) {
  *text = code == 100 ? "no CUDA-capable device is detected" : nullptr;
  return code == 100 ? 0 : 1;
}
EXPORT int cuDriverGetVersion(int* out) {
  *out = 12080;
  return 0;
}
EXPORT int cuDeviceGetCount(int* out) {
  *out = variable("FAKE_CUDA_COUNT", 1);
  return 0;
}
EXPORT int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}
EXPORT int cuDeviceGetUuid_v2(unsigned char* out, int device) {
  for (int i = 0; i < 16; ++i) out[i] = static_cast<unsigned char>(i * 16 + device);
  return 0;
}
EXPORT int cuDeviceGetName(char* out, int length, int) {
  std::snprintf(out, static_cast<size_t>(length), "Fake device");
  return 0;
}
EXPORT int cuDeviceTotalMem_v2(size_t* bytes, int) {
  *bytes = size_t{80} << 30;
  return 0;
}
EXPORT int cuDeviceGetAttribute(int* out, int attribute, int) {
  switch (attribute) {
    case 16: *out = 132; return 0;
    case 36: *out = variable("FAKE_CUDA_CLOCK", 2619000); return 0;
    case 37: *out = 5120; return 0;
    case 38: *out = 50 << 20; return 0;
    case 75: *out = 9; return 0;
    case 76: *out = 0; return 0;
    default: return 1;
  }
}
EXPORT int cudaRuntimeGetVersion(int* out) {
  *out = 12060;
  return 0;
}

}  // namespace

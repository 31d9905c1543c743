#include "prof/caps/driver.hpp"

#include <cstdio>

#include "prof/nvml/library.hpp"
#include "prover/cli/terminal.hpp"

namespace prof {
namespace {

// Numbers of the driver's interface: CUdevice_attribute in NVIDIA's driver API reference.
constexpr int kMultiprocessors = 16;
constexpr int kMemoryClockKhz = 36;
constexpr int kBusWidthBits = 37;
constexpr int kL2Bytes = 38;
constexpr int kComputeMajor = 75;
constexpr int kComputeMinor = 76;

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

struct Uuid {
  unsigned char bytes[16];
};

std::string uuid_text(const Uuid& uuid) {
  std::string out = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    char text[3];
    std::snprintf(text, sizeof text, "%02x", uuid.bytes[i]);
    out += text;
  }
  return out;
}

class Driver {
 public:
  Driver() : library_("STWO_LIBCUDA", "libcuda.so.1") {}

  DriverFacts read() {
    if (!library_.is_loaded()) {
      return all_unknown("the CUDA driver cannot be loaded (" + library_.error() +
                         "); install the NVIDIA driver");
    }
    auto* init = library_.function<int(unsigned)>({"cuInit"});
    if (init == nullptr) return all_unknown(library_.name() + " is no CUDA driver");
    DriverFacts out;
    out.cuda_version = version();
    if (const int code = init(0); code != 0) {
      out.devices = Known<std::vector<DriverDevice>>::unknown("cuInit: " + text(code));
      return out;
    }
    out.devices = devices();
    return out;
  }

 private:
  static DriverFacts all_unknown(const std::string& why) {
    return {Known<std::string>::unknown(why), Known<std::vector<DriverDevice>>::unknown(why)};
  }

  std::string text(int code) const {
    const char* said = nullptr;
    auto* error_string = library_.function<int(int, const char**)>({"cuGetErrorString"});
    if (error_string != nullptr && error_string(code, &said) == 0 && said != nullptr) {
      return stwo::one_line(said);
    }
    return "CUDA error " + std::to_string(code);
  }

  Known<std::string> version() const {
    auto* get = library_.function<int(int*)>({"cuDriverGetVersion"});
    int number = 0;
    if (get == nullptr || get(&number) != 0) {
      return Known<std::string>::unknown("the driver does not tell its version");
    }
    return Known<std::string>::of(version_text(number));
  }

  Known<std::vector<DriverDevice>> devices() const {
    using Result = Known<std::vector<DriverDevice>>;
    auto* count_of = library_.function<int(int*)>({"cuDeviceGetCount"});
    auto* get = library_.function<int(int*, int)>({"cuDeviceGet"});
    auto* uuid_of = library_.function<int(Uuid*, int)>({"cuDeviceGetUuid_v2", "cuDeviceGetUuid"});
    if (count_of == nullptr || get == nullptr || uuid_of == nullptr) {
      return Result::unknown("the driver lacks functions of CUDA 9.2 and later; update it");
    }
    int count = 0;
    if (const int code = count_of(&count); code != 0) return Result::unknown(text(code));
    std::vector<DriverDevice> out;
    for (int i = 0; i < count; ++i) {
      int device = 0;
      Uuid uuid{};
      int code = get(&device, i);
      if (code == 0) code = uuid_of(&uuid, device);
      if (code != 0) return Result::unknown("device " + std::to_string(i) + ": " + text(code));
      out.push_back(read_device(device, uuid));
    }
    return Result::of(std::move(out));
  }

  Known<uint32_t> attribute(int device, int which) const {
    auto* get = library_.function<int(int*, int, int)>({"cuDeviceGetAttribute"});
    if (get == nullptr) return Known<uint32_t>::unknown("the driver lacks cuDeviceGetAttribute");
    int value = 0;
    if (const int code = get(&value, which, device); code != 0) {
      return Known<uint32_t>::unknown(text(code));
    }
    if (value < 0) return Known<uint32_t>::unknown("the driver answers with a negative number");
    return Known<uint32_t>::of(static_cast<uint32_t>(value));
  }

  Known<std::string> name(int device) const {
    auto* get = library_.function<int(char*, int, int)>({"cuDeviceGetName"});
    char buffer[256] = {};
    if (get == nullptr || get(buffer, sizeof buffer - 1, device) != 0) {
      return Known<std::string>::unknown("the driver does not tell the name");
    }
    return Known<std::string>::of(stwo::one_line(buffer));
  }

  Known<uint64_t> memory_bytes(int device) const {
    auto* get = library_.function<int(size_t*, int)>({"cuDeviceTotalMem_v2"});
    size_t bytes = 0;
    if (get == nullptr || get(&bytes, device) != 0) {
      return Known<uint64_t>::unknown("the driver does not tell the size of the memory");
    }
    return Known<uint64_t>::of(bytes);
  }

  DriverDevice read_device(int device, const Uuid& uuid) const {
    DriverDevice out;
    out.uuid = uuid_text(uuid);
    out.name = name(device);
    out.multiprocessors = attribute(device, kMultiprocessors);
    out.memory_bytes = memory_bytes(device);
    const Known<uint32_t> l2 = attribute(device, kL2Bytes);
    out.l2_bytes =
        l2.has_value() ? Known<uint64_t>::of(*l2.value) : Known<uint64_t>::unknown(l2.reason);
    const Known<uint32_t> major = attribute(device, kComputeMajor);
    const Known<uint32_t> minor = attribute(device, kComputeMinor);
    out.sm = major.has_value() && minor.has_value()
                 ? Known<uint32_t>::of(*major.value * 10 + *minor.value)
                 : Known<uint32_t>::unknown(major.has_value() ? minor.reason : major.reason);
    const uint64_t clock_khz = attribute(device, kMemoryClockKhz).value.value_or(0);
    const uint64_t width_bits = attribute(device, kBusWidthBits).value.value_or(0);
    out.peak_memory_bytes_per_s =
        clock_khz == 0 || width_bits == 0
            ? Known<uint64_t>::unknown("the driver does not tell memory clock and bus width")
            : Known<uint64_t>::of(2 * clock_khz * 1000 * width_bits / 8);
    return out;
  }

  Library library_;
};

}  // namespace

DriverFacts read_driver() { return Driver().read(); }

Known<std::string> runtime_version() {
  for (const char* name : {"libcudart.so.13", "libcudart.so.12", "libcudart.so"}) {
    const Library library("STWO_CUDART", name);
    auto* get = library.function<int(int*)>({"cudaRuntimeGetVersion"});
    int number = 0;
    if (get != nullptr && get(&number) == 0) return Known<std::string>::of(version_text(number));
  }
  return Known<std::string>::unknown(
      "no CUDA runtime library is installed; programs may bring "
      "their own");
}

}  // namespace prof

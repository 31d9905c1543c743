// A DriverApi over host memory and the kernel emulator: the whole CUDA backend runs on it in tests,
// on machines without a GPU. Never linked into a product.
//
// Work is queued as on a device: a copy, fill or kernel runs when something waits for it, in the
// order of issue over all streams. So a host buffer that is reused or read too early gives wrong
// results here as it does there. Device memory is filled with a poison byte when allocated and when
// freed, and each allocation has exactly its size, so that AddressSanitizer sees kernels that leave
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/runtime/driver_api.hpp"

namespace stwo::gpu {

/// Fresh and freed device memory holds this byte; four of them are no M31 value.
inline constexpr unsigned char kDevicePoison = 0xd9;

/// What the emulated device pretends to be.
struct EmulatedDeviceConfig {
  std::string name = "Emulated device";
  unsigned char uuid[16] = {0x5e, 0x7a, 0x11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
  int device_count = 1;
  int driver_version = 13000;
  int sm_major = 9;
  int sm_minor = 0;
  int multiprocessors = 132;
  int max_shared_per_block_optin = 227 * 1024;
  int l2_bytes = 50 * 1024 * 1024;
  uint64_t memory_bytes = uint64_t{8} << 30;
  bool memory_pools = true;
};

/// State of the device and of all objects made on it. A test keeps it to look at, also after the
/// driver is gone. Not thread-safe.
class EmulatedDevice {
 public:
  explicit EmulatedDevice(EmulatedDeviceConfig config = {});
  ~EmulatedDevice();
  EmulatedDevice(const EmulatedDevice&) = delete;
  EmulatedDevice& operator=(const EmulatedDevice&) = delete;

  /// Things that exist now.
  struct Live {
    uint64_t contexts = 0;  ///< retained primary contexts
    uint64_t modules = 0;
    uint64_t pools = 0;
    uint64_t device_blocks = 0;
    uint64_t device_bytes = 0;
    uint64_t host_blocks = 0;
    uint64_t host_bytes = 0;
    uint64_t streams = 0;
    uint64_t events = 0;
    bool operator==(const Live&) const = default;
  };
  Live live() const;

  /// Uses of the interface that the real driver need not survive: freeing an address that is not
  /// the start of a live allocation, copying outside of one, a stale stream, event, module or pool.
  /// The call also returned an error.
  const std::vector<std::string>& violations() const;

  /// Starts a device that already has this many bytes taken by other programs.
  void set_foreign_bytes(uint64_t bytes);

  struct State;
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// A driver for the device. Kernels are those linked into the program: a module is any non-empty
/// image, and every module has every kernel.
std::unique_ptr<DriverApi> make_emulated_driver(std::shared_ptr<EmulatedDevice> device);

}  // namespace stwo::gpu

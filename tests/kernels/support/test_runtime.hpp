// The runtime that kernel tests launch on: one per process. Two files implement this header, one
// for the emulator and one for a real device; an executable links one of them.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/runtime/runtime.hpp"

namespace stwo::test {

/// Order in which a launch's threads and blocks run.
struct Schedule {
  std::string name;
  uint64_t seed = 0;
};
/// Without it a test's listing would show the seed, which no two runs share.
inline void PrintTo(const Schedule& schedule, std::ostream* out) { *out << schedule.name; }

/// The orders that every kernel test runs under: ascending, descending and random ones on the
/// emulator, where a difference between them shows a missing barrier; the device's own on a device.
std::vector<Schedule> schedules();
/// For all launches from now on.
void use_schedule(const Schedule& schedule);

/// The process's runtime, made at the first call; null: *why says why there is none.
gpu::CudaRuntime* find_runtime(std::string* why);

/// Uses of the driver that a real one need not survive; only the emulator sees them.
std::vector<std::string> driver_violations();

}  // namespace stwo::test

#include "kernels/emulator/emulated_runtime.hpp"
#include "kernels/emulator/emulator.hpp"
#include "tests/kernels/support/test_runtime.hpp"
#include "tests/support/random.hpp"

namespace stwo::test {
namespace {

gpu::EmulatedRuntime& emulated() {
  static gpu::EmulatedRuntime runtime = gpu::make_emulated_runtime();
  return runtime;
}

}  // namespace

std::vector<Schedule> schedules() {
  // 0 and 1 are the two fixed orders, so the random one's seed is at least 2.
  return {{"ascending", 0}, {"descending", 1}, {"random", run_seed() | 2}};
}

void use_schedule(const Schedule& schedule) { gpu::emulator::set_schedule(schedule.seed); }

gpu::CudaRuntime* find_runtime(std::string*) { return emulated().runtime.get(); }

std::vector<std::string> driver_violations() { return emulated().device->violations(); }

}  // namespace stwo::test

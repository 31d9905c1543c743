// Device kernels of the script that uses every request, as stwo_add_air generates them for an AIR's
// scripts, compiled for the emulator.
#include "kernels/air/air_rows.cuh"

// Script code is compiled for the device only here: its evaluators have no host side.
#undef STWO_HD
#define STWO_HD STWO_DEVICE

namespace stwo::gpu {
namespace {
namespace air {
#include "tests/support/row_scripts.inc"
}  // namespace air
}  // namespace

STWO_KERNEL(every_request_trace_0, TraceArgs, kAirThreads, 2) {
  generate_rows<air::EveryRequestScript>(args);
}
STWO_KERNEL(every_request_constraints_0, ConstraintArgs, kAirThreads, 2) {
  evaluate_rows<air::EveryRequestScript>(args);
}

}  // namespace stwo::gpu

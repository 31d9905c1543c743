// What the recorder knows about the process it is in, without asking CUDA.
#pragma once

#include <string>

#include "ledger/trace/trace_rows.hpp"

namespace prof {

/// Both clocks at one moment: the closest of several readings, so that a thread that was held up
/// between two clocks does not look like a step.
ledger::ClockPairRow read_clocks() noexcept;

/// Arguments of this process, quoted for a shell where needed. At most 4 KiB.
std::string command_line();
/// Base name of the program.
std::string process_name();

/// Version of the driver as CUDA counts it, e.g. "13.0"; empty: unknown. Only after cuInit.
std::string driver_version();

}  // namespace prof

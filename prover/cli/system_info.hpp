// What the operating system knows about this process and machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace stwo {

/// SHA-256 of the running executable.
std::string binary_sha256();
/// "model name" of the first processor; "unknown" where the kernel does not say.
std::string cpu_model_name();
/// Processors this process may run on.
uint32_t usable_cpus();
std::optional<uint64_t> physical_memory_bytes();
/// High-water mark of the resident set.
std::optional<uint64_t> peak_rss_bytes();
/// Nanoseconds since the kernel started this process; resolution one clock tick.
std::optional<uint64_t> ns_since_process_start();
/// Wall clock as 2026-01-31T23:59:59Z.
std::string utc_now();
/// Wall clock in nanoseconds since 1970.
uint64_t realtime_ns();

}  // namespace stwo

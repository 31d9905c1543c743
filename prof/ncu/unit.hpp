// Units of counters, brought to the five that the metric table uses.
#pragma once

#include <optional>
#include <string_view>

namespace prof {

/// Factor from `unit` as a profiler prints it to `wanted`, one of "ns", "byte", "byte/s", "%" and
/// "count". Bytes may be per block, and a count may be of anything, with or without a decimal
/// prefix (K, M, G, T). Unset: another unit, or one that is not known.
std::optional<double> unit_factor(std::string_view unit, std::string_view wanted);

}  // namespace prof

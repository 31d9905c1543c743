// Counters per kernel: medians over its captured launches.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "prof/ncu/counter_set.hpp"

namespace prof {

struct LaunchShape {
  std::array<int64_t, 3> grid{};
  std::array<int64_t, 3> block{};
  int64_t launches = 0;
};

struct KernelCounters {
  std::string kernel;
  int64_t launches = 0;             ///< captured
  std::vector<LaunchShape> shapes;  ///< by first appearance
  /// Lower medians, by key of the metric table; without a value if any launch has none.
  std::map<std::string, CounterValue> values;

  /// Throws ContractError for a key that is not in the metric table.
  const CounterValue& at(std::string_view key) const;
  /// Value of a key; unset: none.
  std::optional<double> value(std::string_view key) const { return at(key).value; }
  /// DRAM bytes read and written by the median launch.
  std::optional<double> dram_bytes() const;
};

/// One entry per kernel, by first appearance.
std::vector<KernelCounters> kernel_counters(const CounterSet& set);

/// A kernel of which no launch was captured: every value is missing, with `reason`.
KernelCounters no_counters(const std::string& kernel, const std::string& reason);

}  // namespace prof

#include "prof/ncu/kernel_counters.hpp"

#include <algorithm>
#include <cstddef>

#include "prover/errors.hpp"

namespace prof {
namespace {

CounterValue median_of(const std::vector<const LaunchCounters*>& launches, const std::string& key) {
  CounterValue out = launches.front()->values.at(key);
  std::vector<double> values;
  size_t without = 0;
  for (const LaunchCounters* launch : launches) {
    const CounterValue& v = launch->values.at(key);
    if (v.value) {
      values.push_back(*v.value);
    } else if (without++ == 0) {
      out = v;
    }
  }
  if (without != 0) {
    // The median of some launches would pass for that of all.
    if (without < launches.size()) {
      out.reason = "no value in " + std::to_string(without) + " of " +
                   std::to_string(launches.size()) + " launches: " + out.reason;
    }
    return out;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  out.value = *middle;
  return out;
}

void add_shape(std::vector<LaunchShape>* shapes, const LaunchCounters& launch) {
  const auto it = std::find_if(shapes->begin(), shapes->end(), [&](const LaunchShape& s) {
    return s.grid == launch.grid && s.block == launch.block;
  });
  if (it == shapes->end()) {
    shapes->push_back({launch.grid, launch.block, 1});
  } else {
    ++it->launches;
  }
}

}  // namespace

const CounterValue& KernelCounters::at(std::string_view key) const {
  const auto it = values.find(std::string(key));
  STWO_CHECK(it != values.end(), "no counter " + std::string(key));
  return it->second;
}

std::optional<double> KernelCounters::dram_bytes() const {
  const auto read = value("dram_read");
  const auto write = value("dram_write");
  if (!read || !write) return std::nullopt;
  return *read + *write;
}

std::vector<KernelCounters> kernel_counters(const CounterSet& set) {
  std::vector<KernelCounters> out;
  std::map<std::string, std::vector<const LaunchCounters*>> by_kernel;
  for (const LaunchCounters& launch : set.launches) {
    auto& launches = by_kernel[launch.kernel];
    if (launches.empty()) out.push_back({launch.kernel, 0, {}, {}});
    launches.push_back(&launch);
  }
  for (KernelCounters& kernel : out) {
    const auto& launches = by_kernel.at(kernel.kernel);
    kernel.launches = static_cast<int64_t>(launches.size());
    for (const LaunchCounters* launch : launches) add_shape(&kernel.shapes, *launch);
    for (const auto& entry : launches.front()->values) {
      kernel.values.emplace(entry.first, median_of(launches, entry.first));
    }
  }
  return out;
}

KernelCounters no_counters(const std::string& kernel, const std::string& reason) {
  KernelCounters out{kernel, 0, {}, {}};
  for (const MetricSpec& spec : metric_table().metrics) {
    out.values.emplace(spec.key,
                       CounterValue{spec.names.front(), spec.unit, std::nullopt, reason, true});
  }
  return out;
}

}  // namespace prof

// What a product report says about its run, as the numbers the page shows. Times are nanoseconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "prof/nvml/known.hpp"
#include "prof/report/report_file.hpp"

namespace prof {

/// A part of the process's life.
struct LifecyclePart {
  std::string name;
  Known<uint64_t> ns;
};

/// A number over the steady requests: minimum, lower median, maximum.
struct SteadyNumber {
  std::string name;
  Known<uint64_t> min;
  Known<uint64_t> median;
  Known<uint64_t> max;
};

struct StageTime {
  std::string stage;
  uint64_t first = 0;
  Known<uint64_t> min;
  Known<uint64_t> median;
  /// What it is ranked by: the median, or the first request's time where nothing was steady.
  uint64_t ranked = 0;
};

/// A count or a size of one request.
struct RequestNumber {
  std::string name;
  uint64_t first = 0;
  Known<uint64_t> steady;  ///< last steady request
};

struct MemoryPart {
  std::string name;
  Known<uint64_t> bytes;
};

struct PassFacts {
  std::string stage;
  std::string pass;
  std::string kernel;
  uint64_t launches = 0;
  uint64_t barriers = 0;
  uint64_t moved_bytes = 0;  ///< input + output + reread
  uint64_t temporary_bytes = 0;
};

struct RunFacts {
  ReportFile file;
  bool cuda = false;
  size_t requests = 0;
  size_t steady_requests = 0;
  /// In order; sums to `total` when every part is known.
  std::vector<LifecyclePart> lifecycle;
  uint64_t total = 0;
  /// verified_request and its parts: resident_prove, encode, terminal_decode,
  /// independent_verification, other.
  std::vector<SteadyNumber> split;
  SteadyNumber device_elapsed;
  SteadyNumber host_gap;  ///< resident_prove - device_elapsed
  /// "device": by the device's events; "host": host time, of a backend without a device.
  std::string stage_clock;
  bool stages_are_steady = false;
  std::vector<StageTime> stages;  ///< by rank, longest first; equal ones in order of the proof
  uint64_t stage_total = 0;       ///< what the ranked times are parts of
  Known<uint64_t> submit;         ///< host time of the stages while the device works: median
  /// Unknown: a backend without a device.
  Known<std::vector<RequestNumber>> transfers;
  Known<std::vector<RequestNumber>> counters;
  std::vector<MemoryPart> memory;  ///< parts of accounted_peak
  uint64_t accounted_peak = 0;
  std::vector<MemoryPart> pool;  ///< the allocator's view, and the bounds
  Known<std::vector<PassFacts>> passes;

  const SteadyNumber& split_part(const std::string& name) const;
  /// Of the last steady request, else of the first one; unknown without a device.
  Known<uint64_t> counter(const std::string& name) const;
};

/// Throws FormatError REPORT_OVERFLOW if bytes of a pass do not fit 64 bits.
RunFacts run_facts(ReportFile file);

/// Why a value of a report is null: its reason there.
std::string null_reason(const nlohmann::json& report, const std::string& path);

}  // namespace prof

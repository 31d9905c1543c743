// Two captures, or two sets of kernel counters, side by side. Diagnostic: the numbers were taken
// under a profiler and decide nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ledger/db/database.hpp"
#include "ledger/documents/document.hpp"
#include "prof/export/identity.hpp"

namespace prof {

/// Kernel time of one capture. Times are absent where no launch was timed.
struct KernelTime {
  int64_t launches = 0;
  std::optional<int64_t> total_ns;
  std::optional<int64_t> median_ns;  ///< lower median; of stages absent: it is one of kernels
  std::optional<double> share;       ///< total / time in which a device works
};

/// A kernel in a stage, or a whole stage (kernel empty). A missing side: not in that capture.
struct KernelChange {
  std::string kernel;
  std::optional<std::string> stage;
  std::optional<KernelTime> baseline;
  std::optional<KernelTime> candidate;
  /// candidate - baseline; a kernel that is missing took no time. Absent if a time is not known.
  std::optional<int64_t> total_delta_ns() const;
};

struct CaptureDiff {
  std::string baseline;  ///< names of the inputs
  std::string candidate;
  IdentityDiff identity;
  int64_t baseline_busy_ns = 0;  ///< time in which at least one device works
  int64_t candidate_busy_ns = 0;
  std::vector<KernelChange> stages;   ///< largest change first; equal ones by name
  std::vector<KernelChange> kernels;  ///< the same
};

/// One side of a comparison: an opened capture, its name and its identity (capture_identity(), and
/// what the caller knows besides).
struct CaptureSide {
  ledger::Database& trace;
  std::string name;
  Identity identity;
};
CaptureDiff diff_captures(const CaptureSide& baseline, const CaptureSide& candidate);

/// A metric of a kernel in a stage: lower median over the launches that have a value.
struct MetricValue {
  std::optional<double> value;
  std::string unit;
  std::string reason;    ///< why there is no value; empty if there is one
  int64_t launches = 0;  ///< with a value
};

struct MetricChange {
  std::string kernel;
  std::optional<std::string> stage;
  std::string metric;
  std::optional<MetricValue> baseline;
  std::optional<MetricValue> candidate;
  /// candidate / baseline and candidate - baseline; absent without both values, with different
  /// units, or (ratio) a baseline of 0.
  std::optional<double> ratio() const;
  std::optional<double> delta() const;
};

struct CountersDiff {
  std::string baseline;
  std::string candidate;
  IdentityDiff identity;
  /// (kernel, stage) that only one side has.
  std::vector<std::pair<std::string, std::optional<std::string>>> new_kernels;
  std::vector<std::pair<std::string, std::optional<std::string>>> vanished_kernels;
  std::vector<MetricChange> metrics;  ///< by kernel, stage and metric
};

/// Documents of schema stwo_prof_counters_v1 that ledger::read_document has accepted. Throws
/// UsageError DIFF_KIND if one is of another kind.
CountersDiff diff_counters(const ledger::Document& baseline, const std::string& baseline_name,
                           const ledger::Document& candidate, const std::string& candidate_name);

/// Pages for people. `max_rows` kernels or metrics at most; 0: all. What is left out is counted.
std::string diff_text(const CaptureDiff& diff, size_t max_rows = 40);
std::string diff_text(const CountersDiff& diff, size_t max_rows = 0);

/// Schema "stwo_prof_diff_v1"; key "kind" is "captures" or "counters". Everything, no limit.
ledger::Json diff_json(const CaptureDiff& diff);
ledger::Json diff_json(const CountersDiff& diff);

/// A header and a line per kernel and stage, or per kernel, stage and metric. The first column
/// repeats the comparability, so that no line is read without it.
std::string diff_csv(const CaptureDiff& diff);
std::string diff_csv(const CountersDiff& diff);

}  // namespace prof

// Counters of captured kernel launches, read from what ncu exports.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prof/ncu/metric_table.hpp"

namespace prof {

struct CounterValue {
  std::string metric;  ///< the profiler's name; the first of the table if the report has none
  std::string unit;    ///< as in the metric table
  std::optional<double> value;  ///< finite, not negative, at most kMaxCounter
  std::string reason;           ///< why there is no value; empty exactly if there is one
  bool absent = false;          ///< the report has no such column
};
/// A larger number is no count of one launch, but damage.
inline constexpr double kMaxCounter = 1e18;

struct LaunchCounters {
  int64_t id = 0;  ///< the profiler's, by time
  std::string kernel;
  std::array<int64_t, 3> grid{};
  std::array<int64_t, 3> block{};
  std::string device;                          ///< the profiler's ordinal; empty: not said
  std::string compute_capability;              ///< "9.0"; empty: not said
  std::map<std::string, CounterValue> values;  ///< every key of the metric table
};

struct CounterSet {
  std::string csv_sha256;
  std::vector<LaunchCounters> launches;  ///< in the order of the report
};

struct NcuCsvOptions {
  bool c_locale = false;    ///< it was printed with LC_ALL=C
  bool base_units = false;  ///< it was printed with --print-units base
};

inline constexpr size_t kMaxNcuCsvBytes = size_t{64} << 20;

/// Reads the raw page: one row per launch, a column per metric, in any order. A row of units
/// follows the header, or not: then a value with a unit is known only with `base_units`. What is
/// not a number, or ambiguous in the locale, has a reason instead of a value. May have no launches.
/// Throws FormatError NCU_CSV_SIZE, NCU_CSV_HEADER, NCU_CSV_ROW, NCU_CSV_TRUNCATED,
/// NCU_CSV_PAGE (another page of the report), NCU_CSV_COLUMN (kernel name, grid or block are
/// missing, or a column is there twice), NCU_CSV_VALUE (an id or a dimension is not one).
CounterSet parse_ncu_csv(const std::string& name, std::string_view text,
                         const NcuCsvOptions& options, const MetricTable& table = metric_table());

}  // namespace prof

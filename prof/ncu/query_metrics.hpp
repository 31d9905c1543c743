// Holds the metric table against the list of metrics that the installed profiler knows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "prof/ncu/metric_table.hpp"

namespace prof {

struct MetricAvailability {
  std::string key;
  std::string name;       ///< the one that would be used; empty if none is listed
  bool required = false;  ///< a rule needs it
};

struct TableCheck {
  size_t listed = 0;  ///< metrics in the text
  std::vector<MetricAvailability> found;
  std::vector<MetricAvailability> missing;
  /// Keys of metrics whose collection (launch__*, device__*, sass__*) the text does not hold: the
  /// default list has only the hardware's counters.
  std::vector<std::string> unlisted;
  bool ok() const;  ///< none that a rule needs is missing
};

/// `text` is the output of `ncu --query-metrics`, of one or several collections. Names there are
/// base names (dram__bytes_read, not dram__bytes_read.sum); full names count as well.
/// Throws FormatError NCU_QUERY if no line names a metric.
TableCheck check_metric_table(std::string_view text, const MetricTable& table = metric_table());

/// One line per missing metric, and a summary.
std::string to_text(const TableCheck& check);

}  // namespace prof

// The counters that stwo-prof asks for and understands: prof/ncu/metrics.json, part of the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace prof {

struct MetricSpec {
  std::string key;                 ///< our name, the same in all versions of the profiler
  std::string question;            ///< one of the seven kernel questions
  std::string unit;                ///< "ns", "byte", "byte/s", "%" or "count"
  bool extra = false;              ///< in no section: has to be asked for by name
  std::vector<std::string> names;  ///< the profiler's; the first that a report has wins
  std::string meaning;
  std::vector<std::string> rules;  ///< diagnoses whose rules cannot do without
};

struct MetricTable {
  std::vector<std::string> questions;  ///< in the order of answers
  std::vector<MetricSpec> metrics;

  /// Throws ContractError for a key that is not in the table.
  const MetricSpec& at(std::string_view key) const;
  /// First names of the extra metrics.
  std::vector<std::string> extra_names() const;
};

/// The table in the program.
const MetricTable& metric_table();

/// Throws ContractError if the text is no table: keys and names are unique, each metric has a
/// question, a unit of the list above and a name.
MetricTable parse_metric_table(std::string_view json);

}  // namespace prof

#include "prof/ncu/metric_table.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "prover/errors.hpp"

namespace prof {

extern const std::string_view kMetricTableJson;

namespace {

constexpr std::string_view kUnits[] = {"ns", "byte", "byte/s", "%", "count"};

void check_metric(const MetricTable& table, const MetricSpec& spec, std::set<std::string>* seen) {
  STWO_CHECK(!spec.key.empty() && seen->insert("key " + spec.key).second,
             "metric table: key " + spec.key + " is not unique");
  STWO_CHECK(std::count(table.questions.begin(), table.questions.end(), spec.question) == 1,
             "metric table: " + spec.key + " has no question");
  STWO_CHECK(std::count(std::begin(kUnits), std::end(kUnits), spec.unit) == 1,
             "metric table: " + spec.key + " has the unit " + spec.unit);
  STWO_CHECK(!spec.names.empty(), "metric table: " + spec.key + " has no name");
  for (const std::string& name : spec.names) {
    STWO_CHECK(!name.empty() && seen->insert("name " + name).second,
               "metric table: name " + name + " is not unique");
  }
}

}  // namespace

const MetricSpec& MetricTable::at(std::string_view key) const {
  const auto it = std::find_if(metrics.begin(), metrics.end(),
                               [&](const MetricSpec& spec) { return spec.key == key; });
  STWO_CHECK(it != metrics.end(), "no metric " + std::string(key));
  return *it;
}

std::vector<std::string> MetricTable::extra_names() const {
  std::vector<std::string> names;
  for (const MetricSpec& spec : metrics) {
    if (spec.extra) names.push_back(spec.names.front());
  }
  return names;
}

MetricTable parse_metric_table(std::string_view json) {
  MetricTable table;
  try {
    const auto root = nlohmann::json::parse(json);
    table.questions = root.at("questions").get<std::vector<std::string>>();
    for (const auto& m : root.at("metrics")) {
      table.metrics.push_back({m.at("key").get<std::string>(), m.at("question").get<std::string>(),
                               m.at("unit").get<std::string>(), m.at("extra").get<bool>(),
                               m.at("names").get<std::vector<std::string>>(),
                               m.at("meaning").get<std::string>(),
                               m.at("rules").get<std::vector<std::string>>()});
    }
  } catch (const nlohmann::json::exception& error) {
    throw stwo::ContractError(std::string("metric table: ") + error.what());
  }
  std::set<std::string> seen;
  for (const MetricSpec& spec : table.metrics) check_metric(table, spec, &seen);
  return table;
}

const MetricTable& metric_table() {
  static const MetricTable table = parse_metric_table(kMetricTableJson);
  return table;
}

}  // namespace prof

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "prof/export/diff.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

using ledger::Json;
using KernelKey = std::pair<std::string, std::optional<std::string>>;
using MetricKey = std::pair<KernelKey, std::string>;

/// The values of one metric over the launches of a kernel.
struct Samples {
  std::vector<double> values;
  std::set<std::string> units;
  std::string reason;  ///< of the first launch without a value
};

struct Counters {
  std::set<KernelKey> kernels;
  std::map<MetricKey, Samples> metrics;
};

Counters read_counters(const ledger::Document& document, const std::string& name) {
  if (document.kind != ledger::DocumentKind::kCounters) {
    throw stwo::UsageError("DIFF_KIND", name + " is a " +
                                            std::string(document_kind_name(document.kind)) +
                                            " (expected stwo_prof_counters_v1); give two documents "
                                            "of stwo-prof cuda compute");
  }
  Counters out;
  for (const Json& launch : document.json.at("launches")) {
    KernelKey kernel(launch.at("kernel").get<std::string>(), std::nullopt);
    if (!launch.at("stage").is_null()) kernel.second = launch.at("stage").get<std::string>();
    out.kernels.insert(kernel);
    for (const Json& metric : launch.at("metrics")) {
      Samples& samples = out.metrics[{kernel, metric.at("name").get<std::string>()}];
      samples.units.insert(metric.at("unit").get<std::string>());
      if (!metric.at("value").is_null()) {
        samples.values.push_back(metric.at("value").get<double>());
      } else if (samples.reason.empty()) {
        samples.reason = metric.at("reason").get<std::string>();
      }
    }
  }
  return out;
}

MetricValue value_of(Samples samples) {
  MetricValue out;
  for (const std::string& unit : samples.units) out.unit += (out.unit.empty() ? "" : ", ") + unit;
  out.launches = static_cast<int64_t>(samples.values.size());
  if (samples.units.size() > 1) {
    out.reason = "its launches have different units";
  } else if (samples.values.empty()) {
    out.reason = samples.reason;
  } else {
    const auto middle =
        samples.values.begin() + static_cast<ptrdiff_t>((samples.values.size() - 1) / 2);
    std::nth_element(samples.values.begin(), middle, samples.values.end());
    out.value = *middle;
  }
  return out;
}

std::vector<KernelKey> missing_in(const std::set<KernelKey>& there, const std::set<KernelKey>& in) {
  std::vector<KernelKey> out;
  std::set_difference(there.begin(), there.end(), in.begin(), in.end(), std::back_inserter(out));
  return out;
}

bool both_known(const MetricChange& c) {
  return c.baseline && c.candidate && c.baseline->value && c.candidate->value &&
         c.baseline->unit == c.candidate->unit;
}

}  // namespace

std::optional<double> MetricChange::ratio() const {
  if (!both_known(*this) || *baseline->value == 0) return std::nullopt;
  return *candidate->value / *baseline->value;
}

std::optional<double> MetricChange::delta() const {
  if (!both_known(*this)) return std::nullopt;
  return *candidate->value - *baseline->value;
}

CountersDiff diff_counters(const ledger::Document& baseline, const std::string& baseline_name,
                           const ledger::Document& candidate, const std::string& candidate_name) {
  const Counters a = read_counters(baseline, baseline_name);
  const Counters b = read_counters(candidate, candidate_name);
  CountersDiff out;
  out.baseline = baseline_name;
  out.candidate = candidate_name;
  out.identity =
      compare_identities(counters_identity(baseline.json), counters_identity(candidate.json));
  out.new_kernels = missing_in(b.kernels, a.kernels);
  out.vanished_kernels = missing_in(a.kernels, b.kernels);
  std::map<MetricKey, MetricChange> changes;
  const auto add = [&](const Counters& counters, std::optional<MetricValue> MetricChange::*member) {
    for (const auto& [key, samples] : counters.metrics) {
      MetricChange& change = changes[key];
      change.kernel = key.first.first;
      change.stage = key.first.second;
      change.metric = key.second;
      change.*member = value_of(samples);
    }
  };
  add(a, &MetricChange::baseline);
  add(b, &MetricChange::candidate);
  for (auto& [key, change] : changes) out.metrics.push_back(std::move(change));
  return out;
}

}  // namespace prof

#include "prof/export/diff.hpp"
#include "prof/export/text.hpp"

namespace prof {
namespace {

std::string field(const std::optional<int64_t>& value) {
  return value ? std::to_string(*value) : std::string();
}
std::string field(const std::optional<double>& value) {
  return value ? text::shortest(*value) : std::string();
}

/// One line of fields.
void append_line(std::string& out, const std::vector<std::string>& fields) {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) out += ',';
    text::append_csv(out, fields[i]);
  }
  out += '\n';
}

}  // namespace

std::string diff_csv(const CaptureDiff& diff) {
  std::string out =
      "comparability,kernel,stage,baseline_launches,baseline_total_ns,baseline_median_ns,"
      "baseline_share,candidate_launches,candidate_total_ns,candidate_median_ns,candidate_share,"
      "delta_total_ns\n";
  for (const KernelChange& c : diff.kernels) {
    std::vector<std::string> line = {std::string(comparability_name(diff.identity.comparability)),
                                     c.kernel, c.stage.value_or("")};
    for (const std::optional<KernelTime>& side : {c.baseline, c.candidate}) {
      // A kernel that is not there was launched 0 times; its times are unknown to it.
      line.push_back(std::to_string(side ? side->launches : 0));
      line.push_back(side ? field(side->total_ns) : "");
      line.push_back(side ? field(side->median_ns) : "");
      line.push_back(side ? field(side->share) : "");
    }
    line.push_back(field(c.total_delta_ns()));
    append_line(out, line);
  }
  return out;
}

std::string diff_csv(const CountersDiff& diff) {
  std::string out =
      "comparability,kernel,stage,metric,baseline,baseline_unit,baseline_launches,candidate,"
      "candidate_unit,candidate_launches,delta,ratio\n";
  for (const MetricChange& c : diff.metrics) {
    std::vector<std::string> line = {std::string(comparability_name(diff.identity.comparability)),
                                     c.kernel, c.stage.value_or(""), c.metric};
    for (const std::optional<MetricValue>& side : {c.baseline, c.candidate}) {
      line.push_back(side ? field(side->value) : "");
      line.push_back(side ? side->unit : "");
      line.push_back(std::to_string(side ? side->launches : 0));
    }
    line.push_back(field(c.delta()));
    line.push_back(field(c.ratio()));
    append_line(out, line);
  }
  return out;
}

}  // namespace prof

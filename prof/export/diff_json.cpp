#include "prof/export/diff.hpp"
#include "prof/export/text.hpp"

namespace prof {
namespace {

using ledger::Json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Names of any bytes: the document must be valid UTF-8.
Json json_text(const std::string& value) { return Json::parse(text::json_string(value)); }
Json json_text(const std::optional<std::string>& value) {
  return value ? json_text(*value) : Json(nullptr);
}

Json identity_json(const IdentityDiff& identity) {
  Json out = Json::array();
  for (const FieldDrift& d : identity.fields) {
    out.push_back({{"field", d.field},
                   {"baseline", json_text(d.baseline)},
                   {"candidate", json_text(d.candidate)},
                   {"agreement", agreement_name(d.agreement)},
                   {"must_match", d.must_match},
                   {"meaning", d.meaning.empty() ? Json(nullptr) : Json(d.meaning)}});
  }
  return out;
}

const char* status_of(bool in_baseline, bool in_candidate) {
  if (in_baseline && in_candidate) return "both";
  return in_candidate ? "new" : "vanished";
}

Json side_json(const std::optional<KernelTime>& time) {
  if (!time) return nullptr;
  return {{"launches", time->launches},
          {"total_ns", or_null(time->total_ns)},
          {"median_ns", or_null(time->median_ns)},
          {"share", or_null(time->share)}};
}

Json change_json(const KernelChange& c) {
  Json delta = {{"launches", (c.candidate ? c.candidate->launches : 0) -
                                 (c.baseline ? c.baseline->launches : 0)},
                {"total_ns", or_null(c.total_delta_ns())},
                {"total_ratio", nullptr},
                {"median_ns", nullptr},
                {"share", nullptr}};
  if (c.baseline && c.candidate) {
    const KernelTime& a = *c.baseline;
    const KernelTime& b = *c.candidate;
    if (a.total_ns && b.total_ns)
      delta["total_ratio"] = or_null(text::ratio(*b.total_ns, *a.total_ns));
    if (a.median_ns && b.median_ns) delta["median_ns"] = *b.median_ns - *a.median_ns;
    if (a.share && b.share) delta["share"] = *b.share - *a.share;
  }
  return {{"stage", json_text(c.stage)},
          {"status", status_of(c.baseline.has_value(), c.candidate.has_value())},
          {"baseline", side_json(c.baseline)},
          {"candidate", side_json(c.candidate)},
          {"delta", std::move(delta)}};
}

template <class Diff>
Json head(const Diff& diff, const char* kind) {
  return {{"schema", "stwo_prof_diff_v1"},
          {"kind", kind},
          {"diagnostic", true},
          {"baseline", json_text(diff.baseline)},
          {"candidate", json_text(diff.candidate)},
          {"comparability", comparability_name(diff.identity.comparability)},
          {"identity", identity_json(diff.identity)}};
}

Json kernels_json(const std::vector<std::pair<std::string, std::optional<std::string>>>& kernels) {
  Json out = Json::array();
  for (const auto& [kernel, stage] : kernels) {
    out.push_back({{"kernel", json_text(kernel)}, {"stage", json_text(stage)}});
  }
  return out;
}

Json side_json(const std::optional<MetricValue>& value) {
  if (!value) return nullptr;
  return {{"value", or_null(value->value)},
          {"unit", json_text(value->unit)},
          {"reason", value->reason.empty() ? Json(nullptr) : json_text(value->reason)},
          {"launches", value->launches}};
}

}  // namespace

Json diff_json(const CaptureDiff& diff) {
  Json out = head(diff, "captures");
  const std::optional<double> busy = text::ratio(diff.candidate_busy_ns, diff.baseline_busy_ns);
  out["busy_ns"] = {{"baseline", diff.baseline_busy_ns},
                    {"candidate", diff.candidate_busy_ns},
                    {"delta", diff.candidate_busy_ns - diff.baseline_busy_ns},
                    {"ratio", or_null(busy)}};
  out["stages"] = Json::array();
  for (const KernelChange& c : diff.stages) out["stages"].push_back(change_json(c));
  out["kernels"] = Json::array();
  for (const KernelChange& c : diff.kernels) {
    Json row = change_json(c);
    row["kernel"] = json_text(c.kernel);
    out["kernels"].push_back(std::move(row));
  }
  return out;
}

Json diff_json(const CountersDiff& diff) {
  Json out = head(diff, "counters");
  out["new_kernels"] = kernels_json(diff.new_kernels);
  out["vanished_kernels"] = kernels_json(diff.vanished_kernels);
  out["metrics"] = Json::array();
  for (const MetricChange& c : diff.metrics) {
    out["metrics"].push_back(
        {{"kernel", json_text(c.kernel)},
         {"stage", json_text(c.stage)},
         {"metric", json_text(c.metric)},
         {"status", status_of(c.baseline.has_value(), c.candidate.has_value())},
         {"baseline", side_json(c.baseline)},
         {"candidate", side_json(c.candidate)},
         {"delta", or_null(c.delta())},
         {"ratio", or_null(c.ratio())}});
  }
  return out;
}

}  // namespace prof

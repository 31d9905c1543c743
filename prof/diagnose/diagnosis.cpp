#include "prof/diagnose/diagnosis.hpp"

#include <algorithm>

#include "prof/diagnose/rules.hpp"
#include "prof/diagnose/text.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

Diagnosis undetermined(const DiagnosisInput& input, std::vector<Evidence> evidence, std::string why,
                       std::vector<std::string> missing) {
  Diagnosis out;
  out.kernel = input.counters->kernel;
  out.evidence = std::move(evidence);
  out.summary = std::move(why);
  out.missing = std::move(missing);
  out.thresholds_sha256 = input.thresholds->sha256;
  return out;
}

Diagnosis determined(const DiagnosisInput& input, rules::Finding finding) {
  Diagnosis out;
  out.kernel = input.counters->kernel;
  out.mechanism = finding.mechanism;
  out.sub_causes = std::move(finding.sub_causes);
  out.evidence = std::move(finding.match.evidence);
  out.evidence.insert(out.evidence.end(), finding.details.begin(), finding.details.end());
  out.margin = finding.match.margin;
  out.summary = std::move(finding.summary);
  out.prediction = std::move(finding.prediction);
  if (input.timeline == nullptr) {
    out.missing.emplace_back(
        "timeline: share of device time, launch fragmentation and dependencies are unknown");
  }
  for (std::string& m : finding.missing) {
    if (std::find(out.missing.begin(), out.missing.end(), m) == out.missing.end()) {
      out.missing.push_back(std::move(m));
    }
  }
  const bool all_rules =
      input.timeline != nullptr &&
      (finding.mechanism != Mechanism::kDependencySerialization || finding.missing.empty());
  out.high_confidence = all_rules && finding.match.margin >= input.thresholds->high_margin;
  out.thresholds_sha256 = input.thresholds->sha256;
  return out;
}

/// Counters without a value that a rule cannot do without.
std::vector<std::string> lacking(const KernelCounters& counters) {
  std::vector<std::string> out;
  for (const MetricSpec& spec : metric_table().metrics) {
    const CounterValue& v = counters.at(spec.key);
    if (!spec.rules.empty() && !v.value) out.push_back(v.metric + ": " + v.reason);
  }
  return out;
}

std::vector<Evidence> balance(const DiagnosisInput& input) {
  std::vector<Evidence> out;
  for (const char* key : {"dram_pct", "l2_pct", "sm_pct", "issue_active", "eligible_warps", "waves",
                          "achieved_pct"}) {
    const CounterValue& v = input.counters->at(key);
    out.push_back(shown(v.metric, v.value, v.unit == "count" ? "" : v.unit));
  }
  return out;
}

}  // namespace

std::string_view mechanism_name(Mechanism mechanism) {
  switch (mechanism) {
    case Mechanism::kBandwidth: return "bandwidth";
    case Mechanism::kLatency: return "latency";
    case Mechanism::kCompute: return "compute";
    case Mechanism::kOccupancy: return "occupancy";
    case Mechanism::kLaunchFragmentation: return "launch_fragmentation";
    case Mechanism::kDependencySerialization: return "dependency_serialization";
    case Mechanism::kUndetermined: break;
  }
  return "undetermined";
}

Diagnosis diagnose(const DiagnosisInput& input) {
  STWO_CHECK(input.counters != nullptr && input.thresholds != nullptr,
             "a diagnosis needs counters and thresholds");
  const Thresholds& t = *input.thresholds;
  if (input.timeline != nullptr) {
    const double share = input.timeline->share_of_device;
    const Evidence e = at_least("share of device time", share, t.min_share, "");
    if (!holds(e)) {
      return undetermined(input, {shown(e.name, share, "")},
                          "too small a part of device time (" + percent_text(share) +
                              ") for its counters to matter",
                          {});
    }
  }
  for (const auto rule : {rules::launch_fragmentation, rules::serialized_branches}) {
    if (auto finding = rule(input)) return determined(input, *std::move(finding));
  }
  const auto launches = static_cast<double>(input.counters->launches);
  std::vector<std::string> missing = lacking(*input.counters);
  if (launches < t.min_launches) {
    missing.insert(missing.begin(), "launches: " + std::to_string(input.counters->launches) +
                                        " captured (needs " + number_text(t.min_launches) + ")");
  }
  if (!missing.empty()) {
    return undetermined(input, {shown("launches captured", launches, "")},
                        "too little was measured to decide", std::move(missing));
  }
  for (const auto rule : {rules::serialized_chain, rules::bandwidth, rules::compute,
                          rules::occupancy, rules::latency}) {
    if (auto finding = rule(input)) return determined(input, *std::move(finding));
  }
  return undetermined(input, balance(input), "balanced: no part of the device is the limit", {});
}

DocumentDiagnosis to_document(const Diagnosis& diagnosis) {
  DocumentDiagnosis out{diagnosis.kernel,
                        std::string(mechanism_name(diagnosis.mechanism)),
                        diagnosis.high_confidence ? "high" : "low",
                        diagnosis.margin,
                        {},
                        diagnosis.missing,
                        diagnosis.prediction};
  for (const Evidence& e : diagnosis.evidence) {
    out.evidence.push_back({e.name, e.value, e.threshold, e.unit});
  }
  for (const std::string& cause : diagnosis.sub_causes) {
    out.evidence.push_back({"sub-cause: " + cause, std::nullopt, std::nullopt, ""});
  }
  return out;
}

std::string to_text(const Diagnosis& d) {
  std::string text = d.kernel + ": " + std::string(mechanism_name(d.mechanism));
  if (d.margin) {
    text += std::string(" (confidence ") + (d.high_confidence ? "high" : "low") + ", margin " +
            percent_text(*d.margin) + ")";
  }
  text += '\n';
  text += "  " + d.summary + '\n';
  for (const std::string& cause : d.sub_causes) text += "  because: " + cause + '\n';
  for (const Evidence& e : d.evidence) {
    text += "  evidence: " + e.name + ' ' +
            (e.value ? quantity_text(*e.value, e.unit) : std::string("unknown"));
    if (e.threshold) {
      text += " (" + std::string(comparison_name(e.comparison)) + ' ' +
              quantity_text(*e.threshold, e.unit) + ")";
    }
    text += '\n';
  }
  if (d.prediction) text += "  refuted unless: " + *d.prediction + '\n';
  for (const std::string& m : d.missing) text += "  missing: " + m + '\n';
  return text;
}

}  // namespace prof

#include "prof/report/report.hpp"

#include <algorithm>

#include "prover/errors.hpp"

namespace prof {

Known<uint64_t> ReportAnalysis::floor_ns(const std::string& stage) const {
  if (!run.passes.has_value()) return Known<uint64_t>::unknown(run.passes.reason);
  if (!peak.has_value()) return Known<uint64_t>::unknown(peak.reason);
  uint64_t bytes = 0;
  bool any = false;
  for (const PassFacts& p : *run.passes.value) {
    if (p.stage != stage) continue;
    any = true;
    if (__builtin_add_overflow(bytes, p.moved_bytes, &bytes)) {
      return Known<uint64_t>::unknown("the bytes of this stage do not fit 64 bits");
    }
  }
  return any ? Known<uint64_t>::of(traffic_floor_ns(bytes, *peak.value))
             : Known<uint64_t>::unknown("the pass ledger has no pass of this stage");
}

bool ReportAnalysis::has_failed_gate() const {
  return std::any_of(gates.begin(), gates.end(),
                     [](const Gate& g) { return g.state == GateState::kFail; });
}

ReportAnalysis analyse_report(RunFacts run, std::optional<RunFacts> baseline,
                              std::optional<PeakBandwidth> peak) {
  ReportAnalysis out;
  out.run = std::move(run);
  const nlohmann::json& device = out.run.file.json.at("device");
  if (peak) {
    STWO_CHECK(peak->bytes_per_s > 0, "a peak bandwidth is 0");
    out.peak = Known<PeakBandwidth>::of(*peak);
  } else if (device.is_null()) {
    out.peak = Known<PeakBandwidth>::unknown(null_reason(out.run.file.json, "/device"));
  } else {
    out.peak = peak_bandwidth(
        device.at("name").get<std::string>(),
        device.at("sm_major").get<uint32_t>() * 10 + device.at("sm_minor").get<uint32_t>());
  }
  out.gates = report_gates(out.run, baseline ? &*baseline : nullptr);
  out.next = next_steps(out);
  if (baseline) {
    ReportComparison comparison;
    comparison.baseline_gates = report_gates(*baseline, nullptr);
    comparison.drift = identity_drift(baseline->file.json, out.run.file.json);
    comparison.deltas = report_deltas(*baseline, out.run);
    comparison.baseline = std::move(*baseline);
    out.comparison = std::move(comparison);
  }
  return out;
}

}  // namespace prof

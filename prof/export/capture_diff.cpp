#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include "ledger/trace/trace_summary.hpp"
#include "prof/export/diff.hpp"
#include "prof/export/text.hpp"

namespace prof {
namespace {

using Key = std::pair<std::string, std::optional<std::string>>;

KernelTime time_of(const ledger::KernelStat& k, int64_t busy_ns) {
  KernelTime out;
  out.launches = k.launches;
  if (k.min_ns) {
    out.total_ns = k.total_ns;
    out.median_ns = k.median_ns;
    out.share = text::ratio(k.total_ns, busy_ns);
  }
  return out;
}

/// Sums of the kernels of each stage.
std::map<std::optional<std::string>, KernelTime> stages_of(const ledger::TraceSummary& summary) {
  std::map<std::optional<std::string>, KernelTime> out;
  for (const ledger::KernelStat& k : summary.kernels) {
    KernelTime& stage = out[k.stage];
    stage.launches += k.launches;
    if (k.min_ns) stage.total_ns = stage.total_ns.value_or(0) + k.total_ns;
  }
  for (auto& [name, stage] : out) {
    if (stage.total_ns) stage.share = text::ratio(*stage.total_ns, summary.busy_ns);
  }
  return out;
}

std::vector<KernelChange> sorted(const std::map<Key, KernelChange>& changes) {
  std::vector<KernelChange> out;
  for (const auto& [key, change] : changes) out.push_back(change);
  // Changes that are not known come first: they need a look.
  const auto weight = [](const KernelChange& c) {
    const std::optional<int64_t> delta = c.total_delta_ns();
    return std::pair(delta.has_value() ? 1 : 0, delta ? -std::abs(*delta) : 0);
  };
  std::stable_sort(out.begin(), out.end(), [&](const KernelChange& a, const KernelChange& b) {
    return weight(a) < weight(b);
  });
  return out;
}

}  // namespace

std::optional<int64_t> KernelChange::total_delta_ns() const {
  if (baseline && !baseline->total_ns) return std::nullopt;
  if (candidate && !candidate->total_ns) return std::nullopt;
  return (candidate ? *candidate->total_ns : 0) - (baseline ? *baseline->total_ns : 0);
}

CaptureDiff diff_captures(const CaptureSide& baseline, const CaptureSide& candidate) {
  CaptureDiff out;
  out.baseline = baseline.name;
  out.candidate = candidate.name;
  out.identity = compare_identities(baseline.identity, candidate.identity);
  std::map<Key, KernelChange> kernels;
  std::map<Key, KernelChange> stages;
  const auto add = [&](const CaptureSide& side, std::optional<KernelTime> KernelChange::*member) {
    const ledger::TraceSummary summary = ledger::summarize_trace(side.trace);
    for (const ledger::KernelStat& k : summary.kernels) {
      KernelChange& change = kernels[{k.kernel, k.stage}];
      change.kernel = k.kernel;
      change.stage = k.stage;
      change.*member = time_of(k, summary.busy_ns);
    }
    for (const auto& [name, time] : stages_of(summary)) {
      KernelChange& change = stages[{"", name}];
      change.stage = name;
      change.*member = time;
    }
    return summary.busy_ns;
  };
  out.baseline_busy_ns = add(baseline, &KernelChange::baseline);
  out.candidate_busy_ns = add(candidate, &KernelChange::candidate);
  out.kernels = sorted(kernels);
  out.stages = sorted(stages);
  return out;
}

}  // namespace prof

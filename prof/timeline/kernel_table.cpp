#include "prof/timeline/kernel_table.hpp"

#include <algorithm>

#include "prof/timeline/distribution.hpp"

namespace prof {

void KernelQuestion::add(const LaunchedOp& launched) {
  if (launched.op.kind != ledger::OpKind::kKernel) return;
  Kernel& kernel = kernels_[launched.op.kernel];
  const int64_t ns = launched.inside.end_ns - launched.inside.start_ns;
  kernel.total_ns += ns;
  kernel.stages[launched.stage] += ns;
  if (!launched.counts) return;
  ++kernel.launches;
  kernel.durations.push_back(ns);
  if (launched.gap) {
    kernel.gaps.push_back(launched.gap->ns);
    kernel.waited = kernel.waited || launched.gap->ns > 0;
  }
}

std::vector<KernelFacts> KernelQuestion::answer(const StageTable& stages, Names& names) const {
  std::vector<KernelFacts> out;
  for (const auto& [name, kernel] : kernels_) {
    KernelFacts facts;
    facts.kernel = name == 0 ? std::string() : names.of(name);
    facts.launches = kernel.launches;
    facts.total_ns = kernel.total_ns;
    if (stages.whole.busy_ns > 0) {
      facts.share_of_device =
          static_cast<double>(kernel.total_ns) / static_cast<double>(stages.whole.busy_ns);
    }
    facts.median_ns = lower_median(kernel.durations).value_or(0);
    if (kernel.waited) facts.median_gap_ns = lower_median(kernel.gaps);
    facts.stage = stages.whole.facts;
    // Of equal ones the stage that began first: the table is in that order.
    int64_t most = 0;
    const auto outside = kernel.stages.find(0);
    if (outside != kernel.stages.end()) most = outside->second;
    for (const StageRow& row : stages.stages) {
      for (const auto& [stage, ns] : kernel.stages) {
        if (stage == 0 || ns <= most || names.of(stage) != row.facts.stage) continue;
        most = ns;
        facts.stage = row.facts;
      }
    }
    out.push_back(std::move(facts));
  }
  std::sort(out.begin(), out.end(), [](const KernelFacts& a, const KernelFacts& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.kernel < b.kernel;
  });
  return out;
}

}  // namespace prof

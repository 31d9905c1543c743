#include "prof/timeline/perturbation.hpp"

#include <map>

#include "prover/errors.hpp"

namespace prof {
namespace {

struct KindName {
  int64_t kind;
  const char* name;
  bool profiler;
};
constexpr int64_t scaled(int64_t k) { return k << 16; }
// cupti_activity.h, CUpti_ActivityOverheadKind.
constexpr KindName kKinds[] = {
    {0, "unknown", true},
    {1, "driver compiler", false},
    {scaled(1), "buffer flush", true},
    {scaled(2), "instrumentation", true},
    {scaled(3), "recorder resources", true},
    {scaled(4), "module loading by the runtime", false},
    {scaled(5), "lazy function loading", false},
    {scaled(6), "command buffer full", false},
    {scaled(7), "buffer request", true},
    {scaled(8), "unified memory set-up", true},
};

OverheadRow row_of(int64_t kind) {
  for (const KindName& k : kKinds) {
    if (k.kind == kind) return {kind, k.name, k.profiler, 0, 0};
  }
  return {kind, "kind " + std::to_string(kind), true, 0, 0};
}

}  // namespace

Perturbation perturbation(ledger::Database& trace, const Window& window, const Recorded& recorded,
                          std::optional<int64_t> uninstrumented_ns) {
  if (uninstrumented_ns && *uninstrumented_ns <= 0) {
    throw stwo::UsageError("TIMELINE_BASELINE",
                           "the resident time without a recorder is " +
                               std::to_string(*uninstrumented_ns) +
                               " ns (expected more than 0); give the median of a run's steady "
                               "requests, or nothing");
  }
  Perturbation out;
  out.captured_ns = window.length_ns();
  out.uninstrumented_ns = uninstrumented_ns;
  std::map<int64_t, OverheadRow> rows;
  ledger::Statement select = trace.prepare("SELECT kind, start_ns, end_ns FROM overhead");
  while (select.step()) {
    if (select.is_null(1)) {
      ++out.untimed;
      continue;
    }
    if (!window.touches(select.integer(1), select.integer(2))) continue;
    const int64_t kind = select.integer(0);
    OverheadRow& row = rows.try_emplace(kind, row_of(kind)).first->second;
    ++row.events;
    row.ns += window.inside_ns(select.integer(1), select.integer(2));
  }
  int64_t sum = 0;
  for (auto& [kind, row] : rows) {
    sum += row.ns;
    if (row.profiler) out.profiler_ns += row.ns;
    out.rows.push_back(std::move(row));
  }
  const auto why = recorded.why_not({"OVERHEAD"});
  out.overhead_ns = why ? Answer<int64_t>::unknown(*why) : Answer<int64_t>::of(sum);
  if (window.source == WindowSource::kCapture) {
    out.inflation =
        Answer<double>::unknown("the window is no request, so nothing compares with it");
  } else if (!uninstrumented_ns) {
    out.inflation =
        Answer<double>::unknown("no resident time of a run without a recorder was given");
  } else {
    out.inflation = Answer<double>::of(static_cast<double>(out.captured_ns) /
                                       static_cast<double>(*uninstrumented_ns));
  }
  return out;
}

}  // namespace prof

#include "prof/timeline/timeline.hpp"

#include "ledger/trace/trace_schema.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

using ledger::Database;
using ledger::OpKind;

/// Everything that is found out in one pass over the operations and one over the calls.
class Analysis {
 public:
  Analysis(Database& trace, const TimelineOptions& options)
      : trace_(trace), options_(options), recorded_(trace), names_(trace), stages_(trace) {
    out_.window = choose_window(trace, options.request);
  }

  Timeline run() {
    identify();
    read_operations();
    read_calls();
    answer();
    count();
    compare();
    grade();
    list_missing();
    return std::move(out_);
  }

 private:
  void identify();
  void read_operations();
  void read_calls();
  void answer();
  void count();
  void compare();
  void grade();
  void list_missing();
  template <class T>
  void note(const char* key, const Answer<T>& answer) {
    if (!answer) out_.missing.push_back(std::string(key) + ": " + answer.reason);
  }
  const Window& window() const { return out_.window; }

  Database& trace_;
  const TimelineOptions& options_;
  Recorded recorded_;
  Names names_;
  StageLookup stages_;
  Timeline out_;

  BusyTime busy_;
  UntimedOps untimed_;
  LaunchGapsQuestion launch_gaps_{out_.window, names_};
  ConcurrencyQuestion concurrency_;
  SynchronisationQuestion synchronisation_{trace_, out_.window, busy_, names_};
  TransfersQuestion transfers_;
  GraphsQuestion graphs_{out_.window, names_};
  SubmitThreadQuestion submit_thread_{out_.window, busy_, stages_, names_};
  ActivityQuestion activity_;
  StageQuestion stage_table_;
  KernelQuestion kernel_table_;
  int64_t kernels_ = 0;
  int64_t whole_graphs_ = 0;
  int64_t allocate_calls_ = 0;
  int64_t release_calls_ = 0;
  int64_t sync_calls_ = 0;
  int64_t device_syncs_ = 0;
};

void Analysis::identify() {
  out_.tool = recorded_.fact(ledger::trace_meta::kTool).value_or("");
  out_.tool_version = recorded_.fact(ledger::trace_meta::kToolVersion).value_or("");
  out_.created_utc = recorded_.fact(ledger::trace_meta::kCreatedUtc).value_or("");
  out_.report_sha256 = recorded_.fact(ledger::trace_meta::kReportSha256);
  out_.workload_id = recorded_.fact(ledger::trace_meta::kWorkloadId);
  ledger::Statement rows = trace_.prepare("SELECT id, uuid, name FROM device ORDER BY id");
  while (rows.step()) out_.devices.push_back({rows.integer(0), rows.string(1), rows.string(2)});
}

void Analysis::read_operations() {
  for_each_launched_op(trace_, window(), stages_, [&](const LaunchedOp& launched) {
    busy_.add(launched.inside);
    launch_gaps_.add(launched);
    concurrency_.add(launched.op, launched.inside, launched.counts);
    synchronisation_.add_op(launched.op, launched.call, launched.counts);
    transfers_.add(launched.op, launched.inside, launched.counts);
    graphs_.add_op(launched.op, launched.counts);
    activity_.add(launched.op, launched.inside);
    stage_table_.add(launched);
    kernel_table_.add(launched);
    if (!launched.counts) return;
    if (launched.op.kind == OpKind::kKernel) ++kernels_;
    if (launched.op.kind == OpKind::kGraph) ++whole_graphs_;
  });
  untimed_ = untimed_ops(trace_, window(), [&](const DeviceOp& op) {
    transfers_.add_untimed(op);
    if (op.kind == OpKind::kKernel) ++kernels_;
  });
}

void Analysis::read_calls() {
  for_each_outer_call(trace_, window(), names_, [&](const OuterCall& call) {
    synchronisation_.add_call(call);
    graphs_.add_call(call);
    submit_thread_.add(call);
    if (!window().starts_inside(call.start_ns) || !call.ok) return;
    const CallClass c = call.what;
    if (c == CallClass::kAllocate || c == CallClass::kHostAllocate) ++allocate_calls_;
    if (c == CallClass::kRelease || c == CallClass::kHostRelease) ++release_calls_;
    if (is_sync(c)) ++sync_calls_;
    if (c == CallClass::kDeviceSync) ++device_syncs_;
  });
}

void Analysis::answer() {
  out_.loading = loading(trace_, window(), recorded_);
  const auto no_operations = recorded_.why_not({"CONCURRENT_KERNEL", "MEMCPY", "MEMSET"});
  const bool any_kind =
      recorded_.has("CONCURRENT_KERNEL") || recorded_.has("MEMCPY") || recorded_.has("MEMSET");
  if (any_kind) {
    out_.launch_gaps = Answer<LaunchGaps>::of(launch_gaps_.answer(recorded_));
    out_.activity = Answer<Activity>::of(activity_.answer(window(), untimed_, recorded_));
  } else {
    out_.launch_gaps = Answer<LaunchGaps>::unknown(*no_operations);
    out_.activity = Answer<Activity>::unknown(*no_operations);
  }
  const Answer<StreamWaits> waits = stream_waits(trace_, window(), stages_, recorded_);
  auto no_kernels = recorded_.why_not({"CONCURRENT_KERNEL"});
  if (!no_kernels && whole_graphs_ > 0) {
    no_kernels =
        "whole graphs were recorded instead of their kernels; capture without --graph graph";
  }
  if (no_kernels) {
    out_.concurrency = Answer<Concurrency>::unknown(*no_kernels);
    out_.stages = Answer<StageTable>::unknown(*no_kernels);
    out_.kernels = Answer<std::vector<KernelFacts>>::unknown(*no_kernels);
  } else {
    Concurrency concurrency = concurrency_.answer();
    concurrency.waits = waits;
    out_.concurrency = Answer<Concurrency>::of(std::move(concurrency));
    out_.stages = Answer<StageTable>::of(stage_table_.answer(stages_, names_, waits));
    out_.kernels = Answer<std::vector<KernelFacts>>::of(kernel_table_.answer(*out_.stages, names_));
  }
  if (const auto why = recorded_.has_calls() ? std::nullopt : recorded_.why_no_calls()) {
    out_.graphs = Answer<Graphs>::unknown(*why);
    if (recorded_.has("SYNCHRONIZATION")) {
      out_.synchronisation = Answer<Synchronisation>::of(synchronisation_.answer(recorded_));
    } else {
      out_.synchronisation = Answer<Synchronisation>::unknown(
          *recorded_.why_not({"SYNCHRONIZATION", "RUNTIME", "DRIVER"}));
    }
  } else {
    out_.graphs = Answer<Graphs>::of(graphs_.answer(recorded_));
    out_.synchronisation = Answer<Synchronisation>::of(synchronisation_.answer(recorded_));
  }
  const auto no_copies = recorded_.why_not({"MEMCPY"});
  out_.transfers = no_copies ? Answer<Transfers>::unknown(*no_copies)
                             : Answer<Transfers>::of(transfers_.answer(window()));
  out_.allocation = allocation(trace_, window(), recorded_);
  out_.submit_thread = submit_thread_.answer(recorded_);
  out_.perturbation = perturbation(trace_, window(), recorded_, options_.uninstrumented_ns);
}

void Analysis::count() {
  const auto add = [&](const char* key, const std::optional<std::string>& why_not, int64_t value) {
    out_.counts.push_back(
        {key, why_not ? Answer<int64_t>::unknown(*why_not) : Answer<int64_t>::of(value)});
  };
  const auto no_calls = recorded_.why_no_calls();
  auto no_kernels = recorded_.why_not({"CONCURRENT_KERNEL"});
  if (!no_kernels && whole_graphs_ > 0) no_kernels = out_.kernels.reason;
  add("kernel_launches", no_kernels, kernels_);
  const Graphs graphs = out_.graphs ? *out_.graphs : Graphs{};
  add("graph_launches", no_calls, graphs.launches);
  add("graph_instantiations", no_calls, graphs.instantiations);
  add("graph_updates", no_calls, graphs.updates);
  add("sync_calls", no_calls, sync_calls_);
  add("device_synchronizes", no_calls, device_syncs_);
  if (out_.loading) {
    add("module_loads", std::nullopt, out_.loading->modules_in_window);
    out_.counts.push_back({"jit_compiles", out_.loading->jit_in_window});
  } else {
    add("module_loads", out_.loading.reason, 0);
    add("jit_compiles", out_.loading.reason, 0);
  }
  add("allocations", no_calls, allocate_calls_);
  add("frees", no_calls, release_calls_);
  auto no_copies = recorded_.why_not({"MEMCPY"});
  if (!no_copies && whole_graphs_ > 0) {
    no_copies = "whole graphs were recorded instead of their copies; capture without --graph graph";
  }
  const Transfers transfers = out_.transfers ? *out_.transfers : Transfers{};
  const std::pair<Direction, std::pair<const char*, const char*>> kDirectionKeys[] = {
      {Direction::kH2D, {"h2d_operations", "h2d_bytes"}},
      {Direction::kD2H, {"d2h_operations", "d2h_bytes"}},
      {Direction::kD2D, {"d2d_operations", "d2d_bytes"}}};
  for (const auto& [direction, keys] : kDirectionKeys) {
    const DirectionTransfers d = transfers.of(direction);
    add(keys.first, no_copies, d.operations);
    add(keys.second, no_copies, d.bytes);
  }
  auto no_order = no_copies;
  if (!no_order && !transfers.one_terminal_d2h) no_order = transfers.one_terminal_d2h.reason;
  add("terminal_d2h_operations", no_order, transfers.terminal_d2h_operations);
  add("terminal_d2h_bytes", no_order, transfers.terminal_d2h_bytes);
  add("intermediate_d2h_operations", no_order, transfers.intermediate_d2h_operations);
}

void Analysis::compare() {
  if (!options_.report) return;
  if (!window().request) {
    throw stwo::UsageError("TIMELINE_REQUEST", "capture " + trace_.path() +
                                                   " holds no request to compare with a product "
                                                   "report; leave the report out");
  }
  out_.comparison = compare_with_report(
      out_.counts, read_report_request(*options_.report, *window().request, out_.report_sha256));
}

void Analysis::grade() {
  const auto reason = [&](TimelineEvidence grade, std::string why) {
    out_.evidence = std::max(out_.evidence, grade);
    out_.reasons.push_back(std::move(why));
  };
  if (recorded_.truncated()) {
    reason(TimelineEvidence::kTruncated,
           "the record log has no trailer: the recorder did not reach its end");
  }
  if (out_.perturbation.perturbed()) {
    reason(TimelineEvidence::kPerturbed,
           "the recorder made the window longer by more than a tenth: do not quote durations");
  }
  for (const ledger::LossRow& loss : recorded_.losses()) {
    reason(TimelineEvidence::kDegraded,
           "lost: " + loss.kind + ", " + std::to_string(loss.count) + " records");
  }
  if (recorded_.quarantined() > 0) {
    reason(TimelineEvidence::kDegraded,
           "not understood: " + std::to_string(recorded_.quarantined()) + " records");
  }
  for (const std::string& kind : recorded_.missing()) {
    reason(TimelineEvidence::kDegraded, "not recorded: " + kind);
  }
  if (untimed_.total() > 0) {
    reason(TimelineEvidence::kDegraded,
           "without times: " + std::to_string(untimed_.total()) + " device operations");
  }
  if (!out_.stages) return;
  if (out_.stages->ambiguous_kernels > 0) {
    reason(TimelineEvidence::kDegraded,
           "stage not clear: " + std::to_string(out_.stages->ambiguous_kernels) +
               " kernels in ranges that overlap without nesting");
  }
  if (out_.stages->unclosed_ranges > 0) {
    reason(TimelineEvidence::kDegraded,
           "never closed: " + std::to_string(out_.stages->unclosed_ranges) +
               " stage ranges, taken to last to the end of the capture");
  }
}

void Analysis::list_missing() {
  note("context_and_modules", out_.loading);
  note("launch_gaps", out_.launch_gaps);
  note("concurrency", out_.concurrency);
  note("synchronisation", out_.synchronisation);
  note("transfers", out_.transfers);
  note("allocation", out_.allocation);
  note("graphs", out_.graphs);
  note("submit_thread", out_.submit_thread);
  note("activity", out_.activity);
  note("stages", out_.stages);
  if (out_.stages) note("stages.attributed", out_.stages->attributed);
  if (out_.concurrency) note("concurrency.waits", out_.concurrency->waits);
  if (out_.launch_gaps) note("launch_gaps.launch_latency", out_.launch_gaps->launch_latency);
  note("perturbation.inflation", out_.perturbation.inflation);
}

}  // namespace

std::string_view evidence_name(TimelineEvidence evidence) {
  static constexpr std::string_view kNames[] = {"complete", "degraded", "perturbed", "truncated"};
  return kNames[static_cast<size_t>(evidence)];
}

Timeline analyze_timeline(Database& trace, const TimelineOptions& options) {
  return Analysis(trace, options).run();
}

std::vector<KernelFacts> kernel_facts(Database& trace, std::optional<int64_t> request) {
  TimelineOptions options;
  options.request = request;
  Timeline timeline = analyze_timeline(trace, options);
  if (!timeline.kernels) {
    throw stwo::FormatError(
        "TIMELINE_KERNELS",
        "capture " + trace.path() + " says nothing about kernels: " + timeline.kernels.reason);
  }
  return *std::move(timeline.kernels.value);
}

}  // namespace prof

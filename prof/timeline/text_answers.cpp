#include "prof/timeline/text_answers.hpp"

#include <algorithm>
#include <cstdio>

#include "prover/cli/terminal.hpp"

namespace prof::detail {
namespace {

using stwo::format_bytes;
using stwo::format_table;

constexpr size_t kShownKernels = 10;
constexpr size_t kShownGaps = 5;
constexpr size_t kShownLoads = 8;

uint64_t natural(int64_t v) { return v < 0 ? 0 : static_cast<uint64_t>(v); }
std::string count_text(int64_t n) { return stwo::format_count(natural(n)); }
std::string bytes_text(int64_t n) { return format_bytes(natural(n)); }
std::string share_text(int64_t part, int64_t whole) {
  return stwo::format_percent(natural(part), natural(whole));
}
std::string ratio_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}
std::string optional_duration(const std::optional<int64_t>& ns) {
  return ns ? duration_text(*ns) : "-";
}
template <class T, class Show>
std::string answer_text(const Answer<T>& answer, Show show) {
  return answer ? show(*answer) : "unknown: " + answer.reason;
}
std::string counted(const Answer<int64_t>& answer) { return answer_text(answer, count_text); }

std::string distribution_text(const Distribution& d) {
  return count_text(d.n) + ", median " + optional_duration(d.p50_ns) + ", p90 " +
         optional_duration(d.p90_ns) + ", p99 " + optional_duration(d.p99_ns) + ", longest " +
         optional_duration(d.max_ns);
}

std::string indented(const std::string& text) {
  std::string out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    out += "  " + text.substr(begin, end - begin) + "\n";
    if (end == std::string::npos) break;
    begin = end + 1;
  }
  return out;
}

}  // namespace

std::string duration_text(int64_t ns) {
  if (ns < 1000) return std::to_string(ns) + " ns";
  char text[48];
  const bool us = ns < 1'000'000;
  std::snprintf(text, sizeof text, "%.3f %s", static_cast<double>(ns) / (us ? 1e3 : 1e6),
                us ? "us" : "ms");
  return text;
}

std::string yes_no(const Answer<bool>& answer) {
  return answer_text(answer, [](bool v) { return std::string(v ? "yes" : "no"); });
}

std::string short_name(const std::string& name, size_t limit) {
  std::string out = stwo::one_line(name);
  if (out.size() <= limit) return out;
  out.resize(limit - 3);
  // Not in the middle of a character of several bytes.
  while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80) out.pop_back();
  if (!out.empty() && (static_cast<unsigned char>(out.back()) & 0x80) != 0) out.pop_back();
  return out + "...";
}

std::string loading_text(const Loading& v) {
  std::string out = "  modules loaded in the request: " + counted(v.modules_in_request) +
                    "; contexts made: " + counted(v.contexts_in_request) +
                    "; compiled at run time: " + counted(v.jit_in_request) + "\n" +
                    "  in the whole capture: " + count_text(v.modules) + " modules, " +
                    count_text(v.contexts) + " contexts, " + counted(v.jit_steps) +
                    " steps of compilation\n";
  if (v.lazy && v.lazy->modules + v.lazy->functions > 0) {
    out += "  loaded at first use, in the window: " + count_text(v.lazy->modules) + " modules in " +
           duration_text(v.lazy->module_ns) + ", " + count_text(v.lazy->functions) +
           " functions in " + duration_text(v.lazy->function_ns) + "\n";
  }
  std::vector<std::vector<std::string>> rows;
  for (const LoadRow& row : v.rows) {
    if (rows.size() == kShownLoads) break;
    rows.push_back({row.phase ? *row.phase : "-", row.what, row.call.value_or("-"),
                    row.bytes ? bytes_text(*row.bytes) : "-",
                    row.sha256 ? row.sha256->substr(0, 12) : "-"});
  }
  if (!rows.empty()) {
    out += indented(format_table({"phase", "what", "call", ">size", "digest"}, rows));
  }
  return out;
}

std::string launch_gaps_text(const LaunchGaps& v, const Window& window) {
  std::string out = "  kernels: " + counted(v.kernels) +
                    "; idle between operations: " + duration_text(v.gap_ns) + ", " +
                    ratio_text(100 * v.share_of_window) + "% of the window\n";
  for (const DeviceGaps& d : v.devices) {
    out += "  device " + std::to_string(d.device_id) + ": gaps " + distribution_text(d.gaps) +
           "\n" + "    host late " + duration_text(d.host_late_ns) + ", launch latency " +
           duration_text(d.launch_latency_ns) + ", between graph nodes " +
           duration_text(d.dependency_ns) +
           (d.unknown_ns > 0 ? ", unknown call " + duration_text(d.unknown_ns) : "") + "\n" +
           "    before the first operation " + duration_text(d.before_ns) + ", after the last " +
           duration_text(d.after_ns) + "\n";
    std::vector<std::vector<std::string>> rows;
    for (const TopGap& gap : d.top) {
      if (rows.size() == kShownGaps) break;
      rows.push_back({duration_text(gap.ns), duration_text(gap.host_late_ns),
                      duration_text(gap.start_ns - window.begin_ns), gap.stage,
                      short_name(gap.before, 36), short_name(gap.after, 36)});
    }
    if (!rows.empty()) {
      out +=
          indented(format_table({">gap", ">host late", ">at", "stage", "after", "before"}, rows));
    }
  }
  out += "  launch latency on idle streams: " + answer_text(v.launch_latency, distribution_text) +
         "\n";
  if (v.queued_to_submitted) {
    out += "  queued to submitted: " + distribution_text(*v.queued_to_submitted) +
           "\n  submitted to start: " + distribution_text(*v.submitted_to_start) + "\n";
  }
  return out;
}

std::string concurrency_text(const Concurrency& v) {
  std::string out;
  for (const DeviceConcurrency& d : v.devices) {
    out += "  device " + std::to_string(d.device_id) + ": concurrency " +
           (d.concurrency ? ratio_text(*d.concurrency) : "-") + ", at least two kernels for " +
           duration_text(d.overlap_ns) + ", at most " + count_text(d.most_at_once) +
           " at once; copies beside kernels " + duration_text(d.copy_compute_overlap_ns) + " of " +
           duration_text(d.copy_ns) + "\n";
  }
  out += "  waits for other streams: " +
         answer_text(v.waits,
                     [](const StreamWaits& w) {
                       return count_text(w.waits) + ", " + count_text(w.blocking) +
                              " held a stream up for " + duration_text(w.wait_ns) +
                              (w.unresolved > 0
                                   ? "; " + count_text(w.unresolved) + " could not be followed"
                                   : "");
                     }) +
         "\n";
  out +=
      "  streams with operations: " + count_text(v.stream_count) +
      " (overlap pays only if the window gets shorter than with one stream, without a recorder)\n";
  return out;
}

std::string synchronisation_text(const Synchronisation& v) {
  std::string out = "  waits of the host: " + count_text(v.waits()) +
                    "; one wait, after all work: " + yes_no(v.one_terminal_wait) + "\n";
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const std::string& name, const HostTime& t) {
    if (t.calls == 0 && t.host_ns == 0) return;
    rows.push_back(
        {name, count_text(t.calls), duration_text(t.host_ns), duration_text(t.wasted_ns)});
  };
  add("device synchronize", v.device);
  add("stream synchronize", v.stream);
  add("event synchronize", v.event);
  add("stream query", v.stream_query);
  add("event query", v.event_query);
  add("blocking copies", v.blocking_copies);
  for (const ImplicitSync& row : v.implicit) add(row.call, row.time);
  if (!rows.empty()) {
    out += indented(format_table({"what", ">calls", ">host", ">device idle"}, rows));
  }
  out += "  operations on default streams: " + counted(v.legacy_stream_operations) + "\n";
  return out;
}

std::string transfers_text(const Transfers& v) {
  std::string out = "  one copy to the host, after the last kernel: " + yes_no(v.one_terminal_d2h);
  if (v.one_terminal_d2h && !*v.one_terminal_d2h) {
    out += v.intermediate_d2h_operations > 0
               ? " (INTERMEDIATE_D2H: " + count_text(v.intermediate_d2h_operations) + " before it)"
               : " (" + count_text(v.terminal_d2h_operations) + " copies after it)";
  }
  out += "\n";
  std::vector<std::vector<std::string>> rows;
  for (const DirectionTransfers& d : v.directions) {
    rows.push_back({std::string(direction_name(d.direction)), count_text(d.operations),
                    bytes_text(d.bytes), duration_text(d.union_ns),
                    d.bytes_per_s ? ratio_text(*d.bytes_per_s / 1e9) + " GB/s" : "-",
                    share_text(d.pageable_bytes, d.bytes)});
  }
  if (v.fills > 0)
    rows.push_back({"fill", count_text(v.fills), bytes_text(v.fill_bytes), "", "", ""});
  if (!rows.empty()) {
    out += indented(
        format_table({"what", ">operations", ">bytes", ">time", ">rate", ">pageable"}, rows));
  }
  return out;
}

std::string allocation_text(const Allocation& v) {
  std::string out = "  nothing allocated or released: " + yes_no(v.nothing_allocated) + " (" +
                    count_text(v.allocations) + " allocations of " + bytes_text(v.allocated_bytes) +
                    ", " + count_text(v.releases) + " releases)\n" + "  alive: device " +
                    bytes_text(v.device.peak) + " at most, host " + bytes_text(v.host.peak) + "\n";
  std::vector<std::vector<std::string>> rows;
  for (const MemoryCalls& c : v.calls) {
    rows.push_back({c.call.value_or("unknown call"), c.release ? "release" : "allocation", c.memory,
                    count_text(c.events), bytes_text(c.bytes)});
  }
  if (!rows.empty()) {
    out += indented(format_table({"call", "what", "memory", ">events", ">bytes"}, rows));
  }
  if (!v.pools) return out + "  pools: unknown: " + v.pools.reason + "\n";
  for (const PoolUse& pool : *v.pools) {
    out += "  pool on device " + std::to_string(pool.device_id) + ": size " +
           (pool.bytes ? bytes_text(*pool.bytes) : "unknown") + ", used " +
           (pool.used_bytes ? bytes_text(*pool.used_bytes) : "unknown") + ", kept " +
           (!pool.release_threshold_bytes ? "unknown"
            : *pool.release_threshold_bytes == UINT64_MAX
                ? "everything"
                : format_bytes(*pool.release_threshold_bytes)) +
           ", trims " + count_text(pool.trims) + "\n";
  }
  return out;
}

std::string graphs_text(const Graphs& v) {
  std::string out =
      "  launches " + count_text(v.launches) + " of " + count_text(v.executables) +
      " graphs; instantiations " + count_text(v.instantiations) + ", updates " +
      count_text(v.updates) + ", uploads " + count_text(v.uploads) + "\n" +
      "  kernels launched by graphs: " +
      answer_text(v.kernel_share, [](double s) { return ratio_text(100 * s) + "%"; }) + "\n";
  for (const GraphCalls& c : v.calls) {
    out +=
        "  " + c.call + ": " + count_text(c.calls) + " calls, " + duration_text(c.host_ns) + "\n";
  }
  return out;
}

std::string submit_thread_text(const SubmitThread& v, const Window& window) {
  std::string out = "  thread " + std::to_string(v.tid) + " of process " + std::to_string(v.pid) +
                    ": " + count_text(v.launches) + " launches in " + count_text(v.calls) +
                    " calls; starved (no call, device idle) " + duration_text(v.starved_ns) + ", " +
                    share_text(v.starved_ns, window.length_ns()) + " of the window\n" +
                    "  in calls " + duration_text(v.in_api_ns) + ", of it blocked " +
                    duration_text(v.blocked_ns) + "; between calls " +
                    duration_text(v.gaps.sum_ns) + " (" + distribution_text(v.gaps) + ")\n";
  std::vector<std::vector<std::string>> rows;
  for (const SubmitGap& gap : v.top) {
    if (rows.size() == kShownGaps || gap.starved_ns == 0) break;
    rows.push_back({duration_text(gap.starved_ns), duration_text(gap.ns),
                    duration_text(gap.start_ns - window.begin_ns), gap.stage, gap.before,
                    gap.after});
  }
  if (!rows.empty()) {
    out += indented(format_table({">starved", ">gap", ">at", "stage", "after", "before"}, rows));
  }
  return out;
}

std::string activity_text(const Activity& v) {
  std::string out = std::string("  active ") + (v.lower_bound ? "at least " : "") +
                    share_text(v.busy_ns, v.window_ns) + " of the window (" +
                    duration_text(v.busy_ns) + "), kernels alone " +
                    share_text(v.kernel_busy_ns, v.window_ns) + "\n";
  if (v.devices.size() > 1) {
    for (const DeviceActive& d : v.devices) {
      out += "  device " + std::to_string(d.device_id) + ": " + share_text(d.busy_ns, v.window_ns) +
             ", kernels " + share_text(d.kernel_busy_ns, v.window_ns) + "\n";
    }
  }
  if (v.untimed.total() > 0) {
    out += "  left out because they have no times: " + count_text(v.untimed.kernels) +
           " kernels, " + count_text(v.untimed.copies) + " copies, " + count_text(v.untimed.fills) +
           " fills, " + count_text(v.untimed.unknown) + " operations of unknown place\n";
  }
  return out;
}

std::string stages_text(const StageTable& v) {
  std::string out = "  kernel time with a stage: " +
                    answer_text(v.attributed, [](double s) { return ratio_text(100 * s) + "%"; });
  if (v.ambiguous_kernels > 0) {
    out += "; ambiguous: " + count_text(v.ambiguous_kernels) + " kernels, " +
           duration_text(v.ambiguous_ns);
  }
  out += "\n";
  std::vector<const StageRow*> ranked;
  for (const StageRow& row : v.stages) ranked.push_back(&row);
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const StageRow* a, const StageRow* b) { return a->busy_ns > b->busy_ns; });
  std::vector<std::vector<std::string>> rows;
  for (const StageRow* row : ranked) {
    rows.push_back({row->facts.stage, duration_text(row->busy_ns),
                    share_text(row->busy_ns, v.whole.busy_ns), count_text(row->facts.kernels),
                    duration_text(row->facts.gaps_ns),
                    row->active ? ratio_text(100 * *row->active) + "%" : "-",
                    stwo::bar(natural(row->busy_ns), natural(v.whole.busy_ns), 20)});
  }
  if (!rows.empty()) {
    out += indented(
        format_table({"stage", ">busy", ">share", ">kernels", ">gaps", ">active", ""}, rows));
  }
  return out;
}

std::string kernels_text(const std::vector<KernelFacts>& v) {
  std::vector<std::vector<std::string>> rows;
  for (const KernelFacts& k : v) {
    if (rows.size() == kShownKernels) break;
    rows.push_back({short_name(k.kernel), k.stage.stage, count_text(k.launches),
                    duration_text(k.total_ns), ratio_text(100 * k.share_of_device) + "%",
                    duration_text(k.median_ns), optional_duration(k.median_gap_ns)});
  }
  if (rows.empty()) return "  none\n";
  return indented(format_table(
      {"kernel", "stage", ">launches", ">total", ">of busy", ">median", ">median gap"}, rows));
}

}  // namespace prof::detail

#include <algorithm>
#include <cstdio>

#include "prof/timeline/text_answers.hpp"
#include "prover/cli/terminal.hpp"

namespace prof {
namespace {

using namespace detail;

std::string percent(int64_t part, int64_t whole) {
  return stwo::format_percent(static_cast<uint64_t>(std::max<int64_t>(0, part)),
                              static_cast<uint64_t>(std::max<int64_t>(0, whole)));
}

/// The sentence about what takes most of the window.
std::string contributor(const Timeline& t) {
  const StageRow* stage = nullptr;
  if (t.stages) {
    for (const StageRow& row : t.stages->stages) {
      if (stage == nullptr || row.busy_ns > stage->busy_ns) stage = &row;
    }
  }
  std::string out;
  if (stage != nullptr) {
    out += "Most device time goes to stage " + stage->facts.stage + ": " +
           duration_text(stage->busy_ns) + ", " + percent(stage->busy_ns, t.stages->whole.busy_ns) +
           " of busy time. ";
  }
  if (t.kernels && !t.kernels->empty()) {
    const KernelFacts& k = t.kernels->front();
    out += "The longest kernel is " + short_name(k.kernel) + ": " + duration_text(k.total_ns) +
           " in " + stwo::format_count(static_cast<uint64_t>(k.launches)) +
           (k.launches == 1 ? " launch. " : " launches. ");
  }
  return out;
}

std::string idle_sentence(const LaunchGaps& gaps) {
  int64_t late = 0;
  int64_t latency = 0;
  int64_t edges = 0;
  for (const DeviceGaps& d : gaps.devices) {
    late += d.host_late_ns;
    latency += d.launch_latency_ns;
    edges += d.before_ns + d.after_ns;
  }
  if (gaps.devices.empty()) return "No device operation runs in it. ";
  return "Between operations devices are idle for " + duration_text(gaps.gap_ns) + " (host late " +
         duration_text(late) + ", launch latency " + duration_text(latency) +
         "), before the first and after the last for " + duration_text(edges) + ". ";
}

/// At most 96 characters a line.
std::string wrapped(const std::string& text) {
  std::string out;
  size_t width = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const size_t length = end - begin;
    if (length > 0) {
      if (width > 0 && width + 1 + length > 96) {
        out += '\n';
        width = 0;
      }
      if (width > 0) {
        out += ' ';
        ++width;
      }
      out.append(text, begin, length);
      width += length;
    }
    begin = end + 1;
  }
  return out + "\n";
}

std::string summary(const Timeline& t) {
  std::string out = "The window is " + t.window.choice + "; it is " +
                    duration_text(t.window.length_ns()) + " long. ";
  if (t.activity) {
    out += std::string("A device works in ") + (t.activity->lower_bound ? "at least " : "") +
           percent(t.activity->busy_ns, t.activity->window_ns) + " of it. ";
  }
  out += contributor(t);
  if (t.launch_gaps) out += idle_sentence(*t.launch_gaps);
  return wrapped(out);
}

std::string evidence_text(const Timeline& t) {
  std::string out = "Evidence: " + std::string(evidence_name(t.evidence)) + "\n";
  for (const std::string& reason : t.reasons) out += "  " + stwo::one_line(reason) + "\n";
  return out;
}

std::string perturbation_text(const Perturbation& p) {
  std::string out = "  window with the recorder " + duration_text(p.captured_ns) + ", inflation ";
  if (p.inflation) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f", *p.inflation);
    out += text;
    if (p.perturbed()) out += "; perturbed: do not quote durations";
  } else {
    out += "unknown: " + p.inflation.reason;
  }
  out += "\n  overhead in the window: ";
  out += p.overhead_ns ? duration_text(*p.overhead_ns) + ", of it the recorder's " +
                             duration_text(p.profiler_ns)
                       : "unknown: " + p.overhead_ns.reason;
  return out + "\n";
}

std::string comparison_text(const Timeline& t) {
  if (!t.comparison) return "";
  size_t equal = 0;
  size_t known = 0;
  std::vector<std::vector<std::string>> rows;
  const auto shown = [](const Answer<int64_t>& a) { return a ? std::to_string(*a) : "unknown"; };
  for (const CountRow& row : *t.comparison) {
    if (row.equal) ++known;
    if (row.equal && *row.equal) {
      ++equal;
      continue;
    }
    rows.push_back(
        {row.key, shown(row.capture), shown(row.report), !row.equal ? "unknown" : "DIFFERENT"});
  }
  std::string out = "\nAgainst the product report: " + std::to_string(equal) + " of " +
                    std::to_string(known) + " counts are equal, " +
                    std::to_string(t.comparison->size() - known) + " unknown\n";
  if (!rows.empty()) {
    out += stwo::format_table({"count", ">capture", ">report", ""}, rows);
  }
  return out;
}

}  // namespace

std::string to_text(const Timeline& t) {
  std::string out = summary(t) + "\n" + evidence_text(t);
  const auto block = [&](const std::string& title, const auto& answer, auto show) {
    out += "\n" + title + "\n";
    out += answer ? show(*answer) : "  unknown: " + answer.reason + "\n";
  };
  block("Stages", t.stages, stages_text);
  block("Kernels", t.kernels, kernels_text);
  block("1. Contexts and modules", t.loading, loading_text);
  block("2. Kernels and launch gaps", t.launch_gaps,
        [&](const LaunchGaps& v) { return launch_gaps_text(v, t.window); });
  block("3. Streams, concurrency, waits", t.concurrency, concurrency_text);
  block("4. Synchronisation", t.synchronisation, synchronisation_text);
  block("5. Transfers", t.transfers, transfers_text);
  block("6. Allocation", t.allocation, allocation_text);
  block("7. Graphs", t.graphs, graphs_text);
  block("8. Submitting thread", t.submit_thread,
        [&](const SubmitThread& v) { return submit_thread_text(v, t.window); });
  block("9. Active fraction", t.activity, activity_text);
  out += "\nPerturbation\n" + perturbation_text(t.perturbation);
  return out + comparison_text(t);
}

}  // namespace prof

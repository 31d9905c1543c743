// Rules that need the timeline: what happens between kernels.

#include <algorithm>

#include "prof/diagnose/rules.hpp"
#include "prof/diagnose/text.hpp"

namespace prof::rules {
namespace {

/// part / whole, 0 for an empty whole: an empty span has no gaps.
double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// Sums of times are taken as real numbers: they cannot overflow.
double real(int64_t ns) { return static_cast<double>(ns); }

std::string place(const StageFacts& stage) {
  return stage.stage.empty() ? "the window" : "stage " + stage.stage;
}

/// "falls by at least 12 % (from 2 ms to at most 1.76 ms)" for the span of a stage.
std::string span_fall(const StageFacts& stage, double gain) {
  return fall_of({real(stage.span_ns), "the span of " + place(stage)}, gain);
}

}  // namespace

TimeBasis launch_time(const DiagnosisInput& input) {
  if (input.timeline != nullptr && input.timeline->median_ns > 0) {
    return {static_cast<double>(input.timeline->median_ns), "its median duration in the timeline"};
  }
  return {input.counters->value("replay_duration"), "its replayed duration (no production time)"};
}

std::string fall_of(const TimeBasis& time, double gain) {
  std::string text = time.name + " falls by at least " + percent_text(gain);
  if (time.ns) {
    text += " (from " + quantity_text(*time.ns, "ns") + " to at most " +
            quantity_text(*time.ns * (1 - gain), "ns") + ")";
  }
  return text;
}

Result launch_fragmentation(const DiagnosisInput& input) {
  if (input.timeline == nullptr) return std::nullopt;
  const KernelFacts& kernel = *input.timeline;
  const StageFacts& stage = kernel.stage;
  const Thresholds& t = *input.thresholds;
  const double late_ns = real(stage.host_late_ns) + real(stage.launch_latency_ns);
  const double gaps_ns = real(stage.gaps_ns);
  const double own_gaps_ns = real(kernel.launches) * real(kernel.median_gap_ns.value_or(0));
  std::vector<std::vector<Evidence>> alternatives;
  if (stage.kernels > 0 && stage.gaps_ns > 0) {
    alternatives.push_back({below("median kernel of " + place(stage), real(stage.median_kernel_ns),
                                  t.fragment_kernel_ns, "ns"),
                            at_least("gaps over the span", share(gaps_ns, real(stage.span_ns)),
                                     t.fragment_gap_share, ""),
                            at_least("host and launch latency over the gaps",
                                     share(late_ns, gaps_ns), t.fragment_host_share, "")});
  }
  if (kernel.median_gap_ns && *kernel.median_gap_ns > 0) {
    alternatives.push_back(
        {at_least("launches per request", real(kernel.launches), t.fragment_launches, ""),
         at_most("median duration", real(kernel.median_ns),
                 t.fragment_duration_per_gap * static_cast<double>(*kernel.median_gap_ns), "ns")});
  }
  const auto found = match({}, alternatives);
  if (!found) return std::nullopt;
  Finding out{Mechanism::kLaunchFragmentation, *found, {}, {}, {}, "", ""};
  const bool host = stage.host_late_ns > stage.launch_latency_ns;
  out.sub_causes.emplace_back(host ? "the host launches late" : "launch latency");
  out.details.push_back(shown("host late", real(stage.host_late_ns), "ns"));
  out.details.push_back(shown("launch latency", real(stage.launch_latency_ns), "ns"));
  out.summary = "launches cost more than what they launch: " + std::to_string(stage.kernels) +
                " kernels in " + place(stage) + ", idle for " +
                percent_text(share(gaps_ns, real(stage.span_ns))) + " of its span";
  // Half the launches take half of what launching costs away: of the stage's span, or of the time
  // that this kernel and the gaps before it take.
  const bool whole_stage = found->alternative == 0 && stage.kernels > 0 && stage.gaps_ns > 0;
  const double own_ns = real(kernel.total_ns) + own_gaps_ns;
  const std::string fall =
      whole_stage
          ? span_fall(stage, t.gain_of_half * std::min(1.0, share(late_ns, real(stage.span_ns))))
          : fall_of({own_ns, "the time of its launches with the gaps before them"},
                    t.gain_of_half * std::min(1.0, share(own_gaps_ns, own_ns)));
  out.prediction = "if the same work is launched half as often (" +
                   std::to_string(kernel.launches) + " -> " + std::to_string(kernel.launches / 2) +
                   " launches of it), " + fall + "; a smaller fall refutes launch fragmentation";
  return out;
}

Result serialized_branches(const DiagnosisInput& input) {
  if (input.timeline == nullptr) return std::nullopt;
  const StageFacts& stage = input.timeline->stage;
  const Thresholds& t = *input.thresholds;
  if (stage.span_ns <= 0) return std::nullopt;
  const double waiting = real(stage.wait_ns) + real(stage.dependency_ns);
  const double span = real(stage.span_ns);
  const std::vector<Evidence> common = {
      below("concurrency", stage.concurrency, t.dependency_concurrency, ""),
      at_least("waits and dependency gaps over the span", share(waiting, span),
               t.dependency_wait_share, "")};
  std::vector<std::vector<Evidence>> alternatives = {
      {fact(at_least("streams", real(stage.streams), t.dependency_streams, ""))}};
  if (input.plan.parallel_branches) {
    alternatives.push_back({fact(
        at_least("parallel branches in the plan", *input.plan.parallel_branches ? 1 : 0, 1, ""))});
  }
  const auto found = match(common, alternatives);
  if (!found) return std::nullopt;
  Finding out{Mechanism::kDependencySerialization, *found, {}, {}, {}, "", ""};
  out.sub_causes.emplace_back(stage.wait_ns >= stage.dependency_ns
                                  ? "streams wait for one another"
                                  : "dependencies inside graph launches");
  out.details.push_back(shown("waits between streams", real(stage.wait_ns), "ns"));
  out.details.push_back(shown("dependency gaps", real(stage.dependency_ns), "ns"));
  const double waited = std::min(1.0, share(waiting, span));
  out.summary = "work that could overlap runs one after the other: " + place(stage) +
                " waits for " + percent_text(waited) + " of its span";
  out.prediction = "if half of the waits go (" + quantity_text(waiting, "ns") + " -> " +
                   quantity_text(waiting / 2, "ns") + " of waits and dependency gaps), " +
                   span_fall(stage, t.gain_of_half * waited) +
                   "; a smaller fall refutes dependency serialization";
  return out;
}

Result serialized_chain(const DiagnosisInput& input) {
  const auto waves = input.counters->value("waves");
  if (input.timeline == nullptr || !waves) return std::nullopt;
  const KernelFacts& kernel = *input.timeline;
  const Thresholds& t = *input.thresholds;
  std::vector<Evidence> common = {
      below("waves", *waves, t.chain_waves, ""),
      below("concurrency", kernel.stage.concurrency, t.dependency_concurrency, ""),
      fact(at_least("launches per request", real(kernel.launches), t.chain_launches, ""))};
  if (input.plan.transcript_barriers) {
    common.push_back(fact(at_least("transcript barriers",
                                   static_cast<double>(*input.plan.transcript_barriers), 1, "")));
  }
  const auto found = match(common, {{}});
  if (!found) return std::nullopt;
  Finding out{Mechanism::kDependencySerialization, *found, {}, {}, {}, "", ""};
  out.sub_causes.emplace_back(input.plan.transcript_barriers ? "a chain across transcript barriers"
                                                             : "a chain of small launches");
  if (!input.plan.transcript_barriers) {
    out.missing.emplace_back("plan: does each launch need the one before (transcript barriers)?");
  }
  out.summary = std::to_string(kernel.launches) + " launches follow one another, each with " +
                number_text(*waves) +
                " of a wave: the device waits for the chain, not for one "
                "launch";
  const auto total = real(kernel.total_ns);
  out.prediction = "if the chain has half as many steps (" + std::to_string(kernel.launches) +
                   " -> " + std::to_string(kernel.launches / 2) + " launches) for the same work, " +
                   fall_of({total, "the kernel's total time in the window"}, t.gain_of_half) +
                   "; a smaller fall refutes dependency serialization";
  return out;
}

}  // namespace prof::rules

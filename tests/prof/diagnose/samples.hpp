// Counters and timelines with chosen values.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "prof/diagnose/diagnosis.hpp"
#include "tests/prof/ncu/support.hpp"

namespace prof::test {

/// A kernel with three captured launches on which no rule holds: everything is half busy and the
/// schedulers issue.
inline KernelCounters balanced_counters() {
  KernelCounters out = no_counters("k", "not in the report");
  out.launches = 3;
  out.shapes = {{{4096, 1, 1}, {256, 1, 1}, 3}};
  for (auto& [key, v] : out.values) {
    v.absent = false;
    v.value = 0;
    v.reason.clear();
  }
  const std::initializer_list<std::pair<const char*, double>> values = {
      {"dram_pct", 40},
      {"l2_pct", 40},
      {"sm_pct", 50},
      {"waves", 4},
      {"theoretical_pct", 100},
      {"achieved_pct", 90},
      {"issue_active", 0.8},
      {"eligible_warps", 2},
      {"l2_hit_pct", 80},
      {"replay_duration", 102400},
      {"dram_read", 1e9},
      {"dram_write", 5e8},
      {"l2_bytes", 2e9},
      {"instructions", 6e6},
      {"load_sectors", 4e6},
      {"load_requests", 1e6},
      {"store_sectors", 4e6},
      {"store_requests", 1e6},
      {"limit_registers", 8},
      {"limit_shared_mem", 4},
      {"limit_warps", 16},
      {"limit_blocks", 32},
      {"pipe_alu", 45},
      {"pipe_fma", 20},
      {"stall_long_scoreboard", 6},
      {"stall_wait", 2},
      {"stall_selected", 1},
      {"stall_not_selected", 3}};
  for (const auto& [key, value] : values) out.values.at(key).value = value;
  return out;
}

/// A kernel with half of the device's time in a stage where nothing waits.
inline KernelFacts calm_timeline() {
  KernelFacts out;
  out.kernel = "k";
  out.launches = 10;
  out.total_ns = 1'000'000;
  out.share_of_device = 0.5;
  out.median_ns = 100'000;
  out.median_gap_ns = 1'000;
  out.stage.stage = "trace_commit";
  out.stage.span_ns = 2'000'000;
  out.stage.kernels = 20;
  out.stage.median_kernel_ns = 100'000;
  out.stage.gaps_ns = 20'000;
  out.stage.host_late_ns = 5'000;
  out.stage.launch_latency_ns = 15'000;
  out.stage.concurrency = 1;
  out.stage.streams = 1;
  return out;
}

/// What a diagnosis takes, owned.
struct Case {
  KernelCounters counters = balanced_counters();
  KernelFacts timeline = calm_timeline();
  PlanFacts plan;
  Thresholds thresholds = default_thresholds();
  bool has_timeline = true;

  Case& set(const std::string& key, double value) {
    counters.values.at(key).value = value;
    return *this;
  }
  Case& drop(const std::string& key) {
    counters.values.at(key).value.reset();
    counters.values.at(key).reason = "\"n/a\" in the report";
    return *this;
  }
  DiagnosisInput input() const {
    return {&counters, has_timeline ? &timeline : nullptr, plan, &thresholds};
  }
  Diagnosis result() const { return diagnose(input()); }
  std::string name() const { return std::string(mechanism_name(result().mechanism)); }
};

/// The evidence of that name; a test fails if there is none.
inline Evidence evidence_of(const Diagnosis& d, const std::string& name) {
  for (const Evidence& e : d.evidence) {
    if (e.name == name) return e;
  }
  ADD_FAILURE() << "no evidence " << name << " in\n" << to_text(d);
  return {};
}

inline bool mentions(const std::vector<std::string>& lines, const std::string& part) {
  for (const std::string& line : lines) {
    if (line.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace prof::test

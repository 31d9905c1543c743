// Rules on counters: what happens inside a kernel. All counters they need have values by then.

#include <algorithm>

#include "prof/diagnose/rules.hpp"
#include "prof/diagnose/text.hpp"
#include "prof/diagnose/traffic.hpp"
#include "prover/errors.hpp"

namespace prof::rules {
namespace {

struct Named {
  std::string name;
  double value;
};

double need(const DiagnosisInput& input, std::string_view key) {
  const auto value = input.counters->value(key);
  STWO_CHECK(value.has_value(), "the rule was asked without " + std::string(key));
  return *value;
}

/// The largest of the counters that have a value; the first of equals.
Named largest(const DiagnosisInput& input, const std::vector<std::string>& keys) {
  Named best{keys.front(), 0};
  for (const std::string& key : keys) {
    const auto value = input.counters->value(key);
    if (value && *value > best.value) best = {key, *value};
  }
  return best;
}

double memory_pct(const DiagnosisInput& input) {
  return std::max(need(input, "dram_pct"), need(input, "l2_pct"));
}

/// Both the memory and the multiprocessors have time left.
std::vector<Evidence> idle(const DiagnosisInput& input, double busy_pct) {
  return {below("memory throughput", memory_pct(input), busy_pct, "%"),
          below("multiprocessor throughput", need(input, "sm_pct"), busy_pct, "%")};
}

void add_missing(const DiagnosisInput& input, const std::vector<std::string>& keys, Finding* out) {
  for (const std::string& key : keys) {
    const CounterValue& v = input.counters->at(key);
    if (!v.value) out->missing.push_back(v.metric + ": " + v.reason);
  }
}

/// Sectors per request of loads or stores, if above the ideal.
void check_requests(const DiagnosisInput& input, const std::string& kind, Finding* out) {
  const auto sectors = input.counters->value(kind + "_sectors");
  const auto requests = input.counters->value(kind + "_requests");
  if (!sectors || !requests || *requests <= 0) return;
  const Evidence e = at_least("sectors per global " + kind, *sectors / *requests,
                              input.thresholds->sectors_per_request, "");
  if (!holds(e) || margin_of(e) <= 0) return;
  out->sub_causes.push_back(kind + "s touch " + number_text(*e.value) +
                            " sectors per request (ideal " + number_text(*e.threshold) + ")");
  out->details.push_back(fact(e));
}

void memory_sub_causes(const DiagnosisInput& input, Finding* out) {
  const Thresholds& t = *input.thresholds;
  const Traffic traffic = compare_traffic(*input.counters, input.plan.ledger_bytes, t);
  if (traffic.verdict == TrafficVerdict::kRereads) {
    out->sub_causes.push_back("rereads: " + to_text(traffic));
  }
  if (traffic.ratio) {
    out->details.push_back(shown("measured over pass-ledger bytes", *traffic.ratio, ""));
  } else {
    out->missing.push_back("traffic against the pass ledger: " + traffic.reason);
  }
  check_requests(input, "load", out);
  check_requests(input, "store", out);
  if (const auto hit = input.counters->value("l2_hit_pct")) {
    const Evidence e = below("L2 hit rate", *hit, t.l2_hit_pct, "%");
    if (holds(e)) {
      out->sub_causes.push_back("L2 hits only " + number_text(*hit) + " %");
      out->details.push_back(fact(e));
    }
  }
  add_missing(input,
              {"load_sectors", "load_requests", "store_sectors", "store_requests", "l2_hit_pct"},
              out);
}

std::string bytes_change(const std::optional<double>& bytes) {
  if (!bytes) return "";
  return " (" + quantity_text(*bytes, "byte") + " -> " + quantity_text(*bytes / 2, "byte") + ")";
}

double total_stall(const DiagnosisInput& input) {
  double sum = 0;
  for (const auto& [key, v] : input.counters->values) {
    const bool stall =
        key.compare(0, 6, "stall_") == 0 && key != "stall_selected" && key != "stall_not_selected";
    if (stall && v.value) sum += *v.value;
  }
  return sum;
}

void check_local_memory(const DiagnosisInput& input, Finding* out) {
  const auto local_loads = input.counters->value("local_load_sectors");
  const auto local_stores = input.counters->value("local_store_sectors");
  const auto loads = input.counters->value("load_sectors");
  const auto stores = input.counters->value("store_sectors");
  if (local_loads && local_stores && loads && stores) {
    const double local = *local_loads + *local_stores;
    const double all = local + *loads + *stores;
    if (all > 0 && local / all > input.thresholds->local_share) {
      out->sub_causes.push_back("local memory takes " + percent_text(local / all) +
                                " of the L1 sectors");
      out->details.push_back(shown("local over all L1 sectors", local / all, ""));
    }
  }
  const auto spills = input.counters->value("spills");
  if (spills && *spills > 0) {
    out->sub_causes.push_back(number_text(*spills) + " instructions spill registers");
    out->details.push_back(shown("register spills", *spills, ""));
  }
  add_missing(input, {"local_load_sectors", "local_store_sectors", "load_sectors", "store_sectors"},
              out);
}

std::string stall_name(const std::string& key) { return key.substr(std::string("stall_").size()); }

}  // namespace

Result bandwidth(const DiagnosisInput& input) {
  const Thresholds& t = *input.thresholds;
  const double dram = need(input, "dram_pct");
  const double l2 = need(input, "l2_pct");
  const double sm = need(input, "sm_pct");
  const auto found =
      match({}, {{at_least("DRAM throughput", dram, t.dram_pct, "%"),
                  at_least("DRAM over multiprocessor throughput", dram, t.over_sm * sm, "%")},
                 {at_least("L2 throughput", l2, t.l2_pct, "%"),
                  at_least("L2 over multiprocessor throughput", l2, t.over_sm * sm, "%")}});
  if (!found) return std::nullopt;
  Finding out{Mechanism::kBandwidth, *found, {}, {}, {}, "", ""};
  const bool is_dram = found->alternative == 0;
  memory_sub_causes(input, &out);
  out.summary = is_dram ? "DRAM works at " + number_text(dram) + " % of its peak"
                        : "L2 works at " + number_text(l2) + " % of its peak";
  const std::string what = is_dram ? "DRAM" : "L2";
  out.prediction =
      "if a launch moves half of its " + what + " bytes" +
      bytes_change(is_dram ? input.counters->dram_bytes() : input.counters->value("l2_bytes")) +
      ", " + fall_of(launch_time(input), t.gain_of_half) + "; a smaller fall refutes bandwidth";
  return out;
}

Result compute(const DiagnosisInput& input) {
  const Thresholds& t = *input.thresholds;
  const double sm = need(input, "sm_pct");
  const double memory = memory_pct(input);
  const std::vector<std::string> pipes = {"pipe_alu", "pipe_fma", "pipe_fmaheavy",
                                          "pipe_lsu", "pipe_xu",  "pipe_uniform"};
  const Named pipe = largest(input, pipes);
  const std::string name = pipe.name.substr(std::string("pipe_").size());
  const auto found = match(
      {}, {{at_least("multiprocessor throughput", sm, t.sm_pct, "%"),
            at_least("multiprocessor over memory throughput", sm, t.over_memory * memory, "%")},
           {at_least("pipe " + name, pipe.value, t.pipe_pct, "%"),
            at_least("pipe " + name + " over memory throughput", pipe.value, t.over_memory * memory,
                     "%")}});
  if (!found) return std::nullopt;
  Finding out{Mechanism::kCompute, *found, {}, {}, {}, "", ""};
  out.sub_causes.push_back("the busiest pipe is " + name + " (" + number_text(pipe.value) + " %)");
  out.details.push_back(shown("pipe " + name, pipe.value, "%"));
  add_missing(input, pipes, &out);
  out.summary = found->alternative == 0
                    ? "the multiprocessors work at " + number_text(sm) + " % of their peak"
                    : "pipe " + name + " works at " + number_text(pipe.value) + " % of its peak";
  const auto instructions = input.counters->value("instructions");
  out.prediction = "if a launch executes half of its instructions" +
                   (instructions ? " (" + number_text(*instructions) + " -> " +
                                       number_text(*instructions / 2) + " warp instructions)"
                                 : std::string()) +
                   ", " + fall_of(launch_time(input), t.gain_of_half) +
                   "; a smaller fall refutes compute";
  return out;
}

Result occupancy(const DiagnosisInput& input) {
  const Thresholds& t = *input.thresholds;
  const double waves = need(input, "waves");
  const double theoretical = need(input, "theoretical_pct");
  const double achieved = need(input, "achieved_pct");
  const double eligible = need(input, "eligible_warps");
  std::vector<Evidence> common = idle(input, t.occupancy_busy_pct);
  common.push_back(below("eligible warps", eligible, t.eligible_warps, ""));
  const auto found =
      match(common, {{below("waves", waves, t.waves, "")},
                     {below("theoretical occupancy", theoretical, t.theoretical_pct, "%"),
                      at_most("theoretical minus achieved occupancy",
                              std::max(0.0, theoretical - achieved), t.near_points, "%")}});
  if (!found) return std::nullopt;
  Finding out{Mechanism::kOccupancy, *found, {}, {}, {}, "", ""};
  const bool is_grid = found->alternative == 0;
  const std::vector<std::string> limits = {"limit_registers", "limit_shared_mem", "limit_warps",
                                           "limit_blocks"};
  std::optional<Named> smallest;
  for (const std::string& key : limits) {
    const auto value = input.counters->value(key);
    if (value && (!smallest || *value < smallest->value)) smallest = Named{key, *value};
  }
  if (is_grid) {
    out.sub_causes.push_back("the grid fills " + number_text(waves) + " of a wave");
  }
  if (smallest) {
    const std::string what = smallest->name.substr(std::string("limit_").size());
    out.sub_causes.push_back(what + " allow the fewest blocks of a multiprocessor (" +
                             number_text(smallest->value) + ")");
    out.details.push_back(shown("occupancy limit " + what, smallest->value, ""));
  }
  add_missing(input, limits, &out);
  out.summary =
      "too few warps to choose from: " + number_text(eligible) + " eligible per scheduler, " +
      (is_grid
           ? number_text(waves) + " waves"
           : number_text(achieved) + " % occupancy of " + number_text(theoretical) + " % possible");
  out.prediction =
      (is_grid ? "if the grid grows to at least " + number_text(t.waves) + " waves (now " +
                     number_text(waves) + ") for the same work"
               : "if the theoretical occupancy doubles (" + number_text(theoretical) + " % -> " +
                     number_text(std::min(100.0, 2 * theoretical)) + " %)") +
      ", eligible warps rise above " + number_text(eligible) + " and " +
      fall_of(launch_time(input), t.occupancy_gain) + "; otherwise occupancy is refuted";
  return out;
}

Result latency(const DiagnosisInput& input) {
  const Thresholds& t = *input.thresholds;
  const double issue = need(input, "issue_active");
  std::vector<Evidence> common = idle(input, t.latency_busy_pct);
  common.push_back(below("issue active", issue, t.issue_active, ""));
  const auto found = match(common, {{}});
  if (!found) return std::nullopt;
  Finding out{Mechanism::kLatency, *found, {}, {}, {}, "", ""};
  std::vector<std::string> stalls;
  for (const MetricSpec& spec : metric_table().metrics) {
    const bool counts = spec.key.compare(0, 6, "stall_") == 0 && spec.key != "stall_selected" &&
                        spec.key != "stall_not_selected";
    if (counts) stalls.push_back(spec.key);
  }
  const Named stall = largest(input, stalls);
  const double total = total_stall(input);
  const double part = total > 0 ? stall.value / total : 0;
  const std::string name = stall_name(stall.name);
  if (part > 0) {
    out.sub_causes.push_back("stall " + name + ": " + percent_text(part) + " of all stalls");
    out.details.push_back(shown("stall " + name, stall.value, ""));
    out.details.push_back(shown("stall " + name + " over all stalls", part, ""));
  }
  check_local_memory(input, &out);
  add_missing(input, stalls, &out);
  out.summary =
      "schedulers issue in " + percent_text(issue) + " of their cycles" +
      (part > 0
           ? ", and warps wait for " +
                 metric_table()
                     .at(stall.name)
                     .meaning.substr(std::string("cycles per issued instruction that a warp waits "
                                                 "for ")
                                         .size())
           : "");
  // Halving one of several stalls can only take its share of the time.
  const double gain = part > 0 ? t.gain_of_half * part : t.occupancy_gain;
  out.prediction =
      (part > 0 ? "if stall " + name + " halves (" + number_text(stall.value) + " -> " +
                      number_text(stall.value / 2) + " cycles per instruction)"
                : "if issue active doubles (" + number_text(issue) + " -> " +
                      number_text(2 * issue) + ")") +
      ", " + fall_of(launch_time(input), gain) + "; a smaller fall refutes latency";
  return out;
}

}  // namespace prof::rules

// Sections about one run.

#include <algorithm>
#include <cstdio>

#include "prof/report/sections.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/stage.hpp"

namespace prof {
namespace {

double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
}
std::string two_decimals(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}
std::string gigabytes_per_s(uint64_t bytes_per_s) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f GB/s", static_cast<double>(bytes_per_s) / 1e9);
  return text;
}

}  // namespace

Cell Cells::missing(const std::string& name, const std::string& reason) {
  auto found = std::find_if(reasons_.begin(), reasons_.end(),
                            [&](const Reason& r) { return r.text == reason; });
  if (found == reasons_.end()) found = reasons_.insert(reasons_.end(), {reason, {}});
  if (std::find(found->names.begin(), found->names.end(), name) == found->names.end()) {
    found->names.push_back(name);
  }
  return {"-", Mark::kUnknown};
}
Cell Cells::ms(const std::string& name, const Known<uint64_t>& ns) {
  return ns.has_value() ? Cell(stwo::format_ms(*ns.value)) : missing(name, ns.reason);
}
Cell Cells::us(const std::string& name, const Known<uint64_t>& ns) {
  return ns.has_value() ? Cell(two_decimals(static_cast<double>(*ns.value) / 1e3))
                        : missing(name, ns.reason);
}
Cell Cells::bytes(const std::string& name, const Known<uint64_t>& value) {
  return value.has_value() ? Cell(stwo::format_bytes(*value.value)) : missing(name, value.reason);
}
Cell Cells::count(const std::string& name, const Known<uint64_t>& value) {
  return value.has_value() ? Cell(stwo::format_count(*value.value)) : missing(name, value.reason);
}
std::vector<std::pair<Mark, std::string>> Cells::notes() const {
  std::vector<std::pair<Mark, std::string>> out;
  for (const Reason& reason : reasons_) {
    std::string names;
    for (const std::string& name : reason.names) names += (names.empty() ? "" : ", ") + name;
    out.emplace_back(Mark::kUnknown, "unknown (" + reason.text + "): " + names);
  }
  return out;
}

Section lifecycle_section(const RunFacts& run) {
  Section out;
  out.title = "Lifecycle";
  Cells cells;
  Table life;
  life.caption = "Process, " + std::to_string(run.requests) + " requests, " +
                 std::to_string(run.steady_requests) + " of them steady";
  life.columns = {{"part", false}, {"ms", true}, {"share", true}};
  for (const LifecyclePart& part : run.lifecycle) {
    const uint64_t ns = part.ns.value.value_or(0);
    life.rows.push_back({part.name, cells.ms(part.name, part.ns),
                         part.ns.has_value() ? stwo::format_percent(ns, run.total) : "-"});
    life.bars.push_back(share(ns, run.total));
  }
  life.rows.push_back({"total", stwo::format_ms(run.total), "100.0%"});
  life.bars.push_back(1);
  Table split;
  split.caption = "A steady verified request";
  split.columns = {
      {"part", false}, {"min ms", true}, {"median ms", true}, {"max ms", true}, {"share", true}};
  const Known<uint64_t>& whole = run.split_part("verified_request").median;
  for (const SteadyNumber& part : run.split) {
    split.rows.push_back(
        {part.name, cells.ms(part.name, part.min),
         part.median.has_value() ? stwo::format_ms(*part.median.value) : "-",
         part.max.has_value() ? stwo::format_ms(*part.max.value) : "-",
         part.median.has_value() ? stwo::format_percent(*part.median.value, *whole.value) : "-"});
  }
  out.tables = {{life, 0}, {split, 0}};
  out.notes = cells.notes();
  return out;
}

Section stage_section(const ReportAnalysis& analysis) {
  const RunFacts& run = analysis.run;
  Section out;
  out.title = "Stages";
  Cells cells;
  Table table;
  table.caption = std::string(run.cuda ? "Device time between the stages' events"
                                       : "Host time; the backend has no device") +
                  (run.stages_are_steady ? ", ranked by the median of steady requests"
                                         : ", ranked by the first request: none was steady");
  table.columns = {
      {"stage", false}, {"first ms", true}, {"min ms", true}, {"median ms", true}, {"share", true}};
  const bool floors = run.passes.has_value() && analysis.peak.has_value();
  if (floors) {
    table.columns.push_back({"floor us", true});
    table.columns.push_back({"x floor", true});
  }
  for (const StageTime& stage : run.stages) {
    std::vector<Cell> row = {stage.stage, stwo::format_ms(stage.first),
                             cells.ms(stage.stage, stage.min),
                             stage.median.has_value() ? stwo::format_ms(*stage.median.value) : "-",
                             stwo::format_percent(stage.ranked, run.stage_total)};
    if (floors) {
      const Known<uint64_t> floor = analysis.floor_ns(stage.stage);
      row.push_back(cells.us("floor of " + stage.stage, floor));
      row.push_back(floor.value.value_or(0) == 0 ? "-"
                                                 : two_decimals(static_cast<double>(stage.ranked) /
                                                                static_cast<double>(*floor.value)));
    }
    table.rows.push_back(std::move(row));
    table.bars.push_back(share(stage.ranked, run.stage_total));
  }
  out.tables = {{table, 0}};
  out.notes = cells.notes();
  if (floors) {
    out.notes.emplace_back(Mark::kPlain, "floor: bytes of the pass ledger / " +
                                             gigabytes_per_s(analysis.peak.value->bytes_per_s) +
                                             " (" + stwo::one_line(analysis.peak.value->source) +
                                             ")");
  } else if (run.passes.has_value()) {
    out.notes.emplace_back(Mark::kUnknown, "floors are unknown: " + analysis.peak.reason);
  }
  return out;
}

Section host_section(const RunFacts& run) {
  Section out;
  out.title = "Host gap";
  if (!run.cuda) {
    out.notes.emplace_back(Mark::kUnknown, "unknown: " + run.host_gap.median.reason);
    return out;
  }
  Cells cells;
  Table table;
  table.caption = "Steady requests: proving, the device's part, and the rest";
  table.columns = {
      {"time", false}, {"min ms", true}, {"median ms", true}, {"max ms", true}, {"share", true}};
  const SteadyNumber& resident = run.split_part("resident_prove");
  for (const SteadyNumber* n : {&resident, &run.device_elapsed, &run.host_gap}) {
    table.rows.push_back({n->name, cells.ms(n->name, n->min),
                          n->median.has_value() ? stwo::format_ms(*n->median.value) : "-",
                          n->max.has_value() ? stwo::format_ms(*n->max.value) : "-",
                          n->median.has_value()
                              ? stwo::format_percent(*n->median.value, *resident.median.value)
                              : "-"});
  }
  out.tables = {{table, 0}};
  out.notes = cells.notes();
  out.notes.emplace_back(Mark::kPlain,
                         "host_gap = resident_prove - device_elapsed, request by request");
  const uint64_t launches = *run.counter("kernel_launches").value;
  if (run.submit.has_value() && launches > 0) {
    char text[160];
    std::snprintf(
        text, sizeof text, "the host submits %llu launches in %s ms (median), %.2f us each",
        static_cast<unsigned long long>(launches), stwo::format_ms(*run.submit.value).c_str(),
        static_cast<double>(*run.submit.value) / 1e3 / static_cast<double>(launches));
    out.notes.emplace_back(Mark::kPlain, text);
  }
  return out;
}

Section request_section(const RunFacts& run) {
  Section out;
  out.title = "Transfers and calls";
  if (!run.transfers.has_value()) {
    out.notes.emplace_back(Mark::kUnknown, "unknown: " + run.transfers.reason);
    return out;
  }
  Cells cells;
  for (const auto& [caption, numbers] : {std::pair("Transfers of a request", &run.transfers),
                                         {"Calls of a request", &run.counters}}) {
    Table table;
    table.caption = caption;
    table.columns = {{"number", false}, {"first", true}, {"last steady", true}};
    for (const RequestNumber& n : *numbers->value) {
      const bool bytes = n.name.find("bytes") != std::string::npos;
      table.rows.push_back({n.name,
                            bytes ? stwo::format_bytes(n.first) : stwo::format_count(n.first),
                            bytes ? cells.bytes(n.name, n.steady) : cells.count(n.name, n.steady)});
    }
    out.tables.push_back({table, 0});
  }
  out.notes = cells.notes();
  return out;
}

Section memory_section(const RunFacts& run) {
  Section out;
  out.title = "Memory";
  Cells cells;
  Table parts;
  parts.caption = "Parts of the accounted peak";
  parts.columns = {{"part", false}, {"size", true}, {"share", true}};
  for (const MemoryPart& part : run.memory) {
    const uint64_t bytes = part.bytes.value.value_or(0);
    parts.rows.push_back(
        {part.name, cells.bytes(part.name, part.bytes),
         part.bytes.has_value() ? stwo::format_percent(bytes, run.accounted_peak) : "-"});
    parts.bars.push_back(share(bytes, run.accounted_peak));
  }
  parts.rows.push_back({"accounted_peak", stwo::format_bytes(run.accounted_peak), "100.0%"});
  parts.bars.push_back(1);
  Table pool;
  pool.caption = "The allocator's view of the same bytes, and the bounds";
  pool.columns = {{"size", false}, {"value", true}};
  for (const MemoryPart& part : run.pool) {
    pool.rows.push_back({part.name, cells.bytes(part.name, part.bytes)});
  }
  out.tables = {{parts, 0}, {pool, 0}};
  out.notes = cells.notes();
  return out;
}

Section pass_section(const ReportAnalysis& analysis) {
  const RunFacts& run = analysis.run;
  Section out;
  out.title = "Pass ledger";
  if (!run.passes.has_value()) {
    out.notes.emplace_back(Mark::kUnknown, "unknown: " + run.passes.reason);
    return out;
  }
  std::vector<const PassFacts*> passes;
  for (const PassFacts& p : *run.passes.value) passes.push_back(&p);
  std::stable_sort(passes.begin(), passes.end(), [](const PassFacts* a, const PassFacts* b) {
    return a->moved_bytes > b->moved_bytes;
  });
  Cells cells;
  Table table;
  table.caption = "Passes over global memory as the plan predicts them, most bytes first";
  table.columns = {{"kernel", false},  {"pass", false}, {"stage", false},    {"launches", true},
                   {"barriers", true}, {"moved", true}, {"temporary", true}, {"floor us", true}};
  for (const PassFacts* p : passes) {
    const auto floor =
        analysis.peak.has_value()
            ? Known<uint64_t>::of(traffic_floor_ns(p->moved_bytes, *analysis.peak.value))
            : Known<uint64_t>::unknown(analysis.peak.reason);
    table.rows.push_back({p->kernel, p->pass, p->stage, stwo::format_count(p->launches),
                          stwo::format_count(p->barriers), stwo::format_bytes(p->moved_bytes),
                          stwo::format_bytes(p->temporary_bytes), cells.us("floors", floor)});
  }
  out.tables = {{table, 12}};
  out.notes.emplace_back(Mark::kPlain,
                         "moved = input + output + reread; floor = moved / peak bandwidth");
  for (auto& note : cells.notes()) out.notes.push_back(std::move(note));
  return out;
}

}  // namespace prof

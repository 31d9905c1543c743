#include "prof/export/summary_json.hpp"

#include <array>
#include <map>

#include "ledger/trace/trace_summary.hpp"
#include "prof/export/text.hpp"

namespace prof {
namespace {

using ledger::Json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Names of any bytes: the document must be valid UTF-8.
Json json_text(const std::string& value) { return Json::parse(text::json_string(value)); }

Json devices_json(ledger::Database& trace, const ledger::TraceSummary& summary) {
  Json out = Json::array();
  ledger::Statement rows = trace.prepare(
      "SELECT id, uuid, name, sm_major * 10 + sm_minor, memory_bytes, memory_bytes_per_s "
      "FROM device ORDER BY id");
  while (rows.step()) {
    Json device = {{"id", rows.integer(0)},
                   {"uuid", json_text(rows.string(1))},
                   {"name", json_text(rows.string(2))},
                   {"sm", rows.integer(3)},
                   {"memory_bytes", rows.integer(4)},
                   {"memory_bytes_per_s", or_null(rows.optional_integer(5))},
                   {"activity", nullptr}};
    for (const ledger::DeviceActivity& a : summary.devices) {
      if (a.device_id != rows.integer(0)) continue;
      device["activity"] = {{"operations", a.operations},
                            {"first_ns", a.first_ns},
                            {"last_ns", a.last_ns},
                            {"busy_ns", a.busy_ns}};
    }
    out.push_back(std::move(device));
  }
  return out;
}

Json windows_json(const ledger::TraceSummary& summary) {
  static constexpr std::array<const char*, 3> kRoles = {"first", "warmup", "steady"};
  Json out = Json::array();
  for (const ledger::WindowRow& w : summary.windows) {
    out.push_back({{"request", w.request},
                   {"role", kRoles.at(static_cast<size_t>(w.role))},
                   {"begin_ns", w.begin_ns},
                   {"resident_begin_ns", w.resident_begin_ns},
                   {"resident_end_ns", w.resident_end_ns},
                   {"end_ns", w.end_ns}});
  }
  return out;
}

Json kernel_json(const ledger::KernelStat& k, int64_t busy_ns) {
  const bool timed = k.min_ns.has_value();
  return {{"kernel", json_text(k.kernel)},
          {"stage", k.stage ? json_text(*k.stage) : Json(nullptr)},
          {"launches", k.launches},
          {"untimed", k.untimed},
          {"total_ns", timed ? Json(k.total_ns) : Json(nullptr)},
          {"share", timed ? or_null(text::ratio(k.total_ns, busy_ns)) : Json(nullptr)},
          {"min_ns", or_null(k.min_ns)},
          {"median_ns", or_null(k.median_ns)},
          {"max_ns", or_null(k.max_ns)},
          {"grid", k.shape.grid},
          {"block", k.shape.block},
          {"dynamic_shared_bytes", k.shape.dynamic_shared_bytes},
          {"registers", k.shape.registers}};
}

Json stages_json(const ledger::TraceSummary& summary) {
  struct Stage {
    int64_t launches = 0;
    int64_t total_ns = 0;
  };
  std::map<std::string, Stage> stages;
  for (const ledger::KernelStat& k : summary.kernels) {
    if (!k.stage) continue;
    Stage& stage = stages[*k.stage];
    stage.launches += k.launches;
    stage.total_ns += k.total_ns;
  }
  Json out = Json::array();
  for (const auto& [name, stage] : stages) {
    out.push_back({{"stage", json_text(name)},
                   {"launches", stage.launches},
                   {"total_ns", stage.total_ns},
                   {"share", or_null(text::ratio(stage.total_ns, summary.busy_ns))}});
  }
  return out;
}

}  // namespace

Json summary_json(ledger::Database& trace, const std::string& name) {
  const ledger::TraceSummary summary = ledger::summarize_trace(trace);
  Json meta = Json::object();
  for (const auto& [key, value] : summary.meta) meta[key] = json_text(value);
  Json losses = Json::object();
  for (const ledger::LossRow& loss : summary.losses) losses[loss.kind] = loss.count;
  Json counts = Json::object();
  for (const ledger::KindCount& c : summary.counts) {
    counts[c.kind] = {{"rows", c.rows}, {"untimed", c.untimed}};
  }
  Json reasons = Json::array();
  for (const std::string& reason : summary.reasons) reasons.push_back(json_text(reason));
  Json kernels = Json::array();
  for (const ledger::KernelStat& k : summary.kernels) {
    kernels.push_back(kernel_json(k, summary.busy_ns));
  }
  return {{"schema", "stwo_prof_summary_v1"},
          {"capture", json_text(name)},
          {"meta", std::move(meta)},
          {"evidence",
           {{"grade", ledger::evidence_name(summary.evidence)},
            {"reasons", std::move(reasons)},
            {"losses", std::move(losses)},
            {"quarantined", summary.quarantined}}},
          {"counts", std::move(counts)},
          {"span_ns", or_null(summary.span_ns)},
          {"busy_ns", summary.busy_ns},
          {"devices", devices_json(trace, summary)},
          {"requests", windows_json(summary)},
          {"stages", stages_json(summary)},
          {"kernels", std::move(kernels)}};
}

}  // namespace prof

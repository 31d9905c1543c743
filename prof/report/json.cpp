// stwo_prof_report_v1.

#include "prof/nvml/known_json.hpp"
#include "prof/report/report.hpp"

namespace prof {
namespace {

using Json = JsonWriter::Json;

const char* state_text(GateState state) {
  switch (state) {
    case GateState::kPass: return "pass";
    case GateState::kFail: return "fail";
    case GateState::kUnknown: break;
  }
  return "unknown";
}

const char* unit_text(Unit unit) {
  switch (unit) {
    case Unit::kNs: return "ns";
    case Unit::kBytes: return "bytes";
    case Unit::kCount: break;
  }
  return "count";
}

std::string item(const std::string& list, size_t index) {
  return list + "/" + std::to_string(index);
}

Json statistics(JsonWriter& writer, const std::string& path, const SteadyNumber& n) {
  Json out = Json::object();
  writer.put(out, path, "min", n.min);
  writer.put(out, path, "median", n.median);
  writer.put(out, path, "max", n.max);
  return out;
}

Json numbers(JsonWriter& writer, const std::string& path,
             const Known<std::vector<RequestNumber>>& list) {
  Json out = Json::object();
  for (const RequestNumber& n : *list.value) {
    Json one = {{"first", n.first}};
    writer.put(one, path + "/" + n.name, "steady", n.steady);
    out[n.name] = std::move(one);
  }
  return out;
}

Json passes(JsonWriter& writer, const ReportAnalysis& a) {
  Json out = Json::array();
  for (const PassFacts& p : *a.run.passes.value) {
    Json one = {{"stage", p.stage},
                {"pass", p.pass},
                {"kernel", p.kernel},
                {"launches", p.launches},
                {"barriers", p.barriers},
                {"moved_bytes", p.moved_bytes},
                {"temporary_bytes", p.temporary_bytes}};
    writer.put(one, item("/passes", out.size()), "floor_ns",
               a.peak.has_value()
                   ? Known<uint64_t>::of(traffic_floor_ns(p.moved_bytes, *a.peak.value))
                   : Known<uint64_t>::unknown(a.peak.reason));
    out.push_back(std::move(one));
  }
  return out;
}

Json gates(const std::vector<Gate>& list) {
  Json out = Json::array();
  for (const Gate& g : list) {
    out.push_back(
        {{"code", g.code}, {"state", state_text(g.state)}, {"found", g.found}, {"mend", g.mend}});
  }
  return out;
}

Json comparison(JsonWriter& writer, const ReportComparison& c) {
  Json drift = Json::array();
  for (const Drift& d : c.drift) {
    drift.push_back({{"path", d.path},
                     {"comparable", d.meaning == DriftMeaning::kChange},
                     {"baseline", d.baseline},
                     {"now", d.now}});
  }
  Json deltas = Json::array();
  for (const Delta& d : c.deltas) {
    const std::string path = item("/comparison/deltas", deltas.size());
    Json one = {{"group", d.group}, {"name", d.name}, {"unit", unit_text(d.unit)}};
    writer.put(one, path, "baseline", d.baseline);
    writer.put(one, path, "now", d.now);
    const std::optional<double> ratio = d.ratio();
    const std::string why = !d.baseline.has_value() ? d.baseline.reason
                            : !d.now.has_value()    ? d.now.reason
                                                    : "the baseline is 0";
    writer.put(one, path, "ratio", ratio ? Known<double>::of(*ratio) : Known<double>::unknown(why));
    deltas.push_back(std::move(one));
  }
  return {{"baseline", {{"name", c.baseline.file.name}, {"sha256", c.baseline.file.sha256}}},
          {"baseline_gates", gates(c.baseline_gates)},
          {"drift", std::move(drift)},
          {"deltas", std::move(deltas)}};
}

Json stages(JsonWriter& writer, const ReportAnalysis& a) {
  Json out = Json::array();
  for (const StageTime& s : a.run.stages) {
    const std::string path = item("/stages", out.size());
    Json one = {{"stage", s.stage}, {"first_ns", s.first}};
    writer.put(one, path, "min_ns", s.min);
    writer.put(one, path, "median_ns", s.median);
    writer.put(one, path, "share",
               a.run.stage_total > 0 ? Known<double>::of(static_cast<double>(s.ranked) /
                                                         static_cast<double>(a.run.stage_total))
                                     : Known<double>::unknown("no stage took any time"));
    writer.put(one, path, "floor_ns", a.floor_ns(s.stage));
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

std::string report_json(const ReportAnalysis& a) {
  const RunFacts& run = a.run;
  JsonWriter writer;
  Json out = {{"schema", "stwo_prof_report_v1"},
              {"report", {{"name", run.file.name}, {"sha256", run.file.sha256}}},
              {"backend", run.file.json.at("backend")},
              {"workload_id", run.file.json.at("statement").at("workload_id")},
              {"requests", run.requests},
              {"steady_requests", run.steady_requests}};
  out["gates"] = gates(a.gates);
  if (a.comparison) out["comparison"] = comparison(writer, *a.comparison);
  Json lifecycle = Json::object();
  for (const LifecyclePart& p : run.lifecycle) {
    writer.put(lifecycle, "/lifecycle_ns", p.name.c_str(), p.ns);
  }
  lifecycle["total"] = run.total;
  out["lifecycle_ns"] = std::move(lifecycle);
  Json steady = Json::object();
  for (const SteadyNumber& n : run.split) {
    steady[n.name] = statistics(writer, "/steady_ns/" + n.name, n);
  }
  for (const SteadyNumber* n : {&run.device_elapsed, &run.host_gap}) {
    steady[n->name] = statistics(writer, "/steady_ns/" + n->name, *n);
  }
  out["steady_ns"] = std::move(steady);
  out["stage_clock"] = run.stage_clock;
  out["stages"] = stages(writer, a);
  writer.put(out, "", "submit_ns", run.submit);
  for (const auto& [key, list] :
       {std::pair("transfers", &run.transfers), {"counters", &run.counters}}) {
    writer.put_list(out, "", key, *list);
    if (list->has_value()) out[key] = numbers(writer, std::string("/") + key, *list);
  }
  Json memory = Json::object();
  for (const auto* list : {&run.memory, &run.pool}) {
    for (const MemoryPart& p : *list) writer.put(memory, "/memory", p.name.c_str(), p.bytes);
  }
  memory["accounted_peak"] = run.accounted_peak;
  out["memory"] = std::move(memory);
  writer.put_list(out, "", "peak_bandwidth", a.peak);
  if (a.peak.has_value()) {
    out["peak_bandwidth"] = {{"bytes_per_s", a.peak.value->bytes_per_s},
                             {"source", a.peak.value->source}};
  }
  writer.put_list(out, "", "passes", run.passes);
  if (run.passes.has_value()) out["passes"] = passes(writer, a);
  out["next"] = Json::array();
  for (const NextStep& s : a.next) {
    out["next"].push_back({{"code", s.code}, {"message", s.message}, {"command", s.command}});
  }
  out["missing"] = writer.missing();
  return JsonWriter::text(out);
}

}  // namespace prof

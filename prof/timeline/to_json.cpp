#include "prof/timeline/json_answers.hpp"

namespace prof {
namespace {

using detail::Json;
using detail::JsonBuilder;

Json capture_json(JsonBuilder& b, const Timeline& t) {
  Json out = {{"tool", t.tool},
              {"tool_version", t.tool_version},
              {"created_utc", t.created_utc},
              {"report_sha256", b.value(t.report_sha256, "/capture/report_sha256",
                                        "the capture belongs to no product report")},
              {"workload_id",
               b.value(t.workload_id, "/capture/workload_id", "the capture names no workload")},
              {"devices", Json::array()}};
  for (const DeviceName& d : t.devices) {
    out["devices"].push_back({{"device", d.id}, {"uuid", d.uuid}, {"name", d.name}});
  }
  return out;
}

Json window_json(JsonBuilder& b, const Window& w) {
  const char* const none = w.source == WindowSource::kCapture ? "the window is the whole capture"
                                                              : "only a product report says";
  return {{"source", window_source_name(w.source)},
          {"choice", w.choice},
          {"request", b.value(w.request, "/window/request", none)},
          {"role", b.value(w.role, "/window/role", none)},
          {"begin_ns", w.begin_ns},
          {"end_ns", w.end_ns},
          {"length_ns", w.length_ns()},
          {"request_begin_ns", w.request_begin_ns},
          {"request_end_ns", w.request_end_ns}};
}

Json counts_json(JsonBuilder& b, const std::vector<Count>& counts) {
  Json out = Json::object();
  for (const Count& c : counts) out[c.key] = b.value(c.value, "/counts/" + c.key);
  return out;
}

Json comparison_json(JsonBuilder& b, const Timeline& t) {
  if (!t.comparison) return b.absent("/comparison", "no product report was given");
  Json out = Json::array();
  for (size_t i = 0; i < t.comparison->size(); ++i) {
    const CountRow& row = (*t.comparison)[i];
    const std::string path = "/comparison/" + std::to_string(i);
    out.push_back({{"key", row.key},
                   {"capture", b.value(row.capture, path + "/capture")},
                   {"report", b.value(row.report, path + "/report")},
                   {"equal", b.value(row.equal, path + "/equal", "one of the two is unknown")}});
  }
  return out;
}

}  // namespace

std::string to_json(const Timeline& t) {
  JsonBuilder b;
  Json out;
  out["schema"] = kSystemsSchema;
  out["capture"] = capture_json(b, t);
  out["window"] = window_json(b, t.window);
  out["evidence"] = evidence_name(t.evidence);
  out["evidence_reasons"] = t.reasons;
  out["missing"] = t.missing;
  out["context_and_modules"] = b.object(t.loading, "/context_and_modules", detail::loading_json);
  out["launch_gaps"] = b.object(t.launch_gaps, "/launch_gaps", detail::launch_gaps_json);
  out["concurrency"] = b.object(t.concurrency, "/concurrency", detail::concurrency_json);
  out["synchronisation"] =
      b.object(t.synchronisation, "/synchronisation", detail::synchronisation_json);
  out["transfers"] = b.object(t.transfers, "/transfers", detail::transfers_json);
  out["allocation"] = b.object(t.allocation, "/allocation", detail::allocation_json);
  out["graphs"] = b.object(t.graphs, "/graphs", detail::graphs_json);
  out["submit_thread"] = b.object(t.submit_thread, "/submit_thread", detail::submit_thread_json);
  out["activity"] = b.object(t.activity, "/activity", detail::activity_json);
  out["stages"] = b.object(t.stages, "/stages", detail::stages_json);
  out["kernels"] = b.object(t.kernels, "/kernels", detail::kernels_json);
  out["perturbation"] = detail::perturbation_json(b, t.perturbation, "/perturbation");
  out["counts"] = counts_json(b, t.counts);
  out["comparison"] = comparison_json(b, t);
  out["not_applicable"] = b.reasons();
  // Names come from the program: what is not UTF-8 is replaced, since JSON has no other way.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace prof

#include "prof/timeline/json_answers.hpp"

#include <cstdio>

namespace prof::detail {
namespace {

std::string at(const std::string& path, size_t i) { return path + "/" + std::to_string(i); }

Json distribution_json(JsonBuilder& b, const Distribution& d, const std::string& path,
                       const char* unit = "_ns") {
  const char* const none = "there is nothing to take a percentile of";
  const std::string u = unit;
  Json out;
  out["n"] = d.n;
  out["sum" + u] = d.sum_ns;
  out["p50" + u] = b.value(d.p50_ns, path + "/p50" + u, none);
  out["p90" + u] = b.value(d.p90_ns, path + "/p90" + u, none);
  out["p99" + u] = b.value(d.p99_ns, path + "/p99" + u, none);
  out["max" + u] = b.value(d.max_ns, path + "/max" + u, none);
  return out;
}

Json distribution_object(JsonBuilder& b, const Answer<Distribution>& d, const std::string& path) {
  return b.object(d, path, [](JsonBuilder& builder, const Distribution& v, const std::string& p) {
    return distribution_json(builder, v, p);
  });
}

Json host_time_json(const HostTime& t) {
  return {{"calls", t.calls}, {"host_ns", t.host_ns}, {"wasted_ns", t.wasted_ns}};
}

Json device_gaps_json(JsonBuilder& b, const DeviceGaps& d, const std::string& path) {
  Json out = {{"device", d.device_id},
              {"kernels", d.kernels},
              {"copies", d.copies},
              {"fills", d.fills},
              {"graphs", d.graphs},
              {"before_ns", d.before_ns},
              {"span_ns", d.span_ns},
              {"after_ns", d.after_ns},
              {"busy_ns", d.busy_ns},
              {"gaps", distribution_json(b, d.gaps, path + "/gaps")},
              {"host_late_ns", d.host_late_ns},
              {"launch_latency_ns", d.launch_latency_ns},
              {"dependency_ns", d.dependency_ns},
              {"unknown_ns", d.unknown_ns},
              {"log2_histogram", d.histogram},
              {"top", Json::array()}};
  for (const TopGap& gap : d.top) {
    out["top"].push_back({{"start_ns", gap.start_ns},
                          {"ns", gap.ns},
                          {"host_late_ns", gap.host_late_ns},
                          {"launch_latency_ns", gap.launch_latency_ns},
                          {"dependency_ns", gap.dependency_ns},
                          {"before", gap.before},
                          {"after", gap.after},
                          {"stage", gap.stage}});
  }
  return out;
}

Json stage_row_json(JsonBuilder& b, const StageRow& row, const StageTable& table,
                    const std::string& path) {
  const StageFacts& f = row.facts;
  const auto of_kernels = [&](const char* key, const auto& v) {
    return f.kernels == 0 ? b.absent(path + "/" + key, "no kernel of it starts in the window")
                          : Json(v);
  };
  return {
      {"stage", f.stage},
      {"first_ns", row.first_ns},
      {"span_ns", f.span_ns},
      {"busy_ns", row.busy_ns},
      {"share_of_busy", row.share_of_busy},
      {"active", b.value(row.active, path + "/active", "its operations take no time")},
      {"operations", row.operations},
      {"kernels", f.kernels},
      {"kernel_ns", row.kernel_ns},
      {"median_kernel_ns", of_kernels("median_kernel_ns", f.median_kernel_ns)},
      {"concurrency", of_kernels("concurrency", f.concurrency)},
      {"streams", f.streams},
      {"gaps_ns", f.gaps_ns},
      {"host_late_ns", f.host_late_ns},
      {"launch_latency_ns", f.launch_latency_ns},
      {"dependency_ns", f.dependency_ns},
      {"wait_ns", table.no_waits ? b.absent(path + "/wait_ns", *table.no_waits) : Json(f.wait_ns)}};
}

std::string hex_address(uint64_t address) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

}  // namespace

Json loading_json(JsonBuilder& b, const Loading& v, const std::string& path) {
  Json out = {
      {"contexts", v.contexts},
      {"contexts_in_request", b.value(v.contexts_in_request, path + "/contexts_in_request")},
      {"modules", v.modules},
      {"modules_in_request", b.value(v.modules_in_request, path + "/modules_in_request")},
      {"modules_in_window", v.modules_in_window},
      {"rows", Json::array()},
      {"jit_steps", b.value(v.jit_steps, path + "/jit_steps")},
      {"jit_in_request", b.value(v.jit_in_request, path + "/jit_in_request")},
      {"jit_in_window", b.value(v.jit_in_window, path + "/jit_in_window")},
      {"jit", Json::array()}};
  for (size_t i = 0; i < v.rows.size(); ++i) {
    const LoadRow& row = v.rows[i];
    const std::string p = at(path + "/rows", i);
    const char* const size =
        row.what == "module" ? "the recorder did not see the code" : "a context has no code";
    out["rows"].push_back({{"what", row.what},
                           {"ts_ns", row.ts_ns},
                           {"call", b.value(row.call, p + "/call", "no timed call was open then")},
                           {"bytes", b.value(row.bytes, p + "/bytes", size)},
                           {"sha256", b.value(row.sha256, p + "/sha256", size)},
                           {"phase", b.value(row.phase, p + "/phase")},
                           {"in_request", b.value(row.in_request, p + "/in_request")}});
  }
  for (size_t i = 0; i < v.jit.size(); ++i) {
    const JitStep& step = v.jit[i];
    const std::string p = at(path + "/jit", i);
    const char* const untimed = "the record has no times";
    out["jit"].push_back(
        {{"step", step.step},
         {"source", step.source},
         {"start_ns", b.value(step.start_ns, p + "/start_ns", untimed)},
         {"ns", b.value(step.ns, p + "/ns", untimed)},
         {"cache_path", b.value(step.cache_path, p + "/cache_path", "no cache was used")},
         {"phase", b.value(step.phase, p + "/phase")},
         {"in_request", b.value(step.in_request, p + "/in_request")}});
  }
  out["lazy_loading"] = b.object(v.lazy, path + "/lazy_loading",
                                 [](JsonBuilder&, const LazyLoads& l, const std::string&) {
                                   return Json{{"modules", l.modules},
                                               {"module_ns", l.module_ns},
                                               {"functions", l.functions},
                                               {"function_ns", l.function_ns}};
                                 });
  return out;
}

Json launch_gaps_json(JsonBuilder& b, const LaunchGaps& v, const std::string& path) {
  Json out = {
      {"kernels", b.value(v.kernels, path + "/kernels")},
      {"gap_ns", v.gap_ns},
      {"share_of_window", v.share_of_window},
      {"launch_latency", distribution_object(b, v.launch_latency, path + "/launch_latency")},
      {"queued_to_submitted",
       distribution_object(b, v.queued_to_submitted, path + "/queued_to_submitted")},
      {"submitted_to_start",
       distribution_object(b, v.submitted_to_start, path + "/submitted_to_start")},
      {"devices", Json::array()}};
  for (size_t i = 0; i < v.devices.size(); ++i) {
    out["devices"].push_back(device_gaps_json(b, v.devices[i], at(path + "/devices", i)));
  }
  return out;
}

Json concurrency_json(JsonBuilder& b, const Concurrency& v, const std::string& path) {
  Json out = {
      {"stream_count", v.stream_count}, {"streams", Json::array()}, {"devices", Json::array()}};
  for (const StreamUse& s : v.streams) {
    out["streams"].push_back({{"pid", s.pid},
                              {"context", s.context_id},
                              {"stream", s.stream_id},
                              {"device", s.device_id},
                              {"operations", s.operations},
                              {"sum_ns", s.sum_ns}});
  }
  for (size_t i = 0; i < v.devices.size(); ++i) {
    const DeviceConcurrency& d = v.devices[i];
    out["devices"].push_back(
        {{"device", d.device_id},
         {"kernel_sum_ns", d.kernel_sum_ns},
         {"at_least_ns", d.at_least_ns},
         {"most_at_once", d.most_at_once},
         {"overlap_ns", d.overlap_ns},
         {"concurrency", b.value(d.concurrency, at(path + "/devices", i) + "/concurrency",
                                 "no kernel takes time in the window")},
         {"copy_ns", d.copy_ns},
         {"copy_compute_overlap_ns", d.copy_compute_overlap_ns}});
  }
  out["waits"] = b.object(v.waits, path + "/waits",
                          [](JsonBuilder&, const StreamWaits& w, const std::string&) {
                            return Json{{"waits", w.waits},
                                        {"blocking", w.blocking},
                                        {"wait_ns", w.wait_ns},
                                        {"longest_ns", w.longest_ns},
                                        {"unresolved", w.unresolved}};
                          });
  out["overlap_pays"] =
      b.absent(path + "/overlap_pays",
               "one timeline cannot tell: overlap pays only if the window gets shorter than with "
               "one stream, in a comparison without a recorder");
  return out;
}

Json synchronisation_json(JsonBuilder& b, const Synchronisation& v, const std::string& path) {
  Json out = {{"source", v.from_calls ? "calls" : "records"},
              {"waits", v.waits()},
              {"one_terminal_wait", b.value(v.one_terminal_wait, path + "/one_terminal_wait")},
              {"device", host_time_json(v.device)},
              {"stream", host_time_json(v.stream)},
              {"event", host_time_json(v.event)},
              {"stream_query", host_time_json(v.stream_query)},
              {"event_query", host_time_json(v.event_query)},
              {"blocking_copies", host_time_json(v.blocking_copies)},
              {"implicit", Json::array()},
              {"legacy_stream_operations",
               b.value(v.legacy_stream_operations, path + "/legacy_stream_operations")}};
  for (const ImplicitSync& row : v.implicit) {
    Json entry = {{"call", row.call}};
    entry.update(host_time_json(row.time));
    out["implicit"].push_back(std::move(entry));
  }
  return out;
}

Json transfers_json(JsonBuilder& b, const Transfers& v, const std::string& path) {
  Json out = {{"one_terminal_d2h", b.value(v.one_terminal_d2h, path + "/one_terminal_d2h")},
              {"terminal_d2h_operations", v.terminal_d2h_operations},
              {"terminal_d2h_bytes", v.terminal_d2h_bytes},
              {"intermediate_d2h_operations", v.intermediate_d2h_operations},
              {"fills", v.fills},
              {"fill_bytes", v.fill_bytes},
              {"directions", Json::array()}};
  for (size_t i = 0; i < v.directions.size(); ++i) {
    const DirectionTransfers& d = v.directions[i];
    out["directions"].push_back(
        {{"direction", direction_name(d.direction)},
         {"operations", d.operations},
         {"bytes", d.bytes},
         {"pageable_operations", d.pageable_operations},
         {"pageable_bytes", d.pageable_bytes},
         {"union_ns", d.union_ns},
         {"bytes_per_s", b.value(d.bytes_per_s, at(path + "/directions", i) + "/bytes_per_s",
                                 "the copies take no time in the window")}});
  }
  return out;
}

Json allocation_json(JsonBuilder& b, const Allocation& v, const std::string& path) {
  const auto live = [](const LiveBytes& l) {
    return Json{{"at_begin", l.at_begin}, {"peak", l.peak}, {"at_end", l.at_end}};
  };
  Json out = {{"nothing_allocated", b.value(v.nothing_allocated, path + "/nothing_allocated")},
              {"allocations", v.allocations},
              {"allocated_bytes", v.allocated_bytes},
              {"releases", v.releases},
              {"released_bytes", v.released_bytes},
              {"calls", Json::array()},
              {"live_device_bytes", live(v.device)},
              {"live_host_bytes", live(v.host)},
              {"unmatched_releases", v.unmatched_releases},
              {"replaced", v.replaced},
              {"untimed", v.untimed},
              {"pools_created", v.pools_created},
              {"pools_destroyed", v.pools_destroyed}};
  for (size_t i = 0; i < v.calls.size(); ++i) {
    const MemoryCalls& c = v.calls[i];
    out["calls"].push_back({{"what", c.release ? "release" : "allocation"},
                            {"call", b.value(c.call, at(path + "/calls", i) + "/call",
                                             "the call is not in the capture")},
                            {"memory", c.memory},
                            {"events", c.events},
                            {"bytes", c.bytes}});
  }
  out["pools"] = b.object(
      v.pools, path + "/pools",
      [](JsonBuilder& builder, const std::vector<PoolUse>& pools, const std::string& p) {
        Json list = Json::array();
        const char* const none = "no record says";
        for (size_t i = 0; i < pools.size(); ++i) {
          const PoolUse& pool = pools[i];
          const std::string q = at(p, i);
          list.push_back(
              {{"pid", pool.pid},
               {"device", pool.device_id},
               {"address", hex_address(pool.address)},
               {"bytes", builder.value(pool.bytes, q + "/bytes", none)},
               {"used_bytes", builder.value(pool.used_bytes, q + "/used_bytes", none)},
               {"release_threshold_bytes",
                builder.value(pool.release_threshold_bytes, q + "/release_threshold_bytes", none)},
               {"trims", pool.trims}});
        }
        return list;
      });
  return out;
}

Json graphs_json(JsonBuilder& b, const Graphs& v, const std::string& path) {
  Json out = {{"instantiations", v.instantiations},
              {"updates", v.updates},
              {"uploads", v.uploads},
              {"launches", v.launches},
              {"calls", Json::array()},
              {"executables", v.executables},
              {"launches_per_executable",
               b.value(v.launches_per_executable, path + "/launches_per_executable",
                       "no graph is launched in the window, or nothing of one ran")},
              {"kernel_share", b.value(v.kernel_share, path + "/kernel_share")}};
  for (const GraphCalls& c : v.calls) {
    out["calls"].push_back({{"call", c.call}, {"calls", c.calls}, {"host_ns", c.host_ns}});
  }
  out["nodes_per_launch"] =
      b.object(v.nodes_per_launch, path + "/nodes_per_launch",
               [](JsonBuilder& builder, const Distribution& d, const std::string& p) {
                 return distribution_json(builder, d, p, "");
               });
  return out;
}

Json submit_thread_json(JsonBuilder& b, const SubmitThread& v, const std::string& path) {
  Json out = {{"pid", v.pid},
              {"tid", v.tid},
              {"threads", v.threads},
              {"calls", v.calls},
              {"launches", v.launches},
              {"before_ns", v.before_ns},
              {"in_api_ns", v.in_api_ns},
              {"blocked_ns", v.blocked_ns},
              {"after_ns", v.after_ns},
              {"gaps", distribution_json(b, v.gaps, path + "/gaps")},
              {"starved_ns", v.starved_ns},
              {"top", Json::array()}};
  for (const SubmitGap& gap : v.top) {
    out["top"].push_back({{"start_ns", gap.start_ns},
                          {"ns", gap.ns},
                          {"starved_ns", gap.starved_ns},
                          {"before", gap.before},
                          {"after", gap.after},
                          {"stage", gap.stage}});
  }
  return out;
}

Json activity_json(JsonBuilder&, const Activity& v, const std::string&) {
  Json out = {{"window_ns", v.window_ns},
              {"busy_ns", v.busy_ns},
              {"active", v.active},
              {"kernel_busy_ns", v.kernel_busy_ns},
              {"kernel_active", v.kernel_active},
              {"lower_bound", v.lower_bound},
              {"untimed",
               {{"kernels", v.untimed.kernels},
                {"copies", v.untimed.copies},
                {"fills", v.untimed.fills},
                {"graphs", v.untimed.graphs},
                {"of_unknown_window", v.untimed.unknown}}},
              {"devices", Json::array()}};
  for (const DeviceActive& d : v.devices) {
    out["devices"].push_back({{"device", d.device_id},
                              {"operations", d.operations},
                              {"busy_ns", d.busy_ns},
                              {"active", d.active},
                              {"kernel_busy_ns", d.kernel_busy_ns},
                              {"kernel_active", d.kernel_active}});
  }
  return out;
}

Json stages_json(JsonBuilder& b, const StageTable& v, const std::string& path) {
  Json out = {{"attributed", b.value(v.attributed, path + "/attributed")},
              {"kernels", v.kernels},
              {"kernel_ns", v.kernel_ns},
              {"attributed_ns", v.attributed_ns},
              {"ambiguous_kernels", v.ambiguous_kernels},
              {"ambiguous_ns", v.ambiguous_ns},
              {"uncalled_kernels", v.uncalled_kernels},
              {"uncalled_ns", v.uncalled_ns},
              {"outside_kernels", v.outside_kernels},
              {"outside_ns", v.outside_ns},
              {"unclosed_ranges", v.unclosed_ranges},
              {"window", stage_row_json(b, v.whole, v, path + "/window")},
              {"stages", Json::array()}};
  for (size_t i = 0; i < v.stages.size(); ++i) {
    out["stages"].push_back(stage_row_json(b, v.stages[i], v, at(path + "/stages", i)));
  }
  return out;
}

Json kernels_json(JsonBuilder& b, const std::vector<KernelFacts>& v, const std::string& path) {
  Json out = Json::array();
  for (size_t i = 0; i < v.size(); ++i) {
    const KernelFacts& k = v[i];
    out.push_back({{"kernel", k.kernel},
                   {"stage", k.stage.stage},
                   {"launches", k.launches},
                   {"total_ns", k.total_ns},
                   {"share_of_device", k.share_of_device},
                   {"median_ns", k.median_ns},
                   {"median_gap_ns", b.value(k.median_gap_ns, at(path, i) + "/median_gap_ns",
                                             "the device was never idle before it")}});
  }
  return out;
}

Json perturbation_json(JsonBuilder& b, const Perturbation& v, const std::string& path) {
  Json out = {{"captured_ns", v.captured_ns},
              {"uninstrumented_ns", b.value(v.uninstrumented_ns, path + "/uninstrumented_ns",
                                            "no run without a recorder was given")},
              {"inflation", b.value(v.inflation, path + "/inflation")},
              {"perturbed", v.perturbed()},
              {"overhead_ns", b.value(v.overhead_ns, path + "/overhead_ns")},
              {"profiler_ns", v.profiler_ns},
              {"untimed", v.untimed},
              {"overhead", Json::array()}};
  for (const OverheadRow& row : v.rows) {
    out["overhead"].push_back({{"kind", row.kind},
                               {"name", row.name},
                               {"profiler", row.profiler},
                               {"events", row.events},
                               {"ns", row.ns}});
  }
  return out;
}

}  // namespace prof::detail

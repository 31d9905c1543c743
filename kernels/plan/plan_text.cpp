// What a plan looks like to people and tools.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernels/plan/cuda_plan.hpp"

namespace stwo::gpu {
namespace {

using Json = nlohmann::ordered_json;

std::string pad(std::string text, size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}
std::string left_pad(std::string text, size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

Json use_json(const CudaPlan& plan, const BufferUse& u) {
  return {{"buffer", plan.buffers[u.buffer].name},
          {"read_bytes", u.read_bytes},
          {"written_bytes", u.written_bytes}};
}

}  // namespace

std::string plan_to_text(const CudaPlan& plan) {
  std::string out;
  const auto mib = [](uint64_t bytes) {
    const uint64_t tenths = bytes * 10 / (uint64_t{1} << 20);
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MiB";
  };
  out += "target     SM " + std::to_string(plan.target.sm / 10) + "." +
         std::to_string(plan.target.sm % 10) + ", " + std::to_string(plan.target.multiprocessors) +
         " multiprocessors" +
         (plan.target.device_uuid.empty() ? "" : ", " + plan.target.device_uuid) + "\n";
  out += "cache key  " + plan.cache_key + "\n";
  out += "program    " + plan.program->digest() + ", semantic " + plan.program->semantic_digest() +
         "\n";
  out += "schedule   version " + std::to_string(kScheduleVersion) + ", " +
         std::to_string(plan.launches.size()) + " launches, " +
         std::to_string(plan.transcript_barriers()) + " transcript joins, " +
         (plan.half_domain ? "half-domain" : "full-domain") + " composition, one stream\n";
  out += "memory     tables " + mib(plan.tables_bytes) + ", shape " + mib(plan.shape_bytes) +
         ", constants " + mib(plan.constants_bytes) + ", arena " + mib(plan.arena_bytes) +
         " (live peak " + mib(plan.arena_live_peak) + "), terminal " + mib(plan.terminal_bytes) +
         "\n\n";
  out += pad("stage", 22) + pad("kernel", 26) + left_pad("grid", 12) + left_pad("threads", 9) +
         left_pad("input", 14) + left_pad("output", 14) + left_pad("reread", 14) +
         left_pad("temporary", 14) + left_pad("join", 6) + "  pass\n";
  const auto ledger = plan.pass_ledger();
  for (size_t i = 0; i < ledger.size(); ++i) {
    const PassRecord& r = ledger[i];
    const PlanLaunch& l = plan.launches[i];
    out += pad(std::string(stage_name(r.stage)), 22) + pad(r.kernel, 26) +
           left_pad(std::to_string(l.grid_x) + "x" + std::to_string(l.grid_y), 12) +
           left_pad(std::to_string(l.threads), 9) + left_pad(std::to_string(r.input_bytes), 14) +
           left_pad(std::to_string(r.output_bytes), 14) +
           left_pad(std::to_string(r.reread_bytes), 14) +
           left_pad(std::to_string(r.temporary_bytes), 14) +
           left_pad(r.barriers != 0 ? "yes" : "", 6) + "  " + r.pass + "\n";
  }
  out += "\n" + pad("region", 11) + left_pad("offset", 14) + left_pad("bytes", 14) +
         left_pad("align", 7) + left_pad("first", 7) + left_pad("last", 6) + "  " +
         pad("lifetime", 15) + pad("producer", 26) + pad("last consumer", 26) + "name\n";
  const auto resources = plan.resources();
  for (size_t i = 0; i < resources.size(); ++i) {
    const PlanBuffer& b = plan.buffers[i];
    const ResourceRecord& r = resources[i];
    out += pad(std::string(region_name(b.region)), 11) + left_pad(std::to_string(b.offset), 14) +
           left_pad(std::to_string(b.bytes), 14) + left_pad(std::to_string(b.alignment), 7) +
           left_pad(std::to_string(b.first_launch), 7) +
           left_pad(std::to_string(b.last_launch), 6) + "  " +
           pad(std::string(resource_lifetime_name(r.lifetime)), 15) + pad(r.producer, 26) +
           pad(r.last_consumer, 26) + r.name + "\n";
  }
  out += "\n" + pad("region", 11) + pad("lifetime", 15) + pad("mutable", 9) + pad("aliases", 9) +
         pad("owner", 16) + pad("after an error", 58) + "evicted\n";
  for (const Region region :
       {Region::kTables, Region::kShape, Region::kConstants, Region::kArena, Region::kTerminal}) {
    const ResourceRecord r = region_rules(region);
    out += pad(std::string(region_name(region)), 11) +
           pad(std::string(resource_lifetime_name(r.lifetime)), 15) +
           pad(r.is_mutable ? "yes" : "no", 9) + pad(r.alias_eligible ? "yes" : "no", 9) +
           pad(r.owner, 16) + pad(r.unwind_path, 58) + r.eviction_rule.value_or("") + "\n";
  }
  out +=
      "\nEvery launch is on the main stream, whose order is the only dependency. The last use of a "
      "buffer is the\nlaunch of that number; prepared shapes are kept under the cache key above.\n";
  return out;
}

std::string plan_to_json(const CudaPlan& plan) {
  Json j;
  j["schema"] = "stwo_plan_v1";
  j["cache_key_sha256"] = plan.cache_key;
  j["program_sha256"] = plan.program->digest();
  j["semantic_sha256"] = plan.program->semantic_digest();
  j["schedule_version"] = kScheduleVersion;
  j["target"] = {{"sm", plan.target.sm},
                 {"device_uuid", plan.target.device_uuid},
                 {"multiprocessors", plan.target.multiprocessors},
                 {"memory_bytes", plan.target.memory_bytes},
                 {"driver_version", plan.target.driver_version},
                 {"toolkit", plan.target.toolkit},
                 {"host_toolchain", plan.target.host_toolchain},
                 {"module_sha256", plan.target.module_digest}};
  j["composition"] = plan.half_domain ? "half_domain" : "full_domain";
  j["transcript_barriers"] = plan.transcript_barriers();
  j["memory"] = {{"tables", plan.tables_bytes},
                 {"shape", plan.shape_bytes},
                 {"constants", plan.constants_bytes},
                 {"arena", plan.arena_bytes},
                 {"arena_live_peak", plan.arena_live_peak},
                 {"terminal", plan.terminal_bytes}};
  j["launches"] = Json::array();
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    const PlanLaunch& l = plan.launches[i];
    Json uses = Json::array();
    for (const BufferUse& u : l.uses) uses.push_back(use_json(plan, u));
    j["launches"].push_back({{"ordinal", i},
                             {"stage", stage_name(l.stage)},
                             {"kernel", l.kernel},
                             {"pass", l.pass},
                             {"grid", {l.grid_x, l.grid_y}},
                             {"threads", l.threads},
                             {"shared_bytes", l.shared_bytes},
                             {"stream", "main"},
                             {"transcript_operations", l.transcript_ops},
                             {"program_nodes", l.nodes},
                             {"uses", uses}});
  }
  j["pass_ledger"] = Json::array();
  for (const PassRecord& r : plan.pass_ledger()) {
    j["pass_ledger"].push_back(
        {{"stage", stage_name(r.stage)},
         {"pass", r.pass},
         {"kernel", r.kernel},
         {"input_bytes", r.input_bytes},
         {"output_bytes", r.output_bytes},
         {"reread_bytes", r.reread_bytes},
         {"temporary_bytes", r.temporary_bytes},
         {"launches", r.launches},
         {"barriers", r.barriers},
         {"retained_consumer", r.retained_consumer ? Json(*r.retained_consumer) : Json()}});
  }
  j["resources"] = Json::array();
  const auto resources = plan.resources();
  for (size_t i = 0; i < resources.size(); ++i) {
    const PlanBuffer& b = plan.buffers[i];
    const ResourceRecord& r = resources[i];
    j["resources"].push_back({{"name", r.name},
                              {"region", region_name(b.region)},
                              {"offset", b.offset},
                              {"bytes", r.bytes},
                              {"alignment", r.alignment},
                              {"lifetime", resource_lifetime_name(r.lifetime)},
                              {"producer", r.producer},
                              {"last_consumer", r.last_consumer},
                              {"mutable", r.is_mutable},
                              {"alias_eligible", r.alias_eligible},
                              {"owner", r.owner},
                              {"unwind_path", r.unwind_path},
                              {"stream", *r.stream},
                              {"first_launch", b.first_launch},
                              {"last_use_event", b.last_launch},
                              {"cache_key", *r.cache_key},
                              {"eviction_rule", *r.eviction_rule}});
  }
  return j.dump(2) + "\n";
}

}  // namespace stwo::gpu

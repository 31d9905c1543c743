#include "prof/report/comparison.hpp"

#include <algorithm>

#include "prover/cli/terminal.hpp"
#include "prover/stage.hpp"

namespace prof {
namespace {

using Json = nlohmann::json;

std::string shown(const Json& report, const std::string& path) {
  const Json::json_pointer pointer(path);
  if (!report.contains(pointer)) return "absent";
  const Json& value = report.at(pointer);
  if (path == "/modules" && value.is_array()) {
    std::string out;
    for (const Json& m : value) {
      out += (out.empty() ? "" : " ") + m.at("name").get<std::string>() + ":" +
             m.at("sha256").get<std::string>();
    }
    return stwo::one_line(out);
  }
  return stwo::one_line(value.is_string() ? value.get<std::string>() : value.dump());
}

template <class List>
Known<uint64_t> find(const Known<List>& list, const std::string& name) {
  if (!list.has_value()) return Known<uint64_t>::unknown(list.reason);
  for (const RequestNumber& n : *list.value) {
    if (n.name == name) return n.steady;
  }
  return Known<uint64_t>::unknown("the report has no " + name);
}

const StageTime& stage_of(const RunFacts& run, const std::string& stage) {
  return *std::find_if(run.stages.begin(), run.stages.end(),
                       [&](const StageTime& t) { return t.stage == stage; });
}

Known<uint64_t> ledger_sum(const RunFacts& run, const std::string& stage,
                           uint64_t PassFacts::*what) {
  if (!run.passes.has_value()) return Known<uint64_t>::unknown(run.passes.reason);
  uint64_t sum = 0;
  for (const PassFacts& p : *run.passes.value) {
    if (p.stage == stage && __builtin_add_overflow(sum, p.*what, &sum)) {
      return Known<uint64_t>::unknown("the sum does not fit 64 bits");
    }
  }
  return Known<uint64_t>::of(sum);
}

}  // namespace

std::string drift_meaning_name(DriftMeaning meaning) {
  return meaning == DriftMeaning::kChange ? "change" : "not comparable";
}

const std::vector<IdentityField>& identity_fields() {
  constexpr auto change = DriftMeaning::kChange;
  constexpr auto incomparable = DriftMeaning::kIncomparable;
  static const std::vector<IdentityField> fields = {
      {"/product", change},
      {"/backend", incomparable},
      {"/application", incomparable},
      {"/protocol", incomparable},
      {"/execution_mode", change},
      {"/identity/binary_sha256", change},
      {"/identity/source_commit", change},
      {"/identity/source_tree", change},
      {"/identity/dirty", change},
      {"/identity/dirty_sha256", change},
      {"/identity/build_type", change},
      {"/identity/host_compiler", change},
      {"/identity/nvcc_version", change},
      {"/identity/cuda_arch_list", change},
      {"/identity/protocol_manifest_sha256", incomparable},
      {"/modules", change},
      {"/aot/build_identity_sha256", change},
      {"/aot/strict", change},
      {"/device/uuid", incomparable},
      {"/device/name", incomparable},
      {"/device/ordinal", change},
      {"/device/sm_major", incomparable},
      {"/device/sm_minor", incomparable},
      {"/device/driver_version", incomparable},
      {"/device/runtime_version", incomparable},
      {"/device/toolkit_version", change},
      {"/device/global_memory_bytes", incomparable},
      {"/device/multiprocessors", incomparable},
      {"/device/mig", incomparable},
      {"/cpu/model_name", incomparable},
      {"/cpu/instruction_set", incomparable},
      {"/cpu/threads", incomparable},
      {"/cpu/logical_cpus", incomparable},
      {"/statement/workload_id", incomparable},
      {"/statement/structural_class", incomparable},
      {"/statement/air", incomparable},
      {"/statement/channel", incomparable},
      {"/statement/mix_config", incomparable},
      {"/statement/parameters", incomparable},
      {"/statement/config", incomparable},
      {"/statement/security_bits_heuristic", incomparable},
      {"/statement/security_bits_proven", incomparable},
      {"/statement/trace_rows", incomparable},
      {"/statement/trace_cells", incomparable},
      {"/statement/statement_sha256", incomparable},
      {"/plan/program_sha256", change},
      {"/plan/semantic_sha256", incomparable},
      {"/plan/cache_key_sha256", change},
      {"/plan/schedule_version", change},
      {"/plan/compiled_once", change},
      {"/plan/node_count", change},
      {"/proof/canonical_sha256", incomparable},
  };
  return fields;
}

std::vector<Drift> identity_drift(const Json& baseline, const Json& now) {
  std::vector<Drift> out;
  for (const IdentityField& field : identity_fields()) {
    Drift drift{field.path, shown(baseline, field.path), shown(now, field.path), field.meaning};
    if (drift.baseline != drift.now) out.push_back(std::move(drift));
  }
  return out;
}

std::optional<double> Delta::ratio() const {
  if (!baseline.has_value() || !now.has_value() || *baseline.value == 0) return std::nullopt;
  return static_cast<double>(*now.value) / static_cast<double>(*baseline.value);
}

std::vector<Delta> report_deltas(const RunFacts& baseline, const RunFacts& now) {
  std::vector<Delta> out;
  const auto add = [&](const char* group, const std::string& name, Unit unit, Known<uint64_t> a,
                       Known<uint64_t> b) {
    out.push_back({group, name, unit, std::move(a), std::move(b)});
  };
  for (size_t i = 0; i < now.lifecycle.size(); ++i) {
    add("lifecycle", now.lifecycle[i].name, Unit::kNs, baseline.lifecycle[i].ns,
        now.lifecycle[i].ns);
  }
  add("lifecycle", "total", Unit::kNs, Known<uint64_t>::of(baseline.total),
      Known<uint64_t>::of(now.total));
  for (const SteadyNumber& part : now.split) {
    add("steady median", part.name, Unit::kNs, baseline.split_part(part.name).median, part.median);
  }
  add("steady median", "device_elapsed", Unit::kNs, baseline.device_elapsed.median,
      now.device_elapsed.median);
  add("steady median", "host_gap", Unit::kNs, baseline.host_gap.median, now.host_gap.median);
  const auto each_stage = [&](const auto& action) {
    for (size_t s = 0; s < stwo::kStageCount; ++s) {
      action(std::string(stwo::stage_name(static_cast<stwo::Stage>(s))));
    }
  };
  each_stage([&](const std::string& stage) {
    add("stage median", stage, Unit::kNs, stage_of(baseline, stage).median,
        stage_of(now, stage).median);
  });
  each_stage([&](const std::string& stage) {
    add("stage minimum", stage, Unit::kNs, stage_of(baseline, stage).min, stage_of(now, stage).min);
  });
  // A report without a device has no names to go by.
  const RunFacts& named = now.counters.has_value() ? now : baseline;
  if (named.counters.has_value()) {
    for (const RequestNumber& n : *named.counters.value) {
      add("counter", n.name, Unit::kCount, find(baseline.counters, n.name),
          find(now.counters, n.name));
    }
    for (const RequestNumber& n : *named.transfers.value) {
      const bool bytes = n.name.find("bytes") != std::string::npos;
      add("transfer", n.name, bytes ? Unit::kBytes : Unit::kCount, find(baseline.transfers, n.name),
          find(now.transfers, n.name));
    }
  }
  for (size_t i = 0; i < now.memory.size(); ++i) {
    add("memory", now.memory[i].name, Unit::kBytes, baseline.memory[i].bytes, now.memory[i].bytes);
  }
  add("memory", "accounted_peak", Unit::kBytes, Known<uint64_t>::of(baseline.accounted_peak),
      Known<uint64_t>::of(now.accounted_peak));
  each_stage([&](const std::string& stage) {
    add("pass ledger bytes", stage, Unit::kBytes,
        ledger_sum(baseline, stage, &PassFacts::moved_bytes),
        ledger_sum(now, stage, &PassFacts::moved_bytes));
  });
  each_stage([&](const std::string& stage) {
    add("pass ledger launches", stage, Unit::kCount,
        ledger_sum(baseline, stage, &PassFacts::launches),
        ledger_sum(now, stage, &PassFacts::launches));
  });
  // Two runs without any ledger have nothing to say about it.
  out.erase(std::remove_if(out.begin(), out.end(),
                           [](const Delta& d) {
                             return !d.baseline.has_value() && !d.now.has_value() &&
                                    d.group.rfind("pass ledger", 0) == 0;
                           }),
            out.end());
  return out;
}

}  // namespace prof

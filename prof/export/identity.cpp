#include "prof/export/identity.hpp"

#include <algorithm>

#include "ledger/trace/trace_schema.hpp"
#include "ledger/trace/trace_summary.hpp"
#include "prover/hash/sha256.hpp"

namespace prof {
namespace {

void put(Identity& identity, std::string_view field, const std::optional<std::string>& value) {
  if (value && !value->empty()) identity.insert_or_assign(std::string(field), *value);
}

/// The devices that worked, or all if none did; nothing if one of them is not described.
std::optional<std::string> devices_of(ledger::Database& trace) {
  ledger::Statement used = trace.prepare("SELECT DISTINCT device_id FROM gpu_op ORDER BY 1");
  std::vector<int64_t> ids;
  while (used.step()) ids.push_back(used.integer(0));
  ledger::Statement rows = trace.prepare("SELECT id, name, uuid FROM device ORDER BY id");
  std::string out;
  size_t described = 0;
  while (rows.step()) {
    if (!ids.empty() && !std::binary_search(ids.begin(), ids.end(), rows.integer(0))) continue;
    ++described;
    out += (out.empty() ? "" : ", ") + rows.string(1) + " " + rows.string(2);
  }
  if (described < ids.size()) return std::nullopt;
  return out;
}

/// Digest of the sorted digests of the loaded modules.
std::optional<std::string> modules_of(ledger::Database& trace) {
  ledger::Statement rows = trace.prepare(
      "SELECT DISTINCT sha256 FROM res_event WHERE kind = 'module_loaded' AND sha256 IS NOT NULL "
      "ORDER BY sha256");
  std::string all;
  int64_t n = 0;
  for (; rows.step(); ++n) all += rows.string(0);
  if (n == 0) return std::nullopt;
  return std::to_string(n) + " modules, " + stwo::sha256_hex(all);
}

std::optional<std::string> text_of(const ledger::Json& value) {
  if (value.is_null()) return std::nullopt;
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

const std::vector<IdentityRule>& identity_rules() {
  static const std::vector<IdentityRule> fields = {
      {"device", Weight::kMustMatch, "measured on different devices"},
      {"driver_version", Weight::kMustMatch, "measured with different drivers"},
      {"workload_id", Weight::kMustMatch, "different workloads"},
      {"config", Weight::kMustMatch, "different proof configurations"},
      {"statement_sha256", Weight::kMustMatch, "different statements"},
      {"product", Weight::kNamed, "different products: what is compared"},
      {"binary_sha256", Weight::kNamed, "different binaries: what is compared"},
      {"modules", Weight::kNamed, "different device code: what is compared"},
      {"recorder", Weight::kNamed, "recorded by different tools, which perturb differently"},
      {"replayed", Weight::kNamed, "one of them was measured under replay"},
      {"requests", Weight::kNamed,
       "different numbers of requests: compare medians and shares, not totals"},
      {"evidence", Weight::kNamed, "evidence of different grades"},
  };
  return fields;
}

Identity capture_identity(ledger::Database& trace) {
  const ledger::TraceSummary summary = ledger::summarize_trace(trace);
  const auto fact = [&](std::string_view key) -> std::optional<std::string> {
    const auto it = summary.meta.find(std::string(key));
    if (it == summary.meta.end()) return std::nullopt;
    return it->second;
  };
  Identity out;
  put(out, "device", devices_of(trace));
  put(out, "driver_version", fact(ledger::trace_meta::kDriverVersion));
  put(out, "workload_id", fact(ledger::trace_meta::kWorkloadId));
  put(out, "config", fact(ledger::trace_meta::kConfig));
  put(out, "statement_sha256", fact(ledger::trace_meta::kStatementSha256));
  put(out, "product", fact(ledger::trace_meta::kProductIdentity));
  put(out, "modules", modules_of(trace));
  put(out, "recorder", summary.tool + " " + summary.tool_version);
  if (!summary.windows.empty()) put(out, "requests", std::to_string(summary.windows.size()));
  put(out, "evidence", std::string(ledger::evidence_name(summary.evidence)));
  return out;
}

Identity counters_identity(const ledger::Json& document) {
  const ledger::Json& environment = document.at("environment");
  const ledger::Json& workload = document.at("workload");
  const ledger::Json& source = document.at("source");
  Identity out;
  put(out, "device",
      environment.at("device_name").get<std::string>() + " " +
          environment.at("device_uuid").get<std::string>());
  put(out, "driver_version", text_of(environment.at("driver_version")));
  if (!workload.is_null()) {
    put(out, "workload_id", text_of(workload.at("workload_id")));
    put(out, "config", text_of(workload.at("config")));
    put(out, "statement_sha256", text_of(workload.at("statement_sha256")));
  }
  put(out, "product", text_of(document.at("product").at("identity_sha256")));
  put(out, "binary_sha256", text_of(document.at("product").at("binary_sha256")));
  put(out, "recorder",
      source.at("format").get<std::string>() + " " + source.at("tool_version").get<std::string>());
  put(out, "replayed", document.at("replayed").get<bool>() ? "yes" : "no");
  return out;
}

std::string_view agreement_name(Agreement agreement) {
  static constexpr std::string_view kNames[] = {"same", "different", "unknown"};
  return kNames[static_cast<size_t>(agreement)];
}

std::string_view comparability_name(Comparability comparability) {
  static constexpr std::string_view kNames[] = {"comparable", "unknown", "not_comparable"};
  return kNames[static_cast<size_t>(comparability)];
}

IdentityDiff compare_identities(const Identity& baseline, const Identity& candidate) {
  IdentityDiff out;
  out.comparability = Comparability::kComparable;
  const auto value = [](const Identity& identity, std::string_view field) {
    const auto it = identity.find(field);
    return it == identity.end() ? std::nullopt : std::optional(it->second);
  };
  for (const IdentityRule& field : identity_rules()) {
    FieldDrift drift;
    drift.field = field.name;
    drift.baseline = value(baseline, field.name);
    drift.candidate = value(candidate, field.name);
    drift.must_match = field.weight == Weight::kMustMatch;
    if (!drift.baseline && !drift.candidate && !drift.must_match) continue;
    if (!drift.baseline || !drift.candidate) {
      drift.agreement = Agreement::kUnknown;
      drift.meaning = drift.baseline || drift.candidate ? "known on one side only" : "not known";
    } else if (*drift.baseline == *drift.candidate) {
      drift.agreement = Agreement::kSame;
    } else {
      drift.agreement = Agreement::kDifferent;
      drift.meaning = field.meaning;
    }
    if (drift.must_match && drift.agreement == Agreement::kDifferent) {
      out.comparability = Comparability::kNotComparable;
    } else if (drift.must_match && drift.agreement == Agreement::kUnknown &&
               out.comparability == Comparability::kComparable) {
      out.comparability = Comparability::kUnknown;
    }
    out.fields.push_back(std::move(drift));
  }
  return out;
}

std::string comparability_line(const IdentityDiff& diff) {
  const auto fields_that = [&](Agreement agreement) {
    std::string out;
    for (const FieldDrift& drift : diff.fields) {
      if (!drift.must_match || drift.agreement != agreement) continue;
      out += (out.empty() ? "" : ", ") + drift.field;
    }
    return out;
  };
  switch (diff.comparability) {
    case Comparability::kNotComparable:
      return "NOT COMPARABLE: differs in " + fields_that(Agreement::kDifferent) +
             "; the numbers below say nothing about the product";
    case Comparability::kUnknown:
      return "NOT SHOWN TO BE COMPARABLE: not known of both: " + fields_that(Agreement::kUnknown);
    case Comparability::kComparable: break;
  }
  return "Comparable: same device, driver and workload";
}

}  // namespace prof

#include "ledger/records/record_fields.hpp"

#include <cctype>

#include "prover/errors.hpp"

namespace ledger {
namespace {

constexpr RecordField kExperimentFields[] = {
    {"program_and_shape", "program and shape", true, true},
    {"identities", "binary/module/toolchain/device identities"},
    {"baseline", "verified-request and device-stage baseline", true, true},
    {"dominant_mechanism", "dominant mechanism", true, true},
    {"predicted_movement", "predicted launches/passes/bytes/counter movement", true, true, true},
    {"code_change", "code change"},
    {"parity_gates", "exact parity gates"},
    {"instrumented_result", "instrumented diagnostic result"},
    {"abba_result", "uninstrumented ABBA result"},
    {"memory_and_fallback_delta", "peak memory and fallback delta"},
};

// What a brief is judged by stays; how it is built may be worked out while it is open.
constexpr RecordField kBriefFields[] = {
    {"program_families_and_targets", "program families and target GPUs", true, true},
    {"correctness_and_oracle", "correctness and final oracle", true, true},
    {"measurement_boundary_and_profile", "measurement boundary and current profile", true, true},
    {"program_nodes_and_barriers", "ProofProgram nodes and transcript barriers", false, true},
    {"lifetime_alias_table", "resource lifetime/alias table", false, true},
    {"accounted_peak", "accounted peak and in-flight multiplier", false, true},
    {"cache_identity", "module and plan cache identity", false, true},
    {"stream_event_graph", "stream/event dependency graph", false, true},
    {"graph_regions", "graph-capture regions and parameter updates", false, true},
    {"passes_and_bytes", "global-memory passes and bytes by stage", false, true},
    {"transfer_and_sync_plan", "host/device transfer and synchronization plan", false, true},
    {"failure_ownership", "failure/unwind ownership", false, true},
    {"class_effects", "predicted structural-class effects", true, true},
    {"validation_plan", "validation and ABBA plan", true, true},
};

constexpr RecordForm kForms[] = {
    {RecordKind::kExperiment, "experiment", "experiment", "experiment_id", kExperimentFields},
    {RecordKind::kBrief, "design brief", "brief", "brief_id", kBriefFields},
};

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(a[i])) !=
        std::tolower(static_cast<unsigned char>(b[i]))) {
      return false;
    }
  }
  return true;
}

}  // namespace

const RecordForm& record_form(RecordKind kind) {
  for (const RecordForm& form : kForms) {
    if (form.kind == kind) return form;
  }
  throw stwo::ContractError("a kind of record without a form");
}

const RecordField& require_field(RecordKind kind, std::string_view name) {
  const RecordForm& form = record_form(kind);
  if (equal_ignoring_case(name, "decision")) {
    throw stwo::UsageError("RECORD_FIELD", "field 'decision' is no text; decide the " +
                                               std::string(form.word) + " instead");
  }
  std::string headings;
  for (const RecordField& f : form.fields) {
    if (equal_ignoring_case(name, f.heading) || equal_ignoring_case(name, f.column)) {
      if (!f.prediction) return f;
      throw stwo::UsageError("RECORD_FIELD", "field '" + std::string(f.heading) +
                                                 "' is a list of predictions; give them as "
                                                 "predictions, item by item");
    }
    if (!f.prediction) {
      headings += (headings.empty() ? "'" : ", '") + std::string(f.heading) + "'";
    }
  }
  throw stwo::UsageError("RECORD_FIELD", "field '" + std::string(name) + "' is unknown in a " +
                                             "record of kind " + std::string(form.word) +
                                             "; it has " + headings);
}

}  // namespace ledger

#include "tests/ledger/records/records_fixture.hpp"

#include "prover/hash/sha256.hpp"

namespace ledger {
namespace {

int64_t row_of(Ledger& ledger, const std::string& table, const std::string& column,
               const std::string& id) {
  Statement select =
      ledger.database().prepare("SELECT row FROM " + table + " WHERE " + column + " = ?1");
  select.bind(1, std::string_view(id));
  return select.step() ? select.integer(0) : 0;
}

int64_t environment(Append& append, Ledger& ledger) {
  const std::string id = stwo::sha256_hex("environment");
  if (const int64_t row = row_of(ledger, "environment", "environment_id", id); row != 0) return row;
  return append.insert("environment", {{"environment_id", id},
                                       {"kind", std::string("judge_host")},
                                       {"canonical_json", std::string("{}")}});
}

}  // namespace

void write_file(const std::string& path, const std::string& text) {
  test::fs::create_directories(test::fs::path(path).parent_path());
  test::write_file(path, text);
}

void replace(std::string& text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
}

std::string add_target(Ledger& ledger, const std::string& target_kind, const std::string& seed) {
  const std::string content = target_kind + " " + seed;
  const std::string id = stwo::sha256_hex(content);
  const std::string other = stwo::sha256_hex("other");
  Append append(ledger, "test." + target_kind, id);
  const int64_t artifact = append.add_artifact(target_kind, "file", content);
  const std::string time = "2026-01-01T00:00:00.000Z";
  if (target_kind == "capture") {
    append.insert("capture", {{"capture_id", id},
                              {"kind", std::string("timeline")},
                              {"artifact", artifact},
                              {"tool", std::string("test")},
                              {"created_utc", time},
                              {"evidence", std::string("complete")},
                              {"n_launches", int64_t{1}},
                              {"n_lost", int64_t{0}}});
  } else if (target_kind == "verdict") {
    append.insert("verdict", {{"verdict_id", id},
                              {"artifact", artifact},
                              {"judge_id", std::string("judge")},
                              {"kind", std::string("verdict")},
                              {"profile", std::string("judge")},
                              {"created_utc", time},
                              {"spec_sha256", other},
                              {"environment", environment(append, ledger)},
                              {"product_a", other},
                              {"label_a", std::string("a")},
                              {"outcome", std::string("keep")},
                              {"meets_minimum", int64_t{0}},
                              {"meets_objective", int64_t{0}},
                              {"headline_eligible", int64_t{0}}});
  } else if (target_kind == "calibration") {
    append.insert("calibration", {{"calibration_id", id},
                                  {"artifact", artifact},
                                  {"judge_id", std::string("judge")},
                                  {"environment", environment(append, ledger)},
                                  {"structural_class", std::string("wide")},
                                  {"product", other},
                                  {"created_utc", time},
                                  {"rounds", int64_t{8}},
                                  {"low", -0.1},
                                  {"high", 0.1},
                                  {"delta", 0.1},
                                  {"theta", 0.2},
                                  {"passed", int64_t{1}}});
  } else if (target_kind == "plan") {
    append.insert("plan", {{"plan_id", id},
                           {"cache_key_sha256", other},
                           {"program_sha256", other},
                           {"semantic_sha256", other},
                           {"schedule_version", int64_t{1}},
                           {"transcript_barriers", int64_t{1}},
                           {"launches", int64_t{1}},
                           {"artifact", artifact}});
  } else if (target_kind == "run") {
    const int64_t product = append.insert("product", {{"product_id", id},
                                                      {"name", std::string("p")},
                                                      {"binary_sha256", other},
                                                      {"identity_json", std::string("{}")}});
    const int64_t workload =
        append.insert("workload", {{"workload_id", seed}, {"config", std::string("fast")}});
    append.insert("run", {{"run_id", id},
                          {"artifact", artifact},
                          {"product", product},
                          {"environment", environment(append, ledger)},
                          {"workload", workload},
                          {"backend", std::string("cpu")},
                          {"created_utc", time},
                          {"eligible", int64_t{0}},
                          {"proof_sha256", other},
                          {"proof_bytes", int64_t{1}},
                          {"verified", int64_t{1}},
                          {"program_sha256", other},
                          {"runtime_init_ns", int64_t{1}},
                          {"shape_prepare_ns", int64_t{1}},
                          {"first_request_ns", int64_t{1}},
                          {"runtime_teardown_ns", int64_t{1}},
                          {"total_ns", int64_t{1}},
                          {"n_requests", int64_t{1}},
                          {"n_steady", int64_t{0}},
                          {"accounted_peak_bytes", int64_t{1}},
                          {"n_flags", int64_t{0}}});
  }
  append.commit();
  return id;
}

FieldTexts all_fields(RecordKind kind) {
  FieldTexts out;
  for (const RecordField& f : record_form(kind).fields) {
    if (!f.prediction) out[std::string(f.column)] = "text of " + std::string(f.heading);
  }
  return out;
}

Prediction some_prediction() {
  return parse_prediction("bytes: trace_commit.input_bytes <= 0.75 ratio of baseline");
}

NewRecord complete_record(RecordKind kind, const std::string& slug) {
  NewRecord out;
  out.kind = kind;
  out.title = "Title of " + slug;
  out.slug = slug;
  out.fields = all_fields(kind);
  if (kind == RecordKind::kExperiment) out.prediction = some_prediction();
  return out;
}

}  // namespace ledger

#include "tests/ledger/support/full_ledger.hpp"

#include <filesystem>

#include "ledger/store/schema.hpp"
#include "prover/hash/hex.hpp"
#include "prover/hash/sha256.hpp"

namespace ledger::test {
namespace {

namespace fs = std::filesystem;

const std::string kTime = "2026-01-31T12:00:00.";

std::string time_at(int ms) {
  const std::string digits = std::to_string(1000 + ms);
  return kTime + digits.substr(1) + "Z";
}

/// The rows of one seed. Rows of a function are one append.
class Filler {
 public:
  Filler(Ledger& ledger, std::string_view seed) : ledger_(ledger), seed_(seed) {}

  void artifacts() {
    Append append(ledger_, "other", digest("empty"));
    append.add_artifact("other", "empty.txt", seed_ == "a" ? "" : seed_);
    append.add_artifact("other", "large.bin", std::string(60'000, 'x') + seed_);
    append.commit();
  }

  void run() {
    Append append(ledger_, "product_report", digest("run"));
    const int64_t report = append.add_artifact("product_report", "report.json", seed_ + " report");
    product_ = append.insert("product", {{"product_id", digest("product")},
                                         {"name", "stwo"},
                                         {"binary_sha256", digest("binary")},
                                         {"source_commit", std::string(40, 'c')},
                                         {"dirty", 0},
                                         {"build_type", "Release"},
                                         {"host_compiler", "clang 14"},
                                         {"nvcc_version", "13.0"},
                                         {"cuda_arch_list", "90"},
                                         {"protocol", "stwo 1"},
                                         {"identity_json", "{\"name\":\"stwo\"}"}});
    environment_ = append.insert("environment", {{"environment_id", digest("environment")},
                                                 {"kind", "report"},
                                                 {"device_uuid", "GPU-0"},
                                                 {"device_name", "H200"},
                                                 {"sm", 90},
                                                 {"driver_version", "580"},
                                                 {"cpu_model", "cpu"},
                                                 {"logical_cpus", 16},
                                                 {"canonical_json", "{\"sm\":90}"}});
    workload_ = append.insert("workload", {{"workload_id", "wide_" + seed_},
                                           {"config", "fast"},
                                           {"statement_sha256", digest("statement")},
                                           {"structural_class", "wide"},
                                           {"trace_rows", 1024},
                                           {"trace_cells", 102'400}});
    // Only the name is known of this one.
    append.insert("workload", {{"workload_id", "named_" + seed_}, {"config", "fast"}});
    const int64_t plan = append.insert("plan", {{"plan_id", digest("plan")},
                                                {"cache_key_sha256", digest("cache key")},
                                                {"program_sha256", digest("program")},
                                                {"semantic_sha256", digest("semantic")},
                                                {"schedule_version", 1},
                                                {"transcript_barriers", 3},
                                                {"launches", 3},
                                                {"request_bytes", 1 << 20},
                                                {"persistent_bytes", 1 << 10},
                                                {"artifact", report}});
    for (int i = 0; i < 2; ++i) {
      append.insert("pass", {{"plan", plan},
                             {"ordinal", i},
                             {"stage", "trace_commit"},
                             {"pass", "expand"},
                             {"kernel", "lde"},
                             {"input_bytes", 4096},
                             {"output_bytes", 8192},
                             {"reread_bytes", 0},
                             {"temporary_bytes", 16},
                             {"launches", 1},
                             {"barriers", i},
                             {"retained_consumer", "fri"}});
    }
    run_ = append.insert("run", {{"run_id", digest("run")},
                                 {"artifact", report},
                                 {"product", product_},
                                 {"environment", environment_},
                                 {"workload", workload_},
                                 {"plan", plan},
                                 {"backend", "cuda"},
                                 {"execution_mode", "graphs"},
                                 {"created_utc", time_at(0)},
                                 {"eligible", 1},
                                 {"proof_sha256", digest("proof")},
                                 {"proof_bytes", 5000},
                                 {"verified", 1},
                                 {"oracle_name", "stwo"},
                                 {"oracle_accepted", 1},
                                 {"program_sha256", digest("program")},
                                 {"semantic_sha256", digest("semantic")},
                                 {"process_start_to_main_ns", 1000},
                                 {"runtime_init_ns", 2000},
                                 {"shape_prepare_ns", 3000},
                                 {"first_request_ns", 4000},
                                 {"runtime_teardown_ns", 5000},
                                 {"total_ns", 20'000},
                                 {"n_requests", 2},
                                 {"n_steady", 1},
                                 {"verified_request_ns", 1500},
                                 {"resident_prove_ns", 1000},
                                 {"device_ns", 900},
                                 {"kernel_launches", 3},
                                 {"accounted_peak_bytes", 1 << 21},
                                 {"n_flags", 1}});
    for (int i = 0; i < 2; ++i) {
      append.insert("request", {{"run", run_},
                                {"ordinal", i},
                                {"role", i == 0 ? "first" : "steady"},
                                {"resident_prove_ns", 1000},
                                {"encode_ns", 100},
                                {"terminal_decode_ns", 100},
                                {"independent_verification_ns", 300},
                                {"verified_request_ns", 1500},
                                {"device_ns", 900},
                                {"kernel_launches", 3},
                                {"graph_launches", 1},
                                {"sync_calls", 1},
                                {"module_loads", 0},
                                {"jit_compiles", 0},
                                {"allocations", 0},
                                {"frees", 0},
                                {"cpu_fallback_attempts", 0},
                                {"h2d_operations", 1},
                                {"h2d_bytes", 4096},
                                {"d2h_operations", 1},
                                {"d2h_bytes", 5000},
                                {"d2d_operations", 0},
                                {"d2d_bytes", 0},
                                {"terminal_d2h_operations", 1},
                                {"intermediate_d2h_operations", 0}});
    }
    for (const char* clock : {"host", "device"}) {
      append.insert("stage_time", {{"run", run_},
                                   {"clock", clock},
                                   {"statistic", "median"},
                                   {"stage", "trace_commit"},
                                   {"ns", 600}});
    }
    append.insert("module", {{"run", run_},
                             {"load_ordinal", 0},
                             {"name", "lde"},
                             {"sha256", digest("module")},
                             {"bytes", 4000},
                             {"kind", "cubin"},
                             {"sm", 90},
                             {"loaded_in", "init"}});
    append.insert("memory_part", {{"run", run_}, {"part", "tables"}, {"bytes", 1024}});
    append.insert("contract_flag", {{"run", run_},
                                    {"code", "FLAG_JIT"},
                                    {"path", "/modules/0"},
                                    {"message", "compiled at run time"}});
    append.commit();
  }

  void captures() {
    for (const std::string kind : {"timeline", "counters"}) {
      Append append(ledger_, kind, digest(kind));
      const int64_t file = append.add_artifact(kind, "capture." + kind, seed_ + kind);
      const int64_t capture = append.insert(
          "capture", {{"capture_id", digest(kind)},
                      {"kind", kind},
                      {"artifact", file},
                      {"product", product_},
                      {"environment", environment_},
                      {"workload", workload_},
                      {"run", run_},
                      {"tool", "stwo-prof 0.1.0"},
                      {"created_utc", time_at(1)},
                      {"evidence", "complete"},
                      {"n_operations", kind == "timeline" ? Value(int64_t{5}) : Value()},
                      {"n_launches", 3},
                      {"span_ns", 2000},
                      {"busy_ns", 1800},
                      {"n_lost", 1}});
      append.insert("capture_loss", {{"capture", capture}, {"kind", "kernel"}, {"count", 1}});
      append.insert("kernel_stat", {{"capture", capture},
                                    {"kernel", "lde"},
                                    {"stage", "trace_commit"},
                                    {"launches", 3},
                                    {"untimed", 0},
                                    {"total_ns", 900},
                                    {"min_ns", 200},
                                    {"median_ns", 300},
                                    {"max_ns", 400},
                                    {"grid", "16,1,1"},
                                    {"block", "256,1,1"},
                                    {"dynamic_shared_bytes", 0},
                                    {"registers_per_thread", 32}});
      append.insert("counter", {{"capture", capture},
                                {"kernel", "lde"},
                                {"stage", "trace_commit"},
                                {"launch", 0},
                                {"metric", "dram__bytes_read.sum"},
                                {"value", 4096.0},
                                {"unit", "byte"}});
      append.insert("counter", {{"capture", capture},
                                {"kernel", "lde"},
                                {"launch", 1},
                                {"metric", "dram__bytes_read.sum"},
                                {"unit", "byte"},
                                {"reason", "not collected"}});
      append.insert("diagnosis", {{"capture", capture},
                                  {"kernel", "lde"},
                                  {"diagnosis", "bandwidth"},
                                  {"confidence", "high"},
                                  {"margin", 0.25},
                                  {"evidence_json", "{\"dram\":0.9}"},
                                  {"missing_json", "[]"},
                                  {"prediction", "fewer bytes, less time"}});
      append.commit();
    }
  }

  void verdicts() {
    int64_t row = 0;
    for (const std::string name : {"verdict", "corrected verdict"}) {
      Append append(ledger_, "verdict", digest(name));
      row = add_verdict(append, seed_ + name, row);
      append.commit();
    }
    verdict_id_ = digest("corrected verdict");
    Append append(ledger_, "calibration", digest("calibration"));
    append.insert(
        "calibration",
        {{"calibration_id", digest("calibration")},
         {"artifact", append.add_artifact("calibration", "aa.json", seed_ + " calibration")},
         {"judge_id", ulid_of(seed_ + "judge")},
         {"environment", environment_},
         {"structural_class", "wide"},
         {"product", digest("product")},
         {"created_utc", time_at(3)},
         {"rounds", 8},
         {"low", -0.001},
         {"high", 0.002},
         {"delta", 0.002},
         {"theta", 0.01},
         {"passed", 1}});
    append.commit();
  }

  void records() {
    record("experiment",
           {{"program_and_shape", "wide_10"},
            {"identities", "binary"},
            {"baseline", "1500 ns"},
            {"dominant_mechanism", "bandwidth"},
            {"predicted_movement", "bytes: trace_commit.input_bytes <= 0.75 ratio of baseline"},
            {"code_change", "fused"},
            {"parity_gates", "proof bytes"},
            {"instrumented_result", "fewer bytes"},
            {"abba_result", "faster"},
            {"memory_and_fallback_delta", "none"},
            {"prediction_json", "[{\"quantity\":\"bytes\"}]"}});
    std::vector<Column> fields;
    for (const char* name :
         {"program_families_and_targets", "correctness_and_oracle",
          "measurement_boundary_and_profile", "program_nodes_and_barriers", "lifetime_alias_table",
          "accounted_peak", "cache_identity", "stream_event_graph", "graph_regions",
          "passes_and_bytes", "transfer_and_sync_plan", "failure_ownership", "class_effects",
          "validation_plan"}) {
      fields.push_back({name, std::string("what is said about ") + name});
    }
    record("brief", fields);
  }

 private:
  std::string digest(std::string_view what) const { return digest_of(seed_ + std::string(what)); }

  /// A draft, opened, linked to a verdict, decided on it, corrected; and a link that is taken back.
  void record(const std::string& kind, const std::vector<Column>& fields) {
    const std::string id = ulid_of(seed_ + kind + "draft");
    int64_t row = 0;
    int64_t link = 0;
    int time = 10;
    for (const std::string step : {"draft", "open", "decided", "corrected"}) {
      Append append(ledger_, kind + "." + step, id);
      const bool decided = step == "decided" || step == "corrected";
      if (step == "open") {
        link = add_link(append, kind, id, "abba", 0, time++);
        const int64_t wrong = add_link(append, kind, id, "supports", 0, time++);
        add_link(append, kind, id, "supports", wrong, time++);
      }
      std::vector<Column> columns = {{"revision_id", ulid_of(seed_ + kind + step)},
                                     {kind + "_id", id},
                                     {"supersedes", row == 0 ? Value() : Value(row)},
                                     {"state", step == "corrected" ? "decided" : step},
                                     {"slug", "leaf-fusion-" + seed_},
                                     {"number", 7},
                                     {"title", "Fused leaves"},
                                     {"recorded_utc", time_at(time++)}};
      // Their names live in this function.
      const std::string id_column = kind + "_id";
      columns[1].name = id_column;
      columns.insert(columns.end(), fields.begin(), fields.end());
      if (decided) {
        columns.push_back({"decision", "keep"});
        columns.push_back({"decision_reason", "it is faster"});
        columns.push_back({"verdict_link", link});
      }
      if (step == "corrected") columns.push_back({"correction", "a typing error"});
      row = append.insert(kind, columns);
      append.commit();
    }
  }

  int64_t add_link(Append& append, const std::string& kind, const std::string& id,
                   const std::string& role, int64_t retracts, int time) {
    return append.insert(
        "record_link",
        {{"link_id", ulid_of(seed_ + kind + role + std::to_string(retracts != 0 ? 1 : 0))},
         {"record_kind", kind},
         {"record_id", id},
         {"role", role},
         {"target_kind", "verdict"},
         {"target_id", verdict_id_},
         {"retracts", retracts == 0 ? Value() : Value(retracts)},
         {"note", "a note"},
         {"recorded_utc", time_at(time)}});
  }

  Ledger& ledger_;
  std::string seed_;
  int64_t product_ = 0;
  int64_t environment_ = 0;
  int64_t workload_ = 0;
  int64_t run_ = 0;
  std::string verdict_id_;
};

/// Tables with an id, and what makes it.
const std::map<std::string, std::string>& id_columns() {
  static const std::map<std::string, std::string> columns = {
      {"artifact", "sha256"},
      {"product", "product_id"},
      {"environment", "environment_id"},
      {"workload", "workload_id || ' ' || config || ' ' || ifnull(statement_sha256, '-')"},
      {"plan", "plan_id"},
      {"run", "run_id"},
      {"capture", "capture_id"},
      {"verdict", "verdict_id"},
      {"calibration", "calibration_id"},
      {"experiment", "revision_id"},
      {"brief", "revision_id"},
      {"record_link", "link_id"},
  };
  return columns;
}

}  // namespace

void fill_every_table(Ledger& ledger, std::string_view seed) {
  const int64_t version = ledger.schema_version();
  Filler filler(ledger, seed);
  filler.artifacts();
  if (version >= 2) filler.run();
  if (version >= 3) filler.captures();
  if (version >= 4) filler.verdicts();
  if (version >= 5) filler.records();
}

std::string digest_of(std::string_view what) { return stwo::sha256_hex(what); }

std::string ulid_of(std::string_view what) {
  constexpr std::string_view kDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  const std::string digest = digest_of(what);
  std::string out = "0";
  for (size_t i = 0; i < 25; ++i) {
    out += kDigits[static_cast<size_t>(std::stoi(digest.substr(2 * i, 2), nullptr, 16)) % 32];
  }
  return out;
}

int64_t add_verdict(Append& append, std::string_view seed, int64_t supersedes,
                    std::string_view kind) {
  const std::string name(seed);
  const auto digest = [&](const std::string& what) { return digest_of(name + what); };
  Statement find = append.database().prepare("SELECT row FROM environment WHERE kind = ?1");
  find.bind(1, "judge_host");
  const int64_t environment =
      find.step() ? find.integer(0)
                  : append.insert("environment", {{"environment_id", digest_of("judge's host")},
                                                  {"kind", "judge_host"},
                                                  {"canonical_json", "{}"}});
  const std::string document = "verdict " + name;
  const int64_t artifact = append.add_artifact("verdict", "verdict.json", document);
  const int64_t verdict =
      append.insert("verdict", {{"verdict_id", digest_of(document)},
                                {"supersedes", supersedes == 0 ? Value() : Value(supersedes)},
                                {"artifact", artifact},
                                {"judge_id", ulid_of(name + "judge")},
                                {"kind", std::string(kind)},
                                {"profile", "judge"},
                                {"created_utc", time_at(2)},
                                {"spec_sha256", digest("spec")},
                                {"environment", environment},
                                {"product_a", digest("a")},
                                {"product_b", digest("b")},
                                {"label_a", "main"},
                                {"label_b", "fused"},
                                {"outcome", "keep"},
                                {"theta", 0.01},
                                {"meets_minimum", 1},
                                {"meets_objective", 0},
                                {"headline_eligible", 1}});
  for (int slot = 0; slot < 2; ++slot) {
    Statement run = append.database().prepare("SELECT row, run_id FROM run ORDER BY row DESC");
    const bool has_run = slot == 0 && run.step();
    const int64_t session =
        append.insert("session", {{"verdict", verdict},
                                  {"workload_id", "wide_10"},
                                  {"config", "fast"},
                                  {"phase", "round"},
                                  {"round", 0},
                                  {"slot", slot},
                                  {"arm", slot == 0 ? "A" : "B"},
                                  {"report_sha256", has_run ? run.string(1) : digest("report")},
                                  {"run", has_run ? Value(run.integer(0)) : Value()},
                                  {"value_ns", 1500},
                                  {"voided", 0}});
    append.insert("sample", {{"session", session}, {"ordinal", 0}, {"verified_request_ns", 1500}});
    append.insert("telemetry", {{"session", session},
                                {"metric", "sm_clock"},
                                {"unit", "MHz"},
                                {"samples", 10},
                                {"min", 1970.0},
                                {"mean", 1980.0},
                                {"max", 1980.5}});
  }
  append.insert("judge_round", {{"verdict", verdict},
                                {"workload_id", "wide_10"},
                                {"config", "fast"},
                                {"round", 0},
                                {"d", -0.5}});
  append.insert("estimate", {{"verdict", verdict},
                             {"scope", "portfolio"},
                             {"subject", ""},
                             {"ratio", 0.6},
                             {"low", 0.55},
                             {"high", 0.65}});
  append.insert("verdict_reason", {{"verdict", verdict},
                                   {"ordinal", 0},
                                   {"code", "ARM_COVERAGE"},
                                   {"workload_id", "wide_10"},
                                   {"round", 0},
                                   {"slot", 1},
                                   {"observed", "1"},
                                   {"allowed", "2"}});
  return verdict;
}

std::vector<std::string> tables_of(Database& database) {
  Statement select =
      database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  std::vector<std::string> out;
  while (select.step()) out.push_back(select.string(0));
  return out;
}

std::vector<std::string> columns_of(Database& database, const std::string& table) {
  Statement select = database.prepare("SELECT name FROM pragma_table_info(?1) ORDER BY cid");
  select.bind(1, std::string_view(table));
  std::vector<std::string> out;
  while (select.step()) out.push_back(select.string(0));
  return out;
}

int64_t count_rows(Database& database, const std::string& table) {
  return database.query_integer("SELECT count(*) FROM " + table);
}

std::vector<std::string> rows_of(Database& database, const std::string& table) {
  Statement select = database.prepare("SELECT * FROM \"" + table + "\" ORDER BY 1");
  std::vector<std::string> out;
  while (select.step()) {
    std::string row;
    for (int c = 0; c < select.column_count(); ++c) {
      const Value value = select.value(c);
      // A column added later is as good as none.
      if (select.is_null(c)) continue;
      row += select.column_name(c) + "=" + std::to_string(value.index()) + ":";
      if (const auto* blob = std::get_if<Blob>(&value)) {
        row += stwo::to_hex(*blob);
      } else {
        row += select.string(c);
      }
      row += "|";
    }
    out.push_back(std::move(row));
  }
  return out;
}

std::map<std::string, std::vector<std::string>> dump(Database& database) {
  std::map<std::string, std::vector<std::string>> out;
  for (const std::string& table : tables_of(database)) out[table] = rows_of(database, table);
  return out;
}

std::set<std::string> content_ids(Database& database) {
  std::set<std::string> out;
  for (const auto& [table, id] : id_columns()) {
    Statement select = database.prepare("SELECT " + id + " FROM " + table);
    while (select.step()) out.insert(table + " " + select.string(0));
  }
  return out;
}

std::string to_text(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& f : findings) {
    out += f.code + " [" + f.table + " " + std::to_string(f.row) + "] " + f.message + "\n";
  }
  return out;
}

std::string findings_of(Ledger& ledger, const CheckOptions& options) {
  return to_text(check_ledger(ledger, options).findings);
}

std::string findings_of(const std::string& path, const CheckOptions& options) {
  Ledger ledger(path, Access::kRead);
  return findings_of(ledger, options);
}

void copy_files(const std::string& from, const std::string& to) {
  fs::copy_file(from, to);
  if (fs::exists(artifact_folder(from))) {
    fs::copy(artifact_folder(from), artifact_folder(to), fs::copy_options::recursive);
  }
}

}  // namespace ledger::test

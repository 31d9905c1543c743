#include "tests/ledger/query/query_fixture.hpp"

#include <algorithm>
#include <stdexcept>

namespace ledger::test {
namespace {

Value null_if_empty(const std::string& text) {
  if (text.empty()) return std::monostate{};
  return text;
}

}  // namespace

QueryLedger::QueryLedger() {
  std::string name = (std::filesystem::temp_directory_path() / "ledger_query.XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = name;
  Ledger::init(path());
  ledger_ = std::make_unique<Ledger>(path(), Access::kAppend);
  read_only_ = std::make_unique<Ledger>(path(), Access::kRead);
  reader_ = std::make_unique<Reader>(read_only_->database());
}

QueryLedger::~QueryLedger() {
  reader_.reset();
  read_only_.reset();
  ledger_.reset();
  std::filesystem::remove_all(folder_);
}

int64_t QueryLedger::row_of(Append& append, const std::string& table, const std::string& column,
                            const std::string& id) {
  Statement select =
      append.database().prepare("SELECT row FROM " + table + " WHERE " + column + " = ?1");
  select.bind(1, std::string_view(id));
  return select.step() ? select.integer(0) : 0;
}

int64_t QueryLedger::artifact(Append& append, const std::string& name) {
  // The content's digest is the id of what it holds.
  return append.add_artifact("other", name, name);
}

int64_t QueryLedger::environment(Append& append, const std::string& name) {
  if (const int64_t row = row_of(append, "environment", "environment_id", digest(name)); row != 0) {
    return row;
  }
  return append.insert("environment", {{"environment_id", digest(name)},
                                       {"kind", std::string("report")},
                                       {"cpu_model", name},
                                       {"logical_cpus", int64_t{8}},
                                       {"canonical_json", std::string("{}")}});
}

int64_t QueryLedger::product(Append& append, const std::string& name) {
  if (const int64_t row = row_of(append, "product", "product_id", digest(name)); row != 0) {
    return row;
  }
  return append.insert("product", {{"product_id", digest(name)},
                                   {"name", name},
                                   {"binary_sha256", digest(name + " binary")},
                                   {"identity_json", std::string("{}")}});
}

int64_t QueryLedger::workload(Append& append, const std::string& name, const std::string& config) {
  Statement select =
      append.database().prepare("SELECT row FROM workload WHERE workload_id = ?1 AND config = ?2");
  select.bind_all(std::string_view(name), std::string_view(config));
  if (select.step()) return select.integer(0);
  return append.insert("workload", {{"workload_id", name},
                                    {"config", config},
                                    {"statement_sha256", digest(name + " statement")},
                                    {"structural_class", std::string("wide")}});
}

void QueryLedger::add_plan(const std::string& name, const std::vector<PassRow>& passes) {
  Append append(*ledger_, "plan", digest(name));
  int64_t launches = 0;
  for (const PassRow& p : passes) launches += p.launches;
  const int64_t plan = append.insert("plan", {{"plan_id", digest(name)},
                                              {"cache_key_sha256", digest(name + " key")},
                                              {"program_sha256", digest("program")},
                                              {"semantic_sha256", digest("semantic")},
                                              {"schedule_version", int64_t{1}},
                                              {"transcript_barriers", int64_t{1}},
                                              {"launches", launches},
                                              {"artifact", artifact(append, name + " document")}});
  int64_t ordinal = 0;
  for (const PassRow& p : passes) {
    append.insert("pass", {{"plan", plan},
                           {"ordinal", ordinal++},
                           {"stage", p.stage},
                           {"pass", p.pass},
                           {"kernel", p.kernel},
                           {"input_bytes", p.input},
                           {"output_bytes", p.output},
                           {"reread_bytes", p.reread},
                           {"temporary_bytes", p.temporary},
                           {"launches", p.launches},
                           {"barriers", p.barriers}});
  }
  append.commit();
}

void QueryLedger::add_run(const RunRow& r) {
  Append append(*ledger_, "product_report", digest(r.name));
  const bool cuda = !r.plan.empty();
  int64_t total = 0;
  for (const auto& [stage, ns] : r.stages) total += ns;
  const auto on_device = [&](int64_t value) { return cuda ? Value{value} : Value{}; };
  const int64_t plan = cuda ? row_of(append, "plan", "plan_id", digest(r.plan)) : 0;
  const int64_t run =
      append.insert("run", {{"run_id", digest(r.name)},
                            {"artifact", artifact(append, r.name)},
                            {"product", product(append, r.product)},
                            {"environment", environment(append, r.environment)},
                            {"workload", workload(append, r.workload, r.config)},
                            {"plan", on_device(plan)},
                            {"backend", std::string(cuda ? "cuda" : "cpu")},
                            {"execution_mode", cuda ? Value{std::string("graphs")} : Value{}},
                            {"created_utc", r.created_utc},
                            {"eligible", static_cast<int64_t>(cuda)},
                            {"proof_sha256", digest(r.proof)},
                            {"proof_bytes", int64_t{20'000}},
                            {"verified", int64_t{1}},
                            {"program_sha256", digest("program")},
                            {"semantic_sha256", digest(r.semantic)},
                            {"runtime_init_ns", int64_t{10'000}},
                            {"shape_prepare_ns", int64_t{20'000}},
                            {"first_request_ns", int64_t{3'000'000}},
                            {"runtime_teardown_ns", int64_t{5'000}},
                            {"total_ns", int64_t{9'000'000}},
                            {"n_requests", r.n_requests},
                            {"n_steady", r.verified_ns ? r.n_requests - 1 : int64_t{0}},
                            {"verified_request_ns", value_or_null(r.verified_ns)},
                            {"resident_prove_ns", value_or_null(r.verified_ns)},
                            {"device_ns", on_device(total)},
                            {"kernel_launches", on_device(31)},
                            {"accounted_peak_bytes", int64_t{1} << 20},
                            {"n_flags", static_cast<int64_t>(r.flags.size())}});
  append.insert("request", {{"run", run},
                            {"ordinal", int64_t{0}},
                            {"role", std::string("first")},
                            {"resident_prove_ns", int64_t{900'000}},
                            {"encode_ns", int64_t{1}},
                            {"terminal_decode_ns", int64_t{1}},
                            {"independent_verification_ns", int64_t{1}},
                            {"verified_request_ns", int64_t{950'000}},
                            {"kernel_launches", on_device(31)},
                            {"h2d_bytes", on_device(4096)}});
  for (const std::string clock : {"device", "host"}) {
    if (clock == "device" && !cuda) continue;
    const int64_t factor = clock == "host" && cuda ? 2 : 1;
    for (const std::string statistic : {"first", "min", "median"}) {
      if (statistic != "first" && !r.verified_ns) continue;
      for (const auto& [stage, ns] : r.stages) {
        append.insert("stage_time", {{"run", run},
                                     {"clock", clock},
                                     {"statistic", statistic},
                                     {"stage", stage},
                                     {"ns", factor * ns}});
      }
      append.insert("stage_time", {{"run", run},
                                   {"clock", clock},
                                   {"statistic", statistic},
                                   {"stage", std::string("total")},
                                   {"ns", factor * total}});
    }
  }
  for (const auto& [part, bytes] : {std::pair("tables", 4096), std::pair("arena", 8192)}) {
    append.insert(
        "memory_part",
        {{"run", run}, {"part", std::string(part)}, {"bytes", static_cast<int64_t>(bytes)}});
  }
  for (const std::string& code : r.flags) {
    append.insert("contract_flag", {{"run", run},
                                    {"code", code},
                                    {"path", std::string("/aot/misses")},
                                    {"message", std::string("a flag")}});
  }
  append.commit();
}

int64_t QueryLedger::capture(Append& append, const std::string& name, const std::string& kind,
                             const std::string& run, const std::string& evidence,
                             const std::string& of_workload, const std::string& of_environment,
                             int64_t launches) {
  Value run_row;
  Value product_row;
  Value environment_row;
  Value workload_row;
  if (run.empty()) {
    environment_row = environment(append, of_environment);
    workload_row = workload(append, of_workload, "fast");
  } else {
    Statement select = append.database().prepare(
        "SELECT row, product, environment, workload FROM run WHERE run_id = ?1");
    select.bind(1, std::string_view(digest(run)));
    select.step();
    run_row = select.integer(0);
    product_row = select.integer(1);
    environment_row = select.integer(2);
    workload_row = select.integer(3);
  }
  return append.insert("capture", {{"capture_id", digest(name)},
                                   {"kind", kind},
                                   {"artifact", artifact(append, name)},
                                   {"product", product_row},
                                   {"environment", environment_row},
                                   {"workload", workload_row},
                                   {"run", run_row},
                                   {"tool", std::string("stwo-prof 1")},
                                   {"created_utc", std::string("2026-01-01T12:00:00Z")},
                                   {"evidence", evidence},
                                   {"n_launches", launches},
                                   {"n_lost", int64_t{0}}});
}

void QueryLedger::add_timeline(const std::string& name, const std::string& run,
                               const std::vector<KernelRow>& kernels, const std::string& evidence,
                               const std::string& of_workload, const std::string& of_environment) {
  Append append(*ledger_, "timeline", digest(name));
  int64_t launches = 0;
  for (const KernelRow& k : kernels) launches += k.launches;
  const int64_t row =
      capture(append, name, "timeline", run, evidence, of_workload, of_environment, launches);
  for (const KernelRow& k : kernels) {
    append.insert("kernel_stat", {{"capture", row},
                                  {"kernel", k.kernel},
                                  {"stage", null_if_empty(k.stage)},
                                  {"launches", k.launches},
                                  {"untimed", int64_t{0}},
                                  {"total_ns", k.launches * 1000},
                                  {"grid", std::string("1,1,1")},
                                  {"block", std::string("128,1,1")},
                                  {"dynamic_shared_bytes", int64_t{0}}});
  }
  append.commit();
}

void QueryLedger::add_counters(const std::string& name, const std::string& run,
                               const std::vector<CounterRow>& launches) {
  Append append(*ledger_, "counters", digest(name));
  const int64_t row = capture(append, name, "counters", run, "complete", "wide_10", "host",
                              static_cast<int64_t>(launches.size()));
  int64_t ordinal = 0;
  for (const CounterRow& c : launches) {
    for (const auto& [metric, value] : {std::pair("dram__bytes_read.sum", c.read),
                                        std::pair("dram__bytes_write.sum", c.written)}) {
      append.insert("counter", {{"capture", row},
                                {"kernel", c.kernel},
                                {"stage", null_if_empty(c.stage)},
                                {"launch", ordinal},
                                {"metric", std::string(metric)},
                                {"value", value_or_null(value)},
                                {"unit", c.unit},
                                {"reason", value ? Value{} : Value{std::string("denied")}}});
    }
    ++ordinal;
  }
  append.commit();
}

void QueryLedger::add_verdict(const VerdictRow& v) {
  Append append(*ledger_, "verdict", digest(v.name));
  Value supersedes;
  if (!v.supersedes.empty()) {
    supersedes = row_of(append, "verdict", "verdict_id", digest(v.supersedes));
  }
  product(append, "stwo-1");
  const int64_t row = append.insert("verdict", {{"verdict_id", digest(v.name)},
                                                {"supersedes", supersedes},
                                                {"artifact", artifact(append, v.name)},
                                                {"judge_id", new_ulid()},
                                                {"kind", std::string("verdict")},
                                                {"profile", std::string("judge")},
                                                {"created_utc", v.created_utc},
                                                {"spec_sha256", digest("spec")},
                                                {"environment", environment(append, v.environment)},
                                                {"product_a", digest("stwo-1")},
                                                {"product_b", digest("stwo-2")},
                                                {"label_a", std::string("before")},
                                                {"label_b", std::string("after")},
                                                {"outcome", v.outcome},
                                                {"theta", 0.01},
                                                {"meets_minimum", int64_t{1}},
                                                {"meets_objective", int64_t{0}},
                                                {"headline_eligible", int64_t{0}}});
  append.insert("estimate", {{"verdict", row},
                             {"scope", std::string("portfolio")},
                             {"subject", std::string()},
                             {"ratio", v.ratio},
                             {"low", v.ratio - 0.1},
                             {"high", v.ratio + 0.1}});
  append.insert("estimate", {{"verdict", row},
                             {"scope", std::string("class")},
                             {"subject", std::string("wide")},
                             {"ratio", v.ratio},
                             {"low", v.ratio - 0.1},
                             {"high", v.ratio + 0.1}});
  int64_t ordinal = 0;
  for (const std::string& code : v.reasons) {
    append.insert("verdict_reason", {{"verdict", row}, {"ordinal", ordinal++}, {"code", code}});
  }
  const int64_t session = append.insert("session", {{"verdict", row},
                                                    {"workload_id", std::string("wide_10")},
                                                    {"config", std::string("fast")},
                                                    {"phase", std::string("round")},
                                                    {"round", int64_t{0}},
                                                    {"slot", int64_t{0}},
                                                    {"arm", std::string("A")},
                                                    {"report_sha256", digest("a report")},
                                                    {"value_ns", int64_t{1'000'000}},
                                                    {"voided", int64_t{0}}});
  append.insert("telemetry", {{"session", session},
                              {"metric", std::string("sm_clock")},
                              {"unit", std::string("MHz")},
                              {"samples", int64_t{3}},
                              {"min", 1.0},
                              {"mean", 2.0},
                              {"max", 3.0}});
  append.commit();
}

void QueryLedger::add_calibration(const std::string& name, const std::string& structural_class) {
  Append append(*ledger_, "calibration", digest(name));
  append.insert("calibration", {{"calibration_id", digest(name)},
                                {"artifact", artifact(append, name)},
                                {"judge_id", new_ulid()},
                                {"environment", environment(append, "host")},
                                {"structural_class", structural_class},
                                {"product", digest("stwo-1")},
                                {"created_utc", std::string("2026-01-01T00:00:00Z")},
                                {"rounds", int64_t{8}},
                                {"low", -0.01},
                                {"high", 0.01},
                                {"delta", 0.01},
                                {"theta", 0.02},
                                {"passed", int64_t{1}}});
  append.commit();
}

void QueryLedger::add(const std::string& table, std::initializer_list<Column> columns) {
  Append append(*ledger_, "test", table);
  append.insert(table, columns);
  append.commit();
}

const Value& cell(const ResultTable& table, size_t row, const std::string& column) {
  const auto it = std::find(table.columns.begin(), table.columns.end(), column);
  if (it == table.columns.end()) throw std::out_of_range("no column " + column);
  return table.rows.at(row).at(static_cast<size_t>(it - table.columns.begin()));
}

std::string text_cell(const ResultTable& table, size_t row, const std::string& column) {
  return std::get<std::string>(cell(table, row, column));
}
int64_t integer_cell(const ResultTable& table, size_t row, const std::string& column) {
  return std::get<int64_t>(cell(table, row, column));
}
double real_cell(const ResultTable& table, size_t row, const std::string& column) {
  return std::get<double>(cell(table, row, column));
}
bool null_cell(const ResultTable& table, size_t row, const std::string& column) {
  return std::holds_alternative<std::monostate>(cell(table, row, column));
}

std::vector<std::string> texts(const ResultTable& table, const std::string& column) {
  std::vector<std::string> out;
  for (size_t i = 0; i < table.rows.size(); ++i) out.push_back(text_cell(table, i, column));
  return out;
}

size_t find_row(const ResultTable& table, const std::map<std::string, std::string>& wanted) {
  for (size_t i = 0; i < table.rows.size(); ++i) {
    const bool all = std::all_of(wanted.begin(), wanted.end(), [&](const auto& w) {
      const auto* text = std::get_if<std::string>(&cell(table, i, w.first));
      return text != nullptr && *text == w.second;
    });
    if (all) return i;
  }
  throw std::out_of_range("no such row");
}

bool has_note(const ResultTable& table, const std::string& part) {
  return std::any_of(table.notes.begin(), table.notes.end(),
                     [&](const std::string& n) { return n.find(part) != std::string::npos; });
}

}  // namespace ledger::test

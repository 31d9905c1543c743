// stwo prove: proves a statement, checks every proof it makes and writes proof, report, transcript.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "prover/cli/arguments.hpp"
#include "prover/cli/build_info.hpp"
#include "prover/cli/console.hpp"
#include "prover/cli/output_file.hpp"
#include "prover/cli/system_info.hpp"
#include "prover/cpu/cpu_backend.hpp"
#include "prover/errors.hpp"
#include "prover/hash/sha256.hpp"
#include "prover/proof/proof_json.hpp"
#include "prover/prove.hpp"
#include "prover/report/product_report.hpp"
#include "prover/verify.hpp"

namespace stwo {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kMaxRequests = 1'000'000;
constexpr uint64_t kMaxThreads = 4096;
constexpr uint64_t kMaxReceiptBytes = 1 << 20;
constexpr uint64_t kQuietNs = 2'000'000'000;

struct ProveArguments {
  StatementArguments statement;
  std::string config = "secure";
  std::string backend = "cpu";
  std::string threads = "0";
  std::string repeat = "0";
  std::string warmup = "0";
  std::string output;
  std::string report;
  std::string receipt;
  std::string transcript;
  bool force = false;
  bool json = false;
};

/// Sums the time of each stage; shows the current one on a terminal once the run gets long.
class StageClock final : public StageObserver {
 public:
  explicit StageClock(bool show) : show_(show), run_begin_(steady_ns()) {}
  ~StageClock() override { clear_line(); }

  void start_request(std::string label) {
    label_ = std::move(label);
    times_ = {};
  }
  void begin(Stage stage) override {
    begin_ = steady_ns();
    if (show_ && begin_ - run_begin_ > kQuietNs) {
      std::fprintf(stderr, "\r\x1b[K%s: %s", label_.c_str(),
                   std::string(stage_name(stage)).c_str());
      shown_ = true;
    }
  }
  void end(Stage stage) override { times_.ns[static_cast<size_t>(stage)] += steady_ns() - begin_; }
  const StageTimes& times() const { return times_; }
  void clear_line() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
    shown_ = false;
  }

 private:
  bool show_;
  bool shown_ = false;
  uint64_t run_begin_;
  uint64_t begin_ = 0;
  std::string label_;
  StageTimes times_;
};

struct Receipt {
  OracleReceipt oracle;
  std::string canonical_sha256;
};

/// Reads what the oracle prints for `verify --json`.
Receipt read_receipt(const std::string& path) {
  const std::string text = read_input_file(path, "oracle receipt", kMaxReceiptBytes);
  const auto fail = [&](const std::string& what) {
    throw FormatError("RECEIPT", "oracle receipt " + path + ": " + what +
                                     "; give the JSON that the oracle's verify --json prints");
  };
  // Depth-limited: a receipt is one flat object, and the parser's values recurse when destroyed.
  const auto flat = [](int depth, Json::parse_event_t, Json&) { return depth <= 2; };
  const Json j = Json::parse(text, flat, false);
  if (!j.is_object()) fail("not a JSON object");
  if (!j.contains("accepted") || !j["accepted"].is_boolean()) fail("no boolean \"accepted\"");
  for (const char* key : {"crate", "canonical_sha256"}) {
    if (!j.contains(key) || !j[key].is_string()) fail(std::string("no text \"") + key + "\"");
  }
  Receipt receipt;
  receipt.oracle.name = j["crate"].get<std::string>();
  receipt.oracle.accepted = j["accepted"].get<bool>();
  receipt.oracle.receipt_sha256 = sha256_hex(text);
  receipt.canonical_sha256 = j["canonical_sha256"].get<std::string>();
  return receipt;
}

/// Everything one run produces.
struct ProveResult {
  std::shared_ptr<const ProofShape> shape;
  std::string backend;
  std::string proof_json;
  std::string transcript;
  LifecycleTimes lifecycle;
  std::vector<RequestRecord> requests;
  MemoryPlan memory;
  std::optional<uint64_t> peak_rss;
};

/// One verified request. Returns the encoded proof.
std::string run_request(PreparedShape& prepared, StageClock& clock,
                        const TranscriptObserver& transcript, RequestRecord* record) {
  record->begin_ns = realtime_ns();
  const uint64_t t0 = steady_ns();
  record->resident_begin_ns = record->begin_ns;
  const StarkProof proof = prove(prepared, &clock, transcript);
  const uint64_t t1 = steady_ns();
  record->resident_end_ns = std::max(realtime_ns(), record->resident_begin_ns);
  std::string encoded = write_proof_json(proof);
  const uint64_t t2 = steady_ns();
  const StarkProof decoded = parse_proof_json(encoded);
  const uint64_t t3 = steady_ns();
  const VerifyResult result = verify(prepared.shape(), decoded);
  const uint64_t t4 = steady_ns();
  record->end_ns = std::max(realtime_ns(), record->resident_end_ns);
  if (!result.accepted()) {
    throw Error(ExitCode::kBug, "SELF_VERIFY",
                "a fresh proof of " + prepared.shape().statement.air + " does not verify (" +
                    std::string(reject_reason_name(result.reason)) + ": " + result.detail +
                    "); please report it with the command line");
  }
  record->resident_prove = t1 - t0;
  record->encode = t2 - t1;
  record->terminal_decode = t3 - t2;
  record->independent_verification = t4 - t3;
  record->verified_request = t4 - t0;
  record->stages = clock.times();
  record->canonical_sha256 = sha256_hex(encoded);
  return encoded;
}

ProveResult run_requests(const Statement& statement, const PcsConfig& config, uint32_t threads,
                         uint64_t warmup, uint64_t repeat, bool keep_transcript, bool progress) {
  ProveResult out;
  const uint64_t t0 = steady_ns();
  std::unique_ptr<Backend> backend = make_cpu_backend(threads);
  const uint64_t t1 = steady_ns();
  out.shape = make_shape(statement, config);
  std::unique_ptr<PreparedShape> prepared = backend->prepare(out.shape);
  const uint64_t t2 = steady_ns();
  out.backend = backend->description();
  out.memory = prepared->memory();

  StageClock clock(progress);
  const uint64_t n_requests = 1 + warmup + repeat;
  for (uint64_t i = 0; i < n_requests; ++i) {
    RequestRecord record;
    record.role = i == 0           ? RequestRole::kFirst
                  : i - 1 < warmup ? RequestRole::kWarmup
                                   : RequestRole::kSteady;
    clock.start_request("request " + std::to_string(i + 1) + " of " + std::to_string(n_requests));
    TranscriptObserver observer;
    if (keep_transcript && i == 0) {
      observer = [&](std::string_view step, const Digest& digest) {
        out.transcript += "step " + std::string(step) + " " + to_hex(digest) + "\n";
      };
    }
    std::string encoded = run_request(*prepared, clock, observer, &record);
    if (i == 0) {
      out.proof_json = std::move(encoded);
    } else if (record.canonical_sha256 != out.requests.front().canonical_sha256) {
      throw Error(ExitCode::kBug, "NONDETERMINISTIC",
                  "request " + std::to_string(i + 1) + " of " + statement.air +
                      " gave another proof than the first; please report it with the command line");
    }
    out.requests.push_back(std::move(record));
  }
  out.peak_rss = peak_rss_bytes();

  const uint64_t t3 = steady_ns();
  prepared.reset();
  backend.reset();
  const uint64_t t4 = steady_ns();
  out.lifecycle.process_start_to_main = process_start().process_start_to_main;
  out.lifecycle.runtime_init = t1 - t0;
  out.lifecycle.shape_prepare = t2 - t1;
  out.lifecycle.first_request = out.requests.front().verified_request;
  out.lifecycle.runtime_teardown = t4 - t3;
  out.lifecycle.total_before_publication =
      out.lifecycle.process_start_to_main.value_or(0) + (t4 - process_start().main_ns);
  return out;
}

/// The request whose times are shown: the median steady one, or the first.
const RequestRecord& shown_request(const std::vector<RequestRecord>& requests) {
  std::vector<const RequestRecord*> steady;
  for (const RequestRecord& r : requests) {
    if (r.role == RequestRole::kSteady) steady.push_back(&r);
  }
  if (steady.empty()) return requests.front();
  std::sort(steady.begin(), steady.end(),
            [](const auto* a, const auto* b) { return a->verified_request < b->verified_request; });
  return *steady[(steady.size() - 1) / 2];
}

std::string summary(const ProveResult& r, const ProveArguments& arguments) {
  const RequestRecord& shown = shown_request(r.requests);
  std::string out;
  out += "statement  " + describe_statement(r.shape->statement) + "\n";
  out += "config     " + describe_config(r.shape->config) + "\n";
  out += "trace      " + format_count(r.shape->trace_rows()) + " rows, " +
         format_count(r.shape->trace_cells()) + " cells, " + format_count(r.shape->n_constraints) +
         " constraints\n";
  out += "backend    cpu: " + r.backend + "\n\n";
  const uint64_t total = shown.stages.total();
  std::vector<std::vector<std::string>> rows;
  for (size_t s = 0; s < kStageCount; ++s) {
    const uint64_t ns = shown.stages.ns[s];
    rows.push_back({std::string(stage_name(static_cast<Stage>(s))), format_ms(ns),
                    format_percent(ns, total), bar(ns, total, 30)});
  }
  rows.push_back({"total", format_ms(total), "", ""});
  const bool steady = shown.role == RequestRole::kSteady;
  out += format_table(
      {steady ? "stage (median steady request)" : "stage (first request)", ">ms", ">share", ""},
      rows);
  out += "\nrequest    prove " + format_ms(shown.resident_prove) + " ms, encode " +
         format_ms(shown.encode) + ", decode " + format_ms(shown.terminal_decode) + ", verify " +
         format_ms(shown.independent_verification) + ", together " +
         format_ms(shown.verified_request) + " ms\n";
  out += "run        init " + format_ms(r.lifecycle.runtime_init) + " ms, prepare " +
         format_ms(r.lifecycle.shape_prepare) + ", first request " +
         format_ms(r.lifecycle.first_request) + ", " + std::to_string(r.requests.size()) +
         (r.requests.size() == 1 ? " request\n" : " requests, all with the same proof\n");
  out += "memory     " + format_bytes(r.memory.total()) + " planned";
  if (r.peak_rss) out += ", " + format_bytes(*r.peak_rss) + " peak resident";
  out += "\nproof      " + format_count(r.proof_json.size()) + " bytes, sha256 " +
         shown.canonical_sha256 + "\n";
  out += "verified   yes, by the independent verifier after decoding\n";
  out += "security   " + describe_security(r.shape->config) + "\n";
  out += "written    " + arguments.output;
  for (const std::string& path : {arguments.report, arguments.transcript}) {
    if (!path.empty()) out += ", " + path;
  }
  return out + "\n";
}

std::string summary_json(const ProveResult& r, const ProveArguments& arguments) {
  const RequestRecord& shown = shown_request(r.requests);
  const auto path_or_null = [](const std::string& p) { return p.empty() ? Json() : Json(p); };
  Json j;
  j["schema"] = "stwo_prove_v1";
  j["workload_id"] = workload_id(*r.shape);
  j["statement"] = Json::parse(write_statement_json(r.shape->statement));
  j["config"] = {{"name", config_name(r.shape->config)},
                 {"text", config_to_string(r.shape->config)}};
  j["security_bits"] = {{"heuristic", r.shape->config.heuristic_security_bits()},
                        {"proven", r.shape->config.proven_security_bits()}};
  j["backend"] = "cpu";
  j["backend_description"] = r.backend;
  j["verified"] = true;
  j["proof_bytes"] = r.proof_json.size();
  j["canonical_sha256"] = shown.canonical_sha256;
  j["requests"] = r.requests.size();
  j["shown_role"] = request_role_name(shown.role);
  j["verified_request_ns"] = shown.verified_request;
  j["resident_prove_ns"] = shown.resident_prove;
  for (size_t s = 0; s < kStageCount; ++s) {
    j["stage_ns"][std::string(stage_name(static_cast<Stage>(s)))] = shown.stages.ns[s];
  }
  j["output"] = arguments.output;
  j["report"] = path_or_null(arguments.report);
  j["transcript"] = path_or_null(arguments.transcript);
  return j.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string make_report(const ProveResult& r, const ProveArguments& arguments, uint32_t threads,
                        const std::optional<Receipt>& receipt) {
  ProductReport report;
  report.shape = r.shape;
  report.build = build_identity();
  report.binary_sha256 = binary_sha256();
  report.created_utc = utc_now();
  report.host.model_name = cpu_model_name();
  report.host.instruction_set = r.backend;
  report.host.logical_cpus = usable_cpus();
  report.host.threads = threads == 0 ? report.host.logical_cpus : threads;
  report.host.memory_bytes = physical_memory_bytes();
  report.host.peak_rss_bytes = r.peak_rss;
  report.proof_path = arguments.output;
  report.proof_bytes = r.proof_json.size();
  report.verified = true;
  if (receipt) report.oracle = receipt->oracle;
  report.lifecycle = r.lifecycle;
  report.requests = r.requests;
  report.memory = r.memory;
  std::string text = write_product_report(report);
  // A report that breaks its own rules must not leave the program.
  for (const ReportViolation& v : check_report(text)) {
    throw ContractError("own report: " + v.code + " " + v.path + ": " + v.message);
  }
  return text;
}

int run_prove(const ProveArguments& arguments) {
  // Everything that can be wrong is found before the work starts.
  if (arguments.backend == "cuda") {
    throw EnvironmentError("BACKEND_UNAVAILABLE",
                           "this build has no CUDA backend; use --backend cpu");
  }
  if (arguments.backend != "cpu") {
    throw UsageError("BACKEND", "backend '" + arguments.backend + "' is unknown; use cpu or cuda");
  }
  const Statement statement = arguments.statement.statement();
  const PcsConfig config = parse_config(arguments.config);
  const auto threads =
      static_cast<uint32_t>(parse_number("--threads", arguments.threads, 0, kMaxThreads));
  const uint64_t warmup = parse_number("--warmup", arguments.warmup, 0, kMaxRequests);
  const uint64_t repeat = parse_number("--repeat", arguments.repeat, 0, kMaxRequests);
  make_shape(statement, config);
  check_outputs_differ(arguments.output, arguments.report);
  check_outputs_differ(arguments.output, arguments.transcript);
  check_outputs_differ(arguments.report, arguments.transcript);
  check_output(arguments.output, arguments.force);
  for (const std::string& path : {arguments.report, arguments.transcript}) {
    if (!path.empty()) check_output(path, arguments.force);
  }
  std::optional<Receipt> receipt;
  if (!arguments.receipt.empty()) {
    if (arguments.report.empty()) {
      throw UsageError("USAGE", "--oracle-receipt goes into the report; give --report-out as well");
    }
    receipt = read_receipt(arguments.receipt);
  }

  const ProveResult result = run_requests(statement, config, threads, warmup, repeat,
                                          !arguments.transcript.empty(), ::isatty(STDERR_FILENO));
  const std::string& digest = result.requests.front().canonical_sha256;
  if (receipt && receipt->canonical_sha256 != digest) {
    throw FormatError("RECEIPT_MISMATCH", "oracle receipt " + arguments.receipt +
                                              " is about proof " + receipt->canonical_sha256 +
                                              ", this one is " + digest +
                                              "; run the oracle on this statement and config");
  }
  // The report is made first: if that fails, no proof without its report is left behind.
  std::string report;
  if (!arguments.report.empty()) report = make_report(result, arguments, threads, receipt);
  write_output(arguments.output,
               write_proof_file(result.shape->statement, config, result.proof_json),
               arguments.force);
  if (!arguments.report.empty()) write_output(arguments.report, report, arguments.force);
  if (!arguments.transcript.empty()) {
    write_output(arguments.transcript, result.transcript, arguments.force);
  }
  print(arguments.json ? summary_json(result, arguments) : summary(result, arguments));
  return 0;
}

}  // namespace

void add_prove_command(CLI::App& app, CommandRun* run) {
  auto a = std::make_shared<ProveArguments>();
  CLI::App* command = app.add_subcommand("prove", "Prove a statement and write the proof file");
  a->statement.add_to(*command, true);
  command
      ->add_option("--config", a->config,
                   "secure (default, 96 bits), fast (13 bits, for timing) or "
                   "pow=,blowup=,queries=,last=,fold=,lift=")
      ->option_text("CONFIG");
  command->add_option("--backend", a->backend, "cpu (default) or cuda")->option_text("NAME");
  command->add_option("--threads", a->threads, "worker threads; 0 (default): every usable core")
      ->option_text("T");
  command
      ->add_option("--warmup", a->warmup,
                   "requests between the first and the steady ones, default 0")
      ->option_text("W");
  command->add_option("--repeat", a->repeat, "steady requests after the first, default 0")
      ->option_text("R");
  command->add_option("--output", a->output, "proof file to write")
      ->required()
      ->option_text("FILE");
  command->add_option("--report-out", a->report, "product report to write")->option_text("FILE");
  command
      ->add_option("--oracle-receipt", a->receipt,
                   "the oracle's verdict on the same proof (its verify --json), for the report")
      ->option_text("FILE");
  command
      ->add_option("--transcript", a->transcript,
                   "file for the channel digest after every step of the first request")
      ->option_text("FILE");
  command->add_flag("--force", a->force, "replace existing outputs");
  command->add_flag("--json", a->json, "one JSON object instead of text");
  command->footer(
      "Every proof is decoded again and verified before anything is written.\n"
      "Examples:\n"
      "  stwo prove --air wide_fibonacci --log-n-rows 10 --sequence-len 100 --mix-config \\\n"
      "      --output proof.json\n"
      "  stwo prove --air wide_fibonacci --log-n-rows 16 --sequence-len 100 --config fast \\\n"
      "      --output proof.json\n"
      "  stwo prove --air wide_fibonacci --log-n-rows 16 --sequence-len 100 --warmup 2 --repeat 5 "
      "\\\n"
      "      --output proof.json --report-out report.json");
  command->callback([=] { *run = [=] { return run_prove(*a); }; });
}

}  // namespace stwo

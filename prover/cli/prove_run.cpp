#include "prover/cli/prove_run.hpp"

#include <algorithm>
#include <cstdio>

#include "prover/cli/arguments.hpp"
#include "prover/cli/system_info.hpp"
#include "prover/errors.hpp"
#include "prover/hash/hex.hpp"
#include "prover/hash/sha256.hpp"
#include "prover/proof/proof_json.hpp"
#include "prover/prove.hpp"
#include "prover/verify.hpp"

namespace stwo {
namespace {

constexpr uint64_t kQuietNs = 2'000'000'000;

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

}  // namespace

ProveResult run_requests(const ProveBackend& asked, const Statement& statement,
                         const PcsConfig& config, const RunOptions& options) {
  ProveResult out;
  out.host_threads = asked.host_threads;
  const uint64_t t0 = steady_ns();
  std::unique_ptr<Backend> backend = asked.make();
  const uint64_t t1 = steady_ns();
  out.backend = backend->name();
  out.description = backend->description();
  STWO_CHECK(out.backend == asked.name,
             "backend " + asked.name + " was asked for, " + out.backend + " was made");
  out.shape = make_shape(statement, config);
  std::unique_ptr<PreparedShape> prepared = backend->prepare(out.shape);
  const uint64_t t2 = steady_ns();
  out.memory = prepared->memory();

  StageClock clock(options.progress);
  const uint64_t n_requests = 1 + options.warmup + options.repeat;
  for (uint64_t i = 0; i < n_requests; ++i) {
    RequestRecord record;
    record.role = i == 0                   ? RequestRole::kFirst
                  : i - 1 < options.warmup ? RequestRole::kWarmup
                                           : RequestRole::kSteady;
    clock.start_request("request " + std::to_string(i + 1) + " of " + std::to_string(n_requests));
    TranscriptObserver observer;
    if (options.keep_transcript && i == 0) {
      observer = [&](std::string_view step, const Digest& digest) {
        out.transcript += "step " + std::string(step) + " " + to_hex(digest) + "\n";
      };
    }
    std::string encoded = run_request(*prepared, clock, observer, &record);
    // After the request's own clock has stopped: reading the device's events takes time.
    if (backend->telemetry() != nullptr) record.device = backend->telemetry()->last_request();
    if (i == 0) {
      out.proof_json = std::move(encoded);
    } else if (record.canonical_sha256 != out.requests.front().canonical_sha256) {
      throw Error(ExitCode::kBug, "NONDETERMINISTIC",
                  "request " + std::to_string(i + 1) + " of " + statement.air +
                      " gave another proof than the first; please report it with the command line");
    }
    out.requests.push_back(std::move(record));
  }
  if (backend->telemetry() != nullptr) out.device = backend->telemetry()->device_report();
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

}  // namespace stwo

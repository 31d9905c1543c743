// stwo prove: proves a statement, checks every proof it makes and writes proof, report, transcript.

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "prover/cli/arguments.hpp"
#include "prover/cli/cuda_support.hpp"
#include "prover/cli/output_file.hpp"
#include "prover/cli/prove_run.hpp"
#include "prover/cli/prove_summary.hpp"
#include "prover/cli/system_info.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/cpu/cpu_backend.hpp"
#include "prover/errors.hpp"
#include "prover/hash/sha256.hpp"
#include "prover/proof/proof_file.hpp"

namespace stwo {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kMaxRequests = 1'000'000;
constexpr uint64_t kMaxThreads = 4096;
constexpr uint64_t kMaxReceiptBytes = 1 << 20;

struct ProveArguments {
  StatementArguments statement;
  std::string config = "secure";
  std::string backend = "cpu";
  std::optional<std::string> threads;
  std::optional<std::string> device;
  std::optional<std::string> cubin_dir;
  bool allow_ptx = false;
  std::string repeat = "0";
  std::string warmup = "0";
  ProveOutputs outputs;
  std::string receipt;
  bool force = false;
  bool json = false;
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

/// The backend the options describe. Options of the other one are refused: ignoring them would hide
/// what was measured.
ProveBackend chosen_backend(const ProveArguments& arguments) {
  const auto refuse = [&](bool given, const std::string& option, const std::string& backend) {
    if (given) {
      throw UsageError("USAGE", option + " belongs to --backend " + backend +
                                    "; leave it out or choose that backend");
    }
  };
  ProveBackend out;
  out.name = arguments.backend;
  if (arguments.backend == "cpu") {
    refuse(arguments.device.has_value(), "--device", "cuda");
    refuse(arguments.cubin_dir.has_value(), "--cubin-dir", "cuda");
    refuse(arguments.allow_ptx, "--allow-ptx", "cuda");
    const auto threads = static_cast<uint32_t>(
        parse_number("--threads", arguments.threads.value_or("0"), 0, kMaxThreads));
    out.make = [threads] { return make_cpu_backend(threads); };
    out.host_threads = threads == 0 ? usable_cpus() : threads;
    return out;
  }
  if (arguments.backend == "cuda") {
    refuse(arguments.threads.has_value(), "--threads", "cpu");
    CudaCliOptions options;
    options.device = parse_device(arguments.device.value_or("0"));
    options.allow_ptx = arguments.allow_ptx;
    if (arguments.cubin_dir) {
      if (arguments.cubin_dir->empty()) {
        throw UsageError("USAGE", "--cubin-dir is empty; give the directory of the cubins");
      }
      options.cubin_dir = *arguments.cubin_dir;
    }
    out.make = [options] { return make_cuda_backend_for_cli(options); };
    return out;
  }
  throw UsageError("BACKEND", "backend '" + arguments.backend + "' is unknown; use cpu or cuda");
}

int run_prove(const ProveArguments& arguments) {
  // Everything that can be wrong is found before the work starts.
  const ProveBackend backend = chosen_backend(arguments);
  const Statement statement = arguments.statement.statement();
  const PcsConfig config = parse_config(arguments.config);
  RunOptions options;
  options.warmup = parse_number("--warmup", arguments.warmup, 0, kMaxRequests);
  options.repeat = parse_number("--repeat", arguments.repeat, 0, kMaxRequests);
  options.keep_transcript = !arguments.outputs.transcript.empty();
  options.progress = ::isatty(STDERR_FILENO) != 0;
  make_shape(statement, config);
  const ProveOutputs& outputs = arguments.outputs;
  check_outputs_differ(outputs.proof, outputs.report);
  check_outputs_differ(outputs.proof, outputs.transcript);
  check_outputs_differ(outputs.report, outputs.transcript);
  check_output(outputs.proof, arguments.force);
  for (const std::string& path : {outputs.report, outputs.transcript}) {
    if (!path.empty()) check_output(path, arguments.force);
  }
  std::optional<Receipt> receipt;
  if (!arguments.receipt.empty()) {
    if (outputs.report.empty()) {
      throw UsageError("USAGE", "--oracle-receipt goes into the report; give --report-out as well");
    }
    receipt = read_receipt(arguments.receipt);
  }

  const ProveResult result = run_requests(backend, statement, config, options);
  const std::string& digest = result.requests.front().canonical_sha256;
  if (receipt && receipt->canonical_sha256 != digest) {
    throw FormatError("RECEIPT_MISMATCH", "oracle receipt " + arguments.receipt +
                                              " is about proof " + receipt->canonical_sha256 +
                                              ", this one is " + digest +
                                              "; run the oracle on this statement and config");
  }
  // The report is made first: if that fails, no proof without its report is left behind.
  std::string report;
  if (!outputs.report.empty()) {
    report = prove_report(result, outputs, receipt ? std::optional(receipt->oracle) : std::nullopt);
  }
  write_output(outputs.proof, write_proof_file(result.shape->statement, config, result.proof_json),
               arguments.force);
  if (!outputs.report.empty()) write_output(outputs.report, report, arguments.force);
  if (!outputs.transcript.empty()) {
    write_output(outputs.transcript, result.transcript, arguments.force);
  }
  print(arguments.json ? prove_summary_json(result, outputs) : prove_summary(result, outputs));
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
  command
      ->add_option("--threads", a->threads,
                   "worker threads of the CPU backend; 0 (default): every usable core")
      ->option_text("T");
  command->add_option("--device", a->device, "number of the device, default 0")
      ->option_text("N")
      ->group("CUDA");
  command
      ->add_option("--cubin-dir", a->cubin_dir,
                   "directory of the compiled kernels, default the build's own")
      ->option_text("DIR")
      ->group("CUDA");
  command
      ->add_flag("--allow-ptx", a->allow_ptx,
                 "compile PTX where no kernel fits the device; such runs say nothing about speed")
      ->group("CUDA");
  command
      ->add_option("--warmup", a->warmup,
                   "requests between the first and the steady ones, default 0")
      ->option_text("W");
  command->add_option("--repeat", a->repeat, "steady requests after the first, default 0")
      ->option_text("R");
  command->add_option("--output", a->outputs.proof, "proof file to write")
      ->required()
      ->option_text("FILE");
  command->add_option("--report-out", a->outputs.report, "product report to write")
      ->option_text("FILE");
  command
      ->add_option("--oracle-receipt", a->receipt,
                   "the oracle's verdict on the same proof (its verify --json), for the report")
      ->option_text("FILE");
  command
      ->add_option("--transcript", a->outputs.transcript,
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
      "      --output proof.json --report-out report.json\n"
      "  stwo prove --air wide_fibonacci --log-n-rows 20 --sequence-len 100 --backend cuda \\\n"
      "      --device 0 --warmup 10 --repeat 5 --output proof.json --report-out report.json");
  command->callback([=] { *run = [=] { return run_prove(*a); }; });
}

}  // namespace stwo

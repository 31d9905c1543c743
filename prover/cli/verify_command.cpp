// stwo verify: does this proof file prove its statement, at a level the caller chose?

#include <nlohmann/json.hpp>

#include "prover/cli/arguments.hpp"
#include "prover/cli/console.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"
#include "prover/verify.hpp"

namespace stwo {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kMaxSecurityBits = 1 << 20;

struct VerifyArguments {
  std::string file;
  std::string config = "secure";
  std::string min_security_bits;
  bool json = false;
};

struct Verdict {
  bool accepted = false;
  std::string reason;
  std::string detail;
};

/// The level is the caller's: a proof must never choose how hard it is to forge.
Verdict check_level(const VerifyArguments& arguments, const PcsConfig& config) {
  if (arguments.min_security_bits.empty()) {
    const PcsConfig own = parse_config(arguments.config);
    if (config == own) return {true, "", ""};
    return {false, std::string(reject_reason_name(RejectReason::kConfigMismatch)),
            "expected " + describe_config(own) + ", the file has " + describe_config(config)};
  }
  const uint64_t wanted =
      parse_number("--min-security-bits", arguments.min_security_bits, 0, kMaxSecurityBits);
  try {
    check_config(config);
  } catch (const UsageError& e) {
    return {false, "config_out_of_range", e.what()};
  }
  if (config.heuristic_security_bits() < wanted) {
    return {false, "security_bits_too_low",
            "expected at least " + std::to_string(wanted) + " bits heuristic, the file has " +
                std::to_string(config.heuristic_security_bits())};
  }
  return {true, "", ""};
}

Verdict check_proof(const ProofFile& file) {
  std::shared_ptr<const ProofShape> shape;
  try {
    shape = make_shape(file.statement, file.config);
  } catch (const UsageError& e) {
    return {false, "statement_not_provable", e.what()};
  }
  const VerifyResult result = verify(*shape, file.proof);
  return {result.accepted(), std::string(reject_reason_name(result.reason)), result.detail};
}

Json config_object(const PcsConfig& config) {
  return {{"name", config_name(config)}, {"text", config_to_string(config)}};
}

int run_verify(const VerifyArguments& arguments) {
  // Wrong options are reported before the file is read.
  if (arguments.min_security_bits.empty()) {
    check_config(parse_config(arguments.config));
  } else {
    parse_number("--min-security-bits", arguments.min_security_bits, 0, kMaxSecurityBits);
  }
  const LoadedProofFile loaded = read_proof_file(arguments.file);
  const ProofFile& file = loaded.file;
  check_file_statement(arguments.file, file.statement);
  // Numbers outside their range could make the bit counts meaningless.
  bool in_range = true;
  try {
    check_config(file.config);
  } catch (const UsageError&) {
    in_range = false;
  }
  Verdict verdict = check_level(arguments, file.config);
  if (verdict.accepted) verdict = check_proof(file);

  if (arguments.json) {
    Json parameters = Json::object();
    for (const auto& [name, value] : file.statement.parameters) parameters[name] = value;
    Json out;
    out["schema"] = "stwo_verify_v1";
    out["accepted"] = verdict.accepted;
    out["reason"] = verdict.accepted ? "accepted" : verdict.reason;
    out["detail"] = verdict.accepted ? "" : verdict.detail;
    out["statement"] = {{"air", file.statement.air},
                        {"channel", channel_name(file.statement.channel)},
                        {"mix_config", file.statement.mix_config},
                        {"parameters", parameters}};
    out["config"] = config_object(file.config);
    out["security_bits"] = {
        {"heuristic", in_range ? Json(file.config.heuristic_security_bits()) : Json(nullptr)},
        {"proven", in_range ? Json(file.config.proven_security_bits()) : Json(nullptr)}};
    out["proof_bytes"] = loaded.proof_bytes;
    out["canonical_sha256"] = loaded.canonical_sha256;
    print(out.dump() + "\n");
  } else {
    std::string out = verdict.accepted ? "accepted\n" : "rejected: " + verdict.reason;
    if (!verdict.accepted) out += verdict.detail.empty() ? "\n" : ": " + verdict.detail + "\n";
    out += "statement  " + describe_statement(file.statement) + "\n";
    out += "config     " + describe_config(file.config) + "\n";
    out += "security   " +
           (in_range ? describe_security(file.config)
                     : std::string("unknown, the config is out of range")) +
           "\n";
    if (!file.statement.mix_config && !arguments.min_security_bits.empty()) {
      out += "note       the transcript does not bind the config; fix it with --config\n";
    }
    out += "proof      " + format_count(loaded.proof_bytes) + " bytes, sha256 " +
           loaded.canonical_sha256 + "\n";
    print(out);
  }
  return static_cast<int>(verdict.accepted ? ExitCode::kDone : ExitCode::kNegative);
}

}  // namespace

void add_verify_command(CLI::App& app, CommandRun* run) {
  auto arguments = std::make_shared<VerifyArguments>();
  CLI::App* command = app.add_subcommand("verify", "Verify a proof file");
  command->add_option("file", arguments->file, "proof file written by `stwo prove`")
      ->required()
      ->option_text("FILE");
  auto* config =
      command
          ->add_option("--config", arguments->config,
                       "the config the proof must have, exactly: secure (default), fast or "
                       "pow=,blowup=,queries=,last=,fold=,lift=")
          ->option_text("CONFIG");
  command
      ->add_option("--min-security-bits", arguments->min_security_bits,
                   "accept any config of at least N heuristic bits instead")
      ->option_text("N")
      ->excludes(config);
  command->add_flag("--json", arguments->json, "one JSON object instead of text");
  command->footer(
      "Exit codes: 0 accepted, 1 rejected, 3 not a valid proof file.\n"
      "The level is never taken from the proof.\n"
      "Examples:\n"
      "  stwo verify proof.json\n"
      "  stwo verify proof.json --config fast\n"
      "  stwo verify proof.json --min-security-bits 96 --json");
  command->callback([=] { *run = [=] { return run_verify(*arguments); }; });
}

}  // namespace stwo

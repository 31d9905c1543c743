// Small statements with their proofs, and the verdict on a proof file as a whole.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "prover/cpu/cpu_backend.hpp"
#include "prover/errors.hpp"
#include "prover/proof/proof_file.hpp"
#include "prover/prove.hpp"
#include "prover/shape.hpp"
#include "prover/verify.hpp"

namespace stwo::test {

struct ProofCase {
  std::string name;
  Statement statement;
  PcsConfig config;
};

inline ProofCase proof_case(std::string name, std::string air, HashVariant channel, bool mix_config,
                            std::vector<std::pair<std::string, uint64_t>> parameters,
                            std::string_view config) {
  return {std::move(name),
          {std::move(air), channel, mix_config, std::move(parameters)},
          parse_config(config)};
}

/// One of each kind: AIR, channel, packed and plain FRI leaves, empty and filled tree 0, lifting.
/// Every constrained column is told apart by its constraints (four columns or more), so that a
/// change of any sampled value breaks the composition identity.
inline std::vector<ProofCase> small_cases() {
  const auto blake = HashVariant::kBlake2s;
  const auto m31 = HashVariant::kBlake2sM31;
  return {
      proof_case("plain", "wide_fibonacci", blake, false, {{"log_n_rows", 4}, {"sequence_len", 4}},
                 "pow=10,blowup=1,queries=3"),
      proof_case("packed", "wide_fibonacci", m31, true, {{"log_n_rows", 7}, {"sequence_len", 5}},
                 "pow=8,blowup=2,queries=4,last=1,fold=3"),
      proof_case("pair", "wide_fibonacci_pair", blake, true,
                 {{"log_n_rows", 6},
                  {"sequence_len", 4},
                  {"second_log_n_rows", 4},
                  {"second_sequence_len", 5},
                  {"second_enabled", 1}},
                 "pow=9,blowup=1,queries=5,last=2,fold=2"),
      proof_case("pair_disabled", "wide_fibonacci_pair", m31, false,
                 {{"log_n_rows", 5},
                  {"sequence_len", 4},
                  {"second_log_n_rows", 8},
                  {"second_sequence_len", 4},
                  {"second_enabled", 0}},
                 "pow=10,blowup=3,queries=2,fold=4"),
      proof_case("seq_tall_tree_0", "wide_fibonacci_seq", m31, true,
                 {{"log_n_rows", 5}, {"sequence_len", 4}, {"unused_log_n_rows", 7}},
                 "pow=10,blowup=1,queries=6,fold=2"),
      proof_case("seq_lifted", "wide_fibonacci_seq", blake, true,
                 {{"log_n_rows", 4}, {"sequence_len", 6}, {"unused_log_n_rows", 5}},
                 "pow=7,blowup=2,queries=4,last=3,fold=1,lift=9"),
  };
}

inline StarkProof make_proof(std::shared_ptr<const ProofShape> shape,
                             const TranscriptObserver& transcript = {}) {
  const auto backend = make_cpu_backend(1);
  const auto prepared = backend->prepare(std::move(shape));
  return prove(*prepared, nullptr, transcript);
}

inline ProofFile make_proof_file(const ProofCase& c) {
  const auto shape = make_shape(c.statement, c.config);
  return {shape->statement, c.config, make_proof(shape)};
}

/// What a verifier that insists on `config` says to the bytes of a proof file: "accepted", the name
/// of a reject reason, "statement" for statements that are incomplete or can't be proven under the
/// config, or "parse:" and the code of the error.
inline std::string verdict(std::string_view bytes, const PcsConfig& config) {
  ProofFile file;
  try {
    file = parse_proof_file(bytes);
  } catch (const FormatError& e) {
    return "parse:" + e.code();
  }
  if (file.config != config) {
    return std::string(reject_reason_name(RejectReason::kConfigMismatch));
  }
  std::shared_ptr<const ProofShape> shape;
  try {
    shape = make_shape(file.statement, config);
  } catch (const UsageError&) {
    return "statement";
  }
  // Files carry complete statements, in order.
  if (shape->statement != file.statement) return "statement";
  return std::string(reject_reason_name(verify(*shape, file.proof).reason));
}

}  // namespace stwo::test

// The proof file: statement, config and proof in one compact JSON object, keys in this order:
//   {"schema":"stwo_cuda_proof_v1",
//    "statement":{"air":..,"channel":..,"mix_config":..,"parameters":{..}},
//    "config":{..},"proof":{..}}
// followed by one newline. The config is what the prover claims; a verifier brings its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "prover/air/statement.hpp"
#include "prover/proof/proof.hpp"

namespace stwo {

inline constexpr std::string_view kProofFileSchema = "stwo_cuda_proof_v1";
/// Larger files are refused before they are read.
inline constexpr uint64_t kMaxProofFileBytes = uint64_t{1} << 30;

struct ProofFile {
  Statement statement;
  PcsConfig config;
  StarkProof proof;
  friend bool operator==(const ProofFile&, const ProofFile&) = default;
};

/// Parameters are written in the order they have in the statement.
std::string write_proof_file(const ProofFile& file);
/// The same around a proof that is already encoded by write_proof_json.
std::string write_proof_file(const Statement& statement, const PcsConfig& config,
                             std::string_view proof_json);
/// The statement object alone; its SHA-256 names the statement in reports.
std::string write_statement_json(const Statement& statement);

/// Accepts exactly what write_proof_file writes; the trailing newline may be missing. Does not know
/// AIRs: names and parameters are checked for form only, see Air::complete.
/// `proof_bytes`, if given, is set to the view of the proof object within `bytes`.
/// Throws FormatError.
ProofFile parse_proof_file(std::string_view bytes, std::string_view* proof_bytes = nullptr);

/// Whole content of a regular file of 1..max_bytes bytes. Throws UsageError if there is no such
/// file or it can't be opened, FormatError if it is no regular file, empty or too large,
/// EnvironmentError if reading fails. `what` names the file's role in messages.
std::string read_input_file(const std::string& path, std::string_view what, uint64_t max_bytes);

struct LoadedProofFile {
  ProofFile file;
  uint64_t proof_bytes = 0;      ///< size of the proof object
  std::string canonical_sha256;  ///< of the proof object's bytes
};
/// Reads and parses; messages name the path.
LoadedProofFile read_proof_file(const std::string& path, uint64_t max_bytes = kMaxProofFileBytes);

}  // namespace stwo

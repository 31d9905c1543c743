// The proof as JSON: the exact bytes serde_json writes for the crate's StarkProof, and a reader
// that accepts nothing else. One proof has one encoding, so its SHA-256 names it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "prover/proof/canonical_reader.hpp"
#include "prover/proof/proof.hpp"

namespace stwo {

/// Compact JSON, keys in the crate's order.
std::string write_proof_json(const StarkProof& proof);

/// Reads what write_proof_json writes and nothing else: no white space, fixed key order, canonical
/// integers, field elements below P, bytes at most 255, config numbers within 32 bits.
/// Memory is bounded by a small multiple of the input. Whether the proof has the right sizes for a
/// statement is the verifier's question. Throws FormatError with JSON path and byte offset.
StarkProof parse_proof_json(std::string_view bytes);

/// A key of the proof object and the bytes its value takes.
struct ProofSection {
  std::string_view name;
  uint64_t bytes = 0;
};
/// Sizes of the proof's parts in the encoding, in order.
std::vector<ProofSection> proof_sections(const StarkProof& proof);

/// The same for the config object alone; used by the proof file's own config.
std::string write_config_json(const PcsConfig& config);
PcsConfig read_config(CanonicalReader& reader);
/// Reads a proof object at the reader's position.
StarkProof read_proof(CanonicalReader& reader);

}  // namespace stwo

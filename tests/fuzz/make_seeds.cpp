// Writes the seeds of fuzz_parse_verify into a folder: good proof files of every kind, and the same
// with one part changed by structure, so that a fuzzer starts behind every check of the verifier
// and not only behind the parser's.
//
//   stwo_fuzz_seeds FOLDER

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "prover/errors.hpp"
#include "prover/proof/proof_file.hpp"
#include "tests/support/proofs.hpp"

namespace stwo {
namespace {

using Change = std::function<void(ProofFile&)>;

/// Keeps a fuzzer's executions fast: no proof of work, few queries.
std::vector<test::ProofCase> seed_cases() {
  std::vector<test::ProofCase> cases = test::small_cases();
  for (test::ProofCase& c : cases) {
    c.config.pow_bits = 0;
    c.config.fri.n_queries = 2;
  }
  return cases;
}

/// With pow_bits = 0 any change behind the last transcript step reaches the opening checks.
std::vector<std::pair<std::string, Change>> changes() {
  const QM31 one = QM31::one();
  return {
      {"good", [](ProofFile&) {}},
      {"root", [](ProofFile& f) { f.proof.commitments[1][0] ^= 1; }},
      {"sample", [=](ProofFile& f) { f.proof.sampled_values[1][0][0] += one; }},
      {"no_sample", [](ProofFile& f) { f.proof.sampled_values[1][0].clear(); }},
      {"no_tree", [](ProofFile& f) { f.proof.decommitments.pop_back(); }},
      {"no_column", [](ProofFile& f) { f.proof.queried_values[2].pop_back(); }},
      {"value", [](ProofFile& f) { f.proof.queried_values[1][0][0] += M31(1); }},
      {"short_witness", [](ProofFile& f) { f.proof.decommitments[1].hash_witness.pop_back(); }},
      {"long_witness", [](ProofFile& f) { f.proof.decommitments[2].hash_witness.emplace_back(); }},
      {"nonce", [](ProofFile& f) { f.proof.proof_of_work = UINT64_MAX; }},
      {"fri_value", [=](ProofFile& f) { f.proof.fri_proof.first_layer.fri_witness[0] += one; }},
      {"fri_short", [](ProofFile& f) { f.proof.fri_proof.first_layer.fri_witness.pop_back(); }},
      {"fri_root", [](ProofFile& f) { f.proof.fri_proof.first_layer.commitment.fill(0); }},
      {"fri_last", [=](ProofFile& f) { f.proof.fri_proof.last_layer_poly.coeffs.back() += one; }},
      {"config", [](ProofFile& f) { f.proof.config.fri.fold_step += 1; }},
      {"statement", [](ProofFile& f) { f.statement.parameters[0].second += 1; }},
  };
}

void write_seeds(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const test::ProofCase& c : seed_cases()) {
    const ProofFile good = test::make_proof_file(c);
    for (const auto& [name, change] : changes()) {
      ProofFile file = good;
      change(file);
      std::ofstream out(folder / (c.name + "_" + name + ".json"), std::ios::binary);
      out << write_proof_file(file);
      if (!out.flush()) throw EnvironmentError("OUTPUT", "can't write to " + folder.string());
    }
  }
}

}  // namespace
}  // namespace stwo

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: stwo_fuzz_seeds FOLDER\n");
    return static_cast<int>(stwo::ExitCode::kUsage);
  }
  try {
    stwo::write_seeds(argv[1]);
  } catch (const stwo::Error& e) {
    std::fprintf(stderr, "stwo_fuzz_seeds: %s\n", e.what());
    return static_cast<int>(e.exit_code());
  }
}

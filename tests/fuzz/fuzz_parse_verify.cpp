// libFuzzer target: whatever the bytes, parsing and verifying a proof file ends with a verdict, in
// bounded memory, without undefined behaviour.
//
// A file whose statement asks for a large instance is parsed and its shape derived, no more: the
// verifier recomputes the preprocessed tree, which takes as long as the statement says.
//
//   stwo_fuzz_seeds CORPUS && stwo_fuzz_parse_verify CORPUS

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "prover/errors.hpp"
#include "prover/proof/proof_file.hpp"
#include "prover/shape.hpp"
#include "prover/verify.hpp"

namespace stwo {
namespace {

constexpr uint64_t kMaxLogSize = 10;
constexpr uint64_t kMaxParameter = 64;

/// Are all numbers of the statement small enough to derive a shape for every input?
bool small_statement(const Statement& s) {
  return std::all_of(s.parameters.begin(), s.parameters.end(),
                     [](const auto& p) { return p.second <= kMaxParameter; });
}

bool small_shape(const ProofShape& shape) {
  return std::all_of(shape.trees.begin(), shape.trees.end(),
                     [](const TreeShape& t) { return t.height <= kMaxLogSize; });
}

void run(std::string_view bytes) {
  ProofFile file;
  try {
    file = parse_proof_file(bytes);
  } catch (const FormatError&) {
    return;
  }
  // One encoding per value.
  std::string_view text = bytes;
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::string again = write_proof_file(file);
  again.pop_back();
  if (again != text) std::abort();

  if (!small_statement(file.statement)) return;
  std::shared_ptr<const ProofShape> shape;
  try {
    shape = make_shape(file.statement, file.config);
  } catch (const UsageError&) {
    return;
  }
  if (!small_shape(*shape)) return;
  // Any exception from here on is a bug and ends the run.
  verify(*shape, file.proof);
}

}  // namespace
}  // namespace stwo

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  stwo::run({reinterpret_cast<const char*>(data), size});
  return 0;
}

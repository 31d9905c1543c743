// The command line of a build without the CUDA backend.
#include "prover/cli/cuda_support.hpp"
#include "prover/errors.hpp"

namespace stwo {
namespace {

[[noreturn]] void unavailable(const std::string& instead = "") {
  throw EnvironmentError("BACKEND_UNAVAILABLE",
                         "this build has no CUDA backend; configure with -DSTWO_CUDA=ON, which "
                         "needs the CUDA toolkit" +
                             instead);
}

}  // namespace

std::unique_ptr<Backend> make_cuda_backend_for_cli(const CudaCliOptions& /*options*/) {
  unavailable(", or use --backend cpu");
}

std::string inspect_plan(const std::shared_ptr<const ProofShape>& /*shape*/,
                         const PlanTarget& /*target*/, bool /*json*/) {
  unavailable();
}

int run_research_compile(const ResearchCompileOptions& /*options*/) { unavailable(); }

}  // namespace stwo

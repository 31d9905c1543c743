// What the command line needs from the CUDA backend, without a CUDA type. Two implementations: with
// the backend (cuda_support.cpp, STWO_CUDA=ON), and without it (cuda_support_none.cpp), where
// everything here throws EnvironmentError BACKEND_UNAVAILABLE.
//
// All of them throw EnvironmentError, exit code 4, for what the machine lacks: no driver, no such
// device, an SM without kernels, too little memory. None falls back to the CPU.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "prover/backend.hpp"
#include "prover/shape.hpp"

namespace stwo {

/// Options of a backend.
struct CudaCliOptions {
  uint32_t device = 0;
  /// Load PTX where there is no cubin for the device. Such runs are labelled and never compared.
  bool allow_ptx = false;
  /// Where the cubins are. Empty: where the build or installation put them.
  std::string cubin_dir;
};

/// Its name() is "cuda" and it has telemetry(). Device and kernels are checked here, memory in
/// prepare(): all before a request.
std::unique_ptr<Backend> make_cuda_backend_for_cli(const CudaCliOptions& options);

/// For which device a plan is compiled: one that is there, or one that is only described.
struct PlanTarget {
  uint32_t device = 0;
  /// Compute capability as a number, 90 for 9.0: no device is touched.
  std::optional<uint32_t> described_sm;
};

/// The plan of a shape as text for people or as one JSON object; ends with a newline.
std::string inspect_plan(const std::shared_ptr<const ProofShape>& shape, const PlanTarget& target,
                         bool json);

/// Compiles one component's constraints at run time, outside any proof.
struct ResearchCompileOptions {
  Statement statement;
  std::string component;  ///< name of a component of the statement
  uint32_t sm = 0;        ///< 90 for 9.0
  std::string output;     ///< existing, writable directory
  bool force = false;     ///< replace files in it
  std::string nvrtc;      ///< library to load; empty: the system's
  /// Run the result there and compare it with the CPU. Unset: compile only.
  std::optional<uint32_t> device;
  bool json = false;
};

/// Prints what was made and returns the exit code.
int run_research_compile(const ResearchCompileOptions& options);

}  // namespace stwo

// Does a generated kernel compute what its program says? Random rows go through the kernel,
// wherever it runs, and through the program's own evaluation on the host.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "prover/air/constraint_program.hpp"

namespace stwo::gpu {

/// Host data of one launch; see ResearchKernelArgs.
struct ParityInput {
  /// In the order of research_columns(); 2^domain_log_size values each.
  std::vector<std::vector<uint32_t>> columns;
  std::vector<uint32_t> weights;  ///< four words a constraint
  uint64_t n_rows = 0;
  std::array<uint32_t, 2> inverse_vanishing{};
  uint32_t trace_log_size = 0;
  uint32_t domain_log_size = 0;
};
/// Coordinates of the quotient, n_rows words each.
using ParityOutput = std::array<std::vector<uint32_t>, 4>;

/// Random columns (the field's edges among them), weights and vanishing values; the same for the
/// same seed.
ParityInput parity_input(const ConstraintProgram& program, uint32_t trace_log_size,
                         uint32_t domain_log_size, uint64_t seed);
/// What the program's evaluation gives.
ParityOutput expected_output(const ConstraintProgram& program, const ParityInput& input);

/// Runs a kernel on some device.
class ParityRunner {
 public:
  virtual ~ParityRunner() = default;
  /// For the identity, e.g. "NVIDIA H200".
  virtual std::string device() const = 0;
  virtual uint32_t sm() const = 0;
  /// Loads the cubin, launches the kernel once with `threads` a block and returns its output, which
  /// must be poisoned before. Throws when the device fails.
  virtual ParityOutput run(std::span<const uint8_t> cubin, const std::string& kernel,
                           uint32_t threads, const ParityInput& input) = 0;
};

/// A generated text compiled for the host: NAME_rows.
using HostRows = void (*)(const void* args, unsigned long long begin, unsigned long long end);
ParityOutput run_host_rows(HostRows rows, const ParityInput& input);

struct ParityResult {
  uint64_t rows = 0;        ///< compared
  uint64_t mismatches = 0;  ///< rows that differ
  std::string first_mismatch;
};
inline constexpr uint64_t kParitySeed = 0x7374776f;
/// Compares over several sizes, the smallest ones and sizes beyond a block among them. An output of
/// the wrong length counts as wrong in every row.
ParityResult check_parity(const ConstraintProgram& program,
                          const std::function<ParityOutput(const ParityInput&)>& run,
                          uint64_t seed = kParitySeed);

}  // namespace stwo::gpu

// Composition kernels as text: a recorded constraint program written out as straight-line CUDA. The
// text includes nothing, so that the run-time compiler needs no files, and is also plain C++, so
// that the same text is tested on the host. For research and for trying new AIRs; kernels that
// prove are compiled ahead of time (kernels/air).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "prover/air/constraint_program.hpp"

namespace stwo::gpu {

/// Changes whenever the text for an unchanged program does.
inline constexpr uint32_t kResearchCodegenVersion = 1;

struct CodegenOptions {
  /// Component's name: lower-case letters, digits and underscores, a letter first. Part of every
  /// symbol, so that several texts can be linked together.
  std::string name;
  /// Threads a block, a multiple of 32 up to 1024.
  uint32_t threads = 256;
};

/// A column the kernel reads.
struct ResearchColumn {
  bool preprocessed = false;
  uint32_t tree = 0;    ///< trace columns
  uint32_t column = 0;  ///< in the component; of a preprocessed column: index into preprocessed_ids
};
/// Order of ResearchKernelArgs::columns: trees from 1, columns in order, then preprocessed ids.
std::vector<ResearchColumn> research_columns(const ConstraintProgram& program);

/// Name of the kernel in the text (C linkage). The host text has NAME_rows(args, begin, end) too.
std::string research_kernel_name(std::string_view component);

/// The kernel as CUDA and C++ source, the same on every machine. It sums weight_k constraint_k over
/// the row and multiplies by the inverse vanishing value of the row's block, see
/// ResearchKernelArgs. Throws UsageError for a name or thread count that cannot be used,
/// ContractError for a program that breaks its own invariants.
std::string generate_constraint_kernel(const ConstraintProgram& program,
                                       const CodegenOptions& options);

}  // namespace stwo::gpu

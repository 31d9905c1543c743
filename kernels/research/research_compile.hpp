// `stwo research compile`: text, cubin and identity of one component's composition kernel. Nothing
// made here is loaded by a proof. A module may be promoted to the kernels that are built ahead of
// time only after a device has confirmed it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/research/codegen.hpp"
#include "kernels/research/nvrtc.hpp"
#include "kernels/research/parity.hpp"
#include "prover/air/constraint_program.hpp"

namespace stwo::gpu {

inline constexpr std::string_view kResearchModuleSchema = "stwo_research_module_v1";

struct ResearchRequest {
  ConstraintProgram program;
  CodegenOptions options;
  uint32_t sm = 0;  ///< 90 for 9.0
  /// A device to compare on; null: the identity says that this was not done. Of another SM than the
  /// cubin's: likewise, with that as the reason.
  ParityRunner* device = nullptr;
  /// The same text compiled for the host, where the caller has it; null: not compared.
  HostRows host = nullptr;
};

struct ResearchModule {
  std::string name;      ///< component
  std::string kernel;    ///< symbol in the cubin
  std::string source;    ///< NAME.cu
  std::string cubin;     ///< NAME.sm_XX.cubin
  std::string identity;  ///< NAME.json
  std::string program;   ///< digest, hex
  std::string cubin_sha256;
  uint32_t sm = 0;
  std::string nvrtc_version;
  KernelResources resources;
  std::optional<ParityResult> host;
  std::optional<ParityResult> device;
  /// Why there is no device result.
  std::string no_device_reason;
  /// Did a device of this SM confirm every row?
  bool promotable = false;

  std::string source_file() const { return name + ".cu"; }
  std::string cubin_file() const { return name + ".sm_" + std::to_string(sm) + ".cubin"; }
  std::string identity_file() const { return name + ".json"; }
};

/// Generates, compiles, compares. Parity that fails is a result, not an error: see require_parity.
/// Throws what generate_constraint_kernel and Nvrtc::compile throw, and what the runner throws.
ResearchModule compile_research_module(const ResearchRequest& request, const Nvrtc& nvrtc);

/// How files are made; the command line's own check_output and write_output, which leave a file
/// complete or absent.
struct OutputFunctions {
  std::function<void(const std::string& path, bool force)> check;
  std::function<void(const std::string& path, std::string_view content, bool force)> write;
};
/// Refuses, before anything is compiled, what write_research_module would refuse.
void check_research_outputs(const std::string& name, uint32_t sm, const std::string& directory,
                            bool force, const OutputFunctions& output);
/// Writes source, cubin and then identity: a module without identity is not complete. Existing
/// files are replaced with `force` only. Returns the three paths.
std::vector<std::string> write_research_module(const ResearchModule& module,
                                               const std::string& directory, bool force,
                                               const OutputFunctions& output);

/// Throws Error RESEARCH_PARITY if a comparison was made and failed.
void require_parity(const ResearchModule& module);

}  // namespace stwo::gpu

// The command line's side of the CUDA backend.

#include "prover/cli/cuda_support.hpp"

#include <nlohmann/json.hpp>

#include "kernels/cuda_backend.hpp"
#include "kernels/device_parity.hpp"
#include "kernels/research/research_compile.hpp"
#include "kernels/runtime/libcuda_driver.hpp"
#include "prover/cli/build_info.hpp"
#include "prover/cli/console.hpp"
#include "prover/cli/output_file.hpp"
#include "prover/cli/terminal.hpp"
#include "prover/errors.hpp"
#include "prover/report/product_report.hpp"

namespace stwo {
namespace {

std::unique_ptr<gpu::CudaRuntime> make_runtime(const CudaCliOptions& options) {
  gpu::LibcudaDriver loaded = gpu::open_libcuda();
  if (loaded.driver == nullptr) {
    throw EnvironmentError("DRIVER", "no usable CUDA driver: " + loaded.reason +
                                         "; install NVIDIA's driver or use --backend cpu");
  }
  gpu::RuntimeOptions runtime;
  runtime.device_ordinal = static_cast<int>(options.device);
  runtime.allow_ptx = options.allow_ptx;
  if (!options.cubin_dir.empty()) runtime.cubin_directory = options.cubin_dir;
  return std::make_unique<gpu::CudaRuntime>(std::move(loaded.driver),
                                            gpu::built_in_cubin_manifest(), runtime);
}

/// Multiprocessors of a described device: those of the H200 the schedules are tuned on.
constexpr uint32_t kDescribedMultiprocessors = 132;

std::string parity_text(const std::optional<gpu::ParityResult>& result, const std::string& reason) {
  if (!result) return "not compared: " + reason;
  return format_count(result->rows) + " rows compared, " + format_count(result->mismatches) +
         " differ";
}

}  // namespace

std::unique_ptr<Backend> make_cuda_backend_for_cli(const CudaCliOptions& options) {
  return std::make_unique<gpu::CudaBackend>(make_runtime(options), build_identity().host_compiler);
}

std::string inspect_plan(const std::shared_ptr<const ProofShape>& shape, const PlanTarget& target,
                         bool json) {
  gpu::PlanTarget described;
  if (target.described_sm) {
    const gpu::CubinManifest& manifest = gpu::built_in_cubin_manifest();
    described.sm = *target.described_sm;
    described.multiprocessors = kDescribedMultiprocessors;
    described.toolkit = manifest.nvcc_version;
    described.host_toolchain = build_identity().host_compiler;
    described.module_digest = manifest.identity_sha256();
  } else {
    CudaCliOptions options;
    options.device = target.device;
    const gpu::CudaBackend backend(make_runtime(options), build_identity().host_compiler);
    described = backend.target();
  }
  const auto program = std::make_shared<const ProofProgram>(make_proof_program(shape));
  const gpu::CudaPlan plan = gpu::compile_plan(program, described);
  return json ? gpu::plan_to_json(plan) : gpu::plan_to_text(plan);
}

int run_research_compile(const ResearchCompileOptions& options) {
  const Air& air = AirRegistry::global().find(options.statement.air);
  const auto instance = air.instantiate(options.statement);
  gpu::ResearchRequest request;
  for (const auto& component : instance->components()) {
    if (component->name() == options.component) request.program = component->record();
  }
  request.options.name = options.component;
  request.sm = options.sm;
  const gpu::OutputFunctions output{check_output, write_output};
  gpu::check_research_outputs(options.component, options.sm, options.output, options.force, output);
  std::unique_ptr<gpu::CudaRuntime> runtime;
  std::unique_ptr<gpu::DeviceParityRunner> runner;
  if (options.device) {
    CudaCliOptions device;
    device.device = *options.device;
    runtime = make_runtime(device);
    runner = std::make_unique<gpu::DeviceParityRunner>(*runtime);
    request.device = runner.get();
  }
  const gpu::Nvrtc nvrtc = gpu::Nvrtc::load(options.nvrtc);
  const gpu::ResearchModule module = gpu::compile_research_module(request, nvrtc);
  gpu::require_parity(module);
  const auto files = gpu::write_research_module(module, options.output, options.force, output);
  if (options.json) {
    nlohmann::ordered_json j = nlohmann::ordered_json::parse(module.identity);
    j["files"] = files;
    print(j.dump() + "\n");
    return 0;
  }
  std::string out;
  out += "component  " + module.name + " of " + describe_statement(options.statement) + "\n";
  out += "program    " + module.program + "\n";
  out += "kernel     " + module.kernel + " for SM " + std::to_string(module.sm) + ", NVRTC " +
         module.nvrtc_version + "\n";
  if (module.resources.known) {
    out += "resources  " + std::to_string(module.resources.registers) + " registers, " +
           std::to_string(module.resources.spill_store_bytes + module.resources.spill_load_bytes) +
           " bytes spilled\n";
  }
  out += "cubin      sha256 " + module.cubin_sha256 + "\n";
  out += "device     " + parity_text(module.device, module.no_device_reason) + "\n";
  out += std::string("promotable ") + (module.promotable ? "yes" : "no") + "\n";
  for (const std::string& file : files) out += "written    " + file + "\n";
  print(out);
  return 0;
}

}  // namespace stwo

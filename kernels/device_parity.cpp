#include "kernels/device_parity.hpp"

#include <cstring>

#include "kernels/research/research_args.hpp"
#include "prover/errors.hpp"

namespace stwo::gpu {
namespace {

constexpr std::string_view kStage = "research";
/// No M31 value: a row the kernel left out differs from any result.
constexpr uint32_t kPoison = 0xd9d9d9d9u;

/// Unloads at the end of the scope.
class LoadedModule {
 public:
  LoadedModule(CudaRuntime& runtime, std::span<const uint8_t> image) : runtime_(runtime) {
    runtime_.check(runtime_.driver().module_load_data(&module_, image), "cuModuleLoadData", kStage);
  }
  ~LoadedModule() {
    // Its kernels are done: run() waits for them.
    runtime_.driver().module_unload(module_);
  }
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;
  CUfunction function(const std::string& name) const {
    CUfunction f = nullptr;
    runtime_.check(runtime_.driver().module_get_function(&f, module_, name.c_str()),
                   "cuModuleGetFunction", kStage, name);
    return f;
  }

 private:
  CudaRuntime& runtime_;
  CUmodule module_ = nullptr;
};

uint64_t round_up(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

ParityOutput DeviceParityRunner::run(std::span<const uint8_t> cubin, const std::string& kernel,
                                     uint32_t threads, const ParityInput& input) {
  STWO_CHECK(threads > 0 && input.n_rows > 0, "an empty launch");
  // One block of memory: pointers to the columns, columns, weights, outputs.
  const uint64_t n_columns = input.columns.size();
  const uint64_t pointers = round_up(8 * std::max<uint64_t>(n_columns, 1));
  uint64_t bytes = pointers;
  std::vector<uint64_t> column_at;
  for (const auto& c : input.columns) {
    column_at.push_back(bytes);
    bytes += round_up(4 * c.size());
  }
  const uint64_t weights_at = bytes;
  bytes += round_up(4 * std::max<size_t>(input.weights.size(), 1));
  const uint64_t out_at = bytes;
  const uint64_t out_stride = round_up(4 * input.n_rows);
  bytes += 4 * out_stride;

  const DeviceBlock device = runtime_.allocate(bytes, "parity data", kStage);
  const PinnedBlock host = runtime_.allocate_pinned(bytes, "parity data", kStage);
  auto* const image = host.as<uint8_t>();
  std::memset(image, 0, bytes);
  for (size_t i = 0; i < n_columns; ++i) {
    const uint64_t address = device.address() + column_at[i];
    std::memcpy(image + 8 * i, &address, 8);
    std::memcpy(image + column_at[i], input.columns[i].data(), 4 * input.columns[i].size());
  }
  std::memcpy(image + weights_at, input.weights.data(), 4 * input.weights.size());
  runtime_.upload(device.address(), image, out_at, kStage);
  runtime_.fill32(device.address() + out_at, kPoison, out_stride, kStage);

  ResearchKernelArgs args;
  std::memset(static_cast<void*>(&args), 0, sizeof(args));
  auto* const base = device.as<uint8_t>();
  args.columns = device.as<const uint32_t* const>();
  args.weights = reinterpret_cast<const uint32_t*>(base + weights_at);
  for (uint64_t k = 0; k < 4; ++k) {
    args.out[k] = reinterpret_cast<uint32_t*>(base + out_at + k * out_stride);
  }
  args.n_rows = input.n_rows;
  args.inverse_vanishing[0] = input.inverse_vanishing[0];
  args.inverse_vanishing[1] = input.inverse_vanishing[1];
  args.trace_log_size = input.trace_log_size;
  args.domain_log_size = input.domain_log_size;

  const LoadedModule module(runtime_, cubin);
  const auto blocks = static_cast<uint32_t>((input.n_rows + threads - 1) / threads);
  runtime_.check(runtime_.driver().launch_kernel(module.function(kernel), blocks, 1, threads, 0,
                                                 runtime_.stream(), &args, sizeof(args)),
                 "cuLaunchKernel", kStage, kernel);
  runtime_.download(image + out_at, device.address() + out_at, 4 * out_stride, kStage);
  runtime_.synchronize(kStage);
  ParityOutput out;
  for (uint64_t k = 0; k < 4; ++k) {
    out[k].resize(input.n_rows);
    std::memcpy(out[k].data(), image + out_at + k * out_stride, 4 * input.n_rows);
  }
  return out;
}

}  // namespace stwo::gpu

// Runs a generated kernel on this machine's device, for the comparison of kernels/research.
#pragma once

#include "kernels/research/parity.hpp"
#include "kernels/runtime/runtime.hpp"

namespace stwo::gpu {

/// The cubin is loaded for one call and unloaded again: it never joins the kernels that proofs use.
class DeviceParityRunner final : public ParityRunner {
 public:
  /// `runtime` outlives it.
  explicit DeviceParityRunner(CudaRuntime& runtime) : runtime_(runtime) {}
  std::string device() const override { return runtime_.device().name; }
  uint32_t sm() const override { return static_cast<uint32_t>(runtime_.device().sm()); }
  ParityOutput run(std::span<const uint8_t> cubin, const std::string& kernel, uint32_t threads,
                   const ParityInput& input) override;

 private:
  CudaRuntime& runtime_;
};

}  // namespace stwo::gpu

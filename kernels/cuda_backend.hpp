// The CUDA backend: implements prover/backend.hpp on a device. A proof is one walk through a
// compiled plan (kernels/plan): launches only, until the finished proof is copied to the host once.
// It never falls back to the CPU: what the device cannot do is an error.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "kernels/plan/cuda_plan.hpp"
#include "kernels/runtime/runtime.hpp"
#include "prover/backend.hpp"
#include "prover/report/device_report.hpp"

namespace stwo::gpu {

class CudaBackend;

/// A plan bound to device memory, ready for requests. Kept in the runtime's plan cache; one session
/// at a time.
struct PreparedPlan;

/// Prepares shapes on one runtime. Not thread-safe.
class CudaBackend final : public Backend, public DeviceTelemetry {
 public:
  /// host_toolchain: compiler of this program, for the plan's identity.
  CudaBackend(std::unique_ptr<CudaRuntime> runtime, std::string host_toolchain);
  ~CudaBackend() override;

  std::string_view name() const override { return "cuda"; }
  std::string description() const override;
  /// Compiles the plan or takes it from the cache, allocates, loads the kernels it needs, commits
  /// the preprocessed tree. Throws EnvironmentError when the device cannot hold the shape.
  std::unique_ptr<PreparedShape> prepare(std::shared_ptr<const ProofShape> shape) override;
  const DeviceTelemetry* telemetry() const override { return this; }

  RequestTelemetry last_request() const override;
  DeviceReport device_report() const override;

  CudaRuntime& runtime() { return *runtime_; }
  /// For the comparison of schedules in tests.
  PlanOptions plan_options;

  /// What plans are compiled for on this device.
  PlanTarget target() const;

 private:
  /// The plan that telemetry speaks of: the one a session began on last, or that was prepared
  /// since. Shared with the prepared shapes, which can outlive the backend; keeps no plan alive.
  struct LastUse {
    std::weak_ptr<PreparedPlan> plan;
  };
  friend class CudaPreparedShape;
  std::shared_ptr<PreparedPlan> last_plan() const;

  std::unique_ptr<CudaRuntime> runtime_;
  std::string host_toolchain_;
  std::shared_ptr<LastUse> last_ = std::make_shared<LastUse>();
  /// Plans by key, also those that the runtime's cache had no room for.
  std::map<std::string, std::weak_ptr<PreparedPlan>> live_;
  /// How often each plan was compiled: more than once after an eviction.
  std::map<std::string, uint64_t> n_compiled_;
};

}  // namespace stwo::gpu

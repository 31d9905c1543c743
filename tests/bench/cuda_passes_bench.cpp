// Time of every launch of a plan: events around each, median over requests, beside the bytes the
// plan predicts. Events between launches keep them apart, so that the sum is above the time of a
// request.
//
//   stwo_cuda_passes_bench LOG_N_ROWS SEQUENCE_LEN [CONFIG [REQUESTS]]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "kernels/prepared_plan.hpp"
#include "kernels/runtime/libcuda_driver.hpp"
#include "prover/errors.hpp"
#include "prover/prove.hpp"
#include "tests/support/statements.hpp"

namespace stwo::gpu {
namespace {

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

int run(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s LOG_N_ROWS SEQUENCE_LEN [CONFIG [REQUESTS]]\n", argv[0]);
    return 2;
  }
  const Statement s =
      test::fibonacci(std::strtoull(argv[1], nullptr, 10), std::strtoull(argv[2], nullptr, 10));
  const PcsConfig config = parse_config(argc > 3 ? argv[3] : "fast");
  const int requests = argc > 4 ? std::atoi(argv[4]) : 21;
  LibcudaDriver loaded = open_libcuda();
  if (loaded.driver == nullptr) throw EnvironmentError("DRIVER", loaded.reason);
  RuntimeOptions options;
  if (const char* dir = std::getenv("STWO_CUBIN_DIR")) options.cubin_directory = dir;
  CudaBackend backend(
      std::make_unique<CudaRuntime>(std::move(loaded.driver), built_in_cubin_manifest(), options),
      "bench");
  CudaRuntime& runtime = backend.runtime();
  const auto shape = make_shape(s, config);
  const auto prepared_shape = backend.prepare(shape);
  // Whole requests first: what counts.
  std::vector<double> device;
  std::vector<double> resident;
  for (int i = 0; i < requests + 3; ++i) {
    const auto t0 = std::chrono::steady_clock::now();
    prove(*prepared_shape);
    const auto t1 = std::chrono::steady_clock::now();
    if (i < 3) continue;
    device.push_back(static_cast<double>(backend.last_request().device_elapsed) / 1e6);
    resident.push_back(std::chrono::duration<double, std::milli>(t1 - t0).count());
  }
  const RequestTelemetry t = backend.last_request();
  std::printf("%s x %s: device %.3f ms, resident prove %.3f ms, %llu launches, median of %d\n",
              argv[1], argv[2], median(device), median(resident),
              static_cast<unsigned long long>(t.counters.kernel_launches), requests);
  for (size_t k = 0; k < kStageCount; ++k) {
    std::printf("  stage %-22s %.3f ms (last)\n",
                std::string(stage_name(static_cast<Stage>(k))).c_str(),
                static_cast<double>(t.stages.ns[k]) / 1e6);
  }
  const auto program = std::make_shared<const ProofProgram>(make_proof_program(shape));
  const auto prepared = runtime.plans().find<PreparedPlan>(
      plan_cache_key(*program, backend.target(), backend.plan_options));
  STWO_CHECK(prepared != nullptr, "the plan is not in the cache");
  std::vector<EventLease> events;
  for (size_t i = 0; i <= prepared->launches.size(); ++i) events.push_back(runtime.event());
  std::vector<std::vector<double>> times(prepared->launches.size());
  for (int r = 0; r < requests; ++r) {
    for (size_t i = 0; i < prepared->launches.size(); ++i) {
      const BoundLaunch& l = prepared->launches[i];
      runtime.record(events[i], "bench");
      runtime.launch(l.kernel, l.geometry, l.args.data(), l.args.size(), "bench");
    }
    runtime.record(events.back(), "bench");
    runtime.synchronize("bench");
    for (size_t i = 0; i < times.size(); ++i) {
      times[i].push_back(
          static_cast<double>(runtime.elapsed_ns(events[i], events[i + 1], "bench")) / 1e3);
    }
  }
  std::map<std::string, double> by_kernel;
  double sum = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    const BoundLaunch& l = prepared->launches[i];
    const double us = median(times[i]);
    sum += us;
    by_kernel[l.plan->kernel] += us;
    std::printf("%8.1f us %8.2f MB %7.0f GB/s %8ux%-4u %-24s %s\n", us,
                static_cast<double>(l.predicted_bytes) / 1e6,
                static_cast<double>(l.predicted_bytes) / us / 1e3, l.plan->grid_x, l.plan->grid_y,
                l.plan->kernel.c_str(), l.plan->pass.c_str());
  }
  std::printf("sum %.3f ms\n", sum / 1e3);
  std::vector<std::pair<double, std::string>> ranked;
  for (const auto& [kernel, us] : by_kernel) ranked.emplace_back(us, kernel);
  std::sort(ranked.rbegin(), ranked.rend());
  for (const auto& [us, kernel] : ranked) {
    std::printf("%10.1f us %5.1f %% %s\n", us, 100 * us / sum, kernel.c_str());
  }
  return 0;
}

}  // namespace
}  // namespace stwo::gpu

int main(int argc, char** argv) {
  try {
    return stwo::gpu::run(argc, argv);
  } catch (const stwo::Error& e) {
    std::fprintf(stderr, "stwo_cuda_passes_bench: %s: %s\n", e.code().c_str(), e.what());
    return static_cast<int>(e.exit_code());
  }
}

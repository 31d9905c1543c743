// What the CUDA backend does when the device, or the driver, fails: every failure surfaces once as
// an exception that says where, nothing leaks, and the next proof in the same process is right.
// Also what it keeps between requests: prepared plans and tables. On the emulated device.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <set>

#include "kernels/cuda_backend.hpp"
#include "kernels/emulator/emulated_runtime.hpp"
#include "kernels/prepared_plan.hpp"
#include "kernels/runtime/errors.hpp"
#include "prover/cpu/cpu_backend.hpp"
#include "prover/errors.hpp"
#include "prover/proof/proof_json.hpp"
#include "prover/prove.hpp"
#include "tests/kernels/plan/plan_cases.hpp"

namespace stwo::gpu {
namespace {

using ShapePtr = std::shared_ptr<const ProofShape>;

ShapePtr small_shape() { return make_shape(fibonacci(4, 3), parse_config("pow=3")); }
/// Has a preprocessed tree, so that preparation uploads and launches.
ShapePtr sequence_shape() { return make_shape(sequence(4, 3, 3), parse_config("pow=3")); }

const std::string& cpu_proof(const ShapePtr& shape) {
  static const auto backend = make_cpu_backend(1);
  static std::map<std::string, std::string> proofs;
  std::string& proof = proofs[make_proof_program(shape).digest()];
  if (proof.empty()) proof = write_proof_json(prove(*backend->prepare(shape)));
  return proof;
}

/// A backend on an emulated device that must leave nothing behind.
class Machine {
 public:
  explicit Machine(RuntimeOptions options = {}, EmulatedDeviceConfig config = {}) {
    EmulatedRuntime e = make_emulated_runtime(std::move(config), std::move(options));
    device_ = e.device;
    faults_ = e.faults;
    backend_.emplace(std::move(e.runtime), "test");
  }
  ~Machine() {
    // A lost context would keep its memory in this emulation; the real one's end frees it.
    faults_->disarm();
    backend_.reset();
    if (frees_may_fail) {
      EXPECT_EQ(device_->live().contexts, 0u);
      return;
    }
    EXPECT_EQ(device_->live(), EmulatedDevice::Live());
    EXPECT_TRUE(device_->violations().empty());
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Set where blocks go while the context is lost: then the driver takes nothing back.
  bool frees_may_fail = false;

  CudaBackend& backend() { return *backend_; }
  CudaRuntime& runtime() { return backend_->runtime(); }
  FaultPlan& faults() { return *faults_; }
  EmulatedDevice& device() { return *device_; }
  Counters counters() { return runtime().counters(); }
  PlanCache::Status cache() { return runtime().plans().status(); }

  void expect_right(PreparedShape& prepared) {
    EXPECT_EQ(write_proof_json(prove(prepared)),
              cpu_proof(std::make_shared<const ProofShape>(prepared.shape())));
  }

 private:
  std::shared_ptr<EmulatedDevice> device_;
  std::shared_ptr<FaultPlan> faults_;
  std::optional<CudaBackend> backend_;
};

/// Blocks that a runtime holds.
std::tuple<uint64_t, uint64_t, uint64_t, uint64_t> held(CudaRuntime& runtime) {
  const MemoryStatus m = runtime.memory();
  return {m.live_blocks, m.live_bytes, m.pinned_blocks, m.pinned_bytes};
}

std::string point_name(FaultPoint point) {
  switch (point) {
    case FaultPoint::kAcquisition: return "acquisition";
    case FaultPoint::kLaunch: return "launch";
    case FaultPoint::kCopyHostToDevice: return "upload";
    case FaultPoint::kCopyDeviceToHost: return "terminal_copy";
    case FaultPoint::kStreamSynchronize: return "synchronize";
    case FaultPoint::kEventRecord: return "record";
    default: return "other";
  }
}

struct Failure {
  std::string code = "nothing";
  std::string message, call, stage, kernel;
};

Failure failure_of(const std::function<void()>& action) {
  Failure f;
  try {
    action();
  } catch (const CudaError& e) {
    f = {e.code(), e.what(), e.call(), e.stage(), e.kernel()};
  } catch (const Error& e) {
    f = {e.code(), e.what(), "", "", ""};
  }
  EXPECT_EQ(f.message.find('\n'), std::string::npos) << f.message;
  return f;
}

// ---- Preparation

class FailingPreparation : public testing::TestWithParam<std::pair<FaultPoint, CUresult>> {};

/// Fails the n-th call of a kind for every n that preparing a shape makes.
TEST_P(FailingPreparation, SurfacesOnceAndLeavesNothing) {
  const auto [point, result] = GetParam();
  const ShapePtr shape = sequence_shape();
  uint64_t n = 1;
  for (;; ++n) {
    SCOPED_TRACE("call " + std::to_string(n));
    Machine m;
    m.faults().arm({point, n, result, {}});
    std::unique_ptr<PreparedShape> prepared;
    const Failure f = failure_of([&] { prepared = m.backend().prepare(shape); });
    if (!m.faults().hit()) {
      EXPECT_EQ(f.code, "nothing") << f.message;
      m.faults().disarm();
      m.expect_right(*prepared);
      break;
    }
    if (f.code == "CUDA_ERROR") {
      EXPECT_EQ(f.stage, "prepare");
      if (point == FaultPoint::kLaunch) {
        EXPECT_EQ(f.call, "cuLaunchKernel");
        EXPECT_FALSE(f.kernel.empty());
      }
    } else {
      EXPECT_TRUE(f.code == "OUT_OF_DEVICE_MEMORY" || f.code == "OUT_OF_PINNED_MEMORY") << f.code;
      EXPECT_EQ(result, CUDA_ERROR_OUT_OF_MEMORY);
      // Says which buffer.
      EXPECT_NE(f.message.find(" has no room for "), std::string::npos) << f.message;
    }
    // Tables are the runtime's: they stay if they had been made.
    const MemoryStatus memory = m.runtime().memory();
    EXPECT_LE(memory.live_blocks, 1u);
    if (memory.live_blocks > 0) {
      EXPECT_NE(m.runtime().immutable<TwiddleTables>("twiddle tables"), nullptr);
    }
    EXPECT_EQ(memory.pinned_blocks, 0u);
    EXPECT_EQ(m.cache().entries, 0u);
    EXPECT_EQ(m.runtime().broken(), "");
    // Once: with the fault still armed, the next attempt is right.
    const auto again = m.backend().prepare(shape);
    m.expect_right(*again);
    m.expect_right(*again);
    if (HasFailure()) return;
  }
  EXPECT_GT(n, 1u) << "preparation makes no such call";
}

INSTANTIATE_TEST_SUITE_P(
    Points, FailingPreparation,
    testing::Values(std::pair{FaultPoint::kAcquisition, CUDA_ERROR_OUT_OF_MEMORY},
                    std::pair{FaultPoint::kAcquisition, CUDA_ERROR_UNKNOWN},
                    std::pair{FaultPoint::kLaunch, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES},
                    std::pair{FaultPoint::kCopyHostToDevice, CUDA_ERROR_UNKNOWN},
                    std::pair{FaultPoint::kStreamSynchronize, CUDA_ERROR_UNKNOWN}),
    [](const auto& test) {
      return point_name(test.param.first) +
             (test.param.second == CUDA_ERROR_OUT_OF_MEMORY ? "_memory" : "_error");
    });

TEST(Preparation, AllocatesWhatItIsMadeOf) {
  Machine m;
  const Counters before = m.counters();
  const auto prepared = m.backend().prepare(sequence_shape());
  const Counters made = m.counters() - before;
  // Tables, shape, constants, arena, terminal; terminal on the host, staging, which goes again.
  EXPECT_EQ(made.allocations, 7u);
  EXPECT_EQ(made.frees, 1u);
  EXPECT_EQ(m.faults().calls(FaultPoint::kDeviceAllocation), 5u);
  EXPECT_EQ(m.faults().calls(FaultPoint::kHostAllocation), 2u);
}

/// A failed preparation must not cost the shapes that are prepared already.
TEST(Preparation, SparesOtherShapes) {
  Machine m;
  const auto held_shape = m.backend().prepare(small_shape());
  m.expect_right(*held_shape);
  const auto before = held(m.runtime());
  for (uint64_t n = 1;; ++n) {
    m.faults().arm({FaultPoint::kAcquisition, n, CUDA_ERROR_UNKNOWN, {}});
    // The shape's tables reach no further than those that are there.
    const Failure f = failure_of(
        [&] { m.backend().prepare(make_shape(fibonacci(4, 5), parse_config("pow=3"))); });
    if (!m.faults().hit()) break;
    EXPECT_EQ(f.code, "CUDA_ERROR") << f.message;
    EXPECT_EQ(held(m.runtime()), before) << n;
  }
  m.faults().disarm();
  m.expect_right(*held_shape);
  // What failed was no second binding of a plan.
  EXPECT_TRUE(m.backend().device_report().plan.compiled_once);
}

// ---- Requests

class FailingRequest : public testing::Test {
 protected:
  FailingRequest() : prepared(m.backend().prepare(small_shape())) {
    m.expect_right(*prepared);
    before_live = m.device().live();
    before_held = held(m.runtime());
    const auto program = std::make_shared<const ProofProgram>(make_proof_program(small_shape()));
    plan = compile_plan(program, m.backend().target());
  }

  /// Proves with the n-th call of a kind failing; empty if there are fewer calls.
  std::optional<Failure> fail(FaultPoint point, uint64_t n, CUresult result) {
    SCOPED_TRACE("call " + std::to_string(n));
    m.faults().arm({point, n, result, {}});
    Failure f = failure_of([&] { prove(*prepared); });
    if (!m.faults().hit()) {
      EXPECT_EQ(f.code, "nothing") << f.message;
      return std::nullopt;
    }
    EXPECT_EQ(f.code, "CUDA_ERROR") << f.message;
    EXPECT_NE(f.message.find(f.call + " failed in " + f.stage), std::string::npos) << f.message;
    return f;
  }

  /// With the fault still armed: it has surfaced, and must not again.
  void expect_recovered() {
    EXPECT_EQ(m.runtime().broken(), "");
    EXPECT_EQ(m.device().live(), before_live);
    EXPECT_EQ(held(m.runtime()), before_held);
    m.expect_right(*prepared);
    EXPECT_EQ(m.device().live(), before_live);
  }

  Machine m;
  std::unique_ptr<PreparedShape> prepared;
  EmulatedDevice::Live before_live;
  std::tuple<uint64_t, uint64_t, uint64_t, uint64_t> before_held;
  CudaPlan plan;
};

TEST_F(FailingRequest, EveryLaunch) {
  std::set<std::string> stages;
  for (size_t i = 0;; ++i) {
    const auto f = fail(FaultPoint::kLaunch, i + 1, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    if (!f) {
      EXPECT_EQ(i, plan.launches.size());
      break;
    }
    ASSERT_LT(i, plan.launches.size());
    const PlanLaunch& l = plan.launches[i];
    EXPECT_EQ(f->call, "cuLaunchKernel");
    EXPECT_EQ(f->stage, stage_name(l.stage));
    EXPECT_EQ(f->kernel, l.kernel + " (" + l.pass + ")");
    EXPECT_EQ(m.counters().launch_failures, i + 1);
    stages.insert(f->stage);
    expect_recovered();
    if (HasFailure()) return;
  }
  for (const char* stage : {"ingress", "trace_generation", "trace_commit", "constraint_evaluation",
                            "oods", "quotient", "fri_commit", "pow", "decommit"}) {
    EXPECT_TRUE(stages.contains(stage)) << stage;
  }
}

TEST_F(FailingRequest, EveryEventRecord) {
  std::vector<std::string> stages;
  for (uint64_t n = 1;; ++n) {
    const auto f = fail(FaultPoint::kEventRecord, n, CUDA_ERROR_UNKNOWN);
    if (!f) break;
    EXPECT_EQ(f->call, "cuEventRecord");
    stages.push_back(f->stage);
    expect_recovered();
  }
  // One before each run of a stage, one before and one after the copy to the host.
  std::vector<std::string> want;
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    if (i == 0 || plan.launches[i].stage != plan.launches[i - 1].stage) {
      want.emplace_back(stage_name(plan.launches[i].stage));
    }
  }
  want.insert(want.end(), 2, "proof_assembly");
  EXPECT_EQ(stages, want);
}

TEST_F(FailingRequest, TheTerminalCopy) {
  const auto f = fail(FaultPoint::kCopyDeviceToHost, 1, CUDA_ERROR_UNKNOWN);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->stage, "proof_assembly");
  EXPECT_EQ(f->call, "cuMemcpyDtoHAsync");
  expect_recovered();
  EXPECT_FALSE(fail(FaultPoint::kCopyDeviceToHost, 2, CUDA_ERROR_UNKNOWN));
  EXPECT_FALSE(fail(FaultPoint::kCopyHostToDevice, 1, CUDA_ERROR_UNKNOWN));
  EXPECT_FALSE(fail(FaultPoint::kCopyDeviceToDevice, 1, CUDA_ERROR_UNKNOWN));
  EXPECT_FALSE(fail(FaultPoint::kFill, 1, CUDA_ERROR_UNKNOWN));
  EXPECT_FALSE(fail(FaultPoint::kAcquisition, 1, CUDA_ERROR_OUT_OF_MEMORY));
}

TEST_F(FailingRequest, TheTerminalSynchronize) {
  for (int round = 0; round < 2; ++round) {
    const auto f = fail(FaultPoint::kStreamSynchronize, 1, CUDA_ERROR_UNKNOWN);
    ASSERT_TRUE(f);
    EXPECT_EQ(f->stage, "proof_assembly");
    EXPECT_EQ(f->call, "cuStreamSynchronize");
    expect_recovered();
  }
  EXPECT_FALSE(fail(FaultPoint::kStreamSynchronize, 2, CUDA_ERROR_UNKNOWN));
}

/// The counters and times of a request that failed are nobody's.
TEST_F(FailingRequest, HasNoTelemetry) {
  EXPECT_NO_THROW(m.backend().last_request());
  ASSERT_TRUE(fail(FaultPoint::kLaunch, 5, CUDA_ERROR_UNKNOWN));
  EXPECT_THROW(m.backend().last_request(), ContractError);
  m.expect_right(*prepared);
  const RequestTelemetry t = m.backend().last_request();
  EXPECT_EQ(t.counters.kernel_launches, plan.launches.size());
  EXPECT_GT(t.device_elapsed, 0u);
}

class StickyError : public testing::TestWithParam<std::pair<FaultPoint, uint64_t>> {};

TEST_P(StickyError, LeavesTheRuntimeRefusing) {
  const auto [point, n] = GetParam();
  {
    Machine m;
    const auto prepared = m.backend().prepare(small_shape());
    m.expect_right(*prepared);
    const auto before = m.device().live();
    m.faults().arm({point, n, CUDA_ERROR_ILLEGAL_ADDRESS, {}});
    const Failure f = failure_of([&] { prove(*prepared); });
    EXPECT_EQ(f.code, "CUDA_ERROR");
    EXPECT_NE(f.message.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos) << f.message;
    EXPECT_FALSE(f.stage.empty());
    EXPECT_EQ(m.runtime().broken(), "CUDA_ERROR_ILLEGAL_ADDRESS");
    EXPECT_EQ(m.device().live(), before);
    // From here on the runtime's own words, also when the driver would answer again.
    for (int round = 0; round < 2; ++round) {
      for (const auto& action : std::vector<std::function<void()>>{
               [&] { prove(*prepared); }, [&] { m.backend().prepare(sequence_shape()); }}) {
        const Failure refused = failure_of(action);
        EXPECT_EQ(refused.code, "CUDA_RUNTIME_BROKEN");
        EXPECT_NE(refused.message.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos);
        EXPECT_NE(refused.message.find("start the program again"), std::string::npos);
      }
      m.faults().disarm();
    }
  }
  // A new runtime in the same process works.
  Machine m;
  m.expect_right(*m.backend().prepare(small_shape()));
}

INSTANTIATE_TEST_SUITE_P(Points, StickyError,
                         testing::Values(std::pair{FaultPoint::kStreamSynchronize, 1},
                                         std::pair{FaultPoint::kLaunch, 7},
                                         std::pair{FaultPoint::kEventRecord, 3},
                                         std::pair{FaultPoint::kCopyDeviceToHost, 1}),
                         [](const auto& test) { return point_name(test.param.first); });

TEST(StickyErrors, DuringPreparation) {
  Machine m;
  m.frees_may_fail = true;
  m.faults().arm({FaultPoint::kLaunch, 2, CUDA_ERROR_LAUNCH_FAILED, {}});
  EXPECT_EQ(failure_of([&] { m.backend().prepare(sequence_shape()); }).stage, "prepare");
  EXPECT_EQ(failure_of([&] { m.backend().prepare(sequence_shape()); }).code, "CUDA_RUNTIME_BROKEN");
}

/// A session that is given up half way.
TEST(Session, CanBeAbandonedAnywhere) {
  Machine m;
  const auto prepared = m.backend().prepare(small_shape());
  const auto before = m.device().live();
  for (int calls = 0; calls <= 8; ++calls) {
    {
      const auto session = prepared->begin();
      const std::function<void()> steps[] = {
          [&] { session->ingress(); },       [&] { session->trace_generation(1); },
          [&] { session->trace_commit(1); }, [&] { session->constraint_evaluation(); },
          [&] { session->oods(); },          [&] { session->quotient(); },
          [&] { session->fri_commit(); },    [&] { session->pow(); },
      };
      for (int k = 0; k < calls; ++k) steps[k]();
    }
    EXPECT_EQ(m.device().live(), before);
    m.expect_right(*prepared);
  }
}

TEST(Session, OneAtATime) {
  Machine m;
  const auto prepared = m.backend().prepare(small_shape());
  // The same plan by another handle.
  const auto same = m.backend().prepare(small_shape());
  {
    const auto session = prepared->begin();
    for (PreparedShape* p : {prepared.get(), same.get()}) {
      const Failure f = failure_of([&] { p->begin(); });
      EXPECT_EQ(f.code, "CONTRACT");
      EXPECT_NE(f.message.find("one proof at a time"), std::string::npos) << f.message;
    }
    // The refusal has not freed what the first session holds.
    EXPECT_EQ(failure_of([&] { same->begin(); }).code, "CONTRACT");
    // Another shape is free.
    m.expect_right(*m.backend().prepare(make_shape(fibonacci(5, 3), parse_config("pow=3"))));
  }
  m.expect_right(*prepared);
  m.expect_right(*same);
}

TEST(Session, HandlesMayOutliveTheBackend) {
  std::unique_ptr<PreparedShape> used, unused;
  {
    Machine m;
    used = m.backend().prepare(small_shape());
    unused = m.backend().prepare(sequence_shape());
    m.expect_right(*used);
  }
  used.reset();
  unused.reset();
}

// ---- Prepared plans

ShapePtr shape_of(uint64_t log, uint64_t columns = 3) {
  return make_shape(fibonacci(log, columns), parse_config("pow=3"));
}

TEST(PreparedPlans, AreReusedWithoutAnyWork) {
  Machine m;
  auto prepared = m.backend().prepare(shape_of(5));
  m.expect_right(*prepared);
  const auto before_held = held(m.runtime());
  const Counters before = m.counters();
  for (int k = 0; k < 5; ++k) {
    prepared.reset();
    // An equal shape that was made anew.
    prepared = m.backend().prepare(shape_of(5));
    EXPECT_EQ(m.counters() - before, Counters());
    EXPECT_EQ(held(m.runtime()), before_held);
  }
  EXPECT_EQ(m.cache().hits, 5u);
  EXPECT_EQ(m.cache().misses, 1u);
  EXPECT_EQ(m.cache().evictions, 0u);
  m.expect_right(*prepared);
  const DeviceReport report = m.backend().device_report();
  EXPECT_TRUE(report.plan.compiled_once);
  EXPECT_EQ(report.plan.reuse_count, 1u);
}

TEST(PreparedPlans, EvictsIdleOnesOnly) {
  Machine m({.plan_cache_entries = 1});
  // Each evicts the one before, which nobody holds.
  for (uint64_t log = 3; log < 8; ++log) m.expect_right(*m.backend().prepare(shape_of(log)));
  EXPECT_EQ(m.cache().evictions, 4u);
  EXPECT_EQ(m.cache().misses, 5u);
  EXPECT_EQ(m.cache().entries, 1u);
  EXPECT_EQ(m.cache().refusals, 0u);

  // A held one stays; the others live as long as their holders.
  const auto kept = m.backend().prepare(shape_of(7));
  EXPECT_EQ(m.cache().hits, 1u);
  const auto before = held(m.runtime());
  for (uint64_t log = 3; log < 7; ++log) {
    const auto other = m.backend().prepare(shape_of(log));
    m.expect_right(*other);
    m.expect_right(*kept);
  }
  EXPECT_EQ(m.cache().evictions, 4u);
  EXPECT_EQ(m.cache().refusals, 4u);
  EXPECT_EQ(m.cache().entries, 1u);
  const auto again = m.backend().prepare(shape_of(7));
  EXPECT_EQ(m.cache().hits, 2u);
  EXPECT_EQ(held(m.runtime()), before) << "a plan that was not kept was not freed";
}

TEST(PreparedPlans, OutliveTheirEviction) {
  Machine m({.plan_cache_entries = 1});
  const auto first = m.backend().prepare(shape_of(4));
  m.expect_right(*first);
  m.runtime().plans().clear();
  const auto second = m.backend().prepare(shape_of(5));
  EXPECT_EQ(m.cache().entries, 1u);
  m.expect_right(*first);
  m.expect_right(*second);
  m.expect_right(*first);
  // Prepared anew beside the one that is still held.
  m.runtime().plans().clear();
  const auto third = m.backend().prepare(shape_of(4));
  EXPECT_EQ(m.cache().misses, 3u);
  m.expect_right(*third);
  m.expect_right(*first);
}

TEST(PreparedPlans, AreBoundedByBytes) {
  uint64_t bytes = 0;
  {
    Machine m;
    m.backend().prepare(shape_of(6));
    bytes = m.cache().bytes;
  }
  Machine m({.plan_cache_bytes = bytes});
  m.backend().prepare(shape_of(5));
  EXPECT_EQ(m.cache().entries, 1u);
  m.backend().prepare(shape_of(6));
  EXPECT_EQ(m.cache().entries, 1u);
  EXPECT_EQ(m.cache().evictions, 1u);
  // Too large to keep: the others stay.
  m.expect_right(*m.backend().prepare(shape_of(7)));
  EXPECT_EQ(m.cache().refusals, 1u);
  EXPECT_EQ(m.cache().entries, 1u);
}

/// A failing allocation is tried again once idle plans have gone.
TEST(PreparedPlans, MakeRoomOnAFullDevice) {
  Machine m;
  m.expect_right(*m.backend().prepare(shape_of(5)));
  m.expect_right(*m.backend().prepare(shape_of(6)));
  EXPECT_EQ(m.cache().entries, 2u);
  m.faults().arm({FaultPoint::kDeviceAllocation, 1, CUDA_ERROR_OUT_OF_MEMORY, {}});
  const auto prepared = m.backend().prepare(shape_of(7));
  EXPECT_TRUE(m.faults().hit());
  EXPECT_EQ(m.cache().evictions, 2u);
  EXPECT_EQ(m.cache().entries, 1u);
  m.expect_right(*prepared);
}

TEST(PreparedPlans, MakeRoomOnADeviceThatHoldsOne) {
  const auto large = shape_of(9, 20);
  uint64_t needed = 0;
  {
    Machine m;
    m.backend().prepare(large);
    needed = m.runtime().memory().live_bytes;
  }
  const auto small = shape_of(8, 20);
  // Room for the large one and the small one's tables, which stay until larger ones are made.
  Machine m({}, {.memory_bytes = needed + (uint64_t{16} << 9)});
  m.expect_right(*m.backend().prepare(small));
  const auto prepared = m.backend().prepare(large);
  EXPECT_EQ(m.cache().evictions, 1u);
  m.expect_right(*prepared);
  // Held, it is in the way: one refusal, and it goes on working.
  const Failure f = failure_of([&] { m.backend().prepare(small); });
  EXPECT_EQ(f.code, "OUT_OF_DEVICE_MEMORY");
  m.expect_right(*prepared);
}

/// A shape that can never fit is refused before anything is allocated.
TEST(PreparedPlans, AdmissionComesFirst) {
  Machine m({}, {.memory_bytes = uint64_t{1} << 20});
  const auto prepared = m.backend().prepare(shape_of(4));
  const auto before = held(m.runtime());
  const Counters counters = m.counters();
  const Failure f = failure_of([&] { m.backend().prepare(shape_of(16, 20)); });
  EXPECT_EQ(f.code, "OUT_OF_DEVICE_MEMORY");
  EXPECT_NE(f.message.find("lower the trace size or the blowup"), std::string::npos) << f.message;
  EXPECT_EQ(held(m.runtime()), before);
  EXPECT_EQ(m.counters() - counters, Counters());
  m.expect_right(*prepared);
}

// ---- Tables

/// What preparing a shape without preprocessed columns costs besides its tables.
constexpr uint64_t kPlanAllocations = 5;

TEST(ResidentTables, GrowOnceAndServeSmallerShapes) {
  Machine m;
  const auto prepare = [&](const ShapePtr& shape) {
    const Counters before = m.counters();
    auto prepared = m.backend().prepare(shape);
    const Counters made = m.counters() - before;
    return std::tuple(std::move(prepared), made.allocations - kPlanAllocations,
                      made.kernel_launches);
  };
  const auto tables = [&] { return m.runtime().immutable<TwiddleTables>("twiddle tables"); };

  auto [small, small_tables, small_launches] = prepare(shape_of(5));
  EXPECT_EQ(small_tables, 1u);
  EXPECT_EQ(small_launches, 1u);
  EXPECT_EQ(tables()->log(), 6u);
  m.expect_right(*small);

  auto [large, large_tables, large_launches] = prepare(shape_of(9));
  EXPECT_EQ(large_tables, 1u);
  EXPECT_EQ(large_launches, 1u);
  EXPECT_EQ(tables()->log(), 10u);
  EXPECT_EQ(tables()->bytes(), uint64_t{16} << 10);
  m.expect_right(*large);
  // Bound to the tables it was made with.
  m.expect_right(*small);

  for (const uint64_t log : {3u, 6u, 9u}) {
    const auto [other, new_tables, launches] = prepare(shape_of(log, 4));
    EXPECT_EQ(new_tables, 0u) << log;
    EXPECT_EQ(launches, 0u) << log;
    m.expect_right(*other);
  }
  EXPECT_EQ(tables()->log(), 10u);
}

TEST(ResidentTables, GoWhenTheirLastHolderDoes) {
  Machine m;
  auto small = m.backend().prepare(shape_of(5));
  const std::weak_ptr<TwiddleTables> first = m.runtime().immutable<TwiddleTables>("twiddle tables");
  const auto large = m.backend().prepare(shape_of(9));
  EXPECT_FALSE(first.expired());
  m.expect_right(*small);
  small.reset();
  m.runtime().plans().evict_idle();
  EXPECT_TRUE(first.expired());
  m.expect_right(*large);
  // A smaller shape after that takes the large ones.
  const uint64_t blocks = m.runtime().memory().live_blocks;
  small = m.backend().prepare(shape_of(5));
  EXPECT_EQ(m.runtime().memory().live_blocks, blocks + 3);
  m.expect_right(*small);
}

}  // namespace
}  // namespace stwo::gpu

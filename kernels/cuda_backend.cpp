#include "kernels/cuda_backend.hpp"

#include "kernels/prepared_plan.hpp"
#include "prover/errors.hpp"

namespace stwo::gpu {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

LoadPhase load_phase(std::string_view stage) {
  if (stage == "init") return LoadPhase::kInit;
  return stage == "prepare" ? LoadPhase::kPrepare : LoadPhase::kRequest;
}

}  // namespace

class CudaPreparedShape final : public PreparedShape {
 public:
  CudaPreparedShape(std::shared_ptr<const ProofShape> shape, std::shared_ptr<PreparedPlan> plan,
                    std::shared_ptr<CudaBackend::LastUse> last)
      : shape_(std::move(shape)), plan_(std::move(plan)), last_(std::move(last)) {}

  const ProofShape& shape() const override { return *shape_; }
  MemoryPlan memory() const override {
    MemoryPlan m;
    m.tables_bytes = plan_->tables->bytes();
    m.arena_bytes = plan_->arena_block.bytes();
    m.scratch_bytes = plan_->bytes() - plan_->arena_block.bytes() - plan_->terminal_host.bytes();
    return m;
  }
  std::unique_ptr<ProofSession> begin(const TranscriptObserver& observer) override {
    auto session = make_cuda_session(plan_, observer);
    last_->plan = plan_;
    return session;
  }

 private:
  std::shared_ptr<const ProofShape> shape_;
  std::shared_ptr<PreparedPlan> plan_;
  std::shared_ptr<CudaBackend::LastUse> last_;
};

CudaBackend::CudaBackend(std::unique_ptr<CudaRuntime> runtime, std::string host_toolchain)
    : runtime_(std::move(runtime)), host_toolchain_(std::move(host_toolchain)) {}

CudaBackend::~CudaBackend() = default;

std::string CudaBackend::description() const {
  const DeviceIdentity& d = runtime_->device();
  return d.name + ", SM " + std::to_string(d.sm_major) + "." + std::to_string(d.sm_minor) +
         ", device " + std::to_string(d.ordinal);
}

PlanTarget CudaBackend::target() const {
  const DeviceIdentity& d = runtime_->device();
  PlanTarget t;
  t.sm = static_cast<uint32_t>(d.sm());
  t.device_uuid = d.uuid;
  t.multiprocessors = d.multiprocessors;
  t.memory_bytes = d.global_memory_bytes;
  t.driver_version = d.driver_version;
  t.toolkit = runtime_->manifest().nvcc_version;
  t.host_toolchain = host_toolchain_;
  t.module_digest = runtime_->manifest().identity_sha256();
  return t;
}

std::unique_ptr<PreparedShape> CudaBackend::prepare(std::shared_ptr<const ProofShape> shape) {
  auto program = std::make_shared<const ProofProgram>(make_proof_program(shape));
  const PlanTarget t = target();
  const std::string key = plan_cache_key(*program, t, plan_options);
  auto prepared = runtime_->plans().find<PreparedPlan>(key);
  // The cache has no room for it, but somebody still holds it.
  if (prepared == nullptr) prepared = live_[key].lock();
  if (prepared == nullptr) {
    prepared = std::make_shared<PreparedPlan>(*runtime_,
                                              compile_plan(std::move(program), t, plan_options));
    ++n_compiled_[key];
    live_[key] = prepared;
    runtime_->plans().insert(key, prepared, prepared->bytes());
  }
  last_->plan = prepared;
  return std::make_unique<CudaPreparedShape>(std::move(shape), std::move(prepared), last_);
}

std::shared_ptr<PreparedPlan> CudaBackend::last_plan() const {
  auto plan = last_->plan.lock();
  STWO_CHECK(plan != nullptr, "no shape is prepared");
  return plan;
}

RequestTelemetry CudaBackend::last_request() const {
  const auto plan = last_plan();
  const PreparedPlan& p = *plan;
  STWO_CHECK(p.last_counters.has_value(), "no request has finished");
  RequestTelemetry out;
  // Distances from the first event, so that the stages add up to the whole exactly.
  uint64_t before = 0;
  for (size_t k = 0; k + 1 < p.events.size(); ++k) {
    const uint64_t at = runtime_->elapsed_ns(p.events[0], p.events[k + 1], "telemetry");
    const Stage stage = k < p.segments.size() ? p.segments[k].stage : Stage::kProofAssembly;
    const uint64_t end = std::max(at, before);
    out.stages.ns[static_cast<size_t>(stage)] += end - before;
    before = end;
  }
  out.device_elapsed = before;
  const Counters& c = *p.last_counters;
  out.counters = c;
  RequestTransfers& t = out.transfers;
  t.h2d_operations = c.h2d_operations;
  t.h2d_bytes = c.h2d_bytes;
  t.d2h_operations = c.d2h_operations;
  t.d2h_bytes = c.d2h_bytes;
  t.d2d_operations = c.d2d_operations;
  t.d2d_bytes = c.d2d_bytes;
  t.terminal_d2h_operations = p.last_terminal.d2h_operations;
  t.terminal_d2h_bytes = p.last_terminal.d2h_bytes;
  t.intermediate_d2h_operations = c.d2h_operations - p.last_terminal.d2h_operations;
  return out;
}

DeviceReport CudaBackend::device_report() const {
  const auto held = last_plan();
  const PreparedPlan& p = *held;
  const DeviceIdentity& d = runtime_->device();
  DeviceReport out;
  out.execution_mode = ExecutionMode::kDirect;
  out.nvcc_version = runtime_->manifest().nvcc_version;
  out.cuda_arch_list = runtime_->manifest().arch_list;
  out.device.uuid = d.uuid;
  out.device.name = d.name;
  out.device.ordinal = static_cast<uint32_t>(d.ordinal);
  out.device.sm_major = static_cast<uint32_t>(d.sm_major);
  out.device.sm_minor = static_cast<uint32_t>(d.sm_minor);
  out.device.driver_version = version_text(d.driver_version);
  out.device.toolkit_version = version_text(d.toolkit_version);
  out.device.global_memory_bytes = d.global_memory_bytes;
  out.device.multiprocessors = d.multiprocessors;
  out.device.mig = d.mig;
  uint64_t module_bytes = 0;
  for (const ModuleInfo& m : runtime_->modules()) {
    ModuleRecord r;
    r.name = m.name;
    r.sha256 = m.sha256;
    r.bytes = m.bytes;
    r.kind = m.kind;
    r.sm = static_cast<uint32_t>(m.sm);
    r.load_ordinal = m.load_ordinal;
    r.loaded_in = load_phase(m.loaded_in);
    module_bytes += m.bytes;
    out.modules.push_back(std::move(r));
  }
  const AotStatus aot = runtime_->aot();
  const Counters counters = runtime_->counters();
  out.aot.entries = aot.entries;
  out.aot.loads = aot.loads;
  out.aot.cache_hits = aot.cache_hits;
  out.aot.misses = aot.misses;
  out.aot.launches = counters.kernel_launches;
  out.aot.launch_failures = counters.launch_failures;
  out.aot.build_identity_sha256 = runtime_->manifest().identity_sha256();
  out.aot.strict = aot.strict;
  const CudaPlan& plan = p.plan;
  out.plan.program_sha256 = plan.program->digest();
  out.plan.semantic_sha256 = plan.program->semantic_digest();
  out.plan.cache_key_sha256 = plan.cache_key;
  out.plan.schedule_version = kScheduleVersion;
  out.plan.compiled_once = n_compiled_.at(plan.cache_key) == 1;
  out.plan.reuse_count = p.reuse_count;
  out.plan.node_count = plan.program->nodes.size();
  out.plan.predicted_minimum_launches = plan.launches.size();
  out.plan.transcript_barriers = plan.transcript_barriers();
  out.plan.request_bytes = plan.arena_bytes + plan.terminal_bytes;
  out.plan.persistent_bytes = p.tables->bytes() + plan.shape_bytes + plan.constants_bytes;
  out.pass_ledger = plan.pass_ledger();
  out.resources = plan.resources();
  const MemoryStatus memory = runtime_->memory();
  out.memory.modules = module_bytes;
  out.memory.tables = p.tables->bytes();
  out.memory.cached_shapes = p.shape_block.bytes() + p.constants_block.bytes();
  out.memory.graphs = 0;
  out.memory.arena_high_water = p.arena_block.bytes();
  out.memory.staging = p.terminal_block.bytes();
  out.memory.terminal_host = p.terminal_host.bytes();
  out.memory.pool_reserved = memory.pool_reserved;
  out.memory.pool_used = memory.pool_used;
  out.memory.in_flight_multiplier = 1;
  out.memory.capacity = d.global_memory_bytes;
  out.memory.admitted = true;
  return out;
}

}  // namespace stwo::gpu

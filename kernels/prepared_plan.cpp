#include "kernels/prepared_plan.hpp"

#include <cstring>

#include "prover/errors.hpp"

namespace stwo::gpu {

PreparedPlan::PreparedPlan(CudaRuntime& r, CudaPlan compiled)
    : runtime(r), plan(std::move(compiled)) {
  tables = resident_tables(runtime, plan.table_log);
  if (plan.shape_bytes > 0) shape_block = runtime.allocate(plan.shape_bytes, "preprocessed tree");
  constants_block = runtime.allocate(plan.constants_bytes, "plan constants");
  arena_block = runtime.allocate(plan.arena_bytes, "proof arena");
  terminal_block = runtime.allocate(plan.terminal_bytes, "proof");
  terminal_host = runtime.allocate_pinned(plan.terminal_bytes, "proof on the host");
  launches.reserve(plan.launches.size());
  for (const PlanLaunch& l : plan.launches) {
    launches.push_back(bind(l));
    const size_t i = launches.size() - 1;
    if (segments.empty() || segments.back().stage != l.stage) segments.push_back({l.stage, i, i});
    segments.back().end = i + 1;
  }
  for (size_t i = 0; i < segments.size() + 2; ++i) events.push_back(runtime.event());
  run_preparation();
}

CUdeviceptr PreparedPlan::address(BufferRef ref) const {
  const PlanBuffer& b = plan.buffers[ref.buffer];
  CUdeviceptr base = 0;
  switch (b.region) {
    // The resident tables can be larger than the plan asked for: found by their order.
    case Region::kTables: base = tables->table(plan.table_index(ref.buffer)); break;
    case Region::kShape: base = shape_block.address() + b.offset; break;
    case Region::kConstants: base = constants_block.address() + b.offset; break;
    case Region::kArena: base = arena_block.address() + b.offset; break;
    case Region::kTerminal: base = terminal_block.address() + b.offset; break;
  }
  return base + ref.offset;
}

uint64_t PreparedPlan::bytes() const {
  return shape_block.bytes() + constants_block.bytes() + arena_block.bytes() +
         terminal_block.bytes() + terminal_host.bytes();
}

void PreparedPlan::relocate(std::vector<uint8_t>& bytes,
                            const std::vector<Relocation>& relocations) const {
  for (const Relocation& r : relocations) {
    const uint64_t value = address(r.target);
    STWO_CHECK(r.at + sizeof(value) <= bytes.size(), "relocation outside its block");
    std::memcpy(bytes.data() + r.at, &value, sizeof(value));
  }
}

BoundLaunch PreparedPlan::bind(const PlanLaunch& launch) {
  BoundLaunch b;
  b.kernel = runtime.kernel(launch.kernel, launch.shared_bytes);
  b.geometry.grid_x = launch.grid_x;
  b.geometry.grid_y = launch.grid_y;
  b.geometry.threads = launch.threads;
  b.geometry.shared_bytes = launch.shared_bytes;
  b.args = launch.args;
  relocate(b.args, launch.relocations);
  b.plan = &launch;
  for (const BufferUse& u : launch.uses) b.predicted_bytes += u.read_bytes + u.written_bytes;
  return b;
}

void PreparedPlan::run_preparation() {
  // One staging buffer for everything the host writes; it lives until the copies are done.
  const auto& columns = plan.program->shape->instance->preprocessed();
  const auto column_bytes = [&](const PlanUpload& u) {
    return uint64_t{4} << columns[u.column].log_size;
  };
  uint64_t staging_bytes = plan.constants_bytes;
  for (const PlanUpload& u : plan.uploads) staging_bytes += column_bytes(u);
  const PinnedBlock staging = runtime.allocate_pinned(staging_bytes, "staging");
  auto* at = staging.as<uint8_t>();
  std::memset(at, 0, plan.constants_bytes);
  for (const PlanConstant& c : plan.constants) {
    std::vector<uint8_t> bytes = c.bytes;
    relocate(bytes, c.relocations);
    std::memcpy(at + plan.buffers[c.buffer].offset, bytes.data(), bytes.size());
  }
  runtime.upload(constants_block.address(), at, plan.constants_bytes, "prepare");
  at += plan.constants_bytes;
  for (const PlanUpload& u : plan.uploads) {
    const uint64_t bytes = column_bytes(u);
    columns[u.column].fill({reinterpret_cast<M31*>(at), bytes / sizeof(M31)});
    runtime.upload(address(u.target), at, bytes, "prepare");
    at += bytes;
  }
  // The proof is copied out with room for the largest opening; the rest of that room is never
  // written, and nothing undefined leaves the device.
  runtime.fill32(terminal_block.address(), 0, plan.terminal_bytes / 4, "prepare");
  for (const PlanLaunch& l : plan.prepare_launches) {
    const BoundLaunch b = bind(l);
    runtime.launch(b.kernel, b.geometry, b.args.data(), b.args.size(), "prepare", l.pass);
  }
  runtime.synchronize("prepare");
}

}  // namespace stwo::gpu

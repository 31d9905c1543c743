#include "kernels/plan/plan_builder.hpp"

#include <algorithm>
#include <limits>

#include "kernels/plan/arena.hpp"

namespace stwo::gpu {
namespace {

constexpr uint64_t kMaxGridX = std::numeric_limits<int32_t>::max();
constexpr uint64_t kMaxGridY = 65535;

}  // namespace

uint32_t PlanBuilder::buffer(std::string name, Region region, uint64_t bytes) {
  PlanBuffer b;
  b.name = std::move(name);
  b.region = region;
  b.bytes = bytes;
  plan_.buffers.push_back(std::move(b));
  return static_cast<uint32_t>(plan_.buffers.size() - 1);
}

BufferRef PlanBuilder::add_constant(const std::string& name, std::vector<uint8_t> bytes,
                                    std::vector<Relocation> relocations) {
  const uint32_t id = buffer(name, Region::kConstants, bytes.size());
  plan_.constants.push_back({id, std::move(bytes), std::move(relocations)});
  return {id, 0};
}

BufferRef PlanBuilder::constant_words(const std::string& name, const std::vector<uint32_t>& words) {
  std::vector<uint8_t> bytes(words.size() * 4);
  if (!words.empty()) std::memcpy(bytes.data(), words.data(), bytes.size());
  return add_constant(name, std::move(bytes), {});
}

PlanLaunch& PlanBuilder::add_launch(std::string kernel, std::string pass, const Geometry& geometry,
                                    std::vector<uint8_t> args, std::vector<Relocation> relocations,
                                    std::vector<BufferUse> uses) {
  close_tail();
  STWO_CHECK(geometry.grid_x >= 1 && geometry.grid_x <= kMaxGridX && geometry.grid_y >= 1 &&
                 geometry.grid_y <= kMaxGridY,
             kernel + ": grid out of range");
  PlanLaunch l;
  l.kernel = std::move(kernel);
  l.pass = std::move(pass);
  l.stage = stage;
  l.grid_x = static_cast<uint32_t>(geometry.grid_x);
  l.grid_y = static_cast<uint32_t>(geometry.grid_y);
  l.threads = geometry.threads;
  l.shared_bytes = geometry.shared_bytes;
  l.args = std::move(args);
  l.relocations = std::move(relocations);
  l.uses = std::move(uses);
  if (!preparing) l.nodes.push_back(node);
  list().push_back(std::move(l));
  return list().back();
}

void PlanBuilder::also_node(uint32_t id) {
  auto& nodes = plan_.launches.back().nodes;
  if (std::find(nodes.begin(), nodes.end(), id) == nodes.end()) nodes.push_back(id);
}

void PlanBuilder::use(PlanLaunch& launch, uint32_t buffer, uint64_t read_bytes,
                      uint64_t written_bytes) const {
  for (BufferUse& u : launch.uses) {
    if (u.buffer == buffer) {
      u.read_bytes += read_bytes;
      u.written_bytes += written_bytes;
      return;
    }
  }
  launch.uses.push_back({buffer, read_bytes, written_bytes});
}

void PlanBuilder::set_transcript(BufferRef state, BufferRef log, bool reduce) {
  state_ = state;
  log_ = log;
  reduce_ = reduce;
}

uint32_t PlanBuilder::log_entry(std::string step) {
  plan_.terminal.log_steps.push_back(std::move(step));
  return static_cast<uint32_t>(plan_.terminal.log_steps.size() - 1);
}

void PlanBuilder::open_tail(uint32_t offset) { tail_offset_ = offset; }

void PlanBuilder::add_op(Relocatable<TranscriptOp> op) {
  if (!tail_offset_) {
    LaunchArgs<TranscriptTail> args;
    launch("transcript", "transcript", {1, 1, 32, 0}, args);
    open_tail(0);
  } else {
    also_node(node);
  }
  ops_.push_back(std::move(op));
}

void PlanBuilder::absorb(BufferRef words, uint32_t count, std::optional<std::string> log_step) {
  Relocatable<TranscriptOp> op;
  op->kind = TranscriptOpKind::kMix;
  op->count = count;
  op->log_entry = log_step ? log_entry(*log_step) : kNoLogEntry;
  op.point(op->words, words);
  add_op(std::move(op));
  op_uses_.push_back({words.buffer, uint64_t{4} * count, 0});
}

void PlanBuilder::draw(BufferRef out) {
  Relocatable<TranscriptOp> op;
  op->kind = TranscriptOpKind::kDraw;
  op->log_entry = kNoLogEntry;
  op.point(op->out, out);
  add_op(std::move(op));
  op_uses_.push_back({out.buffer, 0, 16});
}

void PlanBuilder::copy(BufferRef from, uint32_t count, BufferRef to) {
  Relocatable<TranscriptOp> op;
  op->kind = TranscriptOpKind::kCopy;
  op->count = count;
  op->log_entry = kNoLogEntry;
  op.point(op->words, from);
  op.point(op->out, to);
  add_op(std::move(op));
  op_uses_.push_back({from.buffer, uint64_t{4} * count, 0});
  op_uses_.push_back({to.buffer, 0, uint64_t{4} * count});
}

void PlanBuilder::reset_transcript() {
  Relocatable<TranscriptOp> op;
  op->kind = TranscriptOpKind::kReset;
  op->log_entry = kNoLogEntry;
  add_op(std::move(op));
}

void PlanBuilder::close_tail() {
  if (!tail_offset_) return;
  const uint32_t offset = *tail_offset_;
  tail_offset_.reset();
  const auto ops = std::move(ops_);
  const auto op_uses = std::move(op_uses_);
  ops_.clear();
  op_uses_.clear();
  if (ops.empty()) return;
  PlanLaunch& l = list().back();
  Relocatable<TranscriptTail> tail;
  tail->n_ops = static_cast<uint32_t>(ops.size());
  tail->reduce = reduce_ ? 1 : 0;
  tail.point(tail->state, state_);
  tail.point(tail->log, log_);
  const BufferRef block =
      constant("transcript operations of launch " + std::to_string(list().size() - 1), ops);
  tail.point(tail->ops, block);
  const auto bytes = tail.bytes();
  std::copy(bytes.begin(), bytes.end(), l.args.begin() + offset);
  for (Relocation r : tail.relocations) {
    r.at += offset;
    l.relocations.push_back(r);
  }
  l.transcript_ops = tail->n_ops;
  use(l, state_.buffer, sizeof(TranscriptState), sizeof(TranscriptState));
  use(l, log_.buffer, 0, 0);
  use(l, block.buffer, ops.size() * sizeof(TranscriptOp), 0);
  for (const BufferUse& u : op_uses) use(l, u.buffer, u.read_bytes, u.written_bytes);
}

void PlanBuilder::finish() {
  close_tail();
  // A constant that a launch uses stands for the buffers it points to.
  for (auto* launches : {&plan_.prepare_launches, &plan_.launches}) {
    for (PlanLaunch& l : *launches) {
      for (const Relocation& r : l.relocations) use(l, r.target.buffer, 0, 0);
      const auto direct = l.uses;
      for (const BufferUse& u : direct) {
        if (plan_.buffers[u.buffer].region != Region::kConstants) continue;
        for (const PlanConstant& c : plan_.constants) {
          if (c.buffer != u.buffer) continue;
          for (const Relocation& r : c.relocations) use(l, r.target.buffer, 0, 0);
        }
      }
    }
  }
  std::vector<bool> used(plan_.buffers.size(), false);
  for (uint32_t i = 0; i < plan_.launches.size(); ++i) {
    const PlanLaunch& l = plan_.launches[i];
    for (const BufferUse& u : l.uses) {
      PlanBuffer& b = plan_.buffers[u.buffer];
      if (!used[u.buffer]) b.first_launch = i;
      if (b.producer.empty() && u.written_bytes > 0) b.producer = l.kernel;
      used[u.buffer] = true;
      b.last_launch = i;
      b.last_consumer = l.kernel;
      b.written_in_request |= u.written_bytes > 0;
    }
  }
  for (const PlanLaunch& l : plan_.prepare_launches) {
    for (const BufferUse& u : l.uses) {
      PlanBuffer& b = plan_.buffers[u.buffer];
      STWO_CHECK(b.region != Region::kArena || !used[u.buffer],
                 "arena buffer " + b.name + " is used by preparation and request");
      if (b.producer.empty() && u.written_bytes > 0) b.producer = l.kernel;
    }
  }
  const auto end = static_cast<uint32_t>(plan_.launches.empty() ? 0 : plan_.launches.size() - 1);
  std::vector<ArenaRequest> requests;
  std::vector<uint32_t> arena;
  uint64_t* const sizes[] = {&plan_.tables_bytes, &plan_.shape_bytes, &plan_.constants_bytes,
                             nullptr, &plan_.terminal_bytes};
  for (uint32_t i = 0; i < plan_.buffers.size(); ++i) {
    PlanBuffer& b = plan_.buffers[i];
    if (b.region == Region::kArena) {
      STWO_CHECK(used[i], "buffer " + b.name + " is not used");
      arena.push_back(i);
      requests.push_back({b.bytes, b.alignment, b.first_launch, b.last_launch});
      continue;
    }
    if (b.region != Region::kTerminal) {
      b.first_launch = 0;
      b.last_launch = end;
    }
    uint64_t& size = *sizes[static_cast<size_t>(b.region)];
    b.offset = size;
    size += (b.bytes + b.alignment - 1) / b.alignment * b.alignment;
  }
  const ArenaLayout layout = plan_arena(requests);
  for (size_t k = 0; k < arena.size(); ++k) plan_.buffers[arena[k]].offset = layout.offsets[k];
  plan_.arena_bytes = layout.bytes;
  plan_.arena_live_peak = layout.live_peak;
}

}  // namespace stwo::gpu

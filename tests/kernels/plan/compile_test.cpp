// What every compiled plan must satisfy, over a spread of shapes. Compiling needs no device; a few
// small plans are also run on the emulator, with memory poisoned outside of its lifetimes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <map>
#include <random>
#include <set>

#include "kernels/abi/transcript_args.hpp"
#include "kernels/cuda_backend.hpp"
#include "kernels/emulator/emulated_runtime.hpp"
#include "kernels/emulator/emulator.hpp"
#include "kernels/fri/fri_args.hpp"
#include "kernels/hash/hash_args.hpp"
#include "kernels/prepared_plan.hpp"
#include "prover/cpu/cpu_backend.hpp"
#include "prover/errors.hpp"
#include "prover/proof/proof_json.hpp"
#include "prover/prove.hpp"
#include "tests/kernels/plan/plan_cases.hpp"

namespace stwo::gpu {
namespace {

/// Plans by case: several tests look at each.
const CudaPlan& plan_of(const PlanCase& c) {
  static std::map<std::string, CudaPlan> plans;
  auto it = plans.find(c.name);
  if (it == plans.end()) it = plans.emplace(c.name, compile_case(c)).first;
  return it->second;
}

constexpr uint32_t kNever = UINT32_MAX;

/// What a launch can reach through its arguments: directly, and through the constants they point
/// to.
std::vector<BufferRef> reachable(const CudaPlan& plan, const PlanLaunch& launch) {
  std::vector<BufferRef> out;
  std::vector<BufferRef> next;
  for (const Relocation& r : launch.relocations) next.push_back(r.target);
  std::set<uint32_t> constants;
  while (!next.empty()) {
    const BufferRef ref = next.back();
    next.pop_back();
    out.push_back(ref);
    if (plan.buffers[ref.buffer].region != Region::kConstants) continue;
    if (!constants.insert(ref.buffer).second) continue;
    for (const PlanConstant& c : plan.constants) {
      if (c.buffer != ref.buffer) continue;
      for (const Relocation& r : c.relocations) next.push_back(r.target);
    }
  }
  return out;
}

struct Interval {
  uint32_t first = kNever;
  uint32_t last = 0;
};

/// First and last launch that can reach each buffer.
std::vector<Interval> intervals(const CudaPlan& plan) {
  std::vector<Interval> out(plan.buffers.size());
  for (uint32_t i = 0; i < plan.launches.size(); ++i) {
    const auto extend = [&](uint32_t buffer) {
      out[buffer].first = std::min(out[buffer].first, i);
      out[buffer].last = std::max(out[buffer].last, i);
    };
    for (const BufferRef& ref : reachable(plan, plan.launches[i])) extend(ref.buffer);
    for (const BufferUse& u : plan.launches[i].uses) extend(u.buffer);
  }
  return out;
}

const PlanConstant& constant_of(const CudaPlan& plan, uint32_t buffer) {
  for (const PlanConstant& c : plan.constants) {
    if (c.buffer == buffer) return c;
  }
  throw ContractError("a constants buffer without content");
}

BufferRef target_at(const std::vector<Relocation>& relocations, uint64_t at) {
  for (const Relocation& r : relocations) {
    if (r.at == at) return r.target;
  }
  throw ContractError("no address at byte " + std::to_string(at));
}

/// A transcript operation with its addresses resolved to places.
struct Operation {
  TranscriptOp op;
  BufferRef words;
  BufferRef out;
};

/// Offset of the TranscriptTail in a launch's arguments, if its kernel has one.
std::optional<size_t> tail_offset(const PlanLaunch& l) {
  if (l.kernel == "transcript") return 0;
  if (l.kernel == "hash_top") return offsetof(HashTopArgs, transcript);
  return std::nullopt;
}

std::vector<Operation> operations(const CudaPlan& plan, const PlanLaunch& l) {
  std::vector<Operation> out;
  const auto offset = tail_offset(l);
  if (!offset || l.transcript_ops == 0) return out;
  TranscriptTail tail;
  std::memcpy(&tail, l.args.data() + *offset, sizeof(tail));
  EXPECT_EQ(tail.n_ops, l.transcript_ops);
  const BufferRef block = target_at(l.relocations, *offset + offsetof(TranscriptTail, ops));
  const PlanConstant& c = constant_of(plan, block.buffer);
  EXPECT_EQ(c.bytes.size(), tail.n_ops * sizeof(TranscriptOp));
  for (size_t k = 0; k < tail.n_ops; ++k) {
    Operation o;
    std::memcpy(&o.op, c.bytes.data() + k * sizeof(TranscriptOp), sizeof(TranscriptOp));
    const uint64_t at = k * sizeof(TranscriptOp);
    if (o.op.kind == TranscriptOpKind::kMix || o.op.kind == TranscriptOpKind::kCopy) {
      o.words = target_at(c.relocations, at + offsetof(TranscriptOp, words));
    }
    if (o.op.kind == TranscriptOpKind::kDraw || o.op.kind == TranscriptOpKind::kCopy) {
      o.out = target_at(c.relocations, at + offsetof(TranscriptOp, out));
    }
    out.push_back(o);
  }
  return out;
}

uint32_t terminal_buffer(const CudaPlan& plan) {
  for (uint32_t i = 0; i < plan.buffers.size(); ++i) {
    if (plan.buffers[i].region == Region::kTerminal) return i;
  }
  throw ContractError("a plan without a terminal buffer");
}

class CompiledPlan : public testing::TestWithParam<PlanCase> {
 protected:
  const CudaPlan& plan = plan_of(GetParam());
  const ProofProgram& program = *plan.program;
  const ProofShape& shape = *program.shape;
};

// ---- Memory

TEST_P(CompiledPlan, LifetimesAreThoseOfTheLaunches) {
  const auto lives = intervals(plan);
  for (size_t b = 0; b < plan.buffers.size(); ++b) {
    const PlanBuffer& buffer = plan.buffers[b];
    SCOPED_TRACE(buffer.name);
    if (buffer.region == Region::kArena) {
      EXPECT_EQ(buffer.first_launch, lives[b].first);
      EXPECT_EQ(buffer.last_launch, lives[b].last);
    } else if (buffer.region != Region::kTerminal) {
      EXPECT_EQ(buffer.first_launch, 0u);
      EXPECT_EQ(buffer.last_launch, plan.launches.size() - 1);
    }
    // Preparation writes nothing that requests alias.
    for (const PlanLaunch& l : plan.prepare_launches) {
      for (const BufferRef& ref : reachable(plan, l)) {
        EXPECT_FALSE(ref.buffer == b && buffer.region == Region::kArena) << l.pass;
      }
    }
  }
}

TEST_P(CompiledPlan, LiveArenaBuffersDoNotOverlap) {
  const auto lives = intervals(plan);
  for (size_t a = 0; a < plan.buffers.size(); ++a) {
    const PlanBuffer& x = plan.buffers[a];
    if (x.region != Region::kArena) continue;
    EXPECT_EQ(x.offset % x.alignment, 0u) << x.name;
    EXPECT_GE(x.alignment, 256u) << x.name;
    EXPECT_LE(x.offset + x.bytes, plan.arena_bytes) << x.name;
    EXPECT_GT(x.bytes, 0u) << x.name;
    for (size_t b = 0; b < a; ++b) {
      const PlanBuffer& y = plan.buffers[b];
      if (y.region != Region::kArena || lives[a].last < lives[b].first ||
          lives[b].last < lives[a].first) {
        continue;
      }
      EXPECT_TRUE(x.offset + x.bytes <= y.offset || y.offset + y.bytes <= x.offset)
          << x.name << " and " << y.name;
    }
  }
}

TEST_P(CompiledPlan, OtherRegionsHoldTheirBuffersApart) {
  const std::map<Region, uint64_t> sizes = {{Region::kTables, plan.tables_bytes},
                                            {Region::kShape, plan.shape_bytes},
                                            {Region::kConstants, plan.constants_bytes},
                                            {Region::kTerminal, plan.terminal_bytes}};
  for (const auto& [region, size] : sizes) {
    std::map<uint64_t, const PlanBuffer*> by_offset;
    for (const PlanBuffer& b : plan.buffers) {
      if (b.region != region) continue;
      EXPECT_EQ(b.offset % b.alignment, 0u) << b.name;
      EXPECT_TRUE(by_offset.emplace(b.offset, &b).second) << b.name;
    }
    uint64_t at = 0;
    for (const auto& [offset, b] : by_offset) {
      EXPECT_GE(offset, at) << b->name;
      at = offset + b->bytes;
    }
    EXPECT_LE(at, size) << region_name(region);
  }
  // Tables are bound by their order, not by their offset.
  uint32_t index = 0;
  for (uint32_t b = 0; b < plan.buffers.size(); ++b) {
    if (plan.buffers[b].region != Region::kTables) continue;
    EXPECT_EQ(plan.table_index(b), index++);
    EXPECT_EQ(plan.buffers[b].bytes, uint64_t{4} << plan.table_log);
  }
  EXPECT_EQ(index, 4u);
}

TEST_P(CompiledPlan, LivePeakIsWhatLaunchesHold) {
  const auto lives = intervals(plan);
  uint64_t peak = 0;
  for (uint32_t i = 0; i < plan.launches.size(); ++i) {
    uint64_t sum = 0;
    for (size_t b = 0; b < plan.buffers.size(); ++b) {
      const PlanBuffer& buffer = plan.buffers[b];
      if (buffer.region != Region::kArena || lives[b].first > i || i > lives[b].last) continue;
      sum += (buffer.bytes + buffer.alignment - 1) / buffer.alignment * buffer.alignment;
    }
    peak = std::max(peak, sum);
  }
  EXPECT_EQ(plan.arena_live_peak, peak);
  EXPECT_GE(plan.arena_bytes, peak);
}

TEST_P(CompiledPlan, EveryAddressLiesInsideItsBuffer) {
  const auto check = [&](const std::vector<uint8_t>& bytes,
                         const std::vector<Relocation>& relocations) {
    std::set<uint32_t> places;
    for (const Relocation& r : relocations) {
      EXPECT_EQ(r.at % 8, 0u);
      EXPECT_LE(r.at + 8, bytes.size());
      EXPECT_TRUE(places.insert(r.at).second) << "two addresses at byte " << r.at;
      ASSERT_LT(r.target.buffer, plan.buffers.size());
      const PlanBuffer& b = plan.buffers[r.target.buffer];
      EXPECT_LT(r.target.offset, b.bytes) << b.name;
      EXPECT_EQ(r.target.offset % 4, 0u) << b.name;
    }
  };
  for (const auto* launches : {&plan.prepare_launches, &plan.launches}) {
    for (const PlanLaunch& l : *launches) {
      SCOPED_TRACE(l.kernel + ": " + l.pass);
      check(l.args, l.relocations);
      // Everything that is reached is accounted for, with or without traffic.
      for (const BufferRef& ref : reachable(plan, l)) {
        EXPECT_EQ(std::count_if(l.uses.begin(), l.uses.end(),
                                [&](const BufferUse& u) { return u.buffer == ref.buffer; }),
                  1)
            << plan.buffers[ref.buffer].name;
      }
    }
  }
  for (const PlanConstant& c : plan.constants) {
    SCOPED_TRACE(plan.buffers[c.buffer].name);
    EXPECT_EQ(plan.buffers[c.buffer].bytes, c.bytes.size());
    EXPECT_EQ(plan.buffers[c.buffer].region, Region::kConstants);
    check(c.bytes, c.relocations);
    for (const Relocation& r : c.relocations) {
      // Lifetimes are followed through one block of constants only.
      if (plan.buffers[r.target.buffer].region != Region::kConstants) continue;
      EXPECT_TRUE(constant_of(plan, r.target.buffer).relocations.empty());
    }
  }
  for (const PlanUpload& u : plan.uploads) {
    const PlanBuffer& b = plan.buffers[u.target.buffer];
    EXPECT_EQ(b.region, Region::kShape);
    const uint32_t log = shape.instance->preprocessed()[u.column].log_size;
    EXPECT_LE(u.target.offset + (uint64_t{4} << log), b.bytes) << b.name;
  }
}

// ---- Launches

TEST_P(CompiledPlan, LaunchesAreWithinTheirKernelsLimits) {
  for (const auto* launches : {&plan.prepare_launches, &plan.launches}) {
    for (const PlanLaunch& l : *launches) {
      SCOPED_TRACE(l.kernel + ": " + l.pass);
      const emulator::KernelInfo* kernel = emulator::find_kernel(l.kernel);
      ASSERT_NE(kernel, nullptr);
      EXPECT_EQ(l.args.size(), kernel->args_size);
      EXPECT_GE(l.grid_x, 1u);
      EXPECT_LE(l.grid_x, 0x7fffffffu);
      EXPECT_GE(l.grid_y, 1u);
      EXPECT_LE(l.grid_y, 65535u);
      EXPECT_GE(l.threads, 32u);
      EXPECT_EQ(l.threads % 32, 0u);
      EXPECT_LE(l.threads, kernel->max_threads);
      EXPECT_LE(l.shared_bytes, 227u * 1024);
      EXPECT_FALSE(l.pass.empty());
    }
  }
}

TEST_P(CompiledPlan, EveryNodeIsCarriedOut) {
  std::vector<bool> carried(program.nodes.size(), false);
  for (const PlanLaunch& l : plan.launches) {
    std::set<uint32_t> own;
    for (const uint32_t n : l.nodes) {
      ASSERT_LT(n, program.nodes.size());
      EXPECT_TRUE(own.insert(n).second) << l.pass;
      carried[n] = true;
    }
    EXPECT_FALSE(l.nodes.empty()) << l.pass;
  }
  for (size_t i = 0; i < carried.size(); ++i) {
    const ProofNode& n = program.nodes[i];
    // There is nothing to open in a tree without columns.
    const bool idle =
        n.kind == NodeKind::kOpenTree && shape.trees[n.index].column_log_sizes.empty();
    EXPECT_EQ(carried[i], !idle) << i << " " << node_kind_name(n.kind) << " " << n.index;
  }
  for (const PlanLaunch& l : plan.prepare_launches) EXPECT_TRUE(l.nodes.empty());
}

TEST_P(CompiledPlan, LaunchesKeepTheProgramsOrder) {
  std::vector<Interval> at(program.nodes.size());
  for (uint32_t i = 0; i < plan.launches.size(); ++i) {
    for (const uint32_t n : plan.launches[i].nodes) {
      at[n].first = std::min(at[n].first, i);
      at[n].last = std::max(at[n].last, i);
    }
  }
  for (size_t n = 0; n < program.nodes.size(); ++n) {
    for (const uint32_t d : program.nodes[n].depends_on) {
      if (at[n].first == kNever || at[d].first == kNever) continue;
      EXPECT_LE(at[d].last, at[n].first)
          << node_kind_name(program.nodes[d].kind) << " " << d << " before "
          << node_kind_name(program.nodes[n].kind) << " " << n;
    }
  }
}

/// A session launches at most one segment of equal stages per call of prove().
TEST_P(CompiledPlan, StagesComeInTheOrderOfCalls) {
  std::vector<Stage> segments;
  for (const PlanLaunch& l : plan.launches) {
    if (segments.empty() || segments.back() != l.stage) segments.push_back(l.stage);
  }
  std::vector<Stage> calls = {Stage::kIngress};
  for (const TranscriptStep& step : shape.instance->transcript(shape.statement)) {
    if (step.kind == TranscriptStep::Kind::kCommitTree) {
      calls.push_back(Stage::kTraceGeneration);
      calls.push_back(Stage::kTraceCommit);
    } else {
      calls.push_back(Stage::kIngress);
    }
  }
  for (const Stage s : {Stage::kConstraintEvaluation, Stage::kOods, Stage::kQuotient,
                        Stage::kFriCommit, Stage::kPow, Stage::kDecommit}) {
    calls.push_back(s);
  }
  size_t done = 0;
  for (const Stage s : calls) {
    if (done < segments.size() && segments[done] == s) ++done;
  }
  EXPECT_EQ(done, segments.size());
}

TEST_P(CompiledPlan, TranscriptIsTheProgramsChain) {
  const TerminalLayout& t = plan.terminal;
  const uint32_t terminal = terminal_buffer(plan);
  std::vector<std::string> want;
  std::vector<std::string> want_log;
  for (const ProofNode& n : program.nodes) {
    const std::string index = std::to_string(n.index);
    switch (n.kind) {
      case NodeKind::kBegin: want.push_back("reset"); break;
      case NodeKind::kMixConfig: want_log.push_back("mix_config"); break;
      case NodeKind::kMixU64: want_log.push_back("mix_u64"); break;
      case NodeKind::kAbsorbRoot:
        want_log.push_back(n.index + 1 == shape.trees.size() ? "composition_root"
                                                             : "tree" + index + "_root");
        break;
      case NodeKind::kAbsorbSamples: want_log.push_back("sampled_values"); break;
      case NodeKind::kFriAbsorb: want_log.push_back("fri_layer_" + index + "_root"); break;
      case NodeKind::kAbsorbLastLayer: want_log.push_back("fri_last_layer"); break;
      case NodeKind::kAbsorbNonce: want_log.push_back("pow_nonce"); break;
      case NodeKind::kDrawChallenge: want.push_back("draw " + index); break;
      default: break;
    }
    if (n.transcript && n.kind != NodeKind::kBegin && n.kind != NodeKind::kDrawChallenge &&
        n.kind != NodeKind::kDrawQueries) {
      want.push_back("mix " + want_log.back());
    }
  }
  EXPECT_EQ(t.log_steps, want_log);

  std::vector<std::string> got;
  for (const PlanLaunch& l : plan.launches) {
    for (const Operation& o : operations(plan, l)) {
      switch (o.op.kind) {
        case TranscriptOpKind::kReset: got.push_back("reset"); break;
        case TranscriptOpKind::kMix:
          ASSERT_LT(o.op.log_entry, t.log_steps.size());
          got.push_back("mix " + t.log_steps[o.op.log_entry]);
          EXPECT_LE(o.words.offset + 4 * o.op.count, plan.buffers[o.words.buffer].bytes);
          break;
        case TranscriptOpKind::kDraw: {
          EXPECT_EQ(o.out.buffer, terminal);
          EXPECT_EQ(o.op.log_entry, kNoLogEntry);
          got.push_back("draw " + std::to_string((o.out.offset / 4 - t.challenges) / 4));
          break;
        }
        case TranscriptOpKind::kCopy: break;  // leaves the state alone
      }
    }
    if (l.kernel == "fri_tail") {
      FriTailArgs args;
      std::memcpy(&args, l.args.data(), sizeof(args));
      EXPECT_EQ(l.transcript_ops, 2 * args.n_layers + 1);
      if (args.n_layers > 0) {
        const PlanConstant& c =
            constant_of(plan, target_at(l.relocations, offsetof(FriTailArgs, layers)).buffer);
        for (size_t k = 0; k < args.n_layers; ++k) {
          FriTailLayer layer;
          std::memcpy(&layer, c.bytes.data() + k * sizeof(layer), sizeof(layer));
          got.push_back("mix " + t.log_steps.at(layer.log_entry));
          const BufferRef beta =
              target_at(c.relocations, k * sizeof(layer) + offsetof(FriTailLayer, beta));
          got.push_back("draw " + std::to_string((beta.offset / 4 - t.challenges) / 4));
        }
      }
      got.push_back("mix " + t.log_steps.at(args.last_log_entry));
    }
    if (l.kernel == "draw_queries") got.push_back("mix pow_nonce");
  }
  EXPECT_EQ(got, want);
}

TEST_P(CompiledPlan, ReadsOnlyWhatWasWritten) {
  // Written by preparation: uploads, then kernels.
  std::vector<bool> written(plan.buffers.size(), false);
  for (size_t b = 0; b < plan.buffers.size(); ++b) {
    written[b] = plan.buffers[b].region == Region::kTables;
  }
  for (const PlanConstant& c : plan.constants) written[c.buffer] = true;
  for (const PlanUpload& u : plan.uploads) written[u.target.buffer] = true;
  const auto run = [&](const PlanLaunch& l, bool request) {
    SCOPED_TRACE(l.kernel + ": " + l.pass);
    for (const BufferUse& u : l.uses) {
      const PlanBuffer& b = plan.buffers[u.buffer];
      // The transcript's state begins with a reset; the tail makes its own layers before it reads
      // them. Bytes of the terminal buffer have a test of their own.
      const bool own = b.name == "transcript state" || l.kernel == "fri_tail";
      if (u.written_bytes > 0) {
        if (u.read_bytes > 0 && !own && b.region != Region::kTerminal) {
          EXPECT_TRUE(written[u.buffer]) << b.name << " is updated before it is written";
        }
        if (request) {
          EXPECT_TRUE(b.region == Region::kArena || b.region == Region::kTerminal)
              << b.name << " would differ for the next request";
        }
        written[u.buffer] = true;
      }
      EXPECT_TRUE(written[u.buffer]) << b.name << " is read before it is written";
    }
  };
  for (const PlanLaunch& l : plan.prepare_launches) run(l, false);
  for (const PlanLaunch& l : plan.launches) run(l, true);
  const auto first = operations(plan, plan.launches[0]);
  ASSERT_FALSE(first.empty());
  EXPECT_EQ(first[0].op.kind, TranscriptOpKind::kReset);
  for (size_t b = 0; b < plan.buffers.size(); ++b) {
    EXPECT_TRUE(written[b]) << plan.buffers[b].name;
    bool in_request = false;
    for (const PlanLaunch& l : plan.launches) {
      for (const BufferUse& u : l.uses) in_request |= u.buffer == b && u.written_bytes > 0;
    }
    EXPECT_EQ(plan.buffers[b].written_in_request, in_request) << plan.buffers[b].name;
  }
}

// ---- Terminal buffer

/// Half-open ranges of words by what they hold.
std::map<std::string, std::pair<uint64_t, uint64_t>> terminal_fields(const CudaPlan& plan) {
  const TerminalLayout& t = plan.terminal;
  const ProofShape& s = *plan.program->shape;
  std::map<std::string, std::pair<uint64_t, uint64_t>> out;
  const auto add = [&](const std::string& name, uint64_t begin, uint64_t words) {
    EXPECT_TRUE(out.emplace(name, std::pair(begin, begin + words)).second) << name;
  };
  add("status", t.status, 1);
  add("n_positions", t.n_positions, 1);
  add("nonce", t.nonce, 2);
  add("log", t.log, 8 * t.log_steps.size());
  add("roots", t.roots, 8 * s.trees.size());
  add("fri_roots", t.fri_roots, 8 * s.fri_layers.size());
  for (size_t c = 0; c < plan.program->challenges.size(); ++c) {
    add("challenge " + std::to_string(c), t.challenges + 4 * c, 4);
  }
  add("point", t.point, 8);
  add("sampled_values", t.sampled_values, uint64_t{4} * plan.program->n_sampled_values);
  add("last_layer", t.last_layer, uint64_t{4} << s.config.fri.log_last_layer_degree_bound);
  add("positions", t.positions, t.position_capacity);
  for (size_t k = 0; k < s.trees.size(); ++k) {
    const std::string tree = " of tree " + std::to_string(k);
    add("queried values" + tree, t.queried_values.at(k),
        t.position_capacity * s.trees[k].column_log_sizes.size());
    const TerminalLayout::Opening& o = t.trees.at(k);
    add("witness" + tree, o.witness, 8 * o.witness_capacity);
    add("witness count" + tree, o.n_witness, 1);
  }
  for (size_t k = 0; k < s.fri_layers.size(); ++k) {
    const std::string layer = " of layer " + std::to_string(k);
    const TerminalLayout::Opening& o = t.fri_layers.at(k);
    add("witness" + layer, o.witness, 8 * o.witness_capacity);
    add("witness count" + layer, o.n_witness, 1);
    add("fri witness" + layer, o.fri_witness, 4 * o.fri_witness_capacity);
    add("fri witness count" + layer, o.n_fri_witness, 1);
  }
  return out;
}

TEST_P(CompiledPlan, TerminalFieldsLieApart) {
  std::vector<std::tuple<uint64_t, uint64_t, std::string>> fields;
  for (const auto& [name, range] : terminal_fields(plan)) {
    if (range.first < range.second) fields.emplace_back(range.first, range.second, name);
    EXPECT_LE(range.second, plan.terminal.words) << name;
  }
  std::sort(fields.begin(), fields.end());
  for (size_t i = 1; i < fields.size(); ++i) {
    EXPECT_LE(std::get<1>(fields[i - 1]), std::get<0>(fields[i]))
        << std::get<2>(fields[i - 1]) << " and " << std::get<2>(fields[i]);
  }
  EXPECT_EQ(plan.buffers[terminal_buffer(plan)].bytes, 4 * plan.terminal.words);
  EXPECT_GE(plan.terminal_bytes, 4 * plan.terminal.words);
}

/// Digests that a proof of the given leaves needs, by walking the tree.
uint64_t witness_size(std::set<uint64_t> known, uint32_t level) {
  uint64_t n = 0;
  for (; level > 0; --level) {
    std::set<uint64_t> parents;
    for (const uint64_t i : known) {
      n += known.contains(i ^ 1) ? 0 : 1;
      parents.insert(i >> 1);
    }
    known = std::move(parents);
  }
  return n;
}

/// Spread as far apart as can be: no other choice needs more.
std::set<uint64_t> spread(uint64_t n, uint32_t level) {
  std::set<uint64_t> out;
  const uint64_t leaves = uint64_t{1} << level;
  for (uint64_t i = 0; i < std::min(n, leaves); ++i) {
    uint64_t reversed = 0;
    for (uint32_t bit = 0; bit < level; ++bit) reversed |= (i >> bit & 1) << (level - 1 - bit);
    out.insert(reversed);
  }
  return out;
}

TEST_P(CompiledPlan, TerminalCapacitiesAreTheMostThatIsNeeded) {
  const TerminalLayout& t = plan.terminal;
  const uint64_t q = shape.config.fri.n_queries;
  EXPECT_EQ(t.position_capacity, q);
  std::mt19937_64 random(7);
  const auto check = [&](uint64_t capacity, uint32_t level) {
    // One sibling for every node on the way but those of the level itself.
    uint64_t formula = 0;
    for (uint32_t d = 0; d < level; ++d) formula += std::min(q, uint64_t{1} << d);
    EXPECT_EQ(capacity, formula);
    if (q > 500) return;
    EXPECT_LE(witness_size(spread(q, level), level), capacity);
    std::set<uint64_t> positions;
    for (uint64_t k = 0; k < q; ++k) positions.insert(random() >> (63 - level) >> 1);
    EXPECT_LE(witness_size(std::move(positions), level), capacity);
  };
  ASSERT_EQ(t.trees.size(), shape.trees.size());
  for (size_t k = 0; k < shape.trees.size(); ++k) {
    SCOPED_TRACE("tree " + std::to_string(k));
    if (shape.trees[k].column_log_sizes.empty()) {
      EXPECT_EQ(t.trees[k].witness_capacity, 0u);
    } else {
      check(t.trees[k].witness_capacity, shape.trees[k].height);
    }
    EXPECT_EQ(t.trees[k].fri_witness_capacity, 0u);
  }
  ASSERT_EQ(t.fri_layers.size(), shape.fri_layers.size());
  for (size_t k = 0; k < shape.fri_layers.size(); ++k) {
    SCOPED_TRACE("layer " + std::to_string(k));
    const FriLayerShape& layer = shape.fri_layers[k];
    check(t.fri_layers[k].witness_capacity, layer.log_size - layer.fold_step);
    // All values of the blocks that are opened.
    const uint64_t blocks = std::min(q, uint64_t{1} << (layer.log_size - layer.fold_step));
    EXPECT_EQ(t.fri_layers[k].fri_witness_capacity, blocks << layer.fold_step);
  }
}

/// Every field has one kind of writer, and nobody looks at it before.
TEST_P(CompiledPlan, TerminalFieldsAreWrittenBeforeTheyAreRead) {
  const uint32_t terminal = terminal_buffer(plan);
  const auto fields = terminal_fields(plan);
  const auto field_at = [&](uint64_t word) -> std::string {
    for (const auto& [name, range] : fields) {
      if (range.first <= word && word < range.second) return name;
    }
    return "padding";
  };
  std::map<std::string, uint32_t> made;
  const auto make = [&](const std::string& field, uint32_t launch) { made.emplace(field, launch); };
  for (uint32_t i = 0; i < plan.launches.size(); ++i) {
    const PlanLaunch& l = plan.launches[i];
    SCOPED_TRACE(std::to_string(i) + " " + l.kernel + ": " + l.pass);
    // Kernels may write these first.
    static const std::map<std::string, std::vector<std::string>> kWriters = {
        {"oods_point", {"status", "point"}},
        {"sample_finish", {"sampled_values"}},
        {"fri_tail", {"last_layer"}},
        {"draw_queries", {"nonce", "positions", "n_positions"}}};
    if (const auto own = kWriters.find(l.kernel); own != kWriters.end()) {
      for (const std::string& field : own->second) make(field, i);
    }
    const auto ops = operations(plan, l);
    for (const Operation& o : ops) {
      if (o.op.kind == TranscriptOpKind::kMix && o.words.buffer == terminal) {
        const std::string field = field_at(o.words.offset / 4);
        EXPECT_TRUE(made.contains(field)) << field;
      }
      if (o.op.kind == TranscriptOpKind::kDraw) make(field_at(o.out.offset / 4), i);
    }
    for (const BufferRef& ref : reachable(plan, l)) {
      if (ref.buffer != terminal) continue;
      const std::string field = field_at(ref.offset / 4);
      EXPECT_NE(field, "padding") << ref.offset;
      if (field.starts_with("challenge")) {
        if (l.kernel == "fri_tail") make(field, i);
        EXPECT_TRUE(made.contains(field)) << field;
      } else if (field == "point" || field == "sampled_values" || field == "status" ||
                 field == "positions" || field == "n_positions" || field == "nonce" ||
                 field == "last_layer") {
        EXPECT_TRUE(made.contains(field)) << field;
      }
    }
  }
  for (const char* field :
       {"status", "point", "sampled_values", "last_layer", "nonce", "positions", "n_positions"}) {
    EXPECT_TRUE(made.contains(field)) << field;
  }
  for (size_t c = 0; c < program.challenges.size(); ++c) {
    EXPECT_TRUE(made.contains("challenge " + std::to_string(c))) << c;
  }
}

// ---- Identity

void expect_equal(const PlanLaunch& a, const PlanLaunch& b) {
  EXPECT_EQ(a.kernel, b.kernel);
  EXPECT_EQ(a.pass, b.pass);
  EXPECT_EQ(a.stage, b.stage);
  EXPECT_EQ(a.args, b.args);
  EXPECT_EQ(a.nodes, b.nodes);
  EXPECT_EQ(a.transcript_ops, b.transcript_ops);
  EXPECT_EQ(std::tuple(a.grid_x, a.grid_y, a.threads, a.shared_bytes),
            std::tuple(b.grid_x, b.grid_y, b.threads, b.shared_bytes));
  ASSERT_EQ(a.relocations.size(), b.relocations.size());
  for (size_t i = 0; i < a.relocations.size(); ++i) {
    EXPECT_EQ(a.relocations[i].at, b.relocations[i].at);
    EXPECT_EQ(a.relocations[i].target.buffer, b.relocations[i].target.buffer);
    EXPECT_EQ(a.relocations[i].target.offset, b.relocations[i].target.offset);
  }
}

TEST_P(CompiledPlan, IsTheSameEveryTime) {
  const CudaPlan other = compile_case(GetParam());
  EXPECT_EQ(plan.cache_key, other.cache_key);
  EXPECT_EQ(plan.cache_key, plan_cache_key(program, plan.target, plan.options));
  EXPECT_EQ(plan.device_bytes(), other.device_bytes());
  ASSERT_EQ(plan.launches.size(), other.launches.size());
  ASSERT_EQ(plan.prepare_launches.size(), other.prepare_launches.size());
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    expect_equal(plan.launches[i], other.launches[i]);
  }
  for (size_t i = 0; i < plan.prepare_launches.size(); ++i) {
    expect_equal(plan.prepare_launches[i], other.prepare_launches[i]);
  }
  ASSERT_EQ(plan.buffers.size(), other.buffers.size());
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    EXPECT_EQ(plan.buffers[i].name, other.buffers[i].name);
    EXPECT_EQ(plan.buffers[i].bytes, other.buffers[i].bytes);
    EXPECT_EQ(plan.buffers[i].offset, other.buffers[i].offset) << plan.buffers[i].name;
  }
  ASSERT_EQ(plan.constants.size(), other.constants.size());
  for (size_t i = 0; i < plan.constants.size(); ++i) {
    EXPECT_EQ(plan.constants[i].bytes, other.constants[i].bytes);
  }
  EXPECT_EQ(plan.terminal.words, other.terminal.words);
}

TEST_P(CompiledPlan, IsAdmittedByTheBytesItNeeds) {
  const auto at = [&](uint64_t bytes) {
    PlanTarget t = test_target();
    t.memory_bytes = bytes;
    return compile_plan(plan.program, t, plan.options).device_bytes();
  };
  const auto refusal = [&](uint64_t bytes) -> std::string {
    try {
      at(bytes);
    } catch (const EnvironmentError& e) {
      EXPECT_EQ(e.code(), "OUT_OF_DEVICE_MEMORY");
      return e.what();
    }
    return "";
  };
  const uint64_t needed = plan.device_bytes();
  EXPECT_EQ(needed, plan.tables_bytes + plan.shape_bytes + plan.constants_bytes + plan.arena_bytes +
                        plan.terminal_bytes);
  EXPECT_EQ(at(needed), needed);
  for (const uint64_t bytes : {needed - 1, uint64_t{1}}) {
    const std::string message = refusal(bytes);
    EXPECT_FALSE(message.empty()) << bytes;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_TRUE(message.starts_with(shape.statement.air + ": ")) << message;
    // It must not seem to fit.
    const std::string fits = "needs " + std::to_string(bytes >> 20) + " MiB";
    EXPECT_EQ(message.find(fits), std::string::npos) << message;
  }
}

// ---- Ledger

TEST_P(CompiledPlan, LedgerAccountsForEveryUse) {
  const auto ledger = plan.pass_ledger();
  ASSERT_EQ(ledger.size(), plan.launches.size());
  uint64_t barriers = 0;
  for (size_t i = 0; i < ledger.size(); ++i) {
    const PassRecord& row = ledger[i];
    const PlanLaunch& l = plan.launches[i];
    SCOPED_TRACE(l.kernel + ": " + l.pass);
    uint64_t read = 0;
    uint64_t written = 0;
    for (const BufferUse& u : l.uses) {
      read += u.read_bytes;
      written += u.written_bytes;
    }
    EXPECT_EQ(row.kernel, l.kernel);
    EXPECT_EQ(row.pass, l.pass);
    EXPECT_EQ(row.stage, l.stage);
    EXPECT_EQ(row.launches, 1u);
    EXPECT_EQ(row.input_bytes + row.reread_bytes, read);
    EXPECT_EQ(row.output_bytes, written);
    EXPECT_LE(row.temporary_bytes, written);
    EXPECT_EQ(row.barriers, l.transcript_ops > 0 ? 1u : 0u);
    barriers += row.barriers;
    // A launch whose output nobody reads and no proof holds would be in vain.
    EXPECT_GT(written, 0u);
    bool terminal = false;
    for (const BufferUse& u : l.uses) {
      terminal |= u.written_bytes > 0 && plan.buffers[u.buffer].region == Region::kTerminal;
    }
    EXPECT_TRUE(terminal || row.retained_consumer.has_value());
  }
  EXPECT_EQ(barriers, plan.transcript_barriers());
  // Every draw and absorb of the program is in one of them.
  uint64_t transcript_ops = 0;
  for (const PlanLaunch& l : plan.launches) transcript_ops += l.transcript_ops;
  const auto draws_queries = 1u;
  const auto resets_and_copies = 2u;
  EXPECT_EQ(transcript_ops, program.transcript_barriers() - draws_queries + resets_and_copies);
}

INSTANTIATE_TEST_SUITE_P(Shapes, CompiledPlan, testing::ValuesIn(plan_cases()),
                         [](const auto& test) { return test.param.name; });

TEST(PlanTargets, ArenaIsCloseToItsLivePeak) {
  for (const PlanCase& c : target_cases()) {
    const CudaPlan& plan = plan_of(c);
    const double ratio =
        static_cast<double>(plan.arena_bytes) / static_cast<double>(plan.arena_live_peak);
    std::cout << c.name << ": arena " << plan.arena_bytes << " bytes, live peak "
              << plan.arena_live_peak << ", ratio " << ratio << ", " << plan.launches.size()
              << " launches\n";
    EXPECT_LE(ratio, 1.25) << c.name;
  }
}

TEST(PlanTargets, TooManyOpeningsAreRefused) {
  // 4096 queries of blocks of 2^16 values.
  const auto program = program_of(fibonacci(28, 3), parse_config("queries=4096,fold=16"));
  try {
    compile_plan(program, test_target());
    FAIL();
  } catch (const UsageError& e) {
    EXPECT_EQ(e.code(), "SHAPE");
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
  }
}

/// A device must have multiprocessors; how many only changes how work is cut.
TEST(PlanTargets, TakesAnyNumberOfMultiprocessors) {
  const auto program = program_of(fibonacci(20, 100), fast_config());
  PlanTarget t = test_target();
  for (const uint32_t n : {1u, 16u, 132u, 1000u}) {
    t.multiprocessors = n;
    const CudaPlan plan = compile_plan(program, t);
    for (const PlanLaunch& l : plan.launches) {
      EXPECT_LE(l.grid_y, 65535u) << l.pass;
    }
  }
  t.multiprocessors = 0;
  EXPECT_THROW(compile_plan(program, t), ContractError);
}

// ---- The ledger's bytes, against the formulas of the kernels' headers

/// One component of C columns and N = 2^n rows whose transform takes two passes, blowup B.
class UniformLedger : public testing::TestWithParam<PlanCase> {
 protected:
  void SetUp() override {
    for (uint32_t b = 0; b < plan.buffers.size(); ++b) ids[plan.buffers[b].name] = b;
  }
  uint32_t id(const std::string& name) const {
    const auto it = ids.find(name);
    if (it == ids.end()) throw ContractError("no buffer " + name);
    return it->second;
  }
  /// The launch whose pass has this name; of several the last.
  size_t find(const std::string& kernel, const std::string& pass) const {
    size_t at = plan.launches.size();
    for (size_t i = 0; i < plan.launches.size(); ++i) {
      if (plan.launches[i].kernel.starts_with(kernel) && plan.launches[i].pass == pass) at = i;
    }
    if (at == plan.launches.size()) throw ContractError("no launch " + kernel + ": " + pass);
    return at;
  }
  std::pair<uint64_t, uint64_t> traffic(size_t launch, const std::string& buffer) const {
    for (const BufferUse& u : plan.launches[launch].uses) {
      if (u.buffer == id(buffer)) return {u.read_bytes, u.written_bytes};
    }
    return {0, 0};
  }
  /// Output of all rows of a stage.
  uint64_t output_of(Stage stage) const {
    uint64_t sum = 0;
    for (const PassRecord& row : ledger) sum += row.stage == stage ? row.output_bytes : 0;
    return sum;
  }
  /// Bytes that all launches write to a buffer.
  uint64_t written(const std::string& buffer) const {
    uint64_t sum = 0;
    for (size_t i = 0; i < plan.launches.size(); ++i) sum += traffic(i, buffer).second;
    return sum;
  }

  const CudaPlan& plan = plan_of(GetParam());
  const ProofShape& shape = *plan.program->shape;
  const std::vector<PassRecord> ledger = plan.pass_ledger();
  std::map<std::string, uint32_t> ids;
  const uint64_t n = shape.instance->components()[0]->log_size();
  const uint64_t rows = uint64_t{1} << n;                           // N
  const uint64_t columns = shape.trees[1].column_log_sizes.size();  // C
  const uint64_t blowup = uint64_t{1} << shape.log_blowup();        // B
  const std::string trace = "columns of tree 1, wide_fibonacci";
  const std::string what = "tree 1, wide_fibonacci";
};

using Bytes = std::pair<uint64_t, uint64_t>;

TEST_P(UniformLedger, CommitsTheTrace) {
  const uint64_t cn = columns * rows;
  const size_t make = find("wide_fibonacci_trace_0", "trace of wide_fibonacci");
  EXPECT_EQ(traffic(make, trace), Bytes(0, 4 * cn));
  EXPECT_EQ(ledger[make].output_bytes, 4 * cn);
  EXPECT_EQ(ledger[make].input_bytes + ledger[make].reread_bytes, 0u);
  EXPECT_EQ(ledger[make].temporary_bytes, 0u);
  // 8CN, then 4CN in and 4CNB out, then 8CNB.
  const size_t low = find("fft_inverse_rows", "interpolate low layers of " + what);
  EXPECT_EQ(traffic(low, trace), Bytes(4 * cn, 4 * cn));
  const size_t high = find("fft_extend_strided", "lde high layers of " + what);
  EXPECT_EQ(traffic(high, trace), Bytes(4 * cn, 4 * cn * blowup));
  const size_t last = find("fft_forward_rows", "lde low layers of " + what);
  EXPECT_EQ(traffic(last, trace), Bytes(4 * cn * blowup, 4 * cn * blowup));
  EXPECT_EQ(written(trace), 4 * cn * (2 + 2 * blowup));
  EXPECT_EQ(plan.buffers[id(trace)].bytes, 4 * cn * blowup);
  EXPECT_EQ(output_of(Stage::kTraceGeneration), 4 * cn);
  // The columns three times, the tree, and what the transcript writes.
  const uint64_t commit = 4 * cn * (1 + 2 * blowup) + (uint64_t{64} << shape.trees[1].height);
  EXPECT_GE(output_of(Stage::kTraceCommit), commit);
  EXPECT_LE(output_of(Stage::kTraceCommit), commit + 256);
  // Each pass is the next one's input; twiddles aside nothing is read twice.
  for (const size_t i : {low, high, last})
    EXPECT_EQ(ledger[i].output_bytes, traffic(i, trace).second);
  EXPECT_EQ(ledger[make].retained_consumer,
            plan.launches[low].kernel + ": " + plan.launches[low].pass);
  EXPECT_EQ(ledger[low].retained_consumer,
            plan.launches[high].kernel + ": " + plan.launches[high].pass);
  EXPECT_EQ(ledger[high].retained_consumer,
            plan.launches[last].kernel + ": " + plan.launches[last].pass);
  EXPECT_EQ(ledger[last].retained_consumer, "hash_leaves_uniform: leaves and low levels of tree 1");
}

TEST_P(UniformLedger, HashesEveryNodeOnce) {
  const uint64_t leaves = rows * blowup;
  const size_t first = find("hash_leaves_uniform", "leaves and low levels of tree 1");
  EXPECT_EQ(traffic(first, trace), Bytes(4 * columns * leaves, 0));
  EXPECT_GE(ledger[first].input_bytes, 4 * columns * leaves);
  // t levels above the leaves: 32 (2 - 2^-t) 2^h.
  HashLeavesArgs args;
  std::memcpy(&args, plan.launches[first].args.data(), sizeof(args));
  EXPECT_EQ(traffic(first, "hashes of tree 1"),
            Bytes(0, 64 * leaves - (32 * leaves >> (args.log_tile - args.log_stop))));
  for (const TreeShape& tree : {shape.trees[1], shape.trees[2]}) {
    const std::string name = "hashes of tree " + std::to_string(&tree == &shape.trees[1] ? 1 : 2);
    // All 2^(h+1) - 1 nodes, and the unused digest 0.
    EXPECT_EQ(written(name), uint64_t{64} << tree.height);
  }
  for (size_t i = 0; i < shape.fri_layers.size(); ++i) {
    EXPECT_EQ(written("hashes of FRI layer " + std::to_string(i)),
              uint64_t{64} << shape.fri_layers[i].tree_height())
        << i;
  }
}

TEST_P(UniformLedger, EvaluatesConstraintsOnHalfTheDomain) {
  ASSERT_TRUE(plan.half_domain);
  const size_t at = find("wide_fibonacci_constraints_0", "constraints of wide_fibonacci");
  EXPECT_EQ(traffic(at, trace), Bytes(4 * columns * (rows + 4), 0));
  EXPECT_EQ(traffic(at, "composition part of wide_fibonacci"), Bytes(0, 16 * (rows + 4)));
  // Four coordinates: first block as it is, B - 1 blocks extended.
  const size_t high = find("fft_extend_strided", "lde high layers of composition");
  EXPECT_EQ(traffic(high, "composition columns"), Bytes(16 * rows, 16 * rows * (blowup - 1)));
  const size_t shift = find("composition_shift", "left composition columns");
  EXPECT_EQ(traffic(shift, "composition part of wide_fibonacci"), Bytes(16 * rows, 0));
  EXPECT_EQ(traffic(shift, "composition columns"),
            Bytes(16 * rows * (blowup - 1), 16 * rows * blowup));
  EXPECT_EQ(traffic(shift, "constant composition columns"), Bytes(16, 0));
}

TEST_P(UniformLedger, CountsRereadsOfTheTrace) {
  const uint64_t cn = columns * rows;
  const size_t oods = find("sample_sums", "weighted sums of sample group 0");
  EXPECT_EQ(traffic(oods, trace), Bytes(4 * cn, 0));
  EXPECT_GE(ledger[oods].reread_bytes, 4 * cn);
  EXPECT_EQ(traffic(oods, "composition columns"), Bytes(16 * rows, 0));
  // 16 C K partial sums, which the finish takes: scratch of the stage.
  const uint64_t sums = plan.launches[oods].grid_x * (columns + 4);
  EXPECT_EQ(traffic(oods, "partial sums of sample group 0"), Bytes(0, 16 * sums));
  EXPECT_EQ(ledger[oods].temporary_bytes, 16 * sums);
  EXPECT_EQ(ledger[oods].retained_consumer, "sample_finish: sampled values of sample group 0");
  const size_t weights = find("sample_weights", "basis of sample group 0");
  EXPECT_EQ(traffic(weights, "weights of sample group 0"), Bytes(0, 16 * rows));
  EXPECT_EQ(ledger[weights].temporary_bytes, 16 * rows);

  const size_t quotient = find("quotient_rows", "quotient on the first 2^D rows");
  EXPECT_EQ(traffic(quotient, trace), Bytes(4 * cn, 0));
  EXPECT_GE(ledger[quotient].reread_bytes, 4 * cn);
  EXPECT_EQ(traffic(quotient, "quotient"), Bytes(0, 16 * rows));
  EXPECT_EQ(traffic(quotient, "composition columns"), Bytes(16 * rows, 0));
  EXPECT_EQ(ledger[quotient].temporary_bytes, 0u);  // layer 0 is made in place
  const size_t high = find("fft_extend_strided", "lde high layers of quotient");
  EXPECT_EQ(traffic(high, "quotient"), Bytes(16 * rows, 16 * rows * (blowup - 1)));
  // Rows, low layers, and the other blocks twice.
  EXPECT_EQ(written("quotient"), 16 * rows * (2 * blowup));
}

TEST_P(UniformLedger, FoldsEveryLayer) {
  for (size_t i = 0; i < shape.fri_layers.size(); ++i) {
    const FriLayerShape& layer = shape.fri_layers[i];
    if (layer.log_size <= kFriTailLogSize) break;
    const std::string from = i == 0 ? "quotient" : "FRI layer " + std::to_string(i);
    const std::string to = "FRI layer " + std::to_string(i + 1);
    const size_t fold = find("fri_fold", "fold of " + ("FRI layer " + std::to_string(i)));
    EXPECT_EQ(traffic(fold, from), Bytes(uint64_t{16} << layer.log_size, 0));
    EXPECT_EQ(traffic(fold, to), Bytes(0, uint64_t{16} << (layer.log_size - layer.fold_step)));
    const size_t hash = find("hash_leaves_secure", "FRI layer " + std::to_string(i));
    EXPECT_EQ(traffic(hash, from), Bytes(uint64_t{16} << layer.log_size, 0));
  }
  const size_t open = find("open_trees", "authentication paths and FRI witnesses");
  EXPECT_EQ(open + 1, plan.launches.size());
  EXPECT_EQ(ledger[open].retained_consumer, std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Shapes, UniformLedger,
                         testing::Values(PlanCase{"fib_14x32", fibonacci(14, 32), fast_config()},
                                         PlanCase{"fib_18x128", fibonacci(18, 128), fast_config()},
                                         PlanCase{"fib_20x100", fibonacci(20, 100), fast_config()},
                                         PlanCase{"fib_22x100", fibonacci(22, 100), fast_config()},
                                         PlanCase{"blowup4_17x9", fibonacci(17, 9),
                                                  parse_config("blowup=2")}),
                         [](const auto& test) { return test.param.name; });

// ---- Lifetimes, by running plans with poison everywhere outside of them

class PoisonedPlan : public testing::TestWithParam<PlanCase> {};

TEST_P(PoisonedPlan, ProvesTheSame) {
  constexpr uint32_t kPoison = 0xd9d9d9d9u;  // no M31 value
  const PlanCase& c = GetParam();
  const auto shape = make_shape(c.statement, c.config);
  const std::string expected = write_proof_json(prove(*make_cpu_backend(1)->prepare(shape)));
  EmulatedRuntime e = make_emulated_runtime();
  {
    CudaRuntime& runtime = *e.runtime;
    const PreparedPlan p(runtime, compile_case(c));
    const auto poison = [&](uint32_t buffer) {
      runtime.fill32(p.address({buffer, 0}), kPoison, p.plan.buffers[buffer].bytes / 4, "test");
    };
    for (int request = 0; request < 2; ++request) {
      runtime.fill32(p.arena_block.address(), kPoison, p.arena_block.bytes() / 4, "test");
      runtime.fill32(p.terminal_block.address(), kPoison, p.terminal_block.bytes() / 4, "test");
      for (size_t i = 0; i < p.launches.size(); ++i) {
        const auto at_border = [&](uint32_t PlanBuffer::*border) {
          for (uint32_t b = 0; b < p.plan.buffers.size(); ++b) {
            const PlanBuffer& buffer = p.plan.buffers[b];
            if (buffer.region == Region::kArena && buffer.*border == i) poison(b);
          }
        };
        at_border(&PlanBuffer::first_launch);
        const BoundLaunch& l = p.launches[i];
        runtime.launch(l.kernel, l.geometry, l.args.data(), l.args.size(), "test", l.plan->pass);
        at_border(&PlanBuffer::last_launch);
      }
      runtime.download(p.terminal_host.data(), p.terminal_block.address(),
                       4 * p.plan.terminal.words, "test");
      runtime.synchronize("test");
      EXPECT_EQ(write_proof_json(read_terminal(p.plan, p.terminal_host.as<uint32_t>())), expected);
    }
  }
  e.runtime.reset();
  EXPECT_EQ(e.device->live(), EmulatedDevice::Live());
  EXPECT_TRUE(e.device->violations().empty());
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, PoisonedPlan,
    testing::Values(PlanCase{"smallest", fibonacci(1, 3), fast_config()},
                    PlanCase{"small", fibonacci(4, 3), fast_config()},
                    PlanCase{"no_constraints", fibonacci(5, 2), fast_config()},
                    PlanCase{"two_passes", fibonacci(13, 2), parse_config("queries=9")},
                    PlanCase{"blowup3", fibonacci(6, 5, HashVariant::kBlake2sM31, true),
                             parse_config("blowup=3,queries=5")},
                    PlanCase{"fold6", fibonacci(12, 3), parse_config("fold=6,queries=9")},
                    PlanCase{"fold5_tail", fibonacci(9, 3), parse_config("fold=5,last=2")},
                    PlanCase{"full_domain", fibonacci(7, 5), fast_config(), {true}},
                    PlanCase{"pair_smaller", pair(7, 4, 5, 6), fast_config()},
                    PlanCase{"pair_larger", pair(4, 4, 8, 6), fast_config()},
                    PlanCase{"pair_disabled", pair(6, 4, 8, 6, 0), fast_config()},
                    PlanCase{"sequence_lifted", sequence(5, 5, 3), parse_config("lift=8")},
                    PlanCase{"sequence_unused", sequence(5, 5, 8), parse_config("queries=30")}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace stwo::gpu

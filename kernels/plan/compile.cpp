// Compiles a proof program: node by node into launches.

#include <algorithm>
#include <map>

#include "kernels/air/air_args.hpp"
#include "kernels/composition/composition_args.hpp"
#include "kernels/decommit/decommit_args.hpp"
#include "kernels/fri/fri_args.hpp"
#include "kernels/hash/hash_args.hpp"
#include "kernels/oods/oods_args.hpp"
#include "kernels/plan/fft_schedule.hpp"
#include "kernels/plan/plan_builder.hpp"
#include "kernels/plan/tree_schedule.hpp"
#include "kernels/pow/pow_args.hpp"
#include "kernels/quotient/quotient_args.hpp"
#include "prover/circle/domain.hpp"
#include "prover/merkle/merkle.hpp"

namespace stwo::gpu {
namespace {

constexpr uint32_t kThreads = 256;
/// Rows that a block of the sample sums takes at least.
constexpr uint32_t kMinSampleChunk = 1024;
/// The reference prover's nonces end where their high word reaches P.
constexpr uint64_t kNonceEnd = uint64_t{kP} << 20;

class Compiler {
 public:
  explicit Compiler(CudaPlan& plan)
      : plan_(plan),
        p_(*plan.program),
        s_(*p_.shape),
        b_(plan),
        reduce_(s_.statement.channel == HashVariant::kBlake2sM31) {}

  void run() {
    STWO_CHECK(s_.lifting_log_size >= 2, "query domain below log 2");
    plan_.half_domain = p_.half_domain_composition && !plan_.options.full_domain_composition;
    terminal();
    tables();
    prepare_tree0();
    for (uint32_t i = 0; i < p_.nodes.size(); ++i) {
      b_.node = i;
      b_.stage = p_.nodes[i].stage;
      compile_node(p_.nodes[i]);
    }
    b_.finish();
  }

 private:
  // ---- buffers that everything uses

  BufferRef terminal_word(uint64_t word) const { return {terminal_, 4 * word}; }

  void terminal() {
    plan_.terminal = make_terminal_layout(p_);
    terminal_ = b_.buffer("proof", Region::kTerminal, 4 * plan_.terminal.words);
    state_ = b_.buffer("transcript state", Region::kArena, sizeof(TranscriptState));
    nonce_index_ = b_.buffer("nonce index", Region::kArena, 8);
    b_.set_transcript({state_, 0}, terminal_word(plan_.terminal.log), reduce_);
  }

  void tables() {
    uint32_t log = s_.lifting_log_size;
    for (const TreeShape& tree : s_.trees) {
      for (const uint32_t l : tree.column_log_sizes) log = std::max(log, l + s_.log_blowup());
    }
    plan_.table_log = log;
    const uint64_t bytes = uint64_t{4} << log;
    tables_.x = b_.buffer("twiddles x", Region::kTables, bytes);
    tables_.x_inverse = b_.buffer("inverse twiddles x", Region::kTables, bytes);
    tables_.y = b_.buffer("twiddles y", Region::kTables, bytes);
    tables_.y_inverse = b_.buffer("inverse twiddles y", Region::kTables, bytes);
    fft_.emplace(b_, tables_, plan_.target.multiprocessors, s_.log_blowup());
  }

  // ---- committed columns

  /// Where column c of a tree lies and how far it is lifted in the tree.
  struct CommittedColumn {
    BufferRef values;
    uint32_t log_size = 0;
    bool constant = false;
  };

  uint32_t shift_of(uint32_t tree, const CommittedColumn& c) const {
    return s_.trees[tree].height - c.log_size;
  }

  /// Descriptors of a tree's columns, in the order given.
  BufferRef column_refs(uint32_t tree, const std::vector<uint32_t>& order,
                        const std::string& name) {
    std::vector<Relocatable<ColumnRef>> refs;
    for (const uint32_t c : order) {
      const CommittedColumn& column = columns_[tree][c];
      Relocatable<ColumnRef> r;
      r.point(r->values, column.values);
      r->shift = shift_of(tree, column);
      refs.push_back(std::move(r));
    }
    return b_.constant(name, refs);
  }

  static std::vector<uint32_t> commit_order(size_t n) {
    std::vector<uint32_t> order(n);
    for (uint32_t i = 0; i < n; ++i) order[i] = i;
    return order;
  }

  /// Reads of all of a tree's columns.
  template <class Args>
  void touch_columns(LaunchArgs<Args>& args, uint32_t tree) const {
    for (const CommittedColumn& c : columns_[tree]) {
      args.touch(c.values.buffer, uint64_t{4} << c.log_size, 0);
    }
  }

  void hash_tree(uint32_t tree, std::optional<BufferRef> root_out) {
    const TreeShape& shape = s_.trees[tree];
    LaunchArgs<HashLeavesArgs> args;
    args->n_columns = static_cast<uint32_t>(shape.column_log_sizes.size());
    const bool uniform = uniform_[tree].has_value();
    if (uniform) {
      args.point(args->base, uniform_[tree]->row(0));
      args->stride = uniform_[tree]->stride;
    } else {
      args.point(args->columns, column_refs(tree, hash_order(shape.column_log_sizes),
                                            "hash order of tree " + std::to_string(tree)));
    }
    touch_columns(args, tree);
    schedule_tree(b_, uniform ? "hash_leaves_uniform" : "hash_leaves_lifted",
                  "leaves and low levels of tree " + std::to_string(tree), args, shape.height,
                  reduce_, hashes_[tree], root_out);
  }

  // ---- preparation: the preprocessed tree

  void prepare_tree0() {
    columns_.resize(s_.trees.size());
    uniform_.resize(s_.trees.size());
    hashes_.resize(s_.trees.size());
    const TreeShape& tree = s_.trees[0];
    const uint32_t b = s_.log_blowup();
    if (tree.column_log_sizes.empty()) {
      // An empty tree's root is the hash of nothing.
      const Digest root = blake2s(s_.statement.channel, {});
      std::vector<uint32_t> root_words;
      for (size_t w = 0; w < 8; ++w) root_words.push_back(digest_word(root, w));
      tree0_root_ = b_.constant_words("root of the empty tree", root_words);
      return;
    }
    b_.preparing = true;
    for (uint32_t c = 0; c < tree.column_log_sizes.size(); ++c) {
      const uint32_t n = tree.column_log_sizes[c];
      const uint64_t stride = std::max<uint64_t>(uint64_t{1} << (n + b), 4);
      const uint32_t id = b_.buffer("preprocessed column " + s_.instance->preprocessed()[c].id,
                                    Region::kShape, 4 * stride);
      columns_[0].push_back({{id, 0}, n + b, false});
      const uint64_t last = ((uint64_t{1} << b) - 1) << n;
      plan_.uploads.push_back({c, {id, 4 * last}});
      const Columns column{id, 0, stride, 1};
      fft_->extend(column, last, column, last, n, n, 0, 1u << b,
                   "preprocessed column " + std::to_string(c));
    }
    if (tree.column_log_sizes.size() == 1 && tree.column_log_sizes[0] + b == tree.height) {
      uniform_[0] = Columns{columns_[0][0].values.buffer, 0, uint64_t{1} << tree.height, 1};
    }
    hashes_[0] = b_.buffer("hashes of tree 0", Region::kShape, uint64_t{64} << tree.height);
    hash_tree(0, std::nullopt);
    b_.close_tail();
    b_.preparing = false;
    tree0_root_ = {hashes_[0], 4 * kDigestWords};
  }

  // ---- nodes

  void compile_node(const ProofNode& n) {
    const TerminalLayout& t = plan_.terminal;
    switch (n.kind) {
      case NodeKind::kBegin:
        b_.reset_transcript();
        b_.copy(tree0_root_, kDigestWords, terminal_word(t.roots));
        return;
      case NodeKind::kMixConfig: {
        const PcsConfig& c = s_.config;
        b_.absorb(b_.constant_words("config", {c.pow_bits, c.fri.log_blowup_factor, c.fri.n_queries,
                                               c.fri.log_last_layer_degree_bound, c.fri.fold_step,
                                               c.lifting_log_size.value_or(0), 0, 0}),
                  8, "mix_config");
        return;
      }
      case NodeKind::kMixU64:
        b_.absorb(b_.constant_words("number", {static_cast<uint32_t>(n.value),
                                               static_cast<uint32_t>(n.value >> 32)}),
                  2, "mix_u64");
        return;
      case NodeKind::kGenerateTrace: generate_trace(n.index, n.sub_index); return;
      case NodeKind::kExtendColumns: extend_columns(n.index, n.sub_index); return;
      case NodeKind::kHashTree:
        if (n.index < s_.n_trace_trees()) find_uniform(n.index);
        hashes_[n.index] = b_.buffer("hashes of tree " + std::to_string(n.index), Region::kArena,
                                     uint64_t{64} << s_.trees[n.index].height);
        hash_tree(n.index, terminal_word(t.roots + 8 * n.index));
        return;
      case NodeKind::kAbsorbRoot: {
        const BufferRef root =
            n.index == 0 ? tree0_root_ : BufferRef{hashes_[n.index], 4 * kDigestWords};
        b_.absorb(root, kDigestWords,
                  n.index == s_.n_trace_trees() ? "composition_root"
                                                : "tree" + std::to_string(n.index) + "_root");
        return;
      }
      case NodeKind::kDrawChallenge:
        if (n.stage == Stage::kFriCommit && in_tail(fri_layer_of(n.index))) return;
        b_.draw(challenge(n.index));
        if (p_.challenges[n.index].name == "oods_parameter") oods_point(n.index);
        return;
      case NodeKind::kConstraintWeights: constraint_weights(); return;
      case NodeKind::kEvaluateConstraints: evaluate_constraints(n.index); return;
      case NodeKind::kSumConstraints: sum_constraints(); return;
      case NodeKind::kExtendComposition: extend_composition(); return;
      case NodeKind::kSampleWeights: sample_weights(p_.sample_groups[n.index], n.index); return;
      case NodeKind::kSampleColumns: sample_columns(p_.sample_groups[n.index], n.index); return;
      case NodeKind::kAbsorbSamples:
        b_.absorb(terminal_word(t.sampled_values), 4 * p_.n_sampled_values, "sampled_values");
        return;
      case NodeKind::kQuotientTerms: quotient_terms(); return;
      case NodeKind::kQuotientChunk:
        if (n.index == 0) {
          quotient_rows();
        } else {
          b_.also_node(b_.node);
        }
        return;
      case NodeKind::kExtendQuotient: extend_quotient(); return;
      case NodeKind::kFriHash: fri_hash(n.index); return;
      case NodeKind::kFriAbsorb:
        if (in_tail(n.index)) return;
        b_.absorb({fri_hashes_[n.index], 4 * kDigestWords}, kDigestWords,
                  "fri_layer_" + std::to_string(n.index) + "_root");
        return;
      case NodeKind::kFriFold: fri_fold(n.index); return;
      case NodeKind::kLastLayer: fri_tail(); return;
      case NodeKind::kAbsorbLastLayer: b_.also_node(b_.node); return;
      case NodeKind::kGrind: grind(); return;
      case NodeKind::kAbsorbNonce: return;  // with the queries
      case NodeKind::kDrawQueries: draw_queries(); return;
      case NodeKind::kOpenTree: open_tree(n.index); return;
      case NodeKind::kOpenFriLayer: open_fri_layer(n.index); return;
      case NodeKind::kAssemble: open_all(); return;
    }
    throw ContractError("unknown program node");
  }

  BufferRef challenge(uint32_t id) const {
    return terminal_word(plan_.terminal.challenges + 4 * id);
  }
  uint32_t challenge_id(std::string_view name) const {
    for (uint32_t i = 0; i < p_.challenges.size(); ++i) {
      if (p_.challenges[i].name == name) return i;
    }
    throw ContractError("program has no challenge " + std::string(name));
  }

  // ---- trace

  const Component& component(uint32_t i) const { return *s_.instance->components()[i]; }

  uint32_t columns_of(uint32_t c, uint32_t tree) const {
    const auto& masks = component(c).info().mask_offsets;
    return tree < masks.size() ? static_cast<uint32_t>(masks[tree].size()) : 0;
  }

  static ScriptBytes script_of(const Component& c) {
    const RowKernels& k = c.kernels();
    STWO_CHECK(k.script_bytes > 0 && k.script_bytes <= ScriptBytes::kCapacity,
               c.name() + ": script object does not fit a kernel argument");
    ScriptBytes out;
    std::memset(&out, 0, sizeof(out));
    std::memcpy(out.bytes, c.script(), k.script_bytes);
    return out;
  }
  static std::string kernel_of(const Component& c, const char* what) {
    const RowKernels& k = c.kernels();
    return std::string(k.air) + "_" + what + "_" + std::to_string(k.script_index);
  }

  void generate_trace(uint32_t tree, uint32_t index) {
    const Component& c = component(index);
    const uint32_t n = c.log_size();
    const uint32_t b = s_.log_blowup();
    const uint32_t count = columns_of(index, tree);
    const uint64_t stride = std::max<uint64_t>(uint64_t{1} << (n + b), 4);
    Columns columns;
    columns.buffer = b_.buffer("columns of tree " + std::to_string(tree) + ", " + c.name(),
                               Region::kArena, 4 * stride * count);
    columns.stride = stride;
    columns.count = count;
    trace_[{tree, index}] = columns;
    auto& list = columns_[tree];
    for (uint32_t i = 0; i < count; ++i) list.push_back({columns.at(i, 0), n + b, false});
    // The last block holds the trace and then the coefficients, until its own values replace them.
    const uint64_t rows = uint64_t{1} << n;
    const uint64_t last = ((uint64_t{1} << b) - 1) << n;
    if (!c.enabled()) {
      fill(columns, last, rows, 0, "zeros of disabled " + c.name());
      return;
    }
    STWO_CHECK(tree == 1 && c.kernels().trace != nullptr,
               "only the main trace has a row-local generator");
    LaunchArgs<TraceArgs> args;
    args->script = script_of(c);
    args->stride = stride;
    args->n_rows = rows;
    args.write(args->base, columns.row(last), 4 * count * rows);
    b_.launch(kernel_of(c, "trace"), "trace of " + c.name(),
              {blocks_for(rows, uint64_t{kAirThreads} * kAirRows), 1, kAirThreads, 0}, args);
  }

  void fill(const Columns& columns, uint64_t row, uint64_t rows, uint32_t value,
            const std::string& pass) {
    LaunchArgs<FillArgs> args;
    args->stride = columns.stride;
    args->rows = rows;
    args->n_columns = columns.count;
    args->value = value;
    args.write(args->base, columns.row(row), 4 * columns.count * rows);
    b_.launch("fill_columns", pass,
              {blocks_for(rows, kThreads), std::min<uint64_t>(columns.count, 1024), kThreads, 0},
              args);
  }

  void extend_columns(uint32_t tree, uint32_t index) {
    const Component& c = component(index);
    const uint32_t n = c.log_size();
    const uint32_t b = s_.log_blowup();
    const Columns columns = trace_.at({tree, index});
    const uint64_t last = ((uint64_t{1} << b) - 1) << n;
    fft_->extend(columns, last, columns, last, n, n, 0, 1u << b,
                 "tree " + std::to_string(tree) + ", " + c.name());
  }

  /// A tree whose columns all lie at one distance and are as long as it is wide.
  void find_uniform(uint32_t tree) {
    std::optional<Columns> only;
    for (const auto& [key, columns] : trace_) {
      if (key.first != tree) continue;
      if (only) return;
      only = columns;
    }
    if (only && columns_[tree][0].log_size == s_.trees[tree].height) uniform_[tree] = only;
  }

  // ---- composition

  void constraint_weights() {
    LaunchArgs<ConstraintWeightsArgs> args;
    weights_ = b_.buffer("constraint weights", Region::kArena, uint64_t{16} * s_.n_constraints);
    args->n = s_.n_constraints;
    args.read(args->coefficient, challenge(challenge_id("constraint_coefficient")), 16);
    args.write(args->weights, {weights_, 0}, uint64_t{16} * s_.n_constraints);
    b_.launch("constraint_weights", "powers of the constraint coefficient",
              {blocks_for(s_.n_constraints, kThreads), 1, kThreads, 0}, args);
  }

  /// Rows of a component's quotient: those of the first block (or of the first two blocks' worth),
  /// and in the half-domain case four more, the first of which is needed.
  uint64_t quotient_rows_of(uint32_t log) const {
    const uint64_t rows = uint64_t{1} << log;
    return plan_.half_domain ? std::max<uint64_t>(rows + 4, 4) / 4 * 4 : rows * 2;
  }

  static M31 vanishing_at(uint32_t domain_log, uint32_t storage_row, uint32_t log_size) {
    return canonic_vanishing(CanonicCoset{domain_log}.at_storage(storage_row).x, log_size);
  }

  Columns secure_buffer(const std::string& name, uint64_t rows) {
    Columns c;
    c.stride = (rows + 63) / 64 * 64;
    c.count = 4;
    c.buffer = b_.buffer(name, Region::kArena, 16 * c.stride);
    return c;
  }

  void evaluate_constraints(uint32_t index) {
    const Component& c = component(index);
    const ComponentSpan& span = s_.spans[index];
    const uint32_t n = c.log_size();
    // A trace of two rows: four rows are both blocks already.
    const uint64_t rows = n == 1 ? 4 : quotient_rows_of(n);
    const Columns out = secure_buffer("composition part of " + c.name(), rows);
    parts_.push_back({out, n});
    LaunchArgs<ConstraintArgs> args;
    args->script = script_of(c);
    const auto& masks = c.info().mask_offsets;
    STWO_CHECK(masks.size() <= kMaxScriptTrees, c.name() + ": reads more trees than kernels know");
    for (uint32_t t = 1; t < masks.size(); ++t) {
      if (masks[t].empty()) continue;
      const Columns columns = trace_.at({t, index});
      uint64_t reads = 0;
      for (const auto& offsets : masks[t]) reads += std::max<size_t>(offsets.size(), 1);
      args.read(args->base[t], columns.row(0), 4 * reads * rows);
      args->stride[t] = columns.stride;
    }
    if (!span.preprocessed.empty()) {
      struct Pointer {
        const uint32_t* values;
      };
      std::vector<Relocatable<Pointer>> list;
      for (const uint32_t column : span.preprocessed) {
        Relocatable<Pointer> r;
        r.point(r->values, columns_[0][column].values);
        list.push_back(std::move(r));
        args.touch(columns_[0][column].values.buffer, 4 * rows, 0);
      }
      args.point(args->preprocessed, b_.constant("preprocessed requests of " + c.name(), list));
    }
    args.read(args->weights, {weights_, uint64_t{16} * span.first_constraint},
              16 * c.info().n_constraints());
    args->out_stride = out.stride;
    args->n_rows = rows;
    args->trace_log_size = n;
    args->domain_log_size = n + s_.log_blowup();
    for (uint32_t block = 0; block < 2; ++block) {
      args->inverse_vanishing[block] =
          vanishing_at(args->domain_log_size, block << n, n).inverse().v;
    }
    args.write(args->out, out.row(0), 16 * rows);
    b_.launch(kernel_of(c, "constraints"), "constraints of " + c.name(),
              {blocks_for(rows, uint64_t{kAirThreads} * kAirRows), 1, kAirThreads, 0}, args);
  }

  void sum_constraints() {
    const uint32_t log = s_.composition_log_size - 1;
    const uint64_t rows = plan_.half_domain ? (uint64_t{1} << log) + 1 : uint64_t{1} << (log + 1);
    const Columns sum = secure_buffer("composition", log == 1 ? 4 : quotient_rows_of(log));
    if (parts_.empty()) fill(sum, 0, rows, 0, "composition without constraints");
    bool first = true;
    for (const auto& [part, part_log] : parts_) {
      LaunchArgs<LiftAddArgs> args;
      args->source_stride = part.stride;
      args->target_stride = sum.stride;
      args->rows = rows;
      args->shift = log - part_log;
      args->accumulate = first ? 0 : 1;
      args.read(args->source, part.row(0), 16 * rows >> args->shift);
      args.update(args->target, sum.row(0), first ? 0 : 16 * rows, 16 * rows);
      b_.launch("lift_add", "sum of components", {blocks_for(rows, kThreads), 1, kThreads, 0},
                args);
      first = false;
    }
    parts_ = {{sum, log}};
  }

  void extend_composition() {
    STWO_CHECK(parts_.size() == 1 && parts_[0].second + 1 == s_.composition_log_size,
               "composition parts were not summed");
    const Columns source = parts_[0].first;
    const uint32_t tree = s_.n_trace_trees();
    const uint32_t n = s_.composition_log_size - 1;
    const uint32_t b = s_.log_blowup();
    const uint32_t d = n + b;
    const uint64_t rows = uint64_t{1} << n;
    const uint64_t blocks = uint64_t{1} << b;
    Columns left;
    left.stride = std::max<uint64_t>(uint64_t{1} << d, 4);
    left.count = plan_.half_domain ? 4 : 8;
    left.buffer = b_.buffer("composition columns", Region::kArena, 4 * left.stride * left.count);
    for (uint32_t k = 0; k < left.count; ++k) columns_[tree].push_back({left.at(k, 0), d, false});
    if (!plan_.half_domain) {
      fft_->interpolate(source, n + 1, d, "composition");
      // The lower half of the coefficients is the left polynomial, the upper half the right one.
      for (uint32_t half = 0; half < 2; ++half) {
        for (uint32_t block = 0; block < blocks; ++block) {
          FftSchedule::Transform f;
          f.source = source;
          f.source_row = half * rows;
          f.target = left;
          f.target.first += 4 * half * left.stride;
          f.target.count = 4;
          f.target_row = block * rows;
          f.log_rows = n;
          f.domain_log = d;
          f.domain_block = block;
          fft_->evaluate(f, half == 0 ? "left composition columns" : "right composition columns");
        }
      }
      if (d == s_.trees[tree].height) uniform_[tree] = left;
      return;
    }
    fft_->extend(source, 0, left, (blocks - 1) * rows, n, d, 1, static_cast<uint32_t>(blocks),
                 "composition");
    Columns right;
    right.stride = 4;
    right.count = 4;
    right.buffer = b_.buffer("constant composition columns", Region::kArena, 64);
    for (uint32_t k = 0; k < 4; ++k) columns_[tree].push_back({right.at(k, 0), 1, true});
    const M31 s = vanishing_at(d, 0, n);
    LaunchArgs<CompositionConstantArgs> constant;
    constant->extended_stride = left.stride;
    constant->quotient_stride = source.stride;
    constant->constant_stride = right.stride;
    constant->half_inverse = (s + s).inverse().v;
    constant.read(constant->extended, left.row(rows), 16);
    constant.read(constant->quotient, source.row(rows), 16);
    constant.write(constant->constants, right.row(0), 32);
    b_.launch("composition_constant", "right composition columns", {1, 1, 32, 0}, constant);
    LaunchArgs<CompositionShiftArgs> shift;
    shift->first_stride = source.stride;
    shift->first_rows = rows;
    shift->stride = left.stride;
    shift->rows = blocks * rows;
    shift->constant_stride = right.stride;
    shift->vanishing = s.v;
    shift.read(shift->first, source.row(0), 16 * rows);
    shift.update(shift->base, left.row(0), 16 * (blocks - 1) * rows, 16 * blocks * rows);
    shift.read(shift->constants, right.row(0), 16);
    b_.launch("composition_shift", "left composition columns",
              {blocks_for(blocks * rows, kThreads), 4, kThreads, 0}, shift);
  }

  // ---- out of domain

  void oods_point(uint32_t parameter) {
    LaunchArgs<OodsPointArgs> args;
    args.read(args->parameter, challenge(parameter), 16);
    args.write(args->point, terminal_word(plan_.terminal.point), 32);
    args.write(args->status, terminal_word(plan_.terminal.status), 4);
    b_.launch("oods_point", "out-of-domain point", {1, 1, 32, 0}, args);
  }

  void sample_weights(const SampleGroup& group, uint32_t index) {
    const uint32_t n = group.log_size;
    const uint32_t committed = n + s_.log_blowup();
    const uint32_t low = (n + 1) / 2;
    const uint64_t rows = uint64_t{1} << n;
    const std::string name = "sample group " + std::to_string(index);
    weights_of_group_ = secure_buffer("weights of " + name, std::max<uint64_t>(rows, 4));
    const uint32_t tables = b_.buffer("basis tables of " + name, Region::kArena,
                                      16 * ((uint64_t{1} << low) + (uint64_t{1} << (n - low))));
    const BufferRef high{tables, uint64_t{16} << low};
    const uint64_t step = CanonicCoset{s_.max_degree_log_size}.step_index();
    LaunchArgs<SampleTablesArgs> t;
    t->shift =
        static_cast<uint32_t>(static_cast<uint64_t>(group.offset * static_cast<int64_t>(step))) &
        0x7fffffffu;
    t->doublings = s_.lifting_log_size - committed;
    t->log_rows = n;
    t->log_low = low;
    t.read(t->point, terminal_word(plan_.terminal.point), 32);
    t.write(t->low, {tables, 0}, uint64_t{16} << low);
    t.write(t->high, high, uint64_t{16} << (n - low));
    b_.launch("sample_tables", "basis tables of " + name,
              {blocks_for(uint64_t{1} << low, kThreads), 1, kThreads, kSampleTableSharedBytes}, t);
    LaunchArgs<SampleWeightsArgs> w;
    w->stride = weights_of_group_.stride;
    w->log_rows = n;
    w->log_low = low;
    w.read(w->low, {tables, 0}, uint64_t{16} << low);
    w.read(w->high, high, uint64_t{16} << (n - low));
    w.write(w->weights, weights_of_group_.row(0), 16 * rows);
    b_.launch("sample_weights", "basis of " + name, {blocks_for(rows, kThreads), 1, kThreads, 0},
              w);
    // The transposed interpolation: forward butterflies with inverse twiddles.
    FftSchedule::Transform f;
    f.source = weights_of_group_;
    f.target = weights_of_group_;
    f.log_rows = n;
    f.domain_log = committed;
    f.inverse_tables = true;
    fft_->evaluate(f, "row weights of " + name);
  }

  void sample_columns(const SampleGroup& group, uint32_t index) {
    const uint64_t rows = uint64_t{1} << group.log_size;
    const std::string name = "sample group " + std::to_string(index);
    struct Pointer {
      const uint32_t* values;
    };
    std::vector<Relocatable<Pointer>> pointers;
    std::vector<Relocatable<SampleTarget>> targets;
    std::vector<Relocatable<SampleTarget>> constants;
    LaunchArgs<SampleSumsArgs> sums;
    for (const SampleGroup::Ref& r : group.refs) {
      const CommittedColumn& column = columns_[r.tree][r.column];
      Relocatable<SampleTarget> target;
      target->value_index = r.value_index;
      if (column.constant) {
        target.point(target->constant, column.values);
        constants.push_back(std::move(target));
        continue;
      }
      Relocatable<Pointer> p;
      p.point(p->values, column.values);
      pointers.push_back(std::move(p));
      targets.push_back(std::move(target));
      sums.touch(column.values.buffer, 4 * rows, 0);
    }
    const auto n_columns = static_cast<uint32_t>(pointers.size());
    targets.insert(targets.end(), constants.begin(), constants.end());
    // Blocks enough to fill the device, rows enough to pay for a block's reduction.
    const uint64_t column_blocks = blocks_for(std::max(n_columns, 1u), kSampleColumnsPerBlock);
    const uint64_t want = uint64_t{8} * plan_.target.multiprocessors;
    uint64_t chunk = rows;
    while (chunk > kMinSampleChunk && rows / chunk * column_blocks < want) chunk /= 2;
    const uint64_t n_chunks = rows / chunk;
    LaunchArgs<SampleFinishArgs> finish;
    if (n_columns > 0) {
      const uint64_t bytes = 16 * n_chunks * n_columns;
      const uint32_t partial = b_.buffer("partial sums of " + name, Region::kArena, bytes);
      sums->stride = weights_of_group_.stride;
      sums->n_columns = n_columns;
      sums->rows = static_cast<uint32_t>(rows);
      sums->chunk_rows = static_cast<uint32_t>(chunk);
      sums.read(sums->weights, weights_of_group_.row(0), 16 * rows * column_blocks);
      sums.point(sums->columns, b_.constant("columns of " + name, pointers));
      sums.write(sums->partial, {partial, 0}, bytes);
      b_.launch("sample_sums", "weighted sums of " + name,
                {n_chunks, column_blocks, kSampleThreads, kSampleSharedBytes}, sums);
      finish.read(finish->partial, {partial, 0}, bytes);
    }
    finish->n_targets = static_cast<uint32_t>(targets.size());
    finish->n_columns = n_columns;
    finish->n_chunks = static_cast<uint32_t>(n_chunks);
    finish.point(finish->targets, b_.constant("sampled values of " + name, targets));
    finish.write(finish->values, terminal_word(plan_.terminal.sampled_values), 16 * targets.size());
    b_.launch("sample_finish", "sampled values of " + name, {targets.size(), 1, 32, 0}, finish);
  }

  // ---- quotient

  void quotient_terms() {
    std::vector<Relocatable<QuotientChunkRef>> chunks;
    std::vector<Relocatable<QuotientTermRef>> terms;
    std::vector<Relocatable<ColumnRef>> columns;
    for (const QuotientChunk& chunk : p_.quotient_chunks) {
      Relocatable<QuotientChunkRef> c;
      c->point_shift = chunk.point_shift;
      c->first_term = static_cast<uint32_t>(terms.size());
      c->n_terms = static_cast<uint32_t>(chunk.terms.size());
      chunks.push_back(std::move(c));
      for (const QuotientChunk::Term& term : chunk.terms) {
        Relocatable<QuotientTermRef> t;
        t->value_index = term.value_index;
        t->power = term.power;
        terms.push_back(std::move(t));
        const CommittedColumn& column = columns_[term.tree][term.column];
        Relocatable<ColumnRef> r;
        r.point(r->values, column.values);
        r->shift = s_.lifting_log_size - column.log_size;
        columns.push_back(std::move(r));
      }
    }
    n_terms_ = terms.size();
    chunk_refs_ = b_.constant("quotient chunks", chunks);
    term_columns_ = b_.constant("columns of quotient terms", columns);
    factors_ = b_.buffer("quotient factors", Region::kArena, 16 * n_terms_);
    lines_ = b_.buffer("quotient lines", Region::kArena, sizeof(QuotientLine) * chunks.size());
    LaunchArgs<QuotientTermsArgs> args;
    args.read(args->point, terminal_word(plan_.terminal.point), 32);
    args.read(args->coefficient, challenge(challenge_id("quotient_coefficient")), 16);
    args.read(args->values, terminal_word(plan_.terminal.sampled_values), 16 * n_terms_);
    args.point(args->chunks, chunk_refs_);
    args.point(args->terms, b_.constant("quotient terms", terms));
    args.write(args->factors, {factors_, 0}, 16 * n_terms_);
    args.write(args->lines, {lines_, 0}, sizeof(QuotientLine) * chunks.size());
    args.update(args->status, terminal_word(plan_.terminal.status), 4, 4);
    b_.launch("quotient_terms", "quotient factors and lines",
              {chunks.size(), 1, kQuotientTermThreads, kQuotientTermSharedBytes}, args);
  }

  void quotient_rows() {
    const uint32_t d = s_.max_degree_log_size;
    const uint64_t rows = uint64_t{1} << d;
    fri_values_.resize(s_.fri_layers.size() + 1);
    fri_hashes_.resize(s_.fri_layers.size());
    fri_values_[0] = secure_buffer("quotient", uint64_t{1} << s_.lifting_log_size);
    LaunchArgs<QuotientRowsArgs> args;
    args->n_chunks = static_cast<uint32_t>(p_.quotient_chunks.size());
    args->domain_log = s_.lifting_log_size;
    args->rows = rows;
    args->stride = fri_values_[0].stride;
    args.point(args->chunks, chunk_refs_);
    args.read(args->lines, {lines_, 0}, sizeof(QuotientLine) * p_.quotient_chunks.size());
    args.read(args->factors, {factors_, 0}, 16 * n_terms_);
    args.point(args->columns, term_columns_);
    for (const QuotientChunk& chunk : p_.quotient_chunks) {
      for (const QuotientChunk::Term& term : chunk.terms) {
        const CommittedColumn& column = columns_[term.tree][term.column];
        args.touch(column.values.buffer,
                   std::max<uint64_t>(4 * rows >> (s_.lifting_log_size - column.log_size), 8), 0);
      }
    }
    args.read(args->x, {tables_.x, 0}, rows);
    args.read(args->y, {tables_.y, 0}, 2 * rows);
    args.write(args->out, fri_values_[0].row(0), 16 * rows);
    b_.launch("quotient_rows", "quotient on the first 2^D rows",
              {blocks_for(rows, uint64_t{kThreads} * 4), 1, kThreads, 0}, args);
  }

  void extend_quotient() {
    const uint32_t d = s_.max_degree_log_size;
    const uint32_t blocks = 1u << s_.log_blowup();
    fft_->extend(fri_values_[0], 0, fri_values_[0], uint64_t{blocks - 1} << d, d,
                 s_.lifting_log_size, 1, blocks, "quotient");
  }

  // ---- FRI

  /// First layer that the tail kernel commits.
  uint32_t tail_start() const {
    uint32_t i = 0;
    while (i < s_.fri_layers.size() && s_.fri_layers[i].log_size > kFriTailLogSize) ++i;
    return i;
  }
  bool in_tail(uint32_t layer) const { return layer >= tail_start(); }
  uint32_t fri_layer_of(uint32_t challenge_index) const {
    return challenge_index - challenge_id("fri_beta_0");
  }

  void fri_hash(uint32_t i) {
    const FriLayerShape& layer = s_.fri_layers[i];
    fri_hashes_[i] = b_.buffer("hashes of FRI layer " + std::to_string(i), Region::kArena,
                               uint64_t{64} << layer.tree_height());
    if (in_tail(i)) return;
    LaunchArgs<HashLeavesArgs> args;
    args->n_columns = 4;
    args->stride = fri_values_[i].stride;
    args.read(args->base, fri_values_[i].row(0), uint64_t{16} << layer.log_size);
    schedule_tree(b_, layer.packed() ? "hash_leaves_packed" : "hash_leaves_secure",
                  "FRI layer " + std::to_string(i), args, layer.tree_height(), reduce_,
                  fri_hashes_[i], terminal_word(plan_.terminal.fri_roots + 8 * i));
  }

  /// Values of layer i + 1. The tail kernel folds step by step inside the target, which needs room
  /// for the largest intermediate result.
  Columns next_values(uint32_t i) {
    const FriLayerShape& layer = s_.fri_layers[i];
    const uint64_t rows = uint64_t{1} << (layer.log_size - layer.fold_step);
    const uint64_t room =
        in_tail(i) ? uint64_t{1} << (layer.log_size - std::min(layer.fold_step, 2u)) : rows;
    const bool last = i + 1 == s_.fri_layers.size();
    return secure_buffer(last ? "last FRI layer" : "FRI layer " + std::to_string(i + 1),
                         std::max({rows, room, uint64_t{4}}));
  }

  void fri_fold(uint32_t i) {
    fri_values_[i + 1] = next_values(i);
    if (in_tail(i)) return;
    const FriLayerShape& layer = s_.fri_layers[i];
    Columns in = fri_values_[i];
    uint32_t log = layer.log_size;
    uint32_t done = 0;
    while (done < layer.fold_step) {
      const uint32_t folds = std::min(layer.fold_step - done, kFriMaxFold);
      const uint64_t rows = uint64_t{1} << (log - folds);
      const bool final = done + folds == layer.fold_step;
      const Columns out = final ? fri_values_[i + 1]
                                : secure_buffer("folds of FRI layer " + std::to_string(i), rows);
      LaunchArgs<FriFoldArgs> args;
      args->in_stride = in.stride;
      args->out_stride = out.stride;
      args->out_rows = rows;
      args->beta_squarings = done;
      args->in_log_size = log;
      args->n_folds = folds;
      args->circle = i == 0 && done == 0 ? 1 : 0;
      args.read(args->in, in.row(0), uint64_t{16} << log);
      args.write(args->out, out.row(0), 16 * rows);
      args.read(args->beta, challenge(challenge_id("fri_beta_0") + i), 16);
      args.read(args->x_inverse, {tables_.x_inverse, 0}, uint64_t{4} << (log - 1));
      args.read(args->y_inverse, {tables_.y_inverse, 0}, 0);
      b_.launch("fri_fold", "fold of FRI layer " + std::to_string(i),
                {blocks_for(rows, kThreads), 1, kThreads, 0}, args);
      in = out;
      log -= folds;
      done += folds;
    }
  }

  void fri_tail() {
    const TerminalLayout& t = plan_.terminal;
    const auto n_layers = static_cast<uint32_t>(s_.fri_layers.size());
    LaunchArgs<FriTailArgs> args;
    std::vector<Relocatable<FriTailLayer>> layers;
    for (uint32_t i = tail_start(); i < n_layers; ++i) {
      const FriLayerShape& shape = s_.fri_layers[i];
      Relocatable<FriTailLayer> l;
      l.point(l->values, fri_values_[i].row(0));
      l->stride = fri_values_[i].stride;
      l.point(l->next, fri_values_[i + 1].row(0));
      l->next_stride = fri_values_[i + 1].stride;
      l.point(l->nodes, {fri_hashes_[i], 0});
      l.point(l->beta, challenge(challenge_id("fri_beta_0") + i));
      l.point(l->root_out, terminal_word(t.fri_roots + 8 * i));
      l->log_size = shape.log_size;
      l->fold_step = shape.fold_step;
      l->circle = i == 0 ? 1 : 0;
      l->log_entry = b_.log_entry("fri_layer_" + std::to_string(i) + "_root");
      layers.push_back(std::move(l));
      const uint64_t values = uint64_t{16} << shape.log_size;
      args.touch(fri_values_[i].buffer, values, i == tail_start() ? 0 : values);
      args.touch(fri_hashes_[i], 0, uint64_t{64} << shape.tree_height());
    }
    args->n_layers = static_cast<uint32_t>(layers.size());
    args->reduce = reduce_ ? 1 : 0;
    if (!layers.empty()) args.point(args->layers, b_.constant("FRI tail layers", layers));
    args.update(args->state, {state_, 0}, sizeof(TranscriptState), sizeof(TranscriptState));
    args.point(args->log, terminal_word(t.log));
    args.read(args->x_inverse, {tables_.x_inverse, 0}, uint64_t{4} << kFriTailLogSize);
    args.read(args->y_inverse, {tables_.y_inverse, 0}, 0);
    args->last_log_size = s_.last_layer_log_size();
    args->last_log_degree = s_.config.fri.log_last_layer_degree_bound;
    args->last_stride = fri_values_[n_layers].stride;
    args->last_log_entry = b_.log_entry("fri_last_layer");
    const uint64_t coefficients = uint64_t{16} << args->last_log_degree;
    args.update(args->last_values, fri_values_[n_layers].row(0), coefficients,
                layers.empty() ? 0 : uint64_t{16} << args->last_log_size);
    args.write(args->coefficients, terminal_word(t.last_layer), coefficients);
    args.write(args->nonce_index, {nonce_index_, 0}, 8);
    PlanLaunch& l = b_.launch("fri_tail", "FRI layers of at most 2^10 values, last layer",
                              {1, 1, kFriTailThreads, kFriTailSharedBytes}, args);
    l.transcript_ops = static_cast<uint32_t>(2 * layers.size() + 1);
    for (uint32_t i = 0; i < b_.node; ++i) {
      const ProofNode& n = p_.nodes[i];
      const bool fri = n.kind == NodeKind::kFriHash || n.kind == NodeKind::kFriAbsorb ||
                       n.kind == NodeKind::kFriFold;
      const bool draw = n.kind == NodeKind::kDrawChallenge && n.stage == Stage::kFriCommit;
      if ((fri && in_tail(n.index)) || (draw && in_tail(fri_layer_of(n.index)))) b_.also_node(i);
    }
  }

  // ---- proof of work, openings

  void grind() {
    LaunchArgs<GrindArgs> args;
    args->pow_bits = s_.config.pow_bits;
    args->reduce = reduce_ ? 1 : 0;
    args->end = kNonceEnd;
    args.read(args->state, {state_, 0}, sizeof(TranscriptState));
    args.update(args->nonce_index, {nonce_index_, 0}, 8, 8);
    // No more blocks than one per 256 nonces expected: a small search is one block's.
    const uint64_t expected = blocks_for(uint64_t{4} << s_.config.pow_bits, kGrindThreads);
    const uint64_t grid = std::min<uint64_t>(expected, uint64_t{plan_.target.multiprocessors} * 4);
    b_.launch("grind", "proof of work",
              {std::max<uint64_t>(grid, 1), 1, kGrindThreads, kGrindSharedBytes}, args);
  }

  void draw_queries() {
    const TerminalLayout& t = plan_.terminal;
    LaunchArgs<DrawQueriesArgs> args;
    args->n_queries = s_.config.fri.n_queries;
    args->log_domain = s_.lifting_log_size;
    args->reduce = reduce_ ? 1 : 0;
    args->log_entry = b_.log_entry("pow_nonce");
    args.update(args->state, {state_, 0}, sizeof(TranscriptState), sizeof(TranscriptState));
    args.point(args->log, terminal_word(t.log));
    args.read(args->nonce_index, {nonce_index_, 0}, 8);
    args.write(args->nonce_out, terminal_word(t.nonce), 8);
    args.write(args->positions, terminal_word(t.positions), 4 * t.position_capacity);
    args.write(args->n_positions, terminal_word(t.n_positions), 4);
    args.update(args->status, terminal_word(t.status), 4, 4);
    PlanLaunch& l = b_.launch("draw_queries", "nonce and queries",
                              {1, 1, kQueryThreads, kQuerySharedBytes}, args);
    l.transcript_ops = 1;
    for (uint32_t i = 0; i < b_.node; ++i) {
      if (p_.nodes[i].kind == NodeKind::kAbsorbNonce) b_.also_node(i);
    }
  }

  /// How query positions map into a tree.
  void set_mapping(uint32_t tree, uint32_t* down, uint32_t* up) const {
    const uint32_t l = s_.lifting_log_size;
    const uint32_t h = s_.trees[tree].height;
    *down = l > h ? l - h + 1 : 1;
    *up = h > l ? h - l + 1 : 1;
  }

  void open_tree(uint32_t tree) {
    const TreeShape& shape = s_.trees[tree];
    const TerminalLayout& t = plan_.terminal;
    if (shape.column_log_sizes.empty()) return;
    const auto n = static_cast<uint32_t>(shape.column_log_sizes.size());
    const uint64_t values = t.position_capacity * n;
    LaunchArgs<GatherArgs> args;
    args->n_columns = n;
    args->capacity = static_cast<uint32_t>(t.position_capacity);
    set_mapping(tree, &args->down, &args->up);
    args.point(args->columns,
               column_refs(tree, commit_order(n), "columns of tree " + std::to_string(tree)));
    for (const CommittedColumn& c : columns_[tree]) {
      args.touch(c.values.buffer, 32 * t.position_capacity, 0);
    }
    args.read(args->positions, terminal_word(t.positions), 4 * t.position_capacity);
    args.read(args->n_positions, terminal_word(t.n_positions), 4);
    args.write(args->out, terminal_word(t.queried_values[tree]), 4 * values);
    b_.launch("gather", "queried values of tree " + std::to_string(tree),
              {blocks_for(values, kThreads), 1, kThreads, 0}, args);
    Relocatable<OpenRef> o;
    o.point(o->nodes, {hashes_[tree], 0});
    o.point(o->witness, terminal_word(t.trees[tree].witness));
    o.point(o->n_witness, terminal_word(t.trees[tree].n_witness));
    o->height = shape.height;
    set_mapping(tree, &o->down, &o->up);
    o->sort = o->down > 1 ? 1 : 0;
    openings_.push_back(std::move(o));
    opening_nodes_.push_back(b_.node);
    open_uses_.push_back({hashes_[tree], 32 * t.trees[tree].witness_capacity, 0});
  }

  void open_fri_layer(uint32_t i) {
    const FriLayerShape& layer = s_.fri_layers[i];
    const TerminalLayout::Opening& out = plan_.terminal.fri_layers[i];
    Relocatable<OpenRef> o;
    o.point(o->nodes, {fri_hashes_[i], 0});
    o.point(o->witness, terminal_word(out.witness));
    o.point(o->n_witness, terminal_word(out.n_witness));
    o->height = layer.tree_height();
    o->fold_step = layer.fold_step;
    uint32_t before = 0;
    for (uint32_t k = 0; k < i; ++k) before += s_.fri_layers[k].fold_step;
    o->fold_before = before;
    o->log_size = layer.log_size;
    o.point(o->values, fri_values_[i].row(0));
    o->stride = fri_values_[i].stride;
    o.point(o->fri_witness, terminal_word(out.fri_witness));
    o.point(o->n_fri_witness, terminal_word(out.n_fri_witness));
    openings_.push_back(std::move(o));
    opening_nodes_.push_back(b_.node);
    open_uses_.push_back({fri_hashes_[i], 32 * out.witness_capacity, 0});
    open_uses_.push_back({fri_values_[i].buffer, 16 * out.fri_witness_capacity, 0});
  }

  void open_all() {
    const TerminalLayout& t = plan_.terminal;
    b_.stage = Stage::kDecommit;
    LaunchArgs<OpenArgs> args;
    args.point(args->openings, b_.constant("openings", openings_));
    args.read(args->positions, terminal_word(t.positions), 4 * t.position_capacity);
    args.read(args->n_positions, terminal_word(t.n_positions), 4);
    uint64_t written = 0;
    for (const BufferUse& u : open_uses_) {
      args.touch(u.buffer, u.read_bytes, 0);
      written += u.read_bytes;
    }
    args.touch(terminal_, 0, written);
    b_.launch("open_trees", "authentication paths and FRI witnesses",
              {openings_.size(), 1, kOpenThreads, kOpenSharedBytes}, args);
    for (const uint32_t node : opening_nodes_) b_.also_node(node);
  }

  CudaPlan& plan_;
  const ProofProgram& p_;
  const ProofShape& s_;
  PlanBuilder b_;
  const bool reduce_;  ///< the M31 variant of the hash

  uint32_t terminal_ = 0;
  uint32_t state_ = 0;
  uint32_t nonce_index_ = 0;
  TwiddleBuffers tables_;
  std::optional<FftSchedule> fft_;
  BufferRef tree0_root_;
  std::vector<std::vector<CommittedColumn>> columns_;
  std::vector<std::optional<Columns>> uniform_;
  std::vector<uint32_t> hashes_;
  std::map<std::pair<uint32_t, uint32_t>, Columns> trace_;
  uint32_t weights_ = 0;
  std::vector<std::pair<Columns, uint32_t>> parts_;
  Columns weights_of_group_;
  BufferRef chunk_refs_;
  BufferRef term_columns_;
  uint32_t factors_ = 0;
  uint32_t lines_ = 0;
  uint64_t n_terms_ = 0;
  std::vector<Columns> fri_values_;
  std::vector<uint32_t> fri_hashes_;
  std::vector<Relocatable<OpenRef>> openings_;
  std::vector<uint32_t> opening_nodes_;
  std::vector<BufferUse> open_uses_;
};

}  // namespace

CudaPlan compile_plan(std::shared_ptr<const ProofProgram> program, const PlanTarget& target,
                      const PlanOptions& options) {
  STWO_CHECK(target.multiprocessors > 0, "a device has multiprocessors");
  CudaPlan plan;
  plan.program = std::move(program);
  plan.target = target;
  plan.options = options;
  Compiler(plan).run();
  plan.cache_key = plan_cache_key(*plan.program, target, options);
  if (target.memory_bytes != 0 && plan.device_bytes() > target.memory_bytes) {
    // Rounded up: what is refused must not read as if it fitted.
    const uint64_t needed_mib = (plan.device_bytes() + (1 << 20) - 1) >> 20;
    throw EnvironmentError(
        "OUT_OF_DEVICE_MEMORY",
        plan.program->shape->statement.air + ": proving this shape needs " +
            std::to_string(needed_mib) + " MiB of device memory and the device has " +
            std::to_string(target.memory_bytes >> 20) + " MiB; lower the trace size or the blowup");
  }
  return plan;
}

}  // namespace stwo::gpu

// Compiles a proof program: node by node into launches.

#include <algorithm>
#include <bit>
#include <map>

#include "kernels/air/air_args.hpp"
#include "kernels/composition/composition_args.hpp"
#include "kernels/decommit/decommit_args.hpp"
#include "kernels/fft/fft_args.hpp"
#include "kernels/fri/fri_args.hpp"
#include "kernels/hash/hash_args.hpp"
#include "kernels/oods/oods_args.hpp"
#include "kernels/plan/plan_builder.hpp"
#include "kernels/pow/pow_args.hpp"
#include "kernels/quotient/quotient_args.hpp"
#include "prover/circle/domain.hpp"
#include "prover/hash/sha256.hpp"
#include "prover/merkle/merkle.hpp"

namespace stwo::gpu {
namespace {

constexpr uint32_t kThreads = 256;
/// Blocks a multiprocessor should get over a launch for its load to be even.
constexpr uint64_t kBlocksPerMultiprocessor = 16;
constexpr uint32_t kMaxColumnsPerBlock = 8;
/// Rows that a block of the sample sums takes at least.
constexpr uint32_t kMinSampleChunk = 1024;
/// The reference prover's nonces end where their high word reaches P.
constexpr uint64_t kNonceEnd = uint64_t{kP} << 20;
constexpr uint64_t kMaxTerminalBytes = uint64_t{1} << 30;

uint64_t blocks_for(uint64_t items, uint64_t per_block) {
  return (items + per_block - 1) / per_block;
}

/// Columns of equal length, `stride` words apart.
struct Columns {
  uint32_t buffer = 0;
  uint64_t first = 0;  ///< word of the first column's first row
  uint64_t stride = 0;
  uint32_t count = 0;
  BufferRef at(uint64_t column, uint64_t row) const {
    return {buffer, 4 * (first + column * stride + row)};
  }
  BufferRef row(uint64_t r) const { return at(0, r); }
};

/// Layers of a transform of 2^n rows: `contiguous` low ones, then groups of strided ones, low to
/// high.
struct FftSplit {
  uint32_t contiguous = 0;
  std::vector<uint32_t> strided;
};

/// Strided passes exist for 4, 8 and 10 layers; a contiguous one does up to 12 and should do 8 at
/// least, so that strided tiles have full lanes.
FftSplit split_fft(uint32_t n) {
  if (n <= kFftLogTile) return {n, {}};
  if (n <= 16) return {n - 4, {4}};
  if (n <= 20) return {n - 8, {8}};
  if (n <= 22) return {n - 10, {10}};
  if (n <= 24) return {n - 12, {8, 4}};
  if (n <= 28) return {n - 16, {8, 8}};
  return {n - 18, {8, 10}};
}

class Compiler {
 public:
  Compiler(CudaPlan& plan) : plan_(plan), p_(*plan.program), s_(*p_.shape), b_(plan) {}

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

  BufferRef words(uint32_t buffer, uint64_t word) const { return {buffer, 4 * word}; }
  BufferRef terminal_word(uint64_t word) const { return words(terminal_, word); }

  /// Siblings that can be missing from `level` to the root: one per parent at most.
  uint64_t witness_capacity(uint32_t level) const {
    uint64_t sum = 0;
    for (; level > 0; --level) {
      sum += std::min<uint64_t>(s_.config.fri.n_queries, uint64_t{1} << (level - 1));
    }
    return sum;
  }

  void terminal() {
    TerminalLayout& t = plan_.terminal;
    uint64_t at = 4;
    const auto take = [&](uint64_t n) {
      const uint64_t begin = at;
      at += (n + 3) / 4 * 4;
      return begin;
    };
    const uint64_t q = s_.config.fri.n_queries;
    t.status = 0;
    t.n_positions = 1;
    t.nonce = 2;
    t.position_capacity = q;
    const uint64_t n_openings = s_.trees.size() + s_.fri_layers.size();
    const uint64_t counts = take(2 * n_openings);
    size_t n_steps = 0;
    for (const ProofNode& n : p_.nodes) {
      n_steps += n.kind == NodeKind::kMixConfig || n.kind == NodeKind::kMixU64 ||
                 n.kind == NodeKind::kAbsorbRoot || n.kind == NodeKind::kAbsorbSamples ||
                 n.kind == NodeKind::kFriAbsorb || n.kind == NodeKind::kAbsorbLastLayer ||
                 n.kind == NodeKind::kAbsorbNonce;
    }
    t.log = take(8 * n_steps);
    t.roots = take(8 * s_.trees.size());
    t.fri_roots = take(8 * s_.fri_layers.size());
    t.challenges = take(4 * p_.challenges.size());
    t.point = take(8);
    t.sampled_values = take(uint64_t{4} * p_.n_sampled_values);
    t.last_layer = take(uint64_t{4} << s_.config.fri.log_last_layer_degree_bound);
    t.positions = take(q);
    for (const TreeShape& tree : s_.trees) {
      t.queried_values.push_back(take(q * tree.column_log_sizes.size()));
    }
    uint64_t count = counts;
    for (const TreeShape& tree : s_.trees) {
      TerminalLayout::Opening o;
      o.n_witness = count;
      o.n_fri_witness = count + 1;
      count += 2;
      o.witness_capacity = tree.column_log_sizes.empty() ? 0 : witness_capacity(tree.height);
      o.witness = take(8 * o.witness_capacity);
      t.trees.push_back(o);
    }
    for (const FriLayerShape& layer : s_.fri_layers) {
      TerminalLayout::Opening o;
      o.n_witness = count;
      o.n_fri_witness = count + 1;
      count += 2;
      o.witness_capacity = witness_capacity(layer.log_size - layer.fold_step);
      o.witness = take(8 * o.witness_capacity);
      o.fri_witness_capacity = std::min(q << layer.fold_step, uint64_t{1} << layer.log_size);
      o.fri_witness = take(4 * o.fri_witness_capacity);
      t.fri_layers.push_back(o);
    }
    t.words = at;
    if (4 * at > kMaxTerminalBytes) {
      throw UsageError("SHAPE", s_.statement.air + ": the openings of " + std::to_string(q) +
                                    " queries with fold " +
                                    std::to_string(s_.config.fri.fold_step) + " can take " +
                                    std::to_string((4 * at) >> 20) +
                                    " MiB, more than the CUDA backend reads back (1024 MiB); lower "
                                    "queries or fold");
    }
    terminal_ = b_.buffer("proof", Region::kTerminal, 4 * at);
    state_ = b_.buffer("transcript state", Region::kArena, sizeof(TranscriptState));
    nonce_index_ = b_.buffer("nonce index", Region::kArena, 8);
    b_.set_transcript({state_, 0}, terminal_word(t.log),
                      s_.statement.channel == HashVariant::kBlake2sM31);
  }

  void tables() {
    uint32_t log = s_.lifting_log_size;
    for (const TreeShape& tree : s_.trees) {
      for (const uint32_t l : tree.column_log_sizes) log = std::max(log, l + s_.log_blowup());
    }
    plan_.table_log = log;
    const uint64_t bytes = uint64_t{4} << log;
    x_ = b_.buffer("twiddles x", Region::kTables, bytes);
    x_inverse_ = b_.buffer("inverse twiddles x", Region::kTables, bytes);
    y_ = b_.buffer("twiddles y", Region::kTables, bytes);
    y_inverse_ = b_.buffer("inverse twiddles y", Region::kTables, bytes);
  }

  uint64_t column_rows(uint32_t tree, uint32_t column) const {
    return uint64_t{1} << (s_.trees[tree].column_log_sizes[column] + s_.log_blowup());
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

  /// Reads of all of a tree's columns, `fraction_log` halvings of each.
  template <class Args>
  void touch_columns(LaunchArgs<Args>& args, uint32_t tree) const {
    for (const CommittedColumn& c : columns_[tree]) {
      args.touch(c.values.buffer, uint64_t{4} << c.log_size, 0);
    }
  }

  void hash_tree(uint32_t tree, std::optional<BufferRef> root_out) {
    const TreeShape& shape = s_.trees[tree];
    const uint32_t h = shape.height;
    LaunchArgs<HashLeavesArgs> args;
    args->n_columns = static_cast<uint32_t>(shape.column_log_sizes.size());
    args->height = h;
    const bool uniform = uniform_[tree].has_value();
    const uint64_t leaves = uint64_t{1} << h;
    if (uniform) {
      args.point(args->base, uniform_[tree]->row(0));
      args->stride = uniform_[tree]->stride;
    } else {
      args.point(args->columns, column_refs(tree, hash_order(shape.column_log_sizes),
                                            "hash order of tree " + std::to_string(tree)));
    }
    touch_columns(args, tree);
    hash_levels(uniform ? "hash_leaves_uniform" : "hash_leaves_lifted",
                "leaves and low levels of tree " + std::to_string(tree), args, leaves, h,
                hashes_[tree], root_out);
  }

  /// Threads for a tile: one per node, whole warps, at most a block's.
  static uint32_t hash_threads(uint32_t log_tile) {
    return std::clamp(1u << log_tile, 32u, kHashThreads);
  }

  /// Leaves by `args`, all levels above, the root. A chain of dependent hashes cannot be shortened,
  /// only kept off a single busy multiprocessor: a small tree goes to 2^8 nodes in one launch, over
  /// as many blocks as that leaves; a large one first to 32 nodes a block, below which idle lanes
  /// would cost issue slots. Measured on an H200 at log 15: 44 us with tiles of 2^10, 18 us with
  /// these.
  void hash_levels(const std::string& kernel, const std::string& pass,
                   LaunchArgs<HashLeavesArgs>& args, uint64_t leaves, uint32_t height,
                   uint32_t nodes, std::optional<BufferRef> root_out) {
    const uint32_t reduce = s_.statement.channel == HashVariant::kBlake2sM31 ? 1 : 0;
    constexpr uint32_t kWarpStop = 5;
    constexpr uint32_t kTopLevel = 8;
    static_assert(kTopLevel <= kHashTopLevel);
    const bool small = height <= kTopLevel + kHashLogTile;
    const uint32_t tile = !small ? kHashLogTile : height > kTopLevel ? height - kTopLevel : 0;
    const uint32_t stop = small ? 0 : kWarpStop;
    args->log_tile = tile;
    args->log_stop = stop;
    args->reduce = reduce;
    args.write(args->nodes, {nodes, 0}, 64 * leaves - (uint64_t{32} << (height - tile + stop)));
    // A tree without levels of its own below the top still has its leaves hashed by full blocks.
    const uint32_t leaf_tile = tile == 0 ? std::min(height, 5u) : tile;
    if (tile == 0) {
      args->log_tile = leaf_tile;
      args->log_stop = leaf_tile;
    }
    b_.launch(kernel, pass, {leaves >> leaf_tile, 1, hash_threads(leaf_tile), kHashSharedBytes},
              args);
    uint32_t level = height - (tile - stop);
    while (level > kTopLevel) {
      const bool final = level - 1 <= kTopLevel + kHashLogTile;
      const uint32_t log_tile = final ? level - 1 - kTopLevel : kHashLogTile;
      const uint32_t log_stop = final ? 0 : kWarpStop;
      LaunchArgs<HashNodesArgs> n;
      n->level = level;
      n->log_tile = log_tile;
      n->log_stop = log_stop;
      n->reduce = reduce;
      const uint32_t to = level - 1 - (log_tile - log_stop);
      n.update(n->nodes, {nodes, 0}, uint64_t{32} << level,
               (uint64_t{32} << level) - (uint64_t{32} << to));
      b_.launch(
          "hash_nodes", pass,
          {uint64_t{1} << (level - 1 - log_tile), 1, hash_threads(log_tile), kHashSharedBytes}, n);
      level = to;
    }
    LaunchArgs<HashTopArgs> top;
    top->level = level;
    top->reduce = reduce;
    top.update(top->nodes, {nodes, 0}, uint64_t{32} << level, uint64_t{32} << level);
    if (root_out) top.write(top->root_out, *root_out, 32);
    const uint32_t tail = offsetof(HashTopArgs, transcript);
    b_.launch("hash_top", pass, {1, 1, level == 0 ? 32 : hash_threads(level - 1), kHashSharedBytes},
              top);
    b_.open_tail(tail);
  }

  // ---- transforms

  struct Fft {
    Columns source;
    uint64_t source_row = 0;
    Columns target;
    uint64_t target_row = 0;
    uint32_t log_rows = 0;
    uint32_t domain_log = 0;
    uint32_t domain_block = 0;
    bool inverse_tables = false;
  };

  /// Tables, placement and geometry of one pass. n_tiles: tiles per column.
  void fft_pass(const char* mode, const std::string& pass, LaunchArgs<FftArgs>& args, const Fft& f,
                uint32_t low, uint32_t layers, uint64_t n_tiles, uint64_t read_rows,
                uint64_t written_rows) {
    const bool is_short = f.log_rows < kFftLogTile;
    const uint32_t wide = low != 0 && layers == 10;
    args->source_stride = f.source.stride;
    args->target_stride = f.target.stride;
    args->n_columns = f.source.count;
    args->log_rows = f.log_rows;
    args->low_layer = low;
    args->n_layers = layers;
    args->domain_log = f.domain_log;
    args->domain_block = f.domain_block;
    const uint64_t table = uint64_t{4} << f.domain_log;
    args.read(args->x, {f.inverse_tables ? x_inverse_ : x_, 0}, table / 2);
    args.read(args->y, {f.inverse_tables ? y_inverse_ : y_, 0}, low == 0 ? table / 2 : 0);
    args.read(args->source, f.source.row(f.source_row), 4 * f.source.count * read_rows);
    args.write(args->target, f.target.row(f.target_row), 4 * f.source.count * written_rows);
    std::string kernel = std::string("fft_") + mode;
    Geometry g;
    if (low != 0) {
      kernel += "_strided" + std::to_string(layers);
    } else {
      kernel += is_short ? "_short" : "_rows";
    }
    g.threads = wide ? kFftWideThreads : kFftThreads;
    const bool extends = std::string_view(mode) == "extend";
    g.shared_bytes = wide ? (extends ? kFftWideExtendSharedBytes : kFftWideSharedBytes)
                          : (extends ? kFftExtendSharedBytes : kFftSharedBytes);
    if (is_short) {
      g.grid_x = 1;
      g.grid_y = blocks_for(f.source.count, uint64_t{1} << (kFftLogTile - f.log_rows));
      args->columns_per_block = 1;
    } else {
      g.grid_x = n_tiles;
      const uint64_t want = plan_.target.multiprocessors * kBlocksPerMultiprocessor;
      uint64_t group = n_tiles * f.source.count / want;
      group = std::clamp<uint64_t>(group, 1, kMaxColumnsPerBlock);
      args->columns_per_block = static_cast<uint32_t>(group);
      g.grid_y = blocks_for(f.source.count, group);
    }
    b_.launch(kernel, pass, g, args);
  }

  static uint64_t tiles(uint64_t rows, uint32_t low, uint32_t layers) {
    return rows >> (low != 0 && layers == 10 ? kFftLogWideTile : kFftLogTile);
  }

  /// Coefficients of the polynomial through 2^n values (block 0 of domain_log) go through the low
  /// layers from `source` to `work`, then through the high ones, and from there are evaluated on
  /// blocks [first_block, end_block) of domain n + b in `target`. `work` is a block of `target`'s
  /// columns that is overwritten last.
  void extend(const Columns& source, uint64_t source_row, const Columns& target, uint64_t work_row,
              uint32_t n, uint32_t inverse_domain_log, uint32_t first_block, uint32_t end_block,
              const std::string& what) {
    const uint32_t forward_log = n + s_.log_blowup();
    const uint64_t rows = uint64_t{1} << n;
    const FftSplit split = split_fft(n);
    const uint64_t written = (end_block - first_block) * rows;
    const auto extend_args = [&](LaunchArgs<FftArgs>& args) {
      args->scale_log = n;
      args->first_block = first_block;
      args->end_block = end_block;
      args->forward_domain_log = forward_log;
      const uint64_t table = uint64_t{4} << forward_log;
      args.read(args->forward_x, {x_, 0}, table / 2);
      args.read(args->forward_y, {y_, 0}, table / 2);
    };
    Fft f;
    f.log_rows = n;
    f.domain_log = inverse_domain_log;
    f.inverse_tables = true;
    f.source = source;
    f.source_row = source_row;
    f.target = target;
    f.target.count = source.count;
    if (split.strided.empty()) {
      f.target_row = 0;
      LaunchArgs<FftArgs> args;
      extend_args(args);
      fft_pass("extend", "lde of " + what, args, f, 0, n,
               std::max<uint64_t>(rows >> kFftLogTile, 1), rows, written);
      return;
    }
    f.target_row = work_row;
    LaunchArgs<FftArgs> low;
    fft_pass("inverse", "interpolate low layers of " + what, low, f, 0, split.contiguous,
             tiles(rows, 0, 0), rows, rows);
    f.source = f.target;
    f.source_row = work_row;
    uint32_t layer = split.contiguous;
    for (size_t i = 0; i + 1 < split.strided.size(); ++i) {
      LaunchArgs<FftArgs> args;
      fft_pass("inverse", "interpolate layers of " + what, args, f, layer, split.strided[i],
               tiles(rows, layer, split.strided[i]), rows, rows);
      layer += split.strided[i];
    }
    {
      LaunchArgs<FftArgs> args;
      extend_args(args);
      f.target_row = 0;
      fft_pass("extend", "lde high layers of " + what, args, f, layer, split.strided.back(),
               tiles(rows, layer, split.strided.back()), rows, written);
    }
    // The remaining forward layers, over all the blocks written at once.
    Fft g;
    g.source = f.target;
    g.target = f.target;
    g.log_rows = forward_log;
    g.domain_log = forward_log;
    for (size_t i = split.strided.size() - 1; i-- > 0;) {
      layer -= split.strided[i];
      LaunchArgs<FftArgs> args;
      args->first_tile = static_cast<uint32_t>(tiles(first_block * rows, layer, split.strided[i]));
      fft_pass("forward", "lde layers of " + what, args, g, layer, split.strided[i],
               tiles(written, layer, split.strided[i]), written, written);
    }
    LaunchArgs<FftArgs> args;
    args->first_tile = static_cast<uint32_t>(tiles(first_block * rows, 0, 0));
    fft_pass("forward", "lde low layers of " + what, args, g, 0, split.contiguous,
             tiles(written, 0, 0), written, written);
  }

  /// In-place interpolation of 2^n values on block 0 of domain_log.
  void interpolate(const Columns& columns, uint32_t n, uint32_t domain_log,
                   const std::string& what) {
    Fft f;
    f.source = columns;
    f.target = columns;
    f.log_rows = n;
    f.domain_log = domain_log;
    f.inverse_tables = true;
    const uint64_t rows = uint64_t{1} << n;
    const FftSplit split = split_fft(n);
    uint32_t layer = 0;
    std::vector<uint32_t> passes{split.contiguous};
    passes.insert(passes.end(), split.strided.begin(), split.strided.end());
    for (size_t i = 0; i < passes.size(); ++i) {
      LaunchArgs<FftArgs> args;
      if (i + 1 == passes.size()) args->scale_log = n;
      fft_pass("inverse", "interpolate " + what, args, f, layer, passes[i],
               std::max<uint64_t>(tiles(rows, layer, passes[i]), 1), rows, rows);
      layer += passes[i];
    }
  }

  /// Evaluation of 2^n coefficients on one block of a domain; the first pass goes from source to
  /// target.
  void evaluate(Fft f, const std::string& what) {
    const uint64_t rows = uint64_t{1} << f.log_rows;
    const FftSplit split = split_fft(f.log_rows);
    std::vector<uint32_t> passes{split.contiguous};
    passes.insert(passes.end(), split.strided.begin(), split.strided.end());
    uint32_t layer = f.log_rows;
    for (size_t i = passes.size(); i-- > 0;) {
      layer -= passes[i];
      LaunchArgs<FftArgs> args;
      fft_pass("forward", "evaluate " + what, args, f, layer, passes[i],
               std::max<uint64_t>(tiles(rows, layer, passes[i]), 1), rows, rows);
      f.source = f.target;
      f.source_row = f.target_row;
    }
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
      extend(column, last, column, last, n, n, 0, 1u << b,
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
    extend(columns, last, columns, last, n, n, 0, 1u << b,
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
      interpolate(source, n + 1, d, "composition");
      // The lower half of the coefficients is the left polynomial, the upper half the right one.
      for (uint32_t half = 0; half < 2; ++half) {
        for (uint32_t block = 0; block < blocks; ++block) {
          Fft f;
          f.source = source;
          f.source_row = half * rows;
          f.target = left;
          f.target.first += 4 * half * left.stride;
          f.target.count = 4;
          f.target_row = block * rows;
          f.log_rows = n;
          f.domain_log = d;
          f.domain_block = block;
          evaluate(f, half == 0 ? "left composition columns" : "right composition columns");
        }
      }
      if (d == s_.trees[tree].height) uniform_[tree] = left;
      return;
    }
    extend(source, 0, left, (blocks - 1) * rows, n, d, 1, static_cast<uint32_t>(blocks),
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
              {blocks_for(uint64_t{1} << low, kThreads), 1, kThreads, 32 * 16}, t);
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
    Fft f;
    f.source = weights_of_group_;
    f.target = weights_of_group_;
    f.log_rows = n;
    f.domain_log = committed;
    f.inverse_tables = true;
    evaluate(f, "row weights of " + name);
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
    b_.launch("quotient_terms", "quotient factors and lines", {chunks.size(), 1, 128, 128 * 32},
              args);
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
    args.read(args->x, {x_, 0}, rows);
    args.read(args->y, {y_, 0}, 2 * rows);
    args.write(args->out, fri_values_[0].row(0), 16 * rows);
    b_.launch("quotient_rows", "quotient on the first 2^D rows",
              {blocks_for(rows, uint64_t{kThreads} * 4), 1, kThreads, 0}, args);
  }

  void extend_quotient() {
    const uint32_t d = s_.max_degree_log_size;
    const uint32_t blocks = 1u << s_.log_blowup();
    extend(fri_values_[0], 0, fri_values_[0], uint64_t{blocks - 1} << d, d, s_.lifting_log_size, 1,
           blocks, "quotient");
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
    args->height = layer.tree_height();
    args->stride = fri_values_[i].stride;
    args.read(args->base, fri_values_[i].row(0), uint64_t{16} << layer.log_size);
    hash_levels(layer.packed() ? "hash_leaves_packed" : "hash_leaves_secure",
                "FRI layer " + std::to_string(i), args, uint64_t{1} << layer.tree_height(),
                layer.tree_height(), fri_hashes_[i],
                terminal_word(plan_.terminal.fri_roots + 8 * i));
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
      args.read(args->x_inverse, {x_inverse_, 0}, uint64_t{4} << (log - 1));
      args.read(args->y_inverse, {y_inverse_, 0}, 0);
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
    args->reduce = s_.statement.channel == HashVariant::kBlake2sM31 ? 1 : 0;
    if (!layers.empty()) args.point(args->layers, b_.constant("FRI tail layers", layers));
    args.update(args->state, {state_, 0}, sizeof(TranscriptState), sizeof(TranscriptState));
    args.point(args->log, terminal_word(t.log));
    args.read(args->x_inverse, {x_inverse_, 0}, uint64_t{4} << kFriTailLogSize);
    args.read(args->y_inverse, {y_inverse_, 0}, 0);
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
    args->reduce = s_.statement.channel == HashVariant::kBlake2sM31 ? 1 : 0;
    args->end = kNonceEnd;
    args.read(args->state, {state_, 0}, sizeof(TranscriptState));
    args.update(args->nonce_index, {nonce_index_, 0}, 8, 8);
    // No more blocks than one per 256 nonces expected: a small search is one block's.
    const uint64_t expected = blocks_for(uint64_t{4} << s_.config.pow_bits, kGrindThreads);
    const uint64_t grid = std::min<uint64_t>(expected, uint64_t{plan_.target.multiprocessors} * 4);
    b_.launch("grind", "proof of work", {std::max<uint64_t>(grid, 1), 1, kGrindThreads, 32}, args);
  }

  void draw_queries() {
    const TerminalLayout& t = plan_.terminal;
    LaunchArgs<DrawQueriesArgs> args;
    args->n_queries = s_.config.fri.n_queries;
    args->log_domain = s_.lifting_log_size;
    args->reduce = s_.statement.channel == HashVariant::kBlake2sM31 ? 1 : 0;
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

  uint32_t terminal_ = 0;
  uint32_t state_ = 0;
  uint32_t nonce_index_ = 0;
  uint32_t x_ = 0;
  uint32_t x_inverse_ = 0;
  uint32_t y_ = 0;
  uint32_t y_inverse_ = 0;
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

std::string plan_cache_key(const ProofProgram& program, const PlanTarget& target,
                           const PlanOptions& options) {
  Sha256 hasher;
  const auto add_text = [&](std::string_view name, std::string_view text) {
    const std::string line =
        std::string(name) + "=" + std::to_string(text.size()) + ":" + std::string(text) + "\n";
    hasher.update({reinterpret_cast<const uint8_t*>(line.data()), line.size()});
  };
  add_text("schedule_version", std::to_string(kScheduleVersion));
  add_text("program", program.digest());
  add_text("protocol", program.protocol);
  add_text("sm", std::to_string(target.sm));
  add_text("device_uuid", target.device_uuid);
  add_text("multiprocessors", std::to_string(target.multiprocessors));
  add_text("memory_bytes", std::to_string(target.memory_bytes));
  add_text("driver_version", std::to_string(target.driver_version));
  add_text("toolkit", target.toolkit);
  add_text("host_toolchain", target.host_toolchain);
  add_text("module_digest", target.module_digest);
  add_text("full_domain_composition", options.full_domain_composition ? "1" : "0");
  return to_hex(hasher.finalize());
}

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

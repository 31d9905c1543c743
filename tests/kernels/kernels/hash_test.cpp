// Merkle trees against prover/merkle, the transcript's operations against stwo::Channel.
#include "kernels/hash/hash_args.hpp"

#include <algorithm>

#include "prover/merkle/merkle.hpp"
#include "tests/kernels/support/reference.hpp"

namespace stwo::gpu {
namespace {

using namespace stwo::test;

constexpr HashVariant kVariants[] = {HashVariant::kBlake2s, HashVariant::kBlake2sM31};

uint32_t reduces(HashVariant variant) { return variant == HashVariant::kBlake2sM31 ? 1 : 0; }

/// Copies level d of a tree from `from`.
void take_level(Words& to, const Words& from, uint32_t d) {
  std::copy_n(from.begin() + (std::ptrdiff_t{8} << d), size_t{8} << d,
              to.begin() + (std::ptrdiff_t{8} << d));
}

class HashKernel : public KernelTest {
 protected:
  /// Runs a leaf kernel with tiles as plans make them, of few and of many blocks, and with any
  /// other, and compares all levels it makes.
  void expect_leaves(const std::string& kernel, HashLeavesArgs args, uint32_t height,
                     HashVariant variant, const std::vector<std::vector<Digest>>& tree) {
    struct Tile {
      uint32_t log_tile, log_stop;
    };
    const Words all = tree_words(tree);
    const uint32_t largest = std::min(height, kHashLogTile);
    const uint32_t least = height > 8 ? height - 8 : 0;
    const auto any = least + static_cast<uint32_t>(rng.below(largest - least + 1));
    for (const Tile& tile : {Tile{largest, std::min(largest, 5u)}, Tile{least, 0},
                             Tile{std::min(largest, 5u), std::min(largest, 5u)},
                             Tile{any, static_cast<uint32_t>(rng.below(any + 1))}}) {
      SCOPED_TRACE(kernel + " height " + std::to_string(height) + " columns " +
                   std::to_string(args.n_columns) + " tile " + std::to_string(tile.log_tile) +
                   " to " + std::to_string(tile.log_stop) + " variant " +
                   std::to_string(reduces(variant)));
      Words expected(all.size(), kPoison);
      for (uint32_t d = height - (tile.log_tile - tile.log_stop); d <= height; ++d) {
        take_level(expected, all, d);
      }
      const DeviceWords nodes = DeviceWords::output(expected.size());
      args.height = height;
      args.log_tile = tile.log_tile;
      args.log_stop = tile.log_stop;
      args.reduce = reduces(variant);
      args.nodes = nodes.at();
      launch(kernel,
             {1u << (height - tile.log_tile), 1, threads_for(tile.log_tile), kHashSharedBytes},
             args);
      nodes.expect(expected);
    }
  }

  /// A block has whole warps, and a thread per node where it can.
  uint32_t threads_for(uint32_t log_nodes, uint32_t most = kHashThreads) {
    const uint32_t least = std::clamp(1u << log_nodes, 32u, most);
    return rng.coin() ? least : most;
  }

  void uniform(uint32_t height, uint32_t n_columns, HashVariant variant) {
    const uint64_t rows = uint64_t{1} << height;
    Columns columns(rng.below(4), rows + rng.below(4), rows, n_columns);
    columns.randomise(rng);
    std::vector<std::vector<M31>> values;
    for (uint32_t c = 0; c < n_columns; ++c) values.push_back(columns.values(c));
    const DeviceWords base = DeviceWords::input(columns.words);
    HashLeavesArgs args{};
    args.base = base.at(columns.first);
    args.stride = columns.stride;
    args.n_columns = n_columns;
    expect_leaves("hash_leaves_uniform", args, height, variant,
                  reference_lifted_tree(variant, values, height));
  }

  void lifted(uint32_t height, uint32_t n_columns, HashVariant variant) {
    std::vector<std::vector<M31>> values;
    std::vector<uint32_t> logs;
    std::vector<DeviceWords> on_device;
    for (uint32_t c = 0; c < n_columns; ++c) {
      // Sizes from the smallest to the tree's own; a fifth are constants: two equal values.
      const bool constant = rng.below(5) == 0;
      const auto log = constant ? 1 : static_cast<uint32_t>(1 + rng.below(height));
      Words words = random_column(rng, size_t{1} << log);
      if (constant) words[1] = words[0];
      logs.push_back(log);
      values.emplace_back();
      for (const uint32_t w : words) values.back().emplace_back(w);
      on_device.push_back(DeviceWords::input(words));
    }
    std::vector<ColumnRef> refs;
    for (const uint32_t c : hash_order(logs))
      refs.push_back({on_device[c].at(), height - logs[c], 0});
    const DeviceWords list = DeviceWords::input(refs);
    HashLeavesArgs args{};
    args.columns = reinterpret_cast<const ColumnRef*>(list.at());
    args.n_columns = n_columns;
    expect_leaves("hash_leaves_lifted", args, height, variant,
                  reference_lifted_tree(variant, values, height));
  }

  /// A tree over rows of words that the leaf kernels for FRI layers build.
  static std::vector<std::vector<Digest>> tree_over(HashVariant variant,
                                                    std::vector<Digest> leaves) {
    std::vector<std::vector<Digest>> tree{std::move(leaves)};
    while (tree.front().size() > 1) {
      std::vector<Digest> level(tree.front().size() / 2);
      for (size_t i = 0; i < level.size(); ++i) {
        level[i] = blake2s_node(variant, tree.front()[2 * i], tree.front()[2 * i + 1]);
      }
      tree.insert(tree.begin(), std::move(level));
    }
    return tree;
  }

  void fri_leaves(uint32_t height, bool packed, HashVariant variant) {
    const uint64_t n = uint64_t{packed ? 4u : 1u} << height;
    // The packed kernel reads 16 bytes at a time.
    Columns columns(packed ? 4 * rng.below(2) : rng.below(3),
                    n + (packed ? 4 * rng.below(3) : rng.below(3)), n, 4);
    columns.randomise(rng);
    std::vector<Digest> leaves;
    for (uint64_t leaf = 0; leaf < uint64_t{1} << height; ++leaf) {
      const uint64_t per_leaf = packed ? 4 : 1;
      std::vector<M31> row;
      for (uint64_t i = leaf * per_leaf; i < (leaf + 1) * per_leaf; ++i) {
        for (uint32_t k = 0; k < 4; ++k) row.emplace_back(columns.column(k)[i]);
      }
      leaves.push_back(merkle_leaf(variant, row));
    }
    const DeviceWords base = DeviceWords::input(columns.words);
    HashLeavesArgs args{};
    args.base = base.at(columns.first);
    args.stride = columns.stride;
    args.n_columns = 4;
    expect_leaves(packed ? "hash_leaves_packed" : "hash_leaves_secure", args, height, variant,
                  tree_over(variant, std::move(leaves)));
  }
};

STWO_UNDER_ALL_SCHEDULES(HashKernel);

constexpr uint32_t kColumnCounts[] = {1, 3, 4, 15, 16, 17, 31, 32, 33, 100};

TEST_P(HashKernel, UniformLeaves) {
  for (const HashVariant variant : kVariants) {
    for (const uint32_t n : kColumnCounts) uniform(6, n, variant);
    // Below, at and above a tile, and more than one block of threads.
    for (const uint32_t height : {0u, 1u, 2u, 4u, 5u, 8u, 9u, 10u, 11u, 12u}) {
      uniform(height, static_cast<uint32_t>(1 + rng.below(5)), variant);
    }
  }
}

TEST_P(HashKernel, LiftedLeaves) {
  for (const HashVariant variant : kVariants) {
    for (const uint32_t n : kColumnCounts) lifted(6, n, variant);
    for (const uint32_t height : {1u, 2u, 4u, 5u, 8u, 9u, 10u, 11u, 12u}) {
      lifted(height, static_cast<uint32_t>(1 + rng.below(5)), variant);
    }
  }
}

TEST_P(HashKernel, FriLeaves) {
  for (const HashVariant variant : kVariants) {
    for (const bool packed : {false, true}) {
      for (const uint32_t height : {0u, 1u, 2u, 5u, 8u, 9u, 10u, 11u}) {
        fri_leaves(height, packed, variant);
      }
    }
  }
}

TEST_P(HashKernel, Nodes) {
  for (const HashVariant variant : kVariants) {
    for (const uint32_t level : {1u, 2u, 3u, 6u, 10u, 11u, 12u, 13u}) {
      const auto tree = tree_over(variant, random_digests(rng, size_t{1} << level));
      const Words all = tree_words(tree);
      const uint32_t log_tile = std::min(level - 1, kHashLogTile);
      for (uint32_t log_stop : {std::min(log_tile, 5u), log_tile, 0u}) {
        SCOPED_TRACE("level " + std::to_string(level) + " tile " + std::to_string(log_tile) +
                     " to " + std::to_string(log_stop));
        Words before(all.size(), kPoison);
        take_level(before, all, level);
        Words expected = before;
        for (uint32_t d = level - 1 - (log_tile - log_stop); d < level; ++d) {
          take_level(expected, all, d);
        }
        const DeviceWords nodes = DeviceWords::updated(before);
        HashNodesArgs args{};
        args.nodes = nodes.at();
        args.level = level;
        args.log_tile = log_tile;
        args.log_stop = log_stop;
        args.reduce = reduces(variant);
        launch("hash_nodes",
               {1u << (level - 1 - log_tile), 1, threads_for(log_tile), kHashSharedBytes}, args);
        nodes.expect(expected);
      }
    }
  }
}

TEST_P(HashKernel, TopAndTranscript) {
  for (const HashVariant variant : kVariants) {
    for (uint32_t level = 0; level <= kHashTopLevel; ++level) {
      SCOPED_TRACE("level " + std::to_string(level));
      const auto tree = tree_over(variant, random_digests(rng, size_t{1} << level));
      const Words all = tree_words(tree);
      Words before(all.size(), kPoison);
      take_level(before, all, level);
      Words expected = all;
      std::fill_n(expected.begin(), 8, kPoison);  // digest 0 is unused
      const DeviceWords nodes = DeviceWords::updated(before);
      const DeviceWords root = DeviceWords::output(8);
      const bool root_wanted = rng.coin();
      const bool transcript = rng.coin();

      // The root is absorbed by the launch that makes it.
      Channel channel(variant);
      channel.mix_root(tree[0][0]);
      const Digest mixed = channel.digest();
      const QM31 drawn = channel.draw_secure_felt();
      const DeviceWords state = DeviceWords::output(12);
      const DeviceWords draw = DeviceWords::output(4);
      const DeviceWords log = DeviceWords::output(16);
      const DeviceWords ops = DeviceWords::input(std::vector<TranscriptOp>{
          {TranscriptOpKind::kReset, 0, kNoLogEntry, 0, nullptr, nullptr},
          {TranscriptOpKind::kMix, 8, 1, 0, nodes.at(8), nullptr},
          {TranscriptOpKind::kDraw, 0, kNoLogEntry, 0, nullptr, draw.at()}});
      HashTopArgs args{};
      args.nodes = nodes.at();
      args.level = level;
      args.reduce = reduces(variant);
      args.root_out = root_wanted ? root.at() : nullptr;
      args.transcript.state = reinterpret_cast<TranscriptState*>(state.at());
      args.transcript.ops = reinterpret_cast<const TranscriptOp*>(ops.at());
      args.transcript.n_ops = transcript ? 3 : 0;
      args.transcript.reduce = reduces(variant);
      args.transcript.log = log.at();
      const uint32_t threads = level == 0 ? 32 : threads_for(level - 1, kHashTopThreads);
      launch("hash_top", {1, 1, threads, kHashSharedBytes}, args);

      nodes.expect(expected, "nodes");
      Words expected_root(8, kPoison), expected_state(12, kPoison), expected_draw(4, kPoison);
      Words expected_log(16, kPoison);
      if (root_wanted) put(expected_root, 0, tree[0][0]);
      if (transcript) {
        put(expected_state, 0, mixed);
        expected_state[8] = 1;
        put(expected_draw, 0, drawn);
        put(expected_log, 8, mixed);
      }
      root.expect(expected_root, "root");
      state.expect(expected_state, "state");
      draw.expect(expected_draw, "draw");
      log.expect(expected_log, "log");
    }
  }
}

// ---- transcript

/// Operations for one launch, and what the channel says they give.
class TranscriptScript {
 public:
  TranscriptScript(HashVariant variant, uint32_t log_entries)
      : channel_(variant), log_(8 * log_entries, kPoison) {}

  void reset() {
    channel_ = Channel(channel_.variant());
    n_draws_ = 0;
    add({TranscriptOpKind::kReset, 0, kNoLogEntry, 0, nullptr, nullptr});
  }
  void mix(const Words& words) {
    channel_.mix_u32s(words);
    n_draws_ = 0;
    inputs_.push_back(DeviceWords::input(words));
    add({TranscriptOpKind::kMix, static_cast<uint32_t>(words.size()), kNoLogEntry, 0,
         inputs_.back().at(), nullptr});
  }
  void draw() {
    // A batch with a word that would bias the reduction is dropped: about one in 2^28.
    Channel copy = channel_;
    const QM31 felt = channel_.draw_secure_felt();
    for (;;) {
      const auto words = copy.draw_u32s();
      ++n_draws_;
      if (std::none_of(words.begin(), words.end(), [](uint32_t w) { return w >= 2 * kP; })) break;
    }
    outputs_.push_back(DeviceWords::output(4));
    expected_.emplace_back();
    for (const uint32_t w : words_of(felt)) expected_.back().push_back(w);
    add({TranscriptOpKind::kDraw, 0, kNoLogEntry, 0, nullptr, outputs_.back().at()});
  }
  void copy(const Words& words) {
    inputs_.push_back(DeviceWords::input(words));
    outputs_.push_back(DeviceWords::output(words.size() + 1));
    expected_.push_back(words);
    expected_.back().push_back(kPoison);
    add({TranscriptOpKind::kCopy, static_cast<uint32_t>(words.size()), kNoLogEntry, 0,
         inputs_.back().at(), outputs_.back().at()});
  }
  /// Logs the digest after the last operation.
  void log(uint32_t entry) {
    ops_.back().log_entry = entry;
    put(log_, 8 * entry, channel_.digest());
  }

  /// Forgets what has run; the channel goes on.
  void start_launch() {
    ops_.clear();
    inputs_.clear();
    outputs_.clear();
    expected_.clear();
    std::fill(log_.begin(), log_.end(), kPoison);
  }

  const std::vector<TranscriptOp>& ops() const { return ops_; }
  const Words& expected_log() const { return log_; }
  Words expected_state(uint32_t pad) const {
    Words state(12, pad);
    put(state, 0, channel_.digest());
    state[8] = n_draws_;
    return state;
  }
  void expect_outputs() const {
    for (size_t i = 0; i < outputs_.size(); ++i) outputs_[i].expect(expected_[i], "output");
  }

 private:
  void add(const TranscriptOp& op) { ops_.push_back(op); }

  Channel channel_;
  uint32_t n_draws_ = 0;
  std::vector<TranscriptOp> ops_;
  std::vector<DeviceWords> inputs_, outputs_;
  std::vector<Words> expected_;
  Words log_;
};

class TranscriptKernel : public KernelTest {
 protected:
  void run(const TranscriptScript& script, const DeviceWords& state, HashVariant variant) {
    const DeviceWords ops = DeviceWords::input(script.ops());
    const DeviceWords log = DeviceWords::output(script.expected_log().size());
    TranscriptTail args{};
    args.state = reinterpret_cast<TranscriptState*>(state.at());
    args.ops = reinterpret_cast<const TranscriptOp*>(ops.at());
    args.n_ops = static_cast<uint32_t>(script.ops().size());
    args.reduce = reduces(variant);
    args.log = log.at();
    launch("transcript", {1, 1, 32, 0}, args);
    log.expect(script.expected_log(), "log");
    script.expect_outputs();
  }
};

STWO_UNDER_ALL_SCHEDULES(TranscriptKernel);

TEST_P(TranscriptKernel, MixesOfEveryLength) {
  for (const HashVariant variant : kVariants) {
    TranscriptScript script(variant, 41);
    script.reset();
    for (uint32_t n = 0; n <= 40; ++n) {
      script.mix(random_words(rng, n));
      script.log(n);
    }
    const DeviceWords state = DeviceWords::output(12);
    run(script, state, variant);
    state.expect(script.expected_state(kPoison));
  }
}

TEST_P(TranscriptKernel, LongMixes) {
  for (const HashVariant variant : kVariants) {
    for (const uint32_t n : {55u, 56u, 57u, 71u, 72u, 73u, 1000u, 4096u}) {
      TranscriptScript script(variant, 1);
      script.reset();
      script.mix(random_words(rng, n));
      script.log(0);
      const DeviceWords state = DeviceWords::output(12);
      run(script, state, variant);
      state.expect(script.expected_state(kPoison), std::to_string(n));
    }
  }
}

TEST_P(TranscriptKernel, RandomOperationsOverSeveralLaunches) {
  for (const HashVariant variant : kVariants) {
    for (int sequence = 0; sequence < 10; ++sequence) {
      TranscriptScript script(variant, 1);
      // The state in memory carries over from launch to launch.
      const DeviceWords state = DeviceWords::output(12);
      script.reset();
      for (int part = 0; part < 3; ++part) {
        for (uint64_t n = 1 + rng.below(12); n > 0; --n) {
          switch (rng.below(8)) {
            case 0: script.reset(); break;
            case 1:
            case 2: script.copy(random_words(rng, rng.below(9))); break;
            case 3:
            case 4: script.mix(random_words(rng, rng.below(41))); break;
            default: script.draw();
          }
        }
        script.log(0);
        run(script, state, variant);
        state.expect(script.expected_state(kPoison));
        script.start_launch();
      }
    }
  }
}

TEST_P(TranscriptKernel, NoOperationsLeaveTheState) {
  const DeviceWords state = DeviceWords::output(12);
  TranscriptTail args{};
  args.state = reinterpret_cast<TranscriptState*>(state.at());
  launch("transcript", {1, 1, 32, 0}, args);
  state.expect(Words(12, kPoison));
}

}  // namespace
}  // namespace stwo::gpu

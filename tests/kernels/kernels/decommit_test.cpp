// Queries and openings against stwo::draw_queries, prover/merkle and the CPU session's rules.
#include "kernels/decommit/decommit_args.hpp"

#include <algorithm>

#include "kernels/oods/oods_args.hpp"
#include "prover/circle/domain.hpp"
#include "prover/merkle/merkle.hpp"
#include "prover/shape.hpp"
#include "tests/kernels/support/reference.hpp"

namespace stwo::gpu {
namespace {

using namespace stwo::test;

constexpr uint32_t kQueryCounts[] = {1, 2, 3, 70, 1000, 4096};

/// Ascending positions without repeats, `n` draws of them.
std::vector<uint32_t> random_positions(Random& rng, uint32_t n, uint32_t log_domain) {
  std::vector<uint32_t> positions(n);
  for (uint32_t& p : positions) p = static_cast<uint32_t>(rng.below(uint64_t{1} << log_domain));
  // Neighbours share nodes at once; random positions of a large domain hardly ever do.
  for (uint32_t i = 1; i < n; i += 3) positions[i] = positions[i - 1] ^ 1;
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return positions;
}

// ---- draw_queries

class QueryKernel : public KernelTest {
 protected:
  void run(uint32_t n_queries, uint32_t log_domain, HashVariant variant, uint64_t index) {
    SCOPED_TRACE(std::to_string(n_queries) + " queries on 2^" + std::to_string(log_domain));
    Channel channel(variant);
    channel.mix_u32s(random_words(rng, 8));
    Words state_words(12, kPoison);
    put(state_words, 0, channel.digest());
    const uint32_t nonce[2] = {static_cast<uint32_t>(index) & ((1u << 20) - 1),
                               static_cast<uint32_t>(index >> 20)};
    channel.mix_u32s(nonce);
    Words expected_state = state_words;
    put(expected_state, 0, channel.digest());
    expected_state[8] = 0;
    Words expected_log(24, kPoison);
    put(expected_log, 8, channel.digest());
    const auto positions = draw_queries(channel, log_domain, n_queries);
    Words expected_positions(n_queries, kPoison);
    std::copy(positions.begin(), positions.end(), expected_positions.begin());

    const DeviceWords state = DeviceWords::updated(state_words);
    const DeviceWords log = DeviceWords::output(24);
    const DeviceWords nonce_index = DeviceWords::input(std::vector<uint64_t>{index});
    const DeviceWords nonce_out = DeviceWords::output(2);
    const DeviceWords position_words = DeviceWords::output(n_queries);
    const DeviceWords n_positions = DeviceWords::output(1);
    const DeviceWords status = DeviceWords::updated(Words{kStatusDegenerateQuotient});
    DrawQueriesArgs args{};
    args.state = reinterpret_cast<TranscriptState*>(state.at());
    args.log = log.at();
    args.nonce_index = reinterpret_cast<const uint64_t*>(nonce_index.at());
    args.nonce_out = nonce_out.at();
    args.positions = position_words.at();
    args.n_positions = n_positions.at();
    args.status = status.at();
    args.n_queries = n_queries;
    args.log_domain = log_domain;
    args.reduce = variant == HashVariant::kBlake2sM31 ? 1 : 0;
    args.log_entry = 1;
    launch("draw_queries", {1, 1, kQueryThreads, kQuerySharedBytes}, args);

    position_words.expect(expected_positions, "positions");
    n_positions.expect(Words{static_cast<uint32_t>(positions.size())}, "count");
    nonce_out.expect(nonce, "nonce");
    state.expect(expected_state, "state");
    log.expect(expected_log, "log");
    const uint32_t none = index == UINT64_MAX ? uint32_t{kStatusNoNonce} : 0;
    status.expect(Words{kStatusDegenerateQuotient | none}, "status");
  }
};

STWO_UNDER_ALL_SCHEDULES(QueryKernel);

TEST_P(QueryKernel, EqualTheChannels) {
  for (const HashVariant variant : {HashVariant::kBlake2s, HashVariant::kBlake2sM31}) {
    for (const uint32_t n : kQueryCounts) {
      // From domains where all draws repeat to the largest.
      for (const uint32_t log : {1u, 2u, 5u, 12u, 20u, 30u}) {
        run(n, log, variant, rng.below(uint64_t{kP} << 20));
      }
    }
    // Draws come eight at a time.
    for (const uint32_t n : {7u, 8u, 9u, 63u, 64u, 65u, 2048u, 2049u}) {
      run(n, 16, variant, rng.below(2000));
    }
  }
}

TEST_P(QueryKernel, NoNonceIsReported) { run(5, 10, HashVariant::kBlake2s, UINT64_MAX); }

// ---- gather

STWO_KERNEL_TESTS(GatherKernel);

TEST_P(GatherKernel, ValuesAtThePositions) {
  struct Case {
    uint32_t log_domain, height;
  };
  for (const Case& c : {Case{2, 2}, {8, 8}, {12, 12}, {9, 6}, {9, 1}, {6, 9}, {12, 13}}) {
    for (const uint32_t n_queries : {1u, 2u, 3u, 70u, 1000u}) {
      SCOPED_TRACE("domain 2^" + std::to_string(c.log_domain) + " tree 2^" +
                   std::to_string(c.height) + ", " + std::to_string(n_queries) + " queries");
      const auto positions = random_positions(rng, n_queries, c.log_domain);
      const auto mapped = preprocessed_query_positions(positions, c.log_domain, c.height);
      const auto n_columns = static_cast<uint32_t>(1 + rng.below(5));
      std::vector<Words> values;
      std::vector<DeviceWords> on_device;
      std::vector<ColumnRef> refs;
      for (uint32_t i = 0; i < n_columns; ++i) {
        const auto shift = static_cast<uint32_t>(rng.coin() ? 0 : rng.below(c.height));
        values.push_back(random_column(rng, size_t{1} << (c.height - shift)));
        on_device.push_back(DeviceWords::input(values.back()));
        refs.push_back({on_device.back().at(), shift, 0});
      }
      // Room for all queries; those that repeat leave some of it.
      Words expected(size_t{n_queries} * n_columns, kPoison);
      for (uint32_t i = 0; i < n_columns; ++i) {
        for (size_t q = 0; q < mapped.size(); ++q) {
          expected[size_t{i} * n_queries + q] =
              values[i][lifted_position(mapped[q], c.height, c.height - refs[i].shift)];
        }
      }
      const DeviceWords columns = DeviceWords::input(refs);
      const DeviceWords position_words = DeviceWords::input(positions);
      const DeviceWords n_positions =
          DeviceWords::input(Words{static_cast<uint32_t>(positions.size())});
      const DeviceWords out = DeviceWords::output(expected.size());
      GatherArgs args{};
      args.columns = reinterpret_cast<const ColumnRef*>(columns.at());
      args.positions = position_words.at();
      args.n_positions = n_positions.at();
      args.out = out.at();
      args.n_columns = n_columns;
      args.capacity = n_queries;
      args.down = c.log_domain > c.height ? c.log_domain - c.height + 1 : 1;
      args.up = c.height > c.log_domain ? c.height - c.log_domain + 1 : 1;
      launch("gather", {blocks_for(expected.size(), 256), 1, 256, 0}, args);
      out.expect(expected);
    }
  }
}

// ---- openings

class OpenKernel : public KernelTest {
 protected:
  /// Digests in place of a tree's: an opening copies nodes and looks at none.
  const std::vector<std::vector<Digest>>& tree(uint32_t height) {
    auto& layers = trees_[height];
    if (layers.empty()) {
      for (uint32_t d = 0; d <= height; ++d) {
        layers.push_back(random_digests(rng, size_t{1} << d));
      }
    }
    return layers;
  }

  const Words& words_of_tree(uint32_t height) {
    Words& words = tree_words_[height];
    if (words.empty()) words = tree_words(tree(height));
    return words;
  }

  struct Opened {
    DeviceWords nodes, witness, n_witness;
    Words expected_witness;
    uint32_t expected_n;
    DeviceWords values, fri_witness, n_fri_witness;
    Words expected_fri_witness, expected_n_fri;
  };

  /// Room for a witness, as plans reserve it: one sibling per parent at most.
  static size_t witness_capacity(uint32_t level, size_t n_queries) {
    size_t sum = 0;
    for (; level > 0; --level) sum += std::min(n_queries, size_t{1} << (level - 1));
    return sum;
  }
  static Words witness_words(const std::vector<Digest>& digests, size_t capacity) {
    Words words(8 * capacity, kPoison);
    EXPECT_LE(digests.size(), capacity);
    for (size_t i = 0; i < digests.size(); ++i) put(words, 8 * i, digests[i]);
    return words;
  }

  void add_trace(uint32_t log_domain, uint32_t height, const std::vector<uint32_t>& positions) {
    OpenRef ref{};
    ref.height = height;
    ref.down = log_domain > height ? log_domain - height + 1 : 1;
    ref.up = height > log_domain ? height - log_domain + 1 : 1;
    ref.sort = ref.down > 1 ? 1 : 0;
    const auto mapped = preprocessed_query_positions(positions, log_domain, height);
    const auto digests = reference_witness(tree(height), mapped);
    const size_t capacity = witness_capacity(height, positions.size());
    add(ref, words_of_tree(height), digests, capacity, Words(1, kPoison), 1, {}, 0,
        Words(1, kPoison));
  }

  void add_fri(uint32_t log_size, uint32_t fold_step, uint32_t fold_before,
               const std::vector<uint32_t>& positions) {
    const FriLayerShape shape{log_size, fold_step};
    OpenRef ref{};
    ref.height = shape.tree_height();
    ref.fold_step = fold_step;
    ref.fold_before = fold_before;
    ref.log_size = log_size;
    std::vector<uint32_t> own;
    for (const uint32_t p : positions) own.push_back(p >> fold_before);
    own.erase(std::unique(own.begin(), own.end()), own.end());
    const uint64_t n_values = uint64_t{1} << log_size;
    const uint64_t stride = n_values + rng.below(4);
    // Distinct values: which ones are copied is all that matters.
    Words values(4 * stride);
    const auto first = static_cast<uint32_t>(rng.below(kP / 2));
    for (size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<uint32_t>(i);
    // As CpuSession::open_fri: blocks are opened whole; values nobody asked for are the witness.
    std::vector<uint32_t> leaves;
    Words fri_witness;
    for (size_t at = 0; at < own.size();) {
      const uint32_t block = own[at] >> fold_step;
      for (uint32_t p = block << fold_step; p < (block + 1) << fold_step; ++p) {
        leaves.push_back(shape.packed() ? p >> 2 : p);
        if (at < own.size() && own[at] == p) {
          ++at;
          continue;
        }
        for (uint64_t k = 0; k < 4; ++k) fri_witness.push_back(values[k * stride + p]);
      }
    }
    const auto digests = reference_witness(tree(shape.tree_height()), leaves);
    const size_t capacity = witness_capacity(log_size - fold_step, positions.size());
    const size_t fri_capacity = std::min<size_t>(positions.size() << fold_step, n_values);
    const auto n_fri = static_cast<uint32_t>(fri_witness.size() / 4);
    EXPECT_LE(n_fri, fri_capacity);
    fri_witness.resize(4 * fri_capacity, kPoison);
    add(ref, words_of_tree(shape.tree_height()), digests, capacity, values, stride,
        std::move(fri_witness), n_fri, {});
  }

  void add(OpenRef ref, const Words& nodes, const std::vector<Digest>& digests, size_t capacity,
           const Words& values, uint64_t stride, Words fri_witness, uint32_t n_fri,
           Words expected_n_fri) {
    if (expected_n_fri.empty()) expected_n_fri = {n_fri};
    opened_.push_back({DeviceWords::input(nodes), DeviceWords::output(8 * capacity),
                       DeviceWords::output(1), witness_words(digests, capacity),
                       static_cast<uint32_t>(digests.size()), DeviceWords::input(values),
                       DeviceWords::output(fri_witness.size()), DeviceWords::output(1),
                       std::move(fri_witness), std::move(expected_n_fri)});
    const Opened& o = opened_.back();
    ref.nodes = o.nodes.at();
    ref.witness = o.witness.at();
    ref.n_witness = o.n_witness.at();
    ref.values = o.values.at();
    ref.stride = stride;
    ref.fri_witness = o.fri_witness.at();
    ref.n_fri_witness = o.n_fri_witness.at();
    refs_.push_back(ref);
  }

  /// Opens everything added, in one launch.
  void open(const std::vector<uint32_t>& positions) {
    const DeviceWords openings = DeviceWords::input(refs_);
    const DeviceWords position_words = DeviceWords::input(positions);
    const DeviceWords n_positions =
        DeviceWords::input(Words{static_cast<uint32_t>(positions.size())});
    OpenArgs args{};
    args.openings = reinterpret_cast<const OpenRef*>(openings.at());
    args.positions = position_words.at();
    args.n_positions = n_positions.at();
    launch("open_trees", {static_cast<uint32_t>(refs_.size()), 1, kOpenThreads, kOpenSharedBytes},
           args);
    for (size_t i = 0; i < refs_.size(); ++i) {
      const OpenRef& r = refs_[i];
      SCOPED_TRACE("opening of a tree of height " + std::to_string(r.height) + ", down " +
                   std::to_string(r.down) + " up " + std::to_string(r.up) + ", fold " +
                   std::to_string(r.fold_step) + " after " + std::to_string(r.fold_before) + ", " +
                   std::to_string(positions.size()) + " positions");
      const Opened& o = opened_[i];
      o.n_witness.expect(Words{o.expected_n}, "witness count");
      o.witness.expect(o.expected_witness, "witness");
      o.n_fri_witness.expect(o.expected_n_fri, "FRI witness count");
      o.fri_witness.expect(o.expected_fri_witness, "FRI witness");
    }
    opened_.clear();
    refs_.clear();
  }

 private:
  std::vector<std::vector<Digest>> trees_[20];
  Words tree_words_[20];
  std::vector<Opened> opened_;
  std::vector<OpenRef> refs_;
};

STWO_UNDER_ALL_SCHEDULES(OpenKernel);

TEST_P(OpenKernel, TraceTrees) {
  for (const uint32_t log : {2u, 3u, 9u, 14u}) {
    for (const uint32_t n : kQueryCounts) {
      const auto positions = random_positions(rng, n, log);
      add_trace(log, log, positions);
      open(positions);
      if (HasFailure()) return;
    }
  }
}

/// Trees smaller and larger than the query domain: mapped positions repeat and lose their order, or
/// spread out.
TEST_P(OpenKernel, TreesOfOtherHeights) {
  for (const uint32_t log : {2u, 6u, 10u}) {
    for (const uint32_t n : kQueryCounts) {
      const auto positions = random_positions(rng, n, log);
      for (const uint32_t height : {1u, 2u, log - 1, log, log + 1, log + 3}) {
        add_trace(log, height, positions);
      }
      open(positions);
      if (HasFailure()) return;
    }
  }
}

TEST_P(OpenKernel, EveryPositionAndSingleOnes) {
  for (uint32_t log = 2; log <= 4; ++log) {
    std::vector<uint32_t> all;
    for (uint32_t p = 0; p < 1u << log; ++p) {
      all.push_back(p);
      const std::vector<uint32_t> one{p};
      add_trace(log, log, one);
      add_fri(log, 1, 0, one);
      add_fri(log, 2, 0, one);
      open(one);
    }
    add_trace(log, log, all);
    add_fri(log, 1, 0, all);
    add_fri(log, log, 0, all);
    open(all);
  }
}

TEST_P(OpenKernel, FriLayers) {
  for (const uint32_t log_domain : {5u, 8u, 12u, 14u}) {
    for (const uint32_t n : kQueryCounts) {
      const auto positions = random_positions(rng, n, log_domain);
      // The layers of proofs of each fold, one launch for all, as in a proof.
      for (const uint32_t fold : {1u, 2u, 3u, 4u, 6u}) {
        if (n > 1000 && fold > 3) continue;
        for (uint32_t before = 0; before + fold <= log_domain; before += fold) {
          if (before > 8) break;
          add_fri(log_domain - before, fold, before, positions);
        }
      }
      add_trace(log_domain, log_domain, positions);
      open(positions);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace stwo::gpu

// FRI folds and the kernel that finishes the commit phase, against prover/fri, prover/poly and
// stwo::Channel.
#include "kernels/fri/fri_args.hpp"

#include <algorithm>

#include "prover/circle/domain.hpp"
#include "prover/fri/fold.hpp"
#include "prover/merkle/merkle.hpp"
#include "prover/poly/circle_fft.hpp"
#include "tests/kernels/support/reference.hpp"

namespace stwo::gpu {
namespace {

using namespace stwo::test;

QM31 coordinates_at(const Words& words, uint64_t stride, uint64_t i) {
  return QM31::from_u32(words[i], words[stride + i], words[2 * stride + i], words[3 * stride + i]);
}

std::vector<QM31> fold(FriLayerKind kind, const std::vector<QM31>& values, uint32_t log_size,
                       uint32_t folds, QM31 beta) {
  std::vector<QM31> out;
  const size_t block = size_t{1} << folds;
  for (size_t i = 0; i < values.size() / block; ++i) {
    out.push_back(fold_block(kind, std::span(values).subspan(i * block, block), log_size,
                             static_cast<uint32_t>(i), beta));
  }
  return out;
}

STWO_KERNEL_TESTS(FriFoldKernel);

TEST_P(FriFoldKernel, FoldsOfEveryKind) {
  const Tables tables(12);
  const DeviceTables device(tables);
  for (uint32_t folds = 1; folds <= kFriMaxFold; ++folds) {
    for (const bool circle : {false, true}) {
      for (const uint32_t out_log : {0u, 1u, 2u, 7u, 8u}) {
        const uint32_t log = out_log + folds;
        // Later launches of a layer begin with a squared challenge.
        const auto squarings = static_cast<uint32_t>(rng.below(5));
        SCOPED_TRACE(std::to_string(folds) + (circle ? " circle" : " line") + " folds of 2^" +
                     std::to_string(log) + ", " + std::to_string(squarings) + " squarings");
        const uint64_t in_rows = uint64_t{1} << log;
        const uint64_t out_rows = uint64_t{1} << out_log;
        Columns in(0, in_rows + rng.below(4), in_rows, 4);
        in.randomise(rng);
        std::vector<QM31> values;
        for (uint64_t i = 0; i < in_rows; ++i) {
          values.push_back(coordinates_at(in.words, in.stride, i));
        }
        const QM31 beta = rng.qm31();
        QM31 power = beta;
        for (uint32_t k = 0; k < squarings; ++k) power *= power;
        const auto folded =
            fold(circle ? FriLayerKind::kCircle : FriLayerKind::kLine, values, log, folds, power);
        const uint64_t out_stride = out_rows + rng.below(4);
        Words expected(4 * out_stride, kPoison);
        for (uint64_t i = 0; i < out_rows; ++i) {
          put_coordinates(expected, out_stride, i, folded[i]);
        }
        const DeviceWords in_words = DeviceWords::input(in.words);
        const DeviceWords beta_words = DeviceWords::input(words_of(std::vector<QM31>{beta}));
        const DeviceWords out = DeviceWords::output(expected.size());
        FriFoldArgs args{};
        args.in = in_words.at();
        args.out = out.at();
        args.in_stride = in.stride;
        args.out_stride = out_stride;
        args.out_rows = out_rows;
        args.beta = beta_words.at();
        args.beta_squarings = squarings;
        args.in_log_size = log;
        args.n_folds = folds;
        args.circle = circle ? 1 : 0;
        args.x_inverse = device.x_inverse.at();
        args.y_inverse = device.y_inverse.at();
        launch("fri_fold", {blocks_for(out_rows, 256), 1, 256, 0}, args);
        out.expect(expected);
      }
    }
  }
}

// ---- the tail

struct TailCase {
  uint32_t log_size;                 ///< of the first layer (or of the last one, without layers)
  std::vector<uint32_t> fold_steps;  ///< of each layer
  uint32_t last_log_degree;
  bool circle;
};

class FriTailKernel : public KernelTest {
 protected:
  void run(const TailCase& c, HashVariant variant) {
    std::string name = "tail from 2^" + std::to_string(c.log_size) + " degree 2^" +
                       std::to_string(c.last_log_degree) + " folds";
    for (const uint32_t f : c.fold_steps) name += " " + std::to_string(f);
    SCOPED_TRACE(name);
    uint32_t last_log = c.log_size;
    for (const uint32_t f : c.fold_steps) last_log -= f;
    ASSERT_GE(last_log, c.last_log_degree);
    const uint32_t n_entries = static_cast<uint32_t>(c.fold_steps.size()) + 1;

    // Values of a polynomial whose folds end at the degree bound.
    const uint32_t rate = last_log - c.last_log_degree;
    std::vector<QM31> values(size_t{1} << c.log_size);
    for (size_t i = 0; i < values.size() >> rate; ++i) values[i] = rng.qm31();
    if (c.circle) {
      evaluate(std::span(values));
    } else {
      // Natural order: the coefficients of low degree come first.
      line_evaluate(values);
    }

    Channel channel(variant);
    channel.mix_u32s(random_words(rng, 8));
    Words state_before(12, kPoison);
    put(state_before, 0, channel.digest());
    state_before[8] = 0;

    struct LayerMemory {
      uint64_t stride;
      DeviceWords values, nodes, beta, root;
      Words expected_values, expected_nodes, expected_beta, expected_root;
      uint64_t ignored_begin, ignored_end;  ///< rows that hold intermediate folds
    };
    std::vector<LayerMemory> memory;
    Words expected_log(8 * n_entries, kPoison);
    uint32_t log = c.log_size;
    uint64_t room = values.size();
    for (size_t l = 0; l <= c.fold_steps.size(); ++l) {
      const bool last = l == c.fold_steps.size();
      const uint64_t stride =
          (std::max({room, uint64_t{values.size()}, uint64_t{4}}) + 3) / 4 * 4 + 4 * rng.below(3);
      Words layer_words(4 * stride, kPoison);
      for (uint64_t i = 0; i < values.size(); ++i)
        put_coordinates(layer_words, stride, i, values[i]);
      DeviceWords on_device =
          l == 0 ? DeviceWords::updated(layer_words) : DeviceWords::output(layer_words.size());
      const uint64_t n_values = values.size();
      if (last) {
        memory.push_back({stride, std::move(on_device), DeviceWords::output(1),
                          DeviceWords::output(1), DeviceWords::output(1), layer_words,
                          Words(1, kPoison), Words(1, kPoison), Words(1, kPoison), n_values, room});
        break;
      }
      const uint32_t fold_step = c.fold_steps[l];
      const bool packed = fold_step > 1;
      const uint64_t per_leaf = packed ? 4 : 1;
      std::vector<std::vector<Digest>> tree(1);
      for (uint64_t leaf = 0; leaf < n_values / per_leaf; ++leaf) {
        std::vector<M31> row;
        for (uint64_t i = leaf * per_leaf; i < (leaf + 1) * per_leaf; ++i) {
          for (const uint32_t w : words_of(values[i])) row.emplace_back(w);
        }
        tree[0].push_back(merkle_leaf(variant, row));
      }
      while (tree.front().size() > 1) {
        std::vector<Digest> level(tree.front().size() / 2);
        for (size_t i = 0; i < level.size(); ++i) {
          level[i] = blake2s_node(variant, tree.front()[2 * i], tree.front()[2 * i + 1]);
        }
        tree.insert(tree.begin(), std::move(level));
      }
      channel.mix_root(tree[0][0]);
      put(expected_log, 8 * l, channel.digest());
      const QM31 beta = channel.draw_secure_felt();
      Words nodes = tree_words(tree);
      Words root(8), beta_words(4);
      put(root, 0, tree[0][0]);
      put(beta_words, 0, beta);
      DeviceWords node_words = DeviceWords::output(nodes.size());
      memory.push_back({stride, std::move(on_device), std::move(node_words), DeviceWords::output(4),
                        DeviceWords::output(8), std::move(layer_words), std::move(nodes),
                        std::move(beta_words), std::move(root), n_values, room});
      values = fold(c.circle && l == 0 ? FriLayerKind::kCircle : FriLayerKind::kLine, values, log,
                    fold_step, beta);
      // The kernel folds twice at a time inside the next layer's memory.
      room = uint64_t{1} << (log - std::min(fold_step, 2u));
      log -= fold_step;
    }

    std::vector<QM31> polynomial = values;
    line_interpolate(polynomial);
    const size_t n_coefficients = size_t{1} << c.last_log_degree;
    for (size_t i = n_coefficients; i < polynomial.size(); ++i) {
      ASSERT_EQ(polynomial[i], QM31::zero());
    }
    polynomial.resize(n_coefficients);
    bit_reverse_in_place(std::span(polynomial));
    channel.mix_felts(polynomial);
    put(expected_log, 8 * c.fold_steps.size(), channel.digest());
    Words expected_state = state_before;
    put(expected_state, 0, channel.digest());

    std::vector<FriTailLayer> layers;
    log = c.log_size;
    for (size_t l = 0; l < c.fold_steps.size(); ++l) {
      FriTailLayer layer{};
      layer.values = memory[l].values.at();
      layer.stride = memory[l].stride;
      layer.next = memory[l + 1].values.at();
      layer.next_stride = memory[l + 1].stride;
      layer.nodes = memory[l].nodes.at();
      layer.beta = memory[l].beta.at();
      layer.root_out = memory[l].root.at();
      layer.log_size = log;
      layer.fold_step = c.fold_steps[l];
      layer.circle = c.circle && l == 0 ? 1 : 0;
      layer.log_entry = static_cast<uint32_t>(l);
      layers.push_back(layer);
      log -= c.fold_steps[l];
    }
    const Tables tables(std::max(c.log_size, 1u));
    const DeviceTables device(tables);
    const DeviceWords layer_words = DeviceWords::input(layers);
    const DeviceWords state = DeviceWords::updated(state_before);
    const DeviceWords log_words = DeviceWords::output(expected_log.size());
    const DeviceWords coefficients = DeviceWords::output(4 * n_coefficients);
    const DeviceWords nonce_index = DeviceWords::output(2);
    FriTailArgs args{};
    args.layers = reinterpret_cast<const FriTailLayer*>(layer_words.at());
    args.n_layers = static_cast<uint32_t>(layers.size());
    args.reduce = variant == HashVariant::kBlake2sM31 ? 1 : 0;
    args.state = reinterpret_cast<TranscriptState*>(state.at());
    args.log = log_words.at();
    args.x_inverse = device.x_inverse.at();
    args.y_inverse = device.y_inverse.at();
    args.last_values = memory.back().values.at();
    args.last_stride = memory.back().stride;
    args.last_log_size = last_log;
    args.last_log_degree = c.last_log_degree;
    args.last_log_entry = static_cast<uint32_t>(c.fold_steps.size());
    args.coefficients = coefficients.at();
    args.nonce_index = reinterpret_cast<uint64_t*>(nonce_index.at());
    launch("fri_tail", {1, 1, kFriTailThreads, kFriTailSharedBytes}, args);

    for (size_t l = 0; l < memory.size(); ++l) {
      SCOPED_TRACE("layer " + std::to_string(l));
      LayerMemory& m = memory[l];
      // Rows between a layer's values and the room of its intermediate folds may hold anything.
      Words expected_values = m.expected_values;
      const Words got = m.values.read();
      for (uint64_t k = 0; k < 4; ++k) {
        for (uint64_t i = m.ignored_begin; i < m.ignored_end; ++i) {
          expected_values[k * m.stride + i] = got[k * m.stride + i];
        }
      }
      m.values.expect(expected_values, "values");
      m.nodes.expect(m.expected_nodes, "nodes");
      m.beta.expect(m.expected_beta, "beta");
      m.root.expect(m.expected_root, "root");
    }
    coefficients.expect(words_of(polynomial), "coefficients");
    log_words.expect(expected_log, "log");
    state.expect(expected_state, "state");
    nonce_index.expect(Words{0xffffffffu, 0xffffffffu}, "nonce index");
  }
};

STWO_UNDER_ALL_SCHEDULES(FriTailKernel);

TEST_P(FriTailKernel, LayersOfEveryFold) {
  const std::vector<TailCase> cases{
      {10, {1, 1, 1, 1, 1, 1, 1, 1, 1}, 0, false},
      {10, {1, 1, 1, 1, 1, 1, 1, 1, 1}, 0, true},
      {3, {1, 1}, 0, true},
      {2, {1}, 0, true},
      {2, {1}, 0, false},
      {10, {2, 2, 2, 2}, 1, false},
      {10, {2, 2, 2, 2}, 1, true},
      {9, {2, 2, 2, 1}, 1, true},
      {4, {2}, 1, true},
      {10, {3, 3}, 3, false},
      {10, {3, 3, 3}, 0, true},
      {9, {3, 2, 1}, 2, false},
      {10, {4, 4}, 1, false},
      {10, {4, 2}, 3, true},
      {10, {5}, 4, false},
      {10, {5, 4}, 0, true},
      {7, {5}, 1, true},
      {10, {6, 2}, 1, false},
      {10, {9}, 0, true},
  };
  for (const HashVariant variant : {HashVariant::kBlake2s, HashVariant::kBlake2sM31}) {
    for (const TailCase& c : cases) {
      run(c, variant);
      if (HasFailure()) return;
    }
  }
}

TEST_P(FriTailKernel, LastLayersOfEveryDegree) {
  for (uint32_t degree = 0; degree <= kFriMaxLogDegree; ++degree) {
    for (uint32_t blowup = 1; blowup <= 2; ++blowup) {
      const HashVariant variant = rng.coin() ? HashVariant::kBlake2s : HashVariant::kBlake2sM31;
      // Without a layer of its own, and after one.
      run({degree + blowup, {}, degree, false}, variant);
      if (degree + blowup + 1 <= kFriTailLogSize) {
        run({degree + blowup + 1, {1}, degree, rng.coin()}, variant);
      }
      if (degree + blowup + 2 <= kFriTailLogSize) {
        run({degree + blowup + 2, {2}, degree, rng.coin()}, variant);
      }
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace stwo::gpu

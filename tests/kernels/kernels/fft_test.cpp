// Circle FFT passes: whole transforms, driven pass by pass, against prover/poly and prover/cpu;
// single passes of large transforms against butterflies at the domain's points.
#include "kernels/fft/fft_args.hpp"

#include <algorithm>

#include "prover/circle/domain.hpp"
#include "prover/cpu/kernels.hpp"
#include "prover/poly/circle_fft.hpp"
#include "tests/kernels/support/reference.hpp"

namespace stwo::gpu {
namespace {

using namespace stwo::test;

/// Layers of the passes of a transform, low to high: the shapes that plans are made of.
std::vector<uint32_t> passes_of(uint32_t log_rows) {
  if (log_rows <= kFftLogTile) return {log_rows};
  if (log_rows <= 16) return {log_rows - 4, 4};
  return {log_rows - 8, 8};
}

struct Pass {
  std::string mode;
  FftArgs args{};
  uint64_t n_tiles = 0;  ///< 0: all of the column's

  bool wide() const { return args.low_layer != 0 && args.n_layers == 10; }
  uint32_t log_tile() const { return wide() ? kFftLogWideTile : kFftLogTile; }
  std::string kernel() const {
    if (args.low_layer != 0) return "fft_" + mode + "_strided" + std::to_string(args.n_layers);
    return "fft_" + mode + (args.log_rows < kFftLogTile ? "_short" : "_rows");
  }
  LaunchGeometry geometry() const {
    LaunchGeometry g;
    g.threads = wide() ? kFftWideThreads : kFftThreads;
    if (mode == "extend") {
      g.shared_bytes = wide() ? kFftWideExtendSharedBytes : kFftExtendSharedBytes;
    } else {
      g.shared_bytes = wide() ? kFftWideSharedBytes : kFftSharedBytes;
    }
    const bool is_short = args.log_rows < kFftLogTile;
    const uint64_t group =
        is_short ? uint64_t{1} << (kFftLogTile - args.log_rows) : args.columns_per_block;
    g.grid_y = blocks_for(args.n_columns, group);
    const uint64_t all = is_short ? 1 : uint64_t{1} << (args.log_rows - log_tile());
    g.grid_x = static_cast<uint32_t>(n_tiles != 0 ? n_tiles : all);
    return g;
  }
};

class FftKernel : public KernelTest {
 protected:
  void run(const Pass& pass) { launch(pass.kernel(), pass.geometry(), pass.args); }

  /// A transform with columns wider apart than long. Short ones are read word by word, so that
  /// their columns may lie anywhere; the others move 16 bytes at a time.
  Columns make_columns(uint32_t log_rows, uint64_t n_rows, uint32_t count) {
    const bool any = log_rows < kFftLogTile;
    const uint64_t first = any ? rng.below(5) : 4 * rng.below(3);
    const uint64_t gap = any ? 1 + rng.below(5) : 4 + 4 * rng.below(3);
    return Columns(first, n_rows + gap, n_rows, count);
  }
};

/// Values through the CPU prover's transform on one block of a domain.
void cpu_transform(bool inverse, const TwiddleTree& tree, uint32_t log_rows, uint32_t domain_log,
                   uint64_t block, const uint32_t* in, uint32_t* out) {
  const size_t n = size_t{1} << log_rows;
  cpu::Buffer<M31> buffer(n);
  for (size_t i = 0; i < n; ++i) buffer[i] = M31(in[i]);
  if (inverse) {
    cpu::interpolate(buffer.data(), buffer.data(), log_rows, tree.inverse(domain_log), block);
  } else {
    cpu::evaluate(buffer.data(), buffer.data(), log_rows, tree.forward(domain_log), block);
  }
  for (size_t i = 0; i < n; ++i) out[i] = buffer[i].v;
}

STWO_UNDER_ALL_SCHEDULES(FftKernel);

TEST_P(FftKernel, WholeTransformsOfEveryLog) {
  const Tables tables(15);
  const DeviceTables device(tables);
  for (uint32_t log = 1; log <= 14; ++log) {
    const uint32_t group = log < kFftLogTile ? 1u << (kFftLogTile - log) : 2;
    for (const uint32_t count : {1u, group - 1, group, group + 1, 2 * group + 1}) {
      if (count == 0) continue;
      for (const bool inverse : {true, false}) {
        // The whole domain, or a block of a larger one.
        const uint32_t blowup = static_cast<uint32_t>(rng.below(3)) % (16 - log);
        const auto block = static_cast<uint32_t>(rng.below(uint64_t{1} << blowup));
        SCOPED_TRACE("log " + std::to_string(log) + " columns " + std::to_string(count) +
                     (inverse ? " inverse" : " forward") + " block " + std::to_string(block) +
                     " of 2^" + std::to_string(blowup));
        const uint64_t rows = uint64_t{1} << log;
        Columns source = make_columns(log, rows, count);
        source.randomise(rng);
        const bool in_place = rng.coin();
        Columns target = in_place ? source : make_columns(log, rows, count);
        Columns expected = target;
        for (uint32_t c = 0; c < count; ++c) {
          if (blowup == 0) {
            auto values = source.values(c);
            if (inverse) {
              interpolate(std::span(values));
            } else {
              evaluate(std::span(values));
            }
            for (uint64_t i = 0; i < rows; ++i) expected.column(c)[i] = values[i].v;
          } else {
            cpu_transform(inverse, tables.tree, log, log + blowup, block, source.column(c),
                          expected.column(c));
          }
        }
        const DeviceWords from =
            in_place ? DeviceWords::updated(source.words) : DeviceWords::input(source.words);
        const DeviceWords to =
            in_place ? DeviceWords::output(1) : DeviceWords::output(target.words.size());
        const DeviceWords& result = in_place ? from : to;

        std::vector<uint32_t> layers = passes_of(log);
        Pass pass;
        pass.mode = inverse ? "inverse" : "forward";
        pass.args.n_columns = count;
        pass.args.log_rows = log;
        pass.args.domain_log = log + blowup;
        pass.args.domain_block = block;
        pass.args.x = inverse ? device.x_inverse.at() : device.x.at();
        pass.args.y = inverse ? device.y_inverse.at() : device.y.at();
        pass.args.source = from.at(source.first);
        pass.args.source_stride = source.stride;
        pass.args.target = result.at(target.first);
        pass.args.target_stride = target.stride;
        for (size_t i = 0; i < layers.size(); ++i) {
          const size_t at = inverse ? i : layers.size() - 1 - i;
          pass.args.low_layer = at == 0 ? 0 : layers[0];
          pass.args.n_layers = layers[at];
          pass.args.columns_per_block = static_cast<uint32_t>(1 + rng.below(8));
          if (inverse && i + 1 == layers.size()) pass.args.scale_log = log;
          run(pass);
          pass.args.source = pass.args.target;
          pass.args.source_stride = pass.args.target_stride;
        }
        result.expect(expected.words);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(FftKernel, ColumnsPerBlock) {
  const Tables tables(13);
  const DeviceTables device(tables);
  constexpr uint32_t kLog = kFftLogTile;
  const uint64_t rows = uint64_t{1} << kLog;
  for (uint32_t group = 1; group <= 8; ++group) {
    for (const uint32_t count : {group - 1, group, group + 1, 2 * group + 1}) {
      if (count == 0) continue;
      SCOPED_TRACE(std::to_string(count) + " columns by " + std::to_string(group));
      Columns source = make_columns(kLog, rows, count);
      source.randomise(rng);
      Columns expected = make_columns(kLog, 2 * rows, count);
      for (uint32_t c = 0; c < count; ++c) {
        const auto values = source.values(c);
        const auto extended = low_degree_extension(values, 1);
        for (uint64_t i = 0; i < 2 * rows; ++i) expected.column(c)[i] = extended[i].v;
      }
      const DeviceWords from = DeviceWords::input(source.words);
      const DeviceWords to = DeviceWords::output(expected.words.size());
      Pass pass;
      pass.mode = "extend";
      FftArgs& a = pass.args;
      a.source = from.at(source.first);
      a.source_stride = source.stride;
      a.target = to.at(expected.first);
      a.target_stride = expected.stride;
      a.n_columns = count;
      a.columns_per_block = group;
      a.log_rows = kLog;
      a.n_layers = kLog;
      a.domain_log = kLog;
      a.scale_log = kLog;
      a.end_block = 2;
      a.forward_domain_log = kLog + 1;
      a.x = device.x_inverse.at();
      a.y = device.y_inverse.at();
      a.forward_x = device.x.at();
      a.forward_y = device.y.at();
      run(pass);
      to.expect(expected.words);
      if (HasFailure()) return;
    }
  }
}

/// A low-degree extension as plans drive it: low layers into the block that is overwritten last,
/// high layers with the extension, then the remaining forward layers of all blocks written.
TEST_P(FftKernel, WholeExtensions) {
  const Tables tables(16);
  const DeviceTables device(tables);
  for (uint32_t log = 1; log <= 13; ++log) {
    for (uint32_t blowup = 1; blowup <= 3; ++blowup) {
      // The trace is extended in place from the last block to all blocks; composition and quotient
      // from the first block of the large domain to the others.
      for (const bool in_place : {true, false}) {
        const uint32_t group = log < kFftLogTile ? 1u << (kFftLogTile - log) : 2;
        const uint32_t count = std::min(group + 1, 40u);
        SCOPED_TRACE("log " + std::to_string(log) + " blowup " + std::to_string(blowup) +
                     (in_place ? " in place" : " from the first block"));
        const uint64_t rows = uint64_t{1} << log;
        const uint64_t all_rows = rows << blowup;
        const uint32_t first_block = in_place ? 0 : 1;
        const uint64_t last = all_rows - rows;
        Columns source = make_columns(log, rows, count);
        source.randomise(rng);
        Columns target = make_columns(log, all_rows, count);
        Columns expected = target;
        for (uint32_t c = 0; c < count; ++c) {
          Words coefficients(rows);
          cpu_transform(true, tables.tree, log, in_place ? log : log + blowup, 0, source.column(c),
                        coefficients.data());
          for (uint32_t block = first_block; block < 1u << blowup; ++block) {
            cpu_transform(false, tables.tree, log, log + blowup, block, coefficients.data(),
                          expected.column(c) + (uint64_t{block} << log));
          }
          if (in_place) {
            const auto extended = low_degree_extension(source.values(c), blowup);
            for (uint64_t i = 0; i < all_rows; ++i) ASSERT_EQ(expected.column(c)[i], extended[i].v);
            std::copy_n(source.column(c), rows, target.column(c) + last);
          }
        }
        const DeviceWords from = DeviceWords::input(source.words);
        const DeviceWords to = DeviceWords::updated(target.words);

        const std::vector<uint32_t> layers = passes_of(log);
        Pass pass;
        FftArgs& a = pass.args;
        a.source = in_place ? to.at(target.first + last) : from.at(source.first);
        a.source_stride = in_place ? target.stride : source.stride;
        a.target_stride = target.stride;
        a.n_columns = count;
        a.columns_per_block = static_cast<uint32_t>(1 + rng.below(8));
        a.log_rows = log;
        a.domain_log = in_place ? log : log + blowup;
        a.x = device.x_inverse.at();
        a.y = device.y_inverse.at();
        if (layers.size() == 2) {
          pass.mode = "inverse";
          a.n_layers = layers[0];
          a.target = to.at(target.first + last);
          run(pass);
          a.source = a.target;
          a.source_stride = target.stride;
          a.low_layer = layers[0];
        }
        pass.mode = "extend";
        a.target = to.at(target.first);
        a.n_layers = layers.back();
        a.scale_log = log;
        a.first_block = first_block;
        a.end_block = 1u << blowup;
        a.forward_domain_log = log + blowup;
        a.forward_x = device.x.at();
        a.forward_y = device.y.at();
        run(pass);
        if (layers.size() == 2) {
          Pass low;
          low.mode = "forward";
          FftArgs& b = low.args;
          b.source = to.at(target.first);
          b.target = to.at(target.first);
          b.source_stride = b.target_stride = target.stride;
          b.n_columns = count;
          b.columns_per_block = static_cast<uint32_t>(1 + rng.below(8));
          b.log_rows = b.domain_log = log + blowup;
          b.n_layers = layers[0];
          b.x = device.x.at();
          b.y = device.y.at();
          b.first_tile = static_cast<uint32_t>((first_block * rows) >> kFftLogTile);
          low.n_tiles = (all_rows >> kFftLogTile) - b.first_tile;
          run(low);
        }
        to.expect(expected.words);
        if (HasFailure()) return;
      }
    }
  }
}

// ---- single passes of large transforms

struct PassShape {
  uint32_t log_rows;
  uint32_t low_layer;
  uint32_t n_layers;
};

/// Tables with the entries that a pass may read and poison everywhere else.
struct PassTables {
  Words x, y, x_inverse, y_inverse;

  explicit PassTables(uint32_t log_entries)
      : x(size_t{1} << log_entries, kPoison), y(x), x_inverse(x), y_inverse(x) {}
  void add(uint32_t level, uint64_t first, uint64_t n, bool layer0) {
    for (uint64_t h = first; h < first + n; ++h) {
      const size_t at = (size_t{1} << level) + h;
      Words& table = layer0 ? y : x;
      if (table[at] != kPoison) continue;
      const auto storage = static_cast<uint32_t>(2 * h);
      const M31 t = layer0 ? CanonicCoset{level + 1}.at_storage(storage).y
                           : LineDomain{level + 1}.x_at_storage(storage);
      table[at] = 2 * t.v;
      (layer0 ? y_inverse : x_inverse)[at] = 2 * t.inverse().v;
    }
  }
};

/// The butterflies that work on rows first + (k << low): bit j of k is layer low + j.
struct FiberTransform {
  const Words& x;
  const Words& y;
  uint32_t domain_log;
  uint64_t domain_row;  ///< of row 0
  uint32_t low;
  uint32_t n_layers;

  void apply(bool inverse, uint64_t first, std::vector<M31>& v) const {
    for (uint32_t step = 0; step < n_layers; ++step) {
      const uint32_t bit = inverse ? step : n_layers - 1 - step;
      const uint32_t layer = low + bit;
      const Words& table = layer == 0 ? y : x;
      for (uint64_t k = 0; k < v.size(); ++k) {
        if ((k >> bit & 1) != 0) continue;
        const uint64_t h = (domain_row + first + (k << low)) >> (layer + 1);
        const uint32_t doubled = table[(size_t{1} << (domain_log - 1 - layer)) + h];
        ASSERT_NE(doubled, kPoison);
        const M31 t(doubled / 2);
        M31& a = v[k];
        M31& b = v[k | uint64_t{1} << bit];
        if (inverse) {
          const M31 d = a - b;
          a += b;
          b = d * t;
        } else {
          const M31 p = b * t;
          b = a - p;
          a += p;
        }
      }
    }
  }
};

class FftPass : public FftKernel {
 protected:
  void single_pass(const PassShape& shape, const std::string& mode) {
    const bool extend = mode == "extend";
    const bool inverse = mode != "forward";
    const uint32_t low = shape.low_layer;
    const uint32_t n = shape.n_layers;
    const uint64_t rows = uint64_t{1} << shape.log_rows;
    // The largest shapes are here for their indices: one column shows them.
    const bool large = shape.log_rows > 16;
    const auto blowup = static_cast<uint32_t>(large ? (extend ? 1 : 0) : 1 + rng.below(2));
    const uint32_t domain_log = shape.log_rows + (extend && rng.coin() ? 0 : blowup);
    const auto domain_block =
        static_cast<uint32_t>(rng.below(uint64_t{1} << (domain_log - shape.log_rows)));
    const uint32_t forward_log = shape.log_rows + blowup;
    const auto first_block = static_cast<uint32_t>(extend ? rng.below(uint64_t{1} << blowup) : 0);
    const auto end_block = static_cast<uint32_t>(
        extend ? first_block + 1 + rng.below((uint64_t{1} << blowup) - first_block) : 1);
    const auto count = static_cast<uint32_t>(large ? 1 : 1 + rng.below(5));
    const uint32_t scales[] = {0, 1, 30, 31, 32, shape.log_rows};
    const uint32_t scale = inverse ? scales[rng.below(6)] : 0;

    Pass pass;
    pass.mode = mode;
    FftArgs& a = pass.args;
    a.n_columns = count;
    a.columns_per_block = static_cast<uint32_t>(1 + rng.below(3));
    a.log_rows = shape.log_rows;
    a.low_layer = low;
    a.n_layers = n;
    a.domain_log = domain_log;
    a.domain_block = domain_block;
    a.scale_log = scale;
    a.first_block = first_block;
    a.end_block = end_block;
    a.forward_domain_log = forward_log;
    const uint64_t all_tiles = rows >> pass.log_tile();
    pass.n_tiles = std::min<uint64_t>(all_tiles, 3);
    a.first_tile = static_cast<uint32_t>(rng.below(all_tiles - pass.n_tiles + 1));
    SCOPED_TRACE(pass.kernel() + " of 2^" + std::to_string(shape.log_rows) + " rows, layers " +
                 std::to_string(low) + " + " + std::to_string(n) + ", domain 2^" +
                 std::to_string(domain_log) + " block " + std::to_string(domain_block) + ", tile " +
                 std::to_string(a.first_tile) + ", blocks " + std::to_string(first_block) + ".." +
                 std::to_string(end_block) + ", " + std::to_string(count) + " columns, scale " +
                 std::to_string(scale));

    // First rows of the groups of 2^n rows that the tiles work on.
    std::vector<uint64_t> fibers;
    for (uint64_t tile = a.first_tile; tile < a.first_tile + pass.n_tiles; ++tile) {
      if (low == 0) {
        const uint64_t begin = tile << kFftLogTile;
        for (uint64_t r = begin; r < begin + (uint64_t{1} << kFftLogTile); r += uint64_t{1} << n) {
          fibers.push_back(r);
        }
        continue;
      }
      const uint32_t log_lanes = pass.log_tile() - n;
      const uint64_t tiles_per_outer = uint64_t{1} << (low - log_lanes);
      const uint64_t first =
          ((tile / tiles_per_outer) << (low + n)) + ((tile % tiles_per_outer) << log_lanes);
      for (uint64_t lane = 0; lane < uint64_t{1} << log_lanes; ++lane) {
        fibers.push_back(first + lane);
      }
    }

    // Entries of a strided pass end where its lowest layer's do.
    const uint32_t log_entries = std::max(domain_log, extend ? forward_log : 0) - low;
    PassTables tables(log_entries);
    const auto cover = [&](uint32_t log, uint64_t row_0) {
      for (const uint64_t first : fibers) {
        for (uint32_t bit = 0; bit < n; ++bit) {
          const uint32_t layer = low + bit;
          tables.add(log - 1 - layer, (row_0 + first) >> (layer + 1), uint64_t{1} << (n - 1 - bit),
                     layer == 0);
        }
      }
    };
    const uint64_t row_0 = uint64_t{domain_block} << shape.log_rows;
    cover(domain_log, row_0);
    for (uint32_t b = first_block; extend && b < end_block; ++b) {
      cover(forward_log, uint64_t{b} << shape.log_rows);
    }

    const uint64_t target_rows = extend ? rows << blowup : rows;
    Columns source(4, rows + 4, rows, count);
    Columns expected(8, target_rows + 8, target_rows, count);
    const M31 factor = inverse_power_of_two(scale);
    for (uint32_t c = 0; c < count; ++c) {
      for (const uint64_t first : fibers) {
        const Words random = random_column(rng, size_t{1} << n);
        std::vector<M31> v(random.size());
        for (size_t k = 0; k < v.size(); ++k) {
          v[k] = M31(random[k]);
          source.column(c)[first + (k << low)] = v[k].v;
        }
        FiberTransform transform{inverse ? tables.x_inverse : tables.x,
                                 inverse ? tables.y_inverse : tables.y,
                                 domain_log,
                                 row_0,
                                 low,
                                 n};
        transform.apply(inverse, first, v);
        for (M31& value : v) value *= factor;
        for (uint32_t b = first_block; b < end_block; ++b) {
          std::vector<M31> w = v;
          const uint64_t offset = uint64_t{b} << shape.log_rows;
          if (extend) {
            FiberTransform{tables.x, tables.y, forward_log, offset, low, n}.apply(false, first, w);
          }
          for (size_t k = 0; k < w.size(); ++k) {
            expected.column(c)[offset + first + (k << low)] = w[k].v;
          }
        }
      }
    }

    const DeviceWords from = DeviceWords::input(source.words);
    const DeviceWords to = DeviceWords::output(expected.words.size());
    // Strided passes have no y layer. Tables that a pass must not read are not there.
    const auto upload = [](bool used, const Words& table) {
      return DeviceWords::input(used ? table : Words());
    };
    const DeviceWords x = upload(mode != "inverse", tables.x);
    const DeviceWords y = upload(mode != "inverse" && low == 0, tables.y);
    const DeviceWords xi = upload(inverse, tables.x_inverse);
    const DeviceWords yi = upload(inverse && low == 0, tables.y_inverse);
    a.source = from.at(source.first);
    a.source_stride = source.stride;
    a.target = to.at(expected.first);
    a.target_stride = expected.stride;
    a.x = inverse ? xi.at() : x.at();
    a.y = inverse ? yi.at() : y.at();
    a.forward_x = x.at();
    a.forward_y = y.at();
    run(pass);
    to.expect(expected.words);
  }
};

STWO_UNDER_ALL_SCHEDULES(FftPass);

TEST_P(FftPass, Contiguous) {
  for (const char* mode : {"inverse", "forward", "extend"}) {
    // A tile of several groups, below the whole tile at 12 layers.
    for (uint32_t n = 1; n <= 12; ++n) single_pass({13, 0, n}, mode);
    for (const PassShape& shape : {PassShape{12, 0, 12}, {16, 0, 12}, {17, 0, 9}, {20, 0, 12}}) {
      single_pass(shape, mode);
      if (HasFailure()) return;
    }
  }
}

TEST_P(FftPass, LargeContiguous) {
  for (const PassShape& shape : {PassShape{21, 0, 11}, {23, 0, 11}}) {
    for (const char* mode : {"inverse", "forward"}) single_pass(shape, mode);
  }
}

TEST_P(FftPass, Strided) {
  // Lowest layers that a tile's lanes allow, several outer blocks, and the shapes of the transforms
  // of log 16, 17 and 20.
  constexpr uint32_t kLowest4 = kFftLogTile - 4;
  constexpr uint32_t kLowest8 = kFftLogTile - 8;
  constexpr uint32_t kLowest10 = kFftLogWideTile - 10;
  for (const PassShape& shape : {PassShape{kLowest4 + 4, kLowest4, 4},
                                 {kLowest4 + 5, kLowest4, 4},
                                 {kLowest4 + 5, kLowest4 + 1, 4},
                                 {16, 12, 4},
                                 {kLowest8 + 8, kLowest8, 8},
                                 {kLowest8 + 10, kLowest8, 8},
                                 {17, 9, 8},
                                 {20, 12, 8},
                                 {kLowest10 + 10, kLowest10, 10},
                                 {kLowest10 + 12, kLowest10, 10},
                                 {kLowest10 + 12, kLowest10 + 1, 10}}) {
    for (const char* mode : {"inverse", "forward", "extend"}) {
      single_pass(shape, mode);
      if (HasFailure()) return;
    }
  }
}

TEST_P(FftPass, LargeStrided) {
  for (const char* mode : {"inverse", "forward", "extend"}) {
    // A transform of log 23 is extended by its uppermost pass.
    for (const PassShape& shape : {PassShape{21, 11, 10}, {23, 19, 4}}) single_pass(shape, mode);
  }
  single_pass({22, 12, 10}, "extend");
  single_pass({23, 11, 8}, "inverse");
  single_pass({23, 11, 8}, "forward");
}

}  // namespace
}  // namespace stwo::gpu

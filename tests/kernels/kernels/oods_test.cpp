// Out-of-domain samples, step by step and as a chain, against prover/poly.
#include "kernels/oods/oods_args.hpp"

#include <algorithm>
#include <numeric>

#include "kernels/fft/fft_args.hpp"
#include "prover/circle/domain.hpp"
#include "prover/poly/circle_fft.hpp"
#include "tests/kernels/support/reference.hpp"

namespace stwo::gpu {
namespace {

using namespace stwo::test;

Words point_words(const CirclePoint<QM31>& p) { return words_of(std::vector<QM31>{p.x, p.y}); }

QM31 secure_at(const Words& words, size_t i) {
  return QM31::from_u32(words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]);
}

class OodsKernel : public KernelTest {
 protected:
  void tables(const DeviceWords& point, uint32_t shift, uint32_t doublings, uint32_t log_rows,
              uint32_t log_low, const DeviceWords& low, const DeviceWords& high) {
    SampleTablesArgs args{};
    args.point = point.at();
    args.low = low.at();
    args.high = high.at();
    args.shift = shift;
    args.doublings = doublings;
    args.log_rows = log_rows;
    args.log_low = log_low;
    const uint32_t n = 1u << std::max(log_low, log_rows - log_low);
    launch("sample_tables", {blocks_for(n, 256), 1, 256, 32 * 16}, args);
  }
  void sums(const DeviceWords& weights, uint64_t stride,
            const std::vector<const uint32_t*>& columns, uint32_t rows, uint32_t chunk_rows,
            const DeviceWords& partial) {
    const DeviceWords list = DeviceWords::input(columns);
    SampleSumsArgs args{};
    args.weights = weights.at();
    args.stride = stride;
    args.columns = reinterpret_cast<const uint32_t* const*>(list.at());
    args.n_columns = static_cast<uint32_t>(columns.size());
    args.rows = rows;
    args.chunk_rows = chunk_rows;
    args.partial = partial.at();
    launch("sample_sums",
           {blocks_for(rows, chunk_rows), blocks_for(columns.size(), kSampleColumnsPerBlock),
            kSampleThreads, kSampleSharedBytes},
           args);
  }
  void finish(const DeviceWords& partial, const std::vector<SampleTarget>& targets,
              uint32_t n_columns, uint32_t n_chunks, const DeviceWords& values) {
    const DeviceWords list = DeviceWords::input(targets);
    SampleFinishArgs args{};
    args.partial = partial.at();
    args.targets = reinterpret_cast<const SampleTarget*>(list.at());
    args.values = values.at();
    args.n_targets = static_cast<uint32_t>(targets.size());
    args.n_columns = n_columns;
    args.n_chunks = n_chunks;
    launch("sample_finish", {args.n_targets, 1, 32, 0}, args);
  }
};

STWO_UNDER_ALL_SCHEDULES(OodsKernel);

TEST_P(OodsKernel, Point) {
  const auto run = [&](QM31 parameter, const DeviceWords& point, const DeviceWords& status) {
    const DeviceWords t = DeviceWords::input(words_of(std::vector<QM31>{parameter}));
    OodsPointArgs args{};
    args.parameter = t.at();
    args.point = point.at();
    args.status = status.at();
    launch("oods_point", {1, 1, 32, 0}, args);
  };
  std::vector<QM31> parameters{QM31::zero(), QM31::one(), -QM31::one()};
  for (int i = 0; i < 20; ++i) parameters.push_back(rng.qm31());
  for (const QM31 t : parameters) {
    CirclePoint<QM31> expected;
    if (!secure_point_from_parameter(t, &expected)) continue;
    const DeviceWords point = DeviceWords::output(8), status = DeviceWords::output(1);
    run(t, point, status);
    point.expect(point_words(expected));
    status.expect(Words{0});
  }
  // 1 + t^2 = 0 has the two solutions +-i.
  const QM31 i(CM31(M31(0), M31(1)), CM31());
  for (const QM31 t : {i, -i}) {
    const DeviceWords point = DeviceWords::output(8), status = DeviceWords::output(1);
    run(t, point, status);
    status.expect(Words{kStatusDegenerateOods});
    point.read();  // its guards
  }
}

TEST_P(OodsKernel, Tables) {
  for (const uint32_t log : {1u, 2u, 3u, 8u, 15u, 16u, 17u, 18u, 22u}) {
    const uint32_t log_low = (log + 1) / 2;
    const auto doublings = static_cast<uint32_t>(rng.below(4));
    const uint32_t shift = rng.coin() ? 0 : static_cast<uint32_t>(rng.below(uint64_t{1} << 31));
    SCOPED_TRACE("log " + std::to_string(log) + " shift " + std::to_string(shift) + " doublings " +
                 std::to_string(doublings));
    const CirclePoint<QM31> z = rng.secure_point();
    const CirclePoint<QM31> p = (z + to_secure(point_at_index(shift))).repeated_double(doublings);
    const QM31 scale(inverse_power_of_two(log));
    std::vector<QM31> expected_low, expected_high;
    for (uint32_t i = 0; i < 1u << log_low; ++i) {
      expected_low.push_back(scale * evaluate_basis_at_point(i, p));
    }
    for (uint32_t i = 0; i < 1u << (log - log_low); ++i) {
      expected_high.push_back(evaluate_basis_at_point(i << log_low, p));
    }
    const DeviceWords point = DeviceWords::input(point_words(z));
    const DeviceWords low = DeviceWords::output(4 * expected_low.size());
    const DeviceWords high = DeviceWords::output(4 * expected_high.size());
    tables(point, shift, doublings, log, log_low, low, high);
    low.expect(words_of(expected_low), "low");
    high.expect(words_of(expected_high), "high");
  }
}

TEST_P(OodsKernel, Weights) {
  for (const uint32_t log : {1u, 2u, 7u, 8u, 9u, 11u}) {
    const uint32_t log_low = (log + 1) / 2;
    const uint64_t rows = uint64_t{1} << log;
    const std::vector<QM31> low = rng.qm31_vector(size_t{1} << log_low);
    const std::vector<QM31> high = rng.qm31_vector(size_t{1} << (log - log_low));
    const uint64_t stride = rows + rng.below(4);
    Words expected(4 * stride, kPoison);
    for (uint64_t i = 0; i < rows; ++i) {
      put_coordinates(expected, stride, i, low[i % low.size()] * high[i >> log_low]);
    }
    const DeviceWords low_words = DeviceWords::input(words_of(low));
    const DeviceWords high_words = DeviceWords::input(words_of(high));
    const DeviceWords weights = DeviceWords::output(expected.size());
    SampleWeightsArgs args{};
    args.low = low_words.at();
    args.high = high_words.at();
    args.weights = weights.at();
    args.stride = stride;
    args.log_rows = log;
    args.log_low = log_low;
    launch("sample_weights", {blocks_for(rows, 256), 1, 256, 0}, args);
    weights.expect(expected, "log " + std::to_string(log));
  }
}

TEST_P(OodsKernel, Sums) {
  struct Case {
    uint32_t n_columns, rows, chunk_rows;
  };
  // Columns around a block's eight; rows around the threads and around three of their strides,
  // after which sums are folded; chunks that divide the rows and chunks that do not.
  std::vector<Case> cases;
  for (const uint32_t n : {1u, 7u, 8u, 9u, 16u, 17u}) cases.push_back({n, 512, 256});
  for (const uint32_t rows : {1u, 2u, 4u, 255u, 256u, 257u, 767u, 768u, 769u, 1024u, 4096u}) {
    cases.push_back({3, rows, rows});
  }
  cases.push_back({5, 4096, 1024});
  cases.push_back({2, 4096, 512});
  cases.push_back({9, 1000, 300});
  for (const Case& c : cases) {
    for (const bool largest : {false, true}) {
      SCOPED_TRACE(std::to_string(c.n_columns) + " columns, " + std::to_string(c.rows) + " by " +
                   std::to_string(c.chunk_rows));
      const uint64_t stride = c.rows + rng.below(4);
      Columns weights(0, stride, c.rows, 4);
      weights.randomise(rng);
      std::vector<Words> values;
      std::vector<DeviceWords> on_device;
      std::vector<const uint32_t*> pointers;
      if (largest) {
        for (uint32_t k = 0; k < 4; ++k) std::fill_n(weights.column(k), c.rows, kP - 1);
      }
      for (uint32_t i = 0; i < c.n_columns; ++i) {
        values.push_back(largest ? Words(c.rows, kP - 1) : random_column(rng, c.rows));
        on_device.push_back(DeviceWords::input(values.back()));
        pointers.push_back(on_device.back().at());
      }
      const uint32_t n_chunks = blocks_for(c.rows, c.chunk_rows);
      std::vector<QM31> expected(size_t{n_chunks} * c.n_columns);
      for (uint32_t row = 0; row < c.rows; ++row) {
        const QM31 weight = QM31::from_u32(weights.column(0)[row], weights.column(1)[row],
                                           weights.column(2)[row], weights.column(3)[row]);
        for (uint32_t i = 0; i < c.n_columns; ++i) {
          expected[size_t{row / c.chunk_rows} * c.n_columns + i] += weight * M31(values[i][row]);
        }
      }
      const DeviceWords weight_words = DeviceWords::input(weights.words);
      const DeviceWords partial = DeviceWords::output(4 * expected.size());
      sums(weight_words, stride, pointers, c.rows, c.chunk_rows, partial);
      partial.expect(words_of(expected));
    }
  }
}

TEST_P(OodsKernel, Finish) {
  struct Case {
    uint32_t n_columns, n_constants, n_chunks;
  };
  for (const Case& c :
       {Case{1, 0, 1}, {3, 2, 2}, {2, 0, 31}, {2, 1, 32}, {5, 4, 33}, {3, 4, 100}, {0, 4, 1}}) {
    SCOPED_TRACE(std::to_string(c.n_columns) + " columns, " + std::to_string(c.n_constants) +
                 " constants, " + std::to_string(c.n_chunks) + " chunks");
    const std::vector<QM31> partial = rng.qm31_vector(size_t{c.n_chunks} * c.n_columns);
    const uint32_t n_targets = c.n_columns + c.n_constants;
    // Values go anywhere; a place in between stays as it is.
    std::vector<uint32_t> places(n_targets + 2);
    std::iota(places.begin(), places.end(), 0u);
    for (size_t i = places.size(); i > 1; --i) std::swap(places[i - 1], places[rng.below(i)]);
    Words expected(4 * places.size(), kPoison);
    std::vector<SampleTarget> targets;
    std::vector<DeviceWords> constants;
    for (uint32_t i = 0; i < n_targets; ++i) {
      SampleTarget target{nullptr, places[i], 0};
      QM31 value;
      if (i < c.n_columns) {
        for (uint32_t chunk = 0; chunk < c.n_chunks; ++chunk) {
          value += partial[size_t{chunk} * c.n_columns + i];
        }
      } else {
        const M31 constant = rng.m31();
        constants.push_back(DeviceWords::input(Words{constant.v, constant.v}));
        target.constant = constants.back().at();
        value = QM31(constant);
      }
      put(expected, size_t{4} * places[i], value);
      targets.push_back(target);
    }
    const DeviceWords partial_words = DeviceWords::input(words_of(partial));
    const DeviceWords values = DeviceWords::output(expected.size());
    finish(partial_words, targets, c.n_columns, c.n_chunks, values);
    values.expect(expected);
  }
}

/// All steps together: f(P) of columns given by their first 2^n values on a larger domain.
TEST_P(OodsKernel, ChainSamplesPolynomials) {
  const Tables host_tables(13);
  const DeviceTables device(host_tables);
  for (uint32_t n = 1; n <= 12; ++n) {
    const auto blowup = static_cast<uint32_t>(rng.below(2));
    const auto doublings = static_cast<uint32_t>(rng.below(3));
    const auto shift = static_cast<uint32_t>(rng.below(uint64_t{1} << 31));
    SCOPED_TRACE("n " + std::to_string(n) + " blowup " + std::to_string(blowup));
    const uint64_t rows = uint64_t{1} << n;
    const CirclePoint<QM31> z = rng.secure_point();
    const CirclePoint<QM31> p = (z + to_secure(point_at_index(shift))).repeated_double(doublings);
    constexpr uint32_t kColumns = 9;
    std::vector<QM31> expected;
    std::vector<DeviceWords> columns;
    std::vector<const uint32_t*> pointers;
    std::vector<SampleTarget> targets;
    for (uint32_t c = 0; c < kColumns; ++c) {
      const std::vector<M31> coefficients = rng.m31_vector(rows);
      std::vector<M31> values(rows << blowup);
      std::copy(coefficients.begin(), coefficients.end(), values.begin());
      evaluate(std::span(values));
      Words words;
      for (uint64_t i = 0; i < rows; ++i) words.push_back(values[i].v);
      columns.push_back(DeviceWords::input(words));
      pointers.push_back(columns.back().at());
      targets.push_back({nullptr, c, 0});
      expected.push_back(eval_at_point(std::span<const M31>(coefficients), p));
    }
    const uint32_t log_low = (n + 1) / 2;
    const uint64_t stride = (rows + 63) / 64 * 64;
    const DeviceWords point = DeviceWords::input(point_words(z));
    const DeviceWords low = DeviceWords::output(size_t{4} << log_low);
    const DeviceWords high = DeviceWords::output(size_t{4} << (n - log_low));
    const DeviceWords weights = DeviceWords::output(4 * stride);
    tables(point, shift, doublings, n, log_low, low, high);
    SampleWeightsArgs w{};
    w.low = low.at();
    w.high = high.at();
    w.weights = weights.at();
    w.stride = stride;
    w.log_rows = n;
    w.log_low = log_low;
    launch("sample_weights", {blocks_for(rows, 256), 1, 256, 0}, w);
    // The transposed interpolation: forward butterflies with inverse twiddles.
    FftArgs f{};
    f.source = f.target = weights.at();
    f.source_stride = f.target_stride = stride;
    f.n_columns = 4;
    f.columns_per_block = 1;
    f.log_rows = f.n_layers = n;
    f.domain_log = n + blowup;
    f.x = device.x_inverse.at();
    f.y = device.y_inverse.at();
    const bool is_short = n < kFftLogTile;
    launch(is_short ? "fft_forward_short" : "fft_forward_rows",
           {1, is_short ? blocks_for(4, uint64_t{1} << (kFftLogTile - n)) : 4, kFftThreads,
            kFftSharedBytes},
           f);
    const auto chunk = static_cast<uint32_t>(std::max<uint64_t>(rows / 4, 1));
    const uint32_t n_chunks = blocks_for(rows, chunk);
    const DeviceWords partial = DeviceWords::output(size_t{4} * n_chunks * kColumns);
    sums(weights, stride, pointers, static_cast<uint32_t>(rows), chunk, partial);
    const DeviceWords values = DeviceWords::output(4 * kColumns);
    finish(partial, targets, kColumns, n_chunks, values);
    const Words got = values.read();
    for (uint32_t c = 0; c < kColumns; ++c) ASSERT_EQ(secure_at(got, c), expected[c]) << c;
  }
}

}  // namespace
}  // namespace stwo::gpu

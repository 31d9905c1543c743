// Rates of the CPU kernels, one thread: what the stage times are made of.
#include <benchmark/benchmark.h>

#include <cstring>
#include <random>

#include "prover/cpu/kernels.hpp"
#include "prover/cpu/memory.hpp"
#include "prover/poly/twiddles.hpp"

namespace stwo::cpu {
namespace {

Buffer<M31> random_column(uint64_t size, uint32_t seed) {
  std::mt19937 rng(seed);
  Buffer<M31> out(size);
  for (uint64_t i = 0; i < size; ++i) out[i] = M31::reduce(rng());
  return out;
}

void BM_Evaluate(benchmark::State& state) {
  const auto n = static_cast<uint32_t>(state.range(0));
  const uint32_t domains[] = {n, n + 1};
  const TwiddleTree twiddles(n + 1, domains);
  const auto in = random_column(uint64_t{1} << n, 1);
  Buffer<M31> out(uint64_t{1} << n);
  const FftLayers layers = twiddles.forward(n + 1);
  for (auto _ : state) {
    evaluate(in.data(), out.data(), n, layers, 1);
    benchmark::DoNotOptimize(out[0]);
  }
  state.counters["butterflies/s"] =
      benchmark::Counter(static_cast<double>(n) * static_cast<double>(uint64_t{1} << (n - 1)),
                         benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_Evaluate)->DenseRange(10, 22, 2);

void BM_Interpolate(benchmark::State& state) {
  const auto n = static_cast<uint32_t>(state.range(0));
  const uint32_t domains[] = {n};
  const TwiddleTree twiddles(n, domains);
  const auto in = random_column(uint64_t{1} << n, 1);
  Buffer<M31> out(uint64_t{1} << n);
  const FftLayers layers = twiddles.inverse(n);
  for (auto _ : state) {
    interpolate(in.data(), out.data(), n, layers, 0);
    benchmark::DoNotOptimize(out[0]);
  }
  state.counters["butterflies/s"] =
      benchmark::Counter(static_cast<double>(n) * static_cast<double>(uint64_t{1} << (n - 1)),
                         benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_Interpolate)->DenseRange(10, 22, 4);

void BM_HashLeaves(benchmark::State& state) {
  const auto n_columns = static_cast<size_t>(state.range(0));
  constexpr uint32_t kLog = 12;
  std::vector<Buffer<M31>> columns;
  std::vector<LeafColumn> leaf;
  for (size_t c = 0; c < n_columns; ++c) {
    columns.push_back(random_column(1u << kLog, static_cast<uint32_t>(c)));
    leaf.push_back({columns.back().data(), 0});
  }
  Buffer<uint32_t> words(8u << kLog);
  for (auto _ : state) {
    hash_leaves(HashVariant::kBlake2s, leaf.data(), n_columns, {words.data(), kLog}, 0, 1u << kLog);
    benchmark::DoNotOptimize(words[0]);
  }
  state.counters["compressions/s"] =
      benchmark::Counter(static_cast<double>((n_columns + 15) / 16 * (1u << kLog)),
                         benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_HashLeaves)->Arg(4)->Arg(8)->Arg(16)->Arg(100);

void BM_HashNodes(benchmark::State& state) {
  constexpr uint32_t kLog = 12;
  Buffer<uint32_t> children(16u << kLog);
  Buffer<uint32_t> words(8u << kLog);
  for (size_t i = 0; i < children.size(); ++i) children[i] = static_cast<uint32_t>(i * 2654435761u);
  for (auto _ : state) {
    hash_nodes(HashVariant::kBlake2s, {children.data(), kLog + 1}, {words.data(), kLog}, 0,
               1u << kLog);
    benchmark::DoNotOptimize(words[0]);
  }
  state.counters["compressions/s"] = benchmark::Counter(
      static_cast<double>(1u << kLog), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_HashNodes);

void BM_Grind(benchmark::State& state) {
  Digest prefix{};
  for (auto _ : state) {
    benchmark::DoNotOptimize(grind(HashVariant::kBlake2s, prefix, 32, 0, 1 << 14));
  }
  state.counters["nonces/s"] =
      benchmark::Counter(1 << 14, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_Grind);

void BM_CombineColumns(benchmark::State& state) {
  const auto n_columns = static_cast<size_t>(state.range(0));
  constexpr uint64_t kRows = 1 << 12;
  std::vector<Buffer<M31>> columns;
  std::vector<const M31*> pointers;
  std::vector<QM31> factors;
  for (size_t c = 0; c < n_columns; ++c) {
    columns.push_back(random_column(kRows, static_cast<uint32_t>(c)));
    pointers.push_back(columns.back().data());
    factors.push_back(QM31::from_u32(3, 5, 7, static_cast<uint32_t>(c)));
  }
  std::vector<Buffer<M31>> out(4);
  SecureColumns secure;
  for (size_t k = 0; k < 4; ++k) {
    out[k] = Buffer<M31>(kRows);
    secure.c[k] = out[k].data();
  }
  for (auto _ : state) {
    combine_columns(pointers.data(), factors.data(), n_columns, secure, false, 0, kRows);
    benchmark::DoNotOptimize(out[0][0]);
  }
  state.counters["cells/s"] = benchmark::Counter(static_cast<double>(n_columns * kRows),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_CombineColumns)->Arg(32)->Arg(100);

}  // namespace
}  // namespace stwo::cpu

BENCHMARK_MAIN();

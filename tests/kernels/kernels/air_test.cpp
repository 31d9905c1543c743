// The kernels generated for the wide-Fibonacci scripts against their row kernels on the CPU.
#include <algorithm>
#include <cstring>
#include <map>

#include "kernels/air/air_args.hpp"
#include "prover/air/component.hpp"
#include "prover/air/wide_fibonacci/wide_fibonacci.hpp"
#include "prover/circle/domain.hpp"
#include "prover/cpu/memory.hpp"
#include "tests/kernels/support/reference.hpp"

namespace stwo::gpu {
namespace {

using namespace stwo::test;

template <class Script>
ScriptBytes bytes_of(const Script& script) {
  ScriptBytes out{};
  std::memcpy(out.bytes, &script, sizeof(script));
  return out;
}

std::string kernel_name(const RowKernels& k, const char* what) {
  return std::string(k.air) + "_" + what + "_" + std::to_string(k.script_index);
}

LaunchGeometry row_geometry(uint64_t n_rows) {
  return {blocks_for(n_rows, uint64_t{kAirThreads} * kAirRows), 1, kAirThreads, 0};
}

/// Columns the CPU's kernels can read: padded.
struct CpuColumns {
  std::vector<cpu::Buffer<M31>> buffers;
  M31* add(uint64_t rows) { return buffers.emplace_back(rows).data(); }
};

class AirKernel : public KernelTest {
 protected:
  template <class Script>
  void trace(const Script& script, uint32_t log) {
    SCOPED_TRACE("trace of " + std::to_string(script.sequence_len) + " columns of 2^" +
                 std::to_string(log));
    const RowKernels& kernels = row_kernels<Script>();
    const uint64_t rows = uint64_t{1} << log;
    // As in a proof: the trace lies in the last block of an extended column.
    Columns expected(4 * rng.below(3), std::max<uint64_t>(rows, 4) + 4 * rng.below(4), rows,
                     script.sequence_len);
    CpuColumns cpu;
    TraceRows trace_rows;
    for (uint32_t c = 0; c < script.sequence_len; ++c) trace_rows.columns.push_back(cpu.add(rows));
    kernels.trace(&script, trace_rows, 0, rows);
    for (uint32_t c = 0; c < script.sequence_len; ++c) {
      for (uint64_t r = 0; r < rows; ++r) expected.column(c)[r] = trace_rows.columns[c][r].v;
    }
    const DeviceWords out = DeviceWords::output(expected.words.size());
    TraceArgs args{};
    args.script = bytes_of(script);
    args.base = out.at(expected.first);
    args.stride = expected.stride;
    args.n_rows = rows;
    launch(kernel_name(kernels, "trace"), row_geometry(rows), args);
    out.expect(expected.words);
  }

  template <class Script>
  void constraints(const Script& script, uint32_t log, uint32_t blowup, uint64_t n_rows) {
    SCOPED_TRACE("constraints of " + std::to_string(script.sequence_len) + " columns of 2^" +
                 std::to_string(log) + ", " + std::to_string(n_rows) + " rows");
    const RowKernels& kernels = row_kernels<Script>();
    const ScriptInfo info = script_info(script);
    const uint64_t domain_rows = uint64_t{1} << (log + blowup);
    const auto n_columns = static_cast<uint32_t>(info.mask_offsets[1].size());
    Columns columns(4 * rng.below(3), domain_rows + 4 * rng.below(4), domain_rows, n_columns);
    columns.randomise(rng);
    CpuColumns cpu;
    ConstraintRows rows;
    const auto copy = [&](const uint32_t* values) {
      M31* to = cpu.add(domain_rows);
      for (uint64_t i = 0; i < domain_rows; ++i) to[i] = M31(values[i]);
      return to;
    };
    rows.tree_columns.resize(2);
    for (uint32_t c = 0; c < n_columns; ++c)
      rows.tree_columns[1].push_back(copy(columns.column(c)));
    std::vector<DeviceWords> preprocessed;
    std::vector<const uint32_t*> list;
    for (size_t i = 0; i < info.preprocessed_requests.size(); ++i) {
      const Words values = random_column(rng, domain_rows);
      rows.preprocessed.push_back(copy(values.data()));
      preprocessed.push_back(DeviceWords::input(values));
      list.push_back(preprocessed.back().at());
    }
    const std::vector<QM31> weights = rng.qm31_vector(info.n_constraints());
    rows.coefficients = weights.data();
    rows.trace_log_size = log;
    rows.domain_log_size = log + blowup;
    ConstraintArgs args{};
    for (uint32_t block = 0; block < 2; ++block) {
      // The values a proof has; they differ in sign only, so another pair is tried too.
      const M31 vanishing =
          canonic_vanishing(CanonicCoset{log + blowup}.at_storage(block << log).x, log);
      rows.inverse_vanishing[block] = rng.coin() ? vanishing.inverse() : rng.m31();
      args.inverse_vanishing[block] = rows.inverse_vanishing[block].v;
    }
    for (M31*& out : rows.out) out = cpu.add(n_rows);
    kernels.constraints(&script, rows, 0, n_rows);

    const uint64_t stride = n_rows + 4 * rng.below(3);
    Words expected(4 * stride, kPoison);
    for (uint64_t k = 0; k < 4; ++k) {
      for (uint64_t r = 0; r < n_rows; ++r) expected[k * stride + r] = rows.out[k][r].v;
    }
    const DeviceWords base = DeviceWords::input(columns.words);
    const DeviceWords weight_words = DeviceWords::input(words_of(weights));
    const DeviceWords list_words = DeviceWords::input(list);
    const DeviceWords out = DeviceWords::output(4 * stride);
    args.script = bytes_of(script);
    args.base[1] = base.at(columns.first);
    args.stride[1] = columns.stride;
    args.preprocessed = reinterpret_cast<const uint32_t* const*>(list_words.at());
    args.weights = weight_words.at();
    args.out = out.at();
    args.out_stride = stride;
    args.n_rows = n_rows;
    args.trace_log_size = log;
    args.domain_log_size = log + blowup;
    launch(kernel_name(kernels, "constraints"), row_geometry(n_rows), args);
    out.expect(expected);
  }

  /// Rows of the half-domain composition, of the full-domain one, and of a trace of two rows.
  template <class Script>
  void all_constraints(const Script& script) {
    for (const uint32_t log : {1u, 2u, 3u, 6u, 9u, 10u, 11u}) {
      const uint64_t rows = uint64_t{1} << log;
      const auto blowup = static_cast<uint32_t>(1 + rng.below(3));
      if (log > 1) constraints(script, log, blowup, rows + 4);
      constraints(script, log, blowup, 2 * rows);
      if (HasFailure()) return;
    }
  }
};

STWO_UNDER_ALL_SCHEDULES(AirKernel);

TEST_P(AirKernel, WideFibonacciTrace) {
  for (const uint32_t n : {1u, 2u, 3u, 4u, 17u, 100u}) {
    for (const uint32_t log : {1u, 2u, 3u, 9u, 10u, 11u}) trace(air::WideFibonacciScript{n}, log);
  }
}

TEST_P(AirKernel, WideFibonacciSequenceTrace) {
  for (const uint32_t n : {2u, 3u, 4u, 17u, 100u}) {
    for (const uint32_t log : {1u, 2u, 3u, 9u, 10u, 11u}) {
      trace(air::WideFibonacciSeqScript{n}, log);
    }
  }
}

TEST_P(AirKernel, WideFibonacciConstraints) {
  // One, two, three and more constraints: sums are folded after every third.
  for (const uint32_t n : {3u, 4u, 5u, 6u, 17u, 100u}) all_constraints(air::WideFibonacciScript{n});
}

TEST_P(AirKernel, WideFibonacciSequenceConstraints) {
  for (const uint32_t n : {3u, 4u, 5u, 6u, 17u, 100u}) {
    all_constraints(air::WideFibonacciSeqScript{n});
  }
}

/// Scripts without constraints: the sum is zero.
TEST_P(AirKernel, NoConstraints) {
  all_constraints(air::WideFibonacciScript{1});
  all_constraints(air::WideFibonacciScript{2});
  all_constraints(air::WideFibonacciSeqScript{2});
}

}  // namespace
}  // namespace stwo::gpu

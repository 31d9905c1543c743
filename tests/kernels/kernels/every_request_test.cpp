// Row evaluation on the device by a script that uses every request, against its recorded constraint
// program row by row.
#include <algorithm>

#include "kernels/air/air_args.hpp"
#include "prover/air/component.hpp"
#include "prover/circle/domain.hpp"
#include "tests/kernels/support/reference.hpp"

namespace stwo::gpu {
namespace {

using namespace stwo::test;

#include "tests/support/row_scripts.inc"

STWO_KERNEL_TESTS(EveryRequestKernel);

TEST_P(EveryRequestKernel, EqualsTheConstraintProgramOnEveryRow) {
  const EveryRequestScript script;
  const ScriptInfo info = script_info(script);
  const ConstraintProgram program = record_constraints(script);
  for (const uint32_t trace_log : {1u, 2u, 3u, 5u, 9u, 10u}) {
    for (uint32_t blowup = 1; blowup <= 2; ++blowup) {
      const uint32_t domain_log = trace_log + blowup;
      SCOPED_TRACE("trace 2^" + std::to_string(trace_log) + ", domain 2^" +
                   std::to_string(domain_log));
      // Offsets reach every row of the domain.
      const uint64_t domain_rows = uint64_t{1} << domain_log;
      const uint64_t n_rows =
          rng.coin() || trace_log == 1 ? uint64_t{2} << trace_log : (uint64_t{1} << trace_log) + 4;
      std::vector<Columns> trees;
      std::vector<DeviceWords> on_device;
      for (const auto& columns : info.mask_offsets) {
        trees.emplace_back(4 * rng.below(3), domain_rows + 4 * rng.below(4), domain_rows,
                           static_cast<uint32_t>(columns.size()));
        trees.back().randomise(rng);
        on_device.push_back(DeviceWords::input(trees.back().words));
      }
      const Words preprocessed = random_column(rng, domain_rows);
      const DeviceWords preprocessed_column = DeviceWords::input(preprocessed);
      const DeviceWords preprocessed_list =
          DeviceWords::input(std::vector<const uint32_t*>{preprocessed_column.at()});
      const std::vector<QM31> weights = rng.qm31_vector(info.n_constraints());
      const DeviceWords weights_words = DeviceWords::input(words_of(weights));
      const uint64_t stride = n_rows + 4;
      const DeviceWords out = DeviceWords::output(4 * stride);

      ConstraintArgs args{};
      for (size_t t = 1; t < trees.size(); ++t) {
        args.base[t] = on_device[t].at(trees[t].first);
        args.stride[t] = trees[t].stride;
      }
      args.preprocessed = reinterpret_cast<const uint32_t* const*>(preprocessed_list.at());
      args.weights = weights_words.at();
      args.out = out.at();
      args.out_stride = stride;
      args.n_rows = n_rows;
      const M31 inverse[2] = {rng.m31(), rng.m31()};
      args.inverse_vanishing[0] = inverse[0].v;
      args.inverse_vanishing[1] = inverse[1].v;
      args.trace_log_size = trace_log;
      args.domain_log_size = domain_log;
      launch("every_request_constraints_0",
             {blocks_for(n_rows, uint64_t{kAirThreads} * kAirRows), 1, kAirThreads, 0}, args);

      Words expected(4 * stride, kPoison);
      for (uint64_t row = 0; row < n_rows; ++row) {
        std::vector<std::vector<std::vector<QM31>>> samples(info.mask_offsets.size());
        ComponentMask mask;
        for (size_t t = 0; t < info.mask_offsets.size(); ++t) {
          for (size_t c = 0; c < info.mask_offsets[t].size(); ++c) {
            auto& values = samples[t].emplace_back();
            for (const int offset : info.mask_offsets[t][c]) {
              values.emplace_back(M31(trees[t].column(c)[offset_storage_index(
                  static_cast<uint32_t>(row), offset, trace_log, domain_log)]));
            }
          }
          mask.trees.emplace_back(samples[t]);
        }
        mask.preprocessed = {QM31(M31(preprocessed[row]))};
        const auto values = program.evaluate(mask, info.preprocessed_requests);
        QM31 sum;
        for (size_t i = 0; i < values.size(); ++i) sum += weights[i] * values[i];
        put_coordinates(expected, stride, row, sum * inverse[row >> trace_log & 1]);
      }
      out.expect(expected);
    }
  }
}

TEST_P(EveryRequestKernel, ScriptWithoutTraceGeneratorWritesNothing) {
  const DeviceWords out = DeviceWords::output(64);
  TraceArgs args{};
  args.base = out.at();
  args.stride = 16;
  args.n_rows = 16;
  launch("every_request_trace_0", {1, 1, kAirThreads, 0}, args);
  out.expect(Words(64, kPoison));
}

}  // namespace
}  // namespace stwo::gpu

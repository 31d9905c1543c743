// Which FFT passes (kernels/fft) a transform takes: split into launches, with geometry and traffic.
#pragma once

#include <string>

#include "kernels/fft/fft_args.hpp"
#include "kernels/plan/plan_builder.hpp"

namespace stwo::gpu {

/// The resident tables of a plan (kernels/tables).
struct TwiddleBuffers {
  uint32_t x = 0;
  uint32_t x_inverse = 0;
  uint32_t y = 0;
  uint32_t y_inverse = 0;
};

class FftSchedule {
 public:
  /// `builder` outlives it.
  FftSchedule(PlanBuilder& builder, const TwiddleBuffers& tables, uint32_t multiprocessors,
              uint32_t log_blowup)
      : b_(builder), tables_(tables), multiprocessors_(multiprocessors), log_blowup_(log_blowup) {}

  /// Values on 2^n rows of `source` (block 0 of inverse_domain_log), extended to blocks
  /// [first_block, end_block) of domain n + b in `target`: the low inverse layers go from source to
  /// `work_row` of target, the high ones and the forward layers from there. The work block is
  /// overwritten last; it may be the source.
  void extend(const Columns& source, uint64_t source_row, const Columns& target, uint64_t work_row,
              uint32_t n, uint32_t inverse_domain_log, uint32_t first_block, uint32_t end_block,
              const std::string& what);
  /// In place: 2^n values on block 0 of domain_log become coefficients.
  void interpolate(const Columns& columns, uint32_t n, uint32_t domain_log,
                   const std::string& what);

  /// One transform of 2^log_rows rows of each column.
  struct Transform {
    Columns source;
    uint64_t source_row = 0;
    Columns target;
    uint64_t target_row = 0;
    uint32_t log_rows = 0;
    uint32_t domain_log = 0;
    uint32_t domain_block = 0;
    bool inverse_tables = false;
  };
  /// Forward butterflies with the transform's tables: coefficients to values, or with inverse
  /// tables the transposed interpolation.
  void evaluate(Transform t, const std::string& what);

 private:
  void pass(const char* mode, const std::string& name, LaunchArgs<FftArgs>& args,
            const Transform& t, uint32_t low, uint32_t layers, uint64_t read_rows,
            uint64_t written_rows);

  PlanBuilder& b_;
  TwiddleBuffers tables_;
  uint32_t multiprocessors_;
  uint32_t log_blowup_;
};

}  // namespace stwo::gpu

// A component: one AIR script on one trace size, type-erased behind the operations the prover and
// the verifier need.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "prover/air/constraint_program.hpp"
#include "prover/air/info_evaluator.hpp"
#include "prover/air/point_evaluator.hpp"

namespace stwo {

/// Smallest domain the protocol knows; a disabled component's columns have this log size.
inline constexpr uint32_t kMinDomainLogSize = 1;

/// Arguments of a component's SIMD constraint kernel over storage rows [row_begin, row_end).
/// Buffers are readable for 64 bytes beyond their last row, so that kernels need no scalar tail.
struct ConstraintRows {
  /// tree_columns[tree][component-local column] -> values on the evaluation domain.
  std::vector<std::vector<const M31*>> tree_columns;
  /// One per preprocessed request, in request order.
  std::vector<const M31*> preprocessed;
  /// Weight of each constraint, in constraint order.
  const QM31* coefficients = nullptr;
  /// 1 / vanishing value of each of the first two blocks of 2^trace_log_size rows: no more are
  /// needed.
  M31 inverse_vanishing[2];
  uint32_t trace_log_size = 0;
  /// Log size of the canonic domain whose first rows are evaluated (for row offsets).
  uint32_t domain_log_size = 0;
  /// Four coordinate columns; the sum of weighted constraints over the vanishing polynomial of row
  /// r is stored at out[k][r - out_first_row].
  M31* out[4] = {};
  uint64_t out_first_row = 0;
};

/// Arguments of a component's SIMD trace kernel over rows [row_begin, row_end).
struct TraceRows {
  /// Component-local main-trace columns.
  std::vector<M31*> columns;
};

/// SIMD kernels of one script; instantiated per instruction set by stwo_add_air (CMake).
struct RowKernels {
  void (*constraints)(const void* script, const ConstraintRows& rows, uint64_t row_begin,
                      uint64_t row_end) = nullptr;
  /// Null when the script has no row-local trace generator.
  void (*trace)(const void* script, const TraceRows& rows, uint64_t row_begin,
                uint64_t row_end) = nullptr;
  /// The script's name among device kernels: AIR folder and index, e.g. "wide_fibonacci" and 0 for
  /// wide_fibonacci_constraints_0 and wide_fibonacci_trace_0.
  const char* air = "";
  uint32_t script_index = 0;
  /// Size of the script object, which device kernels take by value.
  size_t script_bytes = 0;
};

/// Specialised for each script in the code stwo_add_air generates.
template <class Script>
const RowKernels& row_kernels();

class Component {
 public:
  virtual ~Component() = default;

  const std::string& name() const { return name_; }
  /// Trace log size; kMinDomainLogSize for a disabled component.
  uint32_t log_size() const { return enabled_ ? log_size_ : kMinDomainLogSize; }
  /// Log size of the domain the quotient lives on. In the lifted protocol an enabled component must
  /// have log_size + 1, which admits constraints of degree up to 3 (protocol.md 6.3).
  uint32_t log_degree_bound() const { return enabled_ ? log_size_ + 1 : kMinDomainLogSize; }
  bool enabled() const { return enabled_; }
  const ScriptInfo& info() const { return info_; }

  virtual void evaluate_at_point(const ComponentMask& mask, QM31 alpha,
                                 QM31* accumulator) const = 0;
  virtual ConstraintProgram record() const = 0;
  virtual const RowKernels& kernels() const = 0;
  virtual const void* script() const = 0;

 protected:
  Component(std::string name, uint32_t log_size, bool enabled, ScriptInfo info)
      : name_(std::move(name)), log_size_(log_size), enabled_(enabled), info_(std::move(info)) {}

 private:
  std::string name_;
  uint32_t log_size_;
  bool enabled_;
  ScriptInfo info_;
};

/// Component of a concrete script.
template <class Script>
class ScriptComponent final : public Component {
 public:
  ScriptComponent(std::string name, uint32_t log_size, Script script, bool enabled = true)
      : Component(std::move(name), log_size, enabled, script_info(script)),
        script_(std::move(script)) {}

  void evaluate_at_point(const ComponentMask& mask, QM31 alpha, QM31* accumulator) const override {
    if (!enabled()) {
      // A disabled component contributes zero and still consumes its powers of alpha.
      for (size_t i = 0; i < info().n_constraints(); ++i) *accumulator = *accumulator * alpha;
      return;
    }
    PointEvaluator eval(mask, alpha, accumulator);
    script_.evaluate(eval);
  }
  ConstraintProgram record() const override { return record_constraints(script_); }
  const RowKernels& kernels() const override { return row_kernels<Script>(); }
  const void* script() const override { return &script_; }

 private:
  Script script_;
};

}  // namespace stwo

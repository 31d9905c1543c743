// The device run of an AIR script: four neighbouring storage rows a thread, so that a column is
// read and written 16 bytes at a time. What E and W offer is listed in
// prover/air/info_evaluator.hpp.
//
// Ledger, N rows, C columns, K constraints:
//   kernel        reads      writes   field work
//   *_trace       -          4 C N    the script's
//   *_constraints 4 C N      16 N     the script's + 4 K N products
// An offset column adds 4 N bytes.
#pragma once

#include <array>
#include <type_traits>
#include <utility>

#include "kernels/air/air_args.hpp"
#include "kernels/device/field.cuh"
#include "prover/circle/domain.hpp"

namespace stwo::gpu {

/// Base values at four rows.
struct Rows4 {
  uint32_t v[4];

  STWO_DEVICE friend Rows4 operator+(const Rows4& a, const Rows4& b) {
    Rows4 r;
    STWO_UNROLL
    for (uint32_t i = 0; i < 4; ++i) r.v[i] = m31_add(a.v[i], b.v[i]);
    return r;
  }
  STWO_DEVICE friend Rows4 operator-(const Rows4& a, const Rows4& b) {
    Rows4 r;
    STWO_UNROLL
    for (uint32_t i = 0; i < 4; ++i) r.v[i] = m31_sub(a.v[i], b.v[i]);
    return r;
  }
  STWO_DEVICE friend Rows4 operator*(const Rows4& a, const Rows4& b) {
    Rows4 r;
    STWO_UNROLL
    for (uint32_t i = 0; i < 4; ++i) r.v[i] = m31_mul(a.v[i], b.v[i]);
    return r;
  }
  STWO_DEVICE Rows4 operator-() const {
    Rows4 r;
    STWO_UNROLL
    for (uint32_t i = 0; i < 4; ++i) r.v[i] = m31_sub(0, v[i]);
    return r;
  }
  STWO_DEVICE static Rows4 load(const uint32_t* p) {
    const Word4 w = load4(p);
    return {{w.x, w.y, w.z, w.w}};
  }
};

/// Secure values at four rows.
struct SecureRows4 {
  QM31 v[4];

  SecureRows4() = default;
  STWO_DEVICE SecureRows4(const Rows4& base) {  // NOLINT: a base value is a secure value
    STWO_UNROLL
    for (uint32_t i = 0; i < 4; ++i) v[i] = QM31(M31(base.v[i]));
  }
  STWO_DEVICE friend SecureRows4 operator+(const SecureRows4& a, const SecureRows4& b) {
    SecureRows4 r;
    STWO_UNROLL
    for (uint32_t i = 0; i < 4; ++i) r.v[i] = a.v[i] + b.v[i];
    return r;
  }
  STWO_DEVICE friend SecureRows4 operator-(const SecureRows4& a, const SecureRows4& b) {
    SecureRows4 r;
    STWO_UNROLL
    for (uint32_t i = 0; i < 4; ++i) r.v[i] = a.v[i] - b.v[i];
    return r;
  }
  STWO_DEVICE friend SecureRows4 operator*(const SecureRows4& a, const SecureRows4& b) {
    SecureRows4 r;
    STWO_UNROLL
    for (uint32_t i = 0; i < 4; ++i) r.v[i] = a.v[i] * b.v[i];
    return r;
  }
  STWO_DEVICE friend SecureRows4 operator*(const SecureRows4& a, const Rows4& b) {
    SecureRows4 r;
    STWO_UNROLL
    for (uint32_t i = 0; i < 4; ++i) r.v[i] = a.v[i] * M31(b.v[i]);
    return r;
  }
  STWO_DEVICE SecureRows4 operator-() const {
    SecureRows4 r;
    STWO_UNROLL
    for (uint32_t i = 0; i < 4; ++i) r.v[i] = -v[i];
    return r;
  }
};

class DeviceRowEvaluator {
 public:
  using F = Rows4;
  using EF = SecureRows4;

  STWO_DEVICE DeviceRowEvaluator(const ConstraintArgs& args, uint64_t row)
      : args_(args), row_(row), weights_(args.weights), preprocessed_(args.preprocessed) {
    STWO_UNROLL
    for (uint32_t t = 0; t < kMaxScriptTrees; ++t) next_[t] = args.base[t];
  }

  STWO_DEVICE F next_trace_mask() {
    const uint32_t* column = next_[1];
    next_[1] += args_.stride[1];
    return Rows4::load(column + row_);
  }
  template <size_t N>
  STWO_DEVICE std::array<F, N> next_interaction_mask(uint32_t tree,
                                                     const std::array<int, N>& offsets) {
    const uint32_t* column = next_column(tree);
    std::array<F, N> out;
    STWO_UNROLL
    for (size_t i = 0; i < N; ++i) out[i] = at_offset(column, offsets[i]);
    return out;
  }
  STWO_DEVICE EF next_extension_mask(uint32_t tree, int offset) {
    Rows4 c[4];
    STWO_UNROLL
    for (uint32_t k = 0; k < 4; ++k) c[k] = at_offset(next_column(tree), offset);
    EF out;
    STWO_UNROLL
    for (uint32_t i = 0; i < 4; ++i) {
      out.v[i] = QM31(M31(c[0].v[i]), M31(c[1].v[i]), M31(c[2].v[i]), M31(c[3].v[i]));
    }
    return out;
  }
  /// Columns come in request order; the id is not looked at (and std::string_view has no device
  /// side).
  template <class Id>
  STWO_DEVICE F preprocessed_column(const Id&) {
    return Rows4::load(*preprocessed_++ + row_);
  }
  STWO_DEVICE F constant(M31 c) { return {{c.v, c.v, c.v, c.v}}; }
  STWO_DEVICE EF secure_constant(QM31 c) {
    EF out;
    STWO_UNROLL
    for (uint32_t i = 0; i < 4; ++i) out.v[i] = c;
    return out;
  }
  STWO_DEVICE void add_constraint(const F& value) {
    const Word4 w = load4(weights_);
    weights_ += 4;
    STWO_UNROLL
    for (uint32_t i = 0; i < 4; ++i) base_[i].add(w.x, w.y, w.z, w.w, value.v[i]);
    if (++pending_ == 3) {
      pending_ = 0;
      STWO_UNROLL
      for (uint32_t i = 0; i < 4; ++i) base_[i].fold();
    }
  }
  STWO_DEVICE void add_constraint(const EF& value) {
    const QM31 w = load_secure(weights_);
    weights_ += 4;
    STWO_UNROLL
    for (uint32_t i = 0; i < 4; ++i) secure_[i] += value.v[i] * w;
  }

  /// Writes the sum over the vanishing polynomial.
  STWO_DEVICE void finish() {
    QM31 value[4];
    STWO_UNROLL
    for (uint32_t i = 0; i < 4; ++i) {
      const uint64_t block = (row_ + i) >> args_.trace_log_size & 1;
      value[i] = (base_[i].value() + secure_[i]) *
                 M31(block == 0 ? args_.inverse_vanishing[0] : args_.inverse_vanishing[1]);
    }
    uint32_t* out = args_.out + row_;
    store4(out, {value[0].x.a.v, value[1].x.a.v, value[2].x.a.v, value[3].x.a.v});
    out += args_.out_stride;
    store4(out, {value[0].x.b.v, value[1].x.b.v, value[2].x.b.v, value[3].x.b.v});
    out += args_.out_stride;
    store4(out, {value[0].y.a.v, value[1].y.a.v, value[2].y.a.v, value[3].y.a.v});
    out += args_.out_stride;
    store4(out, {value[0].y.b.v, value[1].y.b.v, value[2].y.b.v, value[3].y.b.v});
  }

 private:
  STWO_DEVICE const uint32_t* next_column(uint32_t tree) {
    const uint32_t* column = next_[tree];
    next_[tree] += args_.stride[tree];
    return column;
  }
  STWO_DEVICE F at_offset(const uint32_t* column, int offset) {
    if (offset == 0) return Rows4::load(column + row_);
    F out;
    STWO_UNROLL
    for (uint32_t i = 0; i < 4; ++i) {
      out.v[i] = column[offset_storage_index(static_cast<uint32_t>(row_ + i), offset,
                                             args_.trace_log_size, args_.domain_log_size)];
    }
    return out;
  }

  const ConstraintArgs& args_;
  uint64_t row_;
  const uint32_t* weights_;
  const uint32_t* const* preprocessed_;
  const uint32_t* next_[kMaxScriptTrees];
  SecureAccumulator base_[4];
  QM31 secure_[4];
  uint32_t pending_ = 0;
};

class DeviceRowWriter {
 public:
  using F = Rows4;
  STWO_DEVICE DeviceRowWriter(const TraceArgs& args, uint64_t row)
      : stride_(args.stride), row_(row), rows_(args.n_rows - row), next_(args.base + row) {}
  STWO_DEVICE F constant(M31 c) { return {{c.v, c.v, c.v, c.v}}; }
  /// Row numbers stay below 2^30 < P.
  STWO_DEVICE F row_index() {
    const auto r = static_cast<uint32_t>(row_);
    return {{r, r + 1, r + 2, r + 3}};
  }
  STWO_DEVICE void write(const F& value) {
    if (rows_ >= 4) {
      store4(next_, {value.v[0], value.v[1], value.v[2], value.v[3]});
    } else {
      // A trace of two rows.
      for (uint32_t i = 0; i < rows_; ++i) next_[i] = value.v[i];
    }
    next_ += stride_;
  }

 private:
  uint64_t stride_;
  uint64_t row_;
  uint64_t rows_;
  uint32_t* next_;
};

template <class Script, class = void>
struct DeviceHasGenerate : std::false_type {};
template <class Script>
struct DeviceHasGenerate<Script, std::void_t<decltype(std::declval<const Script&>().generate(
                                     std::declval<DeviceRowWriter&>()))>> : std::true_type {};

template <class Script>
STWO_DEVICE const Script& script_of(const ScriptBytes& bytes) {
  static_assert(std::is_trivially_copyable_v<Script> && sizeof(Script) <= ScriptBytes::kCapacity);
  return *reinterpret_cast<const Script*>(bytes.bytes);
}

template <class Script>
STWO_DEVICE void generate_rows(const TraceArgs& args) {
  const uint64_t row =
      (static_cast<uint64_t>(block_index()) * block_size() + thread_index()) * kAirRows;
  if (row >= args.n_rows) return;
  if constexpr (DeviceHasGenerate<Script>::value) {
    DeviceRowWriter writer(args, row);
    script_of<Script>(args.script).generate(writer);
  }
}

template <class Script>
STWO_DEVICE void evaluate_rows(const ConstraintArgs& args) {
  const uint64_t row =
      (static_cast<uint64_t>(block_index()) * block_size() + thread_index()) * kAirRows;
  if (row >= args.n_rows) return;
  DeviceRowEvaluator eval(args, row);
  script_of<Script>(args.script).evaluate(eval);
  eval.finish();
}

}  // namespace stwo::gpu

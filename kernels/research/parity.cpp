#include "kernels/research/parity.hpp"

#include <algorithm>

#include "kernels/research/codegen.hpp"
#include "kernels/research/research_args.hpp"
#include "prover/circle/domain.hpp"
#include "prover/errors.hpp"

namespace stwo::gpu {
namespace {

/// Trace and domain log sizes: one row pair, less than a warp, several blocks; blowups 1 and 2.
constexpr uint32_t kSizes[][2] = {{1, 2}, {1, 3}, {3, 4}, {6, 8}, {9, 10}};

/// SplitMix64: small, and the same everywhere.
class Generator {
 public:
  explicit Generator(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// The edges turn up far more often than chance would have them.
  uint32_t m31() {
    switch (next() % 16) {
      case 0: return 0;
      case 1: return 1;
      case 2: return kP - 1;
      default: return static_cast<uint32_t>(next() % kP);
    }
  }

 private:
  uint64_t state_;
};

/// Row masks in the form that ConstraintProgram::evaluate reads.
class RowMasks {
 public:
  RowMasks(const ConstraintProgram& program, const ParityInput& input)
      : program_(program), input_(input), values_(program.n_columns.size()) {
    uint32_t slot = 0;
    for (const ResearchColumn& c : research_columns(program)) {
      if (c.preprocessed) {
        preprocessed_.push_back(slot);
      } else {
        if (c.column == 0) first_slot_.resize(c.tree + 1, slot);
        first_slot_[c.tree] = slot - c.column;
        values_[c.tree].resize(program.n_columns[c.tree]);
      }
      ++slot;
    }
    for (const ProgramNode& n : program.nodes) {
      if (n.op != ProgramOp::kMask) continue;
      auto& column = values_[n.a][n.b];
      column.resize(std::max<size_t>(column.size(), n.immediate[1] + 1));
    }
  }

  ComponentMask at(uint64_t row) {
    for (const ProgramNode& n : program_.nodes) {
      if (n.op != ProgramOp::kMask) continue;
      const uint32_t from =
          offset_storage_index(static_cast<uint32_t>(row), static_cast<int32_t>(n.immediate[0]),
                               input_.trace_log_size, input_.domain_log_size);
      values_[n.a][n.b][n.immediate[1]] = QM31(M31(input_.columns[first_slot_[n.a] + n.b][from]));
    }
    ComponentMask mask;
    for (const auto& tree : values_) mask.trees.emplace_back(tree);
    for (const uint32_t slot : preprocessed_) {
      mask.preprocessed.emplace_back(M31(input_.columns[slot][row]));
    }
    return mask;
  }

 private:
  const ConstraintProgram& program_;
  const ParityInput& input_;
  std::vector<uint32_t> first_slot_;
  std::vector<uint32_t> preprocessed_;
  std::vector<std::vector<std::vector<QM31>>> values_;
};

std::string text(const ParityOutput& out, uint64_t row) {
  std::string t;
  for (const auto& column : out) t += (t.empty() ? "" : ",") + std::to_string(column[row]);
  return t;
}

}  // namespace

ParityInput parity_input(const ConstraintProgram& program, uint32_t trace_log_size,
                         uint32_t domain_log_size, uint64_t seed) {
  Generator rng(seed);
  ParityInput in;
  in.trace_log_size = trace_log_size;
  in.domain_log_size = domain_log_size;
  in.n_rows = uint64_t{2} << trace_log_size;
  const uint64_t domain = uint64_t{1} << domain_log_size;
  STWO_CHECK(in.n_rows <= domain, "the domain must have a second block");
  for (size_t c = research_columns(program).size(); c > 0; --c) {
    auto& column = in.columns.emplace_back(domain);
    for (uint32_t& v : column) v = rng.m31();
  }
  in.weights.resize(4 * program.constraints.size());
  for (uint32_t& w : in.weights) w = rng.m31();
  for (uint32_t& v : in.inverse_vanishing) v = 1 + static_cast<uint32_t>(rng.next() % (kP - 1));
  return in;
}

ParityOutput expected_output(const ConstraintProgram& program, const ParityInput& input) {
  ParityOutput out;
  RowMasks masks(program, input);
  for (uint64_t row = 0; row < input.n_rows; ++row) {
    const auto values = program.evaluate(masks.at(row), program.preprocessed_ids);
    QM31 sum;
    for (size_t k = 0; k < values.size(); ++k) {
      const uint32_t* w = input.weights.data() + 4 * k;
      sum += QM31::from_u32(w[0], w[1], w[2], w[3]) * values[k];
    }
    sum = sum * M31(input.inverse_vanishing[row >> input.trace_log_size]);
    for (uint32_t k = 0; k < 4; ++k) out[k].push_back(sum.coordinate(k).v);
  }
  return out;
}

ParityOutput run_host_rows(HostRows rows, const ParityInput& input) {
  std::vector<const uint32_t*> columns;
  for (const auto& c : input.columns) columns.push_back(c.data());
  ParityOutput out;
  ResearchKernelArgs args{};
  args.columns = columns.data();
  args.weights = input.weights.data();
  for (uint32_t k = 0; k < 4; ++k) {
    out[k].assign(input.n_rows, UINT32_MAX);
    args.out[k] = out[k].data();
  }
  args.n_rows = input.n_rows;
  std::copy(input.inverse_vanishing.begin(), input.inverse_vanishing.end(), args.inverse_vanishing);
  args.trace_log_size = input.trace_log_size;
  args.domain_log_size = input.domain_log_size;
  rows(&args, 0, input.n_rows);
  return out;
}

ParityResult check_parity(const ConstraintProgram& program,
                          const std::function<ParityOutput(const ParityInput&)>& run,
                          uint64_t seed) {
  ParityResult result;
  for (const auto& [trace_log, domain_log] : kSizes) {
    const ParityInput input = parity_input(program, trace_log, domain_log, seed++);
    const ParityOutput expected = expected_output(program, input);
    const ParityOutput got = run(input);
    result.rows += input.n_rows;
    const bool complete = std::all_of(
        got.begin(), got.end(), [&](const auto& column) { return column.size() == input.n_rows; });
    if (!complete) {
      result.mismatches += input.n_rows;
      result.first_mismatch = "output of a wrong length";
      continue;
    }
    for (uint64_t row = 0; row < input.n_rows; ++row) {
      bool same = true;
      for (uint32_t k = 0; k < 4; ++k) same = same && got[k][row] == expected[k][row];
      if (same) continue;
      if (result.mismatches++ == 0) {
        result.first_mismatch = "2^" + std::to_string(trace_log) + " rows, row " +
                                std::to_string(row) + ": expected " + text(expected, row) +
                                ", got " + text(got, row);
      }
    }
  }
  return result;
}

}  // namespace stwo::gpu

#include "prover/poly/twiddles.hpp"

#include "prover/circle/domain.hpp"
#include "prover/errors.hpp"
#include "prover/field/batch_inverse.hpp"

namespace stwo {
namespace {

/// Points of a coset's first half in bit-reversed order: each further bit doubles the list.
void first_half_points(const Coset& coset, std::vector<CirclePoint<M31>>& out) {
  out.clear();
  out.push_back(coset.at(0));
  for (uint32_t bit = 0; bit + 1 < coset.log_size; ++bit) {
    // In bit-reversed order of log_size - 1 bits, position bit `bit` stands for natural bit
    // log_size - 2 - bit.
    const uint32_t shift = coset.step << (coset.log_size - 2 - bit);
    const CirclePoint<M31> jump = point_at_index(shift & 0x7fffffffu);
    const size_t n = out.size();
    for (size_t i = 0; i < n; ++i) out.push_back(out[i] + jump);
  }
}

uint32_t doubled(M31 t) { return 2 * t.v; }

void invert(const cpu::Buffer<uint32_t>& in, cpu::Buffer<uint32_t>& out) {
  std::vector<M31> values(in.size());
  for (size_t i = 0; i < values.size(); ++i) values[i] = M31(in[i] / 2);
  STWO_CHECK(batch_inverse<M31>(values, values), "a twiddle factor is zero");
  for (size_t i = 0; i < values.size(); ++i) out[i] = doubled(values[i]);
}

}  // namespace

TwiddleTree::TwiddleTree(uint32_t max_log, std::span<const uint32_t> domains)
    : max_log_(max_log),
      tree_(size_t{1} << (max_log - 1)),
      inverse_tree_(size_t{1} << (max_log - 1)) {
  size_t at = 0;
  std::vector<CirclePoint<M31>> points;
  std::map<uint32_t, bool> wanted;
  for (const uint32_t d : domains) {
    STWO_CHECK(d >= 1 && d <= max_log, "twiddle domain out of range");
    wanted[d] = true;
  }
  for (Coset coset = CanonicCoset{max_log}.half_coset(); coset.log_size > 0;
       coset = coset.doubled()) {
    first_half_points(coset, points);
    for (const auto& p : points) tree_[at++] = doubled(p.x);
    // This coset is the half coset of canonic log_size + 1, whose layer 0 needs y at storage
    // position 2h: h even is the first half, h odd the same point plus half a turn.
    const uint32_t domain = coset.log_size + 1;
    if (wanted.count(domain) != 0) {
      cpu::Buffer<uint32_t> y(points.size() * 2);
      for (size_t i = 0; i < points.size(); ++i) {
        y[2 * i] = doubled(points[i].y);
        y[2 * i + 1] = doubled(-points[i].y);
      }
      first_.emplace(domain, std::move(y));
    }
  }
  tree_[at++] = doubled(M31(1));
  STWO_CHECK(at == tree_.size(), "twiddle tree has the wrong length");
  if (wanted.count(1) != 0) {
    cpu::Buffer<uint32_t> y(1);
    y[0] = doubled(CanonicCoset{1}.at_storage(0).y);
    first_.emplace(1, std::move(y));
  }
  invert(tree_, inverse_tree_);
  for (const auto& [domain, y] : first_) {
    cpu::Buffer<uint32_t> inverse(y.size());
    invert(y, inverse);
    inverse_first_.emplace(domain, std::move(inverse));
  }
}

FftLayers TwiddleTree::layers(uint32_t log, const cpu::Buffer<uint32_t>& tree,
                              const std::map<uint32_t, cpu::Buffer<uint32_t>>& first) const {
  const auto it = first.find(log);
  STWO_CHECK(it != first.end(), "twiddles of this domain were not prepared");
  FftLayers out;
  out.log_size = log;
  out.layer[0] = it->second.data();
  // Layer k of canonic log n is the level with 2^(n-1-k) entries, which starts 2 * 2^(n-1-k) before
  // the end of the tree.
  for (uint32_t k = 1; k < log; ++k) {
    out.layer[k] = tree.data() + tree.size() - (size_t{2} << (log - 1 - k));
  }
  return out;
}

FftLayers TwiddleTree::forward(uint32_t log) const { return layers(log, tree_, first_); }
FftLayers TwiddleTree::inverse(uint32_t log) const {
  return layers(log, inverse_tree_, inverse_first_);
}

const uint32_t* TwiddleTree::line_inverse_x(uint32_t log_size) const {
  STWO_CHECK(log_size >= 1 && log_size < max_log_, "line domain out of range");
  return inverse_tree_.data() + inverse_tree_.size() - (size_t{2} << (log_size - 1));
}

uint64_t TwiddleTree::bytes() const {
  uint64_t total = tree_.bytes() + inverse_tree_.bytes();
  for (const auto& [log, buffer] : first_) total += 2 * buffer.bytes();
  return total;
}

}  // namespace stwo

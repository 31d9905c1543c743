#include "tests/kernels/support/reference.hpp"

#include <algorithm>
#include <numeric>

namespace stwo::test {
namespace {

std::vector<uint32_t> all_domains(uint32_t max_log) {
  std::vector<uint32_t> logs(max_log);
  std::iota(logs.begin(), logs.end(), 1u);
  return logs;
}

}  // namespace

std::array<uint32_t, 4> words_of(QM31 value) {
  return {value.x.a.v, value.x.b.v, value.y.a.v, value.y.b.v};
}

Words words_of(std::span<const QM31> values) {
  Words words(4 * values.size());
  for (size_t i = 0; i < values.size(); ++i) put(words, 4 * i, values[i]);
  return words;
}

std::array<uint32_t, 8> words_of(const Digest& digest) {
  std::array<uint32_t, 8> words{};
  for (size_t w = 0; w < 8; ++w) words[w] = digest_word(digest, w);
  return words;
}

void put(Words& words, size_t at, QM31 value) {
  const auto w = words_of(value);
  std::copy(w.begin(), w.end(), words.begin() + static_cast<std::ptrdiff_t>(at));
}

void put(Words& words, size_t at, const Digest& digest) {
  const auto w = words_of(digest);
  std::copy(w.begin(), w.end(), words.begin() + static_cast<std::ptrdiff_t>(at));
}

void put_coordinates(Words& words, uint64_t stride, uint64_t i, QM31 value) {
  const auto w = words_of(value);
  for (size_t k = 0; k < 4; ++k) words[k * stride + i] = w[k];
}

Words random_words(Random& rng, size_t n) {
  Words words(n);
  for (uint32_t& w : words) w = static_cast<uint32_t>(rng.below(uint64_t{1} << 32));
  return words;
}

Words random_column(Random& rng, size_t n) {
  const uint64_t kind = rng.below(16);
  if (kind < 2) return Words(n, kind == 0 ? 0 : kP - 1);
  Words words(n);
  for (uint32_t& w : words) w = rng.m31().v;
  return words;
}

std::vector<Digest> random_digests(Random& rng, size_t n) {
  std::vector<Digest> digests(n);
  for (Digest& d : digests) {
    for (uint8_t& byte : d) byte = static_cast<uint8_t>(rng.below(256));
  }
  return digests;
}

void Columns::randomise(Random& rng) {
  for (uint32_t c = 0; c < count; ++c) {
    const Words values_of_column = random_column(rng, rows);
    std::copy(values_of_column.begin(), values_of_column.end(), column(c));
  }
}

std::vector<M31> Columns::values(uint64_t c) const {
  std::vector<M31> out(rows);
  for (uint64_t i = 0; i < rows; ++i) out[i] = M31(column(c)[i]);
  return out;
}

Tables::Tables(uint32_t log_entries)
    : tree(log_entries + 1, all_domains(log_entries + 1)),
      x(size_t{1} << log_entries, 2),
      x_inverse(x),
      y(x),
      y_inverse(x) {
  for (uint32_t k = 0; k < log_entries; ++k) {
    const size_t n = size_t{1} << k;
    const auto copy = [n](const uint32_t* from, Words& to) {
      std::copy_n(from, n, to.begin() + static_cast<std::ptrdiff_t>(n));
    };
    copy(tree.forward(k + 2).layer[1], x);
    copy(tree.inverse(k + 2).layer[1], x_inverse);
    copy(tree.forward(k + 1).layer[0], y);
    copy(tree.inverse(k + 1).layer[0], y_inverse);
  }
}

Words tree_words(const std::vector<std::vector<Digest>>& layers) {
  Words words(8 * (size_t{1} << layers.size()), kPoison);
  for (size_t d = 0; d < layers.size(); ++d) {
    for (size_t i = 0; i < layers[d].size(); ++i) {
      put(words, 8 * ((size_t{1} << d) + i), layers[d][i]);
    }
  }
  return words;
}

}  // namespace stwo::test

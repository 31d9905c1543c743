// CPU references in the layouts that kernels use.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "prover/channel/channel.hpp"
#include "prover/poly/twiddles.hpp"
#include "tests/kernels/support/kernel_test.hpp"

namespace stwo::test {

std::array<uint32_t, 4> words_of(QM31 value);
Words words_of(std::span<const QM31> values);
std::array<uint32_t, 8> words_of(const Digest& digest);
/// Writes a value's four words from word `at` on.
void put(Words& words, size_t at, QM31 value);
void put(Words& words, size_t at, const Digest& digest);
/// Writes a value into row i of four coordinate columns `stride` words apart.
void put_coordinates(Words& words, uint64_t stride, uint64_t i, QM31 value);

/// `n` values that are no field elements: digests, say.
Words random_words(Random& rng, size_t n);
/// Values of a column. A column in eight is all zeros or all P - 1, where sums are largest.
Words random_column(Random& rng, size_t n);
std::vector<Digest> random_digests(Random& rng, size_t n);

/// `count` columns of `rows` values in one buffer; poison before, between and after them.
struct Columns {
  uint64_t first = 0;  ///< word of the first column's first row
  uint64_t stride = 0;
  uint64_t rows = 0;
  uint32_t count = 0;
  Words words;

  Columns(uint64_t first_word, uint64_t stride_words, uint64_t n_rows, uint32_t n_columns)
      : first(first_word),
        stride(stride_words),
        rows(n_rows),
        count(n_columns),
        words(first_word + stride_words * n_columns, kPoison) {}
  uint32_t* column(uint64_t c) { return words.data() + first + c * stride; }
  const uint32_t* column(uint64_t c) const { return words.data() + first + c * stride; }
  void randomise(Random& rng);
  std::vector<M31> values(uint64_t c) const;
};

/// The tables of kernels/tables with 2^log_entries entries, out of the CPU prover's tree.
struct Tables {
  explicit Tables(uint32_t log_entries);
  TwiddleTree tree;  ///< of all domains up to log_entries + 1
  Words x, x_inverse, y, y_inverse;
};
/// The same in device memory.
struct DeviceTables {
  explicit DeviceTables(const Tables& tables)
      : x(DeviceWords::input(std::span<const uint32_t>(tables.x))),
        x_inverse(DeviceWords::input(std::span<const uint32_t>(tables.x_inverse))),
        y(DeviceWords::input(std::span<const uint32_t>(tables.y))),
        y_inverse(DeviceWords::input(std::span<const uint32_t>(tables.y_inverse))) {}
  DeviceWords x, x_inverse, y, y_inverse;
};

/// A tree's digests in the layout of kernels/hash: node i of level d is digest 2^d + i.
Words tree_words(const std::vector<std::vector<Digest>>& layers);

}  // namespace stwo::test

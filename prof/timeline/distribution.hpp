// Percentiles of durations, and the longest of many things.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace prof {

/// Nearest-rank percentiles: each is a value that was measured. Absent without values.
struct Distribution {
  int64_t n = 0;
  int64_t sum_ns = 0;
  std::optional<int64_t> p50_ns;
  std::optional<int64_t> p90_ns;
  std::optional<int64_t> p99_ns;
  std::optional<int64_t> max_ns;
  bool operator==(const Distribution&) const = default;
};

inline Distribution distribution_of(std::vector<int64_t> values) {
  Distribution out;
  out.n = static_cast<int64_t>(values.size());
  if (values.empty()) return out;
  std::sort(values.begin(), values.end());
  for (const int64_t v : values) out.sum_ns += v;
  // The value at position ceil(n * percent / 100), counted from 1.
  const auto at = [&](size_t percent) { return values[(values.size() * percent + 99) / 100 - 1]; };
  out.p50_ns = at(50);
  out.p90_ns = at(90);
  out.p99_ns = at(99);
  out.max_ns = values.back();
  return out;
}

/// The median that is one of the values: of an even number, the smaller of the middle two.
inline std::optional<int64_t> lower_median(std::vector<int64_t> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Keeps the first `limit` of what it is given, in the order of `before`.
template <class T, class Before>
void keep_first(std::vector<T>* kept, T item, size_t limit, Before before) {
  const auto at = std::upper_bound(kept->begin(), kept->end(), item, before);
  if (at == kept->end() && kept->size() >= limit) return;
  kept->insert(at, std::move(item));
  if (kept->size() > limit) kept->pop_back();
}

}  // namespace prof

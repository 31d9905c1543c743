// A value, or the reason why a capture does not give it.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace prof {

/// Holds a value or a reason, never both; the reason is one line without a full stop.
template <class T>
struct Answer {
  std::optional<T> value;
  std::string reason;

  static Answer of(T v) { return {std::move(v), {}}; }
  static Answer unknown(std::string why) { return {std::nullopt, std::move(why)}; }
  explicit operator bool() const { return value.has_value(); }
  const T& operator*() const { return *value; }
  const T* operator->() const { return &*value; }
  bool operator==(const Answer&) const = default;
};

}  // namespace prof

// A value that may be unknown, and then says why.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace prof {

template <class T>
struct Known {
  std::optional<T> value;
  std::string reason;  ///< set exactly when there is no value

  static Known of(T known) { return {std::move(known), ""}; }
  static Known unknown(std::string why) { return {std::nullopt, std::move(why)}; }
  bool has_value() const { return value.has_value(); }
};

}  // namespace prof

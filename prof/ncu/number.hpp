// Numbers as profilers print them in different locales.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace prof {

/// Which mark divides the whole part from the fraction. Groups of three digits are set apart by the
/// other mark, by a space (also a no-break one) or by an apostrophe.
enum class NumberStyle { kPoint, kComma, kUnknown };

/// A value, or why there is none.
struct Number {
  std::optional<double> value;
  std::string reason;  ///< empty exactly if there is a value
};

/// Value of a cell: finite, or a reason: empty, "n/a", "nan", "inf", no number. With kUnknown a
/// cell that means different numbers in the two styles is ambiguous and has no value.
Number parse_number(std::string_view cell, NumberStyle style);

/// The one style in which every number among the cells can be read; kUnknown if the cells fit
/// both, or no style fits them all.
NumberStyle infer_style(std::span<const std::string_view> cells);

}  // namespace prof

// Numbers in sentences.
#pragma once

#include <string>
#include <string_view>

namespace prof {

/// Four significant digits, without an exponent below 10^15: 0.25, 66.56, 1234000.
std::string number_text(double value);
/// With its unit, and for times and bytes with a fitting prefix: "66.56 us", "1.074 GB", "35 %".
std::string quantity_text(double value, std::string_view unit);
/// 0.35 -> "35 %".
std::string percent_text(double fraction);

}  // namespace prof

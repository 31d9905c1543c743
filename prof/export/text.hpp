// Pieces of text that the exports are made of: JSON strings, CSV fields, numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace prof {
/// Takes an export piece by piece, in order.
using TextSink = std::function<void(std::string_view)>;
}  // namespace prof

namespace prof::text {

/// A JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD: names come from programs
/// that may put anything into them, and the file must stay JSON.
std::string json_string(std::string_view text);

/// Shortest decimal that reads back as the same double.
std::string shortest(double value);

/// A field of RFC 4180: quoted if it holds a comma, a quote or a line break.
void append_csv(std::string& line, std::string_view field);

/// part / whole; absent where the whole is not above 0.
std::optional<double> ratio(int64_t part, int64_t whole);

/// "+12.3 %" for 1.123; "-" without a value.
std::string signed_percent(const std::optional<double>& of_ratio);

/// At most `width` bytes: the end of a longer text is replaced by "...", between two characters.
std::string shortened(std::string_view text, size_t width);

}  // namespace prof::text

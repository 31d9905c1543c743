// What a program prints: results to stdout, errors and progress to stderr.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stwo {

/// Writes to stdout at once. Throws EnvironmentError if that fails, e.g. on a full disk.
void print(std::string_view text);

/// Line breaks and control characters replaced, so that an error stays one line.
std::string one_line(std::string_view text);
/// 1234.567 for 1234567 us and so on: milliseconds with three decimals.
std::string format_ms(uint64_t ns);
/// 12 B, 3.4 KiB, 1.2 GiB.
std::string format_bytes(uint64_t bytes);
/// 1234567 -> 1 234 567.
std::string format_count(uint64_t value);
std::string format_percent(uint64_t part, uint64_t whole);
/// Bar of up to `width` characters for part / whole; block characters in UTF-8 locales.
std::string bar(uint64_t part, uint64_t whole, uint32_t width);

/// Rows of cells as aligned columns. Columns whose header starts with '>' are right-aligned.
std::string format_table(const std::vector<std::string>& header,
                         const std::vector<std::vector<std::string>>& rows);

}  // namespace stwo

#include "prover/cli/terminal.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "prover/errors.hpp"

namespace stwo {
namespace {

bool utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    return std::strstr(value, "UTF-8") != nullptr || std::strstr(value, "utf8") != nullptr;
  }
  return false;
}

std::string format_number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    const int error = errno;
    throw EnvironmentError("STDOUT", std::string("standard output: ") + std::strerror(error) +
                                         "; free some space or redirect it elsewhere");
  }
}

std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? ' ' : c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::string format_ms(uint64_t ns) { return format_number("%.3f", static_cast<double>(ns) / 1e6); }

std::string format_bytes(uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  // 1023.95 would be shown as 1024.0.
  while (value >= 1023.95 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return format_number("%.1f ", value) + kUnits[unit];
}

std::string format_count(uint64_t value) {
  std::string digits = std::to_string(value);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, " ");
  return digits;
}

std::string format_percent(uint64_t part, uint64_t whole) {
  if (whole == 0) return "-";
  return format_number("%.1f%%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string bar(uint64_t part, uint64_t whole, uint32_t width) {
  if (whole == 0) return "";
  static const bool utf8 = utf8_locale();
  const double exact =
      static_cast<double>(width) * static_cast<double>(part) / static_cast<double>(whole);
  std::string out;
  if (!utf8) {
    out.assign(static_cast<size_t>(std::lround(exact)), '#');
    return out;
  }
  // Eighths of a character: U+2588 down to U+258F.
  auto eighths = static_cast<uint32_t>(std::lround(exact * 8));
  for (; eighths >= 8; eighths -= 8) out += "\u2588";
  static constexpr const char* kParts[] = {"",       "\u258f", "\u258e", "\u258d",
                                           "\u258c", "\u258b", "\u258a", "\u2589"};
  return out + kParts[eighths];
}

std::string format_table(const std::vector<std::string>& header,
                         const std::vector<std::vector<std::string>>& rows) {
  const size_t n = header.size();
  std::vector<std::string> titles;
  std::vector<bool> right;
  std::vector<size_t> width;
  for (const std::string& h : header) {
    right.push_back(!h.empty() && h[0] == '>');
    titles.push_back(right.back() ? h.substr(1) : h);
    width.push_back(titles.back().size());
  }
  for (const auto& row : rows) {
    STWO_CHECK(row.size() == n, "a table's row has not one cell per column");
    for (size_t c = 0; c < n; ++c) width[c] = std::max(width[c], row[c].size());
  }
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (size_t c = 0; c < n; ++c) {
      if (c != 0) text += "  ";
      const std::string pad(width[c] - std::min(width[c], cells[c].size()), ' ');
      text += right[c] ? pad + cells[c] : cells[c] + pad;
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    out += text + '\n';
  };
  line(titles);
  for (const auto& row : rows) line(row);
  return out;
}

}  // namespace stwo

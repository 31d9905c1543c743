#include "prof/ncu/number.hpp"

#include <cctype>
#include <charconv>
#include <cmath>

#include "prover/cli/terminal.hpp"

namespace prof {
namespace {

constexpr size_t kMaxShown = 40;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string shown(std::string_view cell) {
  const bool is_long = cell.size() > kMaxShown;
  return '"' + stwo::one_line(cell.substr(0, kMaxShown)) + (is_long ? "...\"" : "\"");
}

/// Length of a group mark at the start of `text`; 0: none. `decimal` is never one.
size_t group_mark(std::string_view text, char decimal) {
  constexpr std::string_view kMarks[] = {",",           ".", " ", "'", "\xc2\xa0", "\xe2\x80\xaf",
                                         "\xe2\x80\x99"};
  for (const std::string_view mark : kMarks) {
    if (mark.front() != decimal && text.substr(0, mark.size()) == mark) return mark.size();
  }
  return 0;
}

/// Takes the digits of the whole part, in groups or not. False: groups of the wrong size.
bool take_whole_part(std::string_view* text, char decimal, std::string* plain) {
  std::string_view mark;
  size_t group = 0;
  while (!text->empty()) {
    if (is_digit(text->front())) {
      *plain += text->front();
      text->remove_prefix(1);
      ++group;
      continue;
    }
    const size_t length = group_mark(*text, decimal);
    if (length == 0) break;
    const std::string_view found = text->substr(0, length);
    const bool fits = mark.empty() ? group >= 1 && group <= 3 : found == mark && group == 3;
    if (!fits) return false;
    mark = found;
    text->remove_prefix(length);
    group = 0;
  }
  return mark.empty() || group == 3;
}

std::optional<double> read_number(std::string_view text, char decimal) {
  std::string plain;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    if (text.front() == '-') plain += '-';
    text.remove_prefix(1);
  }
  const size_t sign = plain.size();
  if (!take_whole_part(&text, decimal, &plain)) return std::nullopt;
  bool has_digits = plain.size() > sign;
  if (!text.empty() && text.front() == decimal) {
    plain += '.';
    text.remove_prefix(1);
    for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
      plain += text.front();
      has_digits = true;
    }
  }
  if (!has_digits) return std::nullopt;
  plain += text;  // an exponent, or what makes it no number
  double value = 0;
  const char* end = plain.data() + plain.size();
  const auto [stop, error] = std::from_chars(plain.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool is_no_value(std::string_view text) {
  std::string lower;
  for (const char c : text) {
    lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (!lower.empty() && (lower[0] == '-' || lower[0] == '+')) lower.erase(0, 1);
  return lower == "n/a" || lower == "na" || lower == "nan" || lower == "inf" ||
         lower == "infinity" || lower == "nan(ind)";
}

}  // namespace

Number parse_number(std::string_view cell, NumberStyle style) {
  const std::string_view text = trimmed(cell);
  if (text.empty()) return {std::nullopt, "empty in the report"};
  if (is_no_value(text)) return {std::nullopt, shown(text) + " in the report"};
  const auto point = read_number(text, '.');
  const auto comma = read_number(text, ',');
  if (style == NumberStyle::kUnknown && point && comma && *point != *comma) {
    return {std::nullopt, shown(text) + " in the report has two readings: export with LC_ALL=C"};
  }
  const auto value = style == NumberStyle::kPoint   ? point
                     : style == NumberStyle::kComma ? comma
                     : point                        ? point
                                                    : comma;
  if (!value) return {std::nullopt, shown(text) + " in the report is no number"};
  return {value, ""};
}

NumberStyle infer_style(std::span<const std::string_view> cells) {
  bool only_point = false;
  bool only_comma = false;
  for (const std::string_view cell : cells) {
    const std::string_view text = trimmed(cell);
    const bool point = read_number(text, '.').has_value();
    const bool comma = read_number(text, ',').has_value();
    only_point = only_point || (point && !comma);
    only_comma = only_comma || (comma && !point);
  }
  if (only_point == only_comma) return NumberStyle::kUnknown;
  return only_point ? NumberStyle::kPoint : NumberStyle::kComma;
}

}  // namespace prof

#include "prof/diagnose/text.hpp"

#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

namespace prof {
namespace {

constexpr int kDigits = 4;

std::string scaled(double value, const std::pair<double, const char*>* units, size_t count) {
  size_t i = 0;
  while (i + 1 < count && std::fabs(value) >= units[i + 1].first) ++i;
  return number_text(value / units[i].first) + ' ' + units[i].second;
}

}  // namespace

std::string number_text(double value) {
  if (!std::isfinite(value)) return "unknown";
  char text[400];
  const double size = std::fabs(value);
  if (size != 0 && (size < 1e-6 || size >= 1e15)) {
    const auto end = std::to_chars(std::begin(text), std::end(text), value,
                                   std::chars_format::scientific, kDigits - 1)
                         .ptr;
    return {text, end};
  }
  // Rounded to significant digits first, so that large numbers do not feign more.
  const int exponent = size == 0 ? 0 : static_cast<int>(std::floor(std::log10(size)));
  const int decimals = std::max(0, kDigits - 1 - exponent);
  double rounded = value;
  if (exponent >= kDigits) {
    const double step = std::pow(10.0, exponent - kDigits + 1);
    rounded = std::round(value / step) * step;
  }
  const auto end =
      std::to_chars(std::begin(text), std::end(text), rounded, std::chars_format::fixed, decimals)
          .ptr;
  std::string out(text, end);
  if (out.find('.') != std::string::npos) {
    while (out.back() == '0') out.pop_back();
    if (out.back() == '.') out.pop_back();
  }
  return out == "-0" ? "0" : out;
}

std::string quantity_text(double value, std::string_view unit) {
  static constexpr std::pair<double, const char*> kTimes[] = {
      {1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
  static constexpr std::pair<double, const char*> kBytes[] = {
      {1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}};
  static constexpr std::pair<double, const char*> kRates[] = {
      {1, "B/s"}, {1e3, "kB/s"}, {1e6, "MB/s"}, {1e9, "GB/s"}, {1e12, "TB/s"}};
  if (unit == "ns") return scaled(value, kTimes, std::size(kTimes));
  if (unit == "byte") return scaled(value, kBytes, std::size(kBytes));
  if (unit == "byte/s") return scaled(value, kRates, std::size(kRates));
  if (unit.empty() || unit == "count") return number_text(value);
  return number_text(value) + ' ' + std::string(unit);
}

std::string percent_text(double fraction) { return number_text(fraction * 100) + " %"; }

}  // namespace prof

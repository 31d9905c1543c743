#include "prof/export/text.hpp"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "prover/cli/terminal.hpp"

namespace prof::text {

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string shortest(double value) { return nlohmann::json(value).dump(); }

void append_csv(std::string& line, std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
    line += field;
    return;
  }
  line += '"';
  for (const char c : field) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

std::optional<double> ratio(int64_t part, int64_t whole) {
  if (whole <= 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

std::string signed_percent(const std::optional<double>& of_ratio) {
  if (!of_ratio) return "-";
  std::array<char, 400> buffer{};
  // Rounded first: "-0.0 %" would look like a change.
  double percent = (*of_ratio - 1) * 100;
  if (percent > -0.05 && percent < 0.05) percent = 0;
  const int n = std::snprintf(buffer.data(), buffer.size(), "%+.1f %%", percent);
  return std::string(buffer.data(), static_cast<size_t>(n));
}

std::string shortened(std::string_view text, size_t width) {
  std::string out = stwo::one_line(text);
  if (out.size() <= width) return out;
  size_t end = width < 3 ? 0 : width - 3;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xc0) == 0x80) --end;
  return out.substr(0, end) + "...";
}

}  // namespace prof::text

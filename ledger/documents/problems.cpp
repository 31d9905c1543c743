#include "ledger/documents/problems.hpp"

namespace ledger::documents {
namespace {

constexpr size_t kMaxShownBytes = 120;

/// Cuts UTF-8 between characters.
std::string cut(std::string text) {
  if (text.size() <= kMaxShownBytes) return text;
  size_t end = kMaxShownBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text + "...";
}

}  // namespace

void Problems::add(std::string code, std::string path, std::string message) {
  if (!full()) problems_.push_back({std::move(code), std::move(path), std::move(message)});
}

std::string pointer_token(std::string_view key) {
  std::string out;
  for (const char c : cut(std::string(key.substr(0, 2 * kMaxShownBytes)))) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    }
  }
  return out;
}

std::string at_index(std::string_view path, size_t index) {
  return std::string(path) + '/' + std::to_string(index);
}

std::string shown(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  if (value.is_string()) {
    // Escapes make the text six times as long at most.
    const Json start = cut(value.get_ref<const std::string&>());
    return start.dump(-1, ' ', true);
  }
  return value.dump();
}

std::string shown_name(std::string_view name) {
  return cut(std::string(name.substr(0, 2 * kMaxShownBytes)));
}

}  // namespace ledger::documents

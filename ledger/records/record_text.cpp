#include "ledger/records/record_text.hpp"

#include <algorithm>
#include <cstdint>

#include "prover/errors.hpp"

namespace ledger {
namespace {

constexpr std::string_view kSpace = " \t\n";

/// Calls `use` with every line, without newlines.
template <class Use>
void for_each_line(std::string_view text, Use use) {
  while (true) {
    const size_t end = text.find('\n');
    use(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

/// Bytes of the UTF-8 character that begins `text`; 0: it is none.
size_t character_size(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what lies beyond the last character.
  const uint8_t second = byte(1);
  if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
      (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f)) {
    return 0;
  }
  return size;
}

void require_characters(std::string_view text, const std::string& what) {
  for (size_t at = 0; at < text.size();) {
    const size_t size = character_size(text.substr(at));
    if (size == 0) {
      throw stwo::UsageError("RECORD_TEXT", what + " is not UTF-8 at byte " + std::to_string(at) +
                                                "; save it as UTF-8");
    }
    const auto byte = static_cast<uint8_t>(text[at]);
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f) {
      throw stwo::UsageError("RECORD_TEXT", what + " has a control character at byte " +
                                                std::to_string(at) + "; take it out");
    }
    at += size;
  }
}

std::string with_line_feeds(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    out += text[i];
  }
  return out;
}

/// A heading, or one with backslashes before it.
bool is_escapable(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of('\\'), line.size()));
  return is_heading(line);
}

/// Rebuilds a text line by line; `change` sees the lines that are no code.
template <class Change>
std::string map_lines(std::string_view text, Change change) {
  std::string out;
  FenceTracker fence;
  bool first = true;
  for_each_line(text, [&](std::string_view line) {
    if (!first) out += '\n';
    first = false;
    if (fence.feed(line) || !is_escapable(line)) {
      out += line;
    } else {
      out += change(line);
    }
  });
  return out;
}

}  // namespace

bool FenceTracker::feed(std::string_view line) {
  const size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const std::string_view rest = line.substr(indent);
  const char mark = rest.empty() ? '\0' : rest[0];
  const size_t run =
      mark == '`' || mark == '~' ? std::min(rest.find_first_not_of(mark), rest.size()) : size_t{0};
  constexpr size_t kShortestFence = 3;
  constexpr size_t kMostIndent = 3;
  const bool is_fence = run >= kShortestFence && indent <= kMostIndent;
  const std::string_view info = rest.substr(run);
  if (is_open()) {
    const bool closes = is_fence && mark == mark_ && run >= length_ &&
                        info.find_first_not_of(" \t") == std::string_view::npos;
    if (closes) length_ = 0;
    return true;
  }
  // Backticks after backticks: code within a line.
  if (!is_fence || (mark == '`' && info.find('`') != std::string_view::npos)) return false;
  mark_ = mark;
  length_ = run;
  return true;
}

bool is_heading(std::string_view line) {
  return line.starts_with("##") && (line.size() == 2 || line[2] == ' ' || line[2] == '\t');
}

std::string record_text(std::string_view text, const std::string& what) {
  std::string out = with_line_feeds(text);
  require_characters(out, what);
  const size_t end = out.find_last_not_of(kSpace);
  if (end == std::string::npos) return "";
  out.resize(end + 1);
  // Whole empty lines go; the indentation of the first line may mean something.
  const size_t begin = out.find_first_not_of(kSpace);
  const size_t line_begin = out.rfind('\n', begin);
  if (line_begin != std::string::npos) out.erase(0, line_begin + 1);
  if (out.size() > kMaxRecordText) {
    throw stwo::UsageError("RECORD_TEXT", what + " has " + std::to_string(out.size()) +
                                              " bytes (at most " + std::to_string(kMaxRecordText) +
                                              " fit); link an artifact instead");
  }
  FenceTracker fence;
  size_t line_number = 0;
  size_t opened = 0;
  for_each_line(out, [&](std::string_view line) {
    ++line_number;
    const bool was_open = fence.is_open();
    fence.feed(line);
    if (!was_open && fence.is_open()) opened = line_number;
  });
  if (fence.is_open()) {
    throw stwo::UsageError("RECORD_TEXT", what + ": the code fence opened in its line " +
                                              std::to_string(opened) +
                                              " is never closed; close it");
  }
  return out;
}

std::string record_line(std::string_view text, const std::string& what) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  const size_t end = text.find_last_not_of(" \t\r\n");
  std::string out(text.substr(begin, end + 1 - begin));
  if (out.find('\n') != std::string::npos) {
    throw stwo::UsageError("RECORD_TEXT", what + " has more than one line; write it in one");
  }
  if (out.size() > kMaxRecordLine) {
    throw stwo::UsageError("RECORD_TEXT", what + " has " + std::to_string(out.size()) +
                                              " bytes (at most " + std::to_string(kMaxRecordLine) +
                                              " fit); shorten it");
  }
  require_characters(out, what);
  return out;
}

std::string escape_headings(std::string_view text) {
  return map_lines(text, [](std::string_view line) { return "\\" + std::string(line); });
}

std::string unescape_headings(std::string_view text) {
  return map_lines(text, [](std::string_view line) {
    return std::string(line.starts_with('\\') ? line.substr(1) : line);
  });
}

}  // namespace ledger

// Free text inside record.md. A line that begins with "## " ends a section, unless it lies in a
// fenced code block; in a field's own text such a line is written with a backslash before it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ledger {

/// Follows fenced code blocks (CommonMark: ``` or ~~~, indented by at most three spaces) line by
/// line.
class FenceTracker {
 public:
  /// Takes the next line, without its newline. True: the line is code, or opens or closes it.
  bool feed(std::string_view line);
  bool is_open() const { return length_ != 0; }

 private:
  char mark_ = 0;
  size_t length_ = 0;  ///< of the opening fence; 0: outside
};

/// Does the line begin a section, outside code? "##" at the line's first column, then a space, a
/// tab or nothing.
bool is_heading(std::string_view line);

/// A text as records keep it: line feeds only, no empty lines before it and no white space after
/// it. `what` names it in messages. Throws UsageError RECORD_TEXT: it is no UTF-8, has control
/// characters, is longer than kMaxRecordText, or opens a code fence and does not close it.
std::string record_text(std::string_view text, const std::string& what);
/// The same for what has to stay in one line; may be empty.
std::string record_line(std::string_view text, const std::string& what);

inline constexpr size_t kMaxRecordText = size_t{1} << 18;
inline constexpr size_t kMaxRecordLine = 300;

/// A kept text as it stands in the file, and back.
std::string escape_headings(std::string_view text);
std::string unescape_headings(std::string_view text);

}  // namespace ledger

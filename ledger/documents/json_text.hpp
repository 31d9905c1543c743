// From untrusted text to a JSON value. Internal to the folder.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ledger/documents/problems.hpp"

namespace ledger::documents {

/// Arrays and objects inside each other.
inline constexpr int kMaxDepth = 32;
/// Values of any kind. Text of the largest size with nothing but digits and commas would take
/// gigabytes.
inline constexpr size_t kMaxValues = 4'000'000;

struct ParsedText {
  Json json;
  /// Paths of keys given a second time; at most kMaxProblems. Such a key has one of its values.
  std::vector<std::string> duplicates;
};

/// Unset, with one problem added, for text that is too large, has too many values, is nested too
/// deeply, not JSON in UTF-8, or has a number without a finite value or a string with U+0000. Does
/// not recurse.
std::optional<ParsedText> parse_text(std::string_view text, Problems& problems);

}  // namespace ledger::documents

// Problems of one text, and how values and keys are shown in them. Internal to the folder.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ledger/documents/document.hpp"

namespace ledger::documents {

/// Holds the first kMaxProblems: a hostile text must not cost more memory than its size explains.
class Problems {
 public:
  void add(std::string code, std::string path, std::string message);
  bool empty() const { return problems_.empty(); }
  bool full() const { return problems_.size() >= kMaxProblems; }
  std::vector<Problem> take() { return std::move(problems_); }

 private:
  std::vector<Problem> problems_;
};

/// One token of a JSON pointer, escaped. Control characters become '?', long keys are cut.
std::string pointer_token(std::string_view key);
/// `path` followed by an array index.
std::string at_index(std::string_view path, size_t index);
/// A value as messages show it: ASCII, one line, cut when long; "an object", "an array".
std::string shown(const Json& value);
/// A name that has passed the form check, cut when long.
std::string shown_name(std::string_view name);

}  // namespace ledger::documents

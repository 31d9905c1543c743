// Which keys a document has, and what stands under each: tables of rules, and the check that a
// value keeps them. Internal to the folder.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ledger/documents/problems.hpp"

namespace ledger::documents {

enum class Type : uint8_t {
  kObject,
  kArray,
  kBool,
  kUint,    ///< 0..2^63-1, written without fraction or exponent
  kReal,    ///< any finite number
  kText,    ///< any string
  kName,    ///< a string that is not empty and has no control characters
  kChoice,  ///< one of a closed list
  kSha256,  ///< 64 lowercase hex digits
  kUtc,     ///< YYYY-MM-DDTHH:MM:SS[.fff]Z, a day that exists
  kUlid,    ///< 26 characters of Crockford's base 32, upper case
  kCode,    ///< UPPER_SNAKE
};

inline constexpr uint64_t kMaxInteger = INT64_MAX;

/// One key of a schema. In `path`, '*' stands for any array index or any key.
struct Rule {
  std::string_view path;
  Type type;
  std::span<const std::string_view> choices = {};
  /// Bounds of a kUint, of the length of a kArray.
  uint64_t min = 0;
  uint64_t max = kMaxInteger;
  bool is_nullable = false;
};

constexpr Rule object(std::string_view path) { return {path, Type::kObject}; }
constexpr Rule array(std::string_view path, uint64_t min = 0, uint64_t max = kMaxInteger) {
  return {path, Type::kArray, {}, min, max};
}
constexpr Rule boolean(std::string_view path) { return {path, Type::kBool}; }
constexpr Rule uint(std::string_view path, uint64_t min = 0, uint64_t max = kMaxInteger) {
  return {path, Type::kUint, {}, min, max};
}
constexpr Rule real(std::string_view path) { return {path, Type::kReal}; }
constexpr Rule text(std::string_view path) { return {path, Type::kText}; }
constexpr Rule name(std::string_view path) { return {path, Type::kName}; }
constexpr Rule choice(std::string_view path, std::span<const std::string_view> choices) {
  return {path, Type::kChoice, choices};
}
constexpr Rule sha256(std::string_view path) { return {path, Type::kSha256}; }
constexpr Rule utc(std::string_view path) { return {path, Type::kUtc}; }
constexpr Rule ulid(std::string_view path) { return {path, Type::kUlid}; }
constexpr Rule code(std::string_view path) { return {path, Type::kCode}; }
constexpr Rule nullable(Rule rule) {
  rule.is_nullable = true;
  return rule;
}

class DocumentSchema {
 public:
  /// The root is an object. Rules come after those of the objects and arrays they lie in.
  explicit DocumentSchema(std::span<const Rule> rules) { add("", rules); }
  /// Adds `rules` below the path `prefix`. Throws ContractError if the table is not well-formed.
  DocumentSchema&& add(std::string_view prefix, std::span<const Rule> rules) &&;

  /// Adds a problem for every key that is missing or unknown and every value of the wrong form.
  void check(const Json& root, Problems& problems) const;

 private:
  struct Node {
    Rule rule;
    std::map<std::string, std::unique_ptr<Node>, std::less<>> keys;
    std::unique_ptr<Node> any;  ///< what '*' stands for
  };
  class Walk;
  void add(std::string_view prefix, std::span<const Rule> rules) &;
  std::unique_ptr<Node>& slot(std::string_view path);

  Node root_{object(""), {}, nullptr};
};

}  // namespace ledger::documents

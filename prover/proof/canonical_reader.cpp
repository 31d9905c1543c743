#include "prover/proof/canonical_reader.hpp"

#include <cstdio>

#include "prover/errors.hpp"

namespace stwo {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_word(char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '_'; }

std::string quoted_byte(char c) {
  if (c > ' ' && c <= '~') return std::string("'") + c + "'";
  char text[16];
  std::snprintf(text, sizeof text, "byte 0x%02x", static_cast<unsigned char>(c));
  return text;
}

constexpr const char* kCopyMend = "; get an unchanged copy of the file";
constexpr const char* kWriterMend =
    "; write the file with `stwo prove` or with the same compact form";

const char* mend_of(std::string_view code) {
  return code == "PROOF_TRUNCATED" || code == "PROOF_VALUE" ? kCopyMend : kWriterMend;
}

}  // namespace

std::string CanonicalReader::path() const {
  std::string text(root_);
  for (size_t i = 0; i < depth_; ++i) {
    if (path_[i].is_index) {
      text += '[' + std::to_string(path_[i].index) + ']';
    } else {
      if (!text.empty()) text += '.';
      text += path_[i].key;
    }
  }
  return text.empty() ? "file" : text;
}

void CanonicalReader::fail_at(size_t offset, const char* code, const std::string& what) const {
  throw FormatError(code,
                    path() + " at byte " + std::to_string(offset) + ": " + what + mend_of(code));
}

void CanonicalReader::fail(const char* code, const std::string& what) const {
  fail_at(at_, code, what);
}

void CanonicalReader::fail_truncated() const {
  fail_at(bytes_.size(), "PROOF_TRUNCATED",
          "the data ends here, after " + std::to_string(bytes_.size()) + " bytes");
}

void CanonicalReader::fail_length(size_t n) const {
  fail("PROOF_VALUE", "expected exactly " + std::to_string(n) + " elements");
}

std::string CanonicalReader::found() const { return quoted_byte(bytes_[at_]); }

void CanonicalReader::fail_unexpected(const char* code, const std::string& expected) const {
  if (at_ >= bytes_.size()) fail_truncated();
  if (is_space(bytes_[at_])) {
    fail("PROOF_NONCANONICAL", "white space (" + found() + "); the compact form has none");
  }
  fail(code, "expected " + expected + ", found " + found());
}

void CanonicalReader::push(PathElement element) {
  STWO_CHECK(depth_ < path_.size(), "the format nests deeper than the path holds");
  path_[depth_++] = element;
}

bool CanonicalReader::try_literal(std::string_view text) {
  if (bytes_.substr(at_, text.size()) != text) {
    // A proper prefix at the very end is a cut, not another value.
    const std::string_view rest = bytes_.substr(at_);
    if (rest.size() < text.size() && text.substr(0, rest.size()) == rest) fail_truncated();
    return false;
  }
  at_ += text.size();
  return true;
}

void CanonicalReader::begin_object() {
  if (peek() != '{') fail_unexpected(depth_ == 0 ? "PROOF_SYNTAX" : "PROOF_VALUE", "an object");
  ++at_;
  first_field_ = true;
}

std::string_view CanonicalReader::key_at(size_t offset) const {
  constexpr size_t kLongest = 64;
  if (offset >= bytes_.size() || bytes_[offset] != '"') return {};
  const size_t close = bytes_.substr(0, offset + kLongest).find('"', offset + 1);
  if (close == std::string_view::npos) return {};
  const std::string_view key = bytes_.substr(offset + 1, close - offset - 1);
  for (const char c : key) {
    if (!is_word(c)) return {};
  }
  return key;
}

void CanonicalReader::begin_field(std::string_view key) {
  if (peek() == '}') fail("PROOF_FIELD", "key \"" + std::string(key) + "\" is missing");
  if (!first_field_) {
    if (peek() != ',') fail_unexpected("PROOF_SYNTAX", "',' or '}'");
    ++at_;
  } else if (peek() == ',') {
    fail_unexpected("PROOF_SYNTAX", "a key");
  }
  if (peek() != '"') fail_unexpected("PROOF_SYNTAX", "key \"" + std::string(key) + "\"");
  const size_t begin = at_;
  ++at_;
  if (!try_literal(key) || peek() != '"') {
    at_ = begin;
    const std::string_view other = key_at(begin);
    fail("PROOF_FIELD", "expected key \"" + std::string(key) + "\"" +
                            (other.empty() ? std::string(", found another one")
                                           : ", found \"" + std::string(other) + "\""));
  }
  ++at_;
  if (peek() != ':') fail_unexpected("PROOF_SYNTAX", "':'");
  ++at_;
  push({key, 0, false});
  first_field_ = false;
}

bool CanonicalReader::next_field(std::string_view* key, size_t max_length) {
  if (peek() == '}') return false;
  if (!first_field_) {
    if (peek() != ',') fail_unexpected("PROOF_SYNTAX", "',' or '}'");
    ++at_;
  }
  *key = word(max_length);
  if (peek() != ':') fail_unexpected("PROOF_SYNTAX", "':'");
  ++at_;
  push({*key, 0, false});
  first_field_ = false;
  return true;
}

void CanonicalReader::end_object() {
  if (peek() == ',') {
    const std::string_view key = key_at(at_ + 1);
    fail("PROOF_FIELD", key.empty() ? std::string("unexpected further key")
                                    : "unexpected further key \"" + std::string(key) + "\"");
  }
  if (peek() != '}') fail_unexpected("PROOF_SYNTAX", "'}'");
  ++at_;
  // Whatever object encloses this one has a field behind it: this one.
  first_field_ = false;
}

void CanonicalReader::begin_array() {
  if (peek() != '[') fail_unexpected("PROOF_VALUE", "an array");
  ++at_;
}

bool CanonicalReader::another_element() {
  const char c = peek();
  if (c != ',' && c != ']') fail_unexpected("PROOF_SYNTAX", "',' or ']'");
  ++at_;
  return c == ',';
}

uint64_t CanonicalReader::number(uint64_t max) {
  const size_t begin = at_;
  if (!is_digit(peek())) fail_unexpected("PROOF_VALUE", "a whole number");
  uint64_t value = 0;
  bool too_large = false;
  while (at_ < bytes_.size() && is_digit(bytes_[at_])) {
    const auto digit = static_cast<uint64_t>(bytes_[at_] - '0');
    too_large |= value > (max - (digit < max ? digit : max)) / 10 || digit > max;
    if (!too_large) value = value * 10 + digit;
    ++at_;
  }
  if (bytes_[begin] == '0' && at_ - begin > 1) {
    fail_at(begin, "PROOF_NONCANONICAL", "a number with leading zeros");
  }
  if (too_large) {
    std::string text(bytes_.substr(begin, at_ - begin < 24 ? at_ - begin : 24));
    if (at_ - begin > 24) text += "...";
    fail_at(begin, "PROOF_VALUE", "value " + text + " is above " + std::to_string(max));
  }
  if (at_ < bytes_.size() && (bytes_[at_] == '.' || bytes_[at_] == 'e' || bytes_[at_] == 'E')) {
    fail_at(begin, "PROOF_NONCANONICAL", "a number with a fraction or exponent");
  }
  return value;
}

bool CanonicalReader::boolean() {
  peek();
  if (try_literal("true")) return true;
  if (try_literal("false")) return false;
  fail_unexpected("PROOF_VALUE", "true or false");
}

bool CanonicalReader::null() { return peek() == 'n' && try_literal("null"); }

std::string_view CanonicalReader::word(size_t max_length) {
  if (peek() != '"') fail_unexpected("PROOF_VALUE", "a string");
  ++at_;
  const size_t begin = at_;
  while (is_word(peek())) {
    ++at_;
    if (at_ - begin > max_length) {
      fail_at(begin, "PROOF_VALUE",
              "a name longer than " + std::to_string(max_length) + " characters");
    }
  }
  if (bytes_[at_] != '"') {
    fail("PROOF_VALUE", "expected a character of a-z, 0-9 or _, found " + found());
  }
  if (at_ == begin) fail("PROOF_VALUE", "an empty name");
  ++at_;
  return slice(begin, at_ - 1);
}

void CanonicalReader::end(bool allow_newline) {
  if (allow_newline && at_ + 1 == bytes_.size() && bytes_[at_] == '\n') ++at_;
  if (at_ != bytes_.size()) {
    fail("PROOF_NONCANONICAL",
         std::to_string(bytes_.size() - at_) + " more bytes after the end of the object");
  }
}

}  // namespace stwo

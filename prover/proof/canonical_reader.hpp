// Reads JSON of which exactly one byte sequence is accepted per value: no white space, fixed key
// order, plain decimal integers. A proof then has one encoding, and equal digests mean equal
// proofs. Works on untrusted bytes: never recurses, never reads past the end, and allocates nothing
// itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stwo {

/// Cursor over canonical JSON with the path of what is being read. All methods throw FormatError:
///   PROOF_TRUNCATED     the bytes end inside the value
///   PROOF_NONCANONICAL  white space, leading zeros, fractions, bytes after the end
///   PROOF_FIELD         a key is unknown, missing, repeated or out of order
///   PROOF_VALUE         a value has the wrong type or lies outside its range
///   PROOF_SYNTAX        anything else that isn't the expected JSON
class CanonicalReader {
 public:
  /// Keys and characters are views of `bytes` or literals and must outlive the reader.
  explicit CanonicalReader(std::string_view bytes, std::string_view root)
      : bytes_(bytes), root_(root) {}

  size_t offset() const { return at_; }
  std::string_view slice(size_t begin, size_t end) const {
    return bytes_.substr(begin, end - begin);
  }

  void begin_object();
  /// Expects the key as the next one of the object and makes it the current path element.
  void begin_field(std::string_view key);
  void end_field() { --depth_; }
  void end_object();

  /// Calls element(index) for every element of an array.
  template <class Element>
  void array(Element&& element) {
    begin_array();
    if (peek() == ']') {
      ++at_;
      return;
    }
    push({{}, 0, true});
    for (;;) {
      element(path_[depth_ - 1].index);
      ++path_[depth_ - 1].index;
      if (!another_element()) break;
    }
    --depth_;
  }
  /// Calls element(index) for exactly n elements.
  template <class Element>
  void fixed_array(size_t n, Element&& element) {
    size_t seen = 0;
    array([&](size_t i) {
      if (i >= n) fail_length(n);
      element(i);
      seen = i + 1;
    });
    if (seen != n) fail_length(n);
  }

  /// A whole number in [0, max].
  uint64_t number(uint64_t max);
  bool boolean();
  /// True and consumed if the next value is null.
  bool null();
  /// A string of 1..max_length characters out of [a-z0-9_].
  std::string_view word(size_t max_length);
  /// If the object goes on: reads the next key (as word()), makes it the current path element and
  /// returns true.
  bool next_field(std::string_view* key, size_t max_length);
  /// Everything has been read; one trailing newline is allowed if asked for.
  void end(bool allow_newline);

  [[noreturn]] void fail(const char* code, const std::string& what) const;
  [[noreturn]] void fail_at(size_t offset, const char* code, const std::string& what) const;
  /// Path of the value being read, like proof.commitments[2][31].
  std::string path() const;

 private:
  struct PathElement {
    std::string_view key;
    size_t index = 0;
    bool is_index = false;
  };

  /// Next byte, or fails as truncated.
  char peek() const {
    if (at_ >= bytes_.size()) fail_truncated();
    return bytes_[at_];
  }
  void push(PathElement element);
  void begin_array();
  bool another_element();
  bool try_literal(std::string_view text);
  std::string_view key_at(size_t offset) const;
  std::string found() const;
  [[noreturn]] void fail_truncated() const;
  [[noreturn]] void fail_length(size_t n) const;
  [[noreturn]] void fail_unexpected(const char* code, const std::string& expected) const;

  std::string_view bytes_;
  std::string_view root_;
  size_t at_ = 0;
  /// Is the next field of the current object its first?
  bool first_field_ = true;
  size_t depth_ = 0;
  std::array<PathElement, 16> path_{};
};

}  // namespace stwo

// How values become the payload of a frame: every field in the order of log_fields.hpp. Whole
// numbers are LEB128 (signed ones zigzag), texts and byte strings have their length in front, an
// optional value has a byte 0 or 1 in front.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ledger/trace/trace_rows.hpp"

namespace prof {

/// The values of an enum that a log holds, from kFirst to kLast.
template <class T>
struct EnumRange;

/// Appends values to a byte string.
class Encoder {
 public:
  template <class T>
  using Ref = const T&;

  explicit Encoder(std::vector<uint8_t>& out) : out_(out) {}

  template <class T>
  void operator()(const T& value) {
    put(value);
  }

 private:
  void put(bool value) { out_.push_back(value ? 1 : 0); }
  void put(uint64_t value) {
    while (value >= 0x80) {
      out_.push_back(static_cast<uint8_t>(value | 0x80));
      value >>= 7;
    }
    out_.push_back(static_cast<uint8_t>(value));
  }
  void put(int64_t value) {
    put((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
  }
  template <class T>
  requires std::is_enum_v<T>
  void put(T value) { out_.push_back(static_cast<uint8_t>(value)); }
  void put(const std::string& text) {
    put(static_cast<uint64_t>(text.size()));
    out_.insert(out_.end(), text.begin(), text.end());
  }
  void put(const std::vector<uint8_t>& bytes) {
    put(static_cast<uint64_t>(bytes.size()));
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }
  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  void put(const std::map<int64_t, int64_t>& values) {
    put(static_cast<uint64_t>(values.size()));
    for (const auto& [key, value] : values) {
      put(key);
      put(value);
    }
  }

  std::vector<uint8_t>& out_;
};

/// Takes values from bytes of unknown origin. After the first value that is not there or not in its
/// one canonical form, everything fails.
class Decoder {
 public:
  template <class T>
  using Ref = T&;

  explicit Decoder(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  template <class T>
  void operator()(T& value) {
    get(value);
  }
  /// Were all values good and all bytes used?
  bool done() const { return good_ && at_ == bytes_.size(); }

 private:
  uint8_t byte() {
    if (!good_ || at_ == bytes_.size()) {
      good_ = false;
      return 0;
    }
    return bytes_[at_++];
  }
  void get(bool& value) {
    const uint8_t b = byte();
    if (b > 1) good_ = false;
    value = b == 1;
  }
  void get(uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const uint8_t b = byte();
      value |= static_cast<uint64_t>(b & 0x7f) << shift;
      if ((b & 0x80) == 0) {
        // The tenth byte has room for one bit; a last byte of 0 would be a longer form.
        if ((shift == 63 && b > 1) || (shift > 0 && b == 0)) good_ = false;
        return;
      }
    }
    good_ = false;
  }
  void get(int64_t& value) {
    uint64_t bits = 0;
    get(bits);
    value = static_cast<int64_t>((bits >> 1) ^ (~(bits & 1) + 1));
  }
  template <class T>
  requires std::is_enum_v<T>
  void get(T& value) {
    const uint8_t b = byte();
    if (b < EnumRange<T>::kFirst || b > EnumRange<T>::kLast) good_ = false;
    if (good_) value = static_cast<T>(b);
  }
  std::span<const uint8_t> take() {
    uint64_t size = 0;
    get(size);
    if (!good_ || size > bytes_.size() - at_) {
      good_ = false;
      return {};
    }
    const auto out = bytes_.subspan(at_, static_cast<size_t>(size));
    at_ += out.size();
    return out;
  }
  void get(std::string& text) {
    const auto bytes = take();
    text.assign(bytes.begin(), bytes.end());
  }
  void get(std::vector<uint8_t>& out) {
    const auto bytes = take();
    out.assign(bytes.begin(), bytes.end());
  }
  template <class T>
  void get(std::optional<T>& value) {
    bool present = false;
    get(present);
    value.reset();
    if (good_ && present) get(value.emplace());
  }
  void get(std::map<int64_t, int64_t>& values) {
    uint64_t size = 0;
    get(size);
    values.clear();
    for (uint64_t i = 0; good_ && i < size; ++i) {
      int64_t key = 0;
      int64_t value = 0;
      get(key);
      get(value);
      if (!values.empty() && key <= values.rbegin()->first) good_ = false;
      values[key] = value;
    }
  }

  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  bool good_ = true;
};

}  // namespace prof

#include "ledger/records/record_time.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

#include "ledger/store/ledger.hpp"
#include "prover/errors.hpp"
#include "prover/hash/sha256.hpp"

namespace ledger {
namespace {

constexpr std::string_view kCrockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr size_t kTimeCharacters = 10;    // 48 bits in 5-bit characters, two bits unused
constexpr size_t kRandomCharacters = 16;  // 80 bits

/// The number that `width` digits make.
int digits_at(std::string_view text, size_t at, size_t width) {
  int value = 0;
  for (const char c : text.substr(at, width)) value = value * 10 + (c - '0');
  return value;
}

}  // namespace

std::optional<int64_t> utc_milliseconds(std::string_view text) {
  constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd.dddZ";
  if (text.size() != kShape.size()) return std::nullopt;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (kShape[i] == 'd' ? !is_digit : text[i] != kShape[i]) return std::nullopt;
  }
  using namespace std::chrono;
  const year_month_day day{year(digits_at(text, 0, 4)),
                           month(static_cast<unsigned>(digits_at(text, 5, 2))),
                           std::chrono::day(static_cast<unsigned>(digits_at(text, 8, 2)))};
  const int h = digits_at(text, 11, 2);
  const int m = digits_at(text, 14, 2);
  const int s = digits_at(text, 17, 2);
  if (!day.ok() || day.year() < year(1970) || h > 23 || m > 59 || s > 59) return std::nullopt;
  const auto time =
      sys_days(day) + hours(h) + minutes(m) + seconds(s) + milliseconds(digits_at(text, 20, 3));
  return duration_cast<milliseconds>(time.time_since_epoch()).count();
}

std::string utc_text(int64_t ms) {
  using namespace std::chrono;
  const sys_time<milliseconds> time{milliseconds(ms)};
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  char text[64];
  std::snprintf(
      text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
      static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return text;
}

std::string time_after(std::string_view last) {
  std::string now = utc_now();
  if (now > last) return now;
  const auto ms = utc_milliseconds(last);
  STWO_CHECK(ms.has_value(), "a row without a time");
  return utc_text(*ms + 1);
}

std::string derived_ulid(int64_t ms, std::string_view content) {
  stwo::Sha256 hash;
  hash.update(content);
  const std::array<uint8_t, 32> digest = hash.finalize();
  std::string out;
  for (size_t i = 0; i < kTimeCharacters; ++i) {
    const size_t shift = 5 * (kTimeCharacters - 1 - i);
    out += kCrockford[(static_cast<uint64_t>(ms) >> shift) & 31];
  }
  for (size_t i = 0; i < kRandomCharacters; ++i) {
    unsigned value = 0;
    for (size_t bit = 5 * i; bit < 5 * i + 5; ++bit) {
      value = value << 1 | (static_cast<unsigned>(digest[bit / 8]) >> (7 - bit % 8) & 1);
    }
    out += kCrockford[value];
  }
  return out;
}

int64_t ulid_milliseconds(std::string_view ulid) {
  STWO_CHECK(is_ulid(ulid), "no ULID");
  int64_t ms = 0;
  for (const char c : ulid.substr(0, kTimeCharacters)) {
    ms = ms << 5 | static_cast<int64_t>(kCrockford.find(c));
  }
  return ms;
}

}  // namespace ledger

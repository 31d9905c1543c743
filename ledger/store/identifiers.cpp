// ULIDs and times of day.

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <mutex>

#include "ledger/store/ledger.hpp"

namespace ledger {
namespace {

constexpr std::string_view kCrockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr size_t kUlidLength = 26;

struct Moment {
  uint64_t ms = 0;
};

Moment now() {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME, &t);
  return {static_cast<uint64_t>(t.tv_sec) * 1000 + static_cast<uint64_t>(t.tv_nsec) / 1'000'000};
}

}  // namespace

std::string utc_now() {
  const uint64_t ms = now().ms;
  const auto seconds = static_cast<time_t>(ms / 1000);
  tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[40];
  const size_t n = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text + n, sizeof text - n, ".%03uZ", static_cast<unsigned>(ms % 1000));
  return text;
}

std::string new_ulid() {
  static std::mutex mutex;
  static uint64_t last_ms = 0;
  static std::array<uint8_t, 10> random{};
  static pid_t owner = 0;  // a forked child must not count on where its parent does
  const std::lock_guard<std::mutex> lock(mutex);
  uint64_t ms = now().ms;
  if (ms > last_ms || owner != ::getpid()) {
    ms = std::max(ms, last_ms);
    owner = ::getpid();
    if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
      throw stwo::EnvironmentError("RANDOM", "the system gives no random numbers");
    }
    random[0] &= 0x7f;  // room to count up within this millisecond
  } else {
    ms = last_ms;
    for (size_t i = random.size(); i-- > 0;) {
      if (++random[i] != 0) break;
    }
  }
  last_ms = ms;
  // 130 bits in 26 characters: two zero bits, 48 of time, 80 random.
  std::array<uint8_t, 16> bytes;
  for (size_t i = 0; i < 6; ++i) bytes[i] = static_cast<uint8_t>(ms >> (40 - 8 * i));
  std::copy(random.begin(), random.end(), bytes.begin() + 6);
  std::string out(kUlidLength, '0');
  for (size_t c = 0; c < kUlidLength; ++c) {
    unsigned value = 0;
    for (size_t b = 0; b < 5; ++b) {
      const size_t bit = c * 5 + b;  // of 130, two of them leading zeros
      value <<= 1;
      if (bit >= 2) value |= (bytes[(bit - 2) / 8] >> (7 - (bit - 2) % 8)) & 1u;
    }
    out[c] = kCrockford[value];
  }
  return out;
}

bool is_ulid(std::string_view text) {
  if (text.size() != kUlidLength || text[0] > '7') return false;
  return text.find_first_not_of(kCrockford) == std::string_view::npos;
}

}  // namespace ledger

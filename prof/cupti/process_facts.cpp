#include "prof/cupti/process_facts.hpp"

#include <dlfcn.h>

#include <ctime>
#include <fstream>
#include <iterator>

namespace prof {
namespace {

constexpr size_t kMaxCommand = 4096;
constexpr int kReadings = 5;

int64_t read_clock(clockid_t clock) noexcept {
  timespec t{};
  ::clock_gettime(clock, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

std::string arguments() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

ledger::ClockPairRow read_clocks() noexcept {
  ledger::ClockPairRow best;
  int64_t best_width = INT64_MAX;
  for (int i = 0; i < kReadings; ++i) {
    const int64_t before = read_clock(CLOCK_MONOTONIC_RAW);
    const int64_t realtime = read_clock(CLOCK_REALTIME);
    const int64_t width = read_clock(CLOCK_MONOTONIC_RAW) - before;
    if (width < best_width) {
      best_width = width;
      best = {realtime, before + width / 2};
    }
  }
  return best;
}

std::string command_line() {
  const std::string raw = arguments();
  std::string out;
  for (size_t begin = 0; begin < raw.size() && out.size() < kMaxCommand;) {
    const size_t end = std::min(raw.find('\0', begin), raw.size());
    const std::string argument = raw.substr(begin, end - begin);
    begin = end + 1;
    if (!out.empty()) out += ' ';
    const bool plain =
        !argument.empty() && argument.find_first_not_of(
                                 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789_-+=./:,@%") == std::string::npos;
    if (plain) {
      out += argument;
      continue;
    }
    out += '\'';
    for (const char c : argument) {
      if (c == '\'') {
        out += "'\\''";
      } else {
        out += c;
      }
    }
    out += '\'';
  }
  return out.substr(0, kMaxCommand);
}

std::string process_name() {
  const std::string raw = arguments();
  const std::string path = raw.substr(0, raw.find('\0'));
  return path.substr(path.rfind('/') + 1);
}

std::string driver_version() {
  // Only if the process has the driver already.
  void* library = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return {};
  const auto get = reinterpret_cast<int (*)(int*)>(::dlsym(library, "cuDriverGetVersion"));
  int version = 0;
  const bool known = get != nullptr && get(&version) == 0 && version > 0;
  ::dlclose(library);
  if (!known) return {};
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace prof

#include "prover/cli/system_info.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>
#include <vector>

#include "prover/errors.hpp"
#include "prover/hash/blake2s.hpp"
#include "prover/hash/hex.hpp"
#include "prover/hash/sha256.hpp"

namespace stwo {
namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;

uint64_t clock_ns(clockid_t clock) {
  timespec t{};
  ::clock_gettime(clock, &t);
  return static_cast<uint64_t>(t.tv_sec) * kNsPerSecond + static_cast<uint64_t>(t.tv_nsec);
}

std::optional<uint64_t> parse_u64(const std::string& text) {
  uint64_t value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

}  // namespace

std::string binary_sha256() {
  std::ifstream in("/proc/self/exe", std::ios::binary);
  Sha256 hasher;
  std::vector<char> buffer(1 << 16);
  uint64_t total = 0;
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())), in.gcount() > 0) {
    total += static_cast<uint64_t>(in.gcount());
    hasher.update(std::string_view(buffer.data(), static_cast<size_t>(in.gcount())));
  }
  if (total == 0 || in.bad()) {
    throw EnvironmentError("PROC",
                           "/proc/self/exe can't be read, so a report can't name this "
                           "program; mount /proc or leave out --report-out");
  }
  return to_hex(hasher.finalize());
}

std::string cpu_model_name() {
  std::ifstream in("/proc/cpuinfo");
  std::string line;
  while (std::getline(in, line)) {
    if (line.rfind("model name", 0) != 0) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

uint32_t usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    return static_cast<uint32_t>(std::max(1, CPU_COUNT(&set)));
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

std::optional<uint64_t> physical_memory_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return std::nullopt;
  return static_cast<uint64_t>(pages) * static_cast<uint64_t>(page);
}

std::optional<uint64_t> peak_rss_bytes() {
  std::ifstream in("/proc/self/status");
  std::string line;
  while (std::getline(in, line)) {
    if (line.rfind("VmHWM:", 0) != 0) continue;
    const size_t digit = line.find_first_of("0123456789");
    if (digit == std::string::npos) return std::nullopt;
    const auto kib = parse_u64(line.substr(digit));
    if (!kib) return std::nullopt;
    return *kib * 1024;
  }
  return std::nullopt;
}

std::optional<uint64_t> ns_since_process_start() {
  std::ifstream in("/proc/self/stat");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  // The program's name is in parentheses and may hold spaces; the fields after it do not. starttime
  // is field 22, the 20th after the name.
  const size_t close = text.rfind(')');
  if (close == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(close + 1));
  std::string field;
  for (int i = 0; i < 20; ++i) {
    if (!(fields >> field)) return std::nullopt;
  }
  const auto ticks = parse_u64(field);
  const long per_second = ::sysconf(_SC_CLK_TCK);
  if (!ticks || per_second <= 0) return std::nullopt;
  const uint64_t start = *ticks * (kNsPerSecond / static_cast<uint64_t>(per_second));
  const uint64_t now = clock_ns(CLOCK_BOOTTIME);
  if (now < start) return std::nullopt;
  return now - start;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  const size_t n = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text, n};
}

uint64_t realtime_ns() { return clock_ns(CLOCK_REALTIME); }

}  // namespace stwo

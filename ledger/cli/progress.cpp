#include "ledger/cli/progress.hpp"

#include <unistd.h>

#include <cstdio>

namespace ledger {

Progress::Progress(const char* tool, std::chrono::milliseconds delay)
    : tool_(tool),
      enabled_(::isatty(STDERR_FILENO) != 0),
      delay_(delay),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {}

Progress::~Progress() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void Progress::show(const std::string& what, int64_t done, int64_t total) {
  if (!enabled_) return;
  const auto now = std::chrono::steady_clock::now();
  constexpr auto kStep = std::chrono::milliseconds(100);
  if (now - start_ < delay_ || now - last_ < kStep) return;
  last_ = now;
  shown_ = true;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - start_).count();
  if (total > 0) {
    std::fprintf(stderr, "\r\033[K%s: %s %d %%", tool_, what.c_str(),
                 static_cast<int>(100.0 * static_cast<double>(done) / static_cast<double>(total)));
  } else {
    std::fprintf(stderr, "\r\033[K%s: %s %lld s", tool_, what.c_str(),
                 static_cast<long long>(seconds));
  }
  std::fflush(stderr);
}

}  // namespace ledger

// The part of a capture that the questions are about.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/db/database.hpp"
#include "ledger/trace/intervals.hpp"

namespace prof {

enum class WindowSource : uint8_t {
  kReport,   ///< a request of the product report: its resident part
  kNvtx,     ///< a range of domain stwo.prover, category 1
  kCapture,  ///< from the first to the last timed call or operation: programs without requests
};
/// "report", "nvtx", "capture".
std::string_view window_source_name(WindowSource source);

/// W = [begin_ns, end_ns), nanoseconds of CLOCK_REALTIME, not empty. Something counts if it starts
/// in W; of times, the part inside W counts.
struct Window {
  WindowSource source = WindowSource::kCapture;
  std::optional<int64_t> request;   ///< ordinal; absent for the whole capture
  std::optional<std::string> role;  ///< first, warmup or steady, where the report says so
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t request_begin_ns = 0;  ///< the request around W; W itself where nothing else is known
  int64_t request_end_ns = 0;
  std::string choice;  ///< one sentence: which window, and why this one

  int64_t length_ns() const { return end_ns - begin_ns; }
  bool starts_inside(int64_t ns) const { return begin_ns <= ns && ns < end_ns; }
  /// Has [start, end] a part inside, or does it start inside?
  bool touches(int64_t start_ns, int64_t stop_ns) const {
    return starts_inside(start_ns) || (start_ns < begin_ns && stop_ns > begin_ns);
  }
  /// The part inside, for an interval that touches.
  ledger::Interval clip(int64_t start_ns, int64_t stop_ns) const {
    return {std::max(start_ns, begin_ns), std::min(stop_ns, end_ns)};
  }
  /// Length of the part inside; 0 if there is none.
  int64_t inside_ns(int64_t start_ns, int64_t stop_ns) const {
    return std::max<int64_t>(0, std::min(stop_ns, end_ns) - std::max(start_ns, begin_ns));
  }
};

/// The requests of a capture, by their begin: those of the product report, else the request ranges;
/// empty if it has neither. `choice` is not set.
std::vector<Window> request_windows(ledger::Database& trace);

/// The window of a capture: a request of the product report (table window), else a request range,
/// else the whole capture. Without `request` it is the one with the median duration (of an even
/// number the shorter of the middle two) among the steady requests; where there are none among
/// the warm-ups, and last the first request. Of request ranges the first is left out if there are
/// others, since it is the cold one.
///
/// Throws UsageError TIMELINE_REQUEST (no such request), FormatError
///   TIMELINE_EMPTY       the capture has no timed call or operation
///   TIMELINE_WINDOW      the window has no length
///   TIMELINE_CLOCK_STEP  the clock was set inside the window, so its durations are worthless
Window choose_window(ledger::Database& trace, std::optional<int64_t> request = std::nullopt);

}  // namespace prof

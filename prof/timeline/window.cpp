#include "prof/timeline/window.hpp"

#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "ledger/trace/trace_schema.hpp"
#include "prof/timeline/distribution.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

using ledger::Database;
using ledger::Statement;

constexpr int64_t kRequestCategory = 1;
/// A clock that is only slewed stays below this between two pairs.
constexpr double kClockStepNs = 50'000;

std::vector<Window> report_windows(Database& trace) {
  std::vector<Window> out;
  Statement rows = trace.prepare(
      "SELECT request, role, begin_ns, resident_begin_ns, resident_end_ns, end_ns FROM window "
      "ORDER BY begin_ns, request");
  while (rows.step()) {
    Window w;
    w.source = WindowSource::kReport;
    w.request = rows.integer(0);
    w.role = rows.string(1);
    w.request_begin_ns = rows.integer(2);
    w.begin_ns = rows.integer(3);
    w.end_ns = rows.integer(4);
    w.request_end_ns = rows.integer(5);
    out.push_back(std::move(w));
  }
  return out;
}

/// Closed request ranges in order of their start. The ordinal is the payload; if a payload is
/// missing or repeated, all are numbered by their start.
std::vector<Window> nvtx_windows(Database& trace) {
  std::vector<Window> out;
  Statement rows = trace.prepare(
      "SELECT payload, start_ns, end_ns FROM nvtx WHERE type IN (2, 3) AND category = ?1 AND "
      "domain_id = (SELECT id FROM str WHERE value = ?2) AND end_ns IS NOT NULL "
      "ORDER BY start_ns, end_ns, payload");
  rows.bind_all(kRequestCategory, ledger::kProverDomain);
  bool numbered = true;
  while (rows.step()) {
    Window w;
    w.source = WindowSource::kNvtx;
    w.request = rows.optional_integer(0);
    w.begin_ns = w.request_begin_ns = rows.integer(1);
    w.end_ns = w.request_end_ns = rows.integer(2);
    for (const Window& other : out) numbered = numbered && other.request != w.request;
    numbered = numbered && w.request && *w.request >= 0;
    out.push_back(std::move(w));
  }
  if (!numbered) {
    for (size_t i = 0; i < out.size(); ++i) out[i].request = static_cast<int64_t>(i);
  }
  return out;
}

Window whole_capture(Database& trace) {
  int64_t first = std::numeric_limits<int64_t>::max();
  int64_t last_start = 0;
  int64_t last_end = 0;
  for (const char* table : {"gpu_op", "api"}) {
    Statement row = trace.prepare(std::string("SELECT MIN(start_ns), MAX(start_ns), MAX(end_ns) "
                                              "FROM ") +
                                  table);
    STWO_CHECK(row.step(), "an aggregate has a row");
    if (row.is_null(0)) continue;
    first = std::min(first, row.integer(0));
    last_start = std::max(last_start, row.integer(1));
    last_end = std::max(last_end, row.integer(2));
  }
  if (last_end == 0) {
    throw stwo::FormatError("TIMELINE_EMPTY",
                            "capture " + trace.path() +
                                " has no timed call or device operation (expected at least one); "
                                "capture a program that uses CUDA");
  }
  Window w;
  w.begin_ns = w.request_begin_ns = first;
  // What starts last is inside, even if it takes no time.
  w.end_ns = w.request_end_ns = std::max(last_end, last_start + 1);
  w.choice =
      "the whole capture, from its first to its last timed call or operation: it holds no request "
      "of a product report and no request range";
  return w;
}

/// The one with the lower median length.
const Window& median_window(std::vector<const Window*> windows) {
  std::sort(windows.begin(), windows.end(), [](const Window* a, const Window* b) {
    return std::tuple(a->length_ns(), *a->request) < std::tuple(b->length_ns(), *b->request);
  });
  return *windows[(windows.size() - 1) / 2];
}

std::string counted(size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

Window pick(const std::vector<Window>& all) {
  for (const char* role : {"steady", "warmup", "first"}) {
    std::vector<const Window*> found;
    for (const Window& w : all) {
      if (w.role == role) found.push_back(&w);
    }
    if (found.empty()) continue;
    Window out = median_window(found);
    out.choice = "request " + std::to_string(*out.request) +
                 " of the product report, the median of " +
                 counted(found.size(), std::string(role) + " request");
    return out;
  }
  std::vector<const Window*> found;
  for (size_t i = all.size() > 1 ? 1 : 0; i < all.size(); ++i) found.push_back(&all[i]);
  Window out = median_window(found);
  out.choice = "request " + std::to_string(*out.request) +
               " by its range in the timeline, the median of " +
               counted(found.size(), "request range") + (all.size() > 1 ? " after the first" : "");
  return out;
}

Window pick_request(const std::vector<Window>& all, int64_t request, const std::string& path) {
  std::string known;
  for (const Window& w : all) {
    if (*w.request == request) {
      Window out = w;
      out.choice =
          "request " + std::to_string(request) +
          (w.source == WindowSource::kReport ? " of the product report, as asked for"
                                             : " by its range in the timeline, as asked for");
      return out;
    }
  }
  if (all.empty()) {
    known = "none: it holds no request of a product report and no request range";
  } else {
    int64_t least = *all.front().request;
    int64_t most = least;
    for (const Window& w : all) {
      least = std::min(least, *w.request);
      most = std::max(most, *w.request);
    }
    known = std::to_string(least) + " to " + std::to_string(most);
  }
  throw stwo::UsageError("TIMELINE_REQUEST", "capture " + path + " has no request " +
                                                 std::to_string(request) + " (it has " + known +
                                                 "); name one of those, or none");
}

struct ClockPair {
  int64_t realtime_ns;
  double offset_ns;  ///< realtime - monotonic, from that of the first pair
};

/// Both clocks drift apart steadily while one of them is slewed. A step is what differs from the
/// capture's usual drift; with fewer than three intervals no drift is usual.
void require_steady_clock(Database& trace, const Window& window) {
  std::vector<ClockPair> pairs;
  Statement rows = trace.prepare(
      "SELECT realtime_ns, monotonic_raw_ns FROM clock_pair ORDER BY monotonic_raw_ns, id");
  std::vector<int64_t> monotonic;
  int64_t first_offset = 0;
  while (rows.step()) {
    const int64_t offset = rows.integer(0) - rows.integer(1);
    if (pairs.empty()) first_offset = offset;
    pairs.push_back({rows.integer(0), static_cast<double>(offset - first_offset)});
    monotonic.push_back(rows.integer(1));
  }
  std::vector<double> slopes;
  for (size_t i = 1; i < pairs.size(); ++i) {
    const auto elapsed = static_cast<double>(monotonic[i] - monotonic[i - 1]);
    if (elapsed > 0) slopes.push_back((pairs[i].offset_ns - pairs[i - 1].offset_ns) / elapsed);
  }
  double usual = 0;
  if (slopes.size() >= 3) {
    std::sort(slopes.begin(), slopes.end());
    usual = slopes[(slopes.size() - 1) / 2];
  }
  for (size_t i = 1; i < pairs.size(); ++i) {
    const auto elapsed = static_cast<double>(monotonic[i] - monotonic[i - 1]);
    const double step = pairs[i].offset_ns - pairs[i - 1].offset_ns - usual * elapsed;
    if (std::abs(step) <= kClockStepNs) continue;
    const auto [low, high] = std::minmax(pairs[i - 1].realtime_ns, pairs[i].realtime_ns);
    if (high < window.begin_ns || low >= window.end_ns) continue;
    throw stwo::FormatError("TIMELINE_CLOCK_STEP",
                            "capture " + trace.path() + ": the clock was set by " +
                                std::to_string(std::llround(step / 1000)) + " us between " +
                                std::to_string(pairs[i - 1].realtime_ns) + " and " +
                                std::to_string(pairs[i].realtime_ns) +
                                " ns, inside the window (allowed 50 us); choose "
                                "another request, or capture again while nothing sets the clock");
  }
}

}  // namespace

std::string_view window_source_name(WindowSource source) {
  static constexpr std::string_view kNames[] = {"report", "nvtx", "capture"};
  return kNames[static_cast<size_t>(source)];
}

std::vector<Window> request_windows(Database& trace) {
  std::vector<Window> all = report_windows(trace);
  if (all.empty()) all = nvtx_windows(trace);
  return all;
}

Window choose_window(Database& trace, std::optional<int64_t> request) {
  const std::vector<Window> all = request_windows(trace);
  Window out;
  if (request) {
    out = pick_request(all, *request, trace.path());
  } else {
    out = all.empty() ? whole_capture(trace) : pick(all);
  }
  if (out.length_ns() == 0) {
    throw stwo::FormatError("TIMELINE_WINDOW", "capture " + trace.path() + ": " + out.choice +
                                                   ", begins and ends at " +
                                                   std::to_string(out.begin_ns) +
                                                   " ns (expected an end after the begin); choose "
                                                   "another request, or capture again");
  }
  require_steady_clock(trace, out);
  return out;
}

}  // namespace prof

#include "ledger/trace/stage_ranges.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>

#include "ledger/trace/trace_schema.hpp"

namespace ledger {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

/// Linux numbers processes and threads with fewer than 32 bits.
uint64_t thread_key(int64_t pid, int64_t tid) {
  return static_cast<uint64_t>(pid) << 32 | (static_cast<uint64_t>(tid) & 0xffffffff);
}

}  // namespace

StageTimeline::StageTimeline(const std::vector<StageRange>& ranges) {
  std::vector<size_t> by_start(ranges.size());
  std::vector<int64_t> times;
  times.reserve(2 * ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i) {
    by_start[i] = i;
    times.push_back(ranges[i].start_ns);
    if (ranges[i].end_ns != kNever) times.push_back(ranges[i].end_ns);
  }
  std::stable_sort(by_start.begin(), by_start.end(),
                   [&](size_t a, size_t b) { return ranges[a].start_ns < ranges[b].start_ns; });
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());

  // Open ranges, the innermost on top. Ranges that have ended leave when they get there.
  const auto outer = [&](size_t a, size_t b) {
    return std::tuple(ranges[a].start_ns, -ranges[a].end_ns, a) <
           std::tuple(ranges[b].start_ns, -ranges[b].end_ns, b);
  };
  std::priority_queue<size_t, std::vector<size_t>, decltype(outer)> open(outer);
  size_t next = 0;
  for (const int64_t now : times) {
    while (next < by_start.size() && ranges[by_start[next]].start_ns == now) {
      open.push(by_start[next++]);
    }
    while (!open.empty() && ranges[open.top()].end_ns <= now) open.pop();
    const StrId name = open.empty() ? 0 : ranges[open.top()].name;
    if (pieces_.empty() || pieces_.back().name != name) pieces_.push_back({now, name});
  }
}

StrId StageTimeline::at(int64_t ns) const {
  const auto after =
      std::upper_bound(pieces_.begin(), pieces_.end(), ns,
                       [](int64_t time, const Piece& piece) { return time < piece.start_ns; });
  return after == pieces_.begin() ? 0 : std::prev(after)->name;
}

StageFinder::StageFinder(Database& trace) {
  read_ranges(trace);
  if (has_stages()) read_calls(trace);
}

void StageFinder::read_ranges(Database& trace) {
  Statement rows = trace.prepare(
      "SELECT pid, tid, start_ns, end_ns, name_id FROM nvtx WHERE type = 2 AND category = ?1 AND "
      "domain_id = (SELECT id FROM str WHERE value = ?2) AND name_id IS NOT NULL");
  rows.bind_all(kStageCategory, kProverDomain);
  std::unordered_map<uint64_t, std::vector<StageRange>> ranges;
  while (rows.step()) {
    const int64_t end = rows.is_null(3) ? kNever : rows.integer(3);
    ranges[thread_key(rows.integer(0), rows.integer(1))].push_back(
        {rows.integer(2), end, rows.integer(4)});
  }
  for (const auto& [thread, of_thread] : ranges) {
    threads_.emplace(thread, StageTimeline(of_thread));
  }
}

void StageFinder::read_calls(Database& trace) {
  Statement rows =
      trace.prepare("SELECT pid, tid, corr, start_ns FROM api WHERE start_ns IS NOT NULL");
  uint64_t thread = 0;
  const StageTimeline* timeline = nullptr;
  bool found = false;
  while (rows.step()) {
    const int64_t pid = rows.integer(0);
    const uint64_t key = thread_key(pid, rows.integer(1));
    if (!found || key != thread) {
      const auto it = threads_.find(key);
      timeline = it == threads_.end() ? nullptr : &it->second;
      thread = key;
      found = true;
    }
    const int64_t start = rows.integer(3);
    const StrId stage = timeline == nullptr ? 0 : timeline->at(start);
    calls_.push_back(
        {rows.integer(2), start, static_cast<int32_t>(pid), static_cast<int32_t>(stage)});
  }
  const auto before = [](const Call& a, const Call& b) {
    return std::tie(a.pid, a.corr, a.start_ns) < std::tie(b.pid, b.corr, b.start_ns);
  };
  if (!std::is_sorted(calls_.begin(), calls_.end(), before)) {
    std::sort(calls_.begin(), calls_.end(), before);
  }
  const auto same = [](const Call& a, const Call& b) { return a.pid == b.pid && a.corr == b.corr; };
  calls_.erase(std::unique(calls_.begin(), calls_.end(), same), calls_.end());
}

StrId StageFinder::stage_of(int64_t pid, int64_t corr) {
  const auto before = [&](const Call& call) {
    return call.pid < pid || (call.pid == pid && call.corr < corr);
  };
  // Mostly a few places after the last one: double the step until it is passed.
  size_t low = last_;
  if (low >= calls_.size() || !before(calls_[low])) {
    low = low < calls_.size() && calls_[low].pid == pid && calls_[low].corr == corr ? low : 0;
  }
  size_t step = 1;
  size_t high = low;
  while (high < calls_.size() && before(calls_[high])) {
    low = high + 1;
    high += step;
    step *= 2;
  }
  high = std::min(high, calls_.size());
  const auto it = std::partition_point(calls_.begin() + static_cast<ptrdiff_t>(low),
                                       calls_.begin() + static_cast<ptrdiff_t>(high), before);
  if (it == calls_.end() || it->pid != pid || it->corr != corr) return 0;
  last_ = static_cast<size_t>(it - calls_.begin());
  return it->stage;
}

}  // namespace ledger

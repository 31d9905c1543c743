#include "prof/timeline/stage_lookup.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>

#include "ledger/trace/trace_schema.hpp"

namespace prof {
namespace {

using ledger::StageRange;

/// Linux numbers processes and threads with fewer than 32 bits.
uint64_t thread_key(int64_t pid, int64_t tid) {
  return static_cast<uint64_t>(pid) << 32 | (static_cast<uint64_t>(tid) & 0xffffffff);
}

}  // namespace

FreeRanges::FreeRanges(std::vector<StageRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const StageRange& a, const StageRange& b) {
    return std::tie(a.start_ns, b.end_ns, a.name) < std::tie(b.start_ns, a.end_ns, b.name);
  });
  std::vector<int64_t> times;
  for (const StageRange& r : ranges) {
    times.push_back(r.start_ns);
    times.push_back(r.end_ns);
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  // Open ranges from the outermost to the innermost: by start, then the longer one first.
  std::set<size_t> open;
  std::multimap<int64_t, size_t> ends;
  size_t next = 0;
  for (const int64_t now : times) {
    for (; next < ranges.size() && ranges[next].start_ns == now; ++next) {
      if (ranges[next].end_ns == now) continue;
      open.insert(next);
      ends.emplace(ranges[next].end_ns, next);
    }
    while (!ends.empty() && ends.begin()->first <= now) {
      open.erase(ends.begin()->second);
      ends.erase(ends.begin());
    }
    Found found;
    int64_t limit = std::numeric_limits<int64_t>::max();
    for (const size_t i : open) {
      found.ambiguous = found.ambiguous || ranges[i].end_ns > limit;
      limit = std::min(limit, ranges[i].end_ns);
      found.name = ranges[i].name;
    }
    if (found.ambiguous) found.name = 0;
    pieces_.push_back({now, found});
  }
}

FreeRanges::Found FreeRanges::at(int64_t ns) const {
  const auto after =
      std::upper_bound(pieces_.begin(), pieces_.end(), ns,
                       [](int64_t time, const Piece& piece) { return time < piece.start_ns; });
  return after == pieces_.begin() ? Found{} : std::prev(after)->found;
}

StageLookup::StageLookup(ledger::Database& trace) {
  ledger::Statement rows = trace.prepare(
      "SELECT type, pid, tid, start_ns, end_ns, name_id FROM nvtx n JOIN str s ON s.id = n.name_id "
      "WHERE type IN (2, 3) AND category = ?1 AND "
      "domain_id = (SELECT id FROM str WHERE value = ?2) ORDER BY start_ns, end_ns DESC, s.value");
  rows.bind_all(ledger::kStageCategory, ledger::kProverDomain);
  std::unordered_map<uint64_t, std::vector<StageRange>> pushed;
  std::map<int64_t, std::vector<StageRange>> started;
  while (rows.step()) {
    if (rows.is_null(4)) ++unclosed_;
    const StageRange range{rows.integer(3),
                           rows.optional_integer(4).value_or(std::numeric_limits<int64_t>::max()),
                           rows.integer(5)};
    if (rows.integer(0) == 2) {
      pushed[thread_key(rows.integer(1), rows.integer(2))].push_back(range);
    } else {
      started[rows.integer(1)].push_back(range);
    }
  }
  for (const auto& [thread, ranges] : pushed) {
    threads_.emplace(thread, ledger::StageTimeline(ranges));
  }
  for (auto& [pid, ranges] : started) processes_.emplace(pid, FreeRanges(std::move(ranges)));
}

FreeRanges::Found StageLookup::at(int64_t pid, int64_t tid, int64_t ns) const {
  if (const auto it = threads_.find(thread_key(pid, tid)); it != threads_.end()) {
    if (const ledger::StrId name = it->second.at(ns); name != 0) return {name, false};
  }
  const auto it = processes_.find(pid);
  return it == processes_.end() ? FreeRanges::Found{} : it->second.at(ns);
}

}  // namespace prof

#include "prof/timeline/stream_waits.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "prof/timeline/device_op.hpp"

namespace prof {
namespace {

using ledger::Statement;
using Stream = std::tuple<int64_t, int64_t, int64_t>;  // process, context, stream

struct Wait {
  Stream consumer;
  int64_t called_ns;  ///< begin of the waiting call
  Stream producer;
  int64_t recorded_ns;  ///< begin of the call that recorded the event
};

struct StreamOp {
  int64_t start_ns;
  int64_t end_ns;
  int64_t called_ns;
  ledger::StrId stage;
  int64_t reached_ns;  ///< latest end up to and with this one
};

int64_t reached_before(const std::vector<StreamOp>& ops, std::vector<StreamOp>::const_iterator at,
                       int64_t otherwise) {
  return at == ops.begin() ? otherwise : std::max(otherwise, std::prev(at)->reached_ns);
}

/// The first operation that was submitted at or after a time.
std::vector<StreamOp>::const_iterator submitted_from(const std::vector<StreamOp>& ops, int64_t ns) {
  return std::partition_point(ops.begin(), ops.end(),
                              [&](const StreamOp& op) { return op.called_ns < ns; });
}

/// Reads the waits of the window; those that can't be followed are only counted.
std::vector<Wait> read_waits(ledger::Database& trace, const Window& window, CallFinder& calls,
                             StreamWaits* out) {
  std::vector<Wait> waits;
  std::map<std::pair<int64_t, int64_t>, std::vector<Wait>> by_event;
  Statement rows = trace.prepare(
      "SELECT pid, context_id, stream_id, event_sync_id, start_ns, corr FROM sync WHERE type = 2");
  while (rows.step()) {
    const auto& call = calls.find(rows.integer(0), rows.integer(5));
    const std::optional<int64_t> at =
        call ? std::optional(call->start_ns) : rows.optional_integer(4);
    if (!at || !window.starts_inside(*at)) continue;
    ++out->waits;
    if (rows.is_null(2) || rows.is_null(3)) {
      ++out->unresolved;
      continue;
    }
    by_event[{rows.integer(0), rows.integer(3)}].push_back(
        {{rows.integer(0), rows.integer(1), rows.integer(2)}, *at, {}, 0});
  }
  if (by_event.empty()) return waits;
  Statement events = trace.prepare(
      "SELECT pid, event_sync_id, context_id, stream_id, corr FROM cuda_event "
      "WHERE event_sync_id IS NOT NULL");
  while (events.step()) {
    const auto it = by_event.find({events.integer(0), events.integer(1)});
    if (it == by_event.end()) continue;
    const auto& call = calls.find(events.integer(0), events.integer(4));
    if (!call) continue;
    for (Wait& wait : it->second) {
      wait.producer = {events.integer(0), events.integer(2), events.integer(3)};
      wait.recorded_ns = call->start_ns;
      waits.push_back(wait);
    }
    by_event.erase(it);
  }
  for (const auto& [event, lost] : by_event) out->unresolved += static_cast<int64_t>(lost.size());
  return waits;
}

std::map<Stream, std::vector<StreamOp>> read_streams(ledger::Database& trace, const Window& window,
                                                     const StageLookup& stages, CallFinder& calls,
                                                     const std::vector<Wait>& waits) {
  std::map<Stream, std::vector<StreamOp>> streams;
  for (const Wait& wait : waits) {
    streams[wait.consumer];
    streams[wait.producer];
  }
  OpReader reader(trace, window);
  while (const auto op = reader.next()) {
    const auto it = streams.find({op->pid, op->context_id, op->stream_id});
    if (it == streams.end()) continue;
    const auto& call = calls.find(op->pid, op->corr);
    if (!call) continue;
    it->second.push_back({op->start_ns, op->end_ns, call->start_ns,
                          stages.at(op->pid, call->tid, call->start_ns).name, op->end_ns});
  }
  // A stream runs what it is given in the order in which it gets it.
  for (auto& [stream, ops] : streams) {
    std::stable_sort(ops.begin(), ops.end(), [](const StreamOp& a, const StreamOp& b) {
      return a.called_ns < b.called_ns;
    });
    for (size_t i = 1; i < ops.size(); ++i) {
      ops[i].reached_ns = std::max(ops[i].end_ns, ops[i - 1].reached_ns);
    }
  }
  return streams;
}

}  // namespace

Answer<StreamWaits> stream_waits(ledger::Database& trace, const Window& window,
                                 const StageLookup& stages, const Recorded& recorded) {
  if (const auto why = recorded.why_not({"SYNCHRONIZATION", "CUDA_EVENT"})) {
    return Answer<StreamWaits>::unknown(*why);
  }
  if (const auto why = recorded.why_no_calls()) return Answer<StreamWaits>::unknown(*why);
  StreamWaits out;
  CallFinder calls(trace);
  const std::vector<Wait> waits = read_waits(trace, window, calls, &out);
  if (waits.empty()) return Answer<StreamWaits>::of(out);
  const auto streams = read_streams(trace, window, stages, calls, waits);
  // Several waits before one operation: the last producer decides, and the stream has been waiting
  // since the first of them was asked for.
  struct Held {
    int64_t producer_end_ns;
    int64_t called_ns;
  };
  std::map<std::pair<Stream, size_t>, Held> held;
  for (const Wait& wait : waits) {
    const std::vector<StreamOp>& consumer = streams.at(wait.consumer);
    const auto next = submitted_from(consumer, wait.called_ns);
    if (next == consumer.end()) {
      ++out.unresolved;
      continue;
    }
    const std::vector<StreamOp>& producer = streams.at(wait.producer);
    const int64_t end =
        reached_before(producer, submitted_from(producer, wait.recorded_ns), window.begin_ns);
    const std::pair key(wait.consumer, static_cast<size_t>(next - consumer.begin()));
    Held& all = held.try_emplace(key, Held{end, wait.called_ns}).first->second;
    all.producer_end_ns = std::max(all.producer_end_ns, end);
    all.called_ns = std::min(all.called_ns, wait.called_ns);
  }
  for (const auto& [key, all] : held) {
    const std::vector<StreamOp>& consumer = streams.at(key.first);
    const auto at = consumer.begin() + static_cast<ptrdiff_t>(key.second);
    const StreamOp& op = *at;
    const int64_t ready = std::max(all.called_ns, reached_before(consumer, at, window.begin_ns));
    const int64_t ns = std::min({op.start_ns, all.producer_end_ns, window.end_ns}) - ready;
    if (ns <= 0) continue;
    ++out.blocking;
    out.wait_ns += ns;
    out.longest_ns = std::max(out.longest_ns, ns);
    out.by_stage[op.stage] += ns;
  }
  return Answer<StreamWaits>::of(out);
}

}  // namespace prof

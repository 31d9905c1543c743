#include "prof/timeline/synchronisation.hpp"

#include <algorithm>

namespace prof {

using ledger::OpKind;
using ledger::Statement;

SynchronisationQuestion::SynchronisationQuestion(ledger::Database& trace, const Window& window,
                                                 const BusyTime& busy, Names& names)
    : trace_(trace), window_(window), busy_(busy), names_(names) {
  Statement rows =
      trace.prepare("SELECT pid, id, null_stream_id FROM context WHERE null_stream_id IS NOT NULL");
  while (rows.step()) null_streams_[{rows.integer(0), rows.integer(1)}] = rows.integer(2);
}

void SynchronisationQuestion::count(HostTime* time, int64_t start_ns, int64_t end_ns) const {
  if (!window_.touches(start_ns, end_ns)) return;
  if (window_.starts_inside(start_ns)) ++time->calls;
  const ledger::Interval inside = window_.clip(start_ns, end_ns);
  time->host_ns += inside.end_ns - inside.start_ns;
  time->wasted_ns += busy_.idle_ns(inside.start_ns, inside.end_ns);
}

void SynchronisationQuestion::add_op(const DeviceOp& op, const std::optional<LaunchCall>& call,
                                     bool counts) {
  last_work_end_ns_ = std::max(last_work_end_ns_, op.end_ns);
  const auto null_stream = null_streams_.find({op.pid, op.context_id});
  if (counts && null_stream != null_streams_.end() && null_stream->second == op.stream_id) {
    ++legacy_;
  }
  if (op.kind != OpKind::kCopy || op.graph_id || !call) return;
  const bool waited_for = op.pageable && call->start_ns <= op.start_ns && op.end_ns <= call->end_ns;
  if (op.async && !waited_for) return;
  copy_calls_[{op.pid, op.corr}] = {call->start_ns, call->end_ns};
}

void SynchronisationQuestion::add_call(const OuterCall& call) {
  HostTime* time = nullptr;
  switch (call.what) {
    case CallClass::kDeviceSync: time = &call_device_; break;
    case CallClass::kStreamSync: time = &call_stream_; break;
    case CallClass::kEventSync: time = &call_event_; break;
    case CallClass::kStreamQuery: time = &out_.stream_query; break;
    case CallClass::kEventQuery: time = &out_.event_query; break;
    case CallClass::kAllocate:
    case CallClass::kRelease: {
      const std::string name = base_call_name(names_.of(call.name));
      if (name.ends_with("Async")) return;
      time = &implicit_[name];
      break;
    }
    case CallClass::kHostAllocate:
    case CallClass::kHostRelease:
    case CallClass::kHostRegister:
    case CallClass::kModuleLoad: time = &implicit_[base_call_name(names_.of(call.name))]; break;
    default: return;
  }
  if (is_sync(call.what) && window_.starts_inside(call.start_ns)) {
    last_call_wait_end_ns_ = std::max(last_call_wait_end_ns_, call.end_ns);
  }
  count(time, call.start_ns, call.end_ns);
}

void SynchronisationQuestion::read_sync_records() {
  Statement rows = trace_.prepare(
      "SELECT type, start_ns, end_ns FROM sync WHERE type IN (1, 3, 4) AND start_ns < ?2 AND "
      "(start_ns >= ?1 OR end_ns > ?1)");
  rows.bind_all(window_.begin_ns, window_.end_ns);
  while (rows.step()) {
    HostTime& time = rows.integer(0) == 1   ? out_.event
                     : rows.integer(0) == 3 ? out_.stream
                                            : out_.device;
    count(&time, rows.integer(1), rows.integer(2));
    if (window_.starts_inside(rows.integer(1))) {
      last_wait_end_ns_ = std::max(last_wait_end_ns_, rows.integer(2));
    }
  }
}

Synchronisation SynchronisationQuestion::answer(const Recorded& recorded) {
  if (recorded.has("SYNCHRONIZATION")) {
    read_sync_records();
  } else {
    out_.from_calls = true;
    out_.device = call_device_;
    out_.stream = call_stream_;
    out_.event = call_event_;
    last_wait_end_ns_ = last_call_wait_end_ns_;
  }
  // Only now is it known when the devices worked.
  for (const auto& [id, call] : copy_calls_) {
    count(&out_.blocking_copies, call.start_ns, call.end_ns);
  }
  for (const auto& [name, time] : implicit_) out_.implicit.push_back({name, time});
  if (const auto why = recorded.why_not({"CONTEXT"})) {
    out_.legacy_stream_operations = Answer<int64_t>::unknown(*why);
  } else if (null_streams_.empty()) {
    out_.legacy_stream_operations =
        Answer<int64_t>::unknown("no context says which stream is its default one");
  } else {
    out_.legacy_stream_operations = Answer<int64_t>::of(legacy_);
  }
  if (window_.source == WindowSource::kCapture) {
    out_.one_terminal_wait =
        Answer<bool>::unknown("the window is no request, so nothing says how often it may wait");
  } else {
    out_.one_terminal_wait =
        Answer<bool>::of(out_.waits() == 1 && last_wait_end_ns_ >= last_work_end_ns_);
  }
  return out_;
}

}  // namespace prof

#include "prof/timeline/submit_thread.hpp"

#include <algorithm>

namespace prof {

void SubmitThreadQuestion::add_gap(const OuterCall& call, int64_t until_ns, Thread* thread) {
  SubmitGap gap;
  gap.start_ns = thread->last_end_ns;
  gap.ns = until_ns - thread->last_end_ns;
  gap.starved_ns = busy_.idle_ns(thread->last_end_ns, until_ns);
  thread->gaps.push_back(gap.ns);
  thread->out.starved_ns += gap.starved_ns;
  const auto before = [](const SubmitGap& a, const SubmitGap& b) {
    if (a.starved_ns != b.starved_ns) return a.starved_ns > b.starved_ns;
    return a.ns != b.ns ? a.ns > b.ns : a.start_ns < b.start_ns;
  };
  std::vector<SubmitGap>& top = thread->out.top;
  if (top.size() == kTopSubmitGaps && !before(gap, top.back())) return;
  gap.before = base_call_name(names_.of(thread->last_name));
  gap.after = base_call_name(names_.of(call.name));
  const ledger::StrId stage = stages_.at(call.pid, call.tid, gap.start_ns).name;
  if (stage != 0) gap.stage = names_.of(stage);
  keep_first(&top, std::move(gap), kTopSubmitGaps, before);
}

void SubmitThreadQuestion::add(const OuterCall& call) {
  Thread& thread = threads_[{call.pid, call.tid}];
  const ledger::Interval inside = window_.clip(call.start_ns, call.end_ns);
  if (!thread.any) {
    thread.any = true;
    thread.out.pid = call.pid;
    thread.out.tid = call.tid;
    thread.out.before_ns = inside.start_ns - window_.begin_ns;
    thread.last_end_ns = inside.start_ns;
  } else if (inside.start_ns > thread.last_end_ns) {
    add_gap(call, inside.start_ns, &thread);
  }
  if (window_.starts_inside(call.start_ns)) {
    ++thread.out.calls;
    if (is_launch(call.what)) ++thread.out.launches;
  }
  // Outer calls of a thread do not overlap unless records are damaged; time is never counted twice.
  const int64_t from = std::max(inside.start_ns, thread.last_end_ns);
  const int64_t ns = std::max<int64_t>(0, inside.end_ns - from);
  thread.out.in_api_ns += ns;
  if (is_sync(call.what)) thread.out.blocked_ns += ns;
  thread.last_name = call.name;
  thread.last_end_ns = std::max({thread.last_end_ns, inside.start_ns, inside.end_ns});
}

Answer<SubmitThread> SubmitThreadQuestion::answer(const Recorded& recorded) const {
  if (const auto why = recorded.why_no_calls()) return Answer<SubmitThread>::unknown(*why);
  const Thread* best = nullptr;
  int64_t threads = 0;
  for (const auto& [key, thread] : threads_) {
    if (thread.out.launches == 0) continue;
    ++threads;
    if (best == nullptr || thread.out.launches > best->out.launches) best = &thread;
  }
  if (best == nullptr) {
    return Answer<SubmitThread>::unknown("no call of the window launches a kernel or a graph");
  }
  SubmitThread out = best->out;
  out.threads = threads;
  out.after_ns = window_.end_ns - best->last_end_ns;
  out.gaps = distribution_of(best->gaps);
  return Answer<SubmitThread>::of(std::move(out));
}

}  // namespace prof

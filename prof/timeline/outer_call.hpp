// The calls that a program made itself in a window, without the calls that those made inside.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

#include "ledger/db/database.hpp"
#include "prof/timeline/call_class.hpp"
#include "prof/timeline/recorded.hpp"
#include "prof/timeline/window.hpp"

namespace prof {

struct OuterCall {
  int64_t pid = 0;
  int64_t tid = 0;
  ledger::StrId name = 0;
  CallClass what = CallClass::kOther;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  bool ok = true;  ///< returned success
};

/// Classes of calls by the id of their name.
class CallClasses {
 public:
  explicit CallClasses(Names& names) : names_(names) {}
  CallClass of(ledger::StrId name) {
    const auto it = known_.find(name);
    if (it != known_.end()) return it->second;
    return known_.emplace(name, call_class(names_.of(name))).first->second;
  }

 private:
  Names& names_;
  std::unordered_map<ledger::StrId, CallClass> known_;
};

/// Calls `on_call` with every timed call that touches the window and lies in no other call of its
/// thread: thread by thread, each in order of the start. Internal launches are not calls of the
/// program and are left out.
template <class OnCall>
void for_each_outer_call(ledger::Database& trace, const Window& window, Names& names,
                         OnCall on_call) {
  CallClasses classes(names);
  ledger::Statement next_thread = trace.prepare("SELECT MIN(tid) FROM api WHERE tid > ?1");
  ledger::Statement rows = trace.prepare(
      "SELECT pid, name_id, start_ns, end_ns, rc FROM api WHERE tid = ?1 AND start_ns < ?3 AND "
      "(start_ns >= ?2 OR end_ns > ?2) AND domain <> 2 "
      "ORDER BY start_ns, end_ns DESC, domain, corr");
  int64_t tid = -1;
  while (next_thread.reset().bind(1, tid).step() && !next_thread.is_null(0)) {
    tid = next_thread.integer(0);
    rows.reset().bind_all(tid, window.begin_ns, window.end_ns);
    std::map<int64_t, int64_t> outer_ends;  ///< by process
    while (rows.step()) {
      OuterCall call;
      call.pid = rows.integer(0);
      call.tid = tid;
      call.name = rows.integer(1);
      call.start_ns = rows.integer(2);
      call.end_ns = rows.integer(3);
      call.ok = rows.integer(4) == 0;
      const auto [it, first] = outer_ends.try_emplace(call.pid, call.end_ns);
      if (!first) {
        // A call that only touches the end of another comes after it.
        if (call.start_ns < it->second && call.end_ns <= it->second) continue;
        it->second = std::max(it->second, call.end_ns);
      }
      call.what = classes.of(call.name);
      on_call(call);
    }
  }
}

}  // namespace prof

#include "prof/timeline/loading.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "prof/timeline/distribution.hpp"
#include "prof/timeline/outer_call.hpp"

namespace prof {
namespace {

using ledger::Database;
using ledger::Statement;

constexpr int64_t kModuleLoading = int64_t{4} << 16;
constexpr int64_t kFunctionLoading = int64_t{5} << 16;
constexpr const char* kNoRequests =
    "the capture holds no request, so nothing divides the run into phases";

/// Phases of the run and what belongs to the chosen request.
class Phases {
 public:
  Phases(Database& trace, const Window& window)
      : window_(window), requests_(request_windows(trace)) {}

  Answer<std::string> of(int64_t ns) const {
    if (requests_.empty()) return Answer<std::string>::unknown(kNoRequests);
    if (ns < requests_.front().request_begin_ns) return Answer<std::string>::of("setup");
    bool later = false;
    for (const Window& r : requests_) {
      if (r.request_begin_ns <= ns && ns < r.request_end_ns) {
        return Answer<std::string>::of("request " + std::to_string(*r.request));
      }
      later = later || r.request_begin_ns > ns;
    }
    return Answer<std::string>::of(later ? "between" : "after");
  }
  /// Does [start, end] touch the chosen request?
  Answer<bool> in_request(int64_t start_ns, int64_t end_ns) const {
    if (window_.source == WindowSource::kCapture) return Answer<bool>::unknown(kNoRequests);
    const int64_t begin = window_.request_begin_ns;
    const bool starts_inside = begin <= start_ns && start_ns < window_.request_end_ns;
    return Answer<bool>::of(starts_inside || (start_ns < begin && end_ns > begin));
  }

 private:
  const Window& window_;
  std::vector<Window> requests_;
};

struct Event {
  int64_t pid;
  LoadRow row;
  CallClass expected;
  int64_t call_start_ns = -1;
  int64_t call_end_ns = -1;
  ledger::StrId call = 0;
  bool fits = false;  ///< the call is one whose purpose this is

  auto place() const { return std::tie(pid, row.ts_ns); }
};

std::vector<Event> read_events(Database& trace, const Phases& phases) {
  std::vector<Event> out;
  Statement rows = trace.prepare(
      "SELECT pid, kind, ts_ns, bytes, sha256 FROM res_event "
      "WHERE kind IN ('context_created', 'module_loaded') "
      "ORDER BY pid, ts_ns, kind, context_id, object, sha256, bytes");
  while (rows.step()) {
    Event e;
    e.pid = rows.integer(0);
    const bool context = rows.text(1) == "context_created";
    e.row.what = context ? "context" : "module";
    e.expected = context ? CallClass::kContextCreate : CallClass::kModuleLoad;
    e.row.ts_ns = rows.integer(2);
    e.row.bytes = rows.optional_integer(3);
    e.row.sha256 = rows.optional_string(4);
    e.row.phase = phases.of(e.row.ts_ns);
    e.row.in_request = phases.in_request(e.row.ts_ns, e.row.ts_ns);
    out.push_back(std::move(e));
  }
  return out;
}

/// A callback carries no call. The call is one that was open at the time: one that loads or
/// creates, else the one that began last, since other threads may be in long calls.
void find_calls(Database& trace, Names& names, std::vector<Event>* events) {
  if (events->empty()) return;
  CallClasses classes(names);
  Statement rows = trace.prepare(
      "SELECT pid, start_ns, end_ns, name_id FROM api WHERE start_ns IS NOT NULL AND domain <> 2");
  while (rows.step()) {
    const int64_t pid = rows.integer(0);
    const int64_t start = rows.integer(1);
    const int64_t end = rows.integer(2);
    auto it =
        std::lower_bound(events->begin(), events->end(), std::tie(pid, start),
                         [](const Event& e, const std::tuple<const int64_t&, const int64_t&>& at) {
                           return e.place() < at;
                         });
    for (; it != events->end() && it->pid == pid && it->row.ts_ns <= end; ++it) {
      const bool fits = classes.of(rows.integer(3)) == it->expected;
      const auto rank = [](bool right, int64_t from, int64_t to, const std::string& name) {
        return std::tuple(right, from, -to, name);
      };
      if (it->call != 0 &&
          rank(fits, start, end, names.of(rows.integer(3))) <=
              rank(it->fits, it->call_start_ns, it->call_end_ns, names.of(it->call))) {
        continue;
      }
      it->fits = fits;
      it->call_start_ns = start;
      it->call_end_ns = end;
      it->call = rows.integer(3);
    }
  }
  for (Event& e : *events) {
    if (e.call != 0) e.row.call = base_call_name(names.of(e.call));
  }
}

template <class Row>
void keep(std::vector<Row>* rows, Row row, int64_t ts_ns, std::vector<int64_t>* times) {
  const bool inside = row.in_request && *row.in_request;
  // In-request rows first: they are what the question asks for.
  const auto at = std::find_if(rows->begin(), rows->end(), [&](const Row& other) {
    const bool other_inside = other.in_request && *other.in_request;
    const int64_t other_ts = (*times)[static_cast<size_t>(&other - rows->data())];
    return inside != other_inside ? inside : ts_ns < other_ts;
  });
  times->insert(times->begin() + (at - rows->begin()), ts_ns);
  rows->insert(at, std::move(row));
  if (rows->size() > kMaxLoadRows) {
    rows->pop_back();
    times->pop_back();
  }
}

void read_jit(Database& trace, const Window& window, const Recorded& recorded, const Phases& phases,
              Loading* out) {
  if (const auto why = recorded.why_not({"JIT"})) {
    out->jit_steps = out->jit_in_request = out->jit_in_window = Answer<int64_t>::unknown(*why);
    return;
  }
  static constexpr const char* kSteps[] = {"unknown", "cache load", "cache store", "compilation"};
  static constexpr const char* kSources[] = {"unknown", "PTX", "NVVM IR"};
  const auto named = [](const auto& list, int64_t i) {
    return list[i >= 0 && i < static_cast<int64_t>(std::size(list)) ? i : 0];
  };
  int64_t steps = 0;
  int64_t in_request = 0;
  int64_t untimed = 0;
  std::set<std::pair<int64_t, int64_t>> in_window;
  std::vector<int64_t> times;
  Statement rows = trace.prepare(
      "SELECT pid, entry_type, operation, start_ns, end_ns, operation_corr, s.value FROM jit j "
      "LEFT JOIN str s ON s.id = j.cache_path_id ORDER BY start_ns, end_ns, operation, corr");
  while (rows.step()) {
    ++steps;
    JitStep step;
    step.source = named(kSources, rows.integer(1));
    step.step = named(kSteps, rows.integer(2));
    step.cache_path = rows.optional_string(6);
    step.start_ns = rows.optional_integer(3);
    if (step.start_ns) {
      const int64_t end = rows.integer(4);
      step.ns = end - *step.start_ns;
      step.phase = phases.of(*step.start_ns);
      step.in_request = phases.in_request(*step.start_ns, end);
      if (step.in_request && *step.in_request) ++in_request;
      if (window.touches(*step.start_ns, end)) {
        in_window.emplace(rows.integer(0), rows.integer(5));
      }
    } else {
      ++untimed;
      step.phase = Answer<std::string>::unknown("the record has no times");
      step.in_request = Answer<bool>::unknown("the record has no times");
    }
    const int64_t at = step.start_ns.value_or(0);
    keep(&out->jit, std::move(step), at, &times);
  }
  out->jit_steps = Answer<int64_t>::of(steps);
  if (untimed > 0) {
    out->jit_in_request = out->jit_in_window =
        Answer<int64_t>::unknown(std::to_string(untimed) + " records of compilation have no times");
    return;
  }
  out->jit_in_window = Answer<int64_t>::of(static_cast<int64_t>(in_window.size()));
  out->jit_in_request = window.source == WindowSource::kCapture
                            ? Answer<int64_t>::unknown(kNoRequests)
                            : Answer<int64_t>::of(in_request);
}

Answer<LazyLoads> read_lazy(Database& trace, const Window& window, const Recorded& recorded) {
  if (const auto why = recorded.why_not({"OVERHEAD"})) return Answer<LazyLoads>::unknown(*why);
  LazyLoads out;
  Statement rows = trace.prepare(
      "SELECT kind, start_ns, end_ns FROM overhead WHERE kind IN (?1, ?2) AND start_ns IS NOT "
      "NULL");
  rows.bind_all(kModuleLoading, kFunctionLoading);
  while (rows.step()) {
    if (!window.touches(rows.integer(1), rows.integer(2))) continue;
    const int64_t ns = window.inside_ns(rows.integer(1), rows.integer(2));
    if (rows.integer(0) == kModuleLoading) {
      ++out.modules;
      out.module_ns += ns;
    } else {
      ++out.functions;
      out.function_ns += ns;
    }
  }
  return Answer<LazyLoads>::of(out);
}

}  // namespace

Answer<Loading> loading(Database& trace, const Window& window, const Recorded& recorded) {
  if (const auto why = recorded.why_not({"CONTEXT", "MODULE"})) {
    return Answer<Loading>::unknown(*why);
  }
  Loading out;
  Names names(trace);
  const Phases phases(trace, window);
  std::vector<Event> events = read_events(trace, phases);
  find_calls(trace, names, &events);
  int64_t contexts_inside = 0;
  int64_t modules_inside = 0;
  std::vector<int64_t> times;
  for (Event& e : events) {
    const bool module = e.row.what == "module";
    const bool inside = e.row.in_request && *e.row.in_request;
    ++(module ? out.modules : out.contexts);
    if (inside) ++(module ? modules_inside : contexts_inside);
    if (module && window.starts_inside(e.row.ts_ns)) ++out.modules_in_window;
    const int64_t ts = e.row.ts_ns;
    keep(&out.rows, std::move(e.row), ts, &times);
  }
  if (window.source == WindowSource::kCapture) {
    out.contexts_in_request = out.modules_in_request = Answer<int64_t>::unknown(kNoRequests);
  } else {
    out.contexts_in_request = Answer<int64_t>::of(contexts_inside);
    out.modules_in_request = Answer<int64_t>::of(modules_inside);
  }
  read_jit(trace, window, recorded, phases, &out);
  out.lazy = read_lazy(trace, window, recorded);
  return Answer<Loading>::of(std::move(out));
}

}  // namespace prof

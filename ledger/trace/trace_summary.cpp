#include "ledger/trace/trace_summary.hpp"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <utility>

#include "ledger/trace/intervals.hpp"
#include "ledger/trace/stage_ranges.hpp"
#include "ledger/trace/trace_schema.hpp"
#include "prover/errors.hpp"

namespace ledger {
namespace {

std::string fact(const TraceSummary& summary, std::string_view key) {
  const auto it = summary.meta.find(std::string(key));
  return it == summary.meta.end() ? std::string() : it->second;
}

void read_facts(Database& trace, TraceSummary& out) {
  Statement rows = trace.prepare("SELECT key, value FROM meta");
  while (rows.step()) out.meta.emplace(rows.string(0), rows.string(1));
  out.tool = fact(out, trace_meta::kTool);
  out.tool_version = fact(out, trace_meta::kToolVersion);
  out.created_utc = fact(out, trace_meta::kCreatedUtc);
}

void grade(Database& trace, TraceSummary& out) {
  const bool truncated = fact(out, trace_meta::kTrailer) != "1";
  if (truncated) {
    out.reasons.emplace_back("the record log has no trailer: the recorder did not reach its end");
  }
  Statement losses = trace.prepare("SELECT kind, count FROM loss ORDER BY kind");
  while (losses.step()) {
    out.losses.push_back({losses.string(0), losses.integer(1)});
    out.reasons.push_back("lost: " + out.losses.back().kind + ", " +
                          std::to_string(out.losses.back().count) + " records");
  }
  out.quarantined = trace.query_integer("SELECT COUNT(*) FROM quarantine");
  if (out.quarantined > 0) {
    out.reasons.push_back("not understood: " + std::to_string(out.quarantined) + " records");
  }
  const std::string missing = fact(out, trace_meta::kMissingKinds);
  if (!missing.empty()) out.reasons.push_back("required, but not recorded: " + missing);
  out.evidence = truncated             ? TraceEvidence::kTruncated
                 : out.reasons.empty() ? TraceEvidence::kComplete
                                       : TraceEvidence::kIncomplete;
}

/// Rows of each kind, and those without times.
void count_rows(Database& trace, TraceSummary& out) {
  Statement ops = trace.prepare(
      "SELECT SUM(kind = 1), SUM(kind = 1 AND start_ns IS NULL),"
      " SUM(kind = 2), SUM(kind = 2 AND start_ns IS NULL),"
      " SUM(kind = 3), SUM(kind = 3 AND start_ns IS NULL),"
      " SUM(kind = 4), SUM(kind = 4 AND start_ns IS NULL) FROM gpu_op");
  STWO_CHECK(ops.step(), "an aggregate has a row");
  int column = 0;
  for (const char* kind : {"kernel", "copy", "fill", "graph"}) {
    out.counts.push_back({kind, ops.integer(column), ops.integer(column + 1)});
    column += 2;
  }
  static constexpr std::pair<const char*, const char*> kTables[] = {
      {"api", "start_ns"},    {"sync", "start_ns"},     {"cuda_event", "device_ts_ns"},
      {"mem_event", "ts_ns"}, {"pool_event", "ts_ns"},  {"res_event", "ts_ns"},
      {"jit", "start_ns"},    {"overhead", "start_ns"}, {"nvtx", "start_ns"}};
  for (const auto& [table, time] : kTables) {
    Statement rows =
        trace.prepare(std::string("SELECT COUNT(*), COUNT(*) - COUNT(") + time + ") FROM " + table);
    STWO_CHECK(rows.step(), "an aggregate has a row");
    out.counts.push_back({table, rows.integer(0), rows.integer(1)});
  }
}

WindowRole role_of(std::string_view name) {
  if (name == "first") return WindowRole::kFirst;
  if (name == "warmup") return WindowRole::kWarmup;
  return WindowRole::kSteady;
}

void read_windows(Database& trace, TraceSummary& out) {
  Statement rows = trace.prepare(
      "SELECT request, role, begin_ns, resident_begin_ns, resident_end_ns, end_ns FROM window "
      "ORDER BY request");
  while (rows.step()) {
    out.windows.push_back({rows.integer(0), role_of(rows.text(1)), rows.integer(2), rows.integer(3),
                           rows.integer(4), rows.integer(5)});
  }
}

/// The timed operations of one device, in order.
struct DeviceRows {
  Statement rows;
  Interval next;
  UnionOfIntervals covered;
  DeviceActivity activity;

  bool advance() {
    if (!rows.step()) return false;
    next = {rows.integer(0), rows.integer(1)};
    return true;
  }
};

/// Unions of the operations, per device and over all of them, in one pass: the devices' rows come
/// in order and are merged.
void read_activity(Database& trace, TraceSummary& out) {
  std::vector<DeviceRows> devices;
  Statement ids = trace.prepare("SELECT DISTINCT device_id FROM gpu_op ORDER BY device_id");
  while (ids.step()) {
    Statement rows = trace.prepare(
        "SELECT start_ns, end_ns FROM gpu_op WHERE device_id = ?1 AND start_ns IS NOT NULL "
        "ORDER BY start_ns, end_ns");
    rows.bind(1, ids.integer(0));
    devices.push_back({std::move(rows), {}, {}, {}});
    devices.back().activity.device_id = ids.integer(0);
  }
  const auto later = [&](size_t a, size_t b) {
    return devices[a].next.start_ns > devices[b].next.start_ns;
  };
  std::priority_queue<size_t, std::vector<size_t>, decltype(later)> queue(later);
  for (size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].advance()) queue.push(i);
  }
  UnionOfIntervals covered;
  while (!queue.empty()) {
    const size_t i = queue.top();
    queue.pop();
    DeviceRows& device = devices[i];
    // Its rows up to the next one of another device need no queue.
    bool more = true;
    while (more && (queue.empty() || device.next.start_ns <= devices[queue.top()].next.start_ns)) {
      DeviceActivity& activity = device.activity;
      if (activity.operations++ == 0) activity.first_ns = device.next.start_ns;
      activity.last_ns = std::max(activity.last_ns, device.next.end_ns);
      device.covered.add(device.next);
      covered.add(device.next);
      more = device.advance();
    }
    if (more) queue.push(i);
  }
  for (DeviceRows& device : devices) {
    if (device.activity.operations == 0) continue;
    device.activity.busy_ns = device.covered.covered_ns();
    device.activity.islands = device.covered.islands();
    out.devices.push_back(device.activity);
    out.first_ns =
        std::min(out.first_ns.value_or(device.activity.first_ns), device.activity.first_ns);
    out.last_ns = std::max(out.last_ns.value_or(device.activity.last_ns), device.activity.last_ns);
  }
  if (out.first_ns) out.span_ns = *out.last_ns - *out.first_ns;
  out.busy_ns = covered.covered_ns();
}

/// Launches of a kernel in a stage.
class Launches {
 public:
  Launches() = default;
  Launches(const Launches&) = delete;
  Launches& operator=(const Launches&) = delete;

  std::vector<int64_t> durations_ns;
  int64_t untimed = 0;
  std::map<LaunchShape, int64_t> shapes;  ///< how many launches have it

  void add(const LaunchShape& shape) {
    // Launches of one kernel mostly look alike.
    if (last_ == nullptr || last_->first != shape) last_ = &*shapes.try_emplace(shape, 0).first;
    ++last_->second;
  }

 private:
  std::pair<const LaunchShape, int64_t>* last_ = nullptr;
};

KernelStat statistics(Launches& launches) {
  KernelStat out;
  std::vector<int64_t>& d = launches.durations_ns;
  out.launches = static_cast<int64_t>(d.size()) + launches.untimed;
  out.untimed = launches.untimed;
  if (!d.empty()) {
    const auto middle = d.begin() + static_cast<ptrdiff_t>((d.size() - 1) / 2);
    std::nth_element(d.begin(), middle, d.end());
    out.median_ns = *middle;
    const auto [least, most] = std::minmax_element(d.begin(), d.end());
    out.min_ns = *least;
    out.max_ns = *most;
    for (const int64_t ns : d) out.total_ns += ns;
  }
  for (const auto& [shape, count] : launches.shapes) {
    if (count > out.shape_launches) {
      out.shape = shape;
      out.shape_launches = count;
    }
  }
  return out;
}

void read_kernels(Database& trace, TraceSummary& out) {
  StageFinder stages(trace);
  // By kernel name and stage name, both ids of table str.
  std::map<std::pair<StrId, StrId>, Launches> groups;
  std::pair<StrId, StrId> last_key;
  Launches* last = nullptr;
  // The kernels in the order of the file; their operations lie in the same order.
  Statement rows = trace.prepare(
      "SELECT o.pid, o.corr, o.start_ns, o.end_ns, k.name_id, k.grid_x, k.grid_y, k.grid_z, "
      "k.block_x, k.block_y, k.block_z, k.dynamic_shared_bytes, k.registers "
      "FROM kernel k CROSS JOIN gpu_op o ON o.id = k.op_id");
  while (rows.step()) {
    const StrId stage = stages.has_stages() ? stages.stage_of(rows.integer(0), rows.integer(1)) : 0;
    const std::pair<StrId, StrId> key(rows.integer(4), stage);
    if (last == nullptr || key != last_key) {
      last = &groups[key];
      last_key = key;
    }
    if (rows.is_null(2)) {
      ++last->untimed;
    } else {
      last->durations_ns.push_back(rows.integer(3) - rows.integer(2));
    }
    last->add({{rows.integer(5), rows.integer(6), rows.integer(7)},
               {rows.integer(8), rows.integer(9), rows.integer(10)},
               rows.integer(11),
               rows.integer(12)});
  }
  Statement name = trace.prepare("SELECT value FROM str WHERE id = ?1");
  const auto text = [&](StrId id) {
    name.reset().bind(1, id);
    STWO_CHECK(name.step(), "a name is in the table of names");
    return name.string(0);
  };
  for (auto& [key, launches] : groups) {
    KernelStat stat = statistics(launches);
    stat.kernel = text(key.first);
    if (key.second != 0) stat.stage = text(key.second);
    out.kernels.push_back(std::move(stat));
  }
  std::sort(out.kernels.begin(), out.kernels.end(), [](const KernelStat& a, const KernelStat& b) {
    if (a.total_ns != b.total_ns) return a.total_ns > b.total_ns;
    return std::tie(a.kernel, a.stage) < std::tie(b.kernel, b.stage);
  });
}

}  // namespace

std::string_view evidence_name(TraceEvidence evidence) {
  static constexpr std::string_view kNames[] = {"complete", "incomplete", "truncated"};
  return kNames[static_cast<size_t>(evidence)];
}

int64_t TraceSummary::lost() const {
  int64_t sum = quarantined;
  for (const LossRow& row : losses) sum += row.count;
  return sum;
}

const KindCount& TraceSummary::count(std::string_view kind) const {
  const auto it = std::find_if(counts.begin(), counts.end(),
                               [&](const KindCount& entry) { return entry.kind == kind; });
  STWO_CHECK(it != counts.end(), "unknown kind of rows");
  return *it;
}

TraceSummary summarize_trace(Database& trace) {
  TraceSummary out;
  read_facts(trace, out);
  grade(trace, out);
  count_rows(trace, out);
  read_windows(trace, out);
  read_activity(trace, out);
  read_kernels(trace, out);
  return out;
}

}  // namespace ledger

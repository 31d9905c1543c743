#include "prof/export/perfetto.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "ledger/trace/trace_rows.hpp"
#include "ledger/trace/trace_schema.hpp"
#include "prof/export/lanes.hpp"
#include "prof/export/perfetto_parts.hpp"
#include "prover/errors.hpp"

namespace prof {

namespace {

constexpr size_t kCachedNames = 100'000;
/// Above every process number of Linux (at most 2^22).
constexpr int64_t kFirstDevicePid = 1'000'000'000;
constexpr int64_t kProgressStep = 100'000;

std::string name_of_process(ledger::Database& trace, int64_t pid) {
  ledger::Statement name = trace.prepare("SELECT value FROM meta WHERE key = ?1");
  const std::string key = std::string(ledger::trace_meta::kProcessName) + std::to_string(pid);
  name.bind(1, std::string_view(key));
  return "process " + std::to_string(pid) + (name.step() ? " " + name.string(0) : "");
}

std::string lane_name(const std::string& track, size_t lane) {
  return lane == 0 ? track : track + " (lane " + std::to_string(lane + 1) + ")";
}

/// The tracks of a thread or stream, made when they are needed.
class Lanes {
 public:
  Lanes(EventWriter& writer, int64_t pid, std::string name)
      : writer_(writer), pid_(pid), name_(std::move(name)) {}
  const Track& at(size_t lane) {
    while (tracks_.size() <= lane) {
      tracks_.push_back(writer_.track(pid_, lane_name(name_, tracks_.size())));
    }
    return tracks_[lane];
  }

 private:
  EventWriter& writer_;
  int64_t pid_;
  std::string name_;
  std::vector<Track> tracks_;
};

class Exporter {
 public:
  Exporter(ledger::Database& trace, const TextSink& sink, const ExportProgress& progress)
      : trace_(trace),
        progress_(progress),
        writer_(start(trace, sink, &end_ns_)),
        names_(trace),
        devices_(trace, writer_) {}

  PerfettoCounts run();

 private:
  static EventWriter start(ledger::Database& trace, const TextSink& sink, int64_t* end_ns);
  void write_processes();
  void write_calls();
  void write_calls_of(int64_t pid, int64_t tid);
  void write_ranges();
  void write_ranges_of(int64_t pid, int64_t tid, std::optional<int64_t> domain);
  void write_operations();
  void write_operations_of(int64_t pid, int64_t device, int64_t context, int64_t stream);
  std::string operation_args(ledger::Statement& row);
  void link(int64_t op, int64_t pid, int64_t corr, const Track& track, int64_t start_ns);
  void step(const char* what, int64_t done);

  ledger::Database& trace_;
  const ExportProgress& progress_;
  int64_t end_ns_ = 0;
  EventWriter writer_;
  JsonNames names_;
  DeviceProcesses devices_;
  PerfettoCounts counts_;
  int64_t total_ = 0;
  /// First track of the calls of a thread, by process and thread.
  std::map<std::pair<int64_t, int64_t>, Track> call_tracks_;
  /// The track of each call that is not on its thread's first one.
  std::unordered_map<int64_t, Track> moved_calls_;
  std::optional<ledger::Statement> first_call_;
};

EventWriter Exporter::start(ledger::Database& trace, const TextSink& sink, int64_t* end_ns) {
  int64_t first =
      trace.query_integer("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'session_start_ns'");
  int64_t last = first;
  for (const char* sql : {"SELECT MIN(start_ns), MAX(end_ns) FROM gpu_op",
                          "SELECT MIN(start_ns), MAX(end_ns) FROM api",
                          "SELECT MIN(start_ns), MAX(COALESCE(end_ns, start_ns)) FROM nvtx",
                          "SELECT MIN(ts_ns), MAX(ts_ns) FROM mem_event"}) {
    ledger::Statement row = trace.prepare(sql);
    STWO_CHECK(row.step(), "an aggregate has a row");
    if (row.is_null(0)) continue;
    first = std::min(first, row.integer(0));
    last = std::max(last, row.integer(1));
  }
  *end_ns = last;
  return EventWriter(sink, first);
}

void Exporter::step(const char* what, int64_t done) {
  if (progress_ && done % kProgressStep == 0) progress_(what, done, total_);
}

void Exporter::write_processes() {
  ledger::Statement pids = trace_.prepare(
      "SELECT pid FROM api UNION SELECT pid FROM nvtx UNION SELECT pid FROM mem_event ORDER BY 1");
  int64_t index = 0;
  while (pids.step()) {
    writer_.process_name(pids.integer(0), name_of_process(trace_, pids.integer(0)), ++index);
  }
}

void Exporter::write_calls() {
  total_ = trace_.query_integer("SELECT COUNT(*) FROM api");
  counts_.untimed += trace_.query_integer("SELECT COUNT(*) FROM api WHERE start_ns IS NULL");
  std::vector<std::pair<int64_t, int64_t>> threads;
  ledger::Statement rows = trace_.prepare("SELECT DISTINCT pid, tid FROM api ORDER BY pid, tid");
  while (rows.step()) threads.emplace_back(rows.integer(0), rows.integer(1));
  for (const auto& [pid, tid] : threads) write_calls_of(pid, tid);
}

void Exporter::write_calls_of(int64_t pid, int64_t tid) {
  ledger::Statement rows = trace_.prepare(
      "SELECT id, name_id, start_ns, end_ns, corr, rc FROM api WHERE tid = ?1 AND pid = ?2 AND "
      "start_ns IS NOT NULL ORDER BY start_ns, end_ns DESC, id");
  rows.bind_all(tid, pid);
  Lanes tracks(writer_, pid, "thread " + std::to_string(tid) + ": CUDA calls");
  NestedLanes lanes;
  while (rows.step()) {
    const size_t lane = lanes.place(rows.integer(2), rows.integer(3));
    const Track& track = tracks.at(lane);
    if (lane > 0) moved_calls_.emplace(rows.integer(0), track);
    writer_.slice(track, names_.of(rows.integer(1)), "api", rows.integer(2), rows.integer(3),
                  "\"corr\":" + std::to_string(rows.integer(4)) +
                      ",\"rc\":" + std::to_string(rows.integer(5)));
    step("calls", ++counts_.calls);
  }
  if (lanes.count() > 0) call_tracks_.emplace(std::pair(pid, tid), tracks.at(0));
}

void Exporter::write_ranges() {
  total_ = trace_.query_integer("SELECT COUNT(*) FROM nvtx");
  struct Thread {
    int64_t pid;
    int64_t tid;
    std::optional<int64_t> domain;
  };
  std::vector<Thread> threads;
  ledger::Statement rows =
      trace_.prepare("SELECT DISTINCT pid, tid, domain_id FROM nvtx ORDER BY pid, tid, domain_id");
  while (rows.step()) {
    threads.push_back({rows.integer(0), rows.integer(1), rows.optional_integer(2)});
  }
  for (const Thread& t : threads) write_ranges_of(t.pid, t.tid, t.domain);
}

void Exporter::write_ranges_of(int64_t pid, int64_t tid, std::optional<int64_t> domain) {
  std::string name = "thread " + std::to_string(tid) + ": ranges";
  if (domain) {
    ledger::Statement text = trace_.prepare("SELECT value FROM str WHERE id = ?1");
    text.bind(1, *domain);
    if (text.step()) name += " of " + text.string(0);
  }
  Lanes nested_tracks(writer_, pid, name);
  // Ranges that other threads may end need not lie inside each other.
  Lanes crossing_tracks(writer_, pid, name + ", start and end");
  NestedLanes nested;
  DisjointLanes crossing;
  ledger::Statement rows = trace_.prepare(
      "SELECT type, name_id, start_ns, end_ns, payload, category FROM nvtx WHERE tid = ?1 AND "
      "pid = ?2 AND domain_id IS ?3 "
      "ORDER BY start_ns, type <> 1 AND end_ns IS NULL DESC, end_ns DESC, id");
  rows.bind_all(tid, pid);
  rows.bind_value(3, ledger::value_or_null(domain));
  while (rows.step()) {
    const bool is_mark = rows.integer(0) == static_cast<int64_t>(ledger::NvtxType::kMark);
    const bool unclosed = !is_mark && rows.is_null(3);
    const int64_t start = rows.integer(2);
    const std::string label = rows.is_null(1) ? "\"\"" : names_.of(rows.integer(1));
    std::string args = "\"category\":" + std::to_string(rows.integer(5));
    if (!rows.is_null(4)) {
      args += ",\"payload\":" + std::to_string(static_cast<uint64_t>(rows.integer(4)));
    }
    if (unclosed) args += ",\"unclosed\":true";
    step("ranges", counts_.ranges + counts_.marks);
    if (is_mark) {
      writer_.instant(nested_tracks.at(0), label, "nvtx", start, args);
      ++counts_.marks;
      continue;
    }
    const int64_t end = unclosed ? end_ns_ : rows.integer(3);
    const bool is_nested = rows.integer(0) == static_cast<int64_t>(ledger::NvtxType::kPushPop);
    const Track& track = is_nested ? nested_tracks.at(nested.place(start, end))
                                   : crossing_tracks.at(crossing.place(start, end));
    writer_.slice(track, label, "nvtx", start, end, args);
    ++counts_.ranges;
    if (unclosed) ++counts_.unclosed;
  }
}

void Exporter::write_operations() {
  total_ = trace_.query_integer("SELECT COUNT(*) FROM gpu_op");
  counts_.untimed += trace_.query_integer("SELECT COUNT(*) FROM gpu_op WHERE start_ns IS NULL");
  first_call_ = trace_.prepare(
      "SELECT id, tid, start_ns FROM api WHERE pid = ?1 AND corr = ?2 AND start_ns IS NOT NULL "
      "ORDER BY start_ns, id LIMIT 1");
  std::vector<std::array<int64_t, 4>> streams;
  ledger::Statement rows = trace_.prepare(
      "SELECT DISTINCT pid, device_id, context_id, stream_id FROM gpu_op ORDER BY 1, 2, 3, 4");
  while (rows.step()) {
    streams.push_back({rows.integer(0), rows.integer(1), rows.integer(2), rows.integer(3)});
  }
  for (const auto& s : streams) write_operations_of(s[0], s[1], s[2], s[3]);
  first_call_.reset();
}

// Columns of write_operations_of, in this order.
enum Column : int {
  kId,
  kKind,
  kStart,
  kEnd,
  kCorr,
  kGraph,
  kNode,
  kShortName,
  kName,
  kGridX,
  kGridY,
  kGridZ,
  kBlockX,
  kBlockY,
  kBlockZ,
  kRegisters,
  kShared,
  kCopyKind,
  kCopyBytes,
  kFillBytes
};

std::string Exporter::operation_args(ledger::Statement& row) {
  const auto number = [&](Column column) { return std::to_string(row.integer(column)); };
  std::string args = "\"corr\":" + number(kCorr);
  if (!row.is_null(kGraph)) args += ",\"graph\":" + number(kGraph);
  if (!row.is_null(kNode)) {
    args += ",\"node\":" + std::to_string(static_cast<uint64_t>(row.integer(kNode)));
  }
  if (!row.is_null(kShortName)) {
    args += ",\"grid\":[" + number(kGridX) + "," + number(kGridY) + "," + number(kGridZ) +
            "],\"block\":[" + number(kBlockX) + "," + number(kBlockY) + "," + number(kBlockZ) +
            "],\"registers\":" + number(kRegisters) +
            ",\"dynamic_shared_bytes\":" + number(kShared);
    if (row.integer(kName) != row.integer(kShortName)) {
      args += ",\"kernel\":" + names_.of(row.integer(kName));
    }
  }
  if (!row.is_null(kCopyBytes)) args += ",\"bytes\":" + number(kCopyBytes);
  if (!row.is_null(kFillBytes)) args += ",\"bytes\":" + number(kFillBytes);
  return args;
}

/// Name of a copy by its kind, as ENUM_CUDA_MEMCPY_OPER lists them.
std::string copy_name(int64_t kind) {
  static constexpr std::array<const char*, 14> kNames = {
      "\"copy\"",          "\"copy HtoD\"",    "\"copy DtoH\"", "\"copy HtoA\"",
      "\"copy AtoH\"",     "\"copy AtoA\"",    "\"copy AtoD\"", "\"copy DtoA\"",
      "\"copy DtoD\"",     "\"copy HtoH\"",    "\"copy PtoP\"", "\"copy UVM HtoD\"",
      "\"copy UVM DtoH\"", "\"copy UVM DtoD\""};
  const auto index = static_cast<uint64_t>(kind);
  return index < kNames.size() ? kNames.at(index) : "\"copy\"";
}

void Exporter::write_operations_of(int64_t pid, int64_t device, int64_t context, int64_t stream) {
  ledger::Statement rows = trace_.prepare(
      "SELECT o.id, o.kind, o.start_ns, o.end_ns, o.corr, o.graph_id, o.graph_node_id, k.short_id,"
      " k.name_id, k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z, k.registers,"
      " k.dynamic_shared_bytes, c.copy_kind, c.bytes, f.bytes "
      "FROM gpu_op o LEFT JOIN kernel k ON k.op_id = o.id LEFT JOIN copy c ON c.op_id = o.id "
      "LEFT JOIN fill f ON f.op_id = o.id "
      "WHERE o.context_id = ?1 AND o.stream_id = ?2 AND o.pid = ?3 AND o.device_id = ?4 AND "
      "o.start_ns IS NOT NULL ORDER BY o.start_ns, o.end_ns DESC, o.id");
  rows.bind_all(context, stream, pid, device);
  Lanes tracks(writer_, devices_.of(pid, device),
               "context " + std::to_string(context) + ", stream " + std::to_string(stream));
  DisjointLanes lanes;
  while (rows.step()) {
    const int64_t start = rows.integer(kStart);
    const int64_t end = rows.integer(kEnd);
    const Track& track = tracks.at(lanes.place(start, end));
    const std::string args = operation_args(rows);
    switch (static_cast<ledger::OpKind>(rows.integer(kKind))) {
      case ledger::OpKind::kKernel:
        writer_.slice(track, names_.of(rows.integer(kShortName)), "kernel", start, end, args);
        break;
      case ledger::OpKind::kCopy:
        writer_.slice(track, copy_name(rows.integer(kCopyKind)), "copy", start, end, args);
        break;
      case ledger::OpKind::kFill: writer_.slice(track, "\"fill\"", "fill", start, end, args); break;
      case ledger::OpKind::kGraph:
        writer_.slice(track, "\"graph\"", "graph", start, end, args);
        break;
    }
    link(rows.integer(kId), pid, rows.integer(kCorr), track, start);
    step("operations", ++counts_.operations);
  }
}

void Exporter::link(int64_t op, int64_t pid, int64_t corr, const Track& track, int64_t start_ns) {
  first_call_->reset().bind_all(pid, corr);
  if (!first_call_->step()) return;
  const auto moved = moved_calls_.find(first_call_->integer(0));
  const Track& from =
      moved != moved_calls_.end() ? moved->second : call_tracks_.at({pid, first_call_->integer(1)});
  writer_.flow(op, from, first_call_->integer(2), track, start_ns);
  ++counts_.flows;
}

PerfettoCounts Exporter::run() {
  write_processes();
  write_calls();
  write_ranges();
  write_operations();
  counts_.untimed += trace_.query_integer("SELECT COUNT(*) FROM mem_event WHERE ts_ns IS NULL");
  write_memory(trace_, writer_, devices_, counts_);
  const auto member = [](const char* key, int64_t value) {
    return std::string(",\"") + key + "\":" + std::to_string(value);
  };
  writer_.finish("{\"schema\":\"stwo_prof_perfetto_v1\"" +
                 member("operations", counts_.operations) + member("calls", counts_.calls) +
                 member("ranges", counts_.ranges) + member("unclosed_ranges", counts_.unclosed) +
                 member("marks", counts_.marks) + member("flows", counts_.flows) +
                 member("memory_changes", counts_.memory_changes) +
                 member("untimed_left_out", counts_.untimed) +
                 member("unmatched_releases", counts_.unmatched_releases) + "}");
  return counts_;
}

}  // namespace

const std::string& JsonNames::of(int64_t id) {
  const auto it = known_.find(id);
  if (it != known_.end()) return it->second;
  if (known_.size() >= kCachedNames) known_.clear();
  select_.reset().bind(1, id);
  STWO_CHECK(select_.step(), "a name is in the table of names");
  return known_.emplace(id, text::json_string(select_.text(0))).first->second;
}

int64_t DeviceProcesses::of(int64_t pid, int64_t device) {
  const auto it = known_.find({pid, device});
  if (it != known_.end()) return it->second;
  const auto number = static_cast<int64_t>(known_.size());
  ledger::Statement row = trace_.prepare("SELECT name FROM device WHERE id = ?1");
  row.bind(1, device);
  std::string name = "GPU " + std::to_string(device);
  if (row.step()) name += " " + row.string(0);
  writer_.process_name(kFirstDevicePid + number, name + ", " + name_of_process(trace_, pid),
                       1'000'000 + number);
  return known_.emplace(std::pair(pid, device), kFirstDevicePid + number).first->second;
}

PerfettoCounts export_perfetto(ledger::Database& trace, const TextSink& sink,
                               const ExportProgress& progress) {
  return Exporter(trace, sink, progress).run();
}

}  // namespace prof

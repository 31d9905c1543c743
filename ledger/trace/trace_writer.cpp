#include "ledger/trace/trace_writer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "ledger/db/database.hpp"
#include "ledger/trace/trace_schema.hpp"
#include "ledger/trace/trace_seal.hpp"
#include "prover/cli/output_file.hpp"
#include "prover/errors.hpp"

namespace ledger {
namespace {

/// Rows of one transaction. A program that is killed leaves those before it readable for people.
constexpr int64_t kRowsPerTransaction = 1'000'000;

/// "INSERT INTO table VALUES (?,?,...)".
std::string insert_sql(std::string_view table, int columns) {
  std::string sql = "INSERT INTO " + std::string(table) + " VALUES (?";
  for (int i = 1; i < columns; ++i) sql += ",?";
  return sql + ")";
}

// One parameter of an insert, by the type of the field.
void put(Statement& statement, int index, std::string_view text) {
  statement.bind_static(index, text);
}
void put(Statement& statement, int index, const std::string& text) {
  statement.bind_static(index, text);
}
void put(Statement& statement, int index, const Blob& bytes) { statement.bind(index, bytes); }
template <std::integral T>
void put(Statement& statement, int index, T value) {
  statement.bind(index, static_cast<int64_t>(value));
}
template <class T>
requires std::is_enum_v<T>
void put(Statement& statement, int index, T value) {
  statement.bind(index, static_cast<int64_t>(value));
}
template <class T>
void put(Statement& statement, int index, const std::optional<T>& value) {
  if (value) {
    put(statement, index, *value);
  } else {
    statement.bind(index, std::monostate{});
  }
}

/// The prepared insert of one table.
class Inserter {
 public:
  Inserter(Database& database, std::string_view table, int columns)
      : statement_(database.prepare(insert_sql(table, columns))), columns_(columns) {}

  template <class... T>
  void operator()(const T&... values) {
    STWO_CHECK(static_cast<int>(sizeof...(T)) == columns_, "columns of an insert");
    int index = 0;
    (put(statement_, ++index, values), ...);
    statement_.run();
  }

 private:
  Statement statement_;
  int columns_;
};

std::string_view name_of(ResKind kind) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "context_created",    "context_destroyed",   "stream_created", "stream_destroyed",
      "module_loaded",      "module_unloaded",     "graph_created",  "graph_destroyed",
      "graph_exec_created", "graph_exec_destroyed"};
  return kNames.at(static_cast<size_t>(kind));
}

std::string_view name_of(WindowRole role) {
  static constexpr std::array<std::string_view, 3> kNames = {"first", "warmup", "steady"};
  return kNames.at(static_cast<size_t>(role));
}

/// Ends with the error that a failed call of the file system stands for.
[[noreturn]] void fail_file(const std::string& path, const char* doing) {
  throw stwo::EnvironmentError("OUTPUT_WRITE", "capture " + path + ": " + doing + ": " +
                                                   std::strerror(errno) +
                                                   "; check the disk and try again");
}

/// An open file or directory.
class FileDescriptor {
 public:
  FileDescriptor(std::string path, int flags) : path_(std::move(path)) {
    fd_ = ::open(path_.c_str(), flags | O_CLOEXEC);
  }
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  bool is_open() const { return fd_ >= 0; }
  /// Replaces text in place; `before` is what must be there.
  void replace_at(int64_t offset, std::string_view before, std::string_view text) const {
    std::string found(before.size(), ' ');
    if (::pread(fd_, found.data(), found.size(), offset) != static_cast<ssize_t>(found.size())) {
      fail_file(path_, "read");
    }
    STWO_CHECK(found == before, "the seal of " + path_ + " is not where it should be");
    if (::pwrite(fd_, text.data(), text.size(), offset) != static_cast<ssize_t>(text.size())) {
      fail_file(path_, "write");
    }
  }
  void make_read_only() const {
    if (::fchmod(fd_, 0444) != 0) fail_file(path_, "chmod");
  }
  void sync() const {
    // Some file systems have no way to do this for directories.
    if (::fsync(fd_) != 0 && errno != EINVAL && errno != EROFS) fail_file(path_, "fsync");
  }

 private:
  std::string path_;
  int fd_ = -1;
};

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

[[noreturn]] void refuse_existing(const std::string& path) {
  throw stwo::RefusedError("OUTPUT_EXISTS",
                           "output " + path + " exists; choose another name or give --force");
}

/// Gives the partial file its name. Without `replace` the name must be free, at this moment too.
void publish(const std::string& partial, const std::string& path, bool replace) {
  if (replace) {
    if (::rename(partial.c_str(), path.c_str()) != 0) fail_file(path, "rename");
  } else if (::link(partial.c_str(), path.c_str()) == 0) {
    if (::unlink(partial.c_str()) != 0) fail_file(partial, "unlink");
  } else if (errno == EEXIST) {
    refuse_existing(path);
  } else if (::renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) !=
             0) {
    // File systems without hard links get here first.
    if (errno == EEXIST) refuse_existing(path);
    fail_file(path, "rename");
  }
  const FileDescriptor directory(directory_of(path), O_RDONLY | O_DIRECTORY);
  if (directory.is_open()) directory.sync();
}

/// Reserves the name of the partial file.
std::string prepare_output(const std::string& path, TraceWriter::Existing existing) {
  const bool replace = existing == TraceWriter::Existing::kReplace;
  stwo::check_output(path, replace);
  std::string partial = path + ".partial";
  stwo::check_output(partial, replace);
  if (replace && ::unlink(partial.c_str()) != 0 && errno != ENOENT) fail_file(partial, "unlink");
  return partial;
}

/// The tables, before anything is prepared for them.
std::unique_ptr<Database> create_database(const std::string& partial) {
  auto database = std::make_unique<Database>(partial, OpenMode::kCreate);
  // The file is nobody else's and worth nothing before it is finished: no journal, no waiting for
  // the disk. Constraints and references are checked in one go at the end; evaluating them for each
  // row would take longer than storing it.
  database->execute(
      "PRAGMA page_size=16384; PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=OFF; "
      "PRAGMA synchronous=OFF; PRAGMA foreign_keys=OFF; PRAGMA ignore_check_constraints=ON; "
      "PRAGMA cache_size=-131072; PRAGMA temp_store=MEMORY; PRAGMA threads=2");
  database->execute("BEGIN");
  database->execute(trace_tables_sql());
  return database;
}

}  // namespace

struct TraceWriter::Impl {
  Impl(const std::string& target, Existing existing)
      : path(target),
        partial(prepare_output(target, existing)),
        replace(existing == Existing::kReplace),
        database(create_database(partial)) {}

  std::string path;
  std::string partial;
  bool replace;
  std::unique_ptr<Database> database;
  bool open = true;

  Database& db() {
    STWO_CHECK(open, "the capture is finalized");
    return *database;
  }

  // Statements are gone before their database is closed.
  struct Inserts {
    explicit Inserts(Database& d)
        : str(d, "str", 2),
          device(d, "device", 22),
          context(d, "context", 6),
          stream(d, "stream", 5),
          api(d, "api", 10),
          gpu_op(d, "gpu_op", 11),
          kernel(d, "kernel", 24),
          copy(d, "copy", 11),
          fill(d, "fill", 4),
          sync(d, "sync", 11),
          cuda_event(d, "cuda_event", 9),
          mem_event(d, "mem_event", 20),
          pool_event(d, "pool_event", 12),
          res_event(d, "res_event", 8),
          jit(d, "jit", 12),
          overhead(d, "overhead", 9),
          nvtx(d, "nvtx", 12),
          clock_pair(d, "clock_pair", 3),
          quarantine(d, "quarantine", 3),
          window(d, "window", 6),
          meta(d, "meta", 2) {}
    Inserter str, device, context, stream, api, gpu_op, kernel, copy, fill, sync, cuda_event,
        mem_event, pool_event, res_event, jit, overhead, nvtx, clock_pair, quarantine, window, meta;
  };
  std::optional<Inserts> inserts{std::in_place, *database};

  // Ids of the tables that count from 1.
  struct Ids {
    int64_t str = 0, api = 0, gpu_op = 0, sync = 0, cuda_event = 0, mem_event = 0, pool_event = 0,
            res_event = 0, jit = 0, overhead = 0, nvtx = 0, clock_pair = 0, quarantine = 0;
  };
  Ids ids;
  int64_t rows_in_transaction = 0;

  // Looked up by view, without making a string.
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, StrId, TextHash, std::equal_to<>> names;
  std::map<std::string, std::string, std::less<>> facts;
  std::map<int64_t, DeviceRow> devices;
  std::map<std::pair<int64_t, int64_t>, ContextRow> contexts;
  std::map<std::tuple<int64_t, int64_t, int64_t>, StreamRow> streams;
  std::map<int64_t, WindowRow> windows;

  [[noreturn]] void refuse(const char* table, const std::string& why) const {
    throw stwo::FormatError("TRACE_ROW", "capture " + partial + ": row of " + table + ": " + why);
  }

  void require(bool holds, const char* table, const char* why) const {
    if (!holds) refuse(table, why);
  }

  void require_span(const char* table, const TimeSpan& time) const {
    if (!time.start_ns && !time.end_ns) return;
    if (!time.start_ns) refuse(table, "end_ns without start_ns (expected both or neither)");
    if (!time.end_ns) refuse(table, "start_ns without end_ns (expected both or neither)");
    require_time(table, *time.start_ns);
    if (*time.end_ns < *time.start_ns) {
      refuse(table, "end_ns " + std::to_string(*time.end_ns) + " lies before start_ns " +
                        std::to_string(*time.start_ns));
    }
  }

  void require_time(const char* table, int64_t ns) const {
    if (ns <= 0) {
      refuse(table, "time " + std::to_string(ns) +
                        " is not above 0 (expected no time for a record without one)");
    }
  }
  void require_time(const char* table, const std::optional<int64_t>& ns) const {
    if (ns) require_time(table, *ns);
  }

  void require_name(const char* table, StrId id) const {
    if (id < 1 || id > ids.str) {
      refuse(table, "name " + std::to_string(id) + " was not interned (expected 1 to " +
                        std::to_string(ids.str) + ")");
    }
  }
  void require_name(const char* table, const std::optional<StrId>& id) const {
    if (id) require_name(table, *id);
  }

  void require_mem_kind(const char* table, int64_t kind) const {
    if (kind < 0 || kind > 7) {
      refuse(table, "memory kind " + std::to_string(kind) + " is unknown (expected 0 to 7)");
    }
  }

  Inserts& into() {
    STWO_CHECK(open && inserts, "the capture is finalized");
    return *inserts;
  }

  /// Called after each row.
  void count_row() {
    if (++rows_in_transaction < kRowsPerTransaction) return;
    rows_in_transaction = 0;
    database->execute("COMMIT; BEGIN");
  }

  int64_t gpu_op(OpKind kind, const GpuOpRow& op) {
    require_span("gpu_op", op.time);
    Inserts& in = into();
    const int64_t id = ids.gpu_op + 1;
    in.gpu_op(id, op.pid, kind, op.device_id, op.context_id, op.stream_id, op.time.start_ns,
              op.time.end_ns, op.corr, op.graph_id, op.graph_node_id);
    ids.gpu_op = id;
    count_row();
    return id;
  }

  /// True: the row is new. The same row again is ignored, another one with the same key refused.
  template <class Map, class Key, class Row>
  bool is_new(Map& known, const Key& key, const Row& row, const char* table) {
    const auto [it, inserted] = known.try_emplace(key, row);
    if (!inserted && !(it->second == row)) {
      refuse(table, "its id has been given to a different row");
    }
    return inserted;
  }

  void check_references();
  void check_structure();
};

TraceWriter::TraceWriter(const std::string& path, Existing existing)
    : impl_(std::make_unique<Impl>(path, existing)) {}

TraceWriter::~TraceWriter() {
  if (!impl_->open) return;
  try {
    // What has arrived so far is readable for people, though not for open_trace.
    impl_->inserts.reset();
    impl_->database->execute("COMMIT");
  } catch (const std::exception&) {
    // The disk has failed; the error was reported where it happened first.
  }
}

const std::string& TraceWriter::partial_path() const { return impl_->partial; }

StrId TraceWriter::intern(std::string_view text) {
  const auto it = impl_->names.find(text);
  if (it != impl_->names.end()) return it->second;
  const StrId id = impl_->ids.str + 1;
  impl_->into().str(id, text);
  impl_->ids.str = id;
  impl_->names.emplace(text, id);
  impl_->count_row();
  return id;
}

void TraceWriter::meta(std::string_view key, std::string_view value) {
  impl_->require(!key.empty(), "meta", "the key is empty");
  const auto it = impl_->facts.find(key);
  if (it != impl_->facts.end()) {
    if (it->second == value) return;
    impl_->refuse("meta", "key " + std::string(key) + " has the value \"" + it->second +
                              "\" already (found \"" + std::string(value) + "\")");
  }
  impl_->into().meta(key, value);
  impl_->facts.emplace(key, value);
}

void TraceWriter::device(const DeviceRow& r) {
  Impl::Inserts& in = impl_->into();
  if (!impl_->is_new(impl_->devices, r.id, r, "device")) return;
  in.device(r.id, r.uuid, r.name, r.sm_major, r.sm_minor, r.multiprocessors, r.memory_bytes,
            r.memory_bytes_per_s, r.l2_bytes, r.constant_bytes, r.clock_khz, r.warp_threads,
            r.copy_engines, r.max_threads_per_block, r.max_registers_per_block,
            r.max_shared_per_block_bytes, r.max_warps_per_sm, r.max_blocks_per_sm,
            r.max_registers_per_sm, r.max_shared_per_sm_bytes, r.ecc, r.mig);
}

void TraceWriter::context(const ContextRow& r) {
  Impl::Inserts& in = impl_->into();
  if (!impl_->is_new(impl_->contexts, std::pair(r.pid, r.id), r, "context")) return;
  in.context(r.pid, r.id, r.device_id, r.null_stream_id, r.parent_id, r.green);
}

void TraceWriter::stream(const StreamRow& r) {
  Impl::Inserts& in = impl_->into();
  if (!impl_->is_new(impl_->streams, std::tuple(r.pid, r.context_id, r.id), r, "stream")) return;
  in.stream(r.pid, r.context_id, r.id, r.priority, r.flag);
}

void TraceWriter::api(const ApiRow& r) {
  impl_->require_span("api", r.time);
  impl_->require_name("api", r.name);
  impl_->into().api(impl_->ids.api + 1, r.pid, r.tid, r.domain, r.cbid, r.name, r.time.start_ns,
                    r.time.end_ns, r.corr, r.rc);
  ++impl_->ids.api;
  impl_->count_row();
}

int64_t TraceWriter::kernel(const GpuOpRow& op, const KernelRow& r) {
  impl_->require_name("kernel", r.name);
  impl_->require_name("kernel", r.short_name);
  impl_->require_name("kernel", r.mangled_name);
  impl_->require_time("kernel", r.queued_ns);
  impl_->require_time("kernel", r.submitted_ns);
  const int64_t id = impl_->gpu_op(OpKind::kKernel, op);
  impl_->into().kernel(id, r.name, r.short_name, r.mangled_name, r.grid_x, r.grid_y, r.grid_z,
                       r.block_x, r.block_y, r.block_z, r.cluster_x, r.cluster_y, r.cluster_z,
                       r.static_shared_bytes, r.dynamic_shared_bytes, r.shared_executed_bytes,
                       r.registers, r.local_per_thread_bytes, r.local_total_bytes, r.grid_number,
                       r.launch_type, r.cache_config, r.queued_ns, r.submitted_ns);
  return id;
}

int64_t TraceWriter::copy(const GpuOpRow& op, const CopyRow& r) {
  impl_->require_mem_kind("copy", r.src_kind);
  impl_->require_mem_kind("copy", r.dst_kind);
  impl_->require(r.bytes >= 0, "copy", "its size is negative");
  const int64_t id = impl_->gpu_op(OpKind::kCopy, op);
  impl_->into().copy(id, r.copy_kind, r.src_kind, r.dst_kind, r.async, r.bytes, r.src_device_id,
                     r.src_context_id, r.dst_device_id, r.dst_context_id, r.copy_count);
  return id;
}

int64_t TraceWriter::fill(const GpuOpRow& op, const FillRow& r) {
  impl_->require_mem_kind("fill", r.mem_kind);
  impl_->require(r.bytes >= 0, "fill", "its size is negative");
  const int64_t id = impl_->gpu_op(OpKind::kFill, op);
  impl_->into().fill(id, r.value, r.bytes, r.mem_kind);
  return id;
}

int64_t TraceWriter::graph(const GpuOpRow& op) {
  impl_->require(op.graph_id.has_value(), "gpu_op", "a graph without graph_id");
  return impl_->gpu_op(OpKind::kGraph, op);
}

void TraceWriter::sync(const SyncRow& r) {
  impl_->require_span("sync", r.time);
  impl_->require(r.type >= 0 && r.type <= 4, "sync", "its type is unknown (expected 0 to 4)");
  impl_->into().sync(impl_->ids.sync + 1, r.pid, r.type, r.context_id, r.stream_id, r.event_id,
                     r.event_sync_id, r.time.start_ns, r.time.end_ns, r.corr, r.rc);
  ++impl_->ids.sync;
  impl_->count_row();
}

void TraceWriter::cuda_event(const CudaEventRow& r) {
  impl_->require_time("cuda_event", r.device_ts_ns);
  impl_->into().cuda_event(impl_->ids.cuda_event + 1, r.pid, r.device_id, r.context_id, r.stream_id,
                           r.event_id, r.event_sync_id, r.device_ts_ns, r.corr);
  ++impl_->ids.cuda_event;
  impl_->count_row();
}

void TraceWriter::mem_event(const MemEventRow& r) {
  impl_->require_time("mem_event", r.ts_ns);
  impl_->require_name("mem_event", r.name);
  impl_->require_mem_kind("mem_event", r.mem_kind);
  impl_->require(r.bytes >= 0, "mem_event", "its size is negative");
  impl_->into().mem_event(
      impl_->ids.mem_event + 1, r.pid, r.op, r.mem_kind, r.device_id, r.context_id, r.stream_id,
      r.address, r.bytes, r.ts_ns, r.pc, r.name, r.corr, r.async, r.pool_type, r.pool_address,
      r.pool_release_threshold_bytes, r.pool_bytes, r.pool_used_bytes, r.pool_pid);
  ++impl_->ids.mem_event;
  impl_->count_row();
}

void TraceWriter::pool_event(const PoolEventRow& r) {
  impl_->require_time("pool_event", r.ts_ns);
  impl_->into().pool_event(impl_->ids.pool_event + 1, r.pid, r.op, r.pool_type, r.device_id,
                           r.address, r.size_bytes, r.used_bytes, r.release_threshold_bytes,
                           r.min_keep_bytes, r.ts_ns, r.corr);
  ++impl_->ids.pool_event;
  impl_->count_row();
}

void TraceWriter::res_event(const ResEventRow& r) {
  impl_->require_time("res_event", r.ts_ns);
  impl_->require(!r.sha256 || r.sha256->size() == 64, "res_event",
                 "its digest does not have 64 characters");
  impl_->into().res_event(impl_->ids.res_event + 1, r.pid, name_of(r.kind), r.ts_ns, r.context_id,
                          r.object, r.bytes, r.sha256);
  ++impl_->ids.res_event;
  impl_->count_row();
}

void TraceWriter::jit(const JitRow& r) {
  impl_->require_span("jit", r.time);
  impl_->require_name("jit", r.cache_path);
  impl_->into().jit(impl_->ids.jit + 1, r.pid, r.tid, r.entry_type, r.operation, r.device_id,
                    r.time.start_ns, r.time.end_ns, r.corr, r.operation_corr, r.cache_bytes,
                    r.cache_path);
  ++impl_->ids.jit;
  impl_->count_row();
}

void TraceWriter::overhead(const OverheadRow& r) {
  impl_->require_span("overhead", r.time);
  impl_->into().overhead(impl_->ids.overhead + 1, r.pid, r.tid, r.kind, r.context_id, r.stream_id,
                         r.time.start_ns, r.time.end_ns, r.corr);
  ++impl_->ids.overhead;
  impl_->count_row();
}

void TraceWriter::nvtx(const NvtxRow& r) {
  impl_->require_time("nvtx", r.start_ns);
  if (r.end_ns) impl_->require_span("nvtx", {r.start_ns, r.end_ns});
  impl_->require_name("nvtx", r.domain);
  impl_->require_name("nvtx", r.name);
  impl_->require(r.type != NvtxType::kMark || !r.end_ns, "nvtx", "a mark with an end");
  impl_->into().nvtx(impl_->ids.nvtx + 1, r.pid, r.type, r.domain, r.name, r.tid, r.end_tid,
                     r.start_ns, r.end_ns, r.payload, r.category, r.flags);
  ++impl_->ids.nvtx;
  impl_->count_row();
}

void TraceWriter::clock_pair(const ClockPairRow& r) {
  impl_->require_time("clock_pair", r.realtime_ns);
  impl_->into().clock_pair(impl_->ids.clock_pair + 1, r.realtime_ns, r.monotonic_raw_ns);
  ++impl_->ids.clock_pair;
  impl_->count_row();
}

void TraceWriter::quarantine(const QuarantineRow& r) {
  impl_->require(!r.reason.empty(), "quarantine", "without a reason");
  impl_->into().quarantine(impl_->ids.quarantine + 1, r.reason, r.bytes);
  ++impl_->ids.quarantine;
  impl_->count_row();
}

void TraceWriter::loss(const LossRow& r) {
  impl_->require(!r.kind.empty(), "loss", "without a kind");
  impl_->require(r.count > 0, "loss", "its count is not above 0");
  Statement statement = impl_->db().prepare(
      "INSERT INTO loss VALUES (?1, ?2) ON CONFLICT (kind) DO UPDATE SET count = count + ?2");
  statement.bind_all(r.kind, r.count);
  statement.run();
}

void TraceWriter::window(const WindowRow& r) {
  impl_->require_time("window", r.begin_ns);
  impl_->require(r.begin_ns <= r.resident_begin_ns && r.resident_begin_ns <= r.resident_end_ns &&
                     r.resident_end_ns <= r.end_ns,
                 "window", "its times are not in order");
  Impl::Inserts& in = impl_->into();
  if (!impl_->is_new(impl_->windows, r.request, r, "window")) return;
  in.window(r.request, name_of(r.role), r.begin_ns, r.resident_begin_ns, r.resident_end_ns,
            r.end_ns);
}

void TraceWriter::Impl::check_references() {
  Statement check = database->prepare("PRAGMA foreign_key_check");
  if (check.step()) {
    throw stwo::ContractError("capture " + partial + ": row " + check.string(1) + " of " +
                              check.string(0) + " refers to a missing row of " + check.string(2));
  }
}

void TraceWriter::Impl::check_structure() {
  // Covers the constraints of the tables as well.
  database->execute("PRAGMA ignore_check_constraints=OFF");
  const std::string found = database->query_text("PRAGMA quick_check(1)");
  if (found != "ok") throw stwo::ContractError("capture " + partial + ": " + found);
}

void TraceWriter::finalize() {
  Impl& w = *impl_;
  for (const std::string_view key : {trace_meta::kTool, trace_meta::kToolVersion,
                                     trace_meta::kCreatedUtc, trace_meta::kSessionStartNs}) {
    STWO_CHECK(w.facts.contains(key), "a capture needs meta " + std::string(key));
  }
  meta(trace_meta::kFinalized, "1");
  w.inserts.reset();
  w.db().execute(trace_indexes_sql());
  const std::string no_seal(kSealLength, '0');
  w.db().execute("INSERT INTO seal VALUES ('" + no_seal + "')");
  // A sample of each index is enough to choose between them.
  w.db().execute("PRAGMA analysis_limit=1000; ANALYZE; COMMIT");
  w.check_references();
  w.check_structure();
  const int64_t offset = seal_offset(w.db());
  w.db().execute("PRAGMA journal_mode=DELETE");
  w.open = false;
  w.database.reset();

  const std::string digest = sealed_digest(w.partial, offset);
  const FileDescriptor file(w.partial, O_RDWR);
  if (!file.is_open()) fail_file(w.partial, "open");
  file.replace_at(offset, no_seal, digest);
  file.make_read_only();
  file.sync();
  publish(w.partial, w.path, w.replace);
}

}  // namespace ledger

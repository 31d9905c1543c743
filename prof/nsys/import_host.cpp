// What the host did: calls, waits, memory, ranges, and what the profiler cost.
#include <optional>
#include <unordered_map>

#include "prof/nsys/import_state.hpp"

namespace prof::nsys {
namespace {

/// Value of a stream or event that a synchronisation does not have, as a 32-bit pattern.
constexpr int64_t kNone = 0xffffffff;

std::optional<int64_t> unless_none(std::optional<int64_t> value) {
  if (value == kNone || value == -1) return std::nullopt;
  return value;
}

/// 16 or 32 bits of a payload, as it is shown.
std::optional<uint64_t> pattern(std::optional<int64_t> value) {
  if (!value) return std::nullopt;
  return static_cast<uint64_t>(*value);
}

/// A copy that returns when it is done.
bool waits_for_copy(std::string_view function) {
  return function.find("emcpy") != std::string_view::npos &&
         function.find("Async") == std::string_view::npos;
}

class CallNames {
 public:
  explicit CallNames(NsysFile& file) : file_(file) {}
  bool waits(int64_t string_id) {
    const auto it = known_.find(string_id);
    if (it != known_.end()) return it->second;
    bool waits = false;
    if (const std::optional<std::string> strings = file_.table("StringIds")) {
      ledger::Statement name =
          file_.prepare("SELECT value FROM \"" + *strings + "\" WHERE id = ?1");
      name.bind(1, string_id);
      waits = name.step() && waits_for_copy(name.text(0));
    }
    known_.emplace(string_id, waits);
    return waits;
  }

 private:
  NsysFile& file_;
  std::unordered_map<int64_t, bool> known_;
};

}  // namespace

void import_calls(ImportState& state, std::set<std::string>& absent) {
  static constexpr Column kColumns[] = {
      {"start"},  {"end"},        {"eventClass"}, {"globalTid"}, optional_column("correlationId"),
      {"nameId"}, {"returnValue"}};
  CallNames names(state.file);
  const auto store = [&](const Rows& row) {
    const int64_t event_class = row.integer(2);
    if (event_class != 0 && event_class != 1) {
      throw RowProblem("eventClass " + std::to_string(event_class) +
                       " is neither runtime nor driver");
    }
    const GlobalId thread = decode_global_id(row.integer(3));
    ledger::ApiRow out;
    out.pid = thread.pid;
    out.tid = thread.tid;
    out.domain = event_class == 0 ? ledger::ApiDomain::kRuntime : ledger::ApiDomain::kDriver;
    out.name = state.name(row.integer(5));
    out.time = state.span(row.integer(0), row.integer(1));
    out.corr = row.optional_integer(4).value_or(0);
    out.rc = row.integer(6);
    state.writer.api(out);
    state.saw_process(out.pid);
    if (names.waits(row.integer(5))) state.add_synchronous_copy(out.pid, out.corr);
    return true;
  };
  if (!state.each("CUPTI_ACTIVITY_KIND_RUNTIME", kColumns, store)) absent.insert("RUNTIME");
}

void import_waits(ImportState& state, std::set<std::string>& absent) {
  static constexpr Column kColumns[] = {{"start"},
                                        {"end"},
                                        {"contextId"},
                                        {"globalPid"},
                                        {"syncType"},
                                        optional_column("streamId"),
                                        optional_column("eventId"),
                                        optional_column("eventSyncId"),
                                        optional_column("correlationId")};
  const auto store = [&](const Rows& row) {
    ledger::SyncRow out;
    out.time = state.span(row.integer(0), row.integer(1));
    out.context_id = row.integer(2);
    out.pid = decode_global_id(row.integer(3)).pid;
    out.type = row.integer(4);
    out.stream_id = unless_none(row.optional_integer(5));
    out.event_id = unless_none(row.optional_integer(6));
    out.event_sync_id = pattern(row.optional_integer(7));
    out.corr = row.optional_integer(8).value_or(0);
    state.writer.sync(out);
    return true;
  };
  if (!state.each("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", kColumns, store)) {
    absent.insert("SYNCHRONIZATION");
  }
}

void import_events(ImportState& state) {
  static constexpr Column kColumns[] = {{"deviceId"},
                                        {"contextId"},
                                        {"streamId"},
                                        {"globalPid"},
                                        {"eventId"},
                                        optional_column("eventSyncId"),
                                        optional_column("correlationId")};
  state.each("CUPTI_ACTIVITY_KIND_CUDA_EVENT", kColumns, [&](const Rows& row) {
    ledger::CudaEventRow out;
    out.device_id = row.integer(0);
    out.context_id = row.integer(1);
    out.stream_id = row.integer(2);
    out.pid = decode_global_id(row.integer(3)).pid;
    out.event_id = row.integer(4);
    out.event_sync_id = pattern(row.optional_integer(5));
    out.corr = row.optional_integer(6).value_or(0);
    state.writer.cuda_event(out);
    return true;
  });
}

void import_memory(ImportState& state, std::set<std::string>& absent) {
  static constexpr Column kColumns[] = {{"start"},
                                        {"globalPid"},
                                        {"deviceId"},
                                        {"contextId"},
                                        {"address"},
                                        optional_column("pc"),
                                        {"bytes"},
                                        {"memKind"},
                                        {"memoryOperationType"},
                                        optional_column("name"),
                                        optional_column("correlationId"),
                                        optional_column("streamId"),
                                        optional_column("localMemoryPoolAddress"),
                                        optional_column("localMemoryPoolReleaseThreshold"),
                                        optional_column("localMemoryPoolSize"),
                                        optional_column("localMemoryPoolUtilizedSize"),
                                        optional_column("importedMemoryPoolAddress"),
                                        optional_column("importedMemoryPoolProcessId")};
  const auto store = [&](const Rows& row) {
    ledger::MemEventRow out;
    out.ts_ns = state.time(row.integer(0));
    out.pid = decode_global_id(row.integer(1)).pid;
    out.device_id = row.integer(2);
    out.context_id = row.integer(3);
    out.address = static_cast<uint64_t>(row.integer(4));
    out.pc = pattern(row.optional_integer(5));
    out.bytes = row.integer(6);
    out.mem_kind = cupti_mem_kind(row.integer(7));
    const int64_t op = row.integer(8);
    if (op != 0 && op != 1) {
      throw RowProblem("memoryOperationType " + std::to_string(op) + " is not 0 or 1");
    }
    out.op = op == 0 ? ledger::MemOp::kAllocation : ledger::MemOp::kRelease;
    if (const auto name = row.optional_text(9)) out.name = state.writer.intern(*name);
    out.corr = row.optional_integer(10).value_or(0);
    out.stream_id = row.optional_integer(11);
    out.async = out.stream_id.has_value();
    const std::optional<int64_t> own = row.optional_integer(12);
    const std::optional<int64_t> imported = row.optional_integer(16);
    if (own) out.pool_type = 1;
    if (imported) out.pool_type = 2;
    out.pool_address = pattern(own ? own : imported);
    out.pool_release_threshold_bytes = pattern(row.optional_integer(13));
    out.pool_bytes = row.optional_integer(14);
    out.pool_used_bytes = row.optional_integer(15);
    out.pool_pid = row.optional_integer(17);
    state.writer.mem_event(out);
    state.saw_process(out.pid);
    return true;
  };
  if (!state.each("CUDA_GPU_MEMORY_USAGE_EVENTS", kColumns, store)) absent.insert("MEMORY");
}

void import_ranges(ImportState& state) {
  // Event types of an export.
  constexpr int64_t kMark = 34;
  constexpr int64_t kPushPop = 59;
  constexpr int64_t kStartEnd = 60;
  constexpr int64_t kDomain = 75;
  constexpr int64_t kNames[] = {33, 39, 76};  // of categories and threads; a domain's end
  static constexpr Column kColumns[] = {{"start"},
                                        {"end"},
                                        {"eventType"},
                                        {"globalTid"},
                                        optional_column("endGlobalTid"),
                                        optional_column("text"),
                                        optional_column("textId"),
                                        optional_column("domainId"),
                                        optional_column("category"),
                                        optional_column("uint64Value"),
                                        optional_column("int64Value"),
                                        optional_column("uint32Value"),
                                        optional_column("int32Value")};
  const auto text_of = [&](const Rows& row) -> std::optional<ledger::StrId> {
    if (const auto text = row.optional_text(5)) return state.writer.intern(*text);
    if (const auto id = row.optional_integer(6)) return state.name(*id);
    return std::nullopt;
  };
  // A domain may be named after its first range.
  std::map<std::pair<int64_t, int64_t>, ledger::StrId> domains;
  const bool there = state.each("NVTX_EVENTS", kColumns, [&](const Rows& row) {
    try {
      if (row.integer(2) != kDomain) return false;
      const int64_t domain = row.optional_integer(7).value_or(0);
      const std::optional<ledger::StrId> name = text_of(row);
      if (name && domain != 0) {
        domains.emplace(std::pair(decode_global_id(row.integer(3)).pid, domain), *name);
      }
    } catch (const RowProblem&) {
      // The second pass reports rows that are not understood.
    }
    return false;
  });
  if (!there) return;
  state.each("NVTX_EVENTS", kColumns, [&](const Rows& row) {
    const int64_t type = row.integer(2);
    if (type == kDomain) {
      text_of(row);  // reports a name that is not there
      return false;
    }
    for (const int64_t other : kNames) {
      if (type == other) return false;
    }
    if (type != kMark && type != kPushPop && type != kStartEnd) {
      state.lose("NVTX events of type " + std::to_string(type));
      return false;
    }
    const GlobalId thread = decode_global_id(row.integer(3));
    ledger::NvtxRow out;
    out.pid = thread.pid;
    out.tid = thread.tid;
    out.type = type == kMark      ? ledger::NvtxType::kMark
               : type == kPushPop ? ledger::NvtxType::kPushPop
                                  : ledger::NvtxType::kStartEnd;
    out.start_ns = state.time(row.integer(0));
    if (const auto end = row.optional_integer(1); end && type != kMark) {
      out.end_ns = state.time(*end);
    }
    if (const auto end = row.optional_integer(4)) {
      const GlobalId end_thread = decode_global_id(*end);
      if (end_thread.tid != thread.tid) out.end_tid = end_thread.tid;
    }
    out.name = text_of(row);
    if (const int64_t domain = row.optional_integer(7).value_or(0); domain != 0) {
      const auto it = domains.find({thread.pid, domain});
      out.domain = it != domains.end()
                       ? it->second
                       : state.writer.intern("(domain " + std::to_string(domain) + ")");
    }
    out.category = row.optional_integer(8).value_or(0);
    for (size_t payload = 9; payload < 13 && !out.payload; ++payload) {
      out.payload = pattern(row.optional_integer(payload));
    }
    state.writer.nvtx(out);
    state.saw_process(out.pid);
    return true;
  });
}

void import_overhead(ImportState& state) {
  static constexpr Column kColumns[] = {{"start"},
                                        {"end"},
                                        {"globalTid"},
                                        optional_column("correlationId"),
                                        optional_column("overheadType")};
  // CUPTI numbers its kinds in steps of 65536, after unknown (0) and the compiler (1); an export
  // counts them up, with unknown at 1.
  constexpr int64_t kFirstStep = 3;
  constexpr int64_t kMaxType = 1000;
  const auto store = [&](const Rows& row) {
    const int64_t type = row.optional_integer(4).value_or(0);
    if (type < 0 || type > kMaxType) {
      throw RowProblem("overheadType " + std::to_string(type) + " is unknown");
    }
    const GlobalId thread = decode_global_id(row.integer(2));
    ledger::OverheadRow out;
    out.time = state.span(row.integer(0), row.integer(1));
    out.pid = thread.pid;
    if (thread.tid != 0) out.tid = thread.tid;
    out.corr = row.optional_integer(3);
    out.kind = type >= kFirstStep ? (type - 2) * 65536 : type == 2 ? 1 : 0;
    state.writer.overhead(out);
    return true;
  };
  state.each("CUPTI_ACTIVITY_KIND_OVERHEAD", kColumns, store);
  state.each("PROFILER_OVERHEAD", kColumns, store);
}

}  // namespace prof::nsys

#include "prof/ingest/record_rows.hpp"

#include "prof/ingest/kernel_names.hpp"
#include "prof/log/log_fields.hpp"
#include "prover/errors.hpp"

namespace prof {

const std::string& LogNames::text(int64_t id) const {
  const auto it = log_.names.find(id);
  if (it == log_.names.end()) {
    throw stwo::FormatError("RECORD_NAME",
                            "name " + std::to_string(id) + " is not defined in its log");
  }
  return it->second;
}

ledger::StrId LogNames::resolve(int64_t id) {
  const auto it = ids_.find(id);
  if (it != ids_.end()) return it->second;
  const ledger::StrId out = writer_.intern(text(id));
  ids_.emplace(id, out);
  return out;
}

LogNames::Kernel LogNames::kernel(int64_t mangled_id) {
  const auto it = kernels_.find(mangled_id);
  if (it != kernels_.end()) return it->second;
  const std::string name = demangled_name(text(mangled_id));
  const Kernel out{writer_.intern(name), writer_.intern(short_kernel_name(name)),
                   resolve(mangled_id)};
  kernels_.emplace(mangled_id, out);
  return out;
}

template <class Row>
Row RecordRows::decoded(const LogItem& item) const {
  auto row = decode<Row>(item.payload);
  if (!row) {
    throw stwo::FormatError(
        "RECORD_PAYLOAD",
        std::string("a record of kind ") + frame_name(item.kind) + " with impossible fields");
  }
  return std::move(*row);
}

void RecordRows::guarded(std::span<const uint8_t> bytes, const std::function<void()>& action) {
  try {
    action();
  } catch (const stwo::FormatError& error) {
    std::string reason = error.what();
    if (error.code() == "TRACE_ROW") {
      // The writer's words without the file's name, which is the same for all.
      const size_t row = reason.find(": row of ");
      if (row != std::string::npos) reason = reason.substr(row + 2);
      reason = "RECORD_ROW: " + reason;
    } else {
      reason = error.code() + ": " + reason;
    }
    quarantine(reason, bytes);
  }
}

void RecordRows::quarantine(const std::string& reason, std::span<const uint8_t> bytes) {
  writer_.quarantine({reason, std::vector<uint8_t>(bytes.begin(), bytes.end())});
  ++quarantined_;
}

void RecordRows::count_untimed(const char* table, bool untimed) {
  if (untimed) ++untimed_[table];
}

void RecordRows::prepare(ledger::GpuOpRow& op, bool keep_times) const {
  if (!keep_times) op.time = {};
}

void RecordRows::add(const LogItem& item, LogNames& names, bool keep_times) {
  guarded(item.raw, [&] { store(item, names, keep_times); });
}

void RecordRows::store(const LogItem& item, LogNames& names, bool keep_times) {
  switch (item.kind) {
    case FrameKind::kDevice: return writer_.device(decoded<ledger::DeviceRow>(item));
    case FrameKind::kContext: return writer_.context(decoded<ledger::ContextRow>(item));
    case FrameKind::kStream: return writer_.stream(decoded<ledger::StreamRow>(item));
    case FrameKind::kApi: {
      auto row = decoded<ledger::ApiRow>(item);
      row.name = names.resolve(row.name);
      writer_.api(row);
      return count_untimed("api", !row.time.start_ns);
    }
    case FrameKind::kKernel: {
      auto row = decoded<KernelOp>(item);
      prepare(row.op, keep_times);
      ledger::KernelRow& k = row.kernel;
      if (k.mangled_name == k.name && k.short_name == k.name) {
        const LogNames::Kernel kernel = names.kernel(k.name);
        k.name = kernel.name;
        k.short_name = kernel.short_name;
        k.mangled_name = kernel.mangled;
      } else {
        k.name = names.resolve(k.name);
        k.short_name = names.resolve(k.short_name);
        if (k.mangled_name) k.mangled_name = names.resolve(*k.mangled_name);
      }
      writer_.kernel(row.op, k);
      return count_untimed("kernel", !row.op.time.start_ns);
    }
    case FrameKind::kCopy: {
      auto row = decoded<CopyOp>(item);
      prepare(row.op, keep_times);
      writer_.copy(row.op, row.copy);
      return count_untimed("copy", !row.op.time.start_ns);
    }
    case FrameKind::kFill: {
      auto row = decoded<FillOp>(item);
      prepare(row.op, keep_times);
      writer_.fill(row.op, row.fill);
      return count_untimed("fill", !row.op.time.start_ns);
    }
    case FrameKind::kGraph: {
      auto row = decoded<GraphOp>(item);
      prepare(row.op, keep_times);
      writer_.graph(row.op);
      return count_untimed("graph", !row.op.time.start_ns);
    }
    case FrameKind::kSync: {
      const auto row = decoded<ledger::SyncRow>(item);
      writer_.sync(row);
      return count_untimed("sync", !row.time.start_ns);
    }
    // Times of these are asked for by nobody: they are null in every capture.
    case FrameKind::kCudaEvent: return writer_.cuda_event(decoded<ledger::CudaEventRow>(item));
    case FrameKind::kMemEvent: {
      auto row = decoded<ledger::MemEventRow>(item);
      if (row.name) row.name = names.resolve(*row.name);
      writer_.mem_event(row);
      return count_untimed("mem_event", !row.ts_ns);
    }
    case FrameKind::kPoolEvent: {
      const auto row = decoded<ledger::PoolEventRow>(item);
      writer_.pool_event(row);
      return count_untimed("pool_event", !row.ts_ns);
    }
    case FrameKind::kResEvent: return writer_.res_event(decoded<ledger::ResEventRow>(item));
    case FrameKind::kJit: {
      auto row = decoded<ledger::JitRow>(item);
      if (row.cache_path) row.cache_path = names.resolve(*row.cache_path);
      writer_.jit(row);
      return count_untimed("jit", !row.time.start_ns);
    }
    case FrameKind::kOverhead: {
      const auto row = decoded<ledger::OverheadRow>(item);
      writer_.overhead(row);
      return count_untimed("overhead", !row.time.start_ns);
    }
    case FrameKind::kClock: return writer_.clock_pair(decoded<ledger::ClockPairRow>(item));
    case FrameKind::kUnknown: {
      const auto row = decoded<UnknownRow>(item);
      throw stwo::FormatError("RECORD_KIND",
                              "activity kind " + std::to_string(row.kind) + " of CUPTI");
    }
    // Rows of ranges are made from their parts; the rest was read by the scan. Here they only have
    // to be readable.
    case FrameKind::kMarker: decoded<MarkerRow>(item); return;
    case FrameKind::kMarkerData: decoded<MarkerDataRow>(item); return;
    case FrameKind::kHeader: decoded<LogHeader>(item); return;
    case FrameKind::kString: decoded<StringRow>(item); return;
    case FrameKind::kProblem: decoded<LogProblem>(item); return;
    case FrameKind::kLoss: decoded<ledger::LossRow>(item); return;
    case FrameKind::kFact: decoded<LogFact>(item); return;
    case FrameKind::kTrailer: decoded<LogTrailer>(item); return;
  }
}

void RecordRows::add(const MarkerRange& range, LogNames& names) {
  guarded({}, [&] {
    ledger::NvtxRow row;
    row.pid = range.pid;
    row.type = range.type;
    if (range.domain != 0) row.domain = names.resolve(range.domain);
    if (range.name != 0) row.name = names.resolve(range.name);
    row.tid = range.tid;
    if (range.end_tid != 0) row.end_tid = range.end_tid;
    row.start_ns = range.start_ns;
    if (range.end_ns != 0) row.end_ns = range.end_ns;
    if (range.has_payload) row.payload = range.payload;
    row.category = range.category;
    row.flags = range.flags;
    writer_.nvtx(row);
  });
}

}  // namespace prof

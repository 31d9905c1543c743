#include "prof/ingest/log_scan.hpp"

#include <algorithm>
#include <cstring>

#include "prof/log/log_fields.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

/// Bytes between two calls of the progress.
constexpr uint64_t kProgressBytes = uint64_t{4} << 20;
/// Clock readings of one log that are kept: eleven days of one a second.
constexpr size_t kMaxClocks = 1'000'000;

/// A record's digest and number.
struct DigestEntry {
  uint64_t high;
  uint64_t low;
  uint64_t ordinal;
  auto key() const { return std::tie(high, low, ordinal); }
  bool operator<(const DigestEntry& o) const { return key() < o.key(); }
};

uint64_t mix(uint64_t value) {
  value ^= value >> 32;
  value *= 0xd6e8feb86659fd93ULL;
  value ^= value >> 32;
  value *= 0xd6e8feb86659fd93ULL;
  return value ^ (value >> 32);
}

/// Devices, contexts and streams may come again, and the writer knows; the parts of ranges are put
/// together later; two operations without times may look alike.
bool may_repeat(FrameKind kind) {
  return kind == FrameKind::kDevice || kind == FrameKind::kContext || kind == FrameKind::kStream ||
         kind == FrameKind::kMarker || kind == FrameKind::kMarkerData ||
         kind == FrameKind::kUnknown;
}

class Scanner {
 public:
  Scanner(LogScan& out, const std::string& scratch, size_t memory_bytes,
          const IngestProgress& progress)
      : out_(out),
        progress_(progress),
        digests_(scratch, memory_bytes),
        ops_(scratch, memory_bytes) {}

  void scan(LogReader& reader) {
    ScannedLog log;
    log.path = reader.path();
    log.header = reader.header();
    log.first_clock_ns = log.last_clock_ns = log.header.start.realtime_ns;
    clocks_ = {log.header.start};
    log_ = &log;
    uint64_t told = 0;
    while (const auto item = reader.next()) {
      if (item->damage.empty()) take(*item);
      if (reader.position() - told >= kProgressBytes) {
        told = reader.position();
        if (progress_) progress_(done_ + told, 2 * out_.total_bytes);
      }
    }
    done_ += reader.file_bytes();
    log.status = reader.status();
    log.steps = find_clock_steps(clocks_);
    out_.logs.push_back(std::move(log));
  }

  void finish() {
    DigestEntry entry{};
    DigestEntry last{};
    bool any = false;
    while (digests_.next(entry)) {
      if (any && entry.high == last.high && entry.low == last.low) {
        out_.duplicates->add(entry.ordinal);
      }
      last = entry;
      any = true;
    }
    find_corrupt_durations(ops_, [&](uint64_t ordinal) { out_.corrupt->add(ordinal); });
    out_.records = ordinal_;
  }

 private:
  uint16_t index() const { return static_cast<uint16_t>(out_.logs.size()); }

  void take(const LogItem& item) {
    const bool record = is_record(item.kind);
    const uint64_t ordinal = ordinal_;
    if (record) ++ordinal_;
    switch (item.kind) {
      case FrameKind::kString:
        if (auto row = decode<StringRow>(item.payload)) {
          log_->names.emplace(row->id, std::move(row->text));
        }
        return;
      case FrameKind::kClock: return clock(item);
      case FrameKind::kProblem:
        if (auto row = decode<LogProblem>(item.payload)) log_->problems.push_back(std::move(*row));
        return;
      case FrameKind::kLoss:
        if (auto row = decode<ledger::LossRow>(item.payload)) log_->losses.push_back(*row);
        return;
      case FrameKind::kFact:
        if (auto row = decode<LogFact>(item.payload)) out_.facts[row->key].insert(row->value);
        return;
      case FrameKind::kMarker: return marker(item, ordinal);
      case FrameKind::kMarkerData: return marker_data(item, ordinal);
      case FrameKind::kKernel:
        if (const auto row = decode<KernelOp>(item.payload)) operation(row->op, item, ordinal);
        return;
      case FrameKind::kCopy:
        if (const auto row = decode<CopyOp>(item.payload)) operation(row->op, item, ordinal);
        return;
      case FrameKind::kFill:
        if (const auto row = decode<FillOp>(item.payload)) operation(row->op, item, ordinal);
        return;
      case FrameKind::kGraph:
        if (const auto row = decode<GraphOp>(item.payload)) operation(row->op, item, ordinal);
        return;
      case FrameKind::kContext: log_->has_context = true; return;
      case FrameKind::kResEvent: log_->has_context = true; break;
      case FrameKind::kApi: log_->has_calls = true; break;
      default: break;
    }
    if (record && !may_repeat(item.kind)) note_digest(item, ordinal);
  }

  uint64_t note_digest(const LogItem& item, uint64_t ordinal) {
    const RecordDigest digest = digest_of(index(), item);
    digests_.add({digest.high, digest.low, ordinal});
    return digest.high;
  }

  void clock(const LogItem& item) {
    const auto row = decode<ledger::ClockPairRow>(item.payload);
    if (!row || row->realtime_ns <= 0) return;
    log_->first_clock_ns = std::min(log_->first_clock_ns, row->realtime_ns);
    log_->last_clock_ns = std::max(log_->last_clock_ns, row->realtime_ns);
    if (clocks_.size() < kMaxClocks) {
      clocks_.push_back(*row);
    } else {
      log_->losses.push_back({"clock_pairs_unchecked", 1});
    }
  }

  void operation(const ledger::GpuOpRow& op, const LogItem& item, uint64_t ordinal) {
    log_->has_context = true;
    if (!op.time.start_ns || !op.time.end_ns || *op.time.end_ns < *op.time.start_ns) return;
    OpInterval interval;
    interval.pid = static_cast<uint32_t>(op.pid);
    interval.context = static_cast<uint32_t>(op.context_id);
    interval.stream = static_cast<uint32_t>(op.stream_id);
    interval.corr = static_cast<uint32_t>(op.corr);
    interval.start_ns = *op.time.start_ns;
    interval.end_ns = *op.time.end_ns;
    interval.digest = note_digest(item, ordinal);
    interval.ordinal = ordinal;
    ops_.add(interval);
  }

  void marker(const LogItem& item, uint64_t ordinal) {
    const auto row = decode<MarkerRow>(item.payload);
    if (!row) return;
    MarkerPart part;
    part.log = index();
    part.part = row->phase == MarkerRow::Phase::kInstant ? MarkerPart::kInstant
                : row->phase == MarkerRow::Phase::kStart ? MarkerPart::kStart
                                                         : MarkerPart::kEnd;
    part.pid = row->pid;
    part.id = row->id;
    part.ts_ns = row->ts_ns.value_or(0);
    part.tid = row->tid;
    part.domain = row->domain.value_or(0);
    part.name = row->name.value_or(0);
    part.flags = row->flags;
    part.ordinal = ordinal;
    out_.markers->add(part);
  }

  void marker_data(const LogItem& item, uint64_t ordinal) {
    const auto row = decode<MarkerDataRow>(item.payload);
    if (!row) return;
    MarkerPart part;
    part.log = index();
    part.part = MarkerPart::kData;
    part.pid = log_->header.pid;
    part.id = row->id;
    part.category = row->category;
    part.has_payload = row->payload.has_value();
    part.payload = row->payload.value_or(0);
    part.ordinal = ordinal;
    out_.markers->add(part);
  }

  LogScan& out_;
  const IngestProgress& progress_;
  ExternalSorter<DigestEntry> digests_;
  ExternalSorter<OpInterval> ops_;
  ScannedLog* log_ = nullptr;
  std::vector<ledger::ClockPairRow> clocks_;
  uint64_t ordinal_ = 0;
  uint64_t done_ = 0;
};

/// The logs that can be read, by pid; the others go to `out`.
std::vector<std::unique_ptr<LogReader>> open_logs(const std::vector<std::string>& paths,
                                                  LogScan& out) {
  std::vector<std::unique_ptr<LogReader>> readers;
  for (const std::string& path : paths) {
    try {
      readers.push_back(std::make_unique<LogReader>(path));
      out.total_bytes += readers.back()->file_bytes();
    } catch (const stwo::FormatError& error) {
      const bool truncated = error.code() == "LOG_STARTED";
      if (!truncated && error.code() != "LOG_HEADER") throw;
      out.unreadable.push_back({path, error.code() + ": " + error.what(), truncated});
    }
  }
  std::stable_sort(readers.begin(), readers.end(),
                   [](const auto& a, const auto& b) { return a->header().pid < b->header().pid; });
  for (size_t i = 1; i < readers.size(); ++i) {
    const int64_t pid = readers[i]->header().pid;
    if (readers[i - 1]->header().pid == pid) {
      throw stwo::FormatError(
          "INGEST_PID_TWICE",
          "record logs " + readers[i - 1]->path() + " and " + readers[i]->path() +
              " are both of process " + std::to_string(pid) +
              ": a program that used CUDA replaced itself by another; record that one directly");
    }
  }
  return readers;
}

}  // namespace

RecordDigest digest_of(uint16_t log, const LogItem& item) {
  uint64_t high = (uint64_t{log} << 16) | static_cast<uint64_t>(item.kind);
  uint64_t low = ~high;
  const auto add = [&](uint64_t word) {
    high = mix(high ^ word) + 0x9e3779b97f4a7c15ULL;
    low = mix(low + word * 0xff51afd7ed558ccdULL) ^ 0xc4ceb9fe1a85ec53ULL;
  };
  const uint8_t* p = item.payload.data();
  size_t left = item.payload.size();
  for (; left >= 8; left -= 8, p += 8) {
    uint64_t word = 0;
    std::memcpy(&word, p, 8);
    add(word);
  }
  uint64_t tail = 0;
  if (left > 0) std::memcpy(&tail, p, left);
  add(tail);
  add(item.payload.size());
  return {high, low};
}

LogScan scan_logs(std::vector<std::string> paths, const std::string& scratch, size_t memory_bytes,
                  const IngestProgress& progress) {
  if (paths.empty()) {
    throw stwo::FormatError("INGEST_NO_LOG", "no record log was given; record a program first");
  }
  std::sort(paths.begin(), paths.end());
  LogScan out;
  out.duplicates = std::make_unique<ExternalSorter<uint64_t>>(scratch, memory_bytes);
  out.corrupt = std::make_unique<ExternalSorter<uint64_t>>(scratch, memory_bytes);
  out.markers = std::make_unique<ExternalSorter<MarkerPart>>(scratch, memory_bytes);
  const auto readers = open_logs(paths, out);
  Scanner scanner(out, scratch, memory_bytes, progress);
  for (const auto& reader : readers) scanner.scan(*reader);
  scanner.finish();
  return out;
}

}  // namespace prof

#include "prof/ingest/ingest.hpp"

#include <algorithm>
#include <ctime>
#include <set>

#include "ledger/trace/trace_schema.hpp"
#include "prof/ingest/record_rows.hpp"
#include "prof/ingest/report_windows.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

constexpr uint64_t kProgressBytes = uint64_t{4} << 20;

/// "2026-01-31T12:00:00.123Z".
std::string utc_text(int64_t realtime_ns) {
  const auto seconds = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
  std::tm t{};
  ::gmtime_r(&seconds, &t);
  char text[32];
  const size_t n = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &t);
  std::string millis = std::to_string(realtime_ns / 1'000'000 % 1000);
  millis.insert(0, 3 - millis.size(), '0');
  return std::string(text, n) + "." + millis + "Z";
}

/// Name in meta missing_kinds, which are separated by spaces.
std::string missing_name(const LogProblem& problem) {
  if (problem.kind == LogProblem::Kind::kLoad || problem.kind == LogProblem::Kind::kVersion) {
    return "cupti";
  }
  std::string out = problem.subject.empty() ? "cupti" : problem.subject;
  std::replace(out.begin(), out.end(), ' ', '_');
  return out;
}

/// Numbers in ascending order, asked for in ascending order.
class OrdinalSet {
 public:
  explicit OrdinalSet(ExternalSorter<uint64_t>& sorter) : sorter_(sorter) { advance(); }
  bool contains(uint64_t ordinal) {
    while (more_ && next_ < ordinal) advance();
    return more_ && next_ == ordinal;
  }

 private:
  void advance() { more_ = sorter_.next(next_); }
  ExternalSorter<uint64_t>& sorter_;
  uint64_t next_ = 0;
  bool more_ = false;
};

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

struct Ingest::Impl {
  explicit Impl(IngestOptions o) : options(std::move(o)) {
    if (!options.report_path.empty()) report = read_report_facts(options.report_path);
    scan = scan_logs(options.logs, options.scratch_folder, options.memory_bytes, options.progress);
  }

  IngestOptions options;
  std::optional<ReportFacts> report;
  LogScan scan;
  bool written = false;

  int64_t session_start() const;
  void check_report() const;
  void write_meta(ledger::TraceWriter& writer, IngestResult& result) const;
  void write_losses(ledger::TraceWriter& writer, IngestResult& result) const;
  void write_records(ledger::TraceWriter& writer, RecordRows& rows, std::vector<LogNames>& names,
                     IngestResult& result);
  void write_steps(RecordRows& rows, IngestResult& result) const;
  void write_windows(ledger::TraceWriter& writer, IngestResult& result) const;
  void grade(const RecordRows& rows, IngestResult& result) const;
};

Ingest::Ingest(IngestOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Ingest::~Ingest() = default;

const LogScan& Ingest::scan() const { return impl_->scan; }

bool Ingest::has_activity() const {
  return std::any_of(impl_->scan.logs.begin(), impl_->scan.logs.end(),
                     [](const ScannedLog& log) { return log.has_context; });
}

std::vector<ProcessProblem> Ingest::problems() const {
  std::vector<ProcessProblem> out;
  for (const ScannedLog& log : impl_->scan.logs) {
    for (const LogProblem& problem : log.problems) out.push_back({log.header.pid, problem});
  }
  return out;
}

int64_t Ingest::Impl::session_start() const {
  int64_t start = INT64_MAX;
  for (const ScannedLog& log : scan.logs) start = std::min(start, log.header.start.realtime_ns);
  return start;
}

/// Is the report one of this run?
void Ingest::Impl::check_report() const {
  if (!report || report->windows.empty()) return;
  int64_t end = INT64_MIN;
  bool whole = scan.unreadable.empty();
  for (const ScannedLog& log : scan.logs) {
    end = std::max(end, log.last_clock_ns);
    whole = whole && log.status.end == LogEnd::kComplete;
  }
  const int64_t begin = session_start();
  const bool early = report->windows.front().begin_ns < begin;
  // The last reading of the clocks is the process's end only if it got there.
  const bool late = whole && report->windows.back().end_ns > end;
  // After a step these times do not compare.
  const bool stepped = std::any_of(scan.logs.begin(), scan.logs.end(),
                                   [](const ScannedLog& log) { return !log.steps.empty(); });
  if (stepped || !(early || late)) return;
  throw stwo::FormatError("REPORT_OTHER_RUN",
                          "product report " + options.report_path + ": its requests lie from " +
                              std::to_string(report->windows.front().begin_ns) + " to " +
                              std::to_string(report->windows.back().end_ns) +
                              " ns (expected inside the recording, " + std::to_string(begin) +
                              " to " + std::to_string(end) +
                              "); give the report of the recorded process");
}

void Ingest::Impl::write_meta(ledger::TraceWriter& writer, IngestResult& result) const {
  using namespace ledger::trace_meta;
  const int64_t start = session_start();
  writer.meta(kTool, "stwo-prof");
  writer.meta(kToolVersion, options.tool_version);
  writer.meta(kCreatedUtc, utc_text(start));
  writer.meta(kSessionStartNs, std::to_string(start));
  const bool complete = scan.unreadable.empty() &&
                        std::none_of(scan.logs.begin(), scan.logs.end(), [](const ScannedLog& log) {
                          return !log.status.trailer.has_value();
                        });
  if (complete) writer.meta(kTrailer, "1");

  std::set<std::string> missing;
  for (const ScannedLog& log : scan.logs) {
    for (const LogProblem& problem : log.problems) {
      if (problem.required) missing.insert(missing_name(problem));
    }
  }
  result.missing_kinds.assign(missing.begin(), missing.end());
  std::string joined;
  for (const std::string& kind : missing) joined += (joined.empty() ? "" : " ") + kind;
  if (!joined.empty()) writer.meta(kMissingKinds, joined);

  const LogHeader& first = scan.logs.front().header;
  writer.meta("cupti_version", std::to_string(first.cupti_version));
  writer.meta("cupti_header_version", std::to_string(first.cupti_header_version));
  writer.meta("latency", first.latency ? "1" : "0");
  writer.meta("graphs", first.whole_graphs ? "graph" : "node");
  for (const ScannedLog& log : scan.logs) {
    const std::string pid = std::to_string(log.header.pid);
    writer.meta(std::string(kProcessName) + pid, log.header.process_name);
    writer.meta("command." + pid, log.header.command);
  }
  std::set<std::string> taken;
  const auto add = [&](const std::string& key, const std::string& value) {
    if (!key.empty() && taken.insert(key).second) writer.meta(key, value);
  };
  if (report) {
    for (const auto& [key, value] : report->meta) add(key, value);
  }
  for (const auto& [key, value] : options.meta) add(key, value);
  // A log could name any key: those that decide something are not its business.
  for (const auto& [key, values] : scan.facts) {
    const bool allowed = key == kDriverVersion || key.find("_name.") != std::string::npos;
    if (allowed && key.rfind(kProcessName, 0) != 0) add(key, *values.begin());
  }
}

void Ingest::Impl::write_losses(ledger::TraceWriter& writer, IngestResult& result) const {
  std::map<std::string, int64_t> losses;
  const auto add = [&](const std::string& kind, int64_t count) {
    if (count > 0) losses[kind.empty() ? "unnamed" : kind] += count;
  };
  for (const ScannedLog& log : scan.logs) {
    for (const ledger::LossRow& loss : log.losses) add(loss.kind, loss.count);
    if (log.status.trailer) {
      add("cupti_dropped", log.status.trailer->dropped);
      add("recorder_write", log.status.trailer->lost);
    }
    for (const auto& [kind, count] : log.status.missing) {
      add(std::string("log_") + frame_name(static_cast<FrameKind>(kind)), count);
    }
  }
  for (const auto& [kind, count] : losses) {
    result.losses.push_back({kind, count});
    writer.loss(result.losses.back());
  }
}

void Ingest::Impl::write_records(ledger::TraceWriter& writer, RecordRows& rows,
                                 std::vector<LogNames>& names, IngestResult& result) {
  OrdinalSet duplicates(*scan.duplicates);
  OrdinalSet corrupt(*scan.corrupt);
  uint64_t ordinal = 0;
  uint64_t done = scan.total_bytes;
  for (size_t i = 0; i < scan.logs.size(); ++i) {
    const ScannedLog& log = scan.logs[i];
    writer.clock_pair(log.header.start);
    LogReader reader(log.path);
    uint64_t told = 0;
    while (const auto item = reader.next()) {
      if (reader.position() - told >= kProgressBytes) {
        told = reader.position();
        if (options.progress) options.progress(done + told, 2 * scan.total_bytes);
      }
      if (!item->damage.empty()) {
        rows.quarantine("RECORD_DAMAGED: " + item->damage + ", " + file_name(log.path) +
                            " at byte " + std::to_string(item->offset) + ", " +
                            std::to_string(item->size) + " bytes",
                        item->raw);
        continue;
      }
      const bool record = is_record(item->kind);
      const uint64_t number = ordinal;
      if (record) ++ordinal;
      if (record && duplicates.contains(number)) {
        rows.quarantine(
            std::string("DUPLICATE: ") + frame_name(item->kind) + " record that is there already",
            item->raw);
        ++result.duplicates;
        continue;
      }
      const bool bad_times = record && corrupt.contains(number);
      rows.add(*item, names[i], !bad_times);
      if (bad_times) {
        rows.quarantine(
            "DURATION_CORRUPT: runs more than 1 us into the next operation of its "
            "stream; stored without times",
            item->raw);
        ++result.corrupt_durations;
      }
    }
    done += reader.file_bytes();
    STWO_CHECK(reader.file_bytes() > 0, "a log that was read once has bytes");
  }
  if (ordinal != scan.records) {
    throw stwo::EnvironmentError("LOG_READ",
                                 "the record logs changed while they were read; is the recorded "
                                 "program still running?");
  }
  if (options.progress) options.progress(2 * scan.total_bytes, 2 * scan.total_bytes);
}

void Ingest::Impl::write_steps(RecordRows& rows, IngestResult& result) const {
  for (const ScannedLog& log : scan.logs) {
    for (const ClockStep& step : log.steps) {
      result.clock_steps.push_back(step);
      rows.quarantine("CLOCK_STEP: the wall clock went " + std::to_string(step.jump_ns) +
                          " ns further than the monotonic one between " +
                          std::to_string(step.before_ns) + " and " + std::to_string(step.after_ns),
                      {});
    }
  }
}

void Ingest::Impl::write_windows(ledger::TraceWriter& writer, IngestResult& result) const {
  if (!report) return;
  std::string refused;
  for (const ledger::WindowRow& window : report->windows) {
    const bool crossed = std::any_of(
        result.clock_steps.begin(), result.clock_steps.end(),
        [&](const ClockStep& step) { return crosses(step, window.begin_ns, window.end_ns); });
    if (crossed) {
      result.windows_refused.push_back(window.request);
      refused += (refused.empty() ? "" : " ") + std::to_string(window.request);
      continue;
    }
    writer.window(window);
    ++result.windows;
  }
  if (!refused.empty()) writer.meta("windows_refused", refused);
}

void Ingest::Impl::grade(const RecordRows& rows, IngestResult& result) const {
  bool truncated = false;
  for (const UnreadableLog& log : scan.unreadable) {
    truncated = true;
    result.reasons.push_back(file_name(log.path) + ": " + log.reason);
  }
  for (const ScannedLog& log : scan.logs) {
    if (log.status.end == LogEnd::kComplete) continue;
    truncated = truncated || !log.status.trailer;
    result.reasons.push_back(file_name(log.path) + ": " + log_end_name(log.status.end) + ": " +
                             log.status.reason);
  }
  for (const ledger::LossRow& loss : result.losses) {
    result.reasons.push_back("lost: " + loss.kind + ", " + std::to_string(loss.count));
  }
  for (const std::string& kind : result.missing_kinds) {
    result.reasons.push_back("required, but not recorded: " + kind);
  }
  if (rows.quarantined() > 0) {
    result.reasons.push_back("in quarantine: " + std::to_string(rows.quarantined()) + " records");
  }
  result.evidence = truncated                ? ledger::TraceEvidence::kTruncated
                    : result.reasons.empty() ? ledger::TraceEvidence::kComplete
                                             : ledger::TraceEvidence::kIncomplete;
}

IngestResult Ingest::write(const std::string& output, ledger::TraceWriter::Existing existing) {
  Impl& in = *impl_;
  STWO_CHECK(!in.written, "an ingest writes one capture");
  in.written = true;
  if (in.scan.logs.empty()) {
    throw stwo::FormatError(
        "INGEST_EMPTY", "record log " + in.scan.unreadable.front().path + " has nothing to read (" +
                            in.scan.unreadable.front().reason + "); record again");
  }
  in.check_report();
  IngestResult result;
  result.path = output;
  ledger::TraceWriter writer(output, existing);
  in.write_meta(writer, result);
  in.write_losses(writer, result);
  RecordRows rows(writer);
  std::vector<LogNames> names;
  names.reserve(in.scan.logs.size());
  for (const ScannedLog& log : in.scan.logs) {
    names.emplace_back(log, writer);
    result.pids.push_back(log.header.pid);
  }
  in.write_records(writer, rows, names, result);
  ExternalSorter<MarkerRange> ranges(in.options.scratch_folder, in.options.memory_bytes);
  assemble_ranges(
      *in.scan.markers, ranges,
      {[&](const MarkerRange& range) { rows.add(range, names[static_cast<size_t>(range.log)]); },
       [&](const MarkerPart& part, const char* why) {
         rows.quarantine(std::string(why) + ", id " + std::to_string(part.id), {});
       }});
  in.write_steps(rows, result);
  for (const UnreadableLog& log : in.scan.unreadable) rows.quarantine(log.reason, {});
  in.write_windows(writer, result);
  in.grade(rows, result);
  result.problems = problems();
  result.records = in.scan.records;
  result.quarantined = rows.quarantined();
  result.untimed = rows.untimed();
  writer.finalize();
  return result;
}

}  // namespace prof

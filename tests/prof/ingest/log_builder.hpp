// Logs and captures for tests of the ingest.
#pragma once

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "ledger/trace/trace_summary.hpp"
#include "prof/ingest/ingest.hpp"
#include "tests/prof/log/sample_logs.hpp"

namespace prof::test {

using ledger::test::code_of;
using ledger::test::failure_of;
using ledger::test::Rows;
using ledger::test::rows_of;

/// A finished log of process `pid` with what `fill` writes; returns its path.
inline std::string make_log(const TemporaryFolder& folder,
                            const std::function<void(LogWriter&)>& fill, int64_t pid = 7,
                            int64_t dropped = 0) {
  LogWriter w;
  EXPECT_TRUE(w.open(folder.file(""), sample_header(pid))) << w.error();
  fill(w);
  w.finish(dropped);
  return w.path();
}

/// The same without its trailer: the process died.
inline std::string make_dead_log(const TemporaryFolder& folder,
                                 const std::function<void(LogWriter&)>& fill, int64_t pid = 7) {
  LogWriter w;
  EXPECT_TRUE(w.open(folder.file(""), sample_header(pid))) << w.error();
  fill(w);
  return w.path();
}

inline IngestOptions options_for(const TemporaryFolder& folder, std::vector<std::string> logs) {
  IngestOptions o;
  o.logs = std::move(logs);
  o.tool_version = "0.1.0";
  o.scratch_folder = folder.file("");
  return o;
}

/// Result and capture of logs.
struct Ingested {
  IngestResult result;
  std::unique_ptr<ledger::Database> trace;
  ledger::TraceSummary summary;
  Rows rows(std::string_view sql) const { return rows_of(*trace, sql); }
};
inline Ingested ingest(const IngestOptions& options, const std::string& output) {
  Ingested out;
  Ingest ingest(options);
  out.result = ingest.write(output);
  out.trace = ledger::open_trace(output);
  out.summary = ledger::summarize_trace(*out.trace);
  EXPECT_EQ(out.result.evidence, out.summary.evidence);
  return out;
}
inline Ingested ingest(const TemporaryFolder& folder, const std::vector<std::string>& logs) {
  return ingest(options_for(folder, logs), folder.file("x.sptrace"));
}

/// Frames of a log without prefix, header and trailer in front, and the trailer.
struct LogParts {
  std::string head;
  std::vector<std::string> frames;
  std::string trailer;
  std::string joined() const {
    std::string out = head;
    for (const std::string& frame : frames) out += frame;
    return out + trailer;
  }
};
inline LogParts parts_of(const std::string& path) {
  const std::string bytes = read_file(path);
  LogReader reader(path);
  LogParts out;
  while (const auto item = reader.next()) {
    if (out.head.empty()) out.head = bytes.substr(0, item->offset);
    const std::string frame = bytes.substr(item->offset, item->size);
    if (item->kind == FrameKind::kTrailer) {
      out.trailer = frame;
    } else {
      out.frames.push_back(frame);
    }
  }
  return out;
}

/// Rows of all tables with names in place of their ids, each table sorted.
inline std::vector<Rows> content_of(ledger::Database& trace) {
  std::vector<Rows> out;
  for (const char* sql :
       {"SELECT a.pid, tid, domain, cbid, s.value, start_ns, end_ns, corr, rc FROM api a JOIN str "
        "s "
        "ON s.id = name_id",
        "SELECT pid, kind, stream_id, start_ns, end_ns, corr, graph_id, graph_node_id, s.value "
        "FROM gpu_op o LEFT JOIN kernel k ON k.op_id = o.id LEFT JOIN str s ON s.id = k.name_id",
        "SELECT c.bytes, c.copy_kind, o.corr FROM copy c JOIN gpu_op o ON o.id = c.op_id",
        "SELECT f.value, f.bytes, o.corr FROM fill f JOIN gpu_op o ON o.id = f.op_id",
        "SELECT type, d.value, n.value, tid, end_tid, start_ns, end_ns, payload, category FROM "
        "nvtx LEFT JOIN str d ON d.id = domain_id LEFT JOIN str n ON n.id = nvtx.name_id",
        "SELECT type, start_ns, corr FROM sync", "SELECT kind, ts_ns, sha256 FROM res_event",
        "SELECT op, address, bytes, ts_ns FROM mem_event", "SELECT key, value FROM meta",
        "SELECT reason FROM quarantine", "SELECT kind, count FROM loss",
        "SELECT realtime_ns, monotonic_raw_ns FROM clock_pair"}) {
    Rows rows = rows_of(trace, sql);
    std::sort(rows.begin(), rows.end());
    out.push_back(std::move(rows));
  }
  return out;
}

}  // namespace prof::test

// Small captures for the nine questions. Times are nanoseconds after the session's start; the
// process is 7, its submitting thread 70, the device 0, the context 1.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "prof/timeline/timeline.hpp"
#include "tests/ledger/trace/trace_files.hpp"

namespace prof::test {

using ledger::TraceWriter;
using ledger::test::at;
using ledger::test::span;

/// A capture in a folder of its own.
class Capture {
 public:
  explicit Capture(const std::function<void(TraceWriter&)>& fill) {
    ledger::test::write_trace(folder_.file("t.sptrace"), fill);
    trace_ = ledger::open_trace(folder_.file("t.sptrace"));
  }
  ledger::Database& trace() { return *trace_; }
  Timeline analyze(const TimelineOptions& options = {}) {
    return analyze_timeline(*trace_, options);
  }

 private:
  ledger::test::TemporaryFolder folder_;
  std::unique_ptr<ledger::Database> trace_;
};

/// Where an operation runs and which call launched it.
struct Place {
  int64_t corr = 0;
  int64_t stream = 13;
  int64_t device = 0;
  std::optional<int64_t> graph{};
  std::optional<uint64_t> node{};
};

inline ledger::GpuOpRow op_row(const Place& place, ledger::TimeSpan time) {
  ledger::GpuOpRow op;
  op.pid = 7;
  op.device_id = place.device;
  op.context_id = 1;
  op.stream_id = place.stream;
  op.time = time;
  op.corr = place.corr;
  op.graph_id = place.graph;
  op.graph_node_id = place.node;
  return op;
}

inline void kernel(TraceWriter& w, const std::string& name, const Place& place,
                   ledger::TimeSpan time) {
  ledger::KernelRow row;
  row.name = row.short_name = w.intern(name);
  row.grid_x = row.grid_y = row.grid_z = 1;
  row.block_x = row.block_y = row.block_z = 1;
  w.kernel(op_row(place, time), row);
}

/// Memory kinds: 1 pageable, 2 pinned, 3 device. Copy kinds: 1 H2D, 2 D2H, 8 D2D.
inline void copy(TraceWriter& w, int64_t copy_kind, int64_t bytes, const Place& place,
                 ledger::TimeSpan time, int64_t host_kind = 2, bool async = true) {
  ledger::CopyRow row;
  row.copy_kind = copy_kind;
  row.src_kind = copy_kind == 1 ? host_kind : 3;
  row.dst_kind = copy_kind == 2 ? host_kind : 3;
  row.async = async;
  row.bytes = bytes;
  w.copy(op_row(place, time), row);
}

inline void fill(TraceWriter& w, int64_t bytes, const Place& place, ledger::TimeSpan time) {
  ledger::FillRow row;
  row.bytes = bytes;
  row.mem_kind = 3;
  w.fill(op_row(place, time), row);
}

inline void call(TraceWriter& w, const std::string& name, int64_t corr, int64_t from, int64_t to,
                 int64_t tid = 70) {
  ledger::test::write_call(w, tid, corr, span(from, to), name);
}

inline void stage(TraceWriter& w, const std::string& name, int64_t from, std::optional<int64_t> to,
                  int64_t tid = 70) {
  ledger::test::write_range(w, name, tid, from, to);
}

inline void window(TraceWriter& w, int64_t request, ledger::WindowRole role, int64_t begin,
                   int64_t resident_begin, int64_t resident_end, int64_t end) {
  w.window({request, role, at(begin), at(resident_begin), at(resident_end), at(end)});
}

/// One steady request with W = [0 + from, to).
inline void one_window(TraceWriter& w, int64_t from, int64_t to) {
  window(w, 0, ledger::WindowRole::kSteady, from, from, to, to);
}

inline void sync(TraceWriter& w, int64_t type, int64_t corr, ledger::TimeSpan time,
                 std::optional<int64_t> stream = std::nullopt,
                 std::optional<uint64_t> event_sync_id = std::nullopt) {
  ledger::SyncRow row;
  row.pid = 7;
  row.type = type;
  row.context_id = 1;
  row.stream_id = stream;
  row.event_sync_id = event_sync_id;
  row.time = time;
  row.corr = corr;
  w.sync(row);
}

inline void event(TraceWriter& w, int64_t stream, uint64_t event_sync_id, int64_t corr) {
  ledger::CudaEventRow row;
  row.pid = 7;
  row.context_id = 1;
  row.stream_id = stream;
  row.event_id = 1;
  row.event_sync_id = event_sync_id;
  row.corr = corr;
  w.cuda_event(row);
}

inline void memory(TraceWriter& w, ledger::MemOp op, uint64_t address, int64_t bytes,
                   std::optional<int64_t> ts, int64_t corr = 0, int64_t kind = 3) {
  ledger::MemEventRow row;
  row.pid = 7;
  row.op = op;
  row.mem_kind = kind;
  row.context_id = 1;
  row.address = address;
  row.bytes = bytes;
  if (ts) row.ts_ns = at(*ts);
  row.corr = corr;
  w.mem_event(row);
}

inline void overhead(TraceWriter& w, int64_t kind, ledger::TimeSpan time) {
  ledger::OverheadRow row;
  row.pid = 7;
  row.tid = 70;
  row.kind = kind;
  row.time = time;
  w.overhead(row);
}

inline void resource(TraceWriter& w, ledger::ResKind kind, int64_t ts,
                     std::optional<int64_t> bytes = std::nullopt) {
  ledger::ResEventRow row;
  row.pid = 7;
  row.kind = kind;
  row.ts_ns = at(ts);
  row.context_id = 1;
  row.bytes = bytes;
  if (bytes) row.sha256 = std::string(64, 'a');
  w.res_event(row);
}

/// Four requests; the median steady one is request 2 with W = [10000, 20000).
///
///   ns      10300  11300  12300  13000  14000  15000  15500  16000  16500  17500  18500
///   s13       fft    fft           hash          |                    D2H 4096 B
///   s14                                    hash             |
///   s15                                                H2D 1000 B  |
inline void write_example(TraceWriter& w) {
  ledger::DeviceRow device;
  device.uuid = "GPU-00000000-0000-0000-0000-000000000001";
  device.name = "Example GPU";
  w.device(device);
  ledger::ContextRow context;
  context.pid = 7;
  context.id = 1;
  context.null_stream_id = 7;
  w.context(context);
  window(w, 0, ledger::WindowRole::kFirst, 1000, 1000, 5000, 5500);
  window(w, 1, ledger::WindowRole::kSteady, 6000, 6000, 9000, 9500);
  window(w, 2, ledger::WindowRole::kSteady, 9900, 10000, 20000, 21000);
  window(w, 3, ledger::WindowRole::kSteady, 30000, 30000, 42000, 43000);

  call(w, "cuDevicePrimaryCtxRetain", 1, 150, 300);
  resource(w, ledger::ResKind::kContextCreated, 200);
  call(w, "cuModuleLoadData", 2, 350, 450);
  resource(w, ledger::ResKind::kModuleLoaded, 400, 1234);
  call(w, "cuMemAllocFromPoolAsync", 3, 480, 510);
  memory(w, ledger::MemOp::kAllocation, 0x1000, 65536, 500, 3);
  call(w, "cuMemHostAlloc", 4, 580, 620);
  memory(w, ledger::MemOp::kAllocation, 0x9000, 4096, 600, 4, 2);

  stage(w, "trace_commit", 10050, 12000);
  stage(w, "fri_commit", 12700, 16900);
  stage(w, "proof_assembly", 16950, 19100);
  call(w, "cuLaunchKernel", 101, 10100, 10150);
  kernel(w, "fft", {101}, span(10300, 11300));
  call(w, "cuLaunchKernel", 102, 10160, 10200);
  kernel(w, "fft", {102}, span(11300, 12300));
  call(w, "cuLaunchKernel", 103, 12800, 12850);
  kernel(w, "hash", {103}, span(13000, 15000));
  call(w, "cuLaunchKernel", 104, 12900, 12950);
  kernel(w, "hash", {104, 14}, span(14000, 16000));
  call(w, "cuMemcpyHtoDAsync_v2", 105, 13000, 13050);
  copy(w, 1, 1000, {105, 15}, span(15500, 16500));
  call(w, "cuMemcpyDtoHAsync_v2", 106, 17000, 17100);
  copy(w, 2, 4096, {106}, span(17500, 18500));
  call(w, "cuStreamSynchronize", 107, 17200, 19000);
  sync(w, 3, 107, span(17210, 18990), 13);
  overhead(w, int64_t{2} << 16, span(10500, 10600));
  overhead(w, int64_t{1} << 16, span(9000, 10050));
}

/// Code of the error that an action ends with; empty if it does not.
using ledger::test::code_of;
using ledger::test::failure_of;

}  // namespace prof::test

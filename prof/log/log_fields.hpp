// The fields of every frame, in the order of the file: one list for writing and reading. Changing
// one needs a new kLogVersion.
#pragma once

#include "prof/log/log_codec.hpp"
#include "prof/log/log_format.hpp"

namespace prof {

template <class T, T First, T Last>
struct EnumFromTo {
  static constexpr auto kFirst = static_cast<uint8_t>(First);
  static constexpr auto kLast = static_cast<uint8_t>(Last);
};
template <>
struct EnumRange<ledger::ApiDomain> : EnumFromTo<ledger::ApiDomain, ledger::ApiDomain::kRuntime,
                                                 ledger::ApiDomain::kInternalLaunch> {};
template <>
struct EnumRange<ledger::MemOp>
    : EnumFromTo<ledger::MemOp, ledger::MemOp::kAllocation, ledger::MemOp::kRelease> {};
template <>
struct EnumRange<ledger::PoolOp>
    : EnumFromTo<ledger::PoolOp, ledger::PoolOp::kCreated, ledger::PoolOp::kTrimmed> {};
template <>
struct EnumRange<ledger::ResKind> : EnumFromTo<ledger::ResKind, ledger::ResKind::kContextCreated,
                                               ledger::ResKind::kGraphExecDestroyed> {};
template <>
struct EnumRange<MarkerRow::Phase>
    : EnumFromTo<MarkerRow::Phase, MarkerRow::Phase::kInstant, MarkerRow::Phase::kEnd> {};
template <>
struct EnumRange<LogProblem::Kind>
    : EnumFromTo<LogProblem::Kind, LogProblem::Kind::kLoad, LogProblem::Kind::kRuntime> {};

/// Calls `a` with each given field.
template <class A, class... T>
void each(A& a, T&... fields) {
  (a(fields), ...);
}

template <class A>
void fields(A& a, typename A::template Ref<LogHeader> r) {
  each(a, r.pid, r.parent_pid, r.process_name, r.command, r.start.realtime_ns,
       r.start.monotonic_raw_ns, r.cupti_version, r.cupti_header_version, r.latency,
       r.whole_graphs);
}
template <class A>
void fields(A& a, typename A::template Ref<ledger::ClockPairRow> r) {
  each(a, r.realtime_ns, r.monotonic_raw_ns);
}
template <class A>
void fields(A& a, typename A::template Ref<LogProblem> r) {
  each(a, r.kind, r.subject, r.code, r.text, r.required);
}
template <class A>
void fields(A& a, typename A::template Ref<ledger::LossRow> r) {
  each(a, r.kind, r.count);
}
template <class A>
void fields(A& a, typename A::template Ref<LogFact> r) {
  each(a, r.key, r.value);
}
template <class A>
void fields(A& a, typename A::template Ref<LogTrailer> r) {
  each(a, r.counts, r.dropped, r.lost);
}

template <class A>
void fields(A& a, typename A::template Ref<ledger::DeviceRow> r) {
  each(a, r.id, r.uuid, r.name, r.sm_major, r.sm_minor, r.multiprocessors, r.memory_bytes,
       r.memory_bytes_per_s, r.l2_bytes, r.constant_bytes, r.clock_khz, r.warp_threads,
       r.copy_engines, r.max_threads_per_block, r.max_registers_per_block,
       r.max_shared_per_block_bytes, r.max_warps_per_sm, r.max_blocks_per_sm,
       r.max_registers_per_sm, r.max_shared_per_sm_bytes, r.ecc, r.mig);
}
template <class A>
void fields(A& a, typename A::template Ref<ledger::ContextRow> r) {
  each(a, r.pid, r.id, r.device_id, r.null_stream_id, r.parent_id, r.green);
}
template <class A>
void fields(A& a, typename A::template Ref<ledger::StreamRow> r) {
  each(a, r.pid, r.context_id, r.id, r.priority, r.flag);
}
template <class A>
void fields(A& a, typename A::template Ref<ledger::ApiRow> r) {
  each(a, r.pid, r.tid, r.domain, r.cbid, r.name, r.time.start_ns, r.time.end_ns, r.corr, r.rc);
}
template <class A>
void fields(A& a, typename A::template Ref<ledger::GpuOpRow> r) {
  each(a, r.pid, r.device_id, r.context_id, r.stream_id, r.time.start_ns, r.time.end_ns, r.corr,
       r.graph_id, r.graph_node_id);
}
template <class A>
void fields(A& a, typename A::template Ref<KernelOp> r) {
  fields(a, r.op);
  auto& k = r.kernel;
  each(a, k.name, k.short_name, k.mangled_name, k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y,
       k.block_z, k.cluster_x, k.cluster_y, k.cluster_z, k.static_shared_bytes,
       k.dynamic_shared_bytes, k.shared_executed_bytes, k.registers, k.local_per_thread_bytes,
       k.local_total_bytes, k.grid_number, k.launch_type, k.cache_config, k.queued_ns,
       k.submitted_ns);
}
template <class A>
void fields(A& a, typename A::template Ref<CopyOp> r) {
  fields(a, r.op);
  auto& c = r.copy;
  each(a, c.copy_kind, c.src_kind, c.dst_kind, c.async, c.bytes, c.src_device_id, c.src_context_id,
       c.dst_device_id, c.dst_context_id, c.copy_count);
}
template <class A>
void fields(A& a, typename A::template Ref<FillOp> r) {
  fields(a, r.op);
  each(a, r.fill.value, r.fill.bytes, r.fill.mem_kind);
}
template <class A>
void fields(A& a, typename A::template Ref<GraphOp> r) {
  fields(a, r.op);
}
template <class A>
void fields(A& a, typename A::template Ref<ledger::SyncRow> r) {
  each(a, r.pid, r.type, r.context_id, r.stream_id, r.event_id, r.event_sync_id, r.time.start_ns,
       r.time.end_ns, r.corr, r.rc);
}
template <class A>
void fields(A& a, typename A::template Ref<ledger::CudaEventRow> r) {
  each(a, r.pid, r.device_id, r.context_id, r.stream_id, r.event_id, r.event_sync_id,
       r.device_ts_ns, r.corr);
}
template <class A>
void fields(A& a, typename A::template Ref<ledger::MemEventRow> r) {
  each(a, r.pid, r.op, r.mem_kind, r.device_id, r.context_id, r.stream_id, r.address, r.bytes,
       r.ts_ns, r.pc, r.name, r.corr, r.async, r.pool_type, r.pool_address,
       r.pool_release_threshold_bytes, r.pool_bytes, r.pool_used_bytes, r.pool_pid);
}
template <class A>
void fields(A& a, typename A::template Ref<ledger::PoolEventRow> r) {
  each(a, r.pid, r.op, r.pool_type, r.device_id, r.address, r.size_bytes, r.used_bytes,
       r.release_threshold_bytes, r.min_keep_bytes, r.ts_ns, r.corr);
}
template <class A>
void fields(A& a, typename A::template Ref<ledger::ResEventRow> r) {
  each(a, r.pid, r.kind, r.ts_ns, r.context_id, r.object, r.bytes, r.sha256);
}
template <class A>
void fields(A& a, typename A::template Ref<ledger::JitRow> r) {
  each(a, r.pid, r.tid, r.entry_type, r.operation, r.device_id, r.time.start_ns, r.time.end_ns,
       r.corr, r.operation_corr, r.cache_bytes, r.cache_path);
}
template <class A>
void fields(A& a, typename A::template Ref<ledger::OverheadRow> r) {
  each(a, r.pid, r.tid, r.kind, r.context_id, r.stream_id, r.time.start_ns, r.time.end_ns, r.corr);
}
template <class A>
void fields(A& a, typename A::template Ref<MarkerRow> r) {
  each(a, r.pid, r.id, r.phase, r.flags, r.ts_ns, r.tid, r.domain, r.name);
}
template <class A>
void fields(A& a, typename A::template Ref<MarkerDataRow> r) {
  each(a, r.id, r.category, r.payload);
}
template <class A>
void fields(A& a, typename A::template Ref<UnknownRow> r) {
  each(a, r.kind, r.bytes);
}

/// A name and its id.
struct StringRow {
  int64_t id = 0;
  std::string text{};
};
template <class A>
void fields(A& a, typename A::template Ref<StringRow> r) {
  each(a, r.id, r.text);
}

/// The row of a payload; absent if it is not one.
template <class Row>
std::optional<Row> decode(std::span<const uint8_t> payload) {
  Row row;
  Decoder decoder(payload);
  fields(decoder, row);
  if (!decoder.done()) return std::nullopt;
  return row;
}

// Frame kind of each row.
template <class Row>
inline constexpr FrameKind kKindOf = FrameKind::kUnknown;
template <>
inline constexpr FrameKind kKindOf<LogHeader> = FrameKind::kHeader;
template <>
inline constexpr FrameKind kKindOf<StringRow> = FrameKind::kString;
template <>
inline constexpr FrameKind kKindOf<ledger::ClockPairRow> = FrameKind::kClock;
template <>
inline constexpr FrameKind kKindOf<LogProblem> = FrameKind::kProblem;
template <>
inline constexpr FrameKind kKindOf<ledger::LossRow> = FrameKind::kLoss;
template <>
inline constexpr FrameKind kKindOf<LogFact> = FrameKind::kFact;
template <>
inline constexpr FrameKind kKindOf<LogTrailer> = FrameKind::kTrailer;
template <>
inline constexpr FrameKind kKindOf<ledger::DeviceRow> = FrameKind::kDevice;
template <>
inline constexpr FrameKind kKindOf<ledger::ContextRow> = FrameKind::kContext;
template <>
inline constexpr FrameKind kKindOf<ledger::StreamRow> = FrameKind::kStream;
template <>
inline constexpr FrameKind kKindOf<ledger::ApiRow> = FrameKind::kApi;
template <>
inline constexpr FrameKind kKindOf<KernelOp> = FrameKind::kKernel;
template <>
inline constexpr FrameKind kKindOf<CopyOp> = FrameKind::kCopy;
template <>
inline constexpr FrameKind kKindOf<FillOp> = FrameKind::kFill;
template <>
inline constexpr FrameKind kKindOf<GraphOp> = FrameKind::kGraph;
template <>
inline constexpr FrameKind kKindOf<ledger::SyncRow> = FrameKind::kSync;
template <>
inline constexpr FrameKind kKindOf<ledger::CudaEventRow> = FrameKind::kCudaEvent;
template <>
inline constexpr FrameKind kKindOf<ledger::MemEventRow> = FrameKind::kMemEvent;
template <>
inline constexpr FrameKind kKindOf<ledger::PoolEventRow> = FrameKind::kPoolEvent;
template <>
inline constexpr FrameKind kKindOf<ledger::ResEventRow> = FrameKind::kResEvent;
template <>
inline constexpr FrameKind kKindOf<ledger::JitRow> = FrameKind::kJit;
template <>
inline constexpr FrameKind kKindOf<ledger::OverheadRow> = FrameKind::kOverhead;
template <>
inline constexpr FrameKind kKindOf<MarkerRow> = FrameKind::kMarker;
template <>
inline constexpr FrameKind kKindOf<MarkerDataRow> = FrameKind::kMarkerData;

}  // namespace prof

// What devices did: kernels, copies, fills, and whole graphs.
#include "prof/nsys/import_state.hpp"

namespace prof::nsys {
namespace {

/// Copy kinds that stand for migrations of unified memory.
constexpr int64_t kFirstMigration = 11;
constexpr int64_t kLastMigration = 13;

/// The columns that every operation has, at the beginning of each list.
#define NSYS_OPERATION_COLUMNS                                                  \
  {"start"}, {"end"}, {"deviceId"}, {"contextId"}, {"streamId"}, {"globalPid"}, \
      optional_column("correlationId"), optional_column("graphNodeId")
constexpr size_t kOwn = 8;  ///< place of the first own column

ledger::GpuOpRow operation(ImportState& state, const Rows& row) {
  ledger::GpuOpRow out;
  out.time = state.span(row.integer(0), row.integer(1));
  out.device_id = row.integer(2);
  out.context_id = row.integer(3);
  out.stream_id = row.integer(4);
  out.pid = decode_global_id(row.integer(5)).pid;
  out.corr = row.optional_integer(6).value_or(0);
  if (const auto node = row.optional_integer(7)) out.graph_node_id = static_cast<uint64_t>(*node);
  return out;
}

void stored(ImportState& state, const ledger::GpuOpRow& op) {
  state.saw_process(op.pid);
  state.saw_stream(op.pid, op.device_id, op.context_id, op.stream_id);
}

void import_kernels(ImportState& state, std::set<std::string>& absent) {
  static constexpr Column kColumns[] = {NSYS_OPERATION_COLUMNS,
                                        {"demangledName"},
                                        {"shortName"},
                                        optional_column("mangledName"),
                                        optional_column("launchType"),
                                        optional_column("cacheConfig"),
                                        {"registersPerThread"},
                                        {"gridX"},
                                        {"gridY"},
                                        {"gridZ"},
                                        {"blockX"},
                                        {"blockY"},
                                        {"blockZ"},
                                        {"staticSharedMemory"},
                                        {"dynamicSharedMemory"},
                                        {"localMemoryPerThread"},
                                        {"localMemoryTotal"},
                                        {"gridId"},
                                        optional_column("sharedMemoryExecuted")};
  const auto store = [&](const Rows& row) {
    const ledger::GpuOpRow op = operation(state, row);
    ledger::KernelRow out;
    out.name = state.name(row.integer(kOwn));
    out.short_name = state.name(row.integer(kOwn + 1));
    if (const auto mangled = row.optional_integer(kOwn + 2)) {
      out.mangled_name = state.name(*mangled);
    }
    out.launch_type = row.optional_integer(kOwn + 3);
    out.cache_config = row.optional_integer(kOwn + 4);
    out.registers = row.integer(kOwn + 5);
    out.grid_x = row.integer(kOwn + 6);
    out.grid_y = row.integer(kOwn + 7);
    out.grid_z = row.integer(kOwn + 8);
    out.block_x = row.integer(kOwn + 9);
    out.block_y = row.integer(kOwn + 10);
    out.block_z = row.integer(kOwn + 11);
    out.static_shared_bytes = row.integer(kOwn + 12);
    out.dynamic_shared_bytes = row.integer(kOwn + 13);
    out.local_per_thread_bytes = row.integer(kOwn + 14);
    out.local_total_bytes = row.integer(kOwn + 15);
    out.grid_number = row.integer(kOwn + 16);
    out.shared_executed_bytes = row.optional_integer(kOwn + 17);
    state.writer.kernel(op, out);
    stored(state, op);
    return true;
  };
  if (!state.each("CUPTI_ACTIVITY_KIND_KERNEL", kColumns, store)) absent.insert("KERNEL");
}

void import_copies(ImportState& state, std::set<std::string>& absent) {
  static constexpr Column kColumns[] = {NSYS_OPERATION_COLUMNS,
                                        {"bytes"},
                                        {"copyKind"},
                                        optional_column("srcKind"),
                                        optional_column("dstKind"),
                                        optional_column("srcDeviceId"),
                                        optional_column("srcContextId"),
                                        optional_column("dstDeviceId"),
                                        optional_column("dstContextId")};
  const auto store = [&](const Rows& row) {
    ledger::CopyRow out;
    out.copy_kind = row.integer(kOwn + 1);
    if (out.copy_kind >= kFirstMigration && out.copy_kind <= kLastMigration) {
      state.lose("migrations of unified memory, which belong to no stream");
      return false;
    }
    const ledger::GpuOpRow op = operation(state, row);
    out.bytes = row.integer(kOwn);
    // CUPTI's 0 is "unknown".
    if (const auto kind = row.optional_integer(kOwn + 2)) out.src_kind = cupti_mem_kind(*kind);
    if (const auto kind = row.optional_integer(kOwn + 3)) out.dst_kind = cupti_mem_kind(*kind);
    out.src_device_id = row.optional_integer(kOwn + 4);
    out.src_context_id = row.optional_integer(kOwn + 5);
    out.dst_device_id = row.optional_integer(kOwn + 6);
    out.dst_context_id = row.optional_integer(kOwn + 7);
    out.async = !state.is_synchronous_copy(op.pid, op.corr);
    state.writer.copy(op, out);
    stored(state, op);
    return true;
  };
  if (!state.each("CUPTI_ACTIVITY_KIND_MEMCPY", kColumns, store)) absent.insert("MEMCPY");
}

void import_fills(ImportState& state, std::set<std::string>& absent) {
  static constexpr Column kColumns[] = {
      NSYS_OPERATION_COLUMNS, {"value"}, {"bytes"}, optional_column("memKind")};
  const auto store = [&](const Rows& row) {
    const ledger::GpuOpRow op = operation(state, row);
    ledger::FillRow out;
    out.value = row.integer(kOwn);
    out.bytes = row.integer(kOwn + 1);
    if (const auto kind = row.optional_integer(kOwn + 2)) out.mem_kind = cupti_mem_kind(*kind);
    state.writer.fill(op, out);
    stored(state, op);
    return true;
  };
  if (!state.each("CUPTI_ACTIVITY_KIND_MEMSET", kColumns, store)) absent.insert("MEMSET");
}

void import_graphs(ImportState& state) {
  static constexpr Column kColumns[] = {
      NSYS_OPERATION_COLUMNS, {"graphId"}, optional_column("graphExecId")};
  state.each("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", kColumns, [&](const Rows& row) {
    ledger::GpuOpRow op = operation(state, row);
    const std::optional<int64_t> executable = row.optional_integer(kOwn + 1);
    op.graph_id = executable ? *executable : row.integer(kOwn);
    state.writer.graph(op);
    stored(state, op);
    return true;
  });
}
#undef NSYS_OPERATION_COLUMNS

}  // namespace

void import_operations(ImportState& state, std::set<std::string>& absent) {
  import_kernels(state, absent);
  import_copies(state, absent);
  import_fills(state, absent);
  import_graphs(state);
}

}  // namespace prof::nsys

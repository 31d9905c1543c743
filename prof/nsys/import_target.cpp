// What the export says about the machine and about itself.
#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include "ledger/trace/trace_schema.hpp"
#include "prof/nsys/import_state.hpp"

namespace prof::nsys {
namespace {

/// Kinds that no version exports.
constexpr std::string_view kNotExported = "MODULE JIT MEMORY_POOL RESOURCES";
/// Kinds without which the questions about a timeline have no answer, in the order of their names.
constexpr std::string_view kAlwaysThere[] = {"KERNEL", "RUNTIME"};

std::string utc_of(int64_t ns) {
  const std::time_t seconds = ns / 1'000'000'000;
  std::tm tm{};
  ::gmtime_r(&seconds, &tm);
  std::array<char, 40> buffer{};
  const size_t n = std::strftime(buffer.data(), buffer.size(), "%Y-%m-%dT%H:%M:%S", &tm);
  const std::string ms = std::to_string(1000 + ns / 1'000'000 % 1000);
  return std::string(buffer.data(), n) + "." + ms.substr(1) + "Z";
}

/// CUDA ordinals of the GPUs that the processes saw, by the export's own GPU number.
std::map<int64_t, std::set<int64_t>> ordinals_of(ImportState& state, bool* listed) {
  static constexpr Column kColumns[] = {optional_column("gpuId"), {"cudaId"}};
  std::map<int64_t, std::set<int64_t>> out;
  *listed = state.each("TARGET_INFO_CUDA_DEVICE", kColumns, [&](const Rows& row) {
    const std::optional<int64_t> gpu = row.optional_integer(0);
    if (gpu) out[*gpu].insert(row.integer(1));
    return gpu.has_value();
  });
  return out;
}

int64_t present(const Rows& row, size_t column, const char* what) {
  const std::optional<int64_t> value = row.optional_integer(column);
  if (!value) throw RowProblem(std::string("the export does not say its ") + what);
  return *value;
}

ledger::DeviceRow device_of(const Rows& row) {
  ledger::DeviceRow out;
  const std::optional<std::string> name = row.optional_text(2);
  const std::optional<std::string> uuid = row.optional_text(3);
  if (!name || !uuid) throw RowProblem("the export does not say its name or UUID");
  out.name = *name;
  out.uuid = uuid->find('-') == 3 ? *uuid : "GPU-" + *uuid;
  out.multiprocessors = present(row, 4, "number of multiprocessors");
  out.memory_bytes = present(row, 5, "memory");
  out.sm_major = present(row, 6, "compute capability");
  out.sm_minor = present(row, 7, "compute capability");
  out.memory_bytes_per_s = row.optional_integer(8);
  out.l2_bytes = row.optional_integer(9);
  out.constant_bytes = row.optional_integer(10);
  if (const auto hz = row.optional_integer(11)) out.clock_khz = *hz / 1000;
  out.warp_threads = row.optional_integer(12);
  out.copy_engines = row.optional_integer(13);
  out.max_threads_per_block = row.optional_integer(14);
  out.max_registers_per_block = row.optional_integer(15);
  out.max_shared_per_block_bytes = row.optional_integer(16);
  out.max_warps_per_sm = row.optional_integer(17);
  out.max_blocks_per_sm = row.optional_integer(18);
  out.max_registers_per_sm = row.optional_integer(19);
  out.max_shared_per_sm_bytes = row.optional_integer(20);
  return out;
}

}  // namespace

void import_devices(ImportState& state) {
  static constexpr Column kColumns[] = {{"id"},
                                        optional_column("cuDevice"),
                                        optional_column("name"),
                                        optional_column("uuid"),
                                        optional_column("smCount"),
                                        optional_column("totalMemory"),
                                        optional_column("computeMajor"),
                                        optional_column("computeMinor"),
                                        optional_column("memoryBandwidth"),
                                        optional_column("l2CacheSize"),
                                        optional_column("constantMemory"),
                                        optional_column("clockRate"),
                                        optional_column("threadsPerWarp"),
                                        optional_column("asyncEngines"),
                                        optional_column("maxThreadsPerBlock"),
                                        optional_column("maxRegistersPerBlock"),
                                        optional_column("maxShmemPerBlock"),
                                        optional_column("maxWarpsPerSm"),
                                        optional_column("maxBlocksPerSm"),
                                        optional_column("maxRegistersPerSm"),
                                        optional_column("maxShmemPerSm")};
  bool listed = false;
  const std::map<int64_t, std::set<int64_t>> ordinals = ordinals_of(state, &listed);
  const std::optional<std::string> table = state.file.table("TARGET_INFO_GPU");
  bool has_ordinal = false;
  if (table) {
    const std::vector<std::string> columns = state.file.columns(*table);
    has_ordinal = std::find(columns.begin(), columns.end(), "cuDevice") != columns.end();
  }
  state.each("TARGET_INFO_GPU", kColumns, [&](const Rows& row) {
    // CUDA's number of the device: as the processes saw it, as the driver counts, or the only
    // number there is. A GPU that CUDA does not know is none of ours.
    std::set<int64_t> ids;
    if (listed) {
      const auto it = ordinals.find(row.integer(0));
      if (it != ordinals.end()) ids = it->second;
    } else if (!has_ordinal) {
      ids.insert(row.integer(0));
    } else if (const auto ordinal = row.optional_integer(1)) {
      ids.insert(*ordinal);
    }
    if (ids.empty()) return false;
    ledger::DeviceRow device = device_of(row);
    for (const int64_t id : ids) {
      device.id = id;
      state.writer.device(device);
    }
    return true;
  });
}

void import_contexts(ImportState& state) {
  static constexpr Column kContext[] = {{"processId"},
                                        {"contextId"},
                                        {"deviceId"},
                                        optional_column("nullStreamId"),
                                        optional_column("parentContextId"),
                                        optional_column("isGreenContext")};
  std::set<std::pair<int64_t, int64_t>> known;
  state.each("TARGET_INFO_CUDA_CONTEXT_INFO", kContext, [&](const Rows& row) {
    ledger::ContextRow out;
    out.pid = row.integer(0);
    out.id = row.integer(1);
    out.device_id = row.integer(2);
    out.null_stream_id = row.optional_integer(3);
    out.parent_id = row.optional_integer(4);
    if (const auto green = row.optional_integer(5)) out.green = *green != 0;
    state.writer.context(out);
    known.emplace(out.pid, out.id);
    return true;
  });
  for (const auto& [key, device] : state.contexts()) {
    if (known.count(key) != 0) continue;
    ledger::ContextRow out;
    out.pid = key.first;
    out.id = key.second;
    out.device_id = device;
    state.writer.context(out);
  }

  static constexpr Column kStream[] = {{"processId"},
                                       {"contextId"},
                                       {"streamId"},
                                       optional_column("priority"),
                                       optional_column("flag")};
  std::set<std::tuple<int64_t, int64_t, int64_t>> streams;
  state.each("TARGET_INFO_CUDA_STREAM", kStream, [&](const Rows& row) {
    ledger::StreamRow out;
    out.pid = row.integer(0);
    out.context_id = row.integer(1);
    out.id = row.integer(2);
    out.priority = row.optional_integer(3);
    out.flag = row.optional_integer(4);
    state.writer.stream(out);
    streams.emplace(out.pid, out.context_id, out.id);
    return true;
  });
  for (const auto& key : state.streams()) {
    if (streams.count(key) != 0) continue;
    ledger::StreamRow out;
    std::tie(out.pid, out.context_id, out.id) = key;
    state.writer.stream(out);
  }
}

namespace {

void import_processes(ImportState& state) {
  static constexpr Column kColumns[] = {{"globalPid"}, optional_column("name")};
  std::set<int64_t> named;
  state.each("PROCESSES", kColumns, [&](const Rows& row) {
    const int64_t pid = decode_global_id(row.integer(0)).pid;
    const std::optional<std::string> name = row.optional_text(1);
    // Of a number that was used twice the first name stays.
    if (!name || name->empty() || state.processes().count(pid) == 0) return false;
    if (!named.insert(pid).second) return false;
    state.writer.meta(std::string(ledger::trace_meta::kProcessName) + std::to_string(pid), *name);
    return true;
  });
}

/// What nsys itself says went wrong while recording.
void import_diagnostics(ImportState& state) {
  constexpr int64_t kError = 3;
  static constexpr Column kColumns[] = {{"severity"}, {"text"}};
  state.each("DIAGNOSTIC_EVENT", kColumns, [&](const Rows& row) {
    const std::string text = row.optional_text(1).value_or("");
    const bool tells_of_loss = text.find("might have been collected") != std::string::npos ||
                               text.find("dropped") != std::string::npos;
    if (row.integer(0) < kError && !tells_of_loss) return false;
    state.lose("nsys says: " + text.substr(0, 500));
    return true;
  });
}

}  // namespace

void import_facts(ImportState& state, const std::set<std::string>& absent) {
  import_processes(state);
  import_diagnostics(state);
  std::string missing;
  for (const std::string& kind : absent) {
    const bool always =
        std::find(std::begin(kAlwaysThere), std::end(kAlwaysThere), kind) != std::end(kAlwaysThere);
    if (!always && state.options.recorded_everything) continue;
    missing += (missing.empty() ? "" : " ") + kind;
    state.result.missing_kinds.push_back(kind);
  }
  ledger::TraceWriter& writer = state.writer;
  const auto exported = [&](const char* name) {
    return state.file.property("META_DATA_EXPORT", name).value_or("unknown");
  };
  writer.meta(ledger::trace_meta::kTool, "Nsight Systems");
  writer.meta(ledger::trace_meta::kToolVersion, exported("EXPORT_PRODUCT_VERSION"));
  writer.meta(ledger::trace_meta::kCreatedUtc, utc_of(state.session_start_ns()));
  writer.meta(ledger::trace_meta::kSessionStartNs, std::to_string(state.session_start_ns()));
  writer.meta(ledger::trace_meta::kTrailer, "1");
  if (!missing.empty()) writer.meta(ledger::trace_meta::kMissingKinds, missing);
  writer.meta("nsys_export_schema", exported("EXPORT_SCHEMA_VERSION"));
  writer.meta("imported_by", state.options.importer);
  std::string not_exported(kNotExported);
  if (!state.file.table("CUPTI_ACTIVITY_KIND_CUDA_EVENT")) not_exported += " CUDA_EVENT";
  writer.meta("kinds_not_exported", not_exported);
  for (const auto& [key, value] : state.options.facts) writer.meta(key, value);
  for (const ledger::WindowRow& window : state.options.windows) writer.window(window);
  state.write_losses();
}

}  // namespace prof::nsys

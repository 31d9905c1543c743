// Writes a trace capture: rows go into `PATH.partial`, finalize() checks, seals and publishes it as
// PATH. Whatever ends the program before that leaves the partial file, which no reader accepts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "ledger/trace/trace_rows.hpp"

namespace ledger {

/// One capture in the making. Not thread-safe.
///
/// Every method that takes a row throws FormatError TRACE_ROW if the row contradicts the schema (an
/// end before its start, one of two times missing, a name that was not interned, ...); nothing of
/// it is stored then, and the writer stays usable: the caller may put the record into quarantine.
/// Failures of the disk are DatabaseError (LEDGER_FULL, LEDGER_IO); after one only destruction is
/// left.
class TraceWriter {
 public:
  enum class Existing : uint8_t {
    kRefuse,   ///< a finished or partial file of that name stays
    kReplace,  ///< both are replaced
  };

  /// Creates `path` + ".partial". Throws RefusedError OUTPUT_EXISTS, and like
  /// stwo::check_output.
  explicit TraceWriter(const std::string& path, Existing existing = Existing::kRefuse);
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;
  ~TraceWriter();

  const std::string& partial_path() const;

  /// Id of a name; the same text always gets the same id.
  StrId intern(std::string_view text);
  /// A fact about the capture. Repeating one with the same value does nothing; another value
  /// throws FormatError TRACE_ROW.
  void meta(std::string_view key, std::string_view value);

  /// Devices, contexts and streams: the same row may come more than once.
  void device(const DeviceRow& row);
  void context(const ContextRow& row);
  void stream(const StreamRow& row);

  void api(const ApiRow& row);
  /// Operations of a device; each returns gpu_op.id.
  int64_t kernel(const GpuOpRow& op, const KernelRow& row);
  int64_t copy(const GpuOpRow& op, const CopyRow& row);
  int64_t fill(const GpuOpRow& op, const FillRow& row);
  int64_t graph(const GpuOpRow& op);
  void sync(const SyncRow& row);
  void cuda_event(const CudaEventRow& row);
  void mem_event(const MemEventRow& row);
  void pool_event(const PoolEventRow& row);
  void res_event(const ResEventRow& row);
  void jit(const JitRow& row);
  void overhead(const OverheadRow& row);
  void nvtx(const NvtxRow& row);
  void clock_pair(const ClockPairRow& row);
  void quarantine(const QuarantineRow& row);
  /// Adds to what is known to be lost of that kind.
  void loss(const LossRow& row);
  void window(const WindowRow& row);

  /// Makes the indexes, checks the file, seals it, makes it read-only and gives it its name. Needs
  /// meta tool, tool_version, created_utc and session_start_ns. The writer takes no rows
  /// afterwards. Throws RefusedError OUTPUT_EXISTS if the name was taken meanwhile (the partial
  /// file stays); ContractError if the file fails its own checks.
  void finalize();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ledger

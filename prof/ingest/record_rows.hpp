// Second pass: one record becomes one row of the capture, or a reason why not.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>

#include "ledger/trace/trace_writer.hpp"
#include "prof/ingest/log_scan.hpp"
#include "prof/ingest/nvtx_ranges.hpp"

namespace prof {

/// Names of one log in the capture.
class LogNames {
 public:
  LogNames(const ScannedLog& log, ledger::TraceWriter& writer) : log_(log), writer_(writer) {}

  /// Throws FormatError RECORD_NAME if the log does not define it.
  ledger::StrId resolve(int64_t id);
  /// Full and short name of a kernel that the log names as its module does.
  struct Kernel {
    ledger::StrId name;
    ledger::StrId short_name;
    ledger::StrId mangled;
  };
  Kernel kernel(int64_t mangled_id);

 private:
  const std::string& text(int64_t id) const;
  const ScannedLog& log_;
  ledger::TraceWriter& writer_;
  std::unordered_map<int64_t, ledger::StrId> ids_;
  std::unordered_map<int64_t, Kernel> kernels_;
};

class RecordRows {
 public:
  explicit RecordRows(ledger::TraceWriter& writer) : writer_(writer) {}

  /// Stores a record. Without `keep_times` an operation is stored as untimed. What cannot be stored
  /// goes into quarantine.
  void add(const LogItem& item, LogNames& names, bool keep_times);
  void add(const MarkerRange& range, LogNames& names);
  void quarantine(const std::string& reason, std::span<const uint8_t> bytes);

  uint64_t quarantined() const { return quarantined_; }
  const std::map<std::string, int64_t>& untimed() const { return untimed_; }

 private:
  void store(const LogItem& item, LogNames& names, bool keep_times);
  template <class Row>
  Row decoded(const LogItem& item) const;
  void prepare(ledger::GpuOpRow& op, bool keep_times) const;
  void count_untimed(const char* table, bool untimed);
  /// Calls `action`; a refusal of the writer or of a name becomes a quarantined record.
  void guarded(std::span<const uint8_t> bytes, const std::function<void()>& action);

  ledger::TraceWriter& writer_;
  uint64_t quarantined_ = 0;
  std::map<std::string, int64_t> untimed_;
};

}  // namespace prof

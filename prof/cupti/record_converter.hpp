// Turns CUPTI's activity records into rows of the record log. No state but names; no call of CUPTI.
#pragma once

#include <cupti.h>

#include "prof/log/log_writer.hpp"

namespace prof {

// The structs that the design names must be those that this header enables the kinds with.
static_assert(CUPTI_API_VERSION >= 130000 && CUPTI_API_VERSION < 140000,
              "the records below are those of CUPTI 13");

/// Name of an API function; null: CUPTI does not know it. Domain as in CUPTI's callbacks.
using CallbackNames = const char* (*)(CUpti_CallbackDomain domain, uint32_t cbid);

class RecordConverter {
 public:
  /// Rows go to `log`, as those of process `pid`.
  RecordConverter(LogWriter& log, int64_t pid, CallbackNames names)
      : log_(log), pid_(pid), names_(names) {}

  /// Writes one record's row and frees what the record owns (overheadData, a device's name). Names
  /// are copied: CUPTI may free them with their module. Any thread.
  void convert(CUpti_Activity* record) noexcept;

 private:
  void kernel(const CUpti_ActivityKernel10& r);
  template <class Record>
  CopyOp copy_of(const Record& r) const;
  void copy(const CUpti_ActivityMemcpy6& r);
  void peer_copy(const CUpti_ActivityMemcpyPtoP4& r);
  void fill(const CUpti_ActivityMemset4& r);
  void graph(const CUpti_ActivityGraphTrace2& r);
  void api(const CUpti_ActivityAPI& r);
  void sync(const CUpti_ActivitySynchronization2& r);
  void cuda_event(const CUpti_ActivityCudaEvent2& r);
  void memory(const CUpti_ActivityMemory4& r);
  void pool(const CUpti_ActivityMemoryPool3& r);
  void context(const CUpti_ActivityContext3& r);
  void stream(const CUpti_ActivityStream& r);
  void device(const CUpti_ActivityDevice5& r);
  void jit(const CUpti_ActivityJit2& r);
  void overhead(const CUpti_ActivityOverhead3& r);
  void marker(const CUpti_ActivityMarker2& r);
  void marker_data(const CUpti_ActivityMarkerData2& r);
  void name(const CUpti_ActivityName& r);
  void unknown(const CUpti_Activity& r);

  LogWriter& log_;
  int64_t pid_;
  CallbackNames names_;
};

}  // namespace prof

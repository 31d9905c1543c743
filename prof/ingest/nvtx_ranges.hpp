// Ranges from the starts and ends that CUPTI reports one by one.
#pragma once

#include <cstdint>
#include <functional>
#include <tuple>

#include "ledger/trace/trace_rows.hpp"
#include "prof/ingest/external_sorter.hpp"

namespace prof {

/// A start, an end, an instant, or what one of them carries. Names are numbers of the log.
struct MarkerPart {
  enum Part : int32_t { kInstant = 0, kStart = 1, kData = 2, kEnd = 3 };
  int32_t log = 0;
  int32_t part = kInstant;
  int64_t pid = 0;
  int64_t id = 0;
  int64_t ts_ns = 0;  ///< 0: not timed
  int64_t tid = 0;
  int64_t domain = 0;  ///< 0: none
  int64_t name = 0;    ///< 0: none
  int64_t flags = 0;
  int64_t category = 0;
  uint64_t payload = 0;
  bool has_payload = false;
  uint64_t ordinal = 0;

  auto key() const { return std::tie(log, id, part, ts_ns, ordinal); }
  bool operator<(const MarkerPart& o) const { return key() < o.key(); }
};

/// A range or mark before its names are known.
struct MarkerRange {
  int32_t log = 0;
  ledger::NvtxType type = ledger::NvtxType::kPushPop;
  int64_t pid = 0;
  int64_t tid = 0;
  int64_t end_tid = 0;
  int64_t domain = 0;
  int64_t name = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;  ///< 0: a mark, or never closed
  int64_t flags = 0;
  int64_t category = 0;
  uint64_t payload = 0;
  bool has_payload = false;

  /// Of one thread and domain: outer ranges first.
  auto key() const {
    return std::tuple(log, pid, tid, domain, start_ns, end_ns == 0 ? INT64_MIN : -end_ns, name,
                      category, payload, type);
  }
  bool operator<(const MarkerRange& o) const { return key() < o.key(); }
};

struct RangeSinks {
  std::function<void(const MarkerRange&)> row;
  /// A part that belongs to nothing.
  std::function<void(const MarkerPart&, const char* why)> refused;
};

/// Puts parts together by their id and hands out ranges thread by thread, in order of their start.
///
/// CUPTI does not say how a range was made. One that ends on another thread was made by start and
/// end. So were two of one thread and domain that overlap without nesting (at least one of them:
/// both are called so, because stages are read from push and pop only), and one that was never
/// closed although one around it was. Everything else is push and pop.
void assemble_ranges(ExternalSorter<MarkerPart>& parts, ExternalSorter<MarkerRange>& ranges,
                     const RangeSinks& sinks);

}  // namespace prof

#include "prof/ingest/nvtx_ranges.hpp"

#include <vector>

namespace prof {
namespace {

using ledger::NvtxType;

/// All parts of one id.
class Assembly {
 public:
  Assembly(ExternalSorter<MarkerRange>& ranges, const RangeSinks& sinks)
      : ranges_(ranges), sinks_(sinks) {}

  void add(const MarkerPart& part) {
    if (any_ && (part.log != log_ || part.id != id_)) close();
    log_ = part.log;
    id_ = part.id;
    any_ = true;
    switch (part.part) {
      case MarkerPart::kInstant:
      case MarkerPart::kStart:
        if (has_begin_) return refuse(part, "NVTX_TWICE: a second start of one range");
        begin_ = part;
        has_begin_ = true;
        return;
      case MarkerPart::kData:
        // CUPTI may repeat the data at the end; the first one is that of the start.
        if (!has_data_) data_ = part;
        has_data_ = true;
        return;
      default:
        if (has_end_) return refuse(part, "NVTX_TWICE: a second end of one range");
        end_ = part;
        has_end_ = true;
        return;
    }
  }

  void close() {
    if (has_begin_) {
      emit();
    } else {
      if (has_end_) refuse(end_, "NVTX_UNMATCHED: the end of a range without its start");
      if (has_data_) refuse(data_, "NVTX_UNMATCHED: data of a range without its start");
    }
    has_begin_ = has_data_ = has_end_ = any_ = false;
  }

 private:
  void refuse(const MarkerPart& part, const char* why) { sinks_.refused(part, why); }

  void emit() {
    if (begin_.ts_ns <= 0) {
      refuse(begin_, "NVTX_UNTIMED: a range or mark without a time");
      return;
    }
    MarkerRange range;
    range.log = begin_.log;
    range.pid = begin_.pid;
    range.tid = begin_.tid;
    range.domain = begin_.domain;
    range.name = begin_.name;
    range.start_ns = begin_.ts_ns;
    range.flags = begin_.flags;
    if (has_data_) {
      range.category = data_.category;
      range.payload = data_.payload;
      range.has_payload = data_.has_payload;
    }
    if (begin_.part == MarkerPart::kInstant) {
      range.type = NvtxType::kMark;
      if (has_end_) refuse(end_, "NVTX_UNMATCHED: the end of a mark");
    } else if (has_end_ && end_.ts_ns >= begin_.ts_ns) {
      range.end_ns = end_.ts_ns;
      if (end_.tid != begin_.tid) {
        range.type = NvtxType::kStartEnd;
        range.end_tid = end_.tid;
      }
    } else if (has_end_) {
      refuse(end_, "NVTX_ORDER: the end of a range lies before its start");
    }
    ranges_.add(range);
  }

  ExternalSorter<MarkerRange>& ranges_;
  const RangeSinks& sinks_;
  int32_t log_ = 0;
  int64_t id_ = 0;
  bool any_ = false;
  bool has_begin_ = false;
  bool has_data_ = false;
  bool has_end_ = false;
  MarkerPart begin_;
  MarkerPart data_;
  MarkerPart end_;
};

/// Tells push and pop from start and end, range by range.
class Nesting {
 public:
  explicit Nesting(const RangeSinks& sinks) : sinks_(sinks) {}

  void add(MarkerRange range) {
    if (!open_.empty() && !same_lane(open_.front(), range)) release(INT64_MAX);
    release(range.start_ns);
    if (range.type != NvtxType::kPushPop) {
      sinks_.row(range);
      return;
    }
    if (range.end_ns == 0) {
      // Whoever pops an outer range has popped this one before.
      if (!open_.empty()) range.type = NvtxType::kStartEnd;
      sinks_.row(range);
      return;
    }
    for (MarkerRange& outer : open_) {
      if (outer.end_ns < range.end_ns) outer.type = range.type = NvtxType::kStartEnd;
    }
    open_.push_back(range);
  }

  void finish() { release(INT64_MAX); }

 private:
  static bool same_lane(const MarkerRange& a, const MarkerRange& b) {
    return a.log == b.log && a.pid == b.pid && a.tid == b.tid && a.domain == b.domain;
  }
  /// Hands out what ended by `ns`: nothing that comes can cross it.
  void release(int64_t ns) {
    size_t kept = 0;
    for (const MarkerRange& range : open_) {
      if (range.end_ns <= ns) {
        sinks_.row(range);
      } else {
        open_[kept++] = range;
      }
    }
    open_.resize(kept);
  }

  const RangeSinks& sinks_;
  std::vector<MarkerRange> open_;  ///< closed ranges around the latest start
};

}  // namespace

void assemble_ranges(ExternalSorter<MarkerPart>& parts, ExternalSorter<MarkerRange>& ranges,
                     const RangeSinks& sinks) {
  Assembly assembly(ranges, sinks);
  MarkerPart part;
  while (parts.next(part)) assembly.add(part);
  assembly.close();
  Nesting nesting(sinks);
  MarkerRange range;
  while (ranges.next(range)) nesting.add(range);
  nesting.finish();
}

}  // namespace prof

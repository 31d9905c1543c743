// In which stage of the prover something was launched.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "ledger/db/database.hpp"
#include "ledger/trace/stage_ranges.hpp"

namespace prof {

/// Start and end ranges of a process: they belong to no thread, so they need not nest.
class FreeRanges {
 public:
  /// Ranges in any order.
  explicit FreeRanges(std::vector<ledger::StageRange> ranges);
  struct Found {
    ledger::StrId name = 0;  ///< 0: none
    bool ambiguous = false;  ///< open ranges overlap without one being inside the other
  };
  /// The innermost range with start <= ns < end, if all such ranges lie inside each other.
  Found at(int64_t ns) const;

 private:
  struct Piece {
    int64_t start_ns;
    Found found;
  };
  std::vector<Piece> pieces_;
};

/// Stages are ranges of domain stwo.prover, category 2: the innermost push/pop range of the thread,
/// and without one the start/end ranges of its process.
class StageLookup {
 public:
  explicit StageLookup(ledger::Database& trace);
  bool has_stages() const { return !threads_.empty() || !processes_.empty(); }
  /// Stage of a thread at a time.
  FreeRanges::Found at(int64_t pid, int64_t tid, int64_t ns) const;
  /// Ranges that were never closed; they last to the end of the capture.
  int64_t unclosed() const { return unclosed_; }

 private:
  std::unordered_map<uint64_t, ledger::StageTimeline> threads_;  ///< by process and thread
  std::map<int64_t, FreeRanges> processes_;
  int64_t unclosed_ = 0;
};

}  // namespace prof

// Which stage of the prover a thread was in, from its NVTX ranges.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ledger/db/database.hpp"
#include "ledger/trace/trace_rows.hpp"

namespace ledger {

/// A stage range of one thread.
struct StageRange {
  int64_t start_ns = 0;
  int64_t end_ns = 0;  ///< INT64_MAX: never closed
  StrId name = 0;
};

/// The ranges of one thread as consecutive pieces, each with its innermost range.
class StageTimeline {
 public:
  /// Ranges in any order. Among those with the same start the shorter is inside; among equal ones
  /// the later in the list.
  explicit StageTimeline(const std::vector<StageRange>& ranges);
  /// Name of the innermost range with start <= ns < end; 0: none.
  StrId at(int64_t ns) const;

 private:
  struct Piece {
    int64_t start_ns;
    StrId name;  ///< 0: outside of all ranges
  };
  std::vector<Piece> pieces_;
};

/// Finds the stages of launches.
class StageFinder {
 public:
  /// Reads the stage ranges and, if there are any, the API calls.
  explicit StageFinder(Database& trace);
  bool has_stages() const { return !threads_.empty(); }
  /// Name of the stage that launched an operation; 0: none. Fast if correlation ids come in about
  /// ascending order.
  StrId stage_of(int64_t pid, int64_t corr);

 private:
  struct Call {
    int64_t corr;
    int64_t start_ns;
    int32_t pid;
    int32_t stage;
  };
  void read_ranges(Database& trace);
  void read_calls(Database& trace);

  std::unordered_map<uint64_t, StageTimeline> threads_;  ///< by pid and tid
  std::vector<Call> calls_;                              ///< by pid and corr, one each
  size_t last_ = 0;
};

}  // namespace ledger

#include "prof/ingest/op_intervals.hpp"

#include <vector>

namespace prof {

void find_corrupt_durations(ExternalSorter<OpInterval>& ops,
                            const std::function<void(uint64_t)>& corrupt) {
  // Operations that reach beyond the start of the latest one. Times that are right leave one here,
  // or the parallel nodes of one graph launch.
  std::vector<OpInterval> open;
  OpInterval last;
  bool any = false;
  OpInterval op;
  while (ops.next(op)) {
    const bool duplicate = any && last.same_stream(op) && last.start_ns == op.start_ns &&
                           last.end_ns == op.end_ns && last.digest == op.digest;
    if (duplicate) continue;
    if (any && !last.same_stream(op)) open.clear();
    last = op;
    any = true;
    size_t kept = 0;
    for (const OpInterval& earlier : open) {
      // Not a sum, which could overflow: the earlier end lies behind the start.
      const bool reaches =
          earlier.end_ns > op.start_ns &&
          static_cast<uint64_t>(earlier.end_ns) - static_cast<uint64_t>(op.start_ns) >
              static_cast<uint64_t>(kTickNs);
      if (!reaches) continue;
      if (earlier.corr == op.corr) {
        open[kept++] = earlier;
      } else {
        corrupt(earlier.ordinal);
      }
    }
    open.resize(kept);
    open.push_back(op);
  }
}

}  // namespace prof

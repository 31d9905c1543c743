// Operations of a stream cannot overlap: where they do, CUPTI's times are wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <tuple>

#include "prof/ingest/external_sorter.hpp"

namespace prof {

/// Overlap that comes from the device's clock ticks.
inline constexpr int64_t kTickNs = 1000;

/// A timed operation, as much of it as the test needs.
struct OpInterval {
  uint32_t pid = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
  uint32_t corr = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint64_t digest = 0;   ///< of the record: equal ones are duplicates
  uint64_t ordinal = 0;  ///< number of the record

  auto key() const { return std::tie(pid, context, stream, start_ns, end_ns, digest, ordinal); }
  bool operator<(const OpInterval& other) const { return key() < other.key(); }
  bool same_stream(const OpInterval& o) const {
    return pid == o.pid && context == o.context && stream == o.stream;
  }
};

/// Calls `corrupt` with the ordinal of each operation that runs more than a tick into a later one
/// of its stream. Nodes of one graph launch have one correlation id and may run side by side; a
/// duplicate overlaps nothing.
void find_corrupt_durations(ExternalSorter<OpInterval>& ops,
                            const std::function<void(uint64_t ordinal)>& corrupt);

}  // namespace prof

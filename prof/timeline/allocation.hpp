// Question 6: memory that was allocated and released, and what was alive.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/db/database.hpp"
#include "prof/timeline/answer.hpp"
#include "prof/timeline/recorded.hpp"
#include "prof/timeline/window.hpp"

namespace prof {

/// Allocations or releases of the window by one function and kind of memory.
struct MemoryCalls {
  bool release = false;
  std::optional<std::string> call;  ///< absent: the call is not in the capture
  std::string memory;               ///< "device", "pinned", ...
  int64_t events = 0;
  int64_t bytes = 0;
};

/// Memory that is alive, in bytes.
struct LiveBytes {
  int64_t at_begin = 0;
  int64_t peak = 0;  ///< in the window
  int64_t at_end = 0;
};

/// A memory pool. Sizes are its highest ones from the window's begin to its end; absent: no record
/// says.
struct PoolUse {
  int64_t pid = 0;
  int64_t device_id = 0;
  uint64_t address = 0;
  std::optional<int64_t> bytes;
  std::optional<int64_t> used_bytes;
  std::optional<uint64_t> release_threshold_bytes;  ///< the last one known
  int64_t trims = 0;                                ///< in the window
};

struct Allocation {
  int64_t allocations = 0;  ///< in the window
  int64_t allocated_bytes = 0;
  int64_t releases = 0;
  int64_t released_bytes = 0;
  std::vector<MemoryCalls> calls;
  LiveBytes device;  ///< device memory, arrays, managed and static memory
  LiveBytes host;    ///< pinned memory
  /// Releases of addresses whose allocation was not recorded, up to the window's end: they change
  /// nothing that is alive.
  int64_t unmatched_releases = 0;
  /// Allocations at an address that was alive, up to the window's end: the older one is over.
  int64_t replaced = 0;
  int64_t untimed = 0;  ///< records without a time, left out
  Answer<std::vector<PoolUse>> pools;
  int64_t pools_created = 0;  ///< in the window
  int64_t pools_destroyed = 0;
  /// Neither allocated nor released anything? Unknown for first requests and without a request.
  Answer<bool> nothing_allocated;
};

/// Memory: what the program had allocated at the same time.
Answer<Allocation> allocation(ledger::Database& trace, const Window& window,
                              const Recorded& recorded);

}  // namespace prof

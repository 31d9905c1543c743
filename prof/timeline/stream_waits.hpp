// How long streams stood still because of work on other streams.
#pragma once

#include <cstdint>
#include <map>

#include "ledger/db/database.hpp"
#include "prof/timeline/answer.hpp"
#include "prof/timeline/recorded.hpp"
#include "prof/timeline/stage_lookup.hpp"
#include "prof/timeline/window.hpp"

namespace prof {

/// Waits of a stream for an event of another one (cuStreamWaitEvent). The operation after the wait
/// could have started at e, the latest end before it on its own stream, the begin of the waiting
/// call or of the window, whichever is last, but not before p, the end of the work before the event
/// on the other stream. It waited from e to min(start, p), if that is later. What the host spends
/// in the call is not a wait.
struct StreamWaits {
  int64_t waits = 0;     ///< such calls in the window
  int64_t blocking = 0;  ///< operations that really waited
  int64_t wait_ns = 0;   ///< sum over those operations
  int64_t longest_ns = 0;
  int64_t unresolved = 0;  ///< waits whose event, call or next operation is not in the capture
  std::map<ledger::StrId, int64_t> by_stage;  ///< wait_ns by the waiting operation's stage; 0: none
};

/// Memory: 40 bytes for each operation of the window on streams that wait or are waited for.
Answer<StreamWaits> stream_waits(ledger::Database& trace, const Window& window,
                                 const StageLookup& stages, const Recorded& recorded);

}  // namespace prof

// Question 8: how the thread that submits the work spent the window.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "prof/timeline/answer.hpp"
#include "prof/timeline/busy_time.hpp"
#include "prof/timeline/distribution.hpp"
#include "prof/timeline/outer_call.hpp"
#include "prof/timeline/stage_lookup.hpp"

namespace prof {

inline constexpr size_t kTopSubmitGaps = 10;

/// Time between two calls of the thread.
struct SubmitGap {
  int64_t start_ns = 0;
  int64_t ns = 0;
  int64_t starved_ns = 0;  ///< part in which no device works
  std::string before;      ///< call that ended
  std::string after;       ///< call that began
  std::string stage;       ///< of the thread when the gap began; "" for none
};

/// The thread with most launching calls in the window (of equal ones the lowest process and
/// thread). Nanoseconds; window = before + in_api + gaps.sum + after.
struct SubmitThread {
  int64_t pid = 0;
  int64_t tid = 0;
  int64_t calls = 0;     ///< that start in the window
  int64_t launches = 0;  ///< of these: kernels and graphs
  int64_t before_ns = 0;
  int64_t after_ns = 0;
  int64_t in_api_ns = 0;
  int64_t blocked_ns = 0;      ///< part of in_api_ns in device, stream and event synchronisation
  Distribution gaps;           ///< those longer than 0
  int64_t starved_ns = 0;      ///< part of the gaps in which no device works
  int64_t threads = 0;         ///< threads with launching calls in the window
  std::vector<SubmitGap> top;  ///< longest starved part first, at most kTopSubmitGaps
};

/// Memory: 8 bytes for each gap.
class SubmitThreadQuestion {
 public:
  SubmitThreadQuestion(const Window& window, const BusyTime& busy, const StageLookup& stages,
                       Names& names)
      : window_(window), busy_(busy), stages_(stages), names_(names) {}
  /// Calls of each thread in order of their start.
  void add(const OuterCall& call);
  Answer<SubmitThread> answer(const Recorded& recorded) const;

 private:
  struct Thread {
    SubmitThread out;
    std::vector<int64_t> gaps;
    bool any = false;
    int64_t last_end_ns = 0;
    ledger::StrId last_name = 0;
  };
  void add_gap(const OuterCall& call, int64_t until_ns, Thread* thread);

  const Window& window_;
  const BusyTime& busy_;
  const StageLookup& stages_;
  Names& names_;
  std::map<std::pair<int64_t, int64_t>, Thread> threads_;
};

}  // namespace prof

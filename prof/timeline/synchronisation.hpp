// Question 4: where the host waited for the device, and what makes it wait without saying so.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "prof/timeline/answer.hpp"
#include "prof/timeline/busy_time.hpp"
#include "prof/timeline/device_op.hpp"
#include "prof/timeline/outer_call.hpp"
#include "prof/timeline/recorded.hpp"
#include "prof/timeline/window.hpp"

namespace prof {

/// Calls of one kind; nanoseconds inside the window. Wasted is the part in which no device works.
struct HostTime {
  int64_t calls = 0;
  int64_t host_ns = 0;
  int64_t wasted_ns = 0;
  bool operator==(const HostTime&) const = default;
};

struct ImplicitSync {
  std::string call;  ///< name of the function, without its variant
  HostTime time;
};

struct Synchronisation {
  bool from_calls = false;  ///< there are no records of waits: the calls themselves were used
  HostTime device;
  HostTime stream;
  HostTime event;
  HostTime stream_query;
  HostTime event_query;
  /// Copies whose call waited for them: not asynchronous, or asynchronous with pageable memory and
  /// over before the call returned.
  HostTime blocking_copies;
  /// Calls that may wait for the device although that is not their purpose: allocation and release
  /// of memory that no stream orders, pinning, loading of code. By name.
  std::vector<ImplicitSync> implicit;
  Answer<int64_t> legacy_stream_operations;  ///< operations on default streams
  int64_t waits() const { return device.calls + stream.calls + event.calls; }
  /// Is the only wait one that ends after all work of the window? Unknown without a request.
  Answer<bool> one_terminal_wait;
};

/// Takes operations and calls in any order, then answers; `busy` must be complete when calls come.
/// Memory: one entry for each call that waited for a copy.
class SynchronisationQuestion {
 public:
  SynchronisationQuestion(ledger::Database& trace, const Window& window, const BusyTime& busy,
                          Names& names);
  void add_op(const DeviceOp& op, const std::optional<LaunchCall>& call, bool counts);
  void add_call(const OuterCall& call);
  Synchronisation answer(const Recorded& recorded);

 private:
  void count(HostTime* time, int64_t start_ns, int64_t end_ns) const;
  void read_sync_records();

  ledger::Database& trace_;
  const Window& window_;
  const BusyTime& busy_;
  Names& names_;
  Synchronisation out_;
  HostTime call_device_, call_stream_, call_event_;
  std::map<std::string, HostTime> implicit_;
  std::map<std::pair<int64_t, int64_t>, int64_t> null_streams_;  ///< by process and context
  /// Calls that waited for copies, by process and correlation id: one call can make several.
  std::map<std::pair<int64_t, int64_t>, ledger::Interval> copy_calls_;
  int64_t legacy_ = 0;
  int64_t last_work_end_ns_ = 0;
  int64_t last_wait_end_ns_ = 0;
  int64_t last_call_wait_end_ns_ = 0;
};

}  // namespace prof

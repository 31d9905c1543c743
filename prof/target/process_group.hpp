// A program in a process group of its own. Internal to the folder.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "prof/target/file_handle.hpp"

namespace prof {

/// NAME=VALUE lines: ours, without `unset`, with `set`.
std::vector<std::string> target_environment(
    const std::vector<std::pair<std::string, std::string>>& set,
    const std::vector<std::string>& unset);

/// Nanoseconds of the monotonic clock.
int64_t monotonic_ns();

/// The running group. Whatever happens to its owner, it ends with it.
class ProcessGroup {
 public:
  /// Starts `program`: stdin is empty, stdout and stderr are the two descriptors. Throws UsageError
  /// TARGET_COMMAND if it is nothing that can be run, EnvironmentError TARGET_START.
  ProcessGroup(const std::string& program, const std::vector<std::string>& command,
               const std::vector<std::string>& environment, int stdout_fd, int stderr_fd);
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  int pid() const { return pid_; }
  /// Readable once the program, the group's first process, has ended.
  int ended_fd() const { return ended_.read.get(); }
  /// Valid once ended_fd() is readable.
  int64_t end_ns() const { return end_ns_; }

  /// To every process of the group.
  void signal(int number) const;

  /// After the program has ended: gives the group's other processes until `deadline_ns` (monotonic;
  /// the past: no time at all), ends them, reaps them. Calls `pause` while it waits. Returns the
  /// program's wait status.
  int finish(int64_t deadline_ns, const std::function<void()>& pause);

 private:
  void wait_for_end();

  int pid_ = -1;
  bool finished_ = false;
  int previous_subreaper_ = 0;
  Pipe ended_;
  std::atomic<int64_t> end_ns_{0};
  std::thread waiter_;
};

}  // namespace prof

// Signals that ask us to stop, while a program of ours runs. Internal to the folder.
#pragma once

#include <csignal>
#include <optional>

#include "prof/target/file_handle.hpp"

namespace prof {

/// Catches SIGINT, SIGTERM and SIGHUP, and ignores SIGPIPE, while it lives; then everything is as
/// it was. A signal that was ignored stays ignored, as nohup and background jobs expect. At most
/// one at a time in a process.
class SignalRelay {
 public:
  SignalRelay();
  ~SignalRelay();
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;

  /// Readable when a signal has come.
  int fd() const { return pipe_.read.get(); }
  /// The next signal that came.
  std::optional<int> take();

 private:
  static constexpr int kCaught[] = {SIGINT, SIGTERM, SIGHUP};
  Pipe pipe_;
  struct sigaction previous_[3] = {};
  struct sigaction previous_pipe_ = {};
};

}  // namespace prof

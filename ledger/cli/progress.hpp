// How far a long command is: one line on stderr that is written over, only on a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace ledger {

class Progress {
 public:
  /// Nothing is shown before `delay` has passed.
  explicit Progress(std::chrono::milliseconds delay = std::chrono::milliseconds(500))
      : Progress("ledger", delay) {}
  /// `tool` is the program's name.
  explicit Progress(const char* tool,
                    std::chrono::milliseconds delay = std::chrono::milliseconds(500));
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Takes the line away.
  ~Progress();

  /// "hashing artifacts 42 %"; without a total, the seconds since the start.
  void show(const std::string& what, int64_t done, int64_t total);

 private:
  const char* tool_;
  bool enabled_;
  bool shown_ = false;
  std::chrono::milliseconds delay_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace ledger

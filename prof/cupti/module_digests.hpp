// Digests of the device code that a program loads. The program's thread only copies the bytes; a
// thread that nobody waits for computes.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "prof/log/log_writer.hpp"

namespace prof {

class ModuleDigests {
 public:
  /// Bytes that may wait. More are written without a digest.
  static constexpr size_t kMaxWaiting = size_t{256} << 20;

  explicit ModuleDigests(LogWriter& log) : log_(log) {}

  /// Takes a loaded module: row.bytes and row.sha256 follow from `code`.
  void add(ledger::ResEventRow row, const char* code, size_t bytes) noexcept;
  /// Computes what waits and writes the rows.
  void work() noexcept;

 private:
  struct Waiting {
    ledger::ResEventRow row;
    std::vector<uint8_t> code;
  };
  LogWriter& log_;
  std::mutex mutex_;
  std::vector<Waiting> waiting_;
  size_t waiting_bytes_ = 0;
};

}  // namespace prof

// Writes a record log from inside a foreign process: nothing throws, nothing is lost silently,
// every method may be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "prof/log/log_format.hpp"

namespace prof {

/// One log. After the first failure of the disk nothing more is written, so that no later frame can
/// make the log look whole; what should have been written is counted.
class LogWriter {
 public:
  LogWriter() = default;
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;
  /// Closes the file without a trailer unless finish() was called: whoever forgets it gets a log
  /// that is known to be truncated.
  ~LogWriter();

  /// Creates DIRECTORY/PID.stwolog, or PID.1.stwolog and so on if a program with that process id
  /// has a log there already (exec), and writes the header. False: see error().
  bool open(const std::string& directory, const LogHeader& header) noexcept;
  bool is_open() const noexcept;
  std::string path() const noexcept;

  /// Id of a name; the same text always gets the same id. 0: it could not be stored.
  ledger::StrId intern(std::string_view text) noexcept;

  void write(const ledger::ClockPairRow& row) noexcept;
  void write(const LogProblem& row) noexcept;
  void write(const ledger::LossRow& row) noexcept;
  void write(const LogFact& row) noexcept;
  void write(const ledger::DeviceRow& row) noexcept;
  void write(const ledger::ContextRow& row) noexcept;
  void write(const ledger::StreamRow& row) noexcept;
  void write(const ledger::ApiRow& row) noexcept;
  void write(const KernelOp& row) noexcept;
  void write(const CopyOp& row) noexcept;
  void write(const FillOp& row) noexcept;
  void write(const GraphOp& row) noexcept;
  void write(const ledger::SyncRow& row) noexcept;
  void write(const ledger::CudaEventRow& row) noexcept;
  void write(const ledger::MemEventRow& row) noexcept;
  void write(const ledger::PoolEventRow& row) noexcept;
  void write(const ledger::ResEventRow& row) noexcept;
  void write(const ledger::JitRow& row) noexcept;
  void write(const ledger::OverheadRow& row) noexcept;
  void write(const MarkerRow& row) noexcept;
  void write(const MarkerDataRow& row) noexcept;
  void write(const UnknownRow& row) noexcept;

  /// Hands everything to the operating system.
  void flush() noexcept;
  /// Writes a trailer and flushes. May be called again after more rows.
  void finish(int64_t cupti_dropped) noexcept;
  /// Gives up the file without writing what is in memory.
  void abandon() noexcept;

  /// Hold the writer still around fork(), so that the child's copy is in a known state.
  void lock() noexcept { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }
  /// In the child, between lock() in the parent and unlock(): forgets the file, which is the
  /// parent's.
  void drop_in_child() noexcept;

  /// Frames that were not stored.
  int64_t lost() const noexcept;
  /// The first failure, e.g. "write: No space left on device"; empty: none.
  std::string error() const noexcept;

 private:
  template <class Row>
  void put(const Row& row) noexcept;
  template <class Row>
  void append(const Row& row);
  void drain() noexcept;
  void fail(const char* doing, int error) noexcept;

  // Looked up by view, without making a string.
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  mutable std::mutex mutex_;
  int fd_ = -1;
  std::string path_;
  std::vector<uint8_t> buffer_;
  std::unordered_map<std::string, ledger::StrId, TextHash, std::equal_to<>> names_;
  std::map<int64_t, int64_t> counts_;
  int64_t lost_ = 0;
  int64_t names_cut_ = 0;
  std::string error_;
};

}  // namespace prof

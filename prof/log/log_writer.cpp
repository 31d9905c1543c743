#include "prof/log/log_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <new>

#include "prof/log/log_fields.hpp"

namespace prof {
namespace {

/// Bytes gathered before the system is called.
constexpr size_t kDrainBytes = size_t{256} << 10;
/// Programs with one process id that one folder takes.
constexpr int kMaxLogsPerPid = 1000;

using Lock = std::lock_guard<std::mutex>;

void put_number(uint8_t* at, uint32_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) at[i] = static_cast<uint8_t>(value >> (8 * i));
}

}  // namespace

LogWriter::~LogWriter() {
  const Lock lock(mutex_);
  drain();
  if (fd_ >= 0) ::close(fd_);
}

bool LogWriter::open(const std::string& directory, const LogHeader& header) noexcept {
  const Lock lock(mutex_);
  try {
    buffer_.reserve(2 * kDrainBytes);
    for (int i = 0; i < kMaxLogsPerPid; ++i) {
      path_ = directory + "/" + std::to_string(header.pid) +
              (i == 0 ? std::string() : "." + std::to_string(i)) + ".stwolog";
      fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
      if (fd_ >= 0 || errno != EEXIST) break;
    }
    if (fd_ < 0) {
      fail("open", errno);
      return false;
    }
    buffer_.insert(buffer_.end(), std::begin(kLogMagic), std::end(kLogMagic));
    buffer_.resize(kLogPrefixBytes);
    put_number(buffer_.data() + sizeof kLogMagic, kLogVersion, 4);
    append(header);
    drain();
    return fd_ >= 0;
  } catch (const std::exception&) {
    fail("open", ENOMEM);
    return false;
  }
}

bool LogWriter::is_open() const noexcept {
  const Lock lock(mutex_);
  return fd_ >= 0;
}

std::string LogWriter::path() const noexcept {
  const Lock lock(mutex_);
  return path_;
}

template <class Row>
void LogWriter::append(const Row& row) {
  const size_t begin = buffer_.size();
  try {
    buffer_.resize(begin + kFrameHeadBytes);
    Encoder encoder(buffer_);
    fields(encoder, row);
  } catch (...) {
    buffer_.resize(begin);
    throw;
  }
  const size_t payload = buffer_.size() - begin - kFrameHeadBytes;
  if (payload > kMaxPayloadBytes) {
    buffer_.resize(begin);
    throw std::bad_alloc();
  }
  constexpr auto kKind = static_cast<uint16_t>(kKindOf<Row>);
  uint8_t* head = buffer_.data() + begin;
  put_number(head, kFrameMark, 2);
  put_number(head + 2, kKind, 2);
  put_number(head + 4, static_cast<uint32_t>(payload), 4);
  uint32_t crc = crc32(0, {head + 2, 6});
  crc = crc32(crc, {head + kFrameHeadBytes, payload});
  put_number(head + 8, crc, 4);
  if constexpr (kKindOf<Row> != FrameKind::kTrailer) ++counts_[kKind];
}

template <class Row>
void LogWriter::put(const Row& row) noexcept {
  const Lock lock(mutex_);
  if (fd_ < 0) {
    ++lost_;
    return;
  }
  try {
    append(row);
  } catch (const std::exception&) {
    ++lost_;
    return;
  }
  if (buffer_.size() >= kDrainBytes) drain();
}

ledger::StrId LogWriter::intern(std::string_view text) noexcept {
  const Lock lock(mutex_);
  if (fd_ < 0) return 0;
  try {
    if (text.size() > kMaxNameBytes) {
      text = text.substr(0, kMaxNameBytes);
      ++names_cut_;
    }
    const auto it = names_.find(text);
    if (it != names_.end()) return it->second;
    const auto id = static_cast<ledger::StrId>(names_.size()) + 1;
    const auto added = names_.emplace(text, id).first;
    try {
      append(StringRow{id, added->first});
    } catch (...) {
      names_.erase(added);
      throw;
    }
    return id;
  } catch (const std::exception&) {
    ++lost_;
    return 0;
  }
}

void LogWriter::write(const ledger::ClockPairRow& row) noexcept { put(row); }
void LogWriter::write(const LogProblem& row) noexcept { put(row); }
void LogWriter::write(const ledger::LossRow& row) noexcept { put(row); }
void LogWriter::write(const LogFact& row) noexcept { put(row); }
void LogWriter::write(const ledger::DeviceRow& row) noexcept { put(row); }
void LogWriter::write(const ledger::ContextRow& row) noexcept { put(row); }
void LogWriter::write(const ledger::StreamRow& row) noexcept { put(row); }
void LogWriter::write(const ledger::ApiRow& row) noexcept { put(row); }
void LogWriter::write(const KernelOp& row) noexcept { put(row); }
void LogWriter::write(const CopyOp& row) noexcept { put(row); }
void LogWriter::write(const FillOp& row) noexcept { put(row); }
void LogWriter::write(const GraphOp& row) noexcept { put(row); }
void LogWriter::write(const ledger::SyncRow& row) noexcept { put(row); }
void LogWriter::write(const ledger::CudaEventRow& row) noexcept { put(row); }
void LogWriter::write(const ledger::MemEventRow& row) noexcept { put(row); }
void LogWriter::write(const ledger::PoolEventRow& row) noexcept { put(row); }
void LogWriter::write(const ledger::ResEventRow& row) noexcept { put(row); }
void LogWriter::write(const ledger::JitRow& row) noexcept { put(row); }
void LogWriter::write(const ledger::OverheadRow& row) noexcept { put(row); }
void LogWriter::write(const MarkerRow& row) noexcept { put(row); }
void LogWriter::write(const MarkerDataRow& row) noexcept { put(row); }
void LogWriter::write(const UnknownRow& row) noexcept { put(row); }

void LogWriter::flush() noexcept {
  const Lock lock(mutex_);
  drain();
}

void LogWriter::finish(int64_t cupti_dropped) noexcept {
  const Lock lock(mutex_);
  if (fd_ < 0) return;
  try {
    if (names_cut_ > 0) {
      append(ledger::LossRow{"names_cut", names_cut_});
      names_cut_ = 0;
    }
    append(LogTrailer{counts_, cupti_dropped, lost_});
  } catch (const std::exception&) {
    // Without a trailer the log counts as truncated.
    ++lost_;
  }
  drain();
}

void LogWriter::abandon() noexcept {
  const Lock lock(mutex_);
  drop_in_child();
}

void LogWriter::drop_in_child() noexcept {
  buffer_.clear();
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

int64_t LogWriter::lost() const noexcept {
  const Lock lock(mutex_);
  return lost_;
}

std::string LogWriter::error() const noexcept {
  const Lock lock(mutex_);
  return error_;
}

void LogWriter::drain() noexcept {
  size_t done = 0;
  while (fd_ >= 0 && done < buffer_.size()) {
    const ssize_t n = ::write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (n >= 0) {
      done += static_cast<size_t>(n);
    } else if (errno != EINTR) {
      fail("write", errno);
    }
  }
  buffer_.clear();
}

void LogWriter::fail(const char* doing, int error) noexcept {
  try {
    if (error_.empty()) error_ = std::string(doing) + ": " + std::strerror(error);
  } catch (const std::exception&) {
    // The words are gone; that the log has no trailer says enough.
  }
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

}  // namespace prof

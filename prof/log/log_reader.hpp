// Reads a record log of unknown origin: in one pass, in constant memory, trusting no length.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "prof/log/log_format.hpp"

namespace prof {

/// A frame, or bytes between frames that are none.
struct LogItem {
  uint64_t offset = 0;  ///< of its first byte in the file
  uint64_t size = 0;    ///< bytes in the file
  /// Why it is no frame; empty: it is one.
  std::string damage{};
  FrameKind kind = FrameKind::kUnknown;  ///< of a frame
  /// Of a frame; valid until the next call.
  std::span<const uint8_t> payload{};
  /// The bytes as they are, of damage the first kKeptDamage; valid until the next call.
  std::span<const uint8_t> raw{};
};

enum class LogEnd : uint8_t {
  kComplete,   ///< trailer at the end, all counts as it says, no damage
  kTruncated,  ///< no trailer: the process did not get to its end
  kCorrupt,    ///< damage inside, or counts that differ from the trailer's
};
/// "complete", "truncated", "corrupt".
const char* log_end_name(LogEnd end);

struct LogStatus {
  LogEnd end = LogEnd::kTruncated;
  std::string reason{};                 ///< of an end that is not complete: one sentence
  std::optional<LogTrailer> trailer{};  ///< the last one, if nothing came after it
  std::map<int64_t, int64_t> counts{};  ///< frames that were read, per kind, without trailers
  /// Kinds of which the trailer counts more than the file has.
  std::map<int64_t, int64_t> missing{};
  uint64_t damaged_bytes = 0;
};

class LogReader {
 public:
  static constexpr size_t kKeptDamage = 4096;

  /// Reads the header. Throws UsageError LOG_OPEN, EnvironmentError LOG_READ, and FormatError
  ///   LOG_FOREIGN   not a record log
  ///   LOG_VERSION   of another version of the recorder
  ///   LOG_HEADER    the header is damaged
  ///   LOG_STARTED   ends before its header does: the process ended at once
  explicit LogReader(const std::string& path);
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;
  ~LogReader();

  const LogHeader& header() const { return header_; }
  const std::string& path() const { return path_; }
  uint64_t file_bytes() const { return file_bytes_; }
  uint64_t position() const { return base_ + at_; }

  /// The next frame or damage, in the order of the file; absent at the end. Trailers are frames
  /// too. Throws EnvironmentError LOG_READ.
  std::optional<LogItem> next();
  /// After the end.
  const LogStatus& status() const { return status_; }

 private:
  enum class Parse : uint8_t { kFrame, kEnd, kCut, kDamage };
  size_t ensure(size_t bytes);
  Parse parse(size_t offset, LogItem& item, std::string& why);
  LogItem skip_damage(std::string why, bool cut);
  void count(const LogItem& item);
  void conclude();
  const uint8_t* data(size_t offset) const { return buffer_.data() + at_ + offset; }

  std::string path_;
  int fd_ = -1;
  uint64_t file_bytes_ = 0;
  std::vector<uint8_t> buffer_;
  uint64_t base_ = 0;  ///< offset of the buffer in the file
  size_t at_ = 0;      ///< next byte in the buffer
  size_t filled_ = 0;
  bool at_eof_ = false;
  uint64_t search_bytes_ = 0;  ///< work spent on finding frames behind damage
  std::array<uint8_t, kKeptDamage> kept_{};
  LogHeader header_;
  bool cut_ = false;
  bool ended_ = false;
  std::string first_damage_;
  LogStatus status_;
};

}  // namespace prof

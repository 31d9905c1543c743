#include "prof/log/log_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "prof/log/log_fields.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

constexpr size_t kBufferBytes = 4 * (kFrameHeadBytes + kMaxPayloadBytes);
/// Bytes of checksums spent on finding frames behind damage, over the whole file. Damage that looks
/// like the heads of long frames could otherwise cost the square of its size.
constexpr uint64_t kMaxSearchBytes = uint64_t{1} << 28;

uint32_t number_at(const uint8_t* at, size_t bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value |= static_cast<uint32_t>(at[i]) << (8 * i);
  return value;
}

}  // namespace

const char* log_end_name(LogEnd end) {
  switch (end) {
    case LogEnd::kComplete: return "complete";
    case LogEnd::kTruncated: return "truncated";
    case LogEnd::kCorrupt: return "corrupt";
  }
  return "?";
}

LogReader::LogReader(const std::string& path) : path_(path) {
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info {};
  if (fd_ < 0 || ::fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) {
    const int error = fd_ < 0 ? errno : EINVAL;
    if (fd_ >= 0) ::close(fd_);
    throw stwo::UsageError("LOG_OPEN",
                           "record log " + path + ": " +
                               (error == EINVAL ? "not a regular file" : std::strerror(error)) +
                               "; give a file that the recorder wrote");
  }
  file_bytes_ = static_cast<uint64_t>(info.st_size);
  try {
    buffer_.resize(kBufferBytes);
    const auto refuse = [&](const char* code, const std::string& why) {
      throw stwo::FormatError(code, "record log " + path + ": " + why);
    };
    const size_t have = ensure(kLogPrefixBytes);
    const size_t magic = std::min(have, sizeof kLogMagic);
    if (have > 0 && std::memcmp(data(0), kLogMagic, magic) != 0) {
      refuse("LOG_FOREIGN", "not a record log (expected the first bytes STWOPLOG)");
    }
    if (have < kLogPrefixBytes) {
      refuse("LOG_STARTED", "ends before its header; the process ended at once, run it again");
    }
    const uint32_t version = number_at(data(sizeof kLogMagic), 4);
    if (version != kLogVersion) {
      refuse("LOG_VERSION", "version " + std::to_string(version) + " (expected " +
                                std::to_string(kLogVersion) +
                                "); use the recorder of the same build");
    }
    at_ += kLogPrefixBytes;
    LogItem item;
    std::string why;
    const Parse parsed = parse(0, item, why);
    if (parsed == Parse::kEnd || parsed == Parse::kCut) {
      refuse("LOG_STARTED", "ends before its header; the process ended at once, run it again");
    }
    const auto header = parsed == Parse::kFrame && item.kind == FrameKind::kHeader
                            ? decode<LogHeader>(item.payload)
                            : std::nullopt;
    if (!header || header->pid <= 0 || header->start.realtime_ns <= 0) {
      refuse("LOG_HEADER", "its header is damaged; record again");
    }
    header_ = *header;
    count(item);
    at_ += static_cast<size_t>(item.size);
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

LogReader::~LogReader() {
  if (fd_ >= 0) ::close(fd_);
}

/// Makes `bytes` bytes from the current one readable if the file has them; returns how many there
/// are, at least as many as asked for unless the file ends.
size_t LogReader::ensure(size_t bytes) {
  while (filled_ - at_ < bytes && !at_eof_) {
    if (at_ + bytes > buffer_.size()) {
      std::memmove(buffer_.data(), buffer_.data() + at_, filled_ - at_);
      base_ += at_;
      filled_ -= at_;
      at_ = 0;
    }
    const ssize_t n = ::read(fd_, buffer_.data() + filled_, buffer_.size() - filled_);
    if (n == 0) {
      at_eof_ = true;
    } else if (n > 0) {
      filled_ += static_cast<size_t>(n);
    } else if (errno != EINTR) {
      throw stwo::EnvironmentError("LOG_READ", "record log " + path_ + ": " + std::strerror(errno) +
                                                   "; check the disk and try again");
    }
  }
  return filled_ - at_;
}

/// Looks at the frame that begins `offset` bytes from here.
LogReader::Parse LogReader::parse(size_t offset, LogItem& item, std::string& why) {
  size_t have = ensure(offset + kFrameHeadBytes);
  if (have <= offset) return Parse::kEnd;
  if (have < offset + kFrameHeadBytes) {
    why = "cut off inside the head of a frame";
    return Parse::kCut;
  }
  if (number_at(data(offset), 2) != kFrameMark) {
    why = "no frame begins here";
    return Parse::kDamage;
  }
  const auto kind = static_cast<uint16_t>(number_at(data(offset + 2), 2));
  const uint32_t length = number_at(data(offset + 4), 4);
  if (!is_known(kind)) {
    why = "frame of an unknown kind " + std::to_string(kind);
    return Parse::kDamage;
  }
  if (length > kMaxPayloadBytes) {
    why = "frame with an impossible length " + std::to_string(length);
    return Parse::kDamage;
  }
  have = ensure(offset + kFrameHeadBytes + length);
  if (have < offset + kFrameHeadBytes + length) {
    why = "cut off inside a frame";
    return Parse::kCut;
  }
  const uint8_t* head = data(offset);
  search_bytes_ += offset > 0 ? length : 0;
  uint32_t crc = crc32(0, {head + 2, 6});
  crc = crc32(crc, {head + kFrameHeadBytes, length});
  if (crc != number_at(head + 8, 4)) {
    why = "frame with a wrong checksum";
    return Parse::kDamage;
  }
  item.offset = position() + offset;
  item.size = kFrameHeadBytes + length;
  item.damage.clear();
  item.kind = static_cast<FrameKind>(kind);
  item.payload = {head + kFrameHeadBytes, length};
  item.raw = {head, kFrameHeadBytes + length};
  return Parse::kFrame;
}

std::optional<LogItem> LogReader::next() {
  if (ended_) return std::nullopt;
  LogItem item;
  std::string why;
  switch (parse(0, item, why)) {
    case Parse::kFrame:
      count(item);
      at_ += static_cast<size_t>(item.size);
      return item;
    case Parse::kEnd: conclude(); return std::nullopt;
    case Parse::kCut: return skip_damage(std::move(why), true);
    case Parse::kDamage: return skip_damage(std::move(why), false);
  }
  return std::nullopt;
}

/// Everything up to the next frame.
LogItem LogReader::skip_damage(std::string why, bool cut) {
  LogItem damage;
  damage.offset = position();
  size_t kept = 0;
  LogItem found;
  bool resumed = false;
  const auto pass = [&](size_t bytes) {
    const size_t keep = std::min(bytes, kept_.size() - kept);
    std::memcpy(kept_.data() + kept, data(0), keep);
    kept += keep;
    damage.size += bytes;
    at_ += bytes;
  };
  constexpr auto kFirstByte = static_cast<uint8_t>(kFrameMark & 0xff);
  while (!resumed) {
    // A frame that begins in this half fits into the buffer.
    const size_t have = std::min(ensure(kFrameHeadBytes + 1), kBufferBytes / 2);
    if (have == 0) break;
    // The byte that cannot begin a frame, then everything before one that could.
    size_t skip = have;
    if (search_bytes_ <= kMaxSearchBytes) {
      const void* candidate = std::memchr(data(1), kFirstByte, have - 1);
      if (candidate != nullptr) {
        skip = static_cast<size_t>(static_cast<const uint8_t*>(candidate) - data(0));
        std::string ignored;
        const Parse parsed = parse(skip, found, ignored);
        resumed = parsed == Parse::kFrame;
      }
    }
    pass(skip);
  }
  damage.damage = std::move(why);
  damage.raw = {kept_.data(), kept};
  status_.damaged_bytes += damage.size;
  // The last frame may have been cut by the end of the process. What has frames behind it was not.
  if (cut && !resumed) {
    cut_ = true;
  } else if (first_damage_.empty()) {
    first_damage_ = damage.damage + " at byte " + std::to_string(damage.offset);
  }
  return damage;
}

void LogReader::count(const LogItem& item) {
  if (item.kind == FrameKind::kTrailer) {
    status_.trailer = decode<LogTrailer>(item.payload);
    if (!status_.trailer && first_damage_.empty()) {
      first_damage_ = "unreadable trailer at byte " + std::to_string(item.offset);
    }
    return;
  }
  status_.trailer.reset();
  ++status_.counts[static_cast<int64_t>(item.kind)];
}

void LogReader::conclude() {
  ended_ = true;
  if (cut_) status_.trailer.reset();
  if (status_.trailer) {
    bool equal = true;
    std::map<int64_t, int64_t> kinds = status_.trailer->counts;
    kinds.insert(status_.counts.begin(), status_.counts.end());
    for (const auto& [kind, ignored] : kinds) {
      const auto said = status_.trailer->counts.find(kind);
      const auto found = status_.counts.find(kind);
      const int64_t n_said = said == status_.trailer->counts.end() ? 0 : said->second;
      const int64_t n_found = found == status_.counts.end() ? 0 : found->second;
      equal = equal && n_said == n_found;
      if (n_said > n_found) status_.missing[kind] = n_said - n_found;
    }
    if (!equal && first_damage_.empty()) {
      first_damage_ = "the trailer counts other frames than the log has";
    }
  }
  if (!first_damage_.empty()) {
    status_.end = LogEnd::kCorrupt;
    status_.reason = first_damage_;
  } else if (!status_.trailer) {
    status_.end = LogEnd::kTruncated;
    status_.reason = cut_ ? "cut off inside a frame: the recorder did not reach its end"
                          : "no trailer: the recorder did not reach its end";
  } else {
    status_.end = LogEnd::kComplete;
  }
}

}  // namespace prof

#include "ledger/trace/trace_seal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "prover/errors.hpp"
#include "prover/hash/hex.hpp"
#include "prover/hash/sha256.hpp"

namespace ledger {
namespace {

class File {
 public:
  explicit File(const std::string& path) : path_(path) {
    fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) fail();
  }
  ~File() { ::close(fd_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// 0 at the end.
  size_t read(std::vector<uint8_t>& buffer) {
    for (;;) {
      const ssize_t n = ::read(fd_, buffer.data(), buffer.size());
      if (n >= 0) return static_cast<size_t>(n);
      if (errno != EINTR) fail();
    }
  }

 private:
  [[noreturn]] void fail() const {
    throw stwo::EnvironmentError("TRACE_READ", "capture " + path_ + ": " + std::strerror(errno) +
                                                   "; check the file and its permissions");
  }
  std::string path_;
  int fd_ = -1;
};

}  // namespace

int64_t seal_offset(Database& database) {
  const int64_t page_size = database.query_integer("PRAGMA page_size");
  const int64_t root =
      database.query_integer("SELECT rootpage FROM sqlite_master WHERE name = 'seal'");
  return root * page_size - static_cast<int64_t>(kSealLength);
}

std::string sealed_digest(const std::string& path, int64_t offset) {
  File file(path);
  stwo::Sha256 hash;
  std::vector<uint8_t> buffer(size_t{1} << 20);
  int64_t at = 0;
  while (const size_t n = file.read(buffer)) {
    const auto size = static_cast<int64_t>(n);
    const int64_t first = std::max(offset, at);
    const int64_t last = std::min(offset + static_cast<int64_t>(kSealLength), at + size);
    for (int64_t i = first; i < last; ++i) buffer[static_cast<size_t>(i - at)] = '0';
    hash.update(std::span<const uint8_t>(buffer.data(), n));
    at += size;
  }
  if (at < offset + static_cast<int64_t>(kSealLength)) {
    throw stwo::FormatError("TRACE_CORRUPT",
                            "capture " + path + " ends before its seal; take another copy");
  }
  return stwo::to_hex(hash.finalize());
}

}  // namespace ledger

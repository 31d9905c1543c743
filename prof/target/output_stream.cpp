#include "prof/target/output_stream.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "prover/errors.hpp"

namespace prof {
namespace {

constexpr size_t kTailBytes = 2048;
/// The largest pipe an unprivileged process can have.
constexpr uint64_t kPipeBytes = uint64_t{1} << 20;

[[noreturn]] void fail(const std::string& path, int error) {
  throw stwo::EnvironmentError("TARGET_OUTPUT", "output of the program, " + path + ": " +
                                                    std::strerror(error) +
                                                    "; free some space or write elsewhere");
}

}  // namespace

OutputStream::OutputStream(const std::string& path, uint64_t limit_bytes)
    : path_(path), limit_bytes_(limit_bytes), pipe_(make_pipe()) {
  ::fcntl(pipe_.read.get(), F_SETFL, O_NONBLOCK);
  if (path_.empty()) return;
  file_ = FileHandle(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file_.is_open()) fail(path_, errno);
}

bool OutputStream::take(uint64_t limit) {
  if (!pipe_.read.is_open()) return false;
  char buffer[16384];
  const auto wanted = static_cast<size_t>(std::min<uint64_t>(limit, sizeof buffer));
  const ssize_t n = ::read(pipe_.read.get(), buffer, wanted);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (n <= 0) {
    pipe_.read.close();
    return false;
  }
  store(buffer, static_cast<size_t>(n));
  return true;
}

void OutputStream::store(const char* data, size_t size) {
  tail_.append(data, size);
  if (tail_.size() > kTailBytes) tail_.erase(0, tail_.size() - kTailBytes);
  size_t wanted = size;
  if (file_.is_open()) {
    const uint64_t room = limit_bytes_ - std::min(bytes_, limit_bytes_);
    wanted = static_cast<size_t>(std::min<uint64_t>(size, room));
  }
  bytes_ += size;
  const int fd = file_.is_open() ? file_.get() : STDERR_FILENO;
  while (wanted > 0) {
    const ssize_t n = ::write(fd, data, wanted);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && !file_.is_open()) return;  // nobody listens; the program is not to blame
    if (n < 0) fail(path_, errno);
    data += n;
    wanted -= static_cast<size_t>(n);
  }
}

void OutputStream::drain() {
  uint64_t left = kPipeBytes;
  while (left > 0) {
    const uint64_t before = bytes_;
    if (!take(left)) break;
    left -= bytes_ - before;
  }
}

void OutputStream::finish() {
  drain();
  pipe_.read.close();
  file_.close();
}

}  // namespace prof

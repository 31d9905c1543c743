// An open file descriptor that is closed once. Internal to prof.
#pragma once

#include <unistd.h>

#include <utility>

namespace prof {

/// -1: none.
class FileHandle {
 public:
  FileHandle() = default;
  explicit FileHandle(int fd) : fd_(fd) {}
  FileHandle(FileHandle&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileHandle& operator=(FileHandle&& other) noexcept {
    if (this != &other) {
      close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  FileHandle(const FileHandle&) = delete;
  FileHandle& operator=(const FileHandle&) = delete;
  ~FileHandle() { close(); }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

/// Both ends of a pipe, closed on exec and never one of the descriptors 0 to 2, which the started
/// program gets anew: they are free when somebody started us with closed ones.
struct Pipe {
  FileHandle read;
  FileHandle write;
};
/// Throws EnvironmentError TARGET_START.
Pipe make_pipe();

}  // namespace prof

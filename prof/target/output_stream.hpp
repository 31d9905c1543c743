// One stream of a started program: stored up to a limit, or passed on. Internal to the folder.
#pragma once

#include <cstdint>
#include <string>

#include "prof/target/file_handle.hpp"

namespace prof {

class OutputStream {
 public:
  /// `path` empty: what comes is passed on to our stderr. Throws EnvironmentError TARGET_OUTPUT if
  /// the file cannot be made.
  OutputStream(const std::string& path, uint64_t limit_bytes);

  /// End for the program; to be closed here once it has its copy.
  FileHandle& program_end() { return pipe_.write; }
  /// To be polled; -1 when the program has closed the stream.
  int fd() const { return pipe_.read.get(); }

  /// Takes what is there, at most `limit` bytes; true if there was something. Throws
  /// EnvironmentError TARGET_OUTPUT if the file cannot be written.
  bool take(uint64_t limit);
  /// Everything that is left in the pipe, even if somebody holds its other end open.
  void drain();
  /// Closes the file; throws like take().
  void finish();

  uint64_t bytes() const { return bytes_; }
  const std::string& tail() const { return tail_; }

 private:
  void store(const char* data, size_t size);

  std::string path_;
  uint64_t limit_bytes_;
  uint64_t bytes_ = 0;
  std::string tail_;
  Pipe pipe_;
  FileHandle file_;
};

}  // namespace prof

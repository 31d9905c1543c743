// A folder for files that are gone when the work is done.
#pragma once

#include <cstddef>
#include <string>

namespace prof {

class ScratchFolder {
 public:
  /// In the directory for temporary files. Throws EnvironmentError SCRATCH_FOLDER.
  ScratchFolder();
  /// `path` itself, which must not exist. Throws EnvironmentError SCRATCH_FOLDER.
  explicit ScratchFolder(const std::string& path);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + '/' + name; }
  /// Leaves the folder behind, or not.
  void keep() { keep_ = true; }
  void discard() { keep_ = false; }

 private:
  std::string path_;
  bool keep_ = false;
};

/// The whole file; empty if it cannot be read.
std::string read_text(const std::string& path);

/// At most `limit` bytes of a file; "" if there is none.
std::string read_start(const std::string& path, size_t limit);

}  // namespace prof

// A file that is written piece by piece and appears complete or not at all.
#pragma once

#include <string>
#include <string_view>

namespace prof {

/// Pieces go into a temporary file of the same directory; finish() gives it its name. Whatever
/// comes before that leaves nothing behind.
class ExportFile {
 public:
  /// Throws like stwo::check_output: RefusedError OUTPUT_EXISTS if the name is taken and `replace`
  /// is off, UsageError OUTPUT_* if nothing can be written there.
  ExportFile(const std::string& path, bool replace);
  ExportFile(const ExportFile&) = delete;
  ExportFile& operator=(const ExportFile&) = delete;
  ~ExportFile();

  /// Throws EnvironmentError OUTPUT_SPACE (disk full) or OUTPUT_WRITE.
  void write(std::string_view text);
  /// Forces the file to disk and publishes it. Throws like write(), and RefusedError OUTPUT_EXISTS
  /// if the name was taken meanwhile.
  void finish();

 private:
  [[noreturn]] void fail(const char* doing) const;
  void flush();
  void publish();

  std::string path_;
  std::string temporary_;
  std::string buffer_;
  bool replace_;
  int fd_ = -1;
};

}  // namespace prof

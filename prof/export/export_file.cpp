#include "prof/export/export_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "prover/cli/output_file.hpp"
#include "prover/errors.hpp"

namespace prof {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

[[noreturn]] void refuse_existing(const std::string& path) {
  throw stwo::RefusedError("OUTPUT_EXISTS",
                           "output " + path + " exists; choose another name or give --force");
}

}  // namespace

ExportFile::ExportFile(const std::string& path, bool replace) : path_(path), replace_(replace) {
  stwo::check_output(path, replace);
  // A process of our number that was killed may have left such a file.
  for (int attempt = 0; fd_ < 0 && attempt < 16; ++attempt) {
    temporary_ = path + ".tmp." + std::to_string(::getpid());
    if (attempt > 0) temporary_ += "." + std::to_string(attempt);
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0 && errno != EEXIST) break;
  }
  if (fd_ < 0) fail("create a temporary file");
  buffer_.reserve(kBufferBytes);
}

ExportFile::~ExportFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void ExportFile::fail(const char* doing) const {
  const int error = errno;
  const std::string what = "output " + path_ + ": " + doing + ": " + std::strerror(error);
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    throw stwo::EnvironmentError("OUTPUT_SPACE", what + "; free some space or write elsewhere");
  }
  throw stwo::EnvironmentError("OUTPUT_WRITE", what + "; check the file system and try again");
}

void ExportFile::write(std::string_view text) {
  STWO_CHECK(fd_ >= 0, "the output is finished");
  if (buffer_.size() + text.size() > kBufferBytes) flush();
  buffer_ += text;
}

void ExportFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t n = ::write(fd_, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write");
    rest.remove_prefix(static_cast<size_t>(n));
  }
  buffer_.clear();
}

void ExportFile::finish() {
  STWO_CHECK(fd_ >= 0, "the output is finished");
  flush();
  if (::fsync(fd_) != 0 && errno != EINVAL) fail("fsync");
  const int fd = fd_;
  fd_ = -1;
  // Network file systems report a full disk here.
  if (::close(fd) != 0 && errno != EINTR) fail("close");
  publish();
  const int directory = ::open(directory_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    // Some file systems cannot do this for directories; the file's own content is safe already.
    ::fsync(directory);
    ::close(directory);
  }
}

void ExportFile::publish() {
  if (replace_) {
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename");
    temporary_.clear();
    return;
  }
  if (::link(temporary_.c_str(), path_.c_str()) == 0) return;  // the destructor drops the old name
  if (errno == EEXIST) refuse_existing(path_);
  // File systems without hard links.
  if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) != 0) {
    if (errno == EEXIST) refuse_existing(path_);
    fail("rename");
  }
  temporary_.clear();
}

}  // namespace prof
